"""Schemas of other dialects mean in the standard's words what their sources mean."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seal.core import ToolCall, UsageError
from seal.core.schema_faults import schema_faults
from seal.core.schemas import schema_validator, validator_of
from seal.core.validation import CallValidator
from seal.pools.own_files import benchmark_of
from seal.pools.reading.tool_schemas import standard_schema


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


REFERRED = {**of(a={"$ref": "#/$defs/x", "nullable": True}), "$defs": {"x": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ({"type": "dict", "properties": {"a": {"type": "float"}}}, 1.5, "b"),
        ({"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}, "b", 1),
        (of(a={"type": ["STRING", "NULL"]}), None, 1),
        (of(a={"type": "List[int]", "description": "Numbers."}), [1], ["b"]),
        (
            of(a={"type": "array", "items": [{"type": "string"}, {"type": "integer"}]}),
            ["b", 1],
            [1],
        ),
        (of(a={"items": [{"type": "string"}], "additionalItems": False}), ["b"], ["b", "c"]),
        (of(a={"type": "integer", "minimum": 0, "exclusiveMinimum": True}), 1, 0),
        (of(a={"type": "integer", "maximum": 9, "exclusiveMaximum": False}), 9, 10),
        (of(a={"type": "string", "nullable": True, "enum": ["b"]}), None, "c"),
        (of(a={"type": "string", "x-nullable": True}), None, 1),
        (of(a={"type": "string", "nullable": False}), "b", None),
        (REFERRED, None, "b"),
        (
            {**of(a={"type": "string", "enum": None, "anyOf": None}), "required": None},
            "b",
            1,
        ),
        (of(a={"type": "object", "properties": None, "items": None}), {}, "b"),
        (of(a={"type": "integer", "enum": ["1", "2"]}), 2, "2"),
        (of(a={"type": "boolean", "enum": ["true"]}), True, "true"),
        (of(a={"anyOf": [{"type": "INTEGER"}, {"type": "dict"}]}), {}, "b"),
        (
            of(a=of(type={"type": "string"}, required={"type": "boolean"})),
            {"type": "b"},
            {"type": 1},
        ),
    ],
)
def test_a_dialect_is_read_as_its_source_means_it(
    schema: dict[str, Any], right: Any, wrong: Any
) -> None:
    before = json.dumps(schema)
    standard = standard_schema(schema)
    assert json.dumps(schema) == before
    assert list(schema_faults(standard)) == []
    assert validator_of(standard).is_valid({"a": right})
    assert not validator_of(standard).is_valid({"a": wrong})
    assert standard_schema(standard) == standard


def test_a_property_says_that_it_is_required() -> None:
    marked = of(a={"type": "string", "required": True}, b={"required": False}, c={"type": "string"})
    assert standard_schema({**marked, "required": ["c"]}) == {
        **of(a={"type": "string"}, b={}, c={"type": "string"}),
        "required": ["c", "a"],
    }


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)
KEYWORDS = st.sampled_from(
    ["type", "items", "properties", "required", "enum", "nullable", "minimum", "exclusiveMinimum"]
)
ODD = st.recursive(
    st.dictionaries(KEYWORDS, VALUES, max_size=4),
    lambda inner: st.fixed_dictionaries(
        {"properties": st.dictionaries(st.text(max_size=3), inner)}
    ),
    max_leaves=4,
)


@given(ODD)
def test_any_schema_can_be_read_and_twice_is_as_once(schema: dict[str, Any]) -> None:
    standard = standard_schema(schema)
    assert standard_schema(standard) == standard


def test_one_tool_with_a_faulty_schema_is_left_out_with_its_reason(tmp_path: Path) -> None:
    faulty = {**of(a={"type": "string"}), "required": ["a", "zz"]}
    tools = [{"name": "broken", "parameters": faulty}, {"name": "sound", "parameters": of()}]
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(tools))
    asked = [{"query": "Hello?", "calls": "[]"}, {"query": "Break it.", "calls": "broken"}]
    made, notes = benchmark_of("own", path, asked)
    assert [*made._own.by_id] == ["own/sound"]
    assert notes.dropped == {"malformed_tool": 1, "malformed_record": 1}
    assert notes.malformed[0] == (
        "tool 'broken': parameters.required: 'zz' is no property; declare it, or leave it out"
    )
    path.write_text(json.dumps(tools[:1]))
    with pytest.raises(UsageError, match="'zz' is no property"):
        benchmark_of("own", path, asked)


def test_a_null_of_a_nullable_argument_is_right_in_a_run(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(
        json.dumps([{"name": "find", "parameters": of(a={"type": "STRING", "nullable": True})}])
    )
    made, _ = benchmark_of("own", path, [{"query": "Find it.", "calls": "find(a=None)"}])
    validator = CallValidator(made._own.by_id)
    assert validator.check(ToolCall("1", "find", {"a": None}, tool="own/find")) is None
    assert validator.check(ToolCall("2", "find", {"a": 1}, tool="own/find")) is not None


def test_what_a_name_asks_for_is_asked_as_older_drafts_say_it() -> None:
    old = {"dependencies": {"a": ["b"], "c": {"required": ["d"]}, "e": "f"}}
    schema = standard_schema(old)
    assert schema == {
        "dependentRequired": {"a": ["b"], "e": ["f"]},
        "dependentSchemas": {"c": {"required": ["d"]}},
    }
    refused = ({"a": 1}, {"c": 1}, {"e": 1})
    assert not any(map(schema_validator(schema).is_valid, refused))
    assert schema_validator(schema).is_valid({"a": 1, "b": 2})
    assert standard_schema({"dependencies": 5}) == {"dependencies": 5}
