import json
import re
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator
from looped import every_case

from seal.core import (
    Completion,
    Execution,
    ModelError,
    Step,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
)
from seal.core.store import Store
from seal.simulator_cache.answer_cache import Cached
from seal.simulator_cache.llm import LLM
from seal.simulator_cache.recorded import RecordedAnswers

TOOL = Tool("lab/weather/now", "now_for_weather", "Weather of a city.", category="Weather")
GOOD = '{"error": "", "response": {"temperature": 4}}'


class Script:
    """A model that says one line after the other and remembers what it was asked."""

    def __init__(self, *lines: str | Completion) -> None:
        self._lines = list(lines)
        self.requests = []

    def complete(self, request):
        self.requests.append(request)
        line = self._lines.pop(0)
        return line if isinstance(line, Completion) else Completion(line)


def recorded(*answers: tuple[dict, object], error: dict | None = None) -> RecordedAnswers:
    steps = []
    for number, (arguments, response) in enumerate(answers):
        call = ToolCall(f"call_{number}", TOOL.name, arguments, tool=TOOL.id)
        content = json.dumps({"error": "", "response": response})
        executed = Execution(TOOL.id, arguments)
        result = ToolResult(call.id, content, error, response, executed)
        steps.append(Step(2 * number, "execution_manager", "executor", call=call))
        steps.append(Step(2 * number + 1, "executor", "execution_manager", result=result))
    return RecordedAnswers([Trajectory("t", 0, tuple(steps))], {TOOL.id: TOOL})


def test_the_model_gets_the_document_and_the_input_and_its_answer_is_taken():
    model = Script(GOOD)
    answer = LLM(model, "lab/one").respond(TOOL, {"city": "Oslo"})
    assert (answer.response, answer.error, answer.cacheable) == ({"temperature": 4}, "", True)
    (request,) = model.requests
    asked = json.loads(request.messages[-1].content)
    assert asked["documentation"]["description"] == "Weather of a city."
    assert asked["input"] == {"city": "Oslo"}
    assert "real answers" not in asked
    assert (request.role, request.temperature, request.json_object) == ("simulator", 0.0, True)
    assert request.max_tokens == 1024


HOTELS = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "pattern": "[A-Z]", "description": "Of the hotel."},
            "stars": {"enum": [1, 2, 3]},
            "left": {"$ref": "#/$defs/rooms"},
        },
        "required": ["name"],
    },
    "$defs": {"rooms": {"type": "integer"}},
}


@pytest.mark.parametrize("answer", [{}, {"error": ""}, {"error": "", "response": []}])
def test_a_model_that_writes_by_a_schema_is_held_to_the_documented_shape(answer):
    model = Script(GOOD)
    LLM(model, "m").respond(replace(TOOL, returns=HOTELS), {})
    (request,) = model.requests
    held = Draft202012Validator(request.json_schema)
    hotel = {"name": "Opal", "stars": 2, "left": 4}
    assert held.is_valid({"error": "", "response": [hotel, hotel]})
    assert not held.is_valid({"error": "", "response": [{"name": "Opal"}]})
    assert not held.is_valid({"error": "", "response": [{**hotel, "stars": 7}]})
    assert not held.is_valid({"error": "", "response": [{**hotel, "name": "la" * 99}]})
    assert not held.is_valid({"error": "", "response": [hotel] * 3})
    assert not held.is_valid(answer)
    assert not {"pattern", "$ref", "description"} & set(re.findall(r"[$\w]+", str(held.schema)))


@pytest.mark.parametrize("returns", [None, "Returns the weather, mostly.", {"type": "object"}])
def test_where_no_shape_is_documented_any_object_is_an_answer(returns):
    model = Script(GOOD)
    LLM(model, "m").respond(replace(TOOL, returns=returns), {})
    assert Draft202012Validator(model.requests[0].json_schema).is_valid(json.loads(GOOD))


@every_case(
    "garbage",
    [
        "",
        "I cannot do that.",
        '{"error": "", "response": {"a": 1}',
        "[]",
        "null",
        '{"response": {"a": 1}}',
        '{"error": "", "response": 1, "note": "simulated"}',
        '{"error": null, "response": 1}',
        '{"error": "", "response": ""}',
        '{"error": "", "response": NaN}',
        Completion(GOOD, truncated=True),
    ],
)
def test_a_useless_answer_is_asked_for_again(garbage):
    model = Script(garbage, garbage, GOOD)
    assert LLM(model, "m").respond(TOOL, {}).response == {"temperature": 4}
    assert len({request.seed for request in model.requests}) == 3


def test_garbage_three_times_is_an_error_that_is_kept_for_replays_alone(tmp_path):
    with Store(tmp_path / "answers.sqlite") as store:
        model = Script("no", "no", "no", GOOD)
        cached = Cached(LLM(model, "m"), store)
        failed = cached.respond(TOOL, {})
        assert (failed.kind, failed.cacheable, failed.response) == ("simulator", False, "")
        assert "no usable answer in 3 tries: not JSON" in failed.error
        assert store.stats().entries == {"simulator_failure": 1}
        assert cached.respond(TOOL, {}).response == {"temperature": 4}


def test_the_error_of_the_api_is_an_answer():
    answer = LLM(Script('{"error": "unknown city", "response": ""}'), "m").respond(TOOL, {})
    assert (answer.error, answer.cacheable, answer.kind) == ("unknown city", True, "api")


def test_a_failing_server_is_passed_on():
    class Down:
        def complete(self, request):
            raise ModelError("no connection")

    with pytest.raises(ModelError):
        LLM(Down(), "m").respond(TOOL, {})


def test_at_most_five_recorded_answers_are_shown():
    model = Script(GOOD)
    answers = recorded(*(({"city": f"c{n}"}, {"temperature": n}) for n in range(8)))
    LLM(model, "m", answers).respond(TOOL, {"city": "Oslo"})
    shown = json.loads(model.requests[0].messages[-1].content)["real answers"]
    assert [example["input"]["city"] for example in shown] == ["c0", "c1", "c2", "c3", "c4"]
    assert shown[0]["output"] == {"error": "", "response": {"temperature": 0}}


def test_long_answers_are_passed_over_within_2048_characters():
    model = Script(GOOD)
    answers = recorded(({"n": 1}, "a" * 1500), ({"n": 2}, "b" * 1500), ({"n": 3}, "c" * 300))
    LLM(model, "m", answers).respond(TOOL, {})
    shown = json.loads(model.requests[0].messages[-1].content)["real answers"]
    assert [example["input"]["n"] for example in shown] == [1, 3]


def test_recorded_errors_are_no_examples():
    model = Script(GOOD)
    answers = recorded(({"n": 1}, "x"), error={"kind": "service", "message": "unsubscribed"})
    LLM(model, "m", answers).respond(TOOL, {})
    assert "real answers" not in json.loads(model.requests[0].messages[-1].content)


def test_examples_are_part_of_the_version_and_the_model_of_the_identity():
    alone = LLM(Script(), "lab/one")
    taught = LLM(Script(), "lab/one", recorded(({"n": 1}, "x")))
    assert alone.prompt_version(TOOL) != taught.prompt_version(TOOL)
    assert alone.prompt_digest == taught.prompt_digest
    assert alone.identity == "llm/lab/one"
