"""Cells and tables, by both sets of rules."""

from math import sqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import every_case

from seal.core.conditions import Match
from seal.core.table_matching import Column, cell_similarity, compared, rows_similarity, unchanged

Rows = list[dict[str, Any]]

ADD = {"tool": "add", "arguments": {"x": 1, "y": 2.5}}
RULES: list[Match] = ["clean", "toolsandbox"]


def like(
    change: Any,
    now: Rows,
    before: Rows,
    target: Rows,
    match: Match = "clean",
    **columns: Column,
) -> float:
    found = compared(change, now, before, target, match)
    return 0.0 if found is None else rows_similarity(*found, columns, match)


@every_case(
    ("measure", "value", "wanted", "clean", "original"),
    [
        ("exact", "a", "a", 1, 1),
        ("exact", "a", "b", 0, 0),
        ("exact", None, None, 1, 1),
        ("exact", "a", None, 0, 0),
        ("exact", 0.1 + 0.2, 0.3, 1, 0),
        ("exact", "Bern\u00a0West ", "Bern West", 1, 0),
        ("exact", "2031-05-01T10:00Z", "2031-05-01T10:00:00+00:00", 1, 0),
        ("exact", 10**20, 10**20 + 1, 0, 0),
        ("exact", None, "a", 0, None),
        ("exact", 1, True, 0, 1),
        ("exact", 1, 1.0, 1, 1),
        ("close", 1.5, 1.0, 1, 1),
        ("close", 1.6, 1.0, 0, 0),
        ("close", None, 1.0, 0, 0),
        ("close", None, None, 1, 0),
        ("close", "a", "a", 1, 1),
        ("close", True, 1.0, 0, 1),
        ("close", 10**400, 1.5, 0, 0),
        ("close", 1.5, 10**400, 0, 0),
        ("close", 10**400, 10**400, 1, 1),
        ("exact", 10**400, 1.5, 0, 0),
        ("contains", "a cat", "cat", 1, 1),
        ("contains", "a cat", "Cat", 0, 0),
        ("contains", None, "cat", 0, None),
        ("contains", None, None, 1, None),
        ("rouge_l", "a cat", "the dogs", 0, 0),
        ("rouge_l", "big dogs", "big cat", 0.5, 0.5),
        ("rouge_l", "天气", "天气", 1, 0),
        ("rouge_l", None, "x", 0, None),
        ("any", None, "x", 1, 1),
        ("calls", None, [ADD], 0, 0),
    ],
)
def test_a_cell_is_measured(
    measure: Any, value: Any, wanted: Any, clean: float, original: float | None
) -> None:
    column = Column(measure, tolerance=0.5)
    assert cell_similarity(value, wanted, column, "clean") == clean
    assert cell_similarity(value, wanted, column, "toolsandbox") == original


@every_case("match", RULES)
@every_case(
    ("arguments", "right"),
    [
        ({"x": 1}, 1),
        ({}, 1),
        ({"y": 2.6}, 1),
        ({"y": 2.7}, 0),
        ({"x": 1.05}, 0),
        ({"x": "1"}, 0),
        ({"z": None}, 0),
    ],
)
def test_a_recorded_call_has_every_wanted_argument(
    arguments: dict[str, Any], right: float, match: Match
) -> None:
    wanted = [{"tool": "other", "arguments": {}}, {"tool": "add", "arguments": arguments}]
    column = Column("calls", tolerances={"y": 0.101})
    assert cell_similarity([{**ADD, "result": None}], wanted, column, match) == right


@pytest.mark.parametrize("match", RULES)
def test_any_number_is_near_enough_under_an_infinite_tolerance(match: Match) -> None:
    column = Column("calls", tolerances={"x": "inf"})
    wanted = {"tool": "add", "arguments": {"x": -9e99}}
    assert cell_similarity([ADD], wanted, column, match) == 1
    assert cell_similarity([ADD], {**wanted, "arguments": {"x": "-9"}}, column, match) == 0


@pytest.mark.parametrize("match", RULES)
def test_a_number_that_no_float_holds_is_near_under_an_infinite_tolerance_alone(
    match: Match,
) -> None:
    for tolerance, alike in (("inf", 1), (1e300, 0), (10**500, 0)):
        column = Column("close", tolerance)  # type: ignore[arg-type]
        assert cell_similarity(10**400, 0.5, column, match) == alike


@pytest.mark.parametrize("match", RULES)
def test_rows_are_assigned_so_that_the_geometric_mean_is_largest(match: Match) -> None:
    now = [{"t": "alpha beta"}, {"t": "alpha"}]
    target = [{"t": "alpha"}, {"t": "alpha"}]
    found = like("snapshot", now, [], target, match, t=Column("rouge_l"))
    assert found == pytest.approx(sqrt(2 / 3))


