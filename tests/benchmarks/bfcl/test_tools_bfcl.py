"""Function documents as tools."""

from typing import Any

import pytest
from bfcl_sources import HEIGHT, function
from looped import every_case
from peers.bfcl import text_digest

from seal.benchmarks.bfcl.tools import Functions, json_schema
from seal.core import DataError


def schema_of(described: Any, variables: bool = False) -> Any:
    parameters = {"type": "dict", "properties": {"x": described}}
    schema, words = json_schema(parameters, variables)
    return schema["properties"]["x"], words


@every_case(
    ("word", "kind", "kept"),
    [
        ("dict", "object", False),
        ("float", "number", False),
        ("string", "string", False),
        ("tuple", "array", True),
        ("ArrayList", "array", True),
        ("HashMap", "object", True),
        ("long", "integer", True),
        ("double", "number", True),
        ("char", "string", True),
        ("String", "string", True),
        ("Boolean", "boolean", True),
        ("Bigint", "integer", True),
    ],
)
def test_types_are_json_schemas_and_upstreams_word_is_kept(
    word: str, kind: str, kept: bool
) -> None:
    assert schema_of({"type": word}) == ({"type": kind}, {"x": word} if kept else {})


@pytest.mark.parametrize("word", ["any", "", "IResultSet"])
def test_any_and_unknown_types_take_any_value(word: str) -> None:
    assert schema_of({"type": word}) == ({}, {"x": word})


def test_nested_types_are_converted_too() -> None:
    described = {
        "type": "array",
        "items": {"type": "dict", "properties": {"type": {"type": "tuple"}}, "required": ["type"]},
        "optional": True,
    }
    converted = {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"type": {"type": "array"}},
            "required": ["type"],
        },
    }
    assert schema_of(described) == (converted, {"x[].type": "tuple"})


def test_a_default_of_null_makes_null_valid_but_where_values_are_listed() -> None:
    described, _ = schema_of({"type": "string", "default": None})
    assert described["type"] == ["string", "null"]
    described, _ = schema_of({"type": "string", "default": None, "enum": ["a"]})
    assert described["type"] == "string"


def test_in_java_a_variable_may_stand_for_any_value() -> None:
    assert schema_of({"type": "Array"}, variables=True)[0] == {"type": ["array", "string"]}
    assert schema_of({"type": "String"}, variables=True)[0] == {"type": "string"}
    assert schema_of({"type": "any"}, variables=True)[0] == {}


@pytest.mark.parametrize(
    ("described", "converted"),
    [
        (
            {"type": "array", "items": {"type": "string"}, "enum": ["a", "b"]},
            {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        ),
        ({"type": "array", "enum": ["a"]}, {"type": "array", "items": {"enum": ["a"]}}),
        ({"type": "array", "enum": [["a"]]}, {"type": "array", "enum": [["a"]]}),
        ({"type": "boolean", "enum": ["True", "dontcare"]}, {"type": "boolean", "enum": [True]}),
        ({"type": "integer", "enum": ["1", "2", "any"]}, {"type": "integer", "enum": [1, 2]}),
        ({"type": "integer", "enum": [1, 2]}, {"type": "integer", "enum": [1, 2]}),
        ({"type": "boolean", "enum": ["yes"]}, {"type": "boolean"}),
        ({"type": "string", "enum": ["1"]}, {"type": "string", "enum": ["1"]}),
    ],
)
def test_choices_are_values_of_their_type(described: Any, converted: Any) -> None:
    assert schema_of(described)[0] == converted


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        (None, "parameters: expected an object"),
        ({"properties": []}, r"parameters.properties: expected an object"),
        ({"properties": {}, "required": "x"}, r"parameters.required: expected a list"),
    ],
)
def test_malformed_parameters_are_an_error(parameters: Any, told: str) -> None:
    with pytest.raises(DataError, match=told):
        json_schema(parameters)


def test_a_document_becomes_a_tool() -> None:
    document = {**function("tide.at", ["day"], day="long"), "response": {"type": "dict"}}
    tool = Functions("content").add(document, "java", "f.json")
    assert (tool.id, tool.name) == ("bfcl/java/tide.at", "tide.at")
    assert tool.returns == {"type": "object"}
    assert tool.source == {
        "tool": "tide.at",
        "api": "tide.at",
        "file": "f.json",
        "types": {"day": "long"},
    }


def test_each_different_document_is_a_tool() -> None:
    functions = Functions("content")
    ids = [
        functions.add(function("at", day=kind), "python", file).id
        for kind, file in (("integer", "a"), ("string", "a"), ("integer", "b"))
    ]
    assert ids[0] == ids[2] == "bfcl/python/at"
    assert ids[1].startswith("bfcl/python/at#")
    assert [tool.id for tool in functions] == sorted({*ids})
    assert (functions.table.variants, functions.table.duplicates) == (1, 1)


def test_the_first_document_of_a_name_may_stand_for_all() -> None:
    functions = Functions("name")
    for kind in ("integer", "string"):
        own = functions.add(function("at", day=kind), "python", "f")
        assert (own.id, own.parameters["properties"]["day"]["type"]) == ("bfcl/python/at", kind)
    (tool,) = functions
    assert tool.parameters["properties"]["day"]["type"] == "integer"
    assert functions.set_aside == 1


def test_a_document_that_comes_again_is_known_and_counted() -> None:
    other = {**HEIGHT, "description": "Else."}
    per_content, per_name = Functions("content"), Functions("name")
    first, variant = (per_content.add(document, "python", "f") for document in (HEIGHT, other))
    assert [per_content.add(d, "python", "g") for d in (HEIGHT, other)] == [first, variant]
    assert per_content.table.duplicates == 2
    for document in (HEIGHT, other, HEIGHT, other):
        assert per_name.add(document, "python", "f").parameters == first.parameters
    assert (len(per_name.table), per_name.set_aside, per_name.table.duplicates) == (1, 3, 0)


def test_a_document_nested_too_deep_is_refused() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(300):
        deep = {"type": "array", "items": deep}
    with pytest.raises(DataError, match="nested deeper than"):
        Functions("content").add(function(a=deep), "python", "f")


def test_two_collections_may_have_one_name() -> None:
    functions = Functions("name")
    for collection in ("memory_kv", "memory_vector"):
        functions.add(function("add"), collection, "f", "MemoryAPI")
    assert [tool.id for tool in functions] == ["bfcl/memory_kv/add", "bfcl/memory_vector/add"]


def test_the_digest_of_a_text_leaves_types_and_order_aside() -> None:
    integer, other = function(day="integer", port="string"), function(port="string", day="string")
    assert text_digest(integer) == text_digest(other)
    assert text_digest(integer) != text_digest(function("low", day="integer", port="string"))
