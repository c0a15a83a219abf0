"""JSON text of whatever was said."""

import json
import re
from dataclasses import dataclass

import orjson
import pytest
from core_strategies import json_values, texts, wild_values
from hypothesis import given
from hypothesis import strategies as st
from looped import every_case

from seal.core.values import (
    MAX_DEPTH,
    TOO_DEEP,
    equal,
    exact_json,
    json_bytes,
    json_text,
    json_value,
    loses_number,
    nested_deeper,
    toml_value,
    well_formed,
)


@dataclass(frozen=True)
class Pair:
    left: object
    right: object = None


def nested(levels, end=1):
    for _ in range(levels):
        end = [end]
    return end


@every_case(
    ("value", "text"),
    [
        ({"b": 1, "a": [1.5, None, True, "é"]}, '{"b":1,"a":[1.5,null,true,"é"]}'),
        ("a\ud800b", '"a\ufffdb"'),
        ("\ud83d\ude00", '"😀"'),
        ({"\udc00": "天"}, '{"\ufffd":"天"}'),
        (2**64 - 1, "18446744073709551615"),
        (2**64, str(2**64)),
        (-(2**63) - 1, str(-(2**63) - 1)),
        ([10**400, -(10**5000)], f"[{10**400},null]"),
        ([float("nan"), float("inf")], "[null,null]"),
        ({1: (2, 3), None: 4}, '{"1":[2,3],"None":4}'),
        (
            Pair("\ud800", Pair(10**30)),
            f'{{"left":"\ufffd","right":{{"left":{10**30},"right":null}}}}',
        ),
    ],
)
def test_what_json_cannot_hold_becomes_the_nearest_that_it_can(value, text):
    assert json_value(json_text(value)) == json_value(text)
    assert json_bytes(value).decode() == json_text(value)


@pytest.mark.parametrize("wrap", [nested, lambda n: Pair(nested(n - 1)), lambda n: maps(n)])
def test_what_is_nested_too_deep_is_left_out_from_there(wrap):
    text = json_text(wrap(1000))
    assert TOO_DEEP in text
    assert str(MAX_DEPTH) in TOO_DEEP
    assert orjson.loads(text)
    assert len(re.findall(r"[\[{]", text.replace(TOO_DEEP, ""))) == MAX_DEPTH


def test_what_lies_beside_is_kept():
    assert orjson.loads(json_bytes({"deep": nested(1000), "city": "Oslo"}))["city"] == "Oslo"


def test_depth_that_a_line_holds_is_kept():
    assert orjson.loads(json_bytes(nested(MAX_DEPTH))) == nested(MAX_DEPTH)


def test_a_list_that_holds_itself_ends():
    loop = []
    loop.append(loop)
    assert TOO_DEEP in json_text(loop)


@pytest.mark.parametrize("value", [{1, 2}, b"x", object(), [10**30, object()], Pair])
def test_what_is_no_json_at_all_is_a_mistake(value):
    with pytest.raises(TypeError):
        json_bytes(value)


@pytest.mark.parametrize(
    ("value", "levels"),
    [("x", 0), ([], 1), ({}, 1), ((1, 2), 1), ({"a": [1, {"b": 2}], "c": 3}, 3)],
)
def test_the_depth_of_a_value_is_known(value, levels):
    assert not nested_deeper(value, levels)
    assert levels == 0 or nested_deeper(value, levels - 1)
    assert nested_deeper([value], levels)


@given(texts)
def test_a_text_that_utf8_holds_stays(text):
    assert well_formed(text) == text


@given(st.text(st.characters(), max_size=20) | st.text("\ud83d\ude00\udfffa天", max_size=9))
def test_any_text_becomes_one_that_utf8_holds(text):
    formed = well_formed(text)
    formed.encode()
    assert well_formed(formed) == formed
    assert len(formed) <= len(text)


@given(json_values())
def test_what_a_line_holds_is_written_exactly(value):
    assert equal(json.loads(json_text(value)), value)


@given(wild_values)
def test_whatever_is_written_stays_as_it_is_from_then_on(value):
    written = json_bytes(value)
    assert json_bytes(json_value(written)) == written


def maps(levels):
    value = 1
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("value", "lost"),
    [
        (float("nan"), True),
        (Pair((1, {"a": float("inf")})), True),
        (-(10**400), False),
        ([10**5000], True),
        (2**70, False),
        ([None, True, "nan", Pair(1.5)], False),
    ],
)
def test_a_number_that_is_written_as_null_is_found(value, lost):
    assert loses_number(value) is lost


def looped() -> dict[str, object]:
    found: dict[str, object] = {}
    found |= {"a": found, "b": [found]}
    return found


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ([1.0, float("nan")], "the number nan"),
        ({"a": float("-inf")}, "the number -inf"),
        ([None, 10**5000], "a whole number of more than 4,300 digits"),
        (looped(), "a list or map that holds itself"),
        (nested(300), "lists or maps nested deeper than 200 levels"),
    ],
)
def test_what_json_would_change_is_refused(value: object, told: str) -> None:
    with pytest.raises(ValueError, match=f"{told}, which JSON cannot hold"):
        exact_json(value)


@pytest.mark.parametrize(
    "value", [None, 2**64 - 1, -(2**63), 10**60, 0.1, {"a": [True, "é"]}, nested(150)]
)
def test_what_json_holds_is_given_back_as_it_is(value: object) -> None:
    assert exact_json(value) == value


def test_what_is_no_json_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        exact_json({"a": {1, 2}})


def test_a_byte_order_mark_before_json_is_left_out():
    for text in ('\ufeff{"a": 1}', "\ufeff[99999999999999999999]"):
        assert json_value(text) == json_value(text.encode()) == json.loads(text[1:])


@pytest.mark.parametrize("line", ["a{parts} = 1\n", "[a{parts}]\n", "a = {{a{parts} = 1}}\n"])
def test_a_key_of_20_000_parts_is_refused_before_it_is_read(line):
    with pytest.raises(ValueError, match="a key has more than 500 parts"):
        toml_value(line.format(parts=".a" * 20_000).encode())
    for text in ("." * 20_000, "One = 1. It is so. " * 2_000, "v1.2 " * 2_000):
        assert toml_value(f"a.b = '{text}'".encode()) == {"a": {"b": text}}
