"""JSON Schemas that are odd or broken."""

import copy
import math
import socket

import pytest
from core_strategies import json_values
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from linear import linear
from looped import every_case

from seal.core.schema_faults import meta_validator, schema_faults
from seal.core.schemas import MAX_SCHEMA_DEPTH, is_sound, schema_validator, usable_schema
from seal.core.values import nested_deeper

KEYWORDS = """
type properties required enum items anyOf $ref $defs pattern not additionalProperties minimum x
multipleOf const $id format default patternProperties uniqueItems dependentRequired if then
prefixItems minItems maxLength exclusiveMaximum
"""
TEXTS = """
string integer object array any dict # #/$defs/x #/properties/x http://example.invalid/x.json ([
"""
words = st.sampled_from(KEYWORDS.split())
things = st.sampled_from([*TEXTS.split(), "", None, True, False, 0, -1, 1.5, 10**30])
odd_schemas = st.recursive(
    things | st.dictionaries(words, things, max_size=3),
    lambda inner: st.dictionaries(words, inner, max_size=4) | st.lists(inner, max_size=2),
    max_leaves=12,
)


def accepts(schema, value):
    return schema_validator(schema).is_valid(value)


@every_case(
    "schema",
    [
        {"type": "any"},
        {"type": "dict"},
        {"type": ["string", "float"]},
        {"type": None},
        {"type": {}},
        {"enum": []},
        {"enum": None},
        {"enum": "abc"},
        {"required": True},
        {"required": "x"},
        {"required": None},
        {"required": [1, None]},
        {"properties": None},
        {"properties": ["x"]},
        {"properties": {"x": None}},
        {"properties": {"x": "string"}},
        {"properties": {"x": {"type": "any", "required": True}}},
        {"properties": {"x": [{"type": "string"}]}},
        {"items": [{"type": "string"}]},
        {"anyOf": []},
        {"anyOf": {}},
        {"anyOf": ["string", {"type": "integer"}]},
        {"oneOf": [{"type": "any"}]},
        {"pattern": "(["},
        {"patternProperties": {"([": {}}},
        {"minimum": "0"},
        {"minimum": None},
        {"maxLength": "10"},
        {"exclusiveMinimum": True},
        {"minItems": -1},
        {"maxLength": 1.5},
        {"multipleOf": 0},
        {"additionalProperties": "no"},
        {"$ref": 5},
        {"$ref": "#/$defs/missing"},
        {"$ref": "#/properties/x/default"},
        {"$ref": "other.json"},
        {"$ref": "http://[broken"},
        {"$ref": "#anchor"},
        {"$ref": "#"},
        {"$dynamicRef": "#missing"},
        {"properties": {"x": {"$ref": "#/properties/x"}}},
        {"properties": {"x": {"$ref": "#/properties/y"}, "y": {"$ref": "#/properties/x"}}},
        {"$id": "http://example.invalid/tool.json"},
        {"$id": 5},
        {"$schema": "http://json-schema.org/draft-04/schema#", "id": "x"},
        {"format": "no-such-format"},
        {"format": 5},
        {"dependencies": 5},
        {"unknown": {"type": "any"}},
        {"title": 5, "description": None},
    ],
)
@every_case("value", [{}, {"x": 1}, {"x": "text", "y": None}, "text", 5, [1], None])
def test_a_broken_part_accepts_anything(schema, value):
    assert accepts(schema, value)


