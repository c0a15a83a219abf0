"""MetaTool: sets, labels, bad input, and the real files."""

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seal.benchmarks.metatool.importer import single_queries
from seal.core import DataError, Task, UnknownNameError
from seal.pools.imports import ImportReport, import_benchmark
from seal.pools.pool import load_pool

MULTI = "data/multi_tool_query_golden.json"
PLUGINS = {"TideTool": "Tells tides.", "PDF&URLTool": "Reads pages.", "BusTool": "Finds buses."}
TIDE, PDF, BUS = (f"metatool/{name}/{name}" for name in PLUGINS)


class Source:
    """A folder in MetaTool's format."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "dataset"
        self.out = folder / "pool"
        self.write("plugin_des.json", PLUGINS)
        self.csv("When is high water?,TideTool", "Read this page,PDF&URLTool")
        self.write(MULTI, [self.multi()])

    def write(self, name: str, content: Any) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        path.write_bytes(raw)
        return path

    def csv(self, *rows: str, header: str = "Query,Tool") -> Path:
        return self.write("data/all_clean_data.csv", "\n".join([header, *rows]).encode())

    def multi(self, **fields: Any) -> dict[str, Any]:
        return {"query": "Tides and buses in Oban", "tool": ["TideTool", "BusTool"], **fields}

    def imported(self, **options: Any) -> ImportReport:
        return import_benchmark("metatool", self.folder, self.out, **options)

    def tasks(self, **options: Any) -> list[Task]:
        self.imported(**options)
        return list(load_pool(self.out).tasks())


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path)


def prompt(*names: str) -> str:
    lines = [f"{n}. tool name: {name}, tool description: ['x']" for n, name in enumerate(names, 1)]
    mark = "List of Tools with Names and Descriptions"
    return "\n".join(
        ["Choose.", f"[{mark} Start]", *lines, "", f'[{mark} End]"', "7. tool name: No"]
    )


def test_a_labelled_query_has_a_plugin_to_find_and_no_gold_call(source: Source) -> None:
    first, second, multi = source.tasks()
    assert (first.id, first.tags["group"], first.goals[0].relevant) == (
        "single/0",
        "single",
        (TIDE,),
    )
    assert first.goals[0].plans is None
    assert second.goals[0].relevant == (PDF,)
    assert not first.tags["multi_tool"]
    assert multi.tags == {"group": "multi", "multi_tool": True, "multi_step": True}
    assert (multi.goals[0].relevant, multi.goals[0].plans) == ((TIDE, BUS), None)
    assert not multi.goals[0].any_relevant


def test_a_plugin_keeps_its_name_and_gets_one_that_servers_take(source: Source) -> None:
    source.imported()
    tools = {tool.id: tool for tool in load_pool(source.out).tools()}
    assert sorted(tools) == sorted([TIDE, PDF, BUS])
    assert tools[PDF].name == "PDF_URLTool"
    assert tools[PDF].source["tool"] == "PDF&URLTool"


def test_several_labels_of_a_text_are_alternatives(source: Source) -> None:
    source.csv("How far?,TideTool", "How far?,BusTool", "How far?,TideTool")
    report = source.imported(set="single")
    (task,) = load_pool(source.out).tasks()
    (goal,) = task.goals
    assert (goal.relevant, goal.any_relevant) == ((TIDE, BUS), True)
    assert goal.plans is None
    assert not task.tags["multi_tool"]
    counts = report.facts["counts"]
    assert (counts["rows"], counts["repeated_rows"]) == (3, 2)
    assert counts["texts_with_several_labels"] == 1


def test_a_negative_query_of_task_1_wants_no_call(source: Source) -> None:
    records = [
        {"query": "Sing", "label": "negative", "thought_prompt": "p"},
        {"query": "Tides?", "label": "positive", "tool": "TideTool", "thought_prompt": "p"},
    ]
    source.write("tmp_dataset/Task1.json", records)
    negative, positive = source.tasks(set="task1")
    assert (negative.goals[0].plans[0].milestones, negative.goals[0].relevant) == ((), ())
    assert positive.goals[0].relevant == (TIDE,)
    assert [call.tool for call in positive.goals[0].plans[0].calls()] == [TIDE]
    assert [task.tags["tool_needed"] for task in (negative, positive)] == [False, True]


def test_task_2_offers_what_its_prompt_lists(source: Source) -> None:
    listed = prompt("BusTool", "TideTool")
    record = {"query": "Tides?", "tool": "TideTool", "action_prompt": listed}
    source.write("tmp_dataset/Task2-Subtask1.json", [record])
    record = {"query": "Page?", "tool": ["PDF&URLTool"], "action_prompt": listed}
    source.write("tmp_dataset/Task2-Subtask3.json", [record])
    chosen, none_fits = source.tasks(set="task2")
    assert (chosen.id, chosen.goals[0].offered) == ("task2_subtask1/0", (BUS, TIDE))
    assert [call.tool for call in chosen.goals[0].plans[0].calls()] == [TIDE]
    assert (none_fits.goals[0].plans[0].milestones, none_fits.goals[0].relevant) == ((), ())
    assert none_fits.goals[0].labels == {"not_listed": [PDF]}


def test_the_larger_pool_describes_each_name_once(source: Source) -> None:
    source.write("big_tool_des.json", {"BusTool": "Another.", "FerryTool": "Finds ferries."})
    info = {"name_for_model": "FerryTool", "name_for_human": "F", "description_for_human": "d"}
    source.write("plugin_info.json", [info, {**info, "name_for_model": "map"}])
    report = source.imported(pool="all")
    described = {tool.source["api"]: tool.description for tool in load_pool(source.out).tools()}
    assert described == {**PLUGINS, "FerryTool": "Finds ferries.", "map": "d"}
    assert report.facts["plugins"]["further_documents_of_a_name"] == 2


def test_rows_that_cannot_be_used_are_counted(source: Source) -> None:
    source.csv(
        "Good?,TideTool,9", "wide,TideTool,9,9", "narrow,TideTool", " ,BusTool,9", "none, ,9", "",
        "who?,NoTool,9", header="Query,Tool,Score",
    )  # fmt: skip
    report = source.imported(set="single")
    assert report.tasks == 1
    assert report.dropped == {
        "empty_label": 1,
        "empty_query": 1,
        "row_of_another_width": 2,
        "unknown_plugin": 1,
    }


def test_a_header_that_no_row_fits_ends_the_import(source: Source) -> None:
    source.csv("Good?,TideTool", "Better?,BusTool", header="Query,Tool,Score")
    with pytest.raises(DataError, match="no row is as wide as the header"):
        source.imported(set="single")


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"", "no column Query and Tool"),
        (b"query;tool\nx;y", "expected Query, Tool, got query;tool"),
        (b'Query,Tool\n"open,TideTool\nx,TideTool', "not closed"),
        (b'Query,Tool\n"a"b,TideTool', "line 2"),
        ("Query,Tool\nWo?,Tü".encode("latin-1"), "not UTF-8"),
        ("Query,Tool\nx,TideTool".encode("utf-16"), "UTF-16"),
    ],
)
def test_a_damaged_csv_file_is_named(source: Source, raw: bytes, told: str) -> None:
    path = source.write("data/all_clean_data.csv", raw)
    with pytest.raises(DataError, match=told) as caught:
        source.imported()
    assert str(path) in str(caught.value)
    assert not source.out.exists()


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        (MULTI, b"", "holds no record"),
        (MULTI, b'[{"query": "x", "tool"', "not JSON"),
        (
            "data/multi_tool_query_golden.json",
            [{"query": 7, "tool": "TideTool"}],
            "record 0: query",
        ),
        (MULTI, [{"query": "", "tool": "TideTool"}], "empty one"),
        (
            "data/multi_tool_query_golden.json",
            [{"query": "x", "tool": ["TideTool", 7]}],
            "tool: exp",
        ),
        (MULTI, ["x"], "tool: expected"),
        ("plugin_des.json", {"TideTool": ["a"]}, "TideTool: expected a text"),
        ("plugin_des.json", ["TideTool"], "expected an object of descriptions"),
        ("plugin_des.json", {}, "describes no plugin"),
        ("tmp_dataset/Task1.json", [{"query": "x", "label": "maybe"}], "'positive' or 'negative'"),
        ("tmp_dataset/Task1.json", [{"query": "x", "label": "positive"}], "tool: expected a name"),
        ("tmp_dataset/Task1.json", [{"query": "x", "label": True}], "label: expected a text"),
        (
            "tmp_dataset/Task2-Subtask4.json",
            [{"query": "x", "tool": "TideTool", "action_prompt": "Choose."}],
            "no list of tools found",
        ),
    ],
)
def test_a_malformed_file_is_named(source: Source, name: str, content: Any, told: str) -> None:
    source.write("tmp_dataset/Task1.json", [{"query": "x", "label": "negative"}])
    path = source.write(name, content)
    with pytest.raises(DataError, match=told) as caught:
        source.imported(set="multi,task1,task2" if "Subtask4" in name else "multi,task1")
    assert path.name in str(caught.value)


def test_malformed_records_among_others_are_left_out_and_placed(source: Source) -> None:
    good = {"query": "Tides and buses?", "tool": ["TideTool", "BusTool"]}
    source.write(MULTI, [{"query": 7, "tool": "TideTool"}, good])
    report = source.imported(set="multi")
    assert (report.tasks, report.dropped) == (1, {"malformed_record": 1})
    assert report.malformed == (f"{Path(MULTI).name}, record 0: query: expected a text, got 7",)
    (task,) = load_pool(source.out).tasks()
    assert task.id == "multi/1"


@pytest.mark.parametrize("name", ["plugin_des.json", "data/multi_tool_query_golden.json"])
def test_a_missing_file_is_named_beside_what_is_there(source: Source, name: str) -> None:
    (source.folder / name).unlink()
    with pytest.raises(DataError, match=rf"holds data/.*expects {Path(name).name}"):
        source.imported()


def test_a_file_is_no_source(source: Source) -> None:
    with pytest.raises(DataError, match="is a file; metatool expects a folder"):
        import_benchmark("metatool", source.csv(), source.out)


@pytest.mark.parametrize("options", [{"set": "singel"}, {"set": 7}, {"pool": "big"}])
def test_an_unknown_option_is_refused(source: Source, options: dict[str, Any]) -> None:
    with pytest.raises(UnknownNameError, match="known:"):
        source.imported(**options)


@given(st.lists(st.tuples(st.text(min_size=1), st.sampled_from(["a", "b"])), max_size=8))
def test_every_text_that_a_csv_writer_wrote_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    usable = [
        (text, label)
        for text, label in rows
        if text.strip() and text.isprintable() and text.isascii()
    ]
    path = tmp_path_factory.mktemp("csv") / "all_clean_data.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("Query", "Tool"), *usable])
    dropped: Counter[str] = Counter()
    read = list(single_queries(path, Counter(), dropped))
    assert {query.text: set(query.labels) for query in read} == {
        text: {other for same, other in usable if same == text} for text, _ in usable
    }
    assert not dropped


def test_the_real_queries_are_as_many_as_upstream_says(seal_data: Path, tmp_path: Path) -> None:
    report = import_benchmark("metatool", seal_data / "metatool", tmp_path / "pool")
    assert (report.tools, report.tasks, report.dropped) == (199, 21_047, {})
    assert report.facts["tasks_of_group"] == {"single": 20_550, "multi": 497}
    counts = report.facts["counts"]
    assert (counts["rows"], counts["repeated_rows"]) == (20_614, 64)
    assert (counts["texts_with_several_labels"], counts["repeated_texts"]) == (11, 6)


def test_the_real_choices_are_as_many_as_upstream_says(seal_data: Path, tmp_path: Path) -> None:
    report = import_benchmark("metatool", seal_data / "metatool", tmp_path / "p", set="task1,task2")
    assert report.facts["tasks_of_group"] == {
        "task1": 1_040,
        "task2_subtask3": 995,
        "task2_subtask4": 497,
    }
    assert report.facts["counts"]["plugins_not_listed"] == 995
    goals = {group: [] for group in report.facts["tasks_of_group"]}
    for task in load_pool(tmp_path / "p").tasks():
        goals[task.tags["group"]].append(task.goals[0])
    assert sum(not goal.relevant for goal in goals["task1"]) == 520
    assert {len(goal.offered) for goal in goals["task2_subtask3"]} == {10}
    assert {len(goal.relevant) for goal in goals["task2_subtask4"]} == {2}


def test_the_real_larger_pool_has_434_names(seal_data: Path, tmp_path: Path) -> None:
    out = tmp_path / "pool"
    report = import_benchmark("metatool", seal_data / "metatool", out, set="multi", pool="all")
    assert (report.tools, report.tasks) == (434, 497)
