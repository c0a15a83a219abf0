"""The metrics of missions, on Multi-Mission Tool Bench's tasks and on any other gold calls."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from chats import MANAGER, goal, gold, plan, task
from hypothesis import given
from hypothesis import strategies as st
from looped import every_case
from mission_plays import undecided
from mmtb_sources import CHAT, CLARIFY, MIXED, PARALLEL, SERIAL, SINGLE, TOOLS, record

from seal.benchmarks.mmtb.dialogues import read_dialogue, read_tool
from seal.benchmarks.mmtb.importer import make_task
from seal.benchmarks.mmtb.published_rules import ORIGINAL
from seal.core import (
    Goal,
    Milestone,
    Plan,
    Score,
    Step,
    Stop,
    Task,
    Tool,
    ToolCall,
    Trajectory,
    UsageError,
)
from seal.core.conditions import Argument, Replied
from seal.core.state_conditions import StateUnchanged
from seal.evaluation.goals import Rules, rules_named
from seal.evaluation.missions import DIALOGUE, NAMES, OPEN, Missions
from seal.runs.chats import history_of

POOL = {tool.id: tool for tool in (read_tool(entry, "x") for entry in TOOLS)}
BY_NAME = {tool.name: tool for tool in POOL.values()}
EVERY = (SINGLE, CHAT, CLARIFY, PARALLEL, SERIAL, MIXED)


def mission(*missions: Any) -> Task:
    return make_task(read_dialogue(record(*missions), "en"), BY_NAME, "en")


def gold_chat(of: Task) -> Trajectory:
    """The chat in which every mission goes as its reference."""
    steps = history_of(
        replace(of, goals=(*of.goals, Goal("end")), metadata={}), len(of.goals), MANAGER
    )
    own = [step for step in steps if step.goal >= 0]
    return Trajectory(of.id, 0, tuple(own), stops=(Stop("done"),) * len(of.goals))


def chat(of: Task, *turns: Any) -> Trajectory:
    """A chat about one goal: a text, or a list of calls (name, arguments)."""
    return Trajectory(of.id, 0, tuple(_steps(turns)), stops=(Stop("done"),) * len(of.goals))


def _steps(turns: Any) -> Iterator[Step]:
    index = 0
    for turn, said in enumerate(turns):
        for name, arguments in [("", None)] if isinstance(said, str) else said:
            if isinstance(said, str):
                yield Step(index, MANAGER, "user_simulator", said, turn=turn)
            else:
                tool = BY_NAME.get(name)
                call = ToolCall(f"call_{index}", name, arguments, "{", tool.id if tool else None)
                yield Step(index, MANAGER, "executor", call=call, turn=turn)
            index += 1


def scores(of: Task, played: Trajectory, match: Any = "clean", tools: Any = None) -> list[Score]:
    return Missions(rules_named(match).missions).score(of, played, POOL if tools is None else tools)


def values(of: Task, played: Trajectory, **options: Any) -> dict[str, float | None]:
    return {s.metric: s.value for s in scores(of, played, **options) if s.goal == 0}


def accuracy(of: Task, *turns: Any, **options: Any) -> Score:
    return scores(of, chat(of, *turns), **options)[0]


@pytest.mark.parametrize("match", ["clean", "mmtb"])
def test_gold_of_every_type_is_right_and_optimal(match: Any) -> None:
    every = mission(*EVERY)
    found = scores(every, gold_chat(every), match=match)
    assert {s.value for s in found if s.value is not None} == {1.0}
    by_name = {n: [s.goal for s in found if s.metric == n and s.value is not None] for n in NAMES}
    assert by_name == {
        "mission_accuracy": [0, 1, 2, 3, 4, 5],
        "name_accuracy": [0, 1, 2, 3, 4, 5],
        "optimal_path": [3, 5],
        "progress": [4, 5],
    }
    assert [s.value for s in found if s.metric == DIALOGUE] == [1.0]


@every_case(
    ("reply", "right"),
    [
        ("It comes to 27.50 euros, in Turku.", 1.0),
        ("In TURKU. That is 27.5.", 1.0),
        ("It comes to 27.5 euros.", 0.0),
        ("It comes to 127.5 euros in Turku.", 0.0),
        ("No.", 0.0),
    ],
)
def test_a_reply_states_what_gold_asks_it_to_state(reply: str, right: float) -> None:
    told = Milestone(Replied(("27.5", "Turku")))
    asked = Task("t", "b", (Goal("How much, and where?", (Plan((told,)),)),))
    score = accuracy(asked, reply)
    assert score.value == right
    assert bool(score.reason) is not bool(right)
    assert values(asked, chat(asked, reply))["name_accuracy"] == 1.0
    assert accuracy(asked, reply, match="mmtb").value == 1.0


def test_details_hold_what_tables_are_made_of() -> None:
    details = scores(mission(SINGLE, MIXED), gold_chat(mission(SINGLE, MIXED)))[4].details
    assert details == {
        "plan": 0,
        "match": "clean",
        "completed": 4,
        "total": 4,
        "steps": 3,
        "fewest": 3,
        "optimal": True,
        "leaf": "mixed",
        "type": "multi",
        "relation": "ellipsis",
    }


HERE, VIGO, BREST = {"at": "here"}, {"at": "Vigo"}, {"at": "Brest"}


@every_case(
    ("given", "turns", "error", "stage"),
    [
        (SINGLE, [], "reject tool calling", "action"),
        (SINGLE, [""], "reject tool calling", "action"),
        (SINGLE, ["It is high."], "reject tool calling", "action"),
        (CHAT, [[("getTide", BREST)], "Done."], "call function without reject", "action"),
        (SINGLE, [[("getFog", BREST)], "Done."], "function name hallucination", "action"),
        (CLARIFY, [[("getTide", BREST)], "Done."], "missing information in tool calling", "action"),
        (
            SINGLE,
            [[("getTide", BREST)], [("getTide", BREST)], "Done."],
            "redundant tool calling",
            "action",
        ),
        (SERIAL, [[("getWind", HERE)], "Done."], "call the wrong function", "action"),
        (SERIAL, [[("getHarbour", HERE), ("getTide", VIGO)], "Done."], "early stop", "action"),
        (SINGLE, [[("getTide", {})], "Done."], "miss required params", "argument"),
        (
            SINGLE,
            [[("getTide", {"at": "Brest", "x": 1, "y": 2})], "Done."],
            "param hallucination",
            "argument",
        ),
        (SINGLE, [[("getTide", {"at": 7})], "Done."], "type error", "argument"),
        (SINGLE, [[("getTide", None)], "Done."], "malformed arguments", "argument"),
    ],
)
def test_a_failure_is_zero_and_has_its_kind(
    given: Any, turns: list[Any], error: str, stage: str
) -> None:
    found = accuracy(mission(given), *turns)
    assert (found.value, found.details["error"], found.details["stage"]) == (0.0, error, stage)
    assert found.reason == error


def test_the_legal_next_steps_are_named_at_the_first_wrong_turn() -> None:
    found = accuracy(mission(MIXED), [("getTide", VIGO)], "Done.")
    assert (found.details["turn"], found.details["legal_next"]) == (0, ["getHarbour", "getWind"])


def test_a_longer_way_is_right_and_not_optimal() -> None:
    of = mission(PARALLEL)
    found = values(of, chat(of, [("getTide", VIGO)], [("getTide", BREST)], "Done."))
    assert (found["mission_accuracy"], found["optimal_path"]) == (1.0, 0.0)


def test_wrong_arguments_leave_the_names_right() -> None:
    of = mission(MIXED)
    wind = {"at": "here", "unit": "metric"}
    turns = [[("getHarbour", HERE), ("getWind", wind)], [("getTide", {"at": "Rome"})], "Done."]
    found = {s.metric: s for s in scores(of, chat(of, *turns))}
    assert [found[n].value for n in NAMES] == [0.0, 1.0, 0.0, 0.75]
    assert found["progress"].weight == 4


def test_one_wrong_mission_fails_the_dialogue() -> None:
    of = mission(SINGLE, CHAT)
    right = gold_chat(of)
    wrong = replace(right, steps=tuple(s for s in right.steps if s.goal == 1))
    (dialogue,) = [s for s in scores(of, wrong) if s.metric == DIALOGUE]
    assert (dialogue.value, dialogue.details) == (0.0, {"missions": [0, 1]})


def test_a_failure_of_the_infrastructure_is_no_value() -> None:
    of = mission(SINGLE, CHAT)
    broken = Trajectory(of.id, 0, (), stops=(Stop("error", "refused"),) * 2)
    assert {(s.value, s.reason) for s in scores(of, broken)} == {(None, "infrastructure: refused")}


def test_texts_within_the_agent_and_calls_of_the_harness_count_as_nothing() -> None:
    of = mission(SINGLE)
    find = ToolCall("f", "find_tools", {}, tool="seal/chat/find_tools")
    leave = ToolCall("e", "end_conversation", {}, tool="seal/chat/end_conversation")
    tide = ToolCall("c", "getTide", BREST, tool="mmtb/getTide/getTide")
    steps = [
        Step(0, "user_simulator", "orchestrator", SINGLE[0], turn=0),
        Step(1, "orchestrator", MANAGER, SINGLE[0], turn=1),
        Step(2, MANAGER, "executor", call=find, turn=2),
        Step(3, MANAGER, "executor", call=tide, turn=3),
        Step(4, MANAGER, "orchestrator", "High.", turn=4),
        Step(5, "orchestrator", "checker", "High.", turn=5),
        Step(6, "user_simulator", "executor", call=leave, turn=6),
    ]
    played = Trajectory(of.id, 0, tuple(steps), stops=(Stop("done"),))
    assert values(of, played)["mission_accuracy"] == 1.0


FLY = Tool("air/fly/fly", "fly", parameters={"type": "object", "properties": {"to": {}, "by": {}}})
BY_NAME["fly"] = FLY


@pytest.mark.parametrize("match", ["clean", "mmtb"])
@pytest.mark.parametrize(
    ("arguments", "value"),
    [({"to": "Rome"}, 1.0), ({"to": "Roma", "by": "jet"}, 1.0), ({"to": "Oslo"}, 0.0), ({}, 0.0)],
)
def test_gold_calls_of_any_benchmark_accept_their_alternatives(
    match: Any, arguments: dict[str, str], value: float
) -> None:
    accepted = gold(
        FLY.id, {"to": Argument(("Rome", "Roma")), "by": Argument(("jet",), optional=True)}
    )
    of = task(goal(plan(accepted)))
    played = chat(of, "I look for one.", [("fly", arguments)], "Done.")
    found = values(of, played, match=match, tools={FLY.id: FLY})
    assert (found["mission_accuracy"], found["name_accuracy"]) == (value, 1.0)
    assert found[DIALOGUE] is None


MEDIUM = Argument((8.8e-12, ""))
OTHER_MEDIUM = Argument((5e-12, ""))
PRICES = [
    ({"of": Argument(("Ant", "Bee")), "on": Argument(("1", "one"))}, {"of": "Bee", "on": "one"}),
    ({"of": Argument(("Bee",)), "on": Argument(("1", "one"))}, {"of": "Ant", "on": "1"}),
    ({"of": Argument(("Bee",)), "on": Argument(("2", "two"))}, {"of": "Bee", "on": "two"}),
]


@every_case(
    ("accepted", "made", "value"),
    [
        # BFCL's parallel_96: "" stands for an argument that may be left out in either call.
        ([{"by": MEDIUM}, {"by": OTHER_MEDIUM}], [{"by": ""}, {"by": 8.8e-12}], 1.0),
        ([{"by": MEDIUM}, {"by": OTHER_MEDIUM}], [{"by": 8.8e-12}, {"by": ""}], 1.0),
        ([{"by": MEDIUM}, {"by": OTHER_MEDIUM}], [{"by": 8.8e-12}, {"by": 8.8e-12}], 0.0),
        # parallel_178: the first gold call accepts the second's value.
        ([accepted for accepted, _ in PRICES], [made for _, made in PRICES], 1.0),
        ([accepted for accepted, _ in PRICES], [{"of": "Ant", "on": "1"}] * 3, 0.0),
        # parallel_180: every gold call has an alternative of its own and one in common.
        (
            [{"kind": Argument((kind, ""))} for kind in ("open", "close", "high", "low")],
            [{"kind": kind} for kind in ("", "open", "", "close")],
            1.0,
        ),
        (
            [{"kind": Argument((kind, ""))} for kind in ("open", "close", "high", "low")],
            [{"kind": kind} for kind in ("", "open", "", "open")],
            0.0,
        ),
    ],
)
@every_case("turns", ["at once", "one by one"])
def test_overlapping_gold_calls_each_get_the_call_that_leaves_the_others_theirs(
    accepted: list[Any], made: list[dict[str, Any]], value: float, turns: str
) -> None:
    of = task(goal(plan(*(gold(FLY.id, arguments) for arguments in accepted))))
    for order in permutations(made):
        calls = [("fly", arguments) for arguments in order]
        done = [calls] if turns == "at once" else [[call] for call in calls]
        assert accuracy(of, *done, tools={FLY.id: FLY}).value == value


@given(
    st.lists(st.sets(st.integers(0, 3), min_size=1), min_size=1, max_size=4),
    st.lists(st.integers(0, 3), min_size=1, max_size=5),
)
def test_calls_are_right_where_some_order_of_them_is_accepted_one_by_one(
    accepted: list[set[int]], made: list[int]
) -> None:
    of = task(goal(plan(*(gold(FLY.id, {"to": Argument(tuple(any_of))}) for any_of in accepted))))
    right = len(made) == len(accepted) and any(
        all(value in any_of for value, any_of in zip(order, accepted, strict=True))
        for order in permutations(made)
    )
    found = accuracy(of, [("fly", {"to": value}) for value in made], tools={FLY.id: FLY})
    assert found.value == float(right)


def test_any_arguments_are_right_where_none_are_annotated() -> None:
    of = task(goal(plan(gold(FLY.id))))
    assert accuracy(of, [("fly", {"to": "x"})], tools={FLY.id: FLY}).value == 1.0


def test_of_several_plans_the_best_counts() -> None:
    of = task(goal(plan(gold("air/walk/walk")), plan(gold(FLY.id, {"to": "Oslo"}))))
    assert accuracy(of, [("fly", {"to": "Oslo"})], tools={FLY.id: FLY}).details["plan"] == 1


@pytest.mark.parametrize(("turns", "value"), [(["Hello."], 1.0), ([], 1.0), ([[("fly", {})]], 0.0)])
def test_no_call_is_right_where_no_tool_is_needed(turns: list[Any], value: float) -> None:
    of = task(goal(Plan()))
    assert accuracy(of, *turns, tools={FLY.id: FLY}).value == value


@pytest.mark.parametrize(
    ("plans", "reason"),
    [
        (None, "no gold calls annotated"),
        ((), "the goal has no plan"),
        ((plan(StateUnchanged("contacts")),), "the plan asks of the world, not of calls"),
    ],
)
def test_what_is_no_mission_has_no_value(plans: Any, reason: str) -> None:
    of = task(Goal("do it", plans=plans), Goal("and that", plans=plans))
    found = scores(of, chat(of, "Done."))
    assert {s.reason for s in found if s.metric != DIALOGUE} == {reason}
    assert [s.reason for s in found if s.metric == DIALOGUE] == [
        "a goal of the task is no mission, or its mission is not decided"
    ]


def test_what_is_not_decided_has_no_value_but_a_reason() -> None:
    nodes, turns = undecided()
    asked = [
        Milestone(gold(FLY.id, {"to": node["arguments"]["x"]}), tuple(node["deps"]))
        for node in nodes
    ]
    of = task(goal(Plan(tuple(asked))))
    said = [[("fly", {"to": c["arguments"]["x"]}) for c in t["tool_calls"]] for t in turns]
    found = {s.metric: s for s in scores(of, chat(of, *said), tools={FLY.id: FLY})}
    assert (found["mission_accuracy"].value, found["name_accuracy"].value) == (None, 1.0)
    assert found["mission_accuracy"].reason == OPEN
    assert found["mission_accuracy"].details["undecided"] == "param_label"


def test_rules_have_one_name() -> None:
    named = [rules_named(name) for name in (None, "clean", "toolsandbox", "mmtb", "exact")]
    assert named == [
        Rules(),
        Rules("clean"),
        Rules("toolsandbox"),
        Rules(missions=ORIGINAL),
        Rules(dialogue="exact"),
    ]
    with pytest.raises(UsageError, match="exact, lenient, mmtb, toolsandbox, got 'nice'"):
        rules_named("nice")
