"""The rules of written tools, each broken once; and constraints said and held."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seal.benchmarks.toolscan import (
    Description,
    disagreements,
    faults,
    is_pattern,
    read_draft,
    stated,
    worded,
)
from seal.benchmarks.toolscan.tool_generation.rules import Draft, Fault

ASKED = Description("Search hotels in a city.", "search_hotels")
CITY = {"type": "string", "description": "City or town."}
NIGHTS = {
    "type": "integer",
    "description": "Nights. From 1 to 30. Default: 2.",
    "minimum": 1,
    "maximum": 30,
    "default": 2,
}


def draft(**changes: Any) -> str:
    right = {
        "name": "search_hotels",
        "description": "Search the hotels of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": CITY, "nights": NIGHTS},
            "required": ["city"],
        },
        "examples": [{"city": "Oslo"}, {"city": "Oslo", "nights": 3}],
        "returns": {"type": "object", "properties": {"hotels": {"type": "integer"}}},
    }
    return json.dumps({k: v for k, v in {**right, **changes}.items() if v is not ...})


def of(schema: Any, value: Any = ..., **more: Any) -> str:
    """A draft with one more parameter, `it`."""
    properties = {"city": CITY, "it": schema}
    parameters = {"type": "object", "properties": properties, "required": ["city"], **more}
    example = {"city": "Oslo"} if value is ... else {"city": "Oslo", "it": value}
    return draft(parameters=parameters, examples=[example])


def found(text: str, asked: Description = ASKED, taken: tuple[str, ...] = ()) -> list[Fault]:
    read = read_draft(text)
    return [read] if isinstance(read, Fault) else faults(read, asked, taken)


def test_a_right_draft_has_no_fault() -> None:
    assert found(draft()) == []
    assert found(f"```json\n{draft()}\n```") == []
    assert found(draft(returns=...)) == []


def nested(levels: int) -> dict[str, Any]:
    """A parameter of so many levels."""
    schema: dict[str, Any] = {"type": "string", "description": "The end."}
    for _ in range(levels - 1):
        schema = {"type": "object", "description": "More.", "properties": {"x": schema}}
    return schema


@pytest.mark.parametrize(
    ("text", "rule", "told"),
    [
        ("no", "invalid_json", "not JSON"),
        ("", "invalid_json", "not JSON"),
        ("[" * 100_000, "invalid_json", "not JSON"),
        ("[]", "invalid_json", "expected one JSON object"),
        ('{"name": ' + "[" * 70 + "]" * 70 + "}", "schema", "nested deeper than 64"),
        (draft(examples=...), "fields", "'examples' is missing"),
        (draft(title="x"), "fields", "no field 'title'"),
        (draft(name=7), "fields", "name: expected a text"),
        (draft(returns=[]), "fields", "returns: expected an object"),
        (draft(name="search.hotels"), "name", "no function name"),
        (draft(name="find_hotels"), "name", "must be 'search_hotels'"),
        (draft(description=""), "description", "says nothing"),
        (draft(description="search hotels"), "description", "says nothing"),
        (draft(description="Buys train tickets."), "description", "no word of what was asked"),
        (draft(parameters={"type": "array"}), "schema", "must be 'object'"),
        (draft(parameters={"type": "object", "properties": {}}), "schema", "needs properties"),
        (of(CITY, required=[]), "schema", "nothing is required"),
        (of(CITY, required=["town"]), "schema", "'town' is required, but no property"),
        (of(CITY, required=["city", "city"]), "schema", "names a property twice"),
        (of(CITY, required="city"), "schema", "expected a list of names"),
        (of(CITY, additionalProperties=True), "schema", "additionalProperties"),
        (of({"type": "float", "description": "It."}), "schema", "unknown type 'float'"),
        (of({"type": ["string"], "description": "It."}), "schema", "unknown type"),
        (of({"description": "It."}), "schema", "unknown type None"),
        (of("string"), "schema", "expected a schema"),
        (of({"type": "string", "anyOf": [], "description": "It."}), "schema", "'anyOf' means"),
        (of({"type": "string", "minimum": 1, "description": "It."}), "schema", "'minimum' means"),
        (of({"type": "string"}), "schema", "description says nothing: None"),
        (of({"type": "string", "description": "todo"}), "schema", "description says nothing"),
        (of({"type": "array", "description": "Them."}), "schema", "it.items: expected a schema"),
        (of({"type": "object", "description": "It."}), "schema", "needs properties"),
        (of(nested(6)), "schema", "level 6; at most 5"),
        (of({**CITY, "enum": []}), "schema", "enum cannot be []"),
        (of({**CITY, "enum": ["a", "a"]}), "schema", "enum cannot be"),
        (of({**CITY, "enum": ["a", 1]}), "schema", "the choice 1 is no string"),
        (of({**NIGHTS, "enum": [1, 99]}), "schema", "the choice 99 is no integer"),
        (of({**NIGHTS, "default": 31}), "schema", "the default or example 31 breaks"),
        (of({**NIGHTS, "minimum": 40}), "schema", "minimum 40 is above maximum 30"),
        (of({**NIGHTS, "minimum": True}), "schema", "minimum cannot be True"),
        (of({**CITY, "pattern": "("}), "schema", "pattern cannot be '('"),
        (of({**CITY, "pattern": "^(a+)+$"}), "schema", "pattern cannot be '^(a+)+$'"),
        (of({**CITY, "minLength": -1}), "schema", "minLength cannot be -1"),
        (draft(returns={"type": "object"}), "schema", "returns: an object needs properties"),
        (of({**NIGHTS, "maximum": 31}), "constraints", "states maximum 30, the schema has 31"),
        (of({**NIGHTS, "description": "Nights."}), "constraints", "does not state default 2"),
        (draft(examples=[]), "examples", "at least one example"),
        (draft(examples=["Oslo"]), "examples", "example 0: "),
        (draft(examples=[{}]), "examples", "needs the argument 'city'"),
        (of({**NIGHTS}, 31), "examples", "example 0: Argument 'it'"),
    ],
)
def test_each_rule_is_broken_with_its_reason(text: str, rule: str, told: str) -> None:
    first = found(text)[0]
    assert first.rule == rule
    assert told in first.text


@pytest.mark.parametrize(
    "pattern",
    [
        r"^\d{4}-\d{2}-\d{2}$",
        r"^[A-Z]{2}(-\d{3})*$",
        r"^(foo|bar)$",
        r"^(\d{1,3}\.){3}\d{1,3}$",
        r"^\+?\d+(\.\d+)?$",
        r"\(a+\)+",
        r"([+|)]a)*",
    ],
)
def test_a_pattern_that_is_matched_at_once_may_stand(pattern: str) -> None:
    assert is_pattern(pattern)


@pytest.mark.parametrize(
    "pattern",
    [r"^(a+)+$", r"(a|a)*", r"((a+))*x", r"((a*)b?){12}", r"(?:a*){2,}", r"((a{2,3}){2})*", "("],
)
def test_a_pattern_that_could_hold_up_a_run_is_refused(pattern: str) -> None:
    assert not is_pattern(pattern)


@pytest.mark.parametrize("value", ["NaN", "1e999", '"\\ud800"'])
def test_numbers_and_texts_that_no_file_holds_are_no_json(value: str) -> None:
    text = draft(examples=["PLACE"]).replace('"PLACE"', value)
    assert [fault.rule for fault in found(text)] == ["invalid_json"]


def test_foreign_keywords_are_told_in_order() -> None:
    wrong = {**CITY, **dict.fromkeys(("minimum", "title", "anyOf", "items", "const"), 1)}
    assert [fault.text.split("'")[1] for fault in found(of(wrong))] == [
        *("anyOf", "const", "items", "minimum", "title"),
    ]


def test_a_name_is_given_once_whatever_its_case() -> None:
    (fault,) = found(draft(), taken=("Search_Hotels",))
    assert fault == ("name", "another tool is named 'search_hotels' already")


def test_five_levels_are_deep_enough() -> None:
    assert found(of(nested(5))) == []


def test_every_fault_is_told_at_once() -> None:
    rules = [fault.rule for fault in found(of({**NIGHTS, "maximum": 31}, 99, required=["city"]))]
    assert rules == ["constraints", "examples"]


@pytest.mark.parametrize(
    ("description", "schema", "told"),
    [
        ("At most 100.", {"type": "integer", "maximum": 50}, "states maximum 100"),
        ("How many.", {"type": "integer", "maximum": 50}, "does not state maximum 50"),
        ("At least 1,000.", {"type": "number"}, "states minimum 1000, the schema does not"),
        ("More than 0.", {"type": "number", "minimum": 0}, "does not state minimum 0"),
        ("Up to 5 characters.", {"type": "string", "maxLength": 6}, "maxLength 5"),
        ("1 to 5 items.", {"type": "array", "minItems": 1, "maxItems": 4}, "maxItems 5"),
        ("All different.", {"type": "array"}, "uniqueItems"),
        ("One of: a, b.", {"type": "string", "enum": ["a", "b", "c"]}, "states enum"),
        ("One of: a, b or c.", {"type": "string", "enum": ["a", "b"]}, "states enum"),
        ("One of: a, b.", {"type": "string"}, "states enum a, b, the schema does not"),
        ("Which.", {"type": "string", "enum": ["a_1", "b"]}, "does not name the choice 'a_1'"),
        ("Defaults to 3.", {"type": "integer", "default": 4}, "states default 3"),
        ("Defaults to 3.", {"type": "integer"}, "states default 3"),
        ("Day (YYYY-MM-DD).", {"type": "string"}, "no format or pattern"),
        ("Day.", {"type": "string", "format": "date"}, "does not state the format 'date'"),
        ("Day (YYYY-MM-DD).", {"type": "string", "pattern": r"^\d\d/\d\d$"}, "the pattern is"),
        ("Code.", {"type": "string", "pattern": "^[A-Z]+$"}, "no example that fits"),
        ("Code, such as ab.", {"type": "string", "pattern": "^[A-Z]+$"}, "no example that fits"),
    ],
)
def test_what_is_said_and_not_held_or_held_and_not_said_is_told(
    description: str, schema: dict[str, Any], told: str
) -> None:
    assert told in "; ".join(disagreements(description, schema))


@pytest.mark.parametrize(
    ("description", "schema"),
    [
        (
            "metric: Celsius; imperial: Fahrenheit",
            {"type": "string", "enum": ["metric", "imperial"]},
        ),
        ("One of: 'rock and roll', jazz.", {"type": "string", "enum": ["rock and roll", "jazz"]}),
        ("One of: 1, 2.5.", {"type": "number", "enum": [1, 2.5]}),
        (
            "Greater than 0, below 1.",
            {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        ),
        ("A multiple of 5.", {"type": "integer", "multipleOf": 5}),
        ("From -5 to 0.5.", {"type": "number", "minimum": -5, "maximum": 0.5}),
        ('Language (default: "en").', {"type": "string", "default": "en"}),
        ("The default value is empty.", {"type": "string"}),
        ("Last day, default is the current date.", {"type": "string"}),
        ("Defaults to all languages.", {"type": "array"}),
        ("Defaults to 10 results.", {"type": "integer", "default": 10}),
        ("The default is '7d', the past 7 days.", {"type": "string", "default": "7d"}),
        ("The default is '7d' in words.", {"type": "string", "default": "7d"}),
        (
            "Start, YYYY-MM-DD HH:MM:SS.",
            {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$"},
        ),
        ("Start, as YYYY-MM-DDTHH:MM:SS.", {"type": "string", "format": "date-time"}),
        ("Shown by default.", {"type": "boolean"}),
        ("Open from 09:00 to 17:00 since 2020-01-02.", {"type": "string"}),
        ("One of the guests, 3 to 5 of them.", {"type": "string"}),
        ("Time as HH:MM.", {"type": "string", "pattern": r"^\d\d:\d\d$"}),
        ("Code, e.g. AB-12.", {"type": "string", "pattern": r"^[A-Z]{2}-\d+$"}),
        ("Email address.", {"type": "string", "format": "email"}),
        ("Up to 3 items.", {"type": "array", "maxItems": 3}),
    ],
)
def test_what_agrees_is_let_pass(description: str, schema: dict[str, Any]) -> None:
    assert list(disagreements(description, schema)) == []


def test_choices_of_a_list_may_be_told_where_the_list_is() -> None:
    items = {"type": "string", "enum": ["a", "b"]}
    told = {"type": "array", "description": "Some, one of: a, b. At most 2 items. Default: [].",
            "maxItems": 2, "default": [], "items": items}  # fmt: skip
    assert found(of(told, ["a"])) == []
    assert found(of({**told, "items": {"type": "string"}}))[0].rule == "constraints"


numbers = st.integers(-999, 9999) | st.floats(-99, 99).map(lambda x: round(x, 2))
counts = st.integers(0, 500)


@st.composite
def constrained(draw: Any) -> dict[str, Any]:
    """The constraints of a number, a text or a list."""
    kind = draw(st.sampled_from(["integer", "number", "string", "array"]))
    ends, values = {"string": ("Length", counts), "array": ("Items", counts)}.get(
        kind, ("imum", st.integers(-999, 9999) if kind == "integer" else numbers)
    )
    least, most = sorted((draw(values), draw(values)))
    schema: dict[str, Any] = {"type": kind, f"min{ends}": least, f"max{ends}": most}
    schema = {name: v for name, v in schema.items() if name == "type" or draw(st.booleans())}
    if kind == "string" and draw(st.booleans()):
        word = st.from_regex(r"[a-z]{2,6}(_[a-z]{2,4})?", fullmatch=True)
        schema = {"type": kind, "enum": draw(st.lists(word, min_size=1, unique=True))}
        schema["default"] = schema["enum"][-1]
    elif kind in ("integer", "number") and draw(st.booleans()):
        schema["default"] = least
    return schema


@given(constrained(), st.randoms(use_true_random=False))
def test_constraints_in_words_are_read_as_they_were_meant(schema: Any, random: Any) -> None:
    sentences = worded(schema, random.choice)
    assert list(disagreements(" ".join(["What it is.", *sentences]), schema)) == []
    held = {name for name in schema if name not in ("type",)}
    assert stated(" ".join(sentences), schema["type"]).keys() == held
    for name in held - {"enum", "default"}:
        changed = {**schema, name: schema[name] + 1}
        assert list(disagreements(" ".join(sentences), changed))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["string", "object", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "items", "enum", "required", "a", "default",
                             "description", "minimum", "pattern"]), inner, max_size=4)
    ),
    max_leaves=12,
)  # fmt: skip


@given(json_values, json_values, json_values)
def test_whatever_a_model_writes_is_judged(parameters: Any, examples: Any, returns: Any) -> None:
    text = draft(parameters=parameters, examples=examples, returns=returns)
    for fault in found(text):
        assert fault.rule
        assert fault.text
    read = read_draft(text)
    assert isinstance(read, Draft | Fault)
