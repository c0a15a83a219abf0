"""Pairs gold calls with made calls of the same tool, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from seal.core.conditions import Called


@dataclass(frozen=True, slots=True)
class ArgumentFinding:
    """One argument that is not as the gold call has it."""

    name: str
    problem: str
    """missing, unexpected, value, or unparsable (the whole argument map)."""
    expected: tuple[Any, ...] | None = None
    """Accepted values; None for an unexpected argument."""
    received: Any = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A gold call against a made call of the same tool."""

    exact: bool
    """Names and values are all right (`Called.accepts`)."""
    right: int = 0
    """Gold arguments that were given with an accepted value."""
    common: int = 0
    """Gold arguments that were given."""
    unexpected: int = 0
    """Arguments that the gold call does not have."""
    missing: int = 0
    """Required gold arguments that were not given."""
    findings: tuple[ArgumentFinding, ...] = ()

    @property
    def rank(self) -> tuple[int, int, int, int]:
        """What a pairing maximises, in this order."""
        return int(self.exact), self.right, self.common, -(self.unexpected + self.missing)


def compare(gold: Called, arguments: dict[str, Any] | None) -> Comparison:
    """Return how the arguments of a call differ from the gold call's.

    Args:
        gold: Its arguments None: any are right, and there is nothing to compare.
        arguments: None: the model's text was no JSON object.
    """
    if gold.arguments is None:
        return Comparison(True)
    required = [name for name, argument in gold.arguments.items() if not argument.optional]
    if arguments is None:
        finding = ArgumentFinding("", "unparsable")
        return Comparison(False, missing=len(required), findings=(finding,))
    findings = [
        ArgumentFinding(name, "missing", gold.arguments[name].values)
        for name in required
        if name not in arguments
    ]
    missing = len(findings)
    common = right = 0
    for name, received in arguments.items():
        expected = gold.arguments.get(name)
        if expected is None:
            findings.append(ArgumentFinding(name, "unexpected", None, received))
            continue
        common += 1
        if expected.accepts(received):
            right += 1
        else:
            findings.append(ArgumentFinding(name, "value", expected.values, received))
    unexpected = len(arguments) - common
    return Comparison(not findings, right, common, unexpected, missing, tuple(findings))


def best_pairs(table: Sequence[Sequence[Comparison]]) -> list[tuple[int, int]]:
    """Return (row, column) pairs that maximise the summed ranks, row by row in ascending order.

    Every row is paired, or every column where there are fewer of them. The sum of ranks is
    compared component by component: first exact calls, then right values, then names. The sums
    are therefore the same whatever the order of rows and columns.

    Args:
        table: Gold calls by made calls, not empty.
    """
    rows, columns = len(table), len(table[0])
    flat = [cell.rank for row in table for cell in row]
    base = 1 + min(rows, columns) * max(max(map(abs, rank)) for rank in flat)
    weights = [_weight(rank, base) for rank in flat]
    if rows <= columns:
        profits = [weights[r * columns : (r + 1) * columns] for r in range(rows)]
        return list(enumerate(maximum_assignment(profits)))
    transposed = [weights[c::columns] for c in range(columns)]
    return sorted((row, column) for column, row in enumerate(maximum_assignment(transposed)))


def _weight(rank: Sequence[int], base: int) -> int:
    weight = 0
    for component in rank:
        weight = weight * base + component
    return weight


def maximum_assignment(profits: Sequence[Sequence[int]]) -> list[int]:
    """Return for each row a column of its own, so that the sum of profits is greatest.

    Exact: whole numbers of any size, unlike the floats of `scipy.optimize`. O(rows² · columns).
    Source: the Hungarian method with potentials (Kuhn 1955, Munkres 1957), one shortest
    augmenting path a row.

    Args:
        profits: Row by column, at least as many columns as rows.
    """
    columns = len(profits[0]) if profits else 0
    row_potential = [0] * len(profits)
    column_potential = [0] * columns
    owner = [-1] * columns
    for row in range(len(profits)):
        end, came_from = _shortest_path(profits, row, owner, row_potential, column_potential)
        while end >= 0:
            before = came_from[end]
            owner[end] = owner[before] if before >= 0 else row
            end = before
    assigned = {row: column for column, row in enumerate(owner) if row >= 0}
    return [assigned[row] for row in range(len(profits))]


def _shortest_path(
    profits: Sequence[Sequence[int]],
    start: int,
    owner: list[int],
    row_potential: list[int],
    column_potential: list[int],
) -> tuple[int, list[int]]:
    """Return a free column and, for each column, the one before it on the path (-1: the start).

    Updates both potentials, so that costs stay at least 0 and are 0 on the path.
    """
    columns = len(owner)
    slack: list[int | None] = [None] * columns
    came_from = [-1] * columns
    visited: list[int] = []
    open_columns = list(range(columns))
    row, column = start, -1
    while True:
        nearest, delta = -1, 0
        for other in open_columns:
            cost = -profits[row][other] - row_potential[row] - column_potential[other]
            known = slack[other]
            if known is None or cost < known:
                slack[other], came_from[other] = cost, column
                known = cost
            if nearest < 0 or known < delta:
                nearest, delta = other, known
        row_potential[start] += delta
        for done in visited:
            row_potential[owner[done]] += delta
            column_potential[done] -= delta
        for other in open_columns:
            known = slack[other]
            slack[other] = known - delta if known is not None else None
        visited.append(nearest)
        open_columns.remove(nearest)
        column = nearest
        if owner[column] < 0:
            return column, came_from
        row = owner[column]
