"""Values that are one value to whoever holds a call against gold, and those that are not."""

import unicodedata
from decimal import Decimal
from typing import Any

import pytest
from core_strategies import json_values, numbers, texts, wild_values
from hypothesis import given
from hypothesis import strategies as st
from linear import linear

from seal.core.values import alike, canonical_json, equal, is_same, plain_text

NEAR = 1e-10
"""Well within the tolerance, relative to a value."""
SPACES = "\t\u00a0\u1680\u2000\u2003\u2009\u202f\u205f\u3000"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (0.1 + 0.2, 0.3),
        (1, 1.0),
        (3, 3.0000000000000004),
        (1e300, 1e300 * (1 + NEAR)),
        (10**21, 1e21),
        ("Bern\u00a0West", "Bern West"),
        ("  Bern\n", "Bern"),
        ("caf\u00e9", "cafe\u0301"),
        ("2031-05-01T10:00:00Z", "2031-05-01T10:00:00+00:00"),
        ("2031-05-01T10:00:00Z", "2031-05-01T12:00+02:00"),
        ("2031-05-01T23:30:00-0200", "2031-05-02 01:30:00.000Z"),
        ("2031-05-01T10:00", "2031-05-01 10:00:00"),
        ("20310501T100000Z", "2031-05-01T12:00:00+02:00"),
        ("20310501T1000", "2031-05-01T10:00"),
        ("Bern\tWest", "Bern\u3000West"),
        ({"at": ["2031-05-01T10:00Z"]}, {"at": ["2031-05-01T10:00:00z"]}),
        ([1, (2, 3)], [1.0, [2, 3]]),
    ],
)
def test_what_means_the_same_is_alike(left: Any, right: Any) -> None:
    assert alike(left, right) and alike(right, left)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (0.3, 0.3001),
        (0.0, 1e-300),
        (10**20, 10**20 + 1),
        (123456789012345678901, 123456789012345678909),
        (12345678901, 12345678902.0),
        (123456789012345678901, float(123456789012345678901)),
        (10**400, 0.5),
        (True, 1),
        (None, ""),
        ("7", 7),
        ("Bern", "bern"),
        ("a  b", "a b"),
        ("a\nb", "a b"),
        ("2031-05-01T10:00:00", "2031-05-01T10:00:00Z"),
        ("2031-05-01", "2031-05-01T00:00:00"),
        ("20310501", "2031-05-01"),
        ("20311301T100000Z", "20311301T1000Z"),
        ("2031-02-30T10:00Z", "2031-02-30T10:00:00Z"),
        ("2031-05-01T25:00Z", "2031-05-02T01:00Z"),
        ({"a": 1}, {"a": 1, "b": None}),
        ([1, 2], [2, 1]),
        ({}, []),
    ],
)
def test_what_means_something_else_is_not_alike(left: Any, right: Any) -> None:
    assert not alike(left, right) and not alike(right, left)


@given(json_values())
def test_a_value_is_alike_to_itself_and_to_what_is_equal(value: Any) -> None:
    assert alike(value, value)


@given(wild_values, wild_values)
def test_the_relation_is_symmetric_and_fails_at_no_value(left: Any, right: Any) -> None:
    assert alike(left, left) and alike(left, right) is alike(right, left)


@given(json_values(), json_values())
def test_equal_values_are_alike(left: Any, right: Any) -> None:
    if equal(left, right):
        assert alike(left, right)


blanks = st.text(st.sampled_from(SPACES + " \t\n"), max_size=3)
exact = json_values(st.one_of(st.none(), st.booleans(), st.integers(), texts))


@given(st.lists(exact, min_size=3, max_size=3))
def test_without_fractions_the_relation_is_transitive(values: list[Any]) -> None:
    first, second, third = values
    if alike(first, second) and alike(second, third):
        assert alike(first, third)


@given(texts, blanks, blanks)
def test_texts_are_compared_without_outer_blanks(text: str, before: str, after: str) -> None:
    assert alike(text, before + text + after)
    assert plain_text(text) == plain_text(unicodedata.normalize("NFD", text))


@given(numbers, st.floats(-NEAR, NEAR))
def test_floats_are_compared_within_the_tolerance(number: float, part: float) -> None:
    moved = float(number) * (1 + part)
    if abs(float(number)) > 1e-300 and abs(moved) < 1e308:
        assert alike(float(number), moved)


@given(st.integers(), st.integers())
def test_integers_are_exact(left: int, right: int) -> None:
    assert alike(left, right) is (left == right)


def test_values_that_hold_themselves_come_to_an_end() -> None:
    left: list[Any] = [1]
    right: list[Any] = [1]
    left.append(left)
    right.append(right)
    assert alike(left, right)
    assert not alike([left, 2], [right, 3])


def nested(levels: int, end: Any) -> Any:
    for _ in range(levels):
        end = {"a": [end]}
    return end


def doubled(levels: int, end: Any) -> Any:
    for _ in range(levels):
        end = [end, end]
    return end


@pytest.mark.parametrize(
    "made",
    [
        lambda size: nested(size, 0.5),
        lambda size: doubled(size // 1_600, "x"),
        lambda size: "a" + "\u0301\u0316" * size,
        lambda size: "\u0f73" * size,
        lambda size: "\u00a0" * (5 * size) + "x",
        lambda size: "2031-05-01T10:00:00." + "0" * (5 * size) + "Z",
        lambda size: {f"caf\u00e9{number}": number for number in range(size // 2)},
    ],
    ids=["deep", "shared", "marks", "hidden marks", "spaces", "digits", "names"],
)
def test_hostile_values_take_linear_time(made: Any) -> None:
    assert alike(made(100_000), made(100_000))
    linear(lambda size: alike(made(size), made(size)), 100_000)


@pytest.mark.parametrize("text", ["a" + "\u0301\u0316\u0f73" * 600, "o\u0344" * 900, "é" * 2000])
def test_long_runs_of_marks_have_the_canonical_form_of_unicode(text: str) -> None:
    wanted = unicodedata.normalize("NFC", text)
    assert canonical_json(text).decode() == f'"{wanted}"'


@given(json_values(), json_values())
def test_values_that_are_the_same_at_once_are_equal(value: Any, other: Any) -> None:
    assert is_same(value, value)
    assert not is_same(value, other) or equal(value, other)


@pytest.mark.parametrize("other", [1.0, True, Decimal(1), "1", None])
def test_one_is_the_same_as_nothing_else(other: Any) -> None:
    assert not is_same({"a": [1]}, {"a": [other]}) and not is_same({"a": [other]}, {"a": [1]})
