"""Metrics of calls and missions where gold or the call names a default of the tool."""

from typing import Any

import pytest
from chats import exchange, goal, gold, plan, task, trajectory

from seal.core import Metric, Tool
from seal.evaluation.calls import Calls
from seal.evaluation.missions import Missions

BOOK = Tool(
    "b",
    "b",
    parameters={
        "type": "object",
        "properties": {
            "room": {"type": "string"},
            "nights": {"type": "integer", "default": 2},
            "meal": {"type": "object", "properties": {"at": {"type": "string", "default": "8:00"}}},
        },
        "required": ["room"],
    },
)


def measured(metric: Metric, asked: dict[str, Any], made: dict[str, Any]) -> dict[str, Any]:
    wanted = task(goal(plan(gold("b", {"room": "Red", **asked}))))
    chat = trajectory(exchange([("b", {"room": "Red", **made})]))
    return {s.metric: s for s in metric.score(wanted, chat, {BOOK.id: BOOK})}


@pytest.mark.parametrize(
    ("asked", "made"),
    [
        ({}, {"nights": 2}),
        ({"nights": 2}, {}),
        ({"meal": {}}, {"meal": {"at": "8:00"}}),
        ({"meal": {"at": "8:00"}}, {"meal": {}}),
    ],
)
def test_a_default_is_one_value_however_it_is_said(asked: Any, made: Any) -> None:
    found = measured(Calls(), asked, made)
    names = ("calls_right", "param_acc_gold", "arg_name_f1", "arg_value_acc")
    assert [found[name].value for name in names] == [1.0] * len(names)
    assert found["param_acc_gold"].details["findings"] == []
    assert measured(Missions(), asked, made)["mission_accuracy"].value == 1.0


@pytest.mark.parametrize(
    ("asked", "made", "finding"),
    [
        ({}, {"nights": 3}, ("nights", "unexpected", None, 3)),
        ({"nights": 3}, {}, ("nights", "missing", (3,), None)),
        ({"meal": {}}, {"meal": {"at": "9:00"}}, ("meal", "value", ({},), {"at": "9:00"})),
    ],
)
def test_another_value_is_found(asked: Any, made: Any, finding: Any) -> None:
    found = measured(Calls(), asked, made)
    (told,) = found["param_acc_gold"].details["findings"]
    assert tuple(told[key] for key in ("name", "problem", "expected", "received")) == finding
    assert found["calls_right"].value == 0.0
    assert measured(Missions(), asked, made)["mission_accuracy"].value == 0.0
