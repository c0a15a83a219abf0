"""A default that is written and one that is left out are one value, in gold and in the call."""

import json
import pickle
from dataclasses import replace
from typing import Any

import pytest

from seal.core import DataError, Goal, Milestone, Plan, Task, Tool
from seal.core.conditions import ANY, Argument, Called, Condition
from seal.core.records import decode, encode

PAGE = {
    "type": "object",
    "properties": {
        "size": {"type": "integer", "default": 50},
        "by": {"type": "string", "default": "date"},
        "of": {"type": "string"},
    },
    "required": ["of"],
}
LIST = Tool(
    "mail/list",
    "list",
    parameters={
        "type": "object",
        "properties": {
            "box": {"type": "string"},
            "unread": {"type": "boolean", "default": False},
            "labels": {"type": "array", "items": {"type": "string"}, "default": None},
            "page": {"$ref": "#/$defs/Page", "default": {"of": "all"}},
            "filters": {"type": "array", "items": {"anyOf": [PAGE, {"type": "null"}]}},
            "by_name": {"type": "object", "additionalProperties": {"allOf": [PAGE]}},
        },
        "required": ["box"],
        "$defs": {"Page": PAGE},
    },
)
TOOLS = {LIST.id: LIST}


def gold(**arguments: Any) -> Called:
    return Called.exact(LIST.id, {"box": "in", **arguments}).of_tools(TOOLS)


PAIRS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {"unread": False}),
    ({}, {"labels": None}),
    ({}, {"page": {"of": "all"}}),
    ({}, {"page": {"of": "all", "size": 50.0}}),
    ({"page": {"of": "x"}}, {"page": {"of": "x", "by": "date", "size": 50}}),
    ({"filters": [{"of": "a"}]}, {"filters": [{"of": "a", "size": 50}]}),
    ({"by_name": {"k": {"of": "a"}}}, {"by_name": {"k": {"of": "a", "by": "date "}}}),
]


@pytest.mark.parametrize(("short", "long"), PAIRS)
def test_what_is_left_out_has_its_default_both_ways(
    short: dict[str, Any], long: dict[str, Any]
) -> None:
    for asked in (short, long):
        for made in (short, long):
            assert gold(**asked).accepts({"box": "in", **made})


@pytest.mark.parametrize(
    ("asked", "made", "wrong"),
    [
        ({}, {"unread": True}, {"unread": "unexpected"}),
        ({"unread": True}, {}, {"unread": "missing"}),
        ({"page": {"of": "x"}}, {"page": {"of": "x", "size": 51}}, {"page": "value"}),
        ({"page": {"of": "x"}}, {"page": {}}, {"page": "value"}),
        ({"labels": []}, {}, {"labels": "missing"}),
        ({}, {"unknown": None}, {"unknown": "unexpected"}),
    ],
)
def test_another_value_than_the_default_is_wrong(
    asked: dict[str, Any], made: dict[str, Any], wrong: dict[str, str]
) -> None:
    assert gold(**asked).faults({"box": "in", **made}) == wrong


def test_a_required_argument_has_no_default() -> None:
    parameters = {"properties": {"a": {"default": 1}}, "required": ["a"]}
    tools = {"t": Tool("t", "t", parameters=parameters)}
    assert Called.exact("t", {"a": 1}).of_tools(tools).faults({}) == {"a": "missing"}


def test_a_schema_that_refers_to_itself_comes_to_an_end() -> None:
    node: dict[str, Any] = {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "default": 0},
            "left": {"$ref": "#", "default": {}},
            "right": {"$ref": "#", "default": {}},
        },
    }
    tools = {"t": Tool("t", "t", parameters=node)}
    called = Called.exact("t", {"n": 0}).of_tools(tools)
    assert called.accepts({}) and called.accepts({"left": {}}) is called.accepts({"right": {}})
    assert not called.accepts({"left": {"left": {"n": 1}}})


def test_several_accepted_values_may_hold_the_default() -> None:
    wanted = {"box": Argument(("in",)), "unread": Argument((True, False))}
    assert Called(LIST.id, wanted).of_tools(TOOLS).accepts({"box": "in"})
    assert not Called(LIST.id, wanted).accepts({"box": "in"})


@pytest.mark.parametrize(
    ("wanted", "made", "right"),
    [
        (Argument(None), {}, True),
        (Argument((True,), optional=True), {"unread": False}, True),
        (Argument((), optional=True), {"unread": False}, True),
        (Argument((), optional=True), {"unread": True}, False),
        (Argument((True,)), {"unread": False}, False),
    ],
)
def test_whoever_may_leave_an_argument_out_may_give_its_default(
    wanted: Argument, made: dict[str, Any], right: bool
) -> None:
    called = Called(LIST.id, {"box": Argument(("in",)), "unread": wanted})
    assert called.of_tools(TOOLS).accepts({"box": "in", **made}) is right


def test_what_gold_knows_of_its_tool_is_no_part_of_it() -> None:
    known = gold(unread=False)
    plain = Called.exact(LIST.id, {"box": "in", "unread": False})
    task = Task("one", "mail", (Goal("Go", (Plan((Milestone(plain),)),)),))
    assert known == plain and repr(known) == repr(plain)
    assert encode(task.of_tools(TOOLS)) == encode(task)
    assert pickle.loads(pickle.dumps(known)) == plain == replace(known)
    assert Called(LIST.id).of_tools(TOOLS).accepts({"whatever": 1})
    assert Called("gone", {}).of_tools(TOOLS).accepts({})


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"kind": "called", "tool": "t", "parameters": {}}, "called: parameters: there is no such"),
        ({"kind": "called", "tool": "t", "args": {}}, "called: args: there is no such field"),
        (
            {"kind": "called", "tool": "t", "arguments": {"a": {"values": [1], "optionl": True}}},
            r"called: arguments\.a\.optionl: there is no such field",
        ),
        ({"kind": "told", "all_off": ["x"]}, "told: all_off: there is no such field"),
    ],
)
def test_a_key_of_stored_gold_that_nobody_knows_is_refused(wrong: Any, told: str) -> None:
    plan = {"milestones": [{"condition": wrong}]}
    line = {
        "schema": "task/1",
        "id": "1",
        "benchmark": "b",
        "goals": [{"text": "", "plans": [plan]}],
    }
    with pytest.raises(DataError, match=told):
        decode(json.dumps(line), Task)


def test_stored_gold_without_arguments_keeps_its_meaning() -> None:
    for arguments, accepted in ((None, True), ({}, False)):
        condition = {"kind": "called", "tool": "t", "arguments": arguments}
        plan = {"milestones": [{"condition": condition}]}
        line = {
            "schema": "task/1",
            "id": "",
            "benchmark": "",
            "goals": [{"text": "", "plans": [plan]}],
        }
        (called,) = (decode(json.dumps(line), Task).goals[0].plans or ())[0].calls()
        assert called.accepts({"zone": "UTC"}) is accepted and called.accepts({})


def test_anything_is_one_object() -> None:
    assert repr(ANY) == "seal.ANY" and pickle.loads(pickle.dumps(ANY)) is ANY


def test_a_condition_asks_nothing_of_the_tools_unless_it_says_so() -> None:
    assert all(hasattr(kind, "of_tools") for kind in Condition.kinds().values())
