"""Plans that cannot be measured are refused before anything is."""

import re
from typing import Any

import pytest
from looped import every_case

from seal.core import DataError, Milestone, Plan
from seal.core.conditions import MESSAGE, Called, Condition
from seal.core.state_conditions import (
    AllOf,
    DependsOn,
    EndsAs,
    StateHas,
    StateUnchanged,
    Unconfirmed,
)
from seal.core.table_matching import Column
from seal.evaluation.plans import check_plan

STATE: dict[str, Any] = {"notes": [{"id": 1, "text": "a"}], "mail": []}
HERE = StateHas("notes", ({"text": "a"},))


def nodes(*conditions: Condition, after: dict[int, tuple[int, ...]] | None = None) -> Plan:
    edges = after or {}
    return Plan(tuple(Milestone(c, edges.get(n, ())) for n, c in enumerate(conditions)))


def told(**fields: Any) -> DependsOn:
    known: Any = {
        "since": 0,
        "rows": ({"content": "{days}"},),
        "extractor": "result_days",
        "fill": "content",
    }
    return DependsOn(**{**known, **fields})


@every_case(
    ("plan", "says"),
    [
        (
            nodes(HERE, HERE, after={0: (1,), 1: (0,)}),
            "milestones.0: after: the nodes form a cycle",
        ),
        (nodes(HERE, after={0: (0,)}), "the nodes form a cycle"),
        (
            nodes(EndsAs(), HERE, Called("pay"), after={1: (0,), 2: (1,)}),
            "milestones.2: after: no call comes after the end of the world; put that last",
        ),
        (nodes(HERE, after={0: (3,)}), "after: no node 3; there are 0 to 0"),
        (nodes(StateUnchanged("notes", 1), HERE, after={1: (0,)}), "since: 1 is no milestone"),
        (nodes(HERE, StateUnchanged("notes", 0)), "since: 0 is no milestone that must come before"),
        (nodes(told()), "expected -1 or one of []"),
        (
            nodes(StateHas("nots", ({"text": "a"},))),
            "no table 'nots'; known: mail, message, notes.",
        ),
        (nodes(StateUnchanged("nots", -1)), "no table 'nots'"),
        (
            nodes(StateUnchanged("notes", -1, "nice")),
            "milestones.0: match: expected one of clean, toolsandbox, got 'nice'",
        ),
        (nodes(StateHas("notes", ({"txt": "a"},))), "no column 'txt'; known: id, text"),
        (
            nodes(StateHas(MESSAGE, ({"sender": "a"},))),
            "no column 'sender'; known: author, call_id",
        ),
        (nodes(StateHas("notes", ({},))), "rows.0: a row without columns"),
        (nodes(StateHas("notes", ({"text": None}, {"text": None}))), "every value is null"),
        (nodes(StateHas("notes", (), match="toolsandbox")), "without rows cannot be measured"),
        (nodes(StateHas("notes", ({"text": "a"},), "addition")), "since: addition needs"),
        (nodes(StateHas("notes", (), "removal", -1)), "rows: expected the rows of the removal"),
        (
            nodes(StateHas(MESSAGE, ({"content": "a"},), "addition", -1)),
            "measure: 'addition' of message",
        ),
        (nodes(told(since=-1, extractor="result_dayz")), "Did you mean 'result_days'?"),
        (nodes(told(since=-1, rows=())), "rows: expected one message, got 0"),
        (
            nodes(StateHas(MESSAGE, ({"calls": ["t"]},), columns={"calls": Column("calls")})),
            "rows.0: expected calls {tool, arguments}, got 't'",
        ),
        (
            nodes(StateHas("notes", ({"id": 1},), columns={"id": Column("exactly")})),  # type: ignore[arg-type]
            "no measure of the column id 'exactly'",
        ),
        (nodes(Unconfirmed(("t",), "Nowhere/Town")), "zone: expected a name such as Europe/Rome"),
        (
            Plan(minefields=(Milestone(AllOf((Called("t"), StateHas("x", ({"a": 1},))))),)),
            "minefields.0",
        ),
    ],
)
def test_a_plan_that_cannot_be_measured_says_why(plan: Plan, says: str) -> None:
    with pytest.raises(DataError, match=re.escape(says)):
        check_plan(plan, STATE)


@pytest.mark.parametrize(
    "plan",
    [
        Plan(),
        nodes(HERE, StateUnchanged("notes", 0), after={1: (0,)}),
        nodes(StateUnchanged("notes", 2), HERE, HERE, after={0: (1,), 1: (2,)}),
        nodes(StateHas("mail", ({"anything": 1},))),
        nodes(StateHas("notes", ())),
        nodes(StateHas("notes", ({"id": 1, "text": None},), "update", -1)),
    ],
)
def test_a_plan_that_can_be_measured_passes(plan: Plan) -> None:
    assert refusal(plan, STATE) == ""


def test_without_a_world_no_name_is_unknown() -> None:
    misspelt = nodes(StateHas("nots", ({"txt": 1},)))
    assert "nots" in refusal(misspelt, STATE)
    assert refusal(misspelt) == ""


def test_who_measured_before_may_have_asked_for_nothing() -> None:
    nothing = nodes(StateHas("notes", ({"text": None},)))
    assert refusal(nothing, STATE) != ""
    assert refusal(nothing, STATE, measured=True) == ""


def refusal(plan: Plan, *given: Any, **options: Any) -> str:
    """Return why a plan cannot be measured; empty where it can be."""
    try:
        check_plan(plan, *given, **options)
    except DataError as error:
        return str(error)
    return ""