@every_case(
    ("schema", "right", "wrong"),
    [
        ({"properties": {"x": {"type": "any"}, "y": {"type": "string"}}}, {"x": 1}, {"y": 1}),
        ({"type": "string", "enum": []}, "x", 5),
        ({"type": "object", "required": ["x", 1]}, {"x": 1}, {}),
        ({"type": "array", "items": {"type": "dict", "enum": [1, 2]}}, [1], [3]),
        ({"anyOf": [{"type": "integer"}, {"type": "string", "pattern": "^a"}]}, "a", "b"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}, "x", 1),
        ({"$ref": "#/$defs/a~1b%20c", "$defs": {"a/b c": {"type": "string"}}}, "x", 1),
        (
            {
                "$id": "http://example.invalid/tree.json",
                "type": "object",
                "properties": {"kids": {"type": "array", "items": {"$ref": "#"}}},
                "additionalProperties": False,
            },
            {"kids": [{"kids": []}]},
            {"kids": [{"kids": [{"x": 1}]}]},
        ),
        ({"const": {"$ref": "x", "type": "any"}}, {"$ref": "x", "type": "any"}, {}),
        ({"properties": {"enum": {"type": "string"}, "$ref": {"type": "string"}}}, {}, {"$ref": 1}),
    ],
)
def test_what_is_sound_beside_it_counts(schema, right, wrong):
    assert accepts(schema, right)
    assert not accepts(schema, wrong)


def test_a_sound_schema_stays_as_it_is():
    schema = {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "City", "default": "Oslo"},
            "unit": {"type": "string", "enum": ["C", "F"]},
            "tags": {"type": "array", "items": {"type": "string", "minLength": 1}, "maxItems": 9},
            "day": {"type": "string", "format": "date", "pattern": "^20"},
            "share": {"type": "number", "minimum": 0, "exclusiveMaximum": 1.5},
            "any": True,
        },
        "required": ["city"],
        "additionalProperties": False,
    }
    given_schema = copy.deepcopy(schema)
    assert usable_schema(schema) == schema
    assert schema == given_schema


@pytest.mark.parametrize("draft", ["http://json-schema.org/draft-07/schema#", "", 7, None])
@pytest.mark.parametrize(
    "kinds", ["string", ["string", "null"], ["string", "string"], [], ["text"], [["null"]], 5, {}]
)
def test_what_is_sound_at_a_glance_is_sound_by_the_standard(kinds, draft):
    schema = {"$schema": draft, "properties": {"x": {"type": kinds}}}
    assert is_sound(schema) is meta_validator().is_valid(schema)


@pytest.mark.parametrize("choice", ["anyOf", "oneOf", "allOf", "prefixItems"])
def test_a_schema_of_thousands_of_choices_is_read_in_linear_time(choice):
    def read(choices):
        parts = [{"type": "string", "const": str(n)} for n in range(choices)]
        schema = {"type": "object", "properties": {"id": {choice: parts}}}
        assert [*schema_faults(schema)] == []
        assert usable_schema(schema) == schema

    linear(read, 3_000)


@pytest.mark.parametrize(
    "odd",
    [{"anyOf": []}, {"oneOf": {}}, {"allOf": [5]}, {"uniqueItems": 1}, {"anyOf": [{"not": 5}]}],
)
def test_choices_that_are_no_schemas_are_found(odd):
    schema = {"type": "object", "properties": {"id": odd}}
    assert [*schema_faults(schema)]
    assert usable_schema(schema) != schema


def test_the_given_schema_is_not_changed():
    schema = {"type": "any", "properties": {"x": {"enum": []}}}
    before = copy.deepcopy(schema)
    assert usable_schema(schema) == {"properties": {"x": {}}}
    assert schema == before


