"""Accepted values and Python calls as gold."""

import json
from typing import Any

import pytest
from bfcl_sources import HEIGHT, function
from hypothesis import given
from hypothesis import strategies as st
from looped import every_case

from seal.benchmarks.bfcl.tasks import (
    MOST_VALUES,
    UnusableGoldError,
    plan_of_answers,
    plan_of_calls,
    python_call,
)
from seal.benchmarks.bfcl.tools import Functions
from seal.core import DataError, Tool
from seal.core.conditions import Argument, Called


def offer(*documents: Any, language: str = "python") -> dict[str, Tool]:
    functions = Functions("content")
    tools = [functions.add(document, language, "file") for document in documents or (HEIGHT,)]
    return {tool.name: tool for tool in tools}


def gold(accepted: dict[str, Any], *documents: Any, language: str = "python") -> Called:
    offered = offer(*documents, language=language)
    name = next(iter(offered))
    (called,) = plan_of_answers([{name: accepted}], offered).calls()
    return called


def test_any_of_the_values_is_right_and_the_mark_makes_an_argument_optional() -> None:
    called = gold({"port": ["Oban", "oban"], "day": [2, ""], "metric": ["", True]})
    assert called == Called(
        "bfcl/python/tide.height",
        {
            "port": Argument(("Oban", "oban")),
            "day": Argument((2,), optional=True),
            "metric": Argument((True,), optional=True),
        },
    )
    assert called.accepts({"port": "oban"})
    assert not called.accepts({"port": "Oban", "day": ""})
    assert called.canonical_arguments() == {"port": "Oban"}


def test_a_text_that_may_be_left_out_may_be_empty_too() -> None:
    called = gold({"note": ["", "spring tide"]}, function(note="string"))
    assert called.arguments == {"note": Argument(("spring tide", ""), optional=True)}


@pytest.mark.parametrize("accepted", [["", "m"], ["m", ""]])
def test_a_choice_that_may_be_left_out_may_be_empty_only_where_that_is_a_choice(
    accepted: list[str],
) -> None:
    unit = {"type": "string", "enum": ["m", "ft"]}
    assert gold({"unit": accepted}, function(unit=unit)).arguments == {
        "unit": Argument(("m",), optional=True)
    }
    unit["enum"] = ["m", ""]
    assert gold({"unit": accepted}, function(unit=unit)).arguments == {
        "unit": Argument(("m", ""), optional=True)
    }


def test_a_required_argument_must_be_given_whatever_the_mark_says() -> None:
    called = gold({"port": ["", "Oban"]})
    assert called.arguments == {"port": Argument(("Oban", ""))}
    assert not called.accepts({})


def test_an_argument_with_the_mark_alone_must_be_left_out_where_no_text_fits() -> None:
    called = gold({"port": ["Oban"], "day": [""]})
    assert called.accepts({"port": "Oban"})
    assert not called.accepts({"port": "Oban", "day": 1})


def test_members_of_maps_have_accepted_values_of_their_own() -> None:
    called = gold({"size": [{"w": [1, 2], "unit": ["m", ""]}]}, function(size="dict"))
    assert called.arguments == {
        "size": Argument(({"w": 1, "unit": "m"}, {"w": 1}, {"w": 2, "unit": "m"}, {"w": 2}))
    }


def test_maps_in_a_list_have_so_too_and_keep_their_order() -> None:
    accepted = [[{"day": [1]}, {"day": [2, 3]}]]
    called = gold({"days": accepted}, function(days="array"))
    assert called.arguments == {
        "days": Argument(([{"day": 1}, {"day": 2}], [{"day": 1}, {"day": 3}]))
    }


@pytest.mark.parametrize(
    "accepted",
    [[1, 2], [[1], [2]], [], {"kind": {"a": [1]}}, [["a", 1, True]]],
)
def test_other_values_are_taken_as_they_are(accepted: Any) -> None:
    value = {"deep": [accepted]}
    called = gold({"x": [accepted if isinstance(accepted, list) else value]}, function(x="any"))
    expected = accepted if isinstance(accepted, list) else {"deep": accepted}
    assert called.arguments == {"x": Argument((expected,))}


def test_an_empty_list_of_values_means_the_empty_list() -> None:
    called = gold({"days": []}, function(days="array"))
    assert called.arguments == {"days": Argument(([],))}


def test_a_value_that_nothing_can_meet_makes_the_gold_unusable() -> None:
    with pytest.raises(UnusableGoldError, match=r"tide.height.day: no accepted value") as caught:
        gold({"day": []})
    assert caught.value.reason == "no_accepted_value"


