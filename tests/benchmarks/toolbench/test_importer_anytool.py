"""AnyToolBench: joins with ToolBench's documents, bad input, and the real files."""

import json
from pathlib import Path
from typing import Any

import pytest
from toolbench_sources import api, query

from seal.core import DataError, Tool, UsageError
from seal.pools.imports import ImportReport, import_benchmark
from seal.pools.pool import load_pool

HIGH, LOW = "toolbench/tide_tables/high_water", "toolbench/tide_tables/low_water"
WIND = "toolbench/wind/speed"


def gold(name: str = "High Water", tool: str = "Tide Tables") -> dict[str, str]:
    return {"category_name": "Weather", "tool_name": tool, "api_name": name}


def record(*apis: dict[str, str], **fields: Any) -> dict[str, Any]:
    return {
        "query": "When is high water in Oban?",
        "final_answer": "At noon.",
        "query_id": "7",
        "gt_api_list": list(apis) or [gold()],
        **fields,
    }


class Source:
    """A folder in AnyTool's format."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "anytool"
        self.out = folder / "pool"
        self.queries(record())

    def write(self, name: str, content: Any) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return path

    def queries(self, *records: Any) -> Path:
        return self.write("atb_data/anytoolbench.json", list(records))

    def documents(self, *records: Any, folder: str = "StableToolBench") -> Path:
        path = self.folder.parent / folder / "G1_tool.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(list(records) or [query()]))
        return path

    def imported(self, **options: Any) -> ImportReport:
        return import_benchmark("anytool", self.folder, self.out, **options)

    def tools(self) -> dict[str, Tool]:
        return {tool.id: tool for tool in load_pool(self.out).tools()}


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path)


def test_a_record_becomes_a_task_with_a_reference_answer(source: Source) -> None:
    source.queries(record(gold(), gold("Low Water"), gold()))
    report = source.imported()
    (task,) = load_pool(source.out).tasks()
    (goal,) = task.goals
    assert (task.id, goal.relevant, goal.plans, goal.offered) == ("7", (HIGH, LOW), None, None)
    assert [step.content for step in goal.reference] == ["At noon."]
    assert task.tags == {"multi_tool": True, "multi_step": True}
    assert report.lacks == (
        "descriptions",
        "gold_calls",
        "parameters",
        "response_shapes",
        "solvable",
    )


def test_documents_beside_the_source_describe_the_gold_apis(source: Source) -> None:
    source.documents()
    source.queries(record(gold("High  water"), gold("Speed", "Wind")))
    report = source.imported()
    tools = source.tools()
    assert sorted(tools) == [HIGH, LOW, WIND]
    assert tools[HIGH].description == "High Water of a harbour"
    assert "document" not in tools[HIGH].source
    assert tools[WIND].source["document"] is False
    assert tools[WIND].parameters == {"type": "object", "properties": {}}
    assert report.facts["documents_from"] == ["StableToolBench"]
    counts = report.facts["counts"]
    assert (counts["documents"], counts["gold_tools"]) == (2, 2)
    assert counts["gold_tools_with_document"] == counts["gold_tools_without_document"] == 1


def test_of_two_folders_beside_it_the_solvable_queries_count(source: Source) -> None:
    source.documents(query(api_list=[api("High Water")]), folder="toolbench")
    source.documents()
    assert source.imported().facts["documents_from"] == ["StableToolBench"]


def test_the_folders_of_documents_can_be_chosen(source: Source) -> None:
    source.documents()
    wind = source.documents(query(api_list=[api("Speed", "Wind")]), folder="more")
    report = source.imported(
        documents=[str(wind.parent), str(source.folder.parent / "StableToolBench")]
    )
    assert report.facts["documents_from"] == ["more", "StableToolBench"]
    assert report.tools == 3
    assert source.imported(documents=str(wind)).tools == 2
    assert source.imported(documents="none").tools == 1


def test_of_several_documents_that_of_the_category_counts(source: Source) -> None:
    other = api("High Water", category_name="Sports", api_description="Other")
    source.documents(query(api_list=[other, api("High Water")]))
    source.imported()
    (task,) = load_pool(source.out).tasks()
    assert source.tools()[task.goals[0].relevant[0]].category == "Weather"


def test_a_query_says_whether_upstream_found_it_unsolvable(source: Source) -> None:
    source.queries(record(), record(query_id=8))
    source.write("misc/unsolvable.json", [8, 9])
    report = source.imported()
    assert [task.id for task in load_pool(source.out).tasks({"solvable": "false"})] == ["8"]
    counts = report.facts["counts"]
    assert (counts["unsolvable_ids"], counts["unsolvable_tasks"]) == (2, 1)
    assert "solvable" not in report.lacks


def test_records_that_cannot_be_used_are_counted(source: Source) -> None:
    source.queries(
        record(),
        record(),
        record(query="Another text?", final_answer=" "),
        record(query_id="8", gt_api_list=[]),
        record(query_id="9", query=" "),
    )
    report = source.imported()
    assert report.dropped == {"empty_query": 1, "no_gold_api": 1}
    first, other = load_pool(source.out).tasks()
    assert other.id.startswith(f"{first.id}#")
    assert other.goals[0].reference == ()
    counts = report.facts["counts"]
    assert (counts["duplicates"], counts["without_answer"]) == (1, 1)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "holds no record"),
        (b"[]", "holds no record"),
        (b'[{"query": "x", ', "not JSON"),
        (json.dumps([record()]).encode("utf-16"), "not UTF-8"),
        ([7], "record 0: expected an object"),
        ([record(query=["x"])], "record 0: query: expected a text"),
        ([record(query_id=True)], "query_id: expected a text or number"),
        ([record(final_answer=None)], "final_answer: expected a text"),
        ([record(gt_api_list="High Water")], "gt_api_list: expected a list"),
        ([record(gt_api_list=["High Water"])], "expected an object with 'category_name'"),
        ([record({**gold(), "api_name": 7})], "api_name: expected a text, got 7"),
    ],
)
def test_a_malformed_file_is_told(source: Source, content: Any, told: str) -> None:
    path = source.write("atb_data/anytoolbench.json", content)
    with pytest.raises(DataError, match=told) as caught:
        source.imported()
    assert str(path) in str(caught.value)
    assert not source.out.exists()


def test_malformed_records_and_documents_are_left_out_and_placed(source: Source) -> None:
    source.write("atb_data/anytoolbench.json", [record(), record(query=["x"])])
    source.documents(query(), query(api_list=[{"tool_name": "Tide Tables"}]))
    report = source.imported()
    assert report.tasks == 1
    assert report.dropped == {"malformed_document_record": 1, "malformed_record": 1}
    assert "record 1: the field 'category_name' is missing" in report.malformed[0]
    assert report.malformed[1] == "anytoolbench.json, record 1: query: expected a text, got ['x']"


@pytest.mark.parametrize("content", [{"7": 1}, ["7", None], [True]])
def test_ids_of_unsolvable_queries_are_a_list(source: Source, content: Any) -> None:
    source.write("unsolvable.json", content)
    with pytest.raises(DataError, match="expected a list of query ids"):
        source.imported()


def test_a_folder_of_other_files_is_told_with_what_it_holds(source: Source) -> None:
    (source.folder / "atb_data" / "anytoolbench.json").unlink()
    with pytest.raises(DataError, match=r"holds atb_data/; anytool expects anytoolbench.json"):
        source.imported()


def test_a_folder_without_documents_is_told(source: Source) -> None:
    empty = source.folder.parent / "empty"
    empty.mkdir()
    with pytest.raises(DataError, match="holds nothing; -T documents expects query files"):
        source.imported(documents=str(empty))


@pytest.mark.parametrize("documents", ["no/such/folder", 7, ["no/such/folder"]])
def test_an_unknown_folder_of_documents_is_refused(source: Source, documents: Any) -> None:
    with pytest.raises(UsageError, match=r"-T documents: no file or folder .*or 'none'"):
        source.imported(documents=documents)


def test_a_malformed_document_is_told_by_its_file(source: Source) -> None:
    path = source.documents(query(api_list=[{"tool_name": "Tide Tables"}]))
    with pytest.raises(DataError, match=f"{path.name}, record 0: the field 'category_name'"):
        source.imported()


def test_the_real_queries_have_307_gold_tools(seal_data: Path, tmp_path: Path) -> None:
    report = import_benchmark("anytool", seal_data / "anytool", tmp_path / "pool")
    counts = report.facts["counts"]
    assert (report.tasks, report.dropped) == (407, {})
    assert (counts["gold_names"], counts["gold_tools"]) == (309, 307)
    assert (counts["unsolvable_ids"], counts["unsolvable_tasks"]) == (626, 0)
    assert counts["without_answer"] == 2
    multi = list(load_pool(tmp_path / "pool").tasks({"multi_tool": "true"}))
    assert len(multi) == 339


def test_the_real_pool_is_stabletoolbenchs_and_the_apis_without_document(
    seal_data: Path, tmp_path: Path
) -> None:
    # With all 765 queries it is 2,479 + 223 = 2,702. Three of them are not in the files, with five
    # documents, and so four more gold APIs have none.
    report = import_benchmark("anytool", seal_data / "anytool", tmp_path / "pool")
    counts = report.facts["counts"]
    assert (counts["documents"], counts["gold_tools_without_document"]) == (2_474, 227)
    assert report.tools == 2_701
    named = [t for t in load_pool(tmp_path / "pool").tools() if t.source.get("document") is False]
    assert len(named) == 227