def test_nothing_is_fetched(monkeypatch):
    def refuse(*_args, **_options):
        raise AssertionError("a schema opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    for reference in ("http://127.0.0.1:9/x", "https://example.invalid/s.json#/a", "file:///etc/x"):
        assert accepts({"properties": {"x": {"$ref": reference}}}, {"x": 1})


@every_case("levels", [MAX_SCHEMA_DEPTH + 1, 100, 300, 5000])
@every_case(
    ("wrap", "adds"),
    [
        (lambda s: {"items": s}, 1),
        (lambda s: {"properties": {"x": s}}, 2),
        (lambda s: {"allOf": [s]}, 2),
    ],
)
def test_a_schema_nested_too_deep_accepts_anything(levels, wrap, adds):
    schema = {"type": "string", "minLength": 1}
    for _ in range(math.ceil((levels - 1) / adds)):
        schema = wrap(schema)
    assert nested_deeper(schema, levels - 1)
    assert usable_schema(schema) == {}
    assert accepts(schema, {"x": {"x": [1]}})


def test_a_schema_as_deep_as_is_allowed_counts():
    schema = {"type": "string", "minLength": 1}
    for _ in range(MAX_SCHEMA_DEPTH - 1):
        schema = {"not": schema}
    assert usable_schema(schema) == schema
    assert accepts(schema, "x") == (MAX_SCHEMA_DEPTH % 2 == 1)
    assert accepts(schema, 5) == (MAX_SCHEMA_DEPTH % 2 == 0)


@pytest.mark.parametrize("around", ["not", "if", "then", "else"])
def test_a_reference_back_for_the_same_value_is_left_out(around):
    assert usable_schema({around: {"$ref": "#"}}) == {around: {}}


@pytest.mark.parametrize("around", ["allOf", "anyOf", "oneOf"])
def test_a_choice_that_leads_back_is_left_out(around):
    schema = {"$defs": {"a": {around: [{"$ref": "#/$defs/b"}]}, "b": {"$ref": "#/$defs/a"}}}
    assert usable_schema(schema) == {"$defs": {"a": {around: [{}]}, "b": {"$ref": "#/$defs/a"}}}
    assert accepts({**schema, "$ref": "#/$defs/a"}, 5)


def test_a_reference_beside_a_loop_counts():
    schema = {
        "$defs": {"loop": {"$ref": "#/$defs/loop"}, "text": {"type": "string"}},
        "allOf": [{"$ref": "#/$defs/loop"}, {"$ref": "#/$defs/text"}],
    }
    assert accepts(schema, "x")
    assert not accepts(schema, 5)


def test_what_depends_on_a_name_may_lead_back_too():
    assert accepts({"dependentSchemas": {"x": {"$ref": "#"}}}, {"x": 1})


def test_a_broken_part_that_stands_twice_is_one_object_and_mended_twice():
    part = {"oneOf": None, "required": [1, "x"]}

    assert usable_schema({"properties": {"a": part, "b": part}}) == {
        "properties": {"a": {"required": ["x"]}, "b": {"required": ["x"]}}
    }
    assert part == {"oneOf": None, "required": [1, "x"]}


@given(st.dictionaries(words, odd_schemas, max_size=4), json_values(max_leaves=4))
def test_no_schema_fails_on_any_value(schema, value):
    for fault in schema_validator(schema).iter_errors(value):
        assert fault.message


@given(st.dictionaries(words, odd_schemas, max_size=4))
def test_what_is_left_is_what_the_standard_allows(schema):
    standard = Draft202012Validator(Draft202012Validator.META_SCHEMA)
    assert list(standard.iter_errors(usable_schema(schema))) == []


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ({"enum": []}, "enum: no value is right: it is empty; name some"),
        ({"type": "string", "enum": [True, False]}, "none of [True, False] is of type 'string'"),
        ({"type": "integer", "enum": ["a"]}, "none of ['a'] is of type 'integer'"),
        ({"type": "integer", "minimum": 5, "maximum": 3}, "minimum: no value is right: 5 is above"),
        ({"type": "array", "minItems": 2, "maxItems": 1}, "minItems: no value is right"),
    ],
)
def test_a_part_that_no_value_meets_is_told(part, told):
    (found,) = schema_faults({"properties": {"a": part}})
    assert told in f"{found.path}: {found.text}"


@pytest.mark.parametrize(
    "part",
    [
        {"type": "integer", "enum": [1.0]},
        {"type": ["string", "null"], "enum": [None]},
        {"type": "string", "minimum": 5, "maximum": 3},
        {"type": "integer", "minimum": 3, "maximum": 3},
    ],
)
def test_a_part_that_some_value_meets_is_none(part):
    assert not list(schema_faults({"properties": {"a": part}}))
