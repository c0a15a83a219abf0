"""Conditions: what gold steps ask of messages."""

from dataclasses import dataclass, field

import pytest
from core_strategies import conditions, json_values, maps, steps_of
from hypothesis import given
from looped import every_case

from seal.core import Goal, Milestone, Plan, Step, Task, ToolCall, ToolResult
from seal.core.conditions import Argument, Asked, Called, Condition, Replied
from seal.core.records import decode, encode


@dataclass(frozen=True, slots=True)
class SaidLoudly(Condition):
    """A condition of a plug-in."""

    marks: int = 1
    kind: str = field(default="said_loudly", init=False)

    def similarity(self, step, reached):
        """Return 1 where the text has the marks."""
        return float(step.content.count("!") >= self.marks)


def call(arguments, tool="t"):
    return Step(0, "manager", "executor", call=ToolCall("call_0", "f", arguments, tool=tool))


def says(text):
    return Step(0, "manager", "user_simulator", text)


PAIR = Called("t", {"city": Argument(("Paris", "paris")), "days": Argument((3,), optional=True)})


@every_case(
    ("arguments", "right"),
    [
        ({"city": "Paris"}, 1),
        ({"city": "paris", "days": 3}, 1),
        ({"days": 3.0, "city": "Paris"}, 1),
        ({"city": "Paris", "days": 4}, 0),
        ({"city": "Paris", "days": "3"}, 0),
        ({"city": "PARIS"}, 0),
        ({"days": 3}, 0),
        ({}, 0),
        ({"city": "Paris", "unit": "C"}, 0),
        ({"city": ["Paris"]}, 0),
        (None, 0),
    ],
)
def test_a_call_is_right_with_exactly_accepted_arguments(arguments, right):
    assert PAIR.similarity(call(arguments), {}) == right


def test_a_call_of_another_tool_or_no_call_is_wrong():
    assert PAIR.similarity(call({"city": "Paris"}, "other"), {}) == 0
    assert PAIR.similarity(call({"city": "Paris"}, None), {}) == 0
    assert PAIR.similarity(says("Paris"), {}) == 0


@pytest.mark.parametrize("arguments", [{}, {"x": 1}, None])
def test_any_arguments_are_right_where_none_are_given(arguments):
    assert Called("t").similarity(call(arguments), {}) == 1


@pytest.mark.parametrize(("arguments", "right"), [({}, 1), ({"x": 1}, 0), (None, 0)])
def test_no_arguments_are_right_where_the_gold_call_has_none(arguments, right):
    assert Called("t", {}).similarity(call(arguments), {}) == right


def test_an_argument_that_accepts_nothing_can_only_be_left_out():
    gold = Called("t", {"x": Argument((), optional=True)})
    assert gold.accepts({})
    assert not gold.accepts({"x": None})
    assert not Called("t", {"x": Argument(())}).accepts({})


def test_true_is_not_1_and_nested_values_count():
    gold = Called("t", {"x": Argument(({"a": [1, True]},))})
    assert gold.accepts({"x": {"a": [1.0, True]}})
    assert not gold.accepts({"x": {"a": [True, 1]}})


def test_the_oracle_gives_each_required_arguments_first_value():
    assert PAIR.canonical_arguments() == {"city": "Paris"}
    assert Called("t").canonical_arguments() == {}
    assert Called("t", {"x": Argument(())}).canonical_arguments() == {}


@pytest.mark.parametrize(
    ("about", "text", "right"),
    [
        ((), "Which city?", 1),
        ((), "您想去哪里？", 1),
        ((), "Tell me the city.", 0),
        (("city", "town"), "Which TOWN do you mean?", 1),
        (("city",), "When?", 0),
        (("straße",), "Welche STRASSE?", 1),
        ((), "", 0),
    ],
)
def test_a_question_asks_about_something(about, text, right):
    assert Asked(about).similarity(says(text), {}) == right


@pytest.mark.parametrize(
    ("states", "text", "share"),
    [
        ((), "Anything", 1),
        ((), "  \n", 0),
        (("18 °C",), "It is 18 °c in Oslo", 1),
        (("18", "rain"), "It is 18 degrees", 0.5),
        (("18", "rain", "wind"), "calm", 0),
        (("晴",), "北京今天晴", 1),
    ],
)
def test_a_reply_is_worth_the_share_of_what_it_states(states, text, share):
    assert Replied(states).similarity(says(text), {}) == share


@pytest.mark.parametrize("condition", [Asked(), Replied(), Replied(("x",))])
@pytest.mark.parametrize("author", ["user_simulator", "executor", "system"])
def test_only_the_agent_asks_and_replies(condition, author):
    assert condition.similarity(Step(0, author, "manager", "x?"), {}) == 0
    assert condition.similarity(Step(0, author, "user_simulator", "x?"), {}) == 0
    assert condition.similarity(says("x?"), {}) == 1


@pytest.mark.parametrize("condition", [Asked(), Replied(), Replied(("x",))])
def test_calls_and_results_neither_ask_nor_reply(condition):
    result = Step(1, "executor", "manager", "x?", result=ToolResult("call_0", "x?"))
    asking = Step(0, "manager", "executor", "x?", call=ToolCall("call_0", "f", {}))
    assert condition.similarity(result, {}) == 0
    assert condition.similarity(asking, {}) == 0


def test_a_plug_ins_condition_is_written_and_read_like_ours():
    plan = Plan((Milestone(SaidLoudly(2)), Milestone(Called("t"), (0,))))
    task = Task("1", "mine", (Goal("Shout", (plan,)),))
    assert decode(encode(task), Task) == task
    assert SaidLoudly(2).similarity(says("No!!"), {}) == 1


def test_a_condition_without_a_kind_is_refused_when_it_is_made():
    with pytest.raises(TypeError, match=r'NeverKind has no field `kind`.*default="never_kind"'):
        type("NeverKind", (Condition,), {"__annotations__": {"x": "int"}})
    assert "never_kind" not in Condition.known


def test_two_conditions_of_one_kind_are_refused():
    with pytest.raises(TypeError, match=r"has the kind 'called' of seal\.core.*; rename the class"):
        type("Called", (Condition,), {"__annotations__": {"kind": str}, "__module__": "plugin"})
    assert Condition.known["called"] is Called


def test_a_condition_without_a_measure_says_so():
    with pytest.raises(TypeError, match="Condition does not say how it measures a step"):
        Condition().similarity(says("x"), {})


@given(conditions, steps_of(json_values()))
def test_every_similarity_is_a_share(condition, step):
    assert 0 <= condition.similarity(step, {-1: step}) <= 1


@given(maps(json_values()))
def test_a_call_as_gold_has_it_is_right(values):
    gold = Called("t", {name: Argument((value,)) for name, value in values.items()})
    assert gold.accepts(gold.canonical_arguments())
    assert gold.accepts(dict(reversed(values.items())))
    assert not gold.accepts({**values, "one more": 1}) or "one more" in values
    assert all(not gold.accepts({n: v for n, v in values.items() if n != out}) for out in values)
