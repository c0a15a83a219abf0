"""What happened to a table between two moments."""

from collections import Counter
from itertools import product
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from linear import linear

from seal.core.table_matching import CellChange, RowChange, TableChange, table_change, unlike
from seal.core.values import alike, canonical_json, equal

A, B = {"id": 1, "text": "a"}, {"id": 2, "text": "b"}
ROWS = st.lists(
    st.dictionaries(
        st.sampled_from("abc"),
        st.none() | st.booleans() | st.integers(0, 1) | st.just(1.0) | st.just("x"),
    ),
    max_size=6,
)


def test_rows_that_come_go_and_change_are_told_apart() -> None:
    before = [A, B, {"id": 3, "text": "c"}]
    after = [{"id": 2, "text": "B"}, {"id": 4, "text": "d"}, A]
    assert table_change(before, after) == TableChange(
        added=({"id": 4, "text": "d"},),
        removed=({"id": 3, "text": "c"},),
        changed=(RowChange(("id", 2), (CellChange("text", "b", "B"),)),),
    )


def test_a_column_that_comes_or_goes_is_a_change() -> None:
    (row,) = table_change([{"id": 1, "old": 1}], [{"id": 1, "new": None}]).changed
    assert row.cells == (CellChange("old", 1, None), CellChange("new", None, None))


def test_rows_in_another_order_have_only_moved() -> None:
    assert table_change([A, B], [B, A]) == TableChange(moved=True)
    assert table_change([A, B], [dict(A), dict(B)]) == TableChange()


def test_rows_of_one_name_are_paired_one_by_one() -> None:
    change = table_change([A, A], [{"id": 1, "text": "x"}, {"id": 1, "text": "y"}, A])
    assert len(change.changed) == 1
    assert change.added == ({"id": 1, "text": "y"},)


@given(ROWS, ROWS)
def test_something_changed_exactly_where_the_tables_differ(
    before: list[dict[str, Any]], after: list[dict[str, Any]]
) -> None:
    assert bool(table_change(before, after)) == (not equal(before, after))


@given(ROWS, ROWS)
def test_every_row_is_accounted_for(
    before: list[dict[str, Any]], after: list[dict[str, Any]]
) -> None:
    change = table_change(before, after)
    came = Counter(map(canonical_json, after)) - Counter(map(canonical_json, before))
    assert len(change.added) + len(change.changed) == came.total()
    assert len(after) - len(before) == len(change.added) - len(change.removed)


NUMBERS = [0, -0.0, 1, 1.0, True, 5, 5 + 1e-10, 5 - 1e-10, 0.3, 0.1 + 0.2, 10**400, 1e308, 1234565]
ROUNDED_UP = 1.234575 / 1.234567891
"""Which is rounded either way, as it lies halfway between two numbers of six digits."""
CELLS = [
    *(*NUMBERS, ROUNDED_UP, ROUNDED_UP * (1 + 5e-10), ROUNDED_UP * (1 - 5e-10), None, "a", " a"),
    *("e\u0301", "\u00e9", "2024-05-01T10:00Z", "2024-05-01T12:00+02:00", [1], [1.0], {"b": 1}),
]


def test_rows_are_like_each_other_exactly_where_their_values_are_one() -> None:
    for one, other in product(CELLS, repeat=2):
        found = unlike([{"x": one}], [{"x": other}])
        assert (found == ([], [])) == alike(one, other), (one, other)


def test_rows_that_all_differ_are_told_apart_in_linear_time() -> None:
    def told_apart(rows: int) -> None:
        ours, theirs = (
            [{"id": n, "text": f"{of} {n}", "x": n / 7} for n in range(rows)]
            for of in ("one", "two")
        )
        assert list(map(len, unlike(ours, theirs))) == [rows, rows]
        spaced = [{**row, "text": f" {row['text']}"} for row in reversed(ours)]
        assert unlike(ours, spaced) == ([], [])

    linear(told_apart, 2_000)
