import importlib.util

import pytest
from servers import answer, failure, garbage, half, nothing

from seal.core import (
    Message,
    MissingExtraError,
    ModelError,
    Request,
    Tool,
    ToolCall,
    Usage,
    UsageError,
)
from seal.models import ModelSettings, build_model
from seal.models.gemini_chat import gemini_config, gemini_contents, parse_gemini
from seal.models.wire import MalformedAnswerError, wire_tools

KEY = "AIza-distinctive-key"
WEATHER = Tool("demo/weather/now", "7day weather", "Weather", {"type": "object", "properties": {}})
TOOLS = wire_tools((WEATHER,), leading_letter=True)
HISTORY = (
    Message("system", "Be brief."),
    Message("user", "Weather in Bern and Rome?"),
    Message(
        "assistant",
        "",
        (
            ToolCall("c0", "7day weather", {"city": "Bern"}),
            ToolCall("c1", "7day weather", None, "{"),
        ),
    ),
    Message("tool", '{"sky": "blue"}', call_id="c0"),
    Message("tool", "an error", call_id="c1"),
)
ASK = Request(HISTORY, (WEATHER,), seed=3)


def spoken(*parts, **fields):
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": "STOP"}
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 2, "thoughtsTokenCount": 3}
    return {"candidates": [{**candidate, **fields}], "usageMetadata": usage}


def test_results_of_one_reply_are_one_content_and_name_their_function():
    contents = gemini_contents(HISTORY, TOOLS)
    assert [content["role"] for content in contents] == ["user", "model", "user"]
    calls = [part["function_call"] for part in contents[1]["parts"]]
    assert calls == [
        {"name": "_7day_weather", "args": {"city": "Bern"}},
        {"name": "_7day_weather", "args": {"unparsable_arguments": "{"}},
    ]
    responses = [part["function_response"] for part in contents[2]["parts"]]
    assert [r["response"] for r in responses] == [{"sky": "blue"}, {"result": "an error"}]
    assert {r["name"] for r in responses} == {"_7day_weather"}


def test_the_first_call_of_a_reply_carries_the_signature():
    parts = gemini_contents(HISTORY, TOOLS, b"s")[1]["parts"]
    assert ["thought_signature" in part for part in parts] == [True, False]


def test_the_configuration_holds_system_text_tools_and_parameters():
    config = gemini_config(ASK, TOOLS, options={"seed": None, "top_k": 4})
    assert config["system_instruction"] == "Be brief."
    assert config["temperature"] == 0.0 and "seed" not in config and config["top_k"] == 4
    (declared,) = config["tools"][0]["function_declarations"]
    assert declared["name"] == "_7day_weather"
    assert declared["parameters_json_schema"] == WEATHER.parameters


def test_an_answer_becomes_text_calls_and_usage():
    answered, counted = parse_gemini(
        spoken(
            {"text": "thinking", "thought": True},
            {"text": "Let me look."},
            {"functionCall": {"name": "_7day_weather", "args": {"city": "Bern"}}},
        ),
        TOOLS,
    )
    assert counted and answered.usage == Usage(9, 5, reasoning=3)
    assert (answered.reasoning, answered.finish_reason) == ("thinking", "stop")
    assert answered.content == "Let me look."
    assert answered.calls == (ToolCall("", "7day weather", {"city": "Bern"}),)


def test_a_blocked_prompt_is_an_empty_text_and_no_candidate_at_all_is_malformed():
    assert parse_gemini({"promptFeedback": {"blockReason": "SAFETY"}}, TOOLS)[0].content == ""
    assert parse_gemini(spoken(finishReason="MAX_TOKENS"), TOOLS)[0].truncated
    with pytest.raises(MalformedAnswerError):
        parse_gemini({}, TOOLS)


def test_without_a_key_the_variable_is_named(monkeypatch):
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    with pytest.raises(UsageError, match="set GOOGLE_API_KEY"):
        build_model("gemini/gemini-2.5-flash")


sdk = pytest.mark.skipif(
    importlib.util.find_spec("google") is None or importlib.util.find_spec("google.genai") is None,
    reason="google-genai is not installed: the extra 'gemini' brings it",
)


@pytest.mark.skipif(not sdk.args[0], reason="google-genai is installed")
def test_without_the_library_its_extra_is_named(monkeypatch):
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    with pytest.raises(MissingExtraError, match=r"seal-api-llms\[gemini\]"):
        build_model("gemini/gemini-2.5-flash")


@pytest.fixture
def model_of(model_server, monkeypatch):
    def build(script, name="gemini-3-any"):
        monkeypatch.setenv("GOOGLE_API_KEY", KEY)
        server = model_server(script)
        settings = ModelSettings(
            base_url=server.root, first_wait_s=0.001, max_wait_s=0.01, max_tries=2, timeout_s=5
        )
        return build_model(f"gemini/{name}", settings), server

    return build


@sdk
def test_the_library_sends_the_request_and_reads_the_answer(model_of):
    model, server = model_of([answer(spoken({"text": "Sunny."}))])
    answered = model.complete(ASK)
    assert (answered.content, answered.usage) == ("Sunny.", Usage(9, 5, reasoning=3))
    received = server.received[0]
    assert received.path.endswith("/models/gemini-3-any:generateContent")
    assert received.headers["x-goog-api-key"] == KEY
    body = received.body
    assert body["generationConfig"]["seed"] == 3
    assert body["systemInstruction"]["parts"][0]["text"] == "Be brief."
    assert body["contents"][1]["parts"][0]["functionCall"]["args"] == {"city": "Bern"}
    assert "thoughtSignature" in body["contents"][1]["parts"][0]


@sdk
@pytest.mark.parametrize(
    "broken", [failure(429), failure(500), garbage(), half(), nothing(), answer({})]
)
def test_a_failure_that_may_pass_is_tried_again_and_then_told(model_of, broken):
    model, _ = model_of([broken, answer(spoken({"text": "Sunny."}))])
    assert model.complete(ASK).content == "Sunny."
    model, server = model_of([broken] * 2)
    with pytest.raises(ModelError, match="tried 2 times"):
        model.complete(ASK)
    assert len(server.received) == 2


@sdk
@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_refusal_is_told_at_once_and_without_the_key(model_of, status):
    model, server = model_of([failure(status, f"bad {KEY}")])
    with pytest.raises(ModelError, match=f"HTTP {status}") as caught:
        model.complete(ASK)
    assert KEY not in str(caught.value) and caught.value.__context__ is None
    assert len(server.received) == 1
