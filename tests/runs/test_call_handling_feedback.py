"""The feedback switch: what invalid calls bring under each setting."""

import json
from collections.abc import Sequence

import pytest

import seal
from seal.core import (
    CacheMissError,
    Execution,
    Reply,
    Tables,
    Tool,
    ToolCall,
    ToolResult,
    UnknownNameError,
)
from seal.core.call_formats import form_of
from seal.core.environment import Environment, Timed, Validated
from seal.core.validation import CallValidator
from seal.runs.call_handling import FeedbackSwitch
from seal.runs.settings import RunSettings

WEATHER = Tool(
    "demo/weather",
    "weather",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    },
)
TOOLS = {WEATHER.id: WEATHER}


class Api:
    """An environment without a state that keeps what it ran, and breaks over a missing city."""

    def __init__(self) -> None:
        self.ran: list[ToolCall] = []

    def call(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        return [self._answer(call) for call in calls]

    def _answer(self, call: ToolCall) -> ToolResult:
        self.ran.append(call)
        if call.arguments.get("city") == "nowhere":
            raise CacheMissError("nothing stored")
        city = call.arguments["city"]
        return ToolResult(
            call.id, f"sunny in {city}", executed=Execution(call.tool, call.arguments)
        )

    def states(self) -> Sequence[Tables]:
        return ()


class Lamp:
    """A world that counts its calls, and has a clock."""

    def __init__(self) -> None:
        self.calls = 0
        self.ticks = 0
        self._states: list[Tables] = [{"lamp": [{"calls": 0}]}]

    def call(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        self._states = []
        results = []
        for call in calls:
            self.calls += 1
            self._states.append({"lamp": [{"calls": self.calls}]})
            results.append(ToolResult(call.id, "TypeError: no", {"kind": "TypeError"}))
        return results

    def states(self) -> Sequence[Tables]:
        return self._states

    def tick(self) -> None:
        self.ticks += 1


def call(number: int, arguments, name: str = "weather", raw: str = "") -> ToolCall:
    tool = WEATHER.id if name == "weather" else None
    return ToolCall(f"call_{number}", name, arguments, raw, tool)


INVALID = {
    "unknown tool": (call(0, {"city": "Bern"}, "wether"), "unknown_tool"),
    "no map": (call(0, None, raw="[1]"), "unparsable_arguments"),
    "unknown argument": (call(0, {"city": "Bern", "day": 1}), "unknown_argument"),
    "missing argument": (call(0, {"days": 1}), "missing_argument"),
    "wrong type": (call(0, {"city": "Bern", "days": True}), "wrong_type"),
}


def api(feedback: str) -> tuple[Api, Environment]:
    inner = Api()
    validated = Validated(inner, CallValidator(TOOLS), ["weather"])
    return inner, FeedbackSwitch(feedback, TOOLS).around(validated, ["weather"])


@pytest.mark.parametrize(("wrong", "kind"), INVALID.values(), ids=INVALID)
def test_on_an_invalid_call_is_not_run_and_told_in_a_sentence_and_as_data(wrong, kind):
    inner, environment = api("on")
    (result,) = environment.call([wrong])
    told = json.loads(result.content)
    assert inner.ran == [] and result.executed is None
    assert [fault["kind"] for fault in told["feedback"]] == [kind] == [result.error["kind"]]
    assert told["error"] == result.error["message"] and told["error"].endswith((".", "?"))


def test_on_the_model_reads_expected_received_and_nearest():
    _, environment = api("on")
    (result,) = environment.call([INVALID["wrong type"][0]])
    assert json.loads(result.content)["feedback"] == [
        {"kind": "wrong_type", "name": "days", "expected": "integer", "received": True}
    ]
    (result,) = environment.call([INVALID["unknown tool"][0]])
    assert json.loads(result.content)["feedback"] == [
        {
            "kind": "unknown_tool",
            "name": "wether",
            "expected": ["weather"],
            "received": "wether",
            "nearest": "weather",
        }
    ]


def test_on_every_fault_of_the_first_kind_is_told_and_no_other():
    _, environment = api("on")
    (result,) = environment.call([call(0, {"town": "Bern", "day": 1, "days": "two"})])
    told = json.loads(result.content)
    assert [(fault["kind"], fault["name"]) for fault in told["feedback"]] == [
        ("unknown_argument", "town"),
        ("unknown_argument", "day"),
    ]
    assert told["error"].count("takes no argument") == 2


def test_on_what_is_no_call_at_all_is_told_what_a_call_needs():
    _, environment = api("on")
    (result,) = environment.call([call(0, None, "", "Thought: hm")])
    told = json.loads(result.content)
    assert told["error"] == "This is no call: it needs a tool's name and a JSON object."
    assert told["feedback"][0]["received"] == "Thought: hm"


@pytest.mark.parametrize("feedback", ["auto", "on"])
@pytest.mark.parametrize("format", ["action", "json"])
def test_what_cannot_be_read_brings_the_form_of_a_call_in_text(feedback, format):
    inner = Api()
    validated = Validated(inner, CallValidator(TOOLS), ["weather"])
    environment = FeedbackSwitch(feedback, TOOLS, format).around(validated, ["weather"])
    unread, other = environment.call([call(0, None, raw="{city"), call(1, {"town": "Bern"})])
    told = json.loads(unread.content)
    shape = form_of(format).shape
    assert told["error"].endswith(f"are not a JSON object. Write a call as:\n{shape}")
    assert unread.error["expected"] == shape and inner.ran == []
    assert form_of(format).read(shape, ["NAME"]).calls[0].arguments == {"argument": "value"}
    assert shape not in other.content and other.error["kind"] == "unknown_argument"


def test_without_feedback_and_to_native_calls_no_form_is_told():
    for feedback, format in (("off", "action"), ("auto", "native"), ("on", "native")):
        validated = Validated(Api(), CallValidator(TOOLS), ["weather"])
        environment = FeedbackSwitch(feedback, TOOLS, format).around(validated, ["weather"])
        (unread,) = environment.call([call(0, None, raw="{city")])
        assert "Write a call" not in unread.content


def test_on_a_call_with_a_thousand_faults_is_told_ten():
    _, environment = api("on")
    (result,) = environment.call([call(0, {f"a{n}": n for n in range(1000)})])
    assert len(json.loads(result.content)["feedback"]) == 10


def test_on_a_received_value_as_long_as_a_book_is_cut():
    _, environment = api("on")
    (result,) = environment.call([call(0, {"city": "Bern", "days": "x" * 100_000})])
    assert len(result.content) < 5000


@pytest.mark.parametrize("feedback", ["auto", "on", "off"])
def test_a_valid_call_is_the_same_under_every_setting(feedback):
    _, environment = api(feedback)
    (result,) = environment.call([call(0, {"city": "Bern"})])
    assert result == ToolResult(
        "call_0", "sunny in Bern", executed=Execution(WEATHER.id, {"city": "Bern"})
    )


@pytest.mark.parametrize("name", ["unknown argument", "wrong type"])
def test_off_an_invalid_call_is_run_as_it_stands(name):
    inner, environment = api("off")
    (result,) = environment.call([INVALID[name][0]])
    assert inner.ran == [INVALID[name][0]]
    assert (result.content, result.error) == ("sunny in Bern", None)


@pytest.mark.parametrize(
    ("name", "said"), [("unknown tool", "Not found."), ("no map", "Bad request.")]
)
def test_off_what_cannot_be_run_fails_without_an_explanation(name, said):
    inner, environment = api("off")
    (result,) = environment.call([INVALID[name][0]])
    assert inner.ran == []
    assert json.loads(result.content) == {"error": said, "response": ""}
    assert result.error.keys() == {"kind", "name", "message"}


def test_off_a_tool_that_breaks_over_an_invalid_call_has_answered_and_costs_no_other():
    _, environment = api("off")
    results = environment.call([call(0, {"days": 1}), call(1, {"city": "Bern"}), call(2, None)])
    assert [result.call_id for result in results] == ["call_0", "call_1", "call_2"]
    assert [r.error and r.error["message"] for r in results] == [
        "Internal error.",
        None,
        "Bad request.",
    ]
    assert results[0].executed == Execution(WEATHER.id, {"days": 1})


def test_off_a_failure_of_the_infrastructure_is_no_answer():
    _, environment = api("off")
    with pytest.raises(CacheMissError):
        environment.call([call(0, {"city": "nowhere", "day": 1})])


def test_off_a_tool_that_breaks_over_a_valid_call_is_our_fault():
    class Broken(Api):
        def _answer(self, call: ToolCall) -> ToolResult:
            raise KeyError("ours")

    validated = Validated(Broken(), CallValidator(TOOLS))
    environment = FeedbackSwitch("off", TOOLS).around(validated)
    with pytest.raises(KeyError):
        environment.call([call(0, {"city": "Bern"})])


def test_a_world_says_what_it_says_unless_feedback_is_on():
    for feedback, ran in (("auto", 1), ("off", 1), ("on", 0)):
        lamp = Lamp()
        environment = FeedbackSwitch(feedback, TOOLS).around(lamp)
        (result,) = environment.call([call(0, {"day": 1})])
        assert lamp.calls == ran
        assert result.content.startswith("TypeError") == bool(ran)


@pytest.mark.parametrize("feedback", ["auto", "on", "off"])
def test_states_and_clock_of_a_world_are_handed_on(feedback):
    lamp = Lamp()
    environment = FeedbackSwitch(feedback, TOOLS).around(lamp)
    assert isinstance(environment, Timed)
    environment.tick()
    results = environment.call([call(0, {"city": "Bern"}), call(1, {"city": "Bern"})])
    assert lamp.ticks == 1
    assert len(environment.states()) == len(results) == 2


@pytest.mark.parametrize("feedback", ["auto", "on", "off"])
def test_what_answers_for_a_recording_changes_nothing_of_a_call_that_is_simulated(
    feedback, tmp_path
):
    class Careless:
        def reply(self, chat):
            (result,) = chat.execute([ToolCall("", "weather", {"city": "Bern", "days": "many"})])
            return Reply(result.content)

    task = seal.ask("How will it be?", seal.called("weather", city="Bern"))
    bench = seal.Benchmark("sky", tools=[WEATHER], tasks=[task])
    said = [
        list(seal.run(bench, agent=Careless(), feedback=feedback, **how).messages["content"])
        for how in ({}, {"unrecorded": "empty"}, {"unrecorded": "simulate"})
    ]
    assert said[0] == said[1] == said[2]


def test_another_setting_is_refused():
    with pytest.raises(
        UnknownNameError, match="no value of feedback 'maybe'; known: auto, off, on"
    ):
        RunSettings(pool="sample", feedback="maybe")
