"""Keywords of JSON Schema: exact, and bounded whatever the schema of a stranger is."""

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from seal.core.schemas import schema_validator, usable_schema, validator_of
from seal.core.types import Tool, ToolCall
from seal.core.validation import CallValidator

LEVELS = 60
"""Of choices between two references to the next: 2^60 ways to the last."""
SCALARS = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, "1", "a"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=6,
)


def _forked(keyword: str) -> dict[str, Any]:
    choices = {
        f"d{level}": {keyword: [{"$ref": f"#/$defs/d{level + 1}"}] * 2} for level in range(LEVELS)
    }
    last = {f"d{LEVELS}": {"type": "string"}}
    return {"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {**choices, **last}}


@pytest.mark.parametrize(
    ("keyword", "of_text"), [("anyOf", True), ("allOf", True), ("oneOf", False)]
)
def test_references_that_fork_are_asked_once_a_value(keyword: str, of_text: bool) -> None:
    schema = {"type": "object", **_forked(keyword)}
    assert schema_validator(schema).is_valid({"a": "x"}) is of_text
    validator = CallValidator({"f": Tool("f", "f", "", schema)})
    fault = validator.check(ToolCall("1", "f", {"a": 5}, tool="f"))
    assert fault is not None
    assert fault.name == "a"


def test_a_deep_tree_of_choices_is_asked_once_a_part() -> None:
    node = [
        {"type": "object", "properties": {"x": {"$ref": "#/$defs/T"}, "kind": {"const": kind}}}
        for kind in range(4)
    ]
    schema = {"$ref": "#/$defs/T", "$defs": {"T": {"anyOf": [*node, {"type": "string"}]}}}
    right: Any = "leaf"
    wrong: Any = 5
    for _ in range(40):
        right, wrong = {"x": right}, {"x": wrong}
    assert schema_validator(schema).is_valid(right)
    assert not schema_validator(schema).is_valid(wrong)


@pytest.mark.parametrize("kind", ["unevaluatedProperties", "unevaluatedItems"])
def test_what_is_not_evaluated_is_sought_only_where_few_references_fork(kind: str) -> None:
    forked = _forked("anyOf")
    schema = {"$ref": "#/$defs/d0", kind: False, "$defs": forked["$defs"]}
    schema["$defs"][f"d{LEVELS}"] = True
    assert schema_validator(schema).is_valid({"a": [1]})
    few = {"$defs": {"n": {"properties": {"a": {}}, "prefixItems": [{}]}}, kind: False}
    schema = {**few, "anyOf": [{"$ref": "#/$defs/n"}]}
    value: list[Any] = [{"a": 1}, {"b": 1}] if kind == "unevaluatedProperties" else [[1], [1, 2]]
    assert [schema_validator(schema).is_valid(one) for one in value] == [True, False]


def test_a_reference_that_was_asked_refuses_each_place() -> None:
    schema = {"items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "integer"}}}
    value = "x"
    places = [list(error.absolute_path) for error in validator_of(schema).iter_errors([value] * 3)]
    assert places == [[0], [1], [2]]


def test_a_part_with_a_draft_of_its_own_is_asked_like_the_rest() -> None:
    part = {"$schema": "http://json-schema.org/draft-07/schema#", "pattern": "^(a+)+$"}
    validator = schema_validator({"properties": {"a": part}})
    assert not validator.is_valid({"a": "a" * 100_000 + "!"})
    assert validator.is_valid({"a": "aaa"})


@pytest.mark.parametrize(
    ("step", "value", "is_right"),
    [
        (0.1, 0.3, True),
        (0.01, 19.99, True),
        (0.01, 0.335, False),
        (0.01, 1.15, True),
        (2.5, 5 * 10**400, True),
        (2.5, 3, False),
        (3, 10**400, False),
        (1e-300, 1e300, True),
        (3, 9.0, True),
        (0.5, True, True),
    ],
)
def test_multiples_are_those_of_the_digits(step: float, value: float, is_right: bool) -> None:
    assert validator_of({"multipleOf": step}).is_valid(value) is is_right


@given(step=st.integers(1, 500), times=st.integers(-(10**6), 10**6))
def test_each_multiple_of_hundredths_is_one(step: int, times: int) -> None:
    whole = Fraction(step * times, 100)
    assert validator_of({"multipleOf": step / 100}).is_valid(float(whole))


@given(values=st.lists(VALUES, min_size=1, max_size=5), value=VALUES)
def test_equal_values_are_those_of_the_standard(values: list[Any], value: Any) -> None:
    for schema, asked in (
        ({"enum": values}, value),
        ({"const": values[0]}, value),
        ({"uniqueItems": True}, values),
    ):
        wanted = Draft202012Validator(schema).is_valid(asked)
        assert validator_of(schema).is_valid(asked) is wanted, (schema, asked)


def test_long_lists_are_compared_at_once() -> None:
    rows = [{"x": number, "y": str(number)} for number in range(30_000)]
    assert validator_of({"uniqueItems": True}).is_valid(rows)
    assert not validator_of({"uniqueItems": True}).is_valid([*rows, {"y": "0", "x": 0.0}])
    choices = {"items": {"enum": [f"zone {number}" for number in range(3000)]}}
    assert validator_of(choices).is_valid(["zone 2999"] * 60_000)


def test_messages_are_those_of_the_standard() -> None:
    schema = usable_schema({"const": 1, "enum": [1], "multipleOf": 0.5, "uniqueItems": True})
    told = {error.message for error in validator_of(schema).iter_errors(0.3)}
    assert told == {
        "1 was expected",
        "0.3 is not one of [1]",
        "0.3 is not a multiple of 0.5",
    }
    assert json.dumps(schema)
