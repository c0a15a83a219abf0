"""The strict scorer, clause by clause: each case is worked out by hand."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import every_case
from mission_plays import SAID, answer, node, turn
from plain_missions import judge, match_arguments

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "to": {"type": "string"},
        "unit": {"type": "string", "enum": ["metric", "imperial"]},
        "days": {"type": "integer"},
        "share": {"type": "number"},
        "sure": {"type": "boolean"},
        "level": {"type": "integer", "enum": [1, 2]},
        "place": {
            "type": "object",
            "properties": {
                "lat": {"type": "number"},
                "side": {"type": "string", "enum": ["N", "S"]},
                "inner": {"type": "object", "properties": {"x": {"type": "integer"}}},
            },
            "required": ["lat"],
        },
        "stops": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"at": {"type": "string"}, "min": {"type": "integer"}},
                "required": ["at"],
            },
        },
        "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}},
        "either": {"anyOf": [{"type": "integer"}, {"type": "string", "enum": ["all"]}]},
        "free": {"type": "object"},
        "open": {"type": "object", "properties": {}, "additionalProperties": True},
        "odd": {"type": "dictionary"},
        "any": {},
        "many": {"type": ["string", "null"]},
    },
    "required": ["to"],
}


def strict(predicted: Any, gold: Any = None, schema: Any = SCHEMA) -> Any:
    """The match with `to` right on both sides, where it is not told otherwise."""
    ours = {"to": "Oslo", **predicted} if isinstance(predicted, dict) else predicted
    return match_arguments(ours, {"to": "Oslo", **(gold or {})}, schema, scorer="strict")


# -- the call alone: JSON, required, undefined, type, choices, and all of it further within


@every_case(
    ("predicted", "error"),
    [
        ('{"to": "Oslo"', "malformed arguments"),
        ("Oslo", "malformed arguments"),
        (["Oslo"], "malformed arguments"),
        ("{}", "miss required params"),
        ('{"days": 3}', "miss required params"),
        ({"town": "Oslo"}, "param hallucination"),
        ({"days": "3"}, "type error"),
        ({"days": 3.5}, "type error"),
        ({"days": True}, "type error"),
        ({"days": None}, "type error"),
        ({"share": "0.5"}, "type error"),
        ({"sure": 1}, "type error"),
        ({"sure": "true"}, "type error"),
        ({"to": ["Oslo"]}, "type error"),
        ({"place": "here"}, "type error"),
        ({"tags": "a"}, "type error"),
        ({"many": 1}, "type error"),
        ({"either": 1.5}, "type error"),
        ({"unit": "Metric"}, "param value error"),
        ({"unit": "miles"}, "param value error"),
        ({"level": 3}, "param value error"),
        ({"place": {}}, "miss required params"),
        ({"place": {"side": "N"}}, "miss required params"),
        ({"place": {"lat": 1, "lon": 2}}, "param hallucination"),
        ({"place": {"lat": "1"}}, "type error"),
        ({"place": {"lat": 1, "side": "W"}}, "param value error"),
        ({"place": {"lat": 1, "inner": {"x": "1"}}}, "type error"),
        ({"place": {"lat": 1, "inner": {"y": 1}}}, "param hallucination"),
        ({"stops": [{"at": "A"}, {"min": 1}]}, "miss required params"),
        ({"stops": [{"at": "A", "max": 1}]}, "param hallucination"),
        ({"stops": [{"at": 1}]}, "type error"),
        ({"tags": ["a", "d"]}, "param value error"),
    ],
)
def test_a_call_that_breaks_its_schema_is_refused_though_gold_has_the_same(
    predicted: Any, error: str
) -> None:
    gold = predicted if isinstance(predicted, dict) else {}
    match = strict(predicted, gold)
    assert (match.accepted, match.score, match.errors) == (False, 0.0, (error,))


@pytest.mark.parametrize(
    ("predicted", "error"),
    [
        ('{"town": 1, "days": "3"}', "miss required params"),
        ({"town": 1, "days": "3", "unit": "miles"}, "param hallucination"),
        ({"unit": "miles", "days": "3"}, "type error"),
        ({"place": {"side": "W", "inner": []}}, "miss required params"),
    ],
)
def test_of_several_faults_the_one_that_tells_most_is_named(predicted: Any, error: str) -> None:
    assert strict(predicted).errors == (error,)


@every_case(
    "value",
    [
        {"days": 3.0},
        {"share": 1},
        {"many": None},
        {"many": "x"},
        {"either": 4},
        {"either": "all"},
        {"free": {"x": 1}},
        {"open": {"x": 1}},
        {"odd": [1, {"x": None}]},
        {"any": 7},
        {"stops": []},
        {"place": {"lat": 1, "inner": {}}},
    ],
)
def test_what_the_schema_allows_and_gold_has_is_accepted(value: Any) -> None:
    match = strict(value, value)
    assert (match.accepted, match.score, match.errors) == (True, 1.0, ())


def test_other_keywords_of_a_schema_do_not_count() -> None:
    schema = {"to": {"type": "string", "pattern": "^x", "maxLength": 1}}
    assert strict({}, {}, schema).accepted


# -- the call beside gold: names, order, texts, numbers


@every_case(
    ("predicted", "gold", "error"),
    [
        ({}, {"days": 3}, "miss required params"),
        ({"days": 3}, {}, "param value hallucination"),
        ({"place": {"lat": 1, "side": "N"}}, {"place": {"lat": 1}}, "param value error"),
        ({"place": {"lat": 1}}, {"place": {"lat": 1, "side": "N"}}, "param value error"),
        ({"tags": ["b", "a"]}, {"tags": ["a", "b"]}, "param value error"),
        ({"tags": ["a"]}, {"tags": ["a", "b"]}, "param value error"),
        ({"tags": ["a", "a"]}, {"tags": ["a"]}, "param value error"),
        ({"days": 4}, {"days": 3}, "param value error"),
        ({"share": 0.5000001}, {"share": 0.5}, "param value error"),
        ({"sure": False}, {"sure": True}, "param value error"),
        ({"unit": "metric"}, {"unit": "imperial"}, "param value error"),
        ({"any": "7"}, {"any": 7}, "type error"),
        ({"any": True}, {"any": 1}, "type error"),
        ({"any": None}, {"any": "x"}, "type error"),
        (
            {"stops": [{"at": "A", "min": 1}]},
            {"stops": [{"at": "A", "min": 2}]},
            "param value error",
        ),
    ],
)
def test_names_order_and_values_are_those_of_gold(predicted: Any, gold: Any, error: str) -> None:
    match = strict(predicted, gold)
    assert (match.accepted, match.errors) == (False, (error,))
    assert match.score == 0.5  # `to` is right


@pytest.mark.parametrize(
    ("predicted", "gold"),
    [
        ({"days": 3.0}, {"days": 3}),
        ({"place": {"side": "N", "lat": 1}}, {"place": {"lat": 1.0, "side": "N"}}),
        ({"stops": [{"at": "a  b"}]}, {"stops": [{"at": "AB"}]}),
        ({"tags": ["a", "b"]}, {"tags": ["a", "b"]}),
    ],
)
def test_the_order_of_names_and_how_numbers_are_written_are_no_matter(
    predicted: Any, gold: Any
) -> None:
    assert strict(predicted, gold).accepted


REPORT = "please send the weekly report to Anna"  # seven words


@every_case(
    ("predicted", "gold", "accepted"),
    [
        ("Oslo", "Oslo", True),
        ("", "", True),
        (" ", "", True),  # equal but for blanks
        ("o S l O", "Oslo", True),  # but for blanks and case
        ("x", "", False),
        # less than ten characters: letters alike by 0.8, and words by 0.7
        ("a b c d f", "a b c d e", True),  # letters 16/18 = 0.89, words 8/10 = 0.8
        ("a b c d", "a b c d e", True),  # letters 14/16 = 0.875, words 8/9
        ("aaaa bbbc", "aaaa bbbb", False),  # letters 0.89, words 2/4
        ("Berlins", "Berlin", False),  # letters 12/13, words 0
        ("Paris", "Berlin", False),
        ("ab cd ef xyzw uvwst", "ab cd ef", False),  # words 6/8, letters 16/27
        # ten characters and more: words alone
        ("ab cd ef g xyzw uvwst", "ab cd ef g", True),  # words 8/10
        ("send the weekly report", REPORT, True),  # 2*4/11 = 0.73
        ("the weekly report", REPORT, False),  # 2*3/10 = 0.6
        ("please kindly send the weekly report over to Anna", REPORT, True),  # 2*7/16
        ("Anna to report weekly the send please", REPORT, False),  # one word in order
        ("PLEASE SEND THE WEEKLY report to Anna B", REPORT, False),  # 2*3/15: case counts in words
        ("a b c d e f g x y z", "a b c d e f g h i j", True),  # exactly 0.7
        # Chinese: cut into words
        ("查询上海明天的天气", "查询北京明天的天气", False),  # nine characters, letters 14/18
        ("请帮我查询上海明天的天气情况", "请帮我查询北京明天的天气情况", True),
        ("今晚吃什么比较好呢", "请帮我查询北京明天的天气情况", False),
    ],
)
def test_texts_are_the_same_or_nearly(predicted: str, gold: str, accepted: bool) -> None:
    match = match_arguments({"to": predicted}, {"to": gold}, SCHEMA, scorer="strict")
    assert match.accepted == accepted
    assert match.errors == (() if accepted else ("param value error",))


def test_one_wrong_argument_of_many_is_enough() -> None:
    gold = {"days": 3, "share": 0.5, "sure": True, "unit": "metric"}
    wrong = {**gold, "days": 4}
    assert not strict(wrong, gold).accepted
    assert strict(wrong, gold).score == pytest.approx(0.8)
    assert match_arguments({"to": "Oslo", **wrong}, {"to": "Oslo", **gold}, SCHEMA).accepted


# -- the mission


@pytest.mark.parametrize("rules", ["clean", "mmtb"])
def test_wrong_arguments_make_a_mission_no_longer_optimal(rules: Any) -> None:
    nodes = [node("a", to="Oslo"), answer(0)]
    turns = [turn(node("a", to="Rome")), SAID]
    tools = {"a": SCHEMA}
    verdict = judge(nodes, turns, rules, tools=tools, scorer="strict")
    assert (verdict.label, verdict.param_label) == ("correct", "error")
    assert verdict.is_optimal is False
    assert judge(nodes, turns, rules, tools=tools).is_optimal
    assert judge(nodes, [turn(nodes[0]), SAID], rules, tools=tools, scorer="strict").is_optimal


JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(st.sampled_from(sorted(SCHEMA["properties"])), JSONS, max_size=4)


@given(ARGUMENTS, ARGUMENTS)
def test_whatever_is_said_has_a_score_and_a_refusal_has_a_name(said: Any, gold: Any) -> None:
    match = strict(said, gold)
    assert 0 <= match.score <= 1
    assert match.accepted == (not match.errors)


@given(st.dictionaries(st.sampled_from(["odd", "any", "free"]), JSONS), JSONS)
def test_any_schema_is_read(gold: Any, schema: Any) -> None:
    match = match_arguments(gold, gold, dict.fromkeys(gold, schema), scorer="strict")
    assert match.accepted or match.errors
