"""Searches by several criteria, each applied to what the one before it found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from seal.environments.functions import NOT_GIVEN
from seal.environments.tables import Row, between, like


class Filter(NamedTuple):
    """One criterion; it is none where its value is not given."""

    column: str
    value: Any
    apply: Callable[[Sequence[Row], str, Any], list[Row]]
    """(rows, column, value) to the rows that are left."""


def found(rows: Sequence[Row], *filters: Filter) -> list[Row]:
    """Return the rows that meet all criteria.

    Raises:
        ValueError: No criterion is given.
    """
    given = [one for one in filters if one.value is not NOT_GIVEN]
    if not given:
        columns = ", ".join(dict.fromkeys(one.column for one in filters))
        raise ValueError(f"no search criterion was given; give at least one about: {columns}")
    left = list(rows)
    for one in given:
        left = one.apply(left, one.column, one.value)
    return left


def somewhat_like(rows: Sequence[Row], column: str, text: Any) -> list[Row]:
    """Return the rows whose text is at least halfway like this one, the likest first."""
    return like(rows, column, text, threshold=50.0)


def at_least(rows: Sequence[Row], column: str, low: float) -> list[Row]:
    """Return the rows with this number or a greater one."""
    return between(rows, column, low=low)


def at_most(rows: Sequence[Row], column: str, high: float) -> list[Row]:
    """Return the rows with this number or a smaller one."""
    return between(rows, column, high=high)


__all__ = ["Filter", "at_least", "at_most", "found", "somewhat_like"]
