"""The cheapest assignment, against all of them."""

from itertools import permutations
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seal.core.table_matching import cheapest

costs = st.sampled_from([0.0, 0.25, 0.5, 1.0, 3.0, inf])
squares = st.integers(0, 5).flatmap(
    lambda n: st.lists(st.lists(costs, min_size=n, max_size=n), min_size=n, max_size=n)
)


def total(table: list[list[float]], columns: tuple[int, ...] | list[int]) -> float:
    return sum(table[row][column] for row, column in enumerate(columns))


@given(squares)
def test_no_other_assignment_is_cheaper(table: list[list[float]]) -> None:
    best = min(total(table, columns) for columns in permutations(range(len(table))))
    found = cheapest(table)
    if best == inf:
        assert found is None
    else:
        assert found is not None
        assert sorted(found) == list(range(len(table)))
        assert total(table, found) == pytest.approx(best)


@given(
    st.integers(1, 4).flatmap(
        lambda rows: st.lists(
            st.lists(st.integers(-5, 9), min_size=5, max_size=5), min_size=rows, max_size=rows
        )
    ),
    st.sampled_from([1, 10**30]),
)
def test_rows_may_be_fewer_than_columns_and_integers_are_exact(
    table: list[list[int]], unit: int
) -> None:
    # A unit of 10**30 would lose the last digits of 1 + unit in a float.
    table = [[value * unit + (value == 3) for value in row] for row in table]
    found = cheapest(table) or []
    best = min(
        sum(table[row][column] for row, column in enumerate(columns))
        for columns in permutations(range(5), len(table))
    )
    assert len(set(found)) == len(table)
    assert sum(table[row][column] for row, column in enumerate(found)) == best


def test_a_row_moves_where_another_has_no_other_column() -> None:
    assert cheapest([[0.0, 1.0], [0.0, inf]]) == [1, 0]


def test_a_table_that_cannot_be_assigned_has_no_assignment() -> None:
    assert cheapest([[inf, 0.0], [inf, 0.0]]) is None


def test_nothing_is_assigned_to_nothing() -> None:
    assert cheapest([]) == []


def test_rows_whose_own_columns_are_best_take_them_at_once() -> None:
    read = []

    class Row(list[int]):
        def __getitem__(self, column: int) -> int:  # type: ignore[override]
            read.append(column)
            return super().__getitem__(column)

    assert cheapest([Row([-1] * 40) for _ in range(40)]) == list(range(40))
    assert len(read) < 40 * 40
