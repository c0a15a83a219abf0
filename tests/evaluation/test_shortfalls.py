"""Why milestones are not met: condition, column, what was expected and found."""

from typing import Any

import pytest
from milestone_chats import START, A, B, asks, chat, does, reply, says

from seal.core import Milestone, Plan, Step
from seal.core.conditions import MESSAGE, Asked, Condition, Match
from seal.core.state_conditions import AllOf, DependsOn, StateHas, StateUnchanged, Unconfirmed
from seal.core.table_matching import Column
from seal.evaluation.plans import measure_plan, under, view
from seal.evaluation.shortfalls import Fault, Unmet, unmet

ADDED = StateHas("notes", ({"id": 2, "text": "b"},), "addition", since=-1)
LIT = [{"id": 1, "on": True}]
TEXT = {"text": Column("rouge_l")}


def explained(
    *conditions: Condition, steps: list[Step], match: Match = "clean"
) -> dict[int, Unmet]:
    """Explain a chain of milestones."""
    nodes = [
        Milestone(condition, tuple(range(place))[-1:]) for place, condition in enumerate(conditions)
    ]
    seen = view(chat(*steps), 0, START, match)
    found = measure_plan(Plan(tuple(nodes)), seen, match).milestones
    mapping = {one.node: (one.index, one.similarity) for one in found}
    return unmet(under(nodes, match), seen, mapping)


def only(found: dict[int, Unmet], node: int = 0) -> Fault:
    (fault,) = found[node].faults
    return fault


def calls(tool: str, **arguments: Any) -> StateHas:
    row = {"calls": [{"tool": tool, "arguments": arguments}]}
    return StateHas(MESSAGE, (row,), columns={"calls": Column("calls")})


def test_what_is_met_wholly_has_no_faults() -> None:
    assert explained(ADDED, reply("Done"), steps=[*does("add", notes=[A, B]), says("Done")]) == {}


def test_a_cell_is_told_with_what_was_wanted_and_found() -> None:
    steps = [asks(), *does("add", notes=[A, {"id": 2, "text": "x"}])]
    found = explained(ADDED, steps=steps)
    assert only(found) == Fault(0, "notes", "text", '"b"', '"x"')
    assert found[0].nearest == 2


def test_a_milestone_that_is_reached_in_part_is_told_at_its_step() -> None:
    wanted = StateHas("notes", ({"id": 2, "text": "buy red paint"},), "addition", -1, TEXT)
    found = explained(wanted, steps=[asks(), *does("add", notes=[A, {"id": 2, "text": "paint"}])])
    fault = only(found)
    assert (fault.column, fault.expected, fault.found) == ("text", '"buy red paint"', '"paint"')
    assert fault.similarity == pytest.approx(0.5)
    assert found[0].nearest is None


@pytest.mark.parametrize(
    ("notes", "told"),
    [
        ([A], "no change"),
        ([A, B, {"id": 3}], "2 rows added"),
        ([B], "1 row added, 1 row removed"),
        ([{"id": 1, "text": "z"}], "1 row changed"),
    ],
)
def test_a_change_of_other_rows_is_counted(notes: list[Any], told: str) -> None:
    fault = only(explained(ADDED, steps=[asks(), *does("add", notes=notes)]))
    assert fault == Fault(0, "notes", "", "1 row added since step 0", told)


def test_a_snapshot_of_another_size_is_counted() -> None:
    fault = only(explained(StateHas("notes", (A, B)), steps=[asks()]))
    assert fault == Fault(0, "notes", "", "2 rows", "1 row")


def test_a_broken_guardrail_names_the_table_and_the_step_that_changed_it() -> None:
    guarded = AllOf((reply("Done"), StateUnchanged("lamps", since=-1)))
    steps = [asks(), *does("lamp", 1, lamps=LIT), *does("look", 2), says("Done")]
    found = explained(guarded, steps=steps)
    assert found[0].nearest == 5
    assert only(found) == Fault(1, "lamps", "", "unchanged", "changed in step 2")


def test_a_wrong_argument_is_told_by_its_name() -> None:
    (call, result) = does("find")
    found = explained(calls("find", name="Ann"), steps=[asks(), call, result])
    assert only(found) == Fault(0, MESSAGE, "calls.name", '"Ann"', "not given")
    assert found[0].nearest == 2


def test_another_call_is_told_beside_the_wanted_one() -> None:
    fault = only(explained(calls("find", name="Ann"), steps=[*does("look")]))
    assert (fault.expected, fault.found) == ('find(name="Ann")', "look()")


def test_without_a_call_there_was_none_that_succeeded() -> None:
    fault = only(explained(calls("find"), steps=[asks()]))
    assert fault.found == "no call that succeeded"


def test_what_is_met_too_early_names_what_must_come_first() -> None:
    steps = [asks(), says("Done"), *does("add", notes=[A, B])]
    found = explained(ADDED, reply("Done"), steps=steps)
    assert found[1].nearest == 1
    assert only(found, 1) == Fault(-1, "", "", "after milestone 0 (step 3)", "at step 1")


def test_a_value_that_no_earlier_call_brought_is_missed() -> None:
    row = {"author": "agent", "content": "{days} days"}
    tells = DependsOn(0, (row,), "result_days", "content")
    found = explained(calls("find"), tells, steps=[*does("find", value=3), says("3 days")])
    assert only(found, 1) == Fault(0, MESSAGE, "", "", "step 1 brought no value for it")


def test_a_value_that_an_earlier_call_brought_is_filled_in() -> None:
    row = {"author": "agent", "content": "{days} days"}
    tells = DependsOn(0, (row,), "result_days", "content")
    steps = [*does("find", value={"days": 3}), says("4 days")]
    fault = only(explained(calls("find"), tells, steps=steps), 1)
    assert (fault.column, fault.expected, fault.found) == ("content", '"3 days"', '"4 days"')


def test_a_condition_on_what_came_before_is_given_the_whole_chat() -> None:
    never = Unconfirmed(("drop",))
    found = explained(never, steps=[asks(), says("Shall I?"), *does("look")])
    assert only(found) == Fault(0, "")
    assert explained(never, steps=[asks(), *does("drop")]) == {}


def test_where_no_step_comes_close_none_is_named() -> None:
    found = explained(Asked(("when",)), steps=[asks(), says("Done")])
    assert found[0].nearest is None
    assert only(found) == Fault(0, "")


def test_absent_values_that_do_not_count_for_the_original_are_no_fault_of_a_cell() -> None:
    steps = [asks(), *does("add", notes=[{"id": None, "text": None}])]
    wanted = StateHas("notes", ({"id": 2, "text": "b"},))
    assert only(explained(wanted, steps=steps, match="toolsandbox")).found == "no cell that counts"
    assert [f.column for f in explained(wanted, steps=steps)[0].faults] == ["id", "text"]
