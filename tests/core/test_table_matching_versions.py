"""What differs between versions of a table, beside the plain definitions."""

from collections import Counter
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seal.core.table_matching import beyond, compared, rows_similarity, unchanged
from seal.core.table_versions import Version, zero
from seal.core.values import canonical_json

CELLS = st.sampled_from([None, "", "a", 0, 0.0, 1, 1.0, True, False])
ROWS = st.lists(
    st.one_of(
        st.fixed_dictionaries({"id": st.sampled_from(["x", "y", None])}, optional={"v": CELLS}),
        st.fixed_dictionaries({"v": CELLS, "id": st.just("x")}),
    ),
    max_size=4,
)


@st.composite
def versions(draw: Any) -> tuple[Any, ...]:
    """Three tables whose rows are often the same objects; plain lists, or versions."""
    pool = draw(ROWS)
    keys: dict[Any, Any] = {}
    some = st.lists(st.sampled_from(pool), max_size=5) if pool else st.just([])
    tables = [[*draw(some), *draw(ROWS)] for _ in range(2)]
    if draw(st.booleans()):
        tables = [Version(rows, keys) for rows in tables]
    return *tables, draw(ROWS)


def filled(*tables: Any) -> tuple[Any, ...]:
    zeros: dict[str, Any] = {}
    for row in (row for table in tables for row in table):
        for name, value in row.items():
            if value is not None and name not in zeros:
                zeros[name] = zero(value)
    return tuple(
        [{n: zeros.get(n, "") if v is None else v for n, v in row.items()} for row in table]
        for table in tables
    )


def original(change: str, table: Any, before: Any, target: Any) -> float:
    """The measures as they are defined: every row compared with every other."""
    if change == "removal":
        table, before = before, table
    rows = len(table), len(before)
    table, before, target = filled(table, before, target)
    known = Counter(map(canonical_json, before))
    if change == "update":
        if rows[0] != rows[1]:
            return 0.0
    elif sum(known[canonical_json(row)] for row in table) != rows[1]:
        return 0.0
    new = [row for row in table if canonical_json(row) not in known]
    return rows_similarity(new, target, {}, "toolsandbox")


@pytest.mark.slow
@given(versions(), st.sampled_from(["addition", "removal", "update"]))
@settings(max_examples=500)
def test_the_originals_measures_are_as_defined(drawn: tuple[Any, ...], change: Any) -> None:
    table, before, target = drawn
    measured = compared(change, table, before, target, "toolsandbox")
    found = rows_similarity(*measured, {}, "toolsandbox") if measured else 0.0
    assert found == original(change, table, before, target)


@pytest.mark.slow
@given(versions())
@settings(max_examples=300)
def test_the_rows_beyond_another_table_are_the_difference_of_multisets(
    drawn: tuple[Any, ...],
) -> None:
    table, before, _ = drawn
    keys = [Counter(map(canonical_json, rows)) for rows in (table, before)]
    assert Counter(map(canonical_json, beyond(table, before))) == keys[0] - keys[1]
    assert unchanged(table, before, "clean") == (keys[0] == keys[1])


def test_rows_that_stay_are_not_read() -> None:
    class Opaque(dict[str, Any]):
        def items(self) -> Any:
            raise AssertionError("a row that stays was read")

    stays = [Opaque(id=n) for n in range(3)]
    table, before = Version([*stays, {"id": "new"}]), Version(stays)
    assert list(table.apart(before)) == [{"id": "new"}]


def test_rows_apart_count_as_often_as_they_stand_in_more_places() -> None:
    one, two = {"a": 1}, {"a": 2}
    assert list(Version([one, two, one]).apart(Version([one]))) == [two, one]
    assert list(Version([one]).apart(Version([one, one]))) == []
    assert list(Version([]).apart(Version([one]))) == []


def test_only_rows_that_differ_are_given_keys() -> None:
    before = [{"id": n, "parts": [n, 1.5]} for n in range(200)]
    after = deepcopy([*before[:20], {"id": 20, "parts": [20, True]}, *before[21:150], {"id": 999}])
    keys: dict[Any, Any] = {}
    assert beyond(Version(after, keys), Version(before, keys)) == [after[20], after[-1]]
    assert len(keys) < 60
    left = deepcopy([*before[:50], *before[51:]])
    keys = {}
    assert beyond(Version(before, keys), Version(left, keys)) == [before[50]]
    assert len(keys) == 1
