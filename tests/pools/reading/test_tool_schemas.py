"""Types in Python's words as JSON Schema, defaults typed, and gold calls checked against both."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import every_case

from seal.core import DataError, Tool, ToolCall
from seal.core.schemas import schema_validator, surely_accepts, usable_schema
from seal.core.validation import CallValidator
from seal.pools.own_benchmark import GoldCheck, admits
from seal.pools.reading.tool_schemas import (
    literal,
    parameters_schema,
    python_type,
    typed,
)

INTEGER, STRING = {"type": "integer"}, {"type": "string"}
TYPES = [
    ("str", STRING),
    ("int, optional", INTEGER),
    ("float", {"type": "number"}),
    ("bool", {"type": "boolean"}),
    ("list", {"type": "array", "items": {}}),
    ("dict", {"type": "object"}),
    ("Any", {}),
    ("List[int]", {"type": "array", "items": INTEGER}),
    ("typing.List[List[str]]", {"type": "array", "items": {"type": "array", "items": STRING}}),
    ("Set[str]", {"type": "array", "items": STRING}),
    ("Dict[str, Any]", {"type": "object"}),
    ("Dict[str, int]", {"type": "object", "additionalProperties": INTEGER}),
    ("Optional[int]", {"anyOf": [INTEGER, {"type": "null"}]}),
    ("int | None", {"anyOf": [INTEGER, {"type": "null"}]}),
    ("Union[int, str]", {"anyOf": [INTEGER, STRING]}),
    ("Union[int, Any]", {}),
    ("Tuple[int, int]", {"type": "array", "items": INTEGER, "minItems": 2, "maxItems": 2}),
    ("Tuple[int, ...]", {"type": "array", "items": INTEGER}),
    ("Callable[[float], float]", STRING),
    ("Literal['a', 2]", {"enum": ["a", 2]}),
    ("np.ndarray", {"type": "array", "items": {}}),
]


@every_case(("word", "schema"), TYPES)
def test_a_type_becomes_a_schema(word: str, schema: dict[str, Any]) -> None:
    found = python_type(word)
    assert found.schema == schema
    assert found.known
    assert usable_schema(schema) == schema


@pytest.mark.parametrize(
    ("word", "optional"),
    [
        ("str, optional", True),
        ("List[int], Optional", True),
        ("str (optional)", True),
        ("Optional[str]", True),
        ("str", False),
        ("Dict[str, int]", False),
        ("int, default: 5", False),
    ],
)
def test_a_type_says_whether_the_argument_may_be_left_out(word: str, optional: bool) -> None:
    assert python_type(word).optional is optional


@given(st.text(alphabet="intsrLDUO[](), |'\"optional.", max_size=40) | st.text(max_size=20))
def test_any_text_is_a_type_with_a_usable_schema(word: str) -> None:
    schema = python_type(word).schema
    assert usable_schema(schema) == schema


def test_an_unknown_type_takes_anything_and_is_counted() -> None:
    made = parameters_schema({"a": {"type": "Quaternion"}, "b": {"type": "List[Quaternion]"}})
    assert made.schema["properties"] == {"a": {}, "b": {"type": "array", "items": {}}}
    assert made.counts == {"unknown_types": 2}


@every_case(
    ("word", "value", "expected"),
    [
        ("int", "250", 250),
        ("int", 0.7, None),
        ("int", "static", None),
        ("float", "0.5", 0.5),
        ("bool", "true", True),
        ("bool", "False", False),
        ("str", 5, "5"),
        ("str", "5", "5"),
        ("str", True, None),
        ("List[int]", "[1, 2]", [1, 2]),
        ("List[str]", "['a']", ["a"]),
        ("List[int]", "static", None),
        ("Dict[str, int]", "{'a': 1}", {"a": 1}),
        ("Union[int, str]", "5", "5"),
    ],
)
def test_a_default_is_typed_or_left_out(word: str, value: Any, expected: Any) -> None:
    found = typed(word, value)
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("described", "required"),
    [
        ({"type": "str"}, True),
        ({"type": "str", "default": ""}, True),
        ({"type": "str", "default": None}, True),
        ({"type": "str", "default": "a"}, False),
        ({"type": "List[int]", "default": "static"}, False),
        ({"type": "str, optional"}, False),
        ({"type": "str, optional", "default": ""}, False),
    ],
)
def test_required_is_what_is_neither_optional_nor_has_a_default(
    described: dict[str, Any], required: bool
) -> None:
    assert parameters_schema({"a": described}).schema["required"] == ["a"] * required


def test_a_json_schema_is_taken_as_it_is() -> None:
    schema = {"type": "dict", "properties": {"a": INTEGER}, "required": ["a"]}
    assert parameters_schema(schema).schema == {
        **schema,
        "type": "object",
        "additionalProperties": False,
    }
    named = {"properties": {"type": "str"}, "type": {"type": "str"}}
    assert sorted(parameters_schema(named).schema["properties"]) == ["properties", "type"]


@pytest.mark.parametrize("parameters", [[1], "a", {"a": "str"}])
def test_other_parameters_are_refused(parameters: Any) -> None:
    with pytest.raises(DataError, match="expected an object"):
        parameters_schema(parameters)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, null]}', {"a": [1, None]}),
        ("{'a': (1, True)}", {"a": [1, True]}),
        (r"{'a': '\d'}", {"a": r"\d"}),
        ("open('x')", None),
        ("{1, 2}", None),
        ("{'a': ", None),
    ],
)
def test_a_literal_is_read_and_nothing_is_evaluated(text: str, value: Any) -> None:
    assert literal(text) == value


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0, "a", "1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.just("a"), inner),
    max_leaves=5,
)
WORDS = st.sampled_from([word for word, _ in TYPES] + ["str, optional", "Quaternion"])


@given(
    st.dictionaries(st.sampled_from("abc"), WORDS, max_size=3),
    st.dictionaries(st.sampled_from("abcd"), VALUES, max_size=3),
)
def test_what_is_accepted_at_a_glance_is_what_the_validator_accepts(
    words: dict[str, str], arguments: dict[str, Any]
) -> None:
    schema = parameters_schema({name: {"type": word} for name, word in words.items()}).schema
    tools = {"t": Tool("t", "t", parameters=schema)}
    error = CallValidator(tools).check(ToolCall("0", "t", arguments, tool="t"))
    assert not (surely_accepts(schema, arguments) and error)
    assert GoldCheck(tools).fault("t", arguments) == (error.kind if error else None)


KINDS = st.sampled_from(
    ["string", "integer", "number", "boolean", "array", "object", "null", "any"]
)
SCHEMAS = st.recursive(
    st.fixed_dictionaries(
        {},
        optional={
            "type": KINDS | st.lists(KINDS, max_size=2),
            "enum": st.lists(st.sampled_from(["a", "", 1, True, None]), max_size=3),
            "description": st.just("what it is"),
            "format": st.just("date"),
        },
    ),
    lambda inner: st.fixed_dictionaries(
        {"type": st.sampled_from(["array", "object"])},
        optional={
            "items": inner,
            "properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            "required": st.lists(st.sampled_from("ab"), max_size=2),
            "additionalProperties": st.booleans() | inner,
        },
    ),
    max_leaves=5,
)
VALUES = st.recursive(
    st.sampled_from(["a", "", "b", 1, 1.0, 2.5, True, None]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2)
    ),
    max_leaves=5,
)


@given(
    st.dictionaries(st.sampled_from("ab"), SCHEMAS, max_size=2),
    st.fixed_dictionaries(
        {},
        optional={
            "required": st.lists(st.sampled_from("abc"), max_size=2),
            "additionalProperties": st.booleans(),
            "description": st.just("what they are"),
        },
    ),
    st.dictionaries(st.sampled_from("abc"), VALUES, max_size=2),
)
def test_whatever_the_schema_a_call_is_judged_as_the_validator_does(
    properties: dict[str, Any], further: dict[str, Any], arguments: dict[str, Any]
) -> None:
    schema = {"type": "object", "properties": properties, **further}
    tools = {"t": Tool("t", "t", parameters=schema)}
    error = CallValidator(tools).check(ToolCall("0", "t", arguments, tool="t"))
    assert GoldCheck(tools).fault("t", arguments) == (error.kind if error else None)


@given(SCHEMAS, VALUES)
def test_a_schema_admits_what_a_validator_takes(schema: dict[str, Any], value: Any) -> None:
    assert admits(schema, value) == schema_validator(schema).is_valid(value)


def test_deep_arguments_are_the_validators_to_refuse() -> None:
    deep: Any = 1
    for _ in range(60):
        deep = [deep]
    schema = parameters_schema({"a": {"type": "list"}}).schema
    assert GoldCheck({"t": Tool("t", "t", parameters=schema)}).fault("t", {"a": deep}) == (
        "invalid_value"
    )
