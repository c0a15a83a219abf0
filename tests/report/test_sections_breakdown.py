"""Scores and turn counts by category and tool augmentation."""

import pytest
from report_runs import Writer, chat, metric, task

from seal.report.lanes import lanes_of
from seal.report.run_pages import write_report
from seal.report.sections import breakdown
from seal.runs.run import RunFolder

SIMILARITY = {
    "wifi_off": 0.4,
    "augmentation=7_distraction_tools": 0.1,
    "augmentation=3_distraction_tools_tool_name_scrambled": 0.2,
    "augmentation=3_distraction_tools": 0.5,
    "augmentation=no_distraction_tools": 0.6,
    "canonicalization=true": 0.25,
    "canonicalization=false": 0.75,
    "single_tool=true": 0.9,
}


def by(values: dict[str, float]) -> dict:
    return {name: metric(value, 2) for name, value in values.items()}


@pytest.fixture
def run(make_run: Writer) -> RunFolder:
    metrics = {
        "pass_rate": metric(0.0),
        "similarity": metric(0.5, by=by(SIMILARITY)),
        "turn_count": metric(12.5, by=by({name: 10 * v for name, v in SIMILARITY.items()})),
    }
    return make_run("run", [task("own/a")], [chat("own/a")], (), metrics)


def test_rows_stand_in_the_papers_order_and_others_by_name(run: RunFolder) -> None:
    found = breakdown(lanes_of([run]), lambda cell: str(cell.mean))
    assert found is not None
    assert found.columns[1:] == [
        '<span class="swatch run-0"></span>lexical: similarity',
        "turn_count",
    ]
    figures = [(row[0][:5], float(row[1])) for row in found.rows]
    assert figures == [
        ("all", 0.5), ("STC, ", 0.9), ("C, ca", 0.25), ("0 DT,", 0.6), ("3 DT,", 0.5),
        ("TNS, ", 0.2), ("7_dis", 0.1),
    ]  # fmt: skip
    assert [row[2] for row in found.rows][:2] == ["12.5", "9.000"]


def test_scrambled_variants_do_not_count_under_the_distraction_tools(run: RunFolder) -> None:
    found = breakdown(lanes_of([run]), lambda cell: cell.count_text)
    assert found is not None
    rows = [row for row in found.rows if row[0].startswith("3 DT")]
    assert [row[1] for row in rows] == ["n=2"]


def test_without_similarity_the_first_main_metric_is_shown(make_run: Writer) -> None:
    metrics = {
        "call_f1": metric(0.5, by=by({"augmentation=all_tools": 0.7})),
        "turns": metric(3.0, by=by({"augmentation=all_tools": 3.0})),
    }
    found = breakdown(lanes_of([make_run("r", (), (), (), metrics)]))
    assert found is not None
    assert "Mean call_f1 and turns by" in found.title


@pytest.mark.parametrize(
    "metrics",
    [
        {},
        {"pass_rate": metric(0.5, by=by({"single": 1.0, "multi_tool=true": 0.5}))},
        {"pass_rate": metric(None, 0, undefined=3)},
        {"similarity": metric(0.5, by=by({"single_tool=false": 0.5}))},
    ],
)
def test_runs_without_such_tags_have_no_breakdown(make_run: Writer, metrics: dict) -> None:
    run = make_run("r", (), (), (), metrics)
    assert breakdown(lanes_of([run])) is None


def test_the_page_of_a_run_shows_it(run: RunFolder) -> None:
    page = write_report([run], run.report_path).read_text()
    assert "By category and augmentation" in page
    assert "TNS, tool names scrambled" in page
    assert "C, canonicalization" in page


def test_what_is_written_in_tags_is_escaped(make_run: Writer) -> None:
    metrics = {"similarity": metric(0.5, by=by({"augmentation=<b>[red]": 0.5}))}
    run = make_run("r", (), (), (), metrics)
    assert "<b>[red]" not in write_report([run], run.report_path).read_text()
