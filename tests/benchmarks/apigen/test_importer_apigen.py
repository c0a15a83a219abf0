"""APIGen's records: gold calls, drops, bad input, and the real files."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from seal.core import DataError, MissingExtraError, ToolCall
from seal.core.validation import CallValidator
from seal.pools.imports import ImportReport, import_benchmark
from seal.pools.pool import load_pool

TIDES = {
    "name": "tide_table",
    "description": "Tides of a harbour",
    "parameters": {
        "harbour": {"type": "str", "description": "its name", "default": ""},
        "days": {"type": "int", "description": "how many", "default": "3"},
        "unit": {"type": "str, optional", "description": "", "default": ""},
    },
}
FERRIES = {
    "name": "ferries",
    "description": "Ferries of a day",
    "parameters": {"ports": {"type": "List[str]", "description": "two ports"}},
}
CALL = {"name": "tide_table", "arguments": {"harbour": "Oban"}}
CROSSING = {"name": "ferries", "arguments": {"ports": ["Oban", "Craignure"]}}
ID = "apigen/tide_table/tide_table"


def record(number: int = 0, **fields: Any) -> dict[str, Any]:
    made = {"id": number, "query": f"How are the tides? {number}", "answers": [CALL]}
    made |= {"tools": [TIDES, FERRIES], **fields}
    return {
        name: json.dumps(value) if name in ("answers", "tools") and not isinstance(value, str)
        else value
        for name, value in made.items()
    }  # fmt: skip


def imported(folder: Path, *records: Any, name: str = "xlam.json") -> ImportReport:
    source = folder / "source"
    source.mkdir(exist_ok=True)
    (source / name).write_text(json.dumps(records), encoding="utf-8")
    return import_benchmark("apigen", source, folder / "pool")


def tasks(folder: Path) -> list[Any]:
    return list(load_pool(folder / "pool").tasks())


def test_a_record_becomes_a_task_with_gold_calls(tmp_path: Path) -> None:
    report = imported(tmp_path, record(7))
    assert (report.tasks, report.tools, report.dropped) == (1, 2, {})
    (task,) = tasks(tmp_path)
    (goal,) = task.goals
    assert (task.id, task.split, goal.text) == ("7", "train", "How are the tides? 7")
    assert (goal.offered, goal.relevant) == ((ID, "apigen/ferries/ferries"), (ID,))
    (gold,) = goal.plans[0].calls()
    assert (gold.tool, gold.canonical_arguments()) == (ID, {"harbour": "Oban"})
    assert task.tags == {"multi_tool": False, "multi_step": False, "parallel": False}


def test_a_default_written_out_is_right_too(tmp_path: Path) -> None:
    imported(tmp_path, record())
    (gold,) = tasks(tmp_path)[0].goals[0].plans[0].calls()
    assert gold.accepts({"harbour": "Oban", "days": 3})
    assert not gold.accepts({"harbour": "Oban", "days": 4})
    assert not gold.accepts({"days": 3})


def test_a_gold_value_that_is_the_default_may_be_left_out(tmp_path: Path) -> None:
    imported(tmp_path, record(answers=[{**CALL, "arguments": {"harbour": "Oban", "days": 3}}]))
    (gold,) = tasks(tmp_path)[0].goals[0].plans[0].calls()
    assert gold.accepts({"harbour": "Oban"})
    assert gold.accepts({"harbour": "Oban", "days": 3})
    assert not gold.accepts({"harbour": "Oban", "days": 4})
    assert not gold.accepts({"days": 3})


@pytest.mark.parametrize("required", [["harbour"], []])
def test_an_argument_that_is_required_is_given_whatever_its_default(
    tmp_path: Path, required: list[str]
) -> None:
    properties = {"harbour": {"type": "string", "default": "Oban"}}
    schema = {"type": "object", "properties": properties, "required": required}
    imported(tmp_path, record(tools=[{**TIDES, "parameters": schema}]))
    (gold,) = tasks(tmp_path)[0].goals[0].plans[0].calls()
    assert gold.accepts({"harbour": "Oban"})
    assert gold.accepts({}) != bool(required)


def test_types_and_defaults_become_a_schema(tmp_path: Path) -> None:
    imported(tmp_path, record())
    tools = {tool.name: tool.parameters for tool in load_pool(tmp_path / "pool").tools()}
    assert tools["tide_table"] == {
        "type": "object",
        "properties": {
            "harbour": {"type": "string", "description": "its name"},
            "days": {"type": "integer", "description": "how many", "default": 3},
            "unit": {"type": "string"},
        },
        "required": ["harbour"],
        "additionalProperties": False,
    }
    assert tools["ferries"]["required"] == ["ports"]


def test_several_calls_are_parallel_milestones(tmp_path: Path) -> None:
    again = {**CALL, "arguments": {"harbour": "Mull"}}
    imported(tmp_path, record(0, answers=[CALL, again]), record(1, answers=[CALL, CROSSING]))
    twice, two = tasks(tmp_path)
    assert [m.after for m in twice.goals[0].plans[0].milestones] == [(), ()]
    assert twice.tags == {"multi_tool": False, "multi_step": True, "parallel": True}
    assert two.tags == {"multi_tool": True, "multi_step": True, "parallel": True}
    assert len(two.goals[0].relevant) == 2


def test_a_name_with_another_document_is_another_tool(tmp_path: Path) -> None:
    other = {**TIDES, "description": "Tides of a beach"}
    report = imported(tmp_path, record(0), record(1, tools=[other]), record(2, tools=[other]))
    relevant = [task.goals[0].relevant[0] for task in tasks(tmp_path)]
    assert relevant[0] == ID
    assert re.fullmatch(rf"{ID}#[0-9a-f]{{8}}", relevant[1])
    assert relevant[1] == relevant[2]
    assert (report.tools, report.facts["counts"]["tool_variants"]) == (3, 1)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"answers": "[{"}, "unparsable_answers"),
        ({"answers": "{}"}, "unparsable_answers"),
        ({"answers": [1]}, "unparsable_answers"),
        ({"tools": "none"}, "unparsable_tools"),
        ({"tools": [{"description": "no name"}]}, "unparsable_tools"),
        ({"answers": [{**CALL, "name": "weather"}]}, "answer_names_unknown_tool"),
        ({"tools": [TIDES, {**TIDES, "description": "b"}]}, "answer_names_two_tools"),
    ],
)
def test_an_unusable_record_is_left_out_and_counted(
    tmp_path: Path, fields: dict[str, Any], reason: str
) -> None:
    report = imported(tmp_path, record(0, **fields), record(1))
    assert (report.tasks, report.dropped) == (1, {reason: 1})


def test_a_gold_call_that_its_schema_refuses_stays_and_is_counted(tmp_path: Path) -> None:
    wrong = {"name": "ferries", "arguments": {"ports": "Oban"}}
    lacking = {"name": "tide_table", "arguments": {}}
    report = imported(tmp_path, record(0, answers=[wrong, lacking]), record(1))
    assert report.facts["invalid_gold_calls"] == {"missing_argument": 1, "wrong_type": 1}
    assert report.facts["counts"]["tasks_with_invalid_gold_call"] == 1
    assert tasks(tmp_path)[0].metadata == {"invalid_gold_calls": ["wrong_type", "missing_argument"]}


def test_no_call_is_a_plan_without_calls(tmp_path: Path) -> None:
    report = imported(tmp_path, record(answers=[]))
    assert tasks(tmp_path)[0].goals[0].plans[0].calls() == []
    assert report.facts["counts"]["tasks_without_gold_call"] == 1


def test_repeated_records_and_queries_are_counted(tmp_path: Path) -> None:
    other = record(0, query="Another?")
    report = imported(tmp_path, record(0), record(0), other, record(5, query="Another?"))
    ids = [task.id for task in tasks(tmp_path)]
    assert (ids[0], ids[1][:2], ids[2]) == ("0", "0#", "5")
    assert report.facts["counts"]["duplicates"] == 1
    assert report.facts["counts"]["repeated_queries"] == 1


def test_fields_that_nothing_is_made_of_are_counted(tmp_path: Path) -> None:
    report = imported(tmp_path, record(0, lang="en"), record(1, lang="en", note=1), record(2))
    assert report.facts["unread_fields"] == {"lang": 2, "note": 1}
    rows = [record(3, lang="en")]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "source" / "a.parquet")
    report = import_benchmark("apigen", tmp_path / "source", tmp_path / "pool")
    assert report.facts["unread_fields"] == {"lang": 3, "note": 1}


def test_parquet_beside_json_doubles_nothing(tmp_path: Path) -> None:
    imported(tmp_path, record(0), record(1))
    data = tmp_path / "source" / "data"
    data.mkdir()
    rows = [record(1), record(2)]
    parquet.write_table(pa.Table.from_pylist(rows), data / "train-0-of-1.parquet")
    (tmp_path / "source" / "dataset_info.json").write_text("{}", encoding="utf-8")
    report = import_benchmark("apigen", tmp_path / "source", tmp_path / "pool")
    assert (report.tasks, report.facts["counts"]["duplicates"]) == (3, 1)
    assert report.facts["files"] == {"json": 1, "parquet": 1}


def test_parquet_beside_json_is_passed_over_without_pyarrow_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported(tmp_path, record(0), record(1))
    copy = tmp_path / "source" / "a.parquet"
    parquet.write_table(pa.Table.from_pylist([record(1)]), copy)
    whole = import_benchmark("apigen", tmp_path / "source", tmp_path / "pool")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    report = import_benchmark("apigen", tmp_path / "source", tmp_path / "pool")
    assert (report.tasks, report.digest) == (2, whole.digest)
    assert report.facts["files"] == {"json": 1}
    assert report.to_json()["skipped_files"] == ["a.parquet"]
    assert "pyarrow is not installed" in str(report.to_json()["skipped_because"])

    (tmp_path / "source" / "xlam.json").unlink()
    with pytest.raises(MissingExtraError, match="pyarrow is not installed"):
        import_benchmark("apigen", tmp_path / "source", tmp_path / "other")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no record of apigen"),
        (b"[]", "holds no record of apigen"),
        (b'[{"id": 0, "query": "a", "answers": "[]", "to', "xlam.json: not JSON.*cut or damaged"),
        (b'[{"id": 0, "query": "a"}]', "record 0: the field 'tools' is missing; .*'id', 'query'"),
        (b'[{"question": "a"}]', "record 0: the field 'query' is missing; .*'question'"),
        (b'[{"id": "x", "query": 5}]', "query: expected a text, got 5"),
        (b'[{"id": null, "query": "a"}]', "id: expected a whole number, got None"),
        (b"[5]", "record 0: expected an object with 'query', got 5"),
        ('[{"query": "é"}]'.encode("latin-1"), "not UTF-8: byte 0xe9 at offset 12"),
        ('[{"query": "a"}]'.encode("utf-16"), "not UTF-8: byte 0xff at offset 0.*UTF-16"),
    ],
)
def test_a_malformed_file_is_told_by_place_and_field(
    tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "xlam.json").write_bytes(content)
    with pytest.raises(DataError, match=message):
        import_benchmark("apigen", tmp_path / "xlam.json", tmp_path / "pool")


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ({**CALL, "parameters": {"days": 2}}, "answers.0: the key 'parameters' is not known"),
        ({"name": "tide_table", "kwargs": {}}, "answers.0: the key 'kwargs' is not known"),
        ({"name": "tide_table"}, "answers.0.arguments: expected an object, got None"),
    ],
)
def test_gold_with_a_key_that_is_not_read_is_left_out(tmp_path: Path, call: Any, told: str) -> None:
    report = imported(tmp_path, record(), record(1, answers=[call]))
    assert (report.tasks, report.dropped) == (1, {"malformed_record": 1})
    assert told in report.malformed[0]


def test_a_number_of_many_digits_stays_as_it_is(tmp_path: Path) -> None:
    number = 271828182845904523536
    answers = [{"name": "tide_table", "arguments": {"harbour": "Oban", "days": number}}]
    imported(tmp_path, record(answers=answers))
    (gold,) = tasks(tmp_path)[0].goals[0].plans[0].calls()
    assert gold.accepts({"harbour": "Oban", "days": number})
    assert not gold.accepts({"harbour": "Oban", "days": number + 1})


def test_malformed_records_among_others_are_left_out_and_placed(tmp_path: Path) -> None:
    lines = [json.dumps(record()), '{"id": 7, "que', json.dumps({"id": 8, "query": 5})]
    (tmp_path / "xlam.jsonl").write_text("\n".join(lines))
    report = import_benchmark("apigen", tmp_path / "xlam.jsonl", tmp_path / "pool")
    assert (report.tasks, report.dropped) == (1, {"malformed_record": 2})
    torn, wrong = report.malformed
    assert torn.startswith("xlam.jsonl, line 2: not JSON")
    assert wrong == "xlam.jsonl, line 3: query: expected a text, got 5"
    told = json.loads((tmp_path / "pool" / "import.json").read_text())["malformed"]
    assert told == list(report.malformed)


def test_a_wrong_parameters_field_is_told_by_tool(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"tool 'tide_table': parameter 'harbour': expected an obj"):
        imported(tmp_path, record(tools=[{**TIDES, "parameters": {"harbour": "str"}}]))


def test_a_deep_document_is_refused_by_field(tmp_path: Path) -> None:
    deep: Any = "str"
    for _ in range(300):
        deep = [deep]
    with pytest.raises(DataError, match=r"record 0: parameters\.a\.type\.0.*nested deeper"):
        imported(tmp_path, record(tools=[{**TIDES, "parameters": {"a": {"type": deep}}}]))


def test_a_parquet_of_other_columns_or_none_at_all_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"id": [1], "prompt": ["a"]}), path)
    with pytest.raises(DataError, match="no column query, answers, tools; it has: id, prompt"):
        import_benchmark("apigen", path, tmp_path / "pool")
    path.write_bytes(b"PAR1 and no more")
    with pytest.raises(DataError, match=r"a\.parquet: not readable as Parquet"):
        import_benchmark("apigen", path, tmp_path / "pool")


def test_a_wrong_folder_says_what_it_holds(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "notes.txt").write_text("a", encoding="utf-8")
    with pytest.raises(DataError, match=r"holds notes\.txt; apigen expects \*\.json, \*\.jsonl"):
        import_benchmark("apigen", source, tmp_path / "pool")


def test_importing_the_importers_loads_no_pyarrow() -> None:
    code = (
        "import sys;"
        "import seal.benchmarks.apigen.importer, seal.benchmarks.beir.importer;"
        "import seal.benchmarks.apibench.importer;"
        "sys.exit('pyarrow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_first_15_real_records_stand_in_both_files(seal_data: Path, tmp_path: Path) -> None:
    report = import_benchmark("apigen", seal_data / "apigen_xlam", tmp_path / "pool")
    assert (report.tasks, report.tools, report.dropped) == (15, 31, {})
    counts = report.facts["counts"]
    assert (counts["duplicates"], counts["gold_calls"]) == (15, 22)
    assert counts["unusable_defaults"] == 2
    assert report.facts["invalid_gold_calls"] == {}
    table = seal_data / "apigen_xlam" / "dataset"
    assert import_benchmark("apigen", table, tmp_path / "other").tasks == 15


def test_the_real_gold_calls_are_upstreams(seal_data: Path, tmp_path: Path) -> None:
    file = next((seal_data / "apigen_xlam").glob("*.json"))
    import_benchmark("apigen", file, tmp_path / "pool")
    pool = load_pool(tmp_path / "pool")
    tools = {tool.id: tool for tool in pool.tools()}
    validator = CallValidator(tools)
    upstream = {str(r["id"]): json.loads(r["answers"]) for r in json.loads(file.read_bytes())}
    for task in pool.tasks():
        calls = task.goals[0].plans[0].calls()
        assert len(upstream[task.id]) == len(calls)
        for written, call in zip(upstream[task.id], calls, strict=True):
            assert written["name"] == tools[call.tool].name
            assert call.accepts(written["arguments"])
            made = ToolCall("0", "", call.canonical_arguments(), tool=call.tool)
            left_to_defaults = validator.with_defaults(made)
            assert left_to_defaults == {**left_to_defaults, **written["arguments"]}
        for call in calls:
            made = ToolCall("0", "", call.canonical_arguments(), tool=call.tool)
            assert validator.check(made) is None
