"""Gold as a script, played in a fresh world: links to results, and ends that are compared."""

from __future__ import annotations

from dataclasses import replace

import pytest
from depots import OPEN, SHIPPED, depot

import seal
from seal.core import DataError, Step, ToolResult
from seal.pools.gold_scripts import Deed, Link, Move, is_same, play, resolved, scripts_of

DEPOT = depot()
FIND, SHIP = "depot/find_parcel", "depot/ship"


def with_reference(*steps: Step) -> seal.Task:
    """Return a task whose reference has these steps after the request."""
    goal = replace(SHIPPED.goals[0], reference=steps)
    return replace(SHIPPED, goals=(goal,))


def called(tool: str, id: str, turn: int, **arguments) -> Step:
    call = seal.ToolCall(id, tool.rpartition("/")[2], arguments, tool=tool)
    return Step(0, "agent", "executor", call=call, turn=turn)


def told(id: str, value, turn: int) -> Step:
    return Step(0, "executor", "agent", result=ToolResult(id, "", value=value), turn=turn)


def test_gold_calls_are_a_script_that_ends_with_what_is_told() -> None:
    (script,) = scripts_of(SHIPPED.goals[0])

    assert [deed.tool for move in script for deed in move.deeds] == ["open_gate", "ship"]
    assert script[-1].say == "12.5"


def test_a_value_that_an_earlier_result_holds_is_a_link() -> None:
    found = [{"id": "P-17", "customer": "Ada Lund"}]
    task = with_reference(
        called(FIND, "a", 0, customer="Ada Lund"),
        told("a", found, 1),
        called(SHIP, "b", 2, parcel_id="P-17"),
        Step(0, "agent", "user_simulator", "It costs 12.5.", turn=3),
    )

    script = scripts_of(task.goals[0])[0]

    assert script[1].deeds[0].arguments == {"parcel_id": Link(0, ("0", "id"), "P-17")}
    assert script[0].deeds[0].arguments == {"customer": "Ada Lund"}  # the request says it


@pytest.mark.parametrize(
    ("results", "value"),
    [
        ({0: [{"id": "P-17"}]}, "P-17"),
        ({0: [{"id": "P-9"}, {"id": "P-17"}]}, "P-17"),
        ({0: [{"id": "P-9"}]}, "P-9"),
        ({0: []}, "P-17"),
        ({}, "P-17"),
    ],
)
def test_a_link_takes_what_the_chat_brought_and_else_what_gold_has(results, value) -> None:
    assert resolved([Link(0, ("0", "id"), "P-17")], results) == [value]


def test_a_script_tells_what_changed_the_world() -> None:
    script = [
        Move((Deed(0, "depot/open_gate", {}),)),
        Move((Deed(1, SHIP, {"parcel_id": "P-17"}), Deed(2, FIND, {}))),
        Move(say="Done."),
    ]

    played = play(SHIPPED, [script], DEPOT)

    assert played.changing == {0, 1}
    assert played.results[1].value == {"price": 12.5}
    assert set(played.changes) == {"gate", "shipments"}
    assert played.chat.answers == ("Done.",)
    assert [step.author for step in played.chat.steps][:2] == ["user_simulator", "agent"]


def test_gold_with_open_arguments_has_no_script() -> None:
    with pytest.raises(DataError, match="leaves arguments open"):
        scripts_of(OPEN.goals[0])


def came(**row) -> dict:
    return {"t": {"came": [row], "went": []}}


@pytest.mark.parametrize(
    ("one", "other", "ignore", "varies", "same"),
    [
        (came(id="a"), came(id="a"), (), (), True),
        (came(id="a"), came(id="b"), (), (), False),
        (came(id="a"), came(id="b"), ("t.id",), (), True),
        (came(id="a"), came(id="b"), ("t",), (), True),
        (came(id="a"), came(id="b"), (), ("t.id",), True),
        (came(at=1000.0), came(at=1030.0), (), ("t.at",), True),
        (came(at=1000.0), came(at=1090.0), (), ("t.at",), False),
        (came(id="a"), {}, (), ("t.id",), False),
    ],
)
def test_worlds_change_alike(one, other, ignore, varies, same) -> None:
    assert is_same(one, other, ignore, varies) is same
    assert is_same(other, one, ignore, varies) is same
