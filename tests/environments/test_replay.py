"""Gold observations that come back: to the right call, once each, and an error beyond them."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seal.core import Goal, Milestone, OptionError, Plan, Task, ToolCall, ToolResult
from seal.core.conditions import Argument, Called, Replied
from seal.environments.replay import Replay
from seal.environments.world import WorldSetup, build_worlds

TIDE, WIND = "mmtb/tide/tide", "mmtb/wind/wind"


def gold(tool: str, result: Any, *after: int, **arguments: Any) -> Milestone:
    return Milestone(Called(tool, {n: Argument((v,)) for n, v in arguments.items()}), after, result)


def task(*goals: list[Milestone]) -> Task:
    plans = [Plan((*milestones, Milestone(Replied()))) for milestones in goals]
    return Task("t", "mmtb", tuple(Goal(f"mission {n}", (p,)) for n, p in enumerate(plans)))


def call(number: int, tool: str | None, **arguments: Any) -> ToolCall:
    name = (tool or "mmtb/fog/fog").rpartition("/")[2]
    return ToolCall(f"call_{number}", name, arguments, tool=tool)


def values(results: list[ToolResult]) -> dict[str, Any]:
    return {result.call_id: result.value for result in results}


TWO = task([gold(TIDE, "high", at="Brest"), gold(TIDE, "low", at="Vigo"), gold(WIND, {"knots": 3})])


def test_calls_at_once_get_their_own_observations_in_any_order() -> None:
    results = Replay(TWO).call([call(0, TIDE, at="Vigo"), call(1, WIND), call(2, TIDE, at="Brest")])
    assert values(results) == {"call_0": "low", "call_1": {"knots": 3}, "call_2": "high"}
    assert [result.content for result in results] == ["low", '{"knots":3}', "high"]
    assert all(result.error is None and result.executed for result in results)


def test_wrong_arguments_get_what_the_right_ones_leave() -> None:
    results = Replay(TWO).call([call(0, TIDE, at="Nantes"), call(1, TIDE, at="Brest")])
    assert values(results) == {"call_0": "low", "call_1": "high"}


def test_strictly_wrong_arguments_get_an_error() -> None:
    world = Replay(TWO, strict=True)
    wrong, right = world.call([call(0, TIDE, at="Nantes"), call(1, TIDE, at="Vigo")])
    assert (wrong.error or {})["kind"] == "not_recorded"
    assert (wrong.value, right.value) == (None, "low")


def test_a_gold_call_is_used_once_and_repeated_only_for_its_own_arguments() -> None:
    world = Replay(task([gold(TIDE, "high", at="Brest")]))
    world.call([call(0, TIDE, at="Brest")])
    again, other = world.call([call(1, TIDE, at="Brest"), call(2, TIDE, at="Vigo")])
    assert (again.value, again.error) == ("high", None)
    assert (other.error or {})["kind"] == "not_recorded"


def test_wrong_arguments_go_to_the_gold_call_whose_turn_it_is() -> None:
    chain = task(
        [gold(TIDE, "second", 1, at="Vigo"), gold(WIND, "wind"), gold(TIDE, "first", at="x")]
    )
    assert values(Replay(chain).call([call(0, TIDE, at="?")])) == {"call_0": "first"}


def test_unknown_tools_and_unparsable_arguments_are_rejected() -> None:
    broken = ToolCall("call_1", "tide", None, '{"at"', TIDE)
    unknown, unparsable = Replay(TWO, offered=["tide"]).call([call(0, None), broken])
    assert (unknown.error or {})["kind"] == "unknown_tool"
    assert (unparsable.error or {})["kind"] == "unparsable_arguments"


def test_each_goal_has_its_own_observations() -> None:
    world = Replay(task([gold(TIDE, "one", at="Brest")], [gold(TIDE, "two", at="Brest")]))
    before = world.call([call(0, TIDE, at="Brest")])
    world.begin(1)
    after = world.call([call(1, TIDE, at="Brest")])
    assert (before[0].value, after[0].value) == ("one", "two")


def test_a_goal_without_gold_has_no_observation() -> None:
    (result,) = Replay(Task("t", "mmtb", (Goal("hello"),))).call([call(0, TIDE)])
    assert (result.error or {})["kind"] == "not_recorded"


@pytest.mark.parametrize("options", [{"strict": "yes"}, {"race": "none"}])
def test_other_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=f"-T {next(iter(options))}"):
        build_worlds("replay", WorldSetup(options=options))


def test_a_run_says_how_it_replayed() -> None:
    worlds = build_worlds("replay", WorldSetup(options={"strict": True}))
    assert worlds.identity() == {"world": "replay", "strict": True}
    assert worlds.open(TWO, 0).states() == ()


places = st.sampled_from(["Brest", "Vigo", "Nantes"])


@settings(max_examples=80)
@given(st.lists(places, max_size=5), st.lists(st.lists(places, min_size=1, max_size=4), max_size=4))
def test_every_call_has_one_result_and_no_gold_call_answers_two_others(
    gold_places: list[str], replies: list[list[str]]
) -> None:
    world = Replay(task([gold(TIDE, n, at=place) for n, place in enumerate(gold_places)]))
    seen: dict[int, str] = {}
    number = 0
    for reply in replies:
        calls = [call(number + n, TIDE, at=place) for n, place in enumerate(reply)]
        number += len(calls)
        results = world.call(calls)
        assert [result.call_id for result in results] == [one.id for one in calls]
        for one, result in zip(calls, results, strict=True):
            if result.error is None and result.value in seen:
                assert one.arguments == {"at": gold_places[result.value]}
            elif result.error is None:
                seen[result.value] = one.id
    assert len(seen) <= len(gold_places)
