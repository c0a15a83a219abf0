"""Published tables with our runs beside them."""

import re
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from report_runs import Writer, chat, metric, task, texts_of
from rich.console import Console

import seal
from seal.core import DataError, UsageError
from seal.pools.declarations import PublishedTable
from seal.report.grids import Grid, fitted_tables
from seal.report.lanes import Lane, lanes_of
from seal.report.paper import (
    Measured,
    PaperTable,
    document,
    filled,
    is_same_model,
    measured_lanes,
    section,
    tables_of,
)
from seal.report.seal_paper import of_sweep
from seal.runs.run import RunFolder

MAIN = PublishedTable(
    "Honesty & more",
    "Paper, Table 1",
    {"GPT-4o": {"SR": 0.7, "Sold": 12}, "Small_7B": {"SR": 0.25}},
    {"SR": "pass_rate", "long": "pass_rate|length=long", "Sold": ""},
    name="table-1",
    figures=lambda lane: {"": {"Sold": 14}},
    needs={"long": "tasks that are long", "": "seal run shop"},
)


@pytest.fixture
def run(make_run: Writer) -> RunFolder:
    entry = metric(0.5, by={"length=long": metric(0.2)})
    return make_run("run", [task("own/a")], [chat("own/a")], (), {"pass_rate": entry})


def shown(run: RunFolder, table: PublishedTable = MAIN) -> PaperTable:
    return filled(table, measured_lanes(lanes_of([run])))


def cells(found: PaperTable) -> list[list[str]]:
    return [list(row) for row in found.grid().rows]


def test_a_run_stands_below_the_published_rows_with_what_it_differs_by(run: RunFolder) -> None:
    assert cells(shown(run)) == [
        ["GPT-4o", "published", "0.70", "-", "12"],
        ["Small_7B", "published", "0.25", "-", "-"],
        ["lexical", "here, stand-in", "0.50", "0.200", "14"],
    ]
    assert shown(run).notes == ["ours alone, for the paper prints none: long"]


def test_a_model_stands_with_what_it_differs_by_from_its_own_row(make_run: Writer) -> None:
    run = make_run("run", metrics={"pass_rate": metric(0.5)}, model="openai/gpt-4o")
    assert cells(shown(run))[2:] == [
        ["openai/gpt-4o", "here", "0.50", "-", "14"],
        ["", "minus GPT-4o", "-0.20*", "-", "+2"],
    ]
    marked = "* the published figure lies outside our 95 % interval over tasks"
    assert shown(run).notes[-1] == marked


@pytest.mark.parametrize(
    ("low", "high", "marked"), [(0.4, 0.6, True), (0.4, 0.7, False), (0.5, 0.5, False)]
)
def test_a_difference_is_marked_where_our_interval_lacks_the_published_figure(
    make_run: Writer, low: float, high: float, marked: bool
) -> None:
    entry = metric(0.5) | {"low": low, "high": high}
    run = make_run("run", metrics={"pass_rate": entry}, model="gpt-4o")
    assert (shown(run).rows[-1].outside == {"SR"}) is marked


@pytest.mark.parametrize(
    ("model", "base"),
    [
        ("openai/gpt-4o", "minus GPT-4o"),
        ("gpt-4o-2024-05-13", "minus GPT-4o"),
        ("together/Small-7b", "minus Small_7B"),
        ("gpt-4o-mini", "here"),
        ("gpt-4", "here"),
        ("other", "here"),
        ("lexical", "here"),
    ],
)
def test_it_is_compared_with_the_published_row_of_its_model_alone(
    make_run: Writer, model: str, base: str
) -> None:
    run = make_run("run", metrics={"pass_rate": metric(0.5)}, model=model)
    assert shown(run).rows[-1].whose == base


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("gpt-4-turbo-2024-04-09", "gpt-4-turbo", True),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", "Mixtral-8x7B", True),
        ("gpt-4.1", "gpt-4", False),
        ("gpt-4", "GPT-4-Turbo", False),
        ("gpt-4", "GPT-4-0125-Preview", False),
        ("llama-2-7b", "Llama-2-7b-chat", False),
        ("o1", "o1-preview", False),
        ("gpt-4o-2024-08-06", "GPT-4o-2024-05-13", False),
        ("", "GPT-4o", False),
    ],
)
def test_a_version_alone_makes_no_other_model(one: str, other: str, same: bool) -> None:
    assert is_same_model(one, other) is is_same_model(other, one) is same


@pytest.mark.parametrize(
    ("judge", "said", "compared"),
    [
        ({"judge": "rule/9"}, "judged by rules", ["Sold"]),
        ({"judge": "llm/1", "model": "gpt-4o"}, "judged by gpt-4o", ["SR", "Sold"]),
    ],
)
def test_what_a_model_judged_differs_from_what_a_model_judged_alone(
    make_run: Writer, judge: dict[str, str], said: str, compared: list[str]
) -> None:
    run = make_run("run", metrics={"pass_rate": metric(0.5)}, model="gpt-4o")
    manifest = run.manifest()
    run.write_json("run.json", {**manifest, "measure": {**manifest["measure"], "judge": judge}})
    for by, headings in (("model", compared), ("people", ["Sold"])):
        table = replace(MAIN, judged={"SR": by})
        mine, minus = shown(RunFolder(run.path), table).rows[2:]
        assert mine.what == (said if by == "model" else "")
        assert list(minus.figures) == headings


