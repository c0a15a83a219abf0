import sqlite3
from dataclasses import replace

import pytest

from seal.core import Response, Tool
from seal.core.store import Store
from seal.simulator_cache.answer_cache import KIND, Cached, answer_entry
from seal.simulator_cache.exchange import verify
from seal.simulator_cache.simulators import SimulatorSetup, build_simulator

SCHEMA = {
    "type": "object",
    "properties": {"temperature": {"type": "number"}},
    "required": ["temperature"],
}
TOOL = Tool("lab/weather/now", "now_for_weather", returns=SCHEMA)
LOOSE = Tool("lab/tides/next", "next_for_tides", returns={"high": "str", "level": "float"})
BARE = Tool("lab/news/top", "top_for_news")
TOOLS = {tool.id: tool for tool in (TOOL, LOOSE, BARE)}


class Say:
    """Answers what it is told to."""

    identity = "say/1"

    def __init__(self, response, error="") -> None:
        self._answer = Response(response, error)

    def respond(self, tool, arguments):
        return self._answer


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "answers.sqlite") as opened:
        yield opened


def test_answers_of_the_template_simulator_are_sound(store):
    simulator = build_simulator("template", SimulatorSetup(tools=TOOLS, store=store))
    for tool in TOOLS.values():
        simulator.respond(tool, {"city": "Oslo"})
    store.put("m", {"content": "hello"}, "model")
    report = verify(store, TOOLS)
    assert report.sound
    assert (report.checked, report.unchecked) == (4, 1)


def test_damaged_entries_are_found_and_removed_on_demand(store):
    key = Cached(Say({"temperature": 1}), store).key(TOOL, {})
    Cached(Say({"temperature": 1}), store).respond(TOOL, {})
    store.put("m", {"content": "hello"}, "model")
    connection = sqlite3.connect(store.location)
    connection.execute("UPDATE entries SET value = replace(value, '1', '2')")
    connection.execute("UPDATE entries SET created = 'never' WHERE key = 'm'")
    connection.commit()
    connection.close()
    assert sorted(verify(store, TOOLS).damaged) == sorted([key, "m"])
    assert not verify(store, TOOLS, repair=True).sound
    assert verify(store, TOOLS).checked == 0


def test_an_answer_that_breaks_its_tools_shape_is_named(store):
    Cached(Say({"temperature": "warm"}), store).respond(TOOL, {})
    (found,) = verify(store, TOOLS).misshapen
    assert found.tool == TOOL.id
    assert found.reason == "temperature: 'warm' is not of type 'number'"


@pytest.mark.parametrize(
    ("response", "is_sound"),
    [
        ({"high": "06:12"}, True),
        ({"high": None, "more": 1}, True),
        ({"high": 6}, False),
        ({"message": "gone"}, False),
        ("no tides today", False),
        ('{"high": "06:12"}', True),
        ("{'high': '06:12'}", True),
        ([], False),
    ],
)
def test_a_recorded_shape_is_read_leniently(store, response, is_sound):
    Cached(Say(response), store).respond(LOOSE, {})
    assert verify(store, TOOLS).sound is is_sound


def test_errors_and_tools_without_a_shape_have_nothing_to_be_held_against(store):
    Cached(Say("", "closed"), store).respond(TOOL, {})
    Cached(Say([1, 2]), store).respond(BARE, {})
    report = verify(store, TOOLS)
    assert (report.sound, report.unchecked) == (True, 2)


def test_answers_of_other_pools_are_counted_apart(store):
    Cached(Say("x"), store).respond(replace(TOOL, id="lab/other/tool"), {})
    Cached(Say("x"), store).respond(replace(TOOL, description="Older."), {})
    store.put("f" * 64, {"tool": TOOL.id}, KIND)
    report = verify(store, TOOLS)
    assert (report.unknown_tools, report.other_documents) == (1, 1)
    assert report.malformed == ["f" * 64]


def test_a_shape_that_an_earlier_version_kept_is_no_answer(store):
    shape = answer_entry(BARE.id, None, Response({"headline": "str"}), "shape")
    store.put("e" * 64, shape, KIND)
    build_simulator(Say({"headline": 5}), SimulatorSetup(tools=TOOLS, store=store)).respond(
        BARE, {}
    )
    report = verify(store, TOOLS)
    assert (report.sound, report.checked, report.other_documents) == (True, 2, 1)