def test_too_many_values_make_the_gold_unusable() -> None:
    wide = {f"k{number}": [0, 1] for number in range(60)}
    for value in (wide, [wide, wide]):
        with pytest.raises(UnusableGoldError, match=f"more than {MOST_VALUES} accepted values"):
            gold({"x": [value]}, function(x="any"))


def test_the_name_of_a_variable_is_no_empty_text() -> None:
    called = gold({"rows": ["", "myRows"]}, function(rows="Array"), language="java")
    assert called.arguments == {"rows": Argument(("myRows",), optional=True)}


@pytest.mark.parametrize(
    ("truth", "told"),
    [
        ([], "expected a list of calls"),
        (["tide.height()"], "expected {function"),
        ([{"a": {}, "b": {}}], "expected {function"),
        ([{"tide.height": []}], "ground_truth of 'tide.height': expected an object"),
        ([{"tide.height": {"port": "Oban"}}], "tide.height.port: expected a list of accepted"),
    ],
)
def test_gold_of_another_shape_is_an_error(truth: Any, told: str) -> None:
    with pytest.raises(DataError, match=told):
        plan_of_answers(truth, offer())


def test_gold_of_a_function_that_is_not_offered_is_unusable() -> None:
    for plan in (
        lambda: plan_of_answers([{"sail": {}}], offer()),
        lambda: plan_of_calls(["sail()"], offer()),
    ):
        with pytest.raises(UnusableGoldError, match="no function 'sail' is offered"):
            plan()


MOVE = function("move", source="string", destination="string")


@pytest.mark.parametrize(
    "text",
    [
        "move(source='a', destination='b')",
        " move( destination = 'b' , source='a') ",
        "move('a', destination='b')",
        "move('a', 'b')",
    ],
)
def test_a_python_call_is_read_whatever_its_writing(text: str) -> None:
    expected = {"source": Argument(("a",)), "destination": Argument(("b",))}
    assert python_call(text, offer(MOVE)).arguments == expected


def test_calls_of_a_turn_follow_each_other() -> None:
    plan = plan_of_calls(["move('a')", "move('b')", "move('c')"], offer(MOVE))
    assert [milestone.after for milestone in plan.milestones] == [(), (0,), (1,)]


@every_case(
    ("text", "told"),
    [
        ("move", "is no call"),
        ("move('a'", "is no call"),
        ("", "is no call"),
        ("move('a')('b')", "is no call"),
        ("import os", "is no call"),
        ("move('a', 'b', 'c')", "move has 2 arguments"),
        ("move('a', source='b')", "each argument once"),
        ("move(**{'source': 'a'})", "each argument once"),
        ("move(*['a'])", "no literal"),
        ("move(source=__import__('os').getcwd())", "no literal"),
        ("move(source=1 + x)", "no literal"),
        ("move(source={'a', 'b'})", "no literal"),
        ("move(source=b'a')", "no literal"),
        ("move(source=1e999)", "no literal"),
        ("move(source={1: 2})", "no literal"),
        ("move(source=" + "[" * 300 + "]" * 300 + ")", "is no call"),
        (7, "7 is no call"),
    ],
)
def test_what_is_no_call_with_literals_is_an_error(text: Any, told: str) -> None:
    with pytest.raises(DataError, match=told):
        python_call(text, offer(MOVE))


def test_odd_escapes_are_read_without_a_warning() -> None:
    called = python_call(r"move(source='\d')", offer(MOVE))
    assert called.arguments == {"source": Argument((r"\d",))}


literals = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}_", fullmatch=True), literals, max_size=4))
def test_every_written_call_is_read_back_with_its_values(arguments: dict[str, Any]) -> None:
    text = f"move({', '.join(f'{name}={value!r}' for name, value in arguments.items())})"
    called = python_call(text, offer(MOVE))
    assert called.accepts(arguments)
    assert json.dumps(called.canonical_arguments()) == json.dumps(arguments)


@given(st.text(max_size=40))
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        python_call(text, offer(MOVE))
    except DataError as error:
        assert str(error)


members = st.lists(st.integers(0, 3) | st.just(""), min_size=1, max_size=3)


@given(st.dictionaries(st.sampled_from("abc"), members), st.data())
def test_a_map_is_right_just_where_each_member_is(accepted: Any, data: st.DataObject) -> None:
    value = data.draw(st.dictionaries(st.sampled_from("abc"), st.integers(0, 3)))
    called = gold({"x": [accepted]}, function(x="dict", required=["x"]))
    right = value.keys() <= accepted.keys() and all(
        value[name] in values if name in value else "" in values
        for name, values in accepted.items()
    )
    assert called.accepts({"x": value}) is right