def test_rows_that_one_model_played_differ_from_those_of_this_model_alone(
    make_run: Writer,
) -> None:
    rows = {"10": {"SR": 0.5}}
    table = PublishedTable("By turns", "P", rows, figures=lambda _: rows, played_by="GPT-4o")
    for model, count in (("gpt-4o", 3), ("gpt-3.5", 2)):
        run = make_run(model, metrics={"pass_rate": metric(0.5)}, model=model)
        assert len(shown(run, table).rows) == count


def test_what_is_missing_is_told_with_what_would_give_it(make_run: Writer) -> None:
    found = shown(make_run("run", metrics={"call_f1": metric(0.5)}))
    assert found.notes == [
        "lexical lacks SR: seal run shop",
        "lexical lacks long: tasks that are long",
        "ours alone, for the paper prints none: long",
    ]


def test_what_was_published_and_is_not_at_hand_is_told(run: RunFolder) -> None:
    table = replace(MAIN, lacks="models of others")
    assert "published, and not at hand: models of others" in shown(run, table).notes


def test_a_text_stands_in_a_cell_and_differs_by_nothing(run: RunFolder) -> None:
    table = PublishedTable(
        "T", "P", {"A": {"says": "yes", "n": 2}}, figures=lambda _: {"A": {"says": "no", "n": 3}}
    )
    assert cells(shown(run, table)) == [
        ["A", "published", "yes", "2"],
        ["A", "lexical, stand-in", "no", "3"],
        ["", "minus published", "-", "+1"],
    ]


def test_a_text_of_several_lines_ends_neither_a_row_nor_a_comment_of_latex(
    run: RunFolder,
) -> None:
    figures = {"a": {"says": "one\n\n\\end{table} two\x1b"}}
    table = PublishedTable("T", "P", figures=lambda _: figures, needs={"": "x\n\\input{y}"})
    text = document("shop", [shown(run, table)], [], "latex")
    assert r"one \textbackslash{}end\{table\} two" in text
    assert "\x1b" not in text
    bare = shown(run, replace(table, figures=lambda _: {}))
    empty = document("shop", [bare], [], "latex")
    assert r"% lexical has nothing for : x \textbackslash{}input\{y\}" in empty.splitlines()


def test_a_terminal_gets_a_wide_table_in_parts_and_no_word_is_broken() -> None:
    heads = [f"heading{n}" for n in range(9)]
    grid = Grid("", ("row", "whose", *heads), [("a long name", "published", *["1.00"] * 9)], 2)
    found = list(fitted_tables(grid, 80))
    assert [len(part.columns) for part in found] == [7, 6]
    assert [str(part.columns[2].header) for part in found] == ["heading0", "heading5"]
    console = Console(width=80, file=StringIO())
    console.print(grid)
    text = console.file.getvalue()
    assert all(head in text for head in heads)
    assert max(map(len, text.splitlines())) <= 80


def test_a_layout_without_published_figures_says_that_all_are_ours(run: RunFolder) -> None:
    table = PublishedTable("T", "P", columns={"SR": "pass_rate"}, name="table-2")
    found = shown(run, table)
    assert [row.whose for row in found.rows] == ["here"]
    assert found.notes == ["table-2: the paper prints no number of it; all of these are ours"]


def test_rows_of_parts_stand_below_the_published_row_of_their_name(run: RunFolder) -> None:
    table = PublishedTable(
        "By city",
        "P",
        {"York": {"n": 20}, "Bath": {"n": 5}},
        figures=lambda lane: {"Bath": {"n": 7}, "Leeds": {"n": 1}},
    )
    assert cells(shown(run, table)) == [
        ["York", "published", "20"],
        ["Bath", "published", "5"],
        ["Bath", "lexical, stand-in", "7"],
        ["", "minus published", "+2"],
        ["Leeds", "lexical, stand-in", "1"],
    ]


def test_percentages_have_a_decimal_and_small_differences_no_minus(make_run: Writer) -> None:
    table = PublishedTable("T", "P", {"A": {"acc": 50}}, {"acc": "pass_rate"}, 100.0)
    run = make_run("run", metrics={"pass_rate": metric(0.4999)}, model="A")
    assert [row[-1] for row in cells(shown(run, table))] == ["50", "50.0", "+0.0"]


def test_latex_needs_no_package_and_escapes_what_it_must(run: RunFolder) -> None:
    text = document("shop", [shown(run)], [], "latex")
    assert r"\caption{table-1: Honesty \& more (Paper, Table 1)}" in text
    assert r"Small\_7B & published" in text
    assert text.count(r"\\") == 4
    assert "usepackage" not in text


