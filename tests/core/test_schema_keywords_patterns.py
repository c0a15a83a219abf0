"""Patterns of strangers match as JSON Schema means them, and no text makes them hang."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seal.core import Tool, ToolCall
from seal.core.schema_faults import schema_faults
from seal.core.schema_keywords import is_pattern, matches
from seal.core.schemas import usable_schema, validator_of
from seal.core.validation import CallValidator

HANGING = [r"^(a+)+$", r"^(a|a)*$", r"(a*)*b", r"^(\w+\s?)*$", r"^(?=(a+)+$)a{1,3}$", r"(a+)+\1b"]


@pytest.mark.parametrize("pattern", HANGING)
def test_no_pattern_hangs(pattern: str) -> None:
    assert is_pattern(pattern)
    matches(pattern, "a" * 50 + "!")
    matches(pattern, "a" * 200_000 + "!")


@pytest.mark.parametrize(
    ("pattern", "right", "wrong"),
    [
        (r"^\p{L}+$", "Ünal", "a1"),
        (r"^\u00e9t\u{e9}$", "été", "ete"),
        (r"^\\u00e9$", r"\u00e9", "é"),
        (r"^\d+$", "17", "١٧"),
        (r"^a$", "a", "a\n"),
        (r"b", "abc", "ac"),
        (r"^(?!tmp)\w+$", "file", "tmp1"),
        (r"^(\w)\1$", "aa", "ab"),
        (r"^x{1,2000}$", "x" * 1500, "y"),
        (r"^.{0,65535}$", "a" * 2000, "a" * 65_536),
        (r"^(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}$", f"{'1' * 32}-{'2' * 16}", "0" * 32),
        (r"^(?=.)(?:[(){}]\(?a{0,2000}){100}$", "{" * 100, "{" * 99),
        (r"^.$", "\ud800", ""),
    ],
)
def test_patterns_mean_what_the_standard_says(pattern: str, right: str, wrong: str) -> None:
    assert is_pattern(pattern)
    assert matches(pattern, right)
    assert not matches(pattern, wrong)


TOO_LARGE = [
    " (((( a{100}){100}){100}){100})",
    "(?=a)" + "a{1000000}" * 900,
    "(?:(?:a{0000000999,}b){999}?c){2000}",
    r"([[:alpha:](][(?#][)\]]b{1000}){1000}",
    r"(?:\(a{1000}(?#)){1000})+",
    "(?x)(?=a)(a{1 0 0 0}){1 0 0 0}",
]


@pytest.mark.parametrize("pattern", ["(", "[a", "a{2,1}", "*", 3, None, "a" * 10_001, *TOO_LARGE])
def test_what_is_no_pattern_accepts_anything(pattern: object) -> None:
    assert not is_pattern(pattern)
    schema = {"type": "string", "pattern": pattern}
    assert validator_of(usable_schema(schema)).is_valid("anything")
    told = [fault.path for fault in schema_faults({"properties": {"a": schema}})]
    assert told == ["properties.a.pattern"]


WORDS = st.text("ab1 .-", max_size=12)


@given(
    pattern=st.lists(
        st.sampled_from(["a", "b", r"\d", "[ab]", "[^a]", ".", "a+", "b*", "(ab)?", "^", "$", "|"]),
        max_size=6,
    ).map("".join),
    text=WORDS,
)
def test_common_patterns_match_as_python_has_them(pattern: str, text: str) -> None:
    assert matches(pattern, text) == bool(re.search(pattern, text))


def test_names_are_held_to_patterns_without_hanging() -> None:
    name = "a" * 40 + "!"
    schema = {"patternProperties": {r"^(a+)+$": {"type": "integer"}}, "additionalProperties": False}
    faults = list(validator_of(schema).iter_errors({"aa": 1, "aaa": "x", name: 1, "b": 2}))
    assert {fault.validator for fault in faults} == {"type", "additionalProperties"}
    assert f"('{name}', 'b' were unexpected)" in " ".join(fault.message for fault in faults)
    inner = {"patternProperties": {"^a": {"type": "integer"}}, "additionalProperties": {"const": 1}}
    assert validator_of(inner).is_valid({"ab": 7, "b": 1})
    assert not validator_of(inner).is_valid({"ab": 7, "b": 2})
    closed = usable_schema({"patternProperties": {"^(a+)+$": {}}, "unevaluatedProperties": False})
    assert validator_of(closed).is_valid({name: 1})  # jsonschema would ask the pattern itself


def test_a_call_of_a_model_is_checked_at_once() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": HANGING[0]}}}
    validator = CallValidator({"tag": Tool("tag", "tag", "Tags.", schema)})
    fault = validator.check(ToolCall("1", "tag", {"a": "a" * 100_000 + "!"}, tool="tag"))
    assert fault is not None
    assert fault.kind == "invalid_value"
    assert validator.check(ToolCall("1", "tag", {"a": "aaa"}, tool="tag")) is None
