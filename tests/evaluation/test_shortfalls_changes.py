"""What happened to a table between two moments."""

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from seal.core.values import canonical_json, equal
from seal.evaluation.shortfalls import CellChange, RowChange, TableChange, table_change

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
