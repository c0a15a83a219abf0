"""Models shown tools, calls and results as text: what is sent, what comes of the answer."""

import json

import pytest
from servers import text

from seal.core import Completion, Message, Request, Tool, ToolCall
from seal.models.given_answers import ScriptedModel
from seal.models.presentation import Example, ExampleCalls, Presentation, presented
from seal.models.spec import ModelSettings, build_model

WEATHER = Tool(
    "demo/weather",
    "weather",
    "Weather of a city",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
BERN = ToolCall("call_0", "weather", {"city": "Bern"})
OSLO = ToolCall("call_1", "weather", {"city": "Oslo"})
ASK = Request(
    (Message("system", "Be brief."), Message("user", "Weather in Bern?")),
    (WEATHER,),
    "execution_manager",
)
TOLD = Request(
    (
        *ASK.messages,
        Message("assistant", "I look.", (BERN, OSLO)),
        Message("tool", "sunny", call_id="call_1"),
        Message("tool", "rain", call_id="call_0"),
    ),
    (WEATHER,),
    "execution_manager",
)
EXAMPLE = Example(
    "Weather in Rome?",
    (ExampleCalls((ToolCall("", "weather", {"city": "Rome"}),), ("warm",)),),
    "It is warm.",
)


class Echo:
    """A model that keeps what it was asked, and gives the same answer always."""

    def __init__(self, answer: str = "Well.") -> None:
        self.answer = answer
        self.asked: list[Request] = []

    def complete(self, request: Request) -> Completion:
        self.asked.append(request)
        return Completion(self.answer)


def ask(request: Request, how: Presentation, answer: str = "Well.") -> tuple[Request, Completion]:
    """Return what the model was sent, and what came of its answer."""
    model = Echo(answer)
    completion = presented(model, model, how).complete(request)
    return model.asked[0], completion


@pytest.mark.parametrize("format", ["action", "json"])
def test_tools_stand_in_the_system_message_and_nowhere_else(format):
    sent, _ = ask(ASK, Presentation(format))
    assert sent.tools == ()
    system, user = sent.messages
    assert system.role == "system" and system.content.startswith("Be brief.\n\nYou call tools")
    assert json.loads(system.content.splitlines()[-1]) == {
        "name": "weather",
        "description": "Weather of a city",
        "parameters": WEATHER.parameters,
    }
    assert user == ASK.messages[1]


def test_without_a_system_message_one_is_made():
    sent, _ = ask(Request(ASK.messages[1:], ASK.tools), Presentation("json"))
    assert [message.role for message in sent.messages] == ["system", "user"]


@pytest.mark.parametrize(
    ("format", "said", "heard"),
    [
        (
            "action",
            'I look.\nAction: weather\nAction Input: {"city":"Bern"}\n'
            'Action: weather\nAction Input: {"city":"Oslo"}',
            "Observation of weather: sunny\n\nObservation of weather: rain",
        ),
        (
            "json",
            'I look.\n{"name":"weather","arguments":{"city":"Bern"}}\n'
            '{"name":"weather","arguments":{"city":"Oslo"}}',
            "Result of weather: sunny\n\nResult of weather: rain",
        ),
    ],
)
def test_calls_and_results_are_words_of_two_sides_that_take_turns(format, said, heard):
    sent, _ = ask(TOLD, Presentation(format))
    assert [m.role for m in sent.messages] == ["system", "user", "assistant", "user"]
    assert [m.content for m in sent.messages[2:]] == [said, heard]
    assert not any(message.calls for message in sent.messages)


def test_native_calls_keep_their_tools_where_only_results_are_text():
    sent, _ = ask(TOLD, Presentation("native-text"))
    assert sent.tools == (WEATHER,)
    assert [(m.role, m.content, m.calls) for m in sent.messages[2:]] == [
        ("assistant", 'I look.\nweather({"city":"Bern"})\nweather({"city":"Oslo"})', ()),
        ("user", "Result of weather: sunny", ()),
        ("user", "Result of weather: rain", ()),
    ]


@pytest.mark.parametrize(
    ("format", "answer"),
    [
        ("action", 'Thought: so\nAction: weather\nAction Input: {"city": "Bern"}'),
        ("json", 'Thought: so\n{"name": "weather", "arguments": {"city": "Bern"}}'),
    ],
)
def test_calls_in_the_answer_are_calls(format, answer):
    _, completion = ask(ASK, Presentation(format), answer)
    assert completion.content == "Thought: so"
    assert completion.calls == (ToolCall("", "weather", {"city": "Bern"}),)


@pytest.mark.parametrize(
    ("format", "thought", "answer"),
    [
        (
            "action",
            "Action: news\nAction Input: {}",
            'Action: weather\nAction Input: {"city": "Bern"}',
        ),
        ("json", '{"name": "news"}', '{"name": "weather", "arguments": {"city": "Bern"}}'),
        ("bracket", "[news()]", "[weather(#city='Bern')]"),
    ],
)
def test_calls_in_the_thinking_are_no_calls(format, thought, answer):
    _, completion = ask(ASK, Presentation(format), f"<think>{thought}</think>\n{answer}")
    assert [call.name for call in completion.calls] == ["weather"]
    assert (completion.content, completion.reasoning) == ("", thought)


def test_an_answer_that_was_cut_off_is_not_closed():
    class Cut(Echo):
        def complete(self, request: Request) -> Completion:
            return Completion('Action: weather\nAction Input: {"city": "Be', truncated=True)

    model = Cut()
    (call,) = presented(model, model, Presentation("action")).complete(ASK).calls
    assert call.arguments is None


@pytest.mark.parametrize("format", ["action", "json"])
def test_a_role_without_tools_is_asked_as_it_asks(format):
    request = Request((Message("user", "Action: weather"),), role="orchestrator")
    sent, completion = ask(request, Presentation(format), 'Action: x\nAction Input: {"a": 1}')
    assert (sent, completion.calls) == (request, ())


def test_a_plain_presentation_is_the_model_itself():
    model = Echo()
    assert presented(model, model, Presentation()) is model


def test_a_server_without_tool_calling_is_sent_no_tools_and_makes_calls(model_server):
    server = model_server([text('Action: weather\nAction Input: {"city": "Bern"}')])
    spec = "openai/small"
    model = build_model(spec, ModelSettings(base_url=server.url))
    answer = presented(model, spec, Presentation("action")).complete(TOLD)
    assert [call.name for call in answer.calls] == ["weather"]
    body = server.received[0].body
    assert "tools" not in body
    assert {message["role"] for message in body["messages"]} == {"system", "user", "assistant"}


@pytest.mark.parametrize(
    ("format", "lines"),
    [
        (
            "action",
            'Action: weather\nAction Input: {"city":"Rome"}\nObservation: warm\nFinal Answer: It '
            "is warm.",
        ),
        ("json", '{"name":"weather","arguments":{"city":"Rome"}}\nResult: warm\nIt is warm.'),
        ("native", 'weather({"city":"Rome"})\nResult of weather: warm\nIt is warm.'),
    ],
)
def test_an_example_is_told_in_the_format_of_the_run_and_to_the_manager_alone(format, lines):
    how = Presentation(format, example=EXAMPLE)
    sent, _ = ask(ASK, how)
    assert sent.messages[0].content.endswith(f"Request: Weather in Rome?\n{lines}")
    other = Request(ASK.messages, ASK.tools, "user_simulator")
    assert "Rome" not in ask(other, how)[0].messages[0].content


@pytest.mark.parametrize("format", ["action", "json"])
def test_an_offline_model_is_asked_with_tools_and_its_calls_go_through_the_form(format):
    model = build_model("lexical")
    answer = presented(model, "lexical", Presentation(format)).complete(ASK)
    assert answer == model.complete(ASK)
    assert answer.calls == (ToolCall("", "weather", {"city": "Bern"}),)


def test_a_script_may_answer_in_the_form_or_in_calls(tmp_path):
    script = tmp_path / "script.json"
    words = 'Action: weather\nAction Input: {"city": "Bern"'
    script.write_text(json.dumps([words, {"calls": [{"name": "weather", "arguments": {}}]}]))
    spec = f"scripted:{script}"
    model = presented(build_model(spec), spec, Presentation("action"))
    first, second = model.complete(ASK), model.complete(ASK)
    assert first.calls == (ToolCall("", "weather", {"city": "Bern"}, words),)
    assert second.calls == (ToolCall("", "weather", {}),)


@pytest.mark.parametrize("format", ["action", "json"])
def test_a_scripted_call_that_cannot_be_read_stays_one(format, tmp_path):
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"calls": [{"name": "weather", "arguments": "Bern!"}]}]))
    spec = f"scripted:{script}"
    (call,) = presented(build_model(spec), spec, Presentation(format)).complete(ASK).calls
    assert (call.name, call.arguments) == ("weather", None)
    assert "Bern!" in call.raw


def test_what_is_replayed_stays_as_it_was_said():
    model = ScriptedModel(["Action: weather"])
    assert presented(model, "replay:somewhere", Presentation("action")) is model
