"""ToolScan's API lists: schemas, pseudo actions, bad input, and the real file."""

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from toolscan_checkout import write_checkout

from seal.core import DataError, UsageError
from seal.core.schemas import schema_validator
from seal.pools.imports import ImportReport, import_benchmark
from seal.pools.pool import load_pool


def parameter(name: str = "harbour", **fields: Any) -> dict[str, Any]:
    return {"name": name, "type": "string", "required": True, "description": "", **fields}


def entry(name: str = "get_tide", *parameters: Any, **fields: Any) -> dict[str, Any]:
    return {
        "pseudo": False,
        "environment": "sea",
        "tool": "TIDES_API",
        "name": name,
        "description": "Tells tides",
        "parameters": list(parameters),
        "returns": {"height": {"description": "In metres"}},
        "source": "apilist/sea.py",
        **fields,
    }


class Source:
    """A file in the neutral format."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "toolscan"
        self.out = folder / "pool"
        self.folder.mkdir()

    def write(self, *entries: Any, **fields: Any) -> Path:
        content = {"format": "toolscan-neutral/1", "source": "s", "tools": entries, **fields}
        path = self.folder / "tools.json"
        path.write_text(json.dumps(content))
        return path

    def imported(self, **options: Any) -> ImportReport:
        return import_benchmark("toolscan", self.folder, self.out, **options)

    def properties(self, *parameters: Any) -> dict[str, Any]:
        self.write(entry("get_tide", *parameters))
        self.imported()
        return dict(load_pool(self.out).tools()[0].parameters["properties"])


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path)


def test_an_entry_becomes_a_tool_of_its_environment(source: Source) -> None:
    source.write(entry("get_tide", parameter(), parameter("unit", required=False)))
    source.imported()
    (tool,) = load_pool(source.out).tools()
    assert (tool.id, tool.name, tool.category) == ("toolscan/TIDES_API/get_tide", "get_tide", "sea")
    assert tool.parameters["required"] == ["harbour"]
    assert tool.returns == {"height": {"description": "In metres"}}
    assert (tool.source["pseudo"], tool.source["upstream"]) == (False, "apilist/sea.py")


@pytest.mark.parametrize("tool", [None, "(flat)"])
def test_an_entry_outside_of_a_toolset_belongs_to_the_environment(
    source: Source, tool: Any
) -> None:
    source.write(entry(tool=tool))
    source.imported()
    assert load_pool(source.out).tools()[0].id == "toolscan/sea/get_tide"


def test_pseudo_actions_come_in_by_the_option(source: Source) -> None:
    source.write(entry(), entry("finish", pseudo=True))
    report = source.imported()
    assert report.tools == 1
    assert (report.facts["counts"]["apis"], report.facts["counts"]["pseudo_actions"]) == (1, 1)
    assert source.imported(pseudo=True).tools == 2
    pseudo = [t.name for t in load_pool(source.out).tools() if t.source["pseudo"]]
    assert pseudo == ["finish"]


def test_a_default_has_its_parameters_type(source: Source) -> None:
    properties = source.properties(
        parameter("n", type="number", default="10", required=False),
        parameter("flag", type="boolean", default="1", required=False),
        parameter("needed", type="number", default="10"),
        parameter("none", default="", required=False),
    )
    assert properties == {
        "n": {"type": "number", "default": 10},
        "flag": {"type": "boolean", "examples": ["1"]},
        "needed": {"type": "number", "examples": [10]},
        "none": {"type": "string"},
    }


def test_what_the_type_was_upstream_stands_in_the_description(source: Source) -> None:
    properties = source.properties(
        parameter("day", raw_type="DATE (YYYY-MM-DD)"),
        parameter("mode", enum=["a", "b"], description="How"),
        parameter("answer", type=["string", "number"]),
    )
    assert properties["day"]["description"] == "(DATE (YYYY-MM-DD))"
    assert properties["mode"] == {"type": "string", "description": "How", "enum": ["a", "b"]}
    assert properties["answer"]["type"] == ["string", "number"]


def test_the_pool_says_that_it_has_no_tasks(source: Source) -> None:
    source.write(entry())
    report = source.imported()
    assert (report.tasks, report.lacks) == (0, ("tasks",))
    with pytest.raises(DataError, match="holds no task"):
        list(load_pool(source.out).tasks())


def test_an_entry_that_stands_twice_is_counted(source: Source) -> None:
    source.write(entry(), entry(), entry(description="Tells other tides"))
    report = source.imported()
    assert report.tools == 2
    assert report.facts["counts"]["duplicates"] == 1
    assert report.facts["counts"]["tool_variants"] == 1


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"", "empty"),
        (b'{"format": "toolscan-neutral/1", "tools": [', "not JSON"),
        (b"[]", "expected format 'toolscan-neutral/1', got"),
        (b'{"format": "other"}', "got 'other'"),
        (b'{"format": "toolscan-neutral/1"}', "'tools' is missing"),
        (b'{"format": "toolscan-neutral/1", "tools": []}', "holds no record"),
        ('{"format": "é"}'.encode("latin-1"), "not UTF-8"),
    ],
)
def test_a_malformed_file_is_told(source: Source, raw: bytes, told: str) -> None:
    path = source.write()
    path.write_bytes(raw)
    with pytest.raises(DataError, match=told):
        source.imported()
    assert not source.out.exists()


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        (7, "record 1: expected an object"),
        (entry(name=None), "record 1: name: expected a text, got None"),
        (entry(pseudo="no"), "pseudo: expected true or false"),
        (entry(tool=["a"]), "tool: expected a text or null"),
        (entry(parameters={}), "parameters: expected a list"),
        (entry("a", "harbour"), "parameters.0: expected an object"),
        (
            entry("a", parameter(), parameter()),
            "parameters.1: the parameter 'harbour' stands twice",
        ),
        (entry("a", parameter(required="yes")), "parameters.0: required: expected true or false"),
        (entry("a", parameter(type="date")), "parameters.0: type: expected one of array, boolean"),
        (entry("a", parameter(type=[])), "parameters.0: type: expected one of"),
    ],
)
def test_a_malformed_entry_is_left_out_and_told_by_place_and_field(
    source: Source, broken: Any, told: str
) -> None:
    source.write(entry(), broken)
    report = source.imported()
    assert (report.tools, report.dropped) == (1, {"malformed_record": 1})
    assert re.search(f"tools.json, .*{told}", report.malformed[0])


def test_a_folder_of_other_files_is_told_with_what_it_holds(source: Source) -> None:
    (source.folder / "test.jsonl").touch()
    with pytest.raises(DataError, match=r"holds test.jsonl; toolscan expects tools.json"):
        source.imported()


def test_what_stands_for_a_file_and_is_none_is_told(source: Source) -> None:
    os.mkfifo(source.folder / "tools.json")
    (source.folder / "loop").symlink_to("loop")
    held = r"holds loop \(a link that leads nowhere\), tools.json \(a pipe\); toolscan expects"
    with pytest.raises(DataError, match=held):
        source.imported()
    source.folder = source.folder / "tools.json"
    with pytest.raises(DataError, match=r"tools.json is a pipe; toolscan expects tools.json"):
        source.imported()


def test_a_checkout_is_read_from_its_python_files(tmp_path: Path) -> None:
    checkout = write_checkout(tmp_path / "ToolScan")
    report = import_benchmark("toolscan", checkout, tmp_path / "pool")
    tide, ebb = load_pool(tmp_path / "pool").tools()[::-1]
    assert (tide.id, tide.category) == ("toolscan/sea/get_tide", "sea")
    assert (ebb.id, ebb.category) == ("toolscan/TIDES_API/get_ebb", "coast")
    assert tide.parameters["required"] == ["harbour"]
    assert report.facts["pseudo_actions"] == {"coast": ["finish"], "sea": ["finish"]}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("X = {'a': {'b': evil()}}", "sea_list.py: no Python literal"),
        ("X = {'a': {", "sea_list.py: no Python file"),
        ("X = [1]", "expected one assignment of a dict"),
        ("X = {'get': 3}", "sea_list.py, get: expected an API or a toolset, got 3"),
        ("X = {'get': {'parameters': {'h': 1}, 'description': ''}}", "get: get: h: .* got 1"),
        ("X = {'get': {'parameters': {}}}", "the field 'description' is missing"),
    ],
)
def test_a_list_that_cannot_be_read_is_named(text: str, told: str, tmp_path: Path) -> None:
    checkout = write_checkout(tmp_path / "ToolScan")
    (checkout / "toolscan" / "apilist" / "sea" / "sea_list.py").write_text(text)
    with pytest.raises(DataError, match=told):
        import_benchmark("toolscan", checkout, tmp_path / "pool")


def test_the_real_list_is_the_same_as_python_files(seal_data: Path, tmp_path: Path) -> None:
    real = seal_data / "toolscan"
    checkout = write_checkout(
        tmp_path / "ToolScan", json.loads((real / "tools.json").read_bytes())["tools"]
    )
    for name, source in (("real", real), ("files", checkout)):
        import_benchmark("toolscan", source, tmp_path / name, pseudo=True)
    assert len({(tmp_path / name / "tools.jsonl").read_bytes() for name in ("real", "files")}) == 1


def test_an_option_of_another_type_is_refused(source: Source) -> None:
    source.write(entry())
    with pytest.raises(UsageError, match="pseudo=perhaps: expected true or false"):
        source.imported(pseudo="perhaps")


def test_the_real_list_has_264_apis_in_18_environments(seal_data: Path, tmp_path: Path) -> None:
    report = import_benchmark("toolscan", seal_data / "toolscan", tmp_path / "pool")
    counts = report.facts["counts"]
    assert (report.tools, counts["apis"], counts["pseudo_actions"]) == (264, 264, 36)
    assert (counts["environments"], counts["parameters"]) == (18, 851)
    assert (counts["without_description"], counts["duplicates"]) == (34, 0)
    tools = load_pool(tmp_path / "pool").tools()
    schemas = [p for tool in tools for p in tool.parameters["properties"].values()]
    assert all(schema_validator(s).is_valid(s["default"]) for s in schemas if "default" in s)


def test_the_real_pseudo_actions_are_34_finish_and_2_checks(
    seal_data: Path, tmp_path: Path
) -> None:
    import_benchmark("toolscan", seal_data / "toolscan", tmp_path / "pool", pseudo=True)
    pseudo = [t for t in load_pool(tmp_path / "pool").tools() if t.source["pseudo"]]
    assert sum(tool.source["api"] == "finish" for tool in pseudo) == 34
    assert len(pseudo) == 36


ENVIRONMENTS = {
    "data": (33, 4),
    "entertainment": (7, 1),
    "food": (7, 1),
    "location": (5, 1),
    "media": (18, 2),
    "movie": (14, 1),
    "movies": (18, 2),
    "newsmedia": (8, 1),
    "patent": (13, 1),
    "payments": (7, 1),
    "social": (10, 1),
    "spaceflight": (12, 1),
    "sports": (14, 2),
    "tools": (39, 7),
    "transportation": (3, 1),
    "travel": (4, 1),
    "videoimages": (27, 4),
    "weather": (25, 2),
}
"""Environment to its APIs and toolsets."""


def test_the_real_list_has_the_known_apis_and_toolsets_in_each_environment(
    seal_data: Path, tmp_path: Path
) -> None:
    report = import_benchmark("toolscan", seal_data / "toolscan", tmp_path / "pool")
    tools = load_pool(tmp_path / "pool").tools()

    apis = Counter(tool.category for tool in tools)
    toolsets = Counter(category for category, _ in {(t.category, t.source["tool"]) for t in tools})
    assert {name: (apis[name], toolsets[name]) for name in apis} == ENVIRONMENTS
    assert report.facts["counts"]["enums_without_values"] == 5
    assert sum(map(len, report.facts["pseudo_actions"].values())) == 36
    assert not any(tool.source["pseudo"] for tool in tools)
