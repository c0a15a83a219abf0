"""Variants of gold: what each kind alters."""

from __future__ import annotations

import pytest
from depots import IN_ORDER, LABELLED, REFUSED, SHIPPED, bench, depot

import seal
from seal.pools.lookup import open_pool
from seal.pools.mutants import _cases, _lent, judge
from seal.pools.variants import RIGHT, WRONG, Case

WORLD = depot()


def case(task: seal.Task) -> Case:
    """Return the only goal of a task with its gold as it was played."""
    (stored,) = open_pool(bench(task)).every_task()
    return next(_cases(stored, WORLD, judge))


def altered(kind: str, task: seal.Task, *others: seal.Task) -> list[str]:
    """Return what the variants of a kind alter."""
    own = case(task)
    lent = _lent([own, *map(case, others)])
    return [variant.altered for variant in {**WRONG, **RIGHT}[kind](own, lent)]


def test_each_changing_call_is_left_out() -> None:
    assert altered("a changing call is left out", SHIPPED) == [
        "without open_gate()",
        "without ship(express=True, parcel_id='P-17')",
    ]


def test_another_entity_is_a_value_of_the_same_column() -> None:
    (only,) = altered("another entity", LABELLED)

    assert only.startswith("label(parcel_id='P-17'")


def test_calls_of_other_tasks_are_effects_that_nobody_asked_for() -> None:
    found = altered("an effect that nobody asked for", LABELLED, SHIPPED)

    assert "open_gate() besides" in found
    assert any(one.endswith("a second time") for one in found)


@pytest.mark.parametrize(
    ("task", "kind"),
    [
        (IN_ORDER, "an order that gold forbids"),
        (SHIPPED, "an order that the state forbids"),
    ],
)
def test_an_order_is_forbidden_by_gold_or_by_the_state(task: seal.Task, kind: str) -> None:
    assert altered(kind, task) == ["in the order ship, open_gate"]


def test_what_cannot_be_done_may_be_refused() -> None:
    assert altered("a refusal of what can be done", SHIPPED)
    assert not altered("a refusal of what can be done", seal.ask("Do nothing.", seal.ends_as()))


def test_an_error_is_made_and_corrected() -> None:
    assert "ship without parcel_id, then rightly" in altered("an error that is corrected", REFUSED)


def test_the_kinds_of_wrong_and_right_variants_are_apart() -> None:
    assert not set(WRONG) & set(RIGHT)
