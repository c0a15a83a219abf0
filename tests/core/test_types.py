"""The vocabulary's few methods, and what its records promise."""

import dataclasses
import pickle
from copy import deepcopy
from dataclasses import replace

import pytest
from core_strategies import records
from hypothesis import given
from looped import every_case

from seal.core import (
    DataError,
    Milestone,
    Plan,
    Step,
    Stop,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
    Usage,
    UsageError,
    types,
)
from seal.core.conditions import Argument, Called, Replied
from seal.core.records import from_plain, to_plain
from seal.core.values import json_text

RECORDS = [c for c in vars(types).values() if dataclasses.is_dataclass(c)]


def call(index, call_id, goal=0):
    return Step(index, "manager", "executor", call=ToolCall(call_id, "f", {}), goal=goal)


def result(index, call_id, goal=0):
    return Step(index, "executor", "manager", result=ToolResult(call_id, call_id), goal=goal)


def pairs(trajectory, goal=None):
    return [(c.index, r.index if r else None) for c, r in trajectory.calls(goal)]


def test_each_result_stays_with_its_call_in_whatever_order_it_came():
    steps = (call(0, "a"), call(1, "b"), call(2, "c"), result(3, "c"), result(4, "a"))
    assert pairs(Trajectory("t", 0, steps)) == [(0, 4), (1, None), (2, 3)]


def test_a_result_without_a_call_is_passed_over():
    assert pairs(Trajectory("t", 0, (result(0, "x"), call(1, "a")))) == [(1, None)]


def test_the_calls_of_one_goal_are_had_alone():
    steps = (call(0, "a"), result(1, "a"), call(2, "b", 1), result(3, "b", 1))
    trajectory = Trajectory("t", 0, steps)
    assert pairs(trajectory, 0) == [(0, 1)]
    assert pairs(trajectory, 1) == [(2, 3)]
    assert pairs(trajectory, 2) == []
    assert pairs(trajectory) == [(0, 1), (2, 3)]


@pytest.mark.parametrize(
    ("reasons", "failed"),
    [([], False), (["done"], False), (["max_turns", "repeated"], False), (["done", "error"], True)],
)
def test_a_chat_failed_where_the_infrastructure_did(reasons, failed):
    assert Trajectory("t", 0, (), stops=tuple(map(Stop, reasons))).failed is failed


def test_the_gold_calls_of_a_plan_stand_in_order():
    first, second = Called("a", {"x": Argument((1,))}), Called("b")
    plan = Plan((Milestone(second), Milestone(Replied()), Milestone(first)), (Milestone(first),))
    assert plan.calls() == [second, first]
    assert Plan().calls() == []


def test_usage_adds_up_and_stays_estimated():
    assert Usage(1, 2) + Usage(3, 4) == Usage(4, 6)
    assert Usage(1, 2, True) + Usage() == Usage(1, 2, True)
    assert sum([Usage(1, 1), Usage(2, 2)], Usage()) == Usage(3, 3)


def test_what_a_server_did_not_say_of_an_answer_stands_in_no_line():
    bare = Step(0, "a", "b", "hi", usage=Usage(1, 2))
    told = Step(0, "a", "b", "hi", usage=Usage(1, 2, reasoning=1), finish_reason="stop")
    assert json_text(bare).endswith('"usage":{"tokens_in":1,"tokens_out":2,"estimated":false}}')
    assert json_text(told).endswith('"estimated":false,"reasoning":1},"finish_reason":"stop"}')
    assert (bare.finish_reason, bare.reasoning, bare.usage.reasoning) == ("", "", 0)
    huge = replace(bare, result=ToolResult("call_0", "", value=10**30))
    assert "finish_reason" not in json_text(huge)  # which is written another way
    for step in (bare, told):
        assert from_plain(to_plain(step), Step) == step
        assert replace(step, index=1).finish_reason == step.finish_reason
        assert pickle.loads(pickle.dumps(step)) == step == deepcopy(step)


def test_tools_share_no_default():
    one, other = Tool("a", "a"), Tool("b", "b")
    assert one.parameters == {"type": "object", "properties": {}}
    assert one.parameters is not other.parameters


@every_case("kind", RECORDS)
def test_records_are_frozen_and_take_no_further_field(kind):
    assert kind.__dataclass_params__.frozen
    # These leave fields that say nothing out of their lines, for which they need a `__dict__`.
    assert "__slots__" in vars(kind) or kind in (Step, Task, Tool, ToolResult, Usage)
    assert kind.__doc__


@given(records)
def test_records_cross_to_other_processes(record):
    assert pickle.loads(pickle.dumps(record)) == record


@pytest.mark.parametrize(
    ("persona", "says"),
    [
        ({"gaol": "Know."}, "no part 'gaol'.*Did you mean 'goal'"),
        ({"reply": [["7"]]}, "no part 'reply'.*Did you mean 'replies'"),
        ({"goal": 7}, "persona.goal: expected a text, got 7"),
        ({"facts": ["city"]}, "persona.facts: expected a mapping"),
        ({"then": [1]}, r"persona.then\[0\]: expected a text, got 1"),
        ({"replies": ["7"]}, r"persona.replies\[0\]: expected a list, each item a text, got '7'"),
        ({"replies": [[7]]}, r"persona.replies\[0\]\[0\]: expected a text, got 7"),
        ({"demonstration": "Hi."}, "persona.demonstration: expected a list"),
        ({"verbatim": {"end": "End."}}, "verbatim: expected the text instruction.*; got end"),
        ({"verbatim": {"instruction": "a", "tool": "b"}}, "verbatim: .*; got instruction, tool"),
        ({"verbatim": {"instruction": 7}}, r"persona.verbatim\['instruction'\]: expected a text"),
        ("Ann", "persona: expected a mapping"),
    ],
)
def test_a_persona_that_is_none_is_refused_when_the_task_is_made(persona, says):
    task = Task("t", "b", ())
    with pytest.raises(UsageError, match=says):
        dataclasses.replace(task, persona=persona)
    if isinstance(persona, dict):
        with pytest.raises(DataError, match=says):
            from_plain({"id": "t", "benchmark": "b", "goals": [], "persona": persona}, Task)


def test_a_further_entry_of_a_persona_is_a_fact_and_its_help_names_the_parts():
    assert Task("t", "b", (), persona={"city": "Rome"}).persona == {"city": "Rome"}
    for part in ("goal", "boundary", "facts", "then", "replies", "demonstration", "verbatim"):
        assert f"- `{part}`:" in str(Task.__doc__)
