"""Errors of simulated users by what they were told."""

from report_runs import metric, task

from seal.evaluation.scoring import HALLUCINATION, INSTRUCTION
from seal.report.judge_sections import user_rows
from seal.report.lanes import lanes_of
from seal.report.run_pages import write_report

RATES = {HALLUCINATION: metric(0.25, 4), INSTRUCTION: metric(0.5, 4)}


def runs_told(make_run, *briefs):
    return [
        make_run(
            f"run-{number}",
            [task("own/a")],
            metrics=RATES,
            measure={"user": {"brief": brief}} if brief else {},
        )
        for number, brief in enumerate(briefs)
    ]


def test_the_shortest_brief_comes_first(make_run):
    runs = runs_told(make_run, "goal+boundary", "goal")

    assert [row.brief for row in user_rows(lanes_of(runs))] == ["goal", "goal+boundary"]


def test_what_users_of_recorded_chats_were_told_is_not_known(make_run, tmp_path):
    page = write_report(runs_told(make_run, ""), tmp_path / "report.html").read_text()

    assert "not known: recorded elsewhere" in page
    assert "25.0 %" in page
