"""APIBench's hubs: forms of instructions and documents, bad input, and the real files."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import every_case

from seal.benchmarks.apibench.importer import instruction_of, lines, properties
from seal.core import DataError, UnknownNameError
from seal.pools.imports import ImportReport, import_benchmark
from seal.pools.pool import load_pool

CALL = "torch.hub.load(repo_or_dir='oban/tides', model='tide_net')"


def document(call: str = CALL, **fields: Any) -> dict[str, Any]:
    return {
        "domain": "Forecast",
        "framework": "PyTorch",
        "functionality": "Tide forecast",
        "api_name": "tide_net",
        "api_call": call,
        "api_arguments": {"pretrained": "True"},
        "python_environment_requirements": ["torch"],
        "example_code": ["import torch", f"model = {CALL}"],
        "performance": {"dataset": "N/A", "accuracy": "N/A"},
        "description": "Forecasts tides.",
        **fields,
    }


def request(code: str = "###Instruction: Forecast the tide.\n###Output: <<<domain>>>: x", **f: Any):
    return {"code": code, "api_call": CALL, "provider": "PyTorch", "api_data": document(), **f}


def write(folder: Path, name: str, *records: Any) -> None:
    folder.mkdir(exist_ok=True)
    text = "".join(json.dumps(record) + "\n" for record in records)
    (folder / name).write_text(text, encoding="utf-8")


def imported(tmp_path: Path, documents: list[Any], requests: list[Any], **options: Any):
    write(tmp_path / "source", "torchhub_api.jsonl", *documents)
    write(tmp_path / "source", "torchhub_eval.json", *requests)
    return import_benchmark("apibench", tmp_path / "source", tmp_path / "pool", **options)


def test_a_request_becomes_a_task_whose_relevant_tool_is_its_call(tmp_path: Path) -> None:
    report = imported(tmp_path, [document()], [request()])
    (task,) = load_pool(tmp_path / "pool").tasks(select={"group": "torchhub"})
    assert (task.id, task.split) == ("torchhub/eval/0", "eval")
    assert task.goals[0].text == "Forecast the tide."
    assert task.goals[0].relevant == ("apibench/torchhub/tide_net",)
    (call,) = task.goals[0].plans[0].calls()
    assert (call.tool, call.arguments) == ("apibench/torchhub/tide_net", None)
    assert report.lacks == ("gold_arguments", "response_shapes")


def test_a_document_is_brought_to_one_form(tmp_path: Path) -> None:
    imported(tmp_path, [document()], [request()])
    (tool,) = load_pool(tmp_path / "pool").tools()
    assert (tool.name, tool.category, tool.description) == (
        "tide_net",
        "Forecast",
        "Forecasts tides.",
    )
    assert tool.parameters["properties"] == {"pretrained": {"examples": ["True"]}}
    assert tool.source["example_code"] == f"import torch\nmodel = {CALL}"
    assert tool.source["requirements"] == ["torch"]
    assert tool.source["api_call"] == CALL


@every_case(
    ("code", "text"),
    [
        ("###Instruction: Do it.\n###Output: <<<domain>>>: x", "Do it."),
        ("\n### Instruction: Do it.\n\n### Output: x", "Do it."),
        ("###Instruction: Do it.", "Do it."),
        ("###Instruction: Do it.\n###Input: with this\n###Output: x", "Do it.\nwith this"),
        ("###Instruction: Do it.\n###Input: <noinput>\n###Output: x", "Do it."),
        ("###Instruction: Do it.\n\n**Input:<noinput>**\n###Output: x", "Do it."),
        ("{'Instruction': 'Do \"it\".', 'Output': {'domain': 'x'}}", 'Do "it".'),
        ('{"Instruction": "Do it.", "Output": 1}', "Do it."),
        ("{'Instruction': Do it, please., 'Output':{'code': 'f('x')'}}", "Do it, please."),
        ("{'Instruction': \"Do it's.\", 'Output': {'code': 'f('x')'}}", "Do it's."),
        ("import torch", ""),
        ("{'Instruction': 5}", ""),
    ],
)
def test_an_instruction_has_many_forms(code: str, text: str) -> None:
    assert instruction_of(code) == text


@given(st.text(max_size=60) | st.text(alphabet="#{}'\":,Instruction Input Output", max_size=60))
def test_any_code_has_an_instruction_or_none(code: str) -> None:
    assert isinstance(instruction_of(code), str)


@every_case(
    ("start", "end"),
    [
        ("###Instruction: Do", " it."),
        ("###Instruction: Do", "\n###Input: it.\n###Output: x"),
        ("{'Instruction': Do", " it., 'Output': {x}}"),
        ("{'Instruction': Do", " it."),
    ],
)
@every_case("filling", [" ", "#", ",", "# ", "**"])
def test_a_long_run_of_blanks_or_marks_is_read_at_once(start: str, end: str, filling: str) -> None:
    text = instruction_of(f"{start}{filling * 100_000}{end}")
    assert text == "" or text.startswith("Do")


@every_case(
    ("arguments", "expected"),
    [
        (["text", "N/A", "a b"], {"text": {}}),
        ([{"name": "size", "type": "int", "description": "x"}, {"type": "int"}],
         {"size": {"type": "integer", "description": "x"}}),
        ({"model": "tides", "size": "N/A", "the 1st": 1},
         {"model": {"examples": ["tides"]}, "size": {}}),
        ("question, context", {"question": {}, "context": {}}),
        ("['prompt']", {"prompt": {}}),
        ("URL of the model", {}),
        ("N/A", {}),
        ("None", {}),
        (None, {}),
        (5, {}),
    ],
)  # fmt: skip
def test_arguments_have_many_types(arguments: Any, expected: dict[str, Any]) -> None:
    assert properties(arguments) == expected


@pytest.mark.parametrize(
    ("value", "keyed", "expected"),
    [
        ("N/A", False, []),
        (None, False, []),
        (["a", "", ["b"]], False, ["a", "b"]),
        ({"torch": ">=1.9", "json": ""}, True, ["torch: >=1.9"]),
        ({"load": ["a", "b"], "run": "c"}, False, ["a", "b", "c"]),
        (5, False, ["5"]),
    ],
)
def test_texts_lists_and_maps_become_lines(value: Any, keyed: bool, expected: list[str]) -> None:
    assert lines(value, keyed) == expected


def test_of_documents_for_one_call_the_first_counts(tmp_path: Path) -> None:
    same_name = document("torch.hub.load('oban/other')", description="Another")
    documents = [document(), document(description="Again"), same_name]
    report = imported(tmp_path, documents, [request()])
    assert report.tools == 2
    assert report.facts["hubs"]["torchhub"] == {
        "documents": 3, "duplicate_documents": 1, "requests": 1, "tasks": 1, "tools": 2,
    }  # fmt: skip
    tools = load_pool(tmp_path / "pool").tools()
    assert tools[0].description == "Forecasts tides."
    assert tools[1].id.startswith("apibench/torchhub/tide_net#")


def test_what_has_no_document_or_no_instruction_is_left_out_and_counted(tmp_path: Path) -> None:
    requests = [request(), request(api_call="f()"), request("import torch"), request()]
    report = imported(tmp_path, [document()], requests)
    assert report.dropped == {"api_call_absent_from_pool": 1, "no_instruction": 1}
    assert report.facts["repeated_queries"] == 1
    assert report.tasks == 2


@pytest.mark.parametrize(
    ("documents", "requests", "message"),
    [
        ([{"api_name": "a"}], [], r"torchhub_api\.jsonl, line 1: .*'api_call' is missing"),
        ([document(description=["a"])], [], r"description: expected a text, got \['a'\]"),
        ([[1]], [], r"line 1: expected an object with 'api_name', got \[1\]"),
        ([document()], [{"api_call": "f"}], r"eval\.json, line 1: the field 'code' is missing"),
        ([document()], [request(5)], r"eval\.json, line 1: code: expected a text"),
    ],
)
def test_a_malformed_record_is_told_by_place_and_field(
    tmp_path: Path, documents: list[Any], requests: list[Any], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        imported(tmp_path, documents, requests)


def test_malformed_records_among_others_are_left_out_and_placed(tmp_path: Path) -> None:
    report = imported(tmp_path, [document(), [1]], [request(5), request()])
    assert (report.tasks, report.tools) == (1, 1)
    assert report.dropped == {"malformed_document": 1, "malformed_request": 1}
    document_fault, request_fault = report.malformed
    assert document_fault.startswith("torchhub_api.jsonl, line 2: expected an object")
    assert request_fault.startswith("torchhub_eval.json, line 1: code: expected a text")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"code": "a", "api_', r"line 1: not JSON"),
        ('{"code": "é"}'.encode("latin-1"), r"line 1: not UTF-8: byte 0xe9 at offset 10"),
        ('{"code": "a"}'.encode("utf-16"), r"line 1: not UTF-8: byte 0xff.*UTF-16"),
    ],
)
def test_a_damaged_file_is_told_by_line_and_byte(
    tmp_path: Path, content: bytes, message: str
) -> None:
    write(tmp_path / "source", "torchhub_api.jsonl", document())
    (tmp_path / "source" / "torchhub_eval.json").write_bytes(content)
    with pytest.raises(DataError, match=message):
        import_benchmark("apibench", tmp_path / "source", tmp_path / "pool")


def test_an_empty_request_file_leaves_the_tools(tmp_path: Path) -> None:
    report = imported(tmp_path, [document()], [])
    assert (report.tools, report.tasks) == (1, 0)
    with pytest.raises(DataError, match="holds no record of apibench"):
        imported(tmp_path, [], [])


def test_absent_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"holds nothing; apibench expects huggingface_api\.jsonl"):
        (tmp_path / "source").mkdir()
        import_benchmark("apibench", tmp_path / "source", tmp_path / "pool")
    with pytest.raises(DataError, match=r"apibench expects torchhub_train\.json"):
        imported(tmp_path, [document()], [request()], hub="torchhub", split="train")
    assert imported(tmp_path, [document()], [request()]).facts["absent_files"][0] == (
        "huggingface_api.jsonl"
    )


def test_a_file_that_stands_twice_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "source", "torchhub_api.jsonl", document())
    write(tmp_path / "source" / "copy", "torchhub_api.jsonl", document())
    with pytest.raises(DataError, match=r"holds torchhub_api\.jsonl twice"):
        imported(tmp_path, [document()], [request()])


def test_unknown_hubs_and_splits_are_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"torchhub\. Did you mean 'torchhub'\?"):
        imported(tmp_path, [], [], hub="torchub")
    with pytest.raises(UnknownNameError, match="known: eval, train"):
        imported(tmp_path, [], [], split="test")


REAL = {
    "huggingface": (936, 41, 911, 834, 895),
    "tensorflow": (696, 616, 688, 688, 80),
    "torchhub": (94, 0, 186, 186, 94),
}
NAMES = ("documents", "duplicate_documents", "requests", "tasks", "tools")


@pytest.fixture(scope="module")
def real(seal_data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[ImportReport, Path]:
    out = tmp_path_factory.mktemp("apibench") / "pool"
    return import_benchmark("apibench", seal_data / "apibench", out), out


def test_the_real_hubs_have_the_counts_that_are_known_of_them(
    real: tuple[ImportReport, Path],
) -> None:
    report, _ = real
    assert report.facts["hubs"] == {
        hub: dict(zip(NAMES, counts, strict=True)) for hub, counts in REAL.items()
    }
    assert (report.tasks, report.tools) == (834 + 688 + 186, 895 + 80 + 94)
    assert report.dropped == {"api_call_absent_from_pool": 77}
    assert report.facts["repeated_queries"] == 0


def test_every_real_request_has_an_instruction_without_its_answer(
    real: tuple[ImportReport, Path],
) -> None:
    pool = load_pool(real[1])
    texts = [task.goals[0].text for task in pool.tasks()]
    assert not any("<<<" in text or "###" in text or "'Output'" in text for text in texts)
    assert len(pool.tools()) == 1069


def test_the_training_split_of_torch_hub_is_read(seal_data: Path, tmp_path: Path) -> None:
    source = seal_data / "apibench"
    report = import_benchmark("apibench", source, tmp_path / "pool", hub="torchhub", split="train")
    assert (report.tasks, report.tools, report.dropped) == (837, 94, {})
