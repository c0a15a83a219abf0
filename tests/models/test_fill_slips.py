"""Slips: seeded, of every kind, and repaired only where an answer names the fault."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import every_case

from seal.core import FIND_TOOLS, Message, OptionError, Request, Tool, ToolCall, UnknownNameError
from seal.core.validation import CallValidator
from seal.models.fill import is_told, slipped
from seal.models.lexical import Lexical
from seal.models.spec import ModelSettings, build_model

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city", "days"],
}
TOOL = Tool("w/weather", "weather", "Weather of a city for some days.", SCHEMA)
RIGHT = ToolCall("", "weather", {"city": "Bern", "days": 3})
ASKED = Message("user", "What is the weather in Bern for 3 days?")


def validated(call: ToolCall) -> str:
    """Return the kind of what is wrong with a call, as the rules see it."""
    known = TOOL.id if call.name == TOOL.name else None
    made = ToolCall("c", call.name, call.arguments, tool=known)
    error = CallValidator({TOOL.id: TOOL}).check(made, [TOOL.name])
    return error.kind if error else ""


def asked(model: Lexical, *more: Message, seed: int = 0) -> tuple[ToolCall, ...]:
    request = Request((ASKED, *more), (TOOL,), "execution_manager", seed=seed)
    return model.complete(request).calls


def test_every_slip_is_invalid_and_all_four_kinds_occur() -> None:
    kinds = {validated(slipped([RIGHT], [TOOL], 1.0, seed, 1)[0]) for seed in range(60)}
    assert kinds == {"unknown_tool", "unknown_argument", "missing_argument", "wrong_type"}


@given(st.integers(0, 2**31), st.integers(0, 40), st.floats(0, 1))
def test_equal_requests_slip_alike(seed: int, position: int, rate: float) -> None:
    calls = [RIGHT, RIGHT]
    once = slipped(calls, [TOOL], rate, seed, position)
    assert once == slipped(calls, [TOOL], rate, seed, position)
    assert all(bool(validated(call)) == (call != RIGHT) for call in once)


def test_the_rate_is_the_share_of_calls_that_slip() -> None:
    made = [slipped([RIGHT], [TOOL], 0.3, seed, 1)[0] for seed in range(1000)]
    assert sum(call != RIGHT for call in made) == pytest.approx(300, abs=45)
    assert all(slipped([RIGHT], [TOOL], 0.0, seed, 1) == (RIGHT,) for seed in range(50))


def test_a_name_that_slips_is_that_of_no_other_tool() -> None:
    others = [TOOL, Tool("w/other", "weather_value", "", SCHEMA)]
    made = {slipped([RIGHT], others, 1.0, seed, 1)[0].name for seed in range(40)}
    assert made == {"weather", "weather_value_value"}


def test_a_call_without_arguments_or_schema_can_slip_by_its_name_alone() -> None:
    for parameters in ({}, {"type": "object"}, {"properties": {}, "required": []}):
        bare = Tool("w/now", "now", "", parameters)
        (made,) = slipped([ToolCall("", "now", {})], [bare], 1.0, 0, 1)
        assert (made.name, made.arguments) == ("now_value", {})


def answered(call: ToolCall, content: str, own: str = "call_0") -> tuple[Message, Message]:
    named = ToolCall(own, call.name, call.arguments)
    return Message("assistant", calls=(named,)), Message("tool", content, call_id=own)


def told(call: ToolCall) -> str:
    """Return what the rules tell of a call."""
    known = TOOL.id if call.name == TOOL.name else None
    made = ToolCall("c", call.name, call.arguments, tool=known)
    error = CallValidator({TOOL.id: TOOL}).check(made, [TOOL.name])
    return json.dumps({"error": error.message, "response": ""})


@every_case("seed", range(12))
def test_a_slip_is_repaired_once_feedback_names_it(seed: int) -> None:
    model = Lexical(slips=1.0)
    (wrong,) = asked(model, seed=seed)
    assert wrong != RIGHT
    first = answered(wrong, told(wrong))
    assert asked(model, *first, seed=seed) == (RIGHT,)
    again = answered(RIGHT, '{"error":"weather takes no argument city","response":""}')
    assert asked(model, *first, *again, seed=seed) == ()


@every_case("seed", range(12))
def test_a_slip_is_repaired_where_the_tool_was_looked_for_first(seed: int) -> None:
    finder = Tool(FIND_TOOLS, "find_tools", "Look for tools.", {"type": "object"})
    found = answered(ToolCall("", "find_tools", {"query": ASKED.content}), '["weather"]', "call_f")

    def calls(*more: Message) -> tuple[ToolCall, ...]:
        messages = (ASKED, *found, *more)
        request = Request(messages, (finder, TOOL), "execution_manager", seed=seed)
        return Lexical(slips=1.0).complete(request).calls

    (wrong,) = calls()
    assert wrong != RIGHT
    assert calls(*answered(wrong, told(wrong))) == (RIGHT,)


@every_case(
    "content",
    ['{"error":"Bad request.","response":""}', '{"error":"","response":{"city_value":1}}', "[]"],
)
@every_case("seed", range(6))
def test_a_slip_stays_where_nothing_names_it(seed: int, content: str) -> None:
    model = Lexical(slips=1.0)
    (wrong,) = asked(model, seed=seed)
    assert asked(model, *answered(wrong, content), seed=seed) == ()


@pytest.mark.parametrize("content", ["", "no JSON: weather_value", "7", '{"error":7}', "{"])
def test_any_answer_can_be_read(content: str) -> None:
    wrong = ToolCall("", "weather_value", {"city": "Bern", "days": 3})
    assert is_told(wrong, RIGHT, content) == ("weather_value" in content)


def test_without_slips_lexical_is_as_it_was() -> None:
    assert asked(Lexical()) == (RIGHT,)
    assert asked(build_model("lexical", ModelSettings().told({"slips": 0}))) == (RIGHT,)


@pytest.mark.parametrize("rate", [-0.1, 1.5, "often", True, None, float("nan"), [0.5]])
def test_a_rate_that_is_none_is_refused(rate) -> None:
    with pytest.raises(OptionError, match=r"-M slips=.*: expected a number from 0 to 1"):
        build_model("lexical", ModelSettings().told({"slips": rate}))


def test_other_options_and_other_models_have_no_slips() -> None:
    with pytest.raises(UnknownNameError, match=r"no option -M of lexical 'slip'.*mean 'slips'\?"):
        build_model("lexical", ModelSettings().told({"slip": 0.5}))
    for model, rate in itertools.product(("oracle", "random"), (0.5,)):
        with pytest.raises(UnknownNameError, match="no option -M"):
            build_model(model, ModelSettings().told({"slips": rate}))