@pytest.mark.parametrize("match", RULES)
@pytest.mark.parametrize(
    "now", [[], [{"a": 2}], [{"b": 1}], [{"a": 1}, {"a": 1}]], ids=["none", "else", "other", "two"]
)
def test_a_snapshot_of_other_rows_is_none(now: Rows, match: Match) -> None:
    assert like("snapshot", now, [], [{"a": 1}], match) == 0


def test_a_table_that_should_be_empty_is() -> None:
    assert like("snapshot", [], [], []) == 1
    assert like("snapshot", [{"a": 1}], [], []) == 0


@pytest.mark.parametrize(
    ("row", "clean", "original"),
    [({"a": None, "b": 2}, 0, 1), ({"a": None, "b": 3}, 0, 0), ({"a": None, "b": None}, 0, 0)],
)
def test_an_absent_value_is_no_match_unless_the_original_leaves_it_out(
    row: dict[str, Any], clean: float, original: float
) -> None:
    target = [{"a": 1, "b": 2}]
    assert like("snapshot", [row], [], target, "clean") == clean
    assert like("snapshot", [row], [], target, "toolsandbox") == original


ANN, BOB = {"id": 1, "name": "Ann", "tel": None}, {"id": 2, "name": "Bob", "tel": "7"}


@pytest.mark.parametrize("match", RULES)
def test_an_added_row_is_an_addition_and_seen_from_behind_a_removal(match: Match) -> None:
    target = [{"name": "Bob", "tel": "7"}]
    assert like("addition", [ANN, BOB], [ANN], target, match) == 1
    assert like("removal", [ANN], [ANN, BOB], target, match) == 1
    assert like("addition", [ANN], [ANN], target, match) == 0
    assert like("addition", [BOB], [ANN], target, match) == 0


def test_absent_texts_are_empty_ones_of_the_originals_additions_alone() -> None:
    target = [{"name": "Ann", "tel": ""}]
    assert like("addition", [BOB, ANN], [BOB], target, "toolsandbox") == 1
    assert like("addition", [BOB, ANN], [BOB], target, "clean") == 0
    absent = [{"name": "Ann", "tel": None}]
    assert like("addition", [BOB, ANN], [BOB], absent, "clean") == 1


def test_the_same_row_again_is_an_addition_of_multisets_alone() -> None:
    target = [{"name": "Ann"}]
    assert like("addition", [ANN, ANN], [ANN], target, "clean") == 1
    assert like("addition", [ANN, ANN], [ANN], target, "toolsandbox") == 0
    assert like("addition", [ANN, ANN, BOB], [ANN, ANN], [{"name": "Bob"}], "clean") == 1
    assert like("addition", [ANN, ANN, BOB], [ANN, ANN], [{"name": "Bob"}], "toolsandbox") == 0


@pytest.mark.parametrize("match", RULES)
def test_an_update_changes_a_row_wherever_it_stands(match: Match) -> None:
    now = [BOB, {**ANN, "tel": "8"}]
    assert like("update", now, [ANN, BOB], [{"name": "Ann", "tel": "8"}], match) == 1
    assert like("update", now, [ANN, BOB], [{"name": "Ann", "tel": "9"}], match) == 0
    assert like("update", [*now, ANN], [ANN, BOB], [{"tel": "8"}], match) == 0


def test_another_row_in_the_place_of_one_is_an_update_of_the_original_alone() -> None:
    now = [BOB, {**ANN, "id": 3, "tel": "8"}]
    target = [{"name": "Ann", "tel": "8"}]
    assert like("update", now, [ANN, BOB], target, "toolsandbox") == 1
    assert like("update", now, [ANN, BOB], target, "clean") == 0


def test_rows_in_another_order_are_unchanged_unless_the_original_looks() -> None:
    assert unchanged([ANN, BOB], [BOB, ANN], "clean")
    assert not unchanged([ANN, BOB], [BOB, ANN], "toolsandbox")
    assert not unchanged([ANN, ANN], [ANN, BOB], "clean")
    assert not unchanged([{"a": 1}], [{"a": True}], "clean")


rows = st.lists(
    st.fixed_dictionaries({"id": st.integers(0, 2), "x": st.sampled_from(["a", "b", None])}),
    max_size=4,
)


@given(rows, rows, st.sampled_from(RULES), st.sampled_from(["addition", "update", "removal"]))
def test_a_change_is_a_share_and_what_came_is_wholly_there(
    before: Rows, more: Rows, match: Match, change: str
) -> None:
    assert 0 <= like(change, before + more, before, more, match) <= 1
    if more:
        assert like("addition", before + more, before, more) == 1
        assert like("removal", before, more + before, more) == 1
        assert like("snapshot", more[::-1], [], more) == 1
