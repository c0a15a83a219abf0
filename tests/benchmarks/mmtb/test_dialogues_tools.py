"""MMTB's tool lists: one tool for each document, bad input, and the real files."""

import json
from pathlib import Path
from typing import Any

import pytest

from seal.core import DataError, UnknownNameError
from seal.pools.imports import ImportReport, import_benchmark
from seal.pools.pool import load_pool


def function(name: str = "getTide", **properties: Any) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": "Tells tides",
            "parameters": {"type": "object", "properties": properties, "required": []},
        },
    }


class Source:
    """A folder in MMTB's format."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "mmtb"
        self.out = folder / "pool"

    def write(self, *lines: Any, language: str = "en") -> Path:
        path = self.folder / "multi_agent" / "tools" / f"mmtb_tools_{language}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(json.dumps(line) for line in lines))
        return path

    def imported(self, **options: Any) -> ImportReport:
        return import_benchmark("mmtb", self.folder, self.out, **options)


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path)


def test_a_document_of_several_lists_is_one_tool(source: Source) -> None:
    other = function(at={"type": "string"})
    source.write([function(), function("getWind")], [other, function(), function()])
    report = source.imported()
    tools = load_pool(source.out).tools()
    lists = {tool.id: tool.source["lists"] for tool in tools}
    variant = next(tool for tool in lists if "#" in tool)
    assert lists == {
        "mmtb/getTide/getTide": [0, 1],
        "mmtb/getWind/getWind": [0],
        variant: [1],
    }
    assert {tool.name for tool in tools} == {"getTide", "getWind"}
    assert report.facts["counts"] == {
        "documents": 5,
        "duplicates": 2,
        "lists": 2,
        "repeated_in_a_list": 1,
        "tool_variants": 1,
    }


def test_types_are_said_as_json_schema_says_them(source: Source) -> None:
    depth = {"type": "array", "items": {"type": "object", "properties": {"m": {"type": "float"}}}}
    source.write([function(depth=depth, n={"type": "interger"}, k={"type": "int|string"})])
    source.imported()
    properties = load_pool(source.out).tools()[0].parameters["properties"]
    assert properties["depth"]["items"]["properties"]["m"] == {"type": "number"}
    assert [properties[name]["type"] for name in "nk"] == ["integer", "integer"]


def test_a_parameter_may_be_called_type_or_items(source: Source) -> None:
    source.write([function(type={"type": "float"}, items={"type": "string"})])
    source.imported()
    properties = load_pool(source.out).tools()[0].parameters["properties"]
    assert properties == {"type": {"type": "number"}, "items": {"type": "string"}}


def test_the_language_chooses_the_file(source: Source) -> None:
    source.write([function()])
    source.write([function(), function("getWind")], language="zh")
    assert [source.imported(language=name).tools for name in ("en", "zh")] == [1, 2]


def test_the_pool_says_that_it_has_no_tasks(source: Source) -> None:
    source.write([function()])
    report = source.imported()
    assert (report.tasks, "tasks" in report.lacks) == (0, True)
    with pytest.raises(DataError, match="holds no task"):
        list(load_pool(source.out).tasks())


def test_a_malformed_list_among_others_is_left_out_and_placed(source: Source) -> None:
    source.write([function()], [function(), 7], [function("getWind")])
    report = source.imported()
    assert (report.tools, report.dropped) == (2, {"malformed_record": 1})
    assert report.malformed[0].startswith("mmtb_tools_en.jsonl, line 2: expected an object")
    tools = {tool.name: tool.source["lists"] for tool in load_pool(source.out).tools()}
    assert tools == {"getTide": [0], "getWind": [2]}


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"", "holds no record"),
        (b'[{"type": "function", "func', "line 1: not JSON"),
        (b"{}", "line 1: expected a list of tools"),
        (b"[]\n{}", "left out: 1 malformed_record"),
        (b'["getTide"]', "expected an object with 'function'"),
        (b'[{"function": {"name": 7}}]', "name: expected a text, got 7"),
        (b'[{"function": {"name": "a", "description": "b"}}]', "'parameters' is missing"),
        (
            b'[{"function": {"name": "a", "description": "b", "parameters": {"properties": []}}}]',
            "properties: expected an object",
        ),
        ('[{"é": 1}]'.encode("latin-1"), "line 1: not UTF-8"),
        ("[]".encode("utf-16"), "not UTF-8"),
    ],
)
def test_a_malformed_file_is_named(source: Source, raw: bytes, told: str) -> None:
    path = source.write()
    path.write_bytes(raw)
    with pytest.raises(DataError, match=told):
        source.imported()
    assert not source.out.exists()


def test_a_missing_file_is_named_beside_what_is_there(source: Source) -> None:
    source.write([function()])
    with pytest.raises(DataError, match=r"holds multi_agent/; mmtb expects mmtb_tools_zh.jsonl"):
        source.imported(language="zh")


def test_an_unknown_language_is_refused(source: Source) -> None:
    source.write([function()])
    with pytest.raises(UnknownNameError, match="'fr'; known: en, zh"):
        source.imported(language="fr")


@pytest.mark.parametrize(("language", "tools"), [("en", 811), ("zh", 813)])
def test_the_real_lists_hold_1248_documents(
    seal_data: Path, tmp_path: Path, language: str, tools: int
) -> None:
    report = import_benchmark("mmtb", seal_data / "mmtb", tmp_path / "pool", language=language)
    pool = load_pool(tmp_path / "pool").tools()
    counts = report.facts["counts"]
    assert (counts["lists"], counts["documents"]) == (256, 1_248)
    assert (report.tools, counts["duplicates"]) == (tools, 1_248 - tools)
    assert len({tool.name for tool in pool}) == 618
    assert len({number for tool in pool for number in tool.source["lists"]}) == 256
