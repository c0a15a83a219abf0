import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seal.benchmarks.toolbench.answers import _arguments
from seal.core import DataError, Tool
from seal.core.store import Store
from seal.pools.imports import import_answers
from seal.pools.lookup import answer_formats
from seal.simulator_cache.simulators import SimulatorSetup, build_simulator

TOOL = Tool(
    "toolbench/tide_tables/get_tide",
    "get_tide_for_tide_tables",
    parameters={
        "type": "object",
        "properties": {
            "port": {"type": "string"},
            "is_from": {"type": "string"},
            "days": {"type": "integer", "default": 3},
        },
    },
    category="Weather & Sea",
    source={"tool": "Tide Tables", "api": "Get-Tide", "arguments": {"is_from": "from"}},
)
TOOLS = {TOOL.id: TOOL}


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "answers.sqlite") as opened:
        yield opened


def write(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def answer(store: Store, arguments: dict):
    setup = SimulatorSetup(tools=TOOLS, store=store, seed=5, formats=answer_formats)
    return build_simulator("stabletoolbench", setup).respond(TOOL, arguments)


@pytest.mark.parametrize(
    "text",
    [
        '{"port": "Bergen", "days": 2}',
        '{"days": 2, "port": "Bergen"}',
        "{'port': 'Bergen', 'days': 2}",
        "{'days': 2.0, 'port': 'Bergen'}",
        '"{\\"port\\": \\"Bergen\\", \\"days\\": 2}"',
    ],
)
def test_an_upstream_cache_answers_whatever_text_the_arguments_had(store, tmp_path, text):
    content = {text: {"error": "", "response": {"high": "06:12"}}}
    write(tmp_path / "cache/Weather_Sea/tide_tables/get_tide.json", content)
    report = import_answers(store, tmp_path / "cache", "stabletoolbench", TOOLS)
    assert (report.imported, report.details) == (1, {"files": 1})
    assert answer(store, {"port": "Bergen", "days": 2}).response == {"high": "06:12"}
    assert answer(store, {"port": "Bergen", "days": 3}).kind == "not_recorded"


def test_defaults_and_renamed_arguments_are_those_of_the_pool(store, tmp_path):
    content = {'{"from": "Oslo"}': {"error": "", "response": "06:12"}}
    write(tmp_path / "cache/weather_sea/Tide Tables/Get-Tide.json", content)
    import_answers(store, tmp_path / "cache", "stabletoolbench", TOOLS)
    assert answer(store, {"is_from": "Oslo", "days": 3}).response == "06:12"


def test_maps_in_another_order_are_one_call_and_the_first_counts(store, tmp_path):
    content = {
        "{'port': 'Bergen', 'days': 2}": {"error": "", "response": "first"},
        "{'days': 2, 'port': 'Bergen'}": {"error": "", "response": "second"},
    }
    write(tmp_path / "cache/Weather_Sea/tide_tables/get_tide.json", content)
    report = import_answers(store, tmp_path / "cache", "stabletoolbench", TOOLS)
    assert (report.imported, report.conflicts) == (1, 1)
    assert answer(store, {"port": "Bergen", "days": 2}).response == "first"


def test_what_cannot_be_used_is_counted_by_reason(store, tmp_path):
    api = "cache/Weather_Sea/tide_tables/get_tide.json"
    content = {
        "": {"error": "", "response": "all ports"},
        "__import__('os').getcwd()": {"error": "", "response": "no"},
        "[1, 2]": {"error": "", "response": "no"},
        "{'a': 1e999}": {"error": "", "response": "no"},
        "{1: 2": {"error": "", "response": "no"},
        "{'port': 'a'}": "text",
        "{'port': 'b'}": {"error": 5, "response": "x"},
        "{'port': 'c'}": {"error": "Failed to generate fake response", "response": ""},
        "{'port': 'd'}": {"error": "", "response": ""},
        "{'port': 'e'}": {"error": "port is closed", "response": ""},
    }
    write(tmp_path / api, content)
    write(tmp_path / "cache/Weather_Sea/tide_tables/other.json", {"{}": {}, "{'a': 1}": {}})
    write(tmp_path / "cache/Food/tide_tables/get_tide.json", {"{}": {}})
    write(tmp_path / "cache/Food/menus/list.json", "{cut off")
    write(tmp_path / "cache/Food/menus/array.json", [])
    report = import_answers(store, tmp_path / "cache", "stabletoolbench", TOOLS)
    assert report.imported == 2
    assert report.to_plain()["rejected"] == {
        "a failure of the upstream simulator": 1,
        "a file that holds no object": 1,
        "a file that is not JSON": 1,
        "an empty response": 1,
        "an error that is no text": 1,
        "no object of error and response": 1,
        "no such API in the pool": 3,
        "unreadable arguments": 4,
    }
    assert answer(store, {"days": 3}).response == "all ports"
    assert answer(store, {"port": "e", "days": 3}).error == "port is closed"


def test_every_document_of_an_api_gets_the_answer(store, tmp_path):
    twin = replace(TOOL, id=TOOL.id + "#0a1b2c3d", description="Another document.")
    content = {"{}": {"error": "", "response": "06:12"}}
    write(tmp_path / "cache/Weather_Sea/tide_tables/get_tide.json", content)
    tools = {**TOOLS, twin.id: twin}
    assert import_answers(store, tmp_path / "cache", "stabletoolbench", tools).imported == 2


VALUES = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=6)


@given(arguments=st.dictionaries(st.text(max_size=6), VALUES | st.lists(VALUES), max_size=4))
@settings(max_examples=80, deadline=None)
def test_json_and_python_texts_of_a_map_are_read_alike(arguments):
    assert _arguments(repr(arguments)) == _arguments(json.dumps(arguments))


@given(text=st.text(max_size=40))
@settings(deadline=None)
def test_no_text_is_ever_run_or_breaks_the_reader(text):
    found = _arguments(text)
    assert found is None or isinstance(found, dict)


def test_a_folder_of_another_layout_is_named(store, tmp_path):
    with pytest.raises(DataError, match=r"has no file category/tool/api\.json"):
        import_answers(store, tmp_path, "stabletoolbench", TOOLS)
