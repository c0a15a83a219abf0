"""Defaults that their own schema refuses, and null, which may stand for what is left out."""

from typing import Any

import pytest

from seal.core import Tool, ToolCall
from seal.core.schema_faults import default_faults, schema_faults
from seal.core.validation import CallValidator

OPTIONS = {"type": "object", "properties": {"depth": {"type": "integer", "default": 3}}}


def told(**properties: Any) -> list[str]:
    schema = {"type": "object", "properties": properties, "$defs": {"Options": OPTIONS}}
    found = list(default_faults(schema))
    assert list(schema_faults(schema)) == found
    return [fault.path for fault in found]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "string"}, "default": None},
        {"type": "number", "default": 3},
        {"$ref": "#/$defs/Options", "default": {"depth": 4}},
        {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        {"enum": ["a", "b"], "default": "b"},
        {"default": {"whatever": 1}},
        {"type": "object", "properties": {"default": {"type": "string"}}},
    ],
)
def test_a_default_that_the_schema_takes_is_no_fault(schema: Any) -> None:
    assert told(a=schema) == []


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"type": "integer", "default": "three"}, "default"),
        ({"type": "integer", "default": True}, "default"),
        ({"$ref": "#/$defs/Options", "default": {"depth": "deep"}}, "default"),
        ({"enum": ["a", "b"], "default": "c"}, "default"),
        ({"type": "array", "items": {"type": "string", "default": 1}}, "items.default"),
        (
            {"type": "object", "properties": {"x": {"minimum": 2, "default": 1}}},
            "properties.x.default",
        ),
        ({"anyOf": [{"type": "string", "default": 5}, {"type": "null"}]}, "anyOf.0.default"),
    ],
)
def test_a_default_that_the_schema_refuses_is_told_by_its_place(schema: Any, path: str) -> None:
    assert told(a=schema) == [f"properties.a.{path}"]


def test_the_fault_names_what_was_expected_and_the_repair() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "default": "three"}}}
    (fault,) = default_faults(schema)
    assert fault.text == "expected type 'integer', got 'three'; mend the default, or leave it out"


LIST = {"type": "array", "items": {"type": "string"}, "default": None}
SEARCH = Tool(
    "s/search",
    "search",
    parameters={
        "type": "object",
        "properties": {
            "q": {"type": "string"},
            "teams": LIST,
            "page": {"type": "object", "properties": {"after": LIST}},
            "options": {"$ref": "#/$defs/Options", "default": None},
        },
        "required": ["q"],
        "$defs": {"Options": OPTIONS},
    },
)


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ({"q": "x", "teams": None}, None),
        ({"q": "x", "page": {"after": None}}, None),
        ({"q": "x", "options": None}, None),
        ({"q": None}, "q"),
        ({"q": "x", "page": None}, "page"),
        ({"q": "x", "teams": [None]}, "teams.0"),
        ({"q": "x", "options": {"depth": None}}, "options.depth"),
    ],
)
def test_null_is_right_where_the_tool_declares_it_as_the_default(
    arguments: dict[str, Any], wrong: str | None
) -> None:
    call = ToolCall("call_0", "search", arguments, tool=SEARCH.id)
    error = CallValidator({SEARCH.id: SEARCH}).check(call)
    assert (None if error is None else error.name) == wrong


@pytest.mark.parametrize(
    ("reference", "is_fault"),
    [("#/$defs/Options", False), ("#/$defs/none", True), ("#/properties/a", True), ("#", False)],
)
def test_a_reference_that_names_no_schema_or_itself_is_a_fault(
    reference: str, is_fault: bool
) -> None:
    schema = {"properties": {"a": {"$ref": reference}}, "$defs": {"Options": OPTIONS}}
    found = [fault.path for fault in schema_faults(schema)]
    assert found == ["properties.a.$ref"] * is_fault