def test_a_heat_map_has_colours_on_a_page_and_numbers_elsewhere(run: RunFolder) -> None:
    found = {"a": {"x": 0.0, "y": 40.0}, "b": {"x": 41.0, "y": 100.0}}
    table = PublishedTable("T", "P", scale=100.0, figures=lambda _: found, drawn="heat")
    made = shown(run, table)
    assert re.findall(r"heat-(\d)", made.html()) == ["0", "2", "3", "5"]
    assert cells(made)[0][2:] == ["0.0", "40.0"]


def test_bars_on_a_page_name_their_rows(run: RunFolder) -> None:
    table = PublishedTable("T", "P", {"A": {"SR": 0.5}}, {"SR": "pass_rate"}, drawn="bars")
    page = shown(run, table).html()
    assert texts_of(page, "li") == ["A published", "lexical here, stand-in"]
    assert page.count('class="bar"') == 2


def test_a_page_escapes_what_a_stranger_declares(run: RunFolder) -> None:
    table = PublishedTable("<b>T</b>", "P", {"<i>": {"SR": 0.5}}, {"SR": "pass_rate"})
    assert "<b>T" not in shown(run, table).html()
    assert "<i>" not in shown(run, table).html()


def test_a_record_of_a_run_names_no_code() -> None:
    told = {**MAIN.to_json(), "figures": "os:getcwd"}
    assert PublishedTable.of_json(told).figures is None
    assert "figures" not in MAIN.to_json()
    assert PublishedTable.of_json(MAIN.to_json()).rows == MAIN.rows


def test_a_record_that_is_no_table_is_refused() -> None:
    with pytest.raises(DataError, match="no table of published figures"):
        PublishedTable.of_json({"title": 3})


def test_tables_without_a_name_have_one_by_their_place() -> None:
    bench = seal.Benchmark("shop", published=[PublishedTable("T", "P"), MAIN])
    assert [(each.name, each.paper) for each in tables_of(bench)] == [
        ("table-1", "shop"),
        ("table-1", "shop"),
    ]


def test_what_a_dotted_path_names_must_be_tables() -> None:
    bench = seal.Benchmark("shop", published="string:ascii_letters")
    with pytest.raises(UsageError, match="published holds 'a'; expected a PublishedTable"):
        tables_of(bench)


def test_the_report_has_the_tables_of_which_figures_were_published(
    make_run: Writer, run: RunFolder
) -> None:
    path = run.path / "run.json"
    declared = {"name": "nobodys", "published": [MAIN.to_json(), {"title": "Bare", "source": "P"}]}
    run.write_json("run.json", {**run.manifest(), "benchmark": declared})
    assert path.is_file()
    page = section(lanes_of([run]))
    assert page is not None
    assert "Honesty &amp; more" in page
    assert "Bare" not in page
    other = make_run("other", metrics={"pass_rate": metric(0.5)})
    assert section(lanes_of([other])) is None


def test_a_sweep_gives_the_rows_of_table_3() -> None:
    rate = {"mean": 0.5, "deviation": 0.1}
    entry = {"size": 10, "top_k": 5, "queries": 3, "metrics": {"pass_rate": rate}}
    found = of_sweep({"results": [entry]})
    assert found["10 APIs"]["# of queries"] == 3.0
    assert found["10 APIs"]["Pass rate"] == 0.5
    assert found["10 APIs"]["Pass rate, std."] == 0.1
    assert found["10 APIs"]["API call recall"] is None
    several = of_sweep({"results": [entry, {**entry, "top_k": 10}]})
    assert list(several) == ["10 APIs, K = 5", "10 APIs, K = 10"]


def test_what_a_table_is_not_made_of_is_left_out(run: RunFolder, tmp_path: Path) -> None:
    lane: Lane = lanes_of([run])[0]
    table = PublishedTable("T", "P", {"A": {"n": 1}}, of="sweep", figures=of_sweep)
    assert not filled(table, [Measured("run", "run", lane)]).measured


@pytest.mark.parametrize(
    ("figures", "said"),
    [
        (lambda lane: {}["x"], "the figures of , 'T', of lexical failed: KeyError"),
        (lambda lane: 3, "are 3; expected a map of rows"),
        (lambda lane: {"": {"x": [3]}}, "expected a map of rows, each of headings to numbers, "),
    ],
)
def test_a_strangers_function_is_held_to_what_it_must_return(
    run: RunFolder, figures: Any, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        shown(run, PublishedTable("T", "P", figures=figures))


def test_a_mean_of_no_rate_is_not_multiplied(make_run: Writer) -> None:
    run = make_run("run", metrics={"pass_rate": metric(0.5), "tokens_in": metric(250.0)})
    table = replace(MAIN, columns={"SR": "pass_rate", "Sent": "tokens_in"}, scale=100.0, rows={})
    assert shown(run, table).rows[0].figures == {"SR": 50.0, "Sent": 250.0, "Sold": 14}
    shares = replace(table, shares=("tokens_in",))
    assert shown(run, shares).rows[0].figures == {"SR": 50.0, "Sent": 25000.0, "Sold": 14}
