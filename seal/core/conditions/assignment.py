"""The cheapest one-to-one assignment of rows to columns."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf


def cheapest(costs: Sequence[Sequence[float]]) -> list[int] | None:
    """Return for each row the column it gets, so that the sum of the costs is least.

    Shortest augmenting paths over reduced costs, O(n ** 3): each row in turn is added by the path
    along which the total grows least. Source: Jonker and Volgenant, Computing 38 (1987).

    Of equal paths the one is taken that ends in the first column. Exact where all costs are
    integers, of any size.

    Args:
        costs: Rows of numbers without NaN, as many in each row as there are rows, or more; infinity
            forbids a pair.

    Returns:
        For each row its column, no column twice; None where every assignment has a forbidden pair.
    """
    size = len(costs)
    width = len(costs[0]) if size else 0
    of_row: list[float] = [0] * size
    of_column: list[float] = [0] * width
    owner: list[int | None] = [None] * width
    for row in range(size):
        if not _add(row, costs, of_row, of_column, owner):
            return None
    columns = [0] * size
    for column, held_by in enumerate(owner):
        if held_by is not None:
            columns[held_by] = column
    return columns


def _add(
    start: int,
    costs: Sequence[Sequence[float]],
    of_row: list[float],
    of_column: list[float],
    owner: list[int | None],
) -> bool:
    """Give a further row a column, moving earlier rows where that is cheaper.

    Args:
        start: The row.
        costs: As of `cheapest`.
        of_row: Prices of the rows; changed.
        of_column: Prices of the columns; changed.
        owner: Row that has each column; changed.
    """
    size = len(owner)
    distance = [inf] * size
    before: list[int] = [start] * size
    done: list[int] = []
    waiting = set(range(size))
    row = start
    travelled: float = 0
    while True:
        for column in waiting:
            length = travelled + costs[row][column] - of_row[row] - of_column[column]
            if length < distance[column]:
                distance[column] = length
                before[column] = row
        column = min(waiting, key=lambda place: (distance[place], place))
        travelled = distance[column]
        if travelled == inf:
            return False
        waiting.remove(column)
        held_by = owner[column]
        if held_by is None:
            break
        done.append(column)
        row = held_by
    of_row[start] += travelled
    for place in done:
        slack = travelled - distance[place]
        of_column[place] -= slack
        of_row[owner[place]] += slack  # type: ignore[index]  # a column on the path has an owner
    _flip(start, column, before, owner)
    return True


def _flip(start: int, column: int, before: list[int], owner: list[int | None]) -> None:
    """Hand the columns along the path to the rows before them."""
    held = {row: place for place, row in enumerate(owner) if row is not None}
    while True:
        row = before[column]
        owner[column] = row
        if row == start:
            return
        column = held[row]
