"""Timers, which ring by themselves once the clock has passed their time."""

import pytest
from phones import START, Phone, new_phone, task

from seal.benchmarks.toolsandbox.phone import TOOL_IDS
from seal.benchmarks.toolsandbox.phone.world import TIMER_TOOLS, phone_with_timers
from seal.core import Tool, ToolCall
from seal.core.environment import Eventful, Validated
from seal.core.validation import CallValidator
from seal.environments.world import WorldSetup
from seal.runs.call_handling import Unscrambled

MINUTE = {"start": START, "step": 60}


class TimerPhone(Phone):
    """A phone whose timers' tools are called by name."""

    def __call__(self, name, /, **arguments):
        call = ToolCall("call_0", name, arguments, tool=f"phone/timers/{name}")
        (result,) = self.world.call([call])
        return result


@pytest.fixture
def timers() -> TimerPhone:
    """A phone whose clock moves on by a minute a turn, in its first turn."""
    made = TimerPhone(phone_with_timers(WorldSetup()).open(task(clock=MINUTE), 0))
    made.world.tick()
    return made


def after(timers: TimerPhone, turns: int) -> list[str]:
    for _ in range(turns):
        timers.world.tick()
    return list(timers.world.events())


def test_a_timer_rings_once_when_its_time_has_come(timers):
    timers.value("set_timer", seconds=120, label="tea")
    assert after(timers, 1) == []
    assert after(timers, 1) == ["The timer 'tea' rings."]
    assert after(timers, 5) == []


def test_several_ring_in_the_order_of_their_times(timers):
    timers.value("set_timer", timestamp=START + 90)
    timers.value("set_timer", seconds=30, label="first")
    assert after(timers, 2) == ["The timer 'first' rings.", "A timer rings."]


def test_ringing_changes_no_table(timers):
    timers.value("set_timer", seconds=60)
    before = timers.tables
    assert after(timers, 1)
    assert timers.tables == before
    assert [row["rang"] for row in timers.value("search_timers")] == [True]


def test_timers_are_found_by_label_with_whether_they_rang(timers):
    due = timers.value("set_timer", seconds=600, label="boil the eggs")
    timers.value("set_timer", seconds=30, label="laundry")
    (found,) = timers.value("search_timers", label="eggs")
    assert found == {
        "timer_id": due,
        "label": "boil the eggs",
        "creation_timestamp": START,
        "timer_timestamp": START + 600,
        "rang": False,
    }


def test_a_cancelled_timer_does_not_ring(timers):
    timer = timers.value("set_timer", seconds=60, label="tea")
    timers.value("cancel_timer", timer_id=timer)
    assert after(timers, 3) == []
    assert timers.tables["timers"] == []
    assert timers.kind("cancel_timer", timer_id=timer) == "NoDataError"


def test_what_no_timer_can_be_is_an_error_of_the_tool(timers):
    assert timers.kind("set_timer", label="tea") == "ValueError"
    assert timers.kind("set_timer", seconds=5, timestamp=START + 5) == "ValueError"
    assert timers.kind("set_timer", seconds=0) == "ValueError"
    assert timers.kind("set_timer", timestamp=START - 1) == "ValueError"
    assert timers.kind("set_timer", seconds="5") == "TypeError"
    timer = timers.value("set_timer", seconds=60)
    timers.world.tick()
    assert timers.kind("cancel_timer", timer_id=timer) == "ValueError"


def test_a_phone_without_timers_has_34_tools_and_knows_no_events():
    assert len(TOOL_IDS) == 34
    assert not TIMER_TOOLS.keys() & set(TOOL_IDS.values())
    names = [tool.document.name for tool in TIMER_TOOLS.values()]
    assert names == ["set_timer", "search_timers", "cancel_timer"]
    plain = new_phone()
    assert not isinstance(plain.world, Eventful)
    assert "timers" not in plain.tables


def test_events_pass_through_what_wraps_a_world(timers):
    scrambled = Tool("phone/timers/set_timer~names", "tool_1")
    documents = {name: tool.document for name, tool in TIMER_TOOLS.items()}
    wrapped = Unscrambled(
        Validated(timers.world, CallValidator(documents)),
        {scrambled.id: documents["phone/timers/set_timer"]},
    )
    call = ToolCall("call_0", "tool_1", {"seconds": 60, "label": "tea"}, tool=scrambled.id)
    assert wrapped.call([call])[0].error is None
    assert list(wrapped.events()) == []
    wrapped.tick()
    assert list(wrapped.events()) == ["The timer 'tea' rings."]
    assert wrapped.states() == timers.world.states()
