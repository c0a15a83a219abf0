"""Goal templates: slots in texts and values, and the goals of a world."""

import pytest

from seal.core import UsageError
from seal.environments.templates import Goals, filled, goals_of
from seal.environments.world import Worlds, WorldSetup, build_worlds, joined


def test_a_slot_alone_keeps_its_type_and_one_in_a_text_is_spelled() -> None:
    slots = {"flag": True, "whole": 40.0, "part": 2.5, "name": "Bo"}

    assert filled({"a": ["{flag}", "{part}"], "b": 7}, slots) == {"a": [True, 2.5], "b": 7}
    assert filled("{name} pays {whole} or {part} EUR", slots) == "Bo pays 40 or 2.50 EUR"
    assert filled("{}", slots) == "{}"


def test_a_slot_that_nothing_drew_is_named_with_those_that_are_there() -> None:
    with pytest.raises(UsageError, match=r"\{price\}: nothing drew this slot; drawn: item, total"):
        filled(["{item} for {price}"], {"total": 1, "item": "boots"})


def test_a_world_without_templates_or_with_others_is_refused() -> None:
    with pytest.raises(UsageError, match="'lamps' has no goal templates"):
        goals_of((), "lamps")
    with pytest.raises(UsageError, match="expected Goals, got 3"):
        goals_of((3,), "lamps")


def test_joined_worlds_have_the_goals_of_all_once() -> None:
    one, other = Goals(templates=()), Goals(templates=(), ignore=("a",))
    parts = [
        Worlds(name="a", tools={}, goals=[one]),
        Worlds(name="b", tools={}, goals=[one, other]),
    ]

    assert list(joined(parts).goals) == [one, other]
    shipped = build_worlds("shop+bank", WorldSetup())
    assert len(goals_of(shipped.goals, "shop+bank")) == 4  # type: ignore[attr-defined]
