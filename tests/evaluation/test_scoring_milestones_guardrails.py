"""Guardrails that follow from declared tables."""

from seal.core import Milestone, Plan
from seal.core.conditions import FIRST, LAST, Called, parts
from seal.core.state_conditions import AllOf, StateHas, StateUnchanged
from seal.evaluation.plans import asked_tables, under, with_outer_guardrails

TABLES = ("lamps", "notes", "mail")
ON = StateHas("lamps", ({"on": True},))
NEW = StateHas("notes", ({"text": "b"},), "addition", since=FIRST)


def guards(node: Milestone) -> set[tuple[str, int | None]]:
    found = [part for part in parts(node.condition) if isinstance(part, StateUnchanged)]
    return {(part.table, part.since) for part in found}


def test_a_plan_without_milestones_has_none_to_guard() -> None:
    assert with_outer_guardrails(Plan(), []) == Plan()


def test_a_table_that_some_milestone_asks_of_is_free_around_them() -> None:
    plan = Plan((Milestone(ON), Milestone(NEW, (0,))))
    assert guards(with_outer_guardrails(plan, [TABLES] * 2).milestones[0]) == {("mail", None)}


def test_the_rules_clean_guard_before_the_first_and_after_the_last() -> None:
    nodes = [
        Milestone(AllOf((Called("t"), StateUnchanged("mail")))),
        Milestone(Called("u"), (0,)),
        Milestone(Called("v"), (1,)),
    ]
    clean = [guards(node) for node in under(nodes, "clean")]
    assert clean == [{("mail", FIRST)}, set(), {("mail", LAST)}]
    assert [guards(node) for node in under(nodes, "toolsandbox")] == [set(), set(), set()]


def test_a_condition_of_the_message_asks_nothing_of_a_table_of_the_world() -> None:
    assert asked_tables(Milestone(AllOf((ON, Called("t"))))) == {"lamps"}
