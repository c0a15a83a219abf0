"""Interfaces of providers beside chat completions, each against its published shape."""

import pytest
from servers import answer, failure, text

from seal.core import Message, ModelError, Request, SealError, Tool, ToolCall, Usage
from seal.models import build_model, model_identity

WEATHER = Tool(
    "demo/weather/now",
    "weather.now",
    "Weather of a city",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
CALL = ToolCall("call_0", "weather.now", {"city": "Bern"})
TALK = (
    Message("system", "Be brief."),
    Message("user", "Weather in Bern?"),
    Message("assistant", "", (CALL,)),
    Message("tool", '{"celsius": 7}', call_id="call_0"),
)
ASK = Request(TALK, (WEATHER,), seed=7, max_tokens=90)


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_API_KEY", "key-of-tests")
        monkeypatch.delenv(f"{name}_BASE_URL", raising=False)


# OpenAI's responses


def response(*output, **fields):
    usage = {
        "input_tokens": 31,
        "output_tokens": 12,
        "output_tokens_details": {"reasoning_tokens": 5},
        "total_tokens": 43,
    }
    whole = {"id": "resp_1", "object": "response", "status": "completed", "error": None}
    return answer({**whole, "output": list(output), "usage": usage, **fields})


def said(words, kind="output_text"):
    part = {"type": kind, "refusal" if kind == "refusal" else "text": words}
    return {"type": "message", "role": "assistant", "status": "completed", "content": [part]}


THOUGHT = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Look it up."}]}
CALLED = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_x",
    "name": "weather_now",
    "arguments": '{"city": "Oslo"}',
    "status": "completed",
}


def test_a_chat_is_sent_as_items_of_a_response(model_server):
    server = model_server([response(THOUGHT, said("7 degrees."))])
    model = build_model(
        f"openai/gpt-5,base_url={server.url},api=responses,reasoning_effort=low,verbosity=low"
    )
    found = model.complete(ASK)
    assert server.received[0].path == "/v1/responses"
    assert server.received[0].body == {
        "model": "gpt-5",
        "input": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Weather in Bern?"},
            {
                "type": "function_call",
                "call_id": "call_0",
                "name": "weather_now",
                "arguments": '{"city":"Bern"}',
            },
            {"type": "function_call_output", "call_id": "call_0", "output": '{"celsius": 7}'},
        ],
        "store": False,
        "tools": [
            {
                "type": "function",
                "strict": False,
                "name": "weather_now",
                "description": "Weather of a city",
                "parameters": WEATHER.parameters,
            }
        ],
        "reasoning": {"effort": "low"},
        "text": {"verbosity": "low"},
        "max_output_tokens": 90,
    }
    assert (found.content, found.reasoning) == ("7 degrees.", "Look it up.")
    assert found.usage == Usage(31, 12, reasoning=5)


def test_calls_and_ends_of_a_response_are_those_of_a_chat(model_server):
    full = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    server = model_server(
        [
            response(THOUGHT, CALLED, CALLED),
            response(said("No.", "refusal")),
            response(said("It is"), **full),
        ]
    )
    model = build_model(f"openai/gpt-5,base_url={server.url},api=responses")
    called, refused, cut = (model.complete(ASK) for _ in range(3))
    assert called.calls == (ToolCall("", "weather.now", {"city": "Oslo"}),) * 2
    assert refused.content == "No."
    assert (cut.content, cut.truncated, cut.finish_reason) == ("It is", True, "length")


def test_json_is_asked_for_in_the_field_of_responses(model_server):
    server = model_server([response(said("{}"))])
    model = build_model(f"openai/gpt-4.1,base_url={server.url},api=responses")
    model.complete(Request((Message("user", "Give JSON."),), json_object=True))
    assert server.received[0].body["text"] == {"format": {"type": "json_object"}}


def test_a_response_that_failed_is_tried_again(model_server):
    error = {"code": "server_error", "message": "try later"}
    server = model_server([response(status="failed", error=error), response(said("Yes."))])
    model = build_model(f"openai/x,base_url={server.url},api=responses,first_wait_s=0.001")
    assert model.complete(ASK).content == "Yes."
    for wrong in (answer([]), answer({"output": 3}), failure(400, "no")):
        server = model_server([wrong])
        model = build_model(f"openai/x,base_url={server.url},api=responses,max_tries=1")
        with pytest.raises(ModelError):
            model.complete(ASK)


def test_the_interface_is_part_of_what_a_model_is():
    asked = [f"openai/x,base_url=http://a/v1{more}" for more in ("", ",api=chat", ",api=responses")]
    chat, also_chat, other = (model_identity(spec, None, build_model(spec)) for spec in asked)
    assert chat == also_chat != other
    with pytest.raises(SealError, match="api=respnses: expected chat or responses"):
        build_model("openai/x,api=respnses")


# Azure


def test_azure_is_asked_by_deployment_version_and_its_own_header(model_server, monkeypatch):
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure-key")
    proxy = model_server([text("Hi.")])
    monkeypatch.setenv("http_proxy", proxy.root)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    place = "http://mine.openai.azure.com/openai/deployments/d1?api-version=2024-10-21"
    model = build_model(f"openai/d1,base_url={place},key_env=AZURE_OPENAI_API_KEY")
    assert model.complete(ASK).content == "Hi."
    (received,) = proxy.received
    assert received.path == place.replace("?", "/chat/completions?")
    assert received.headers["api-key"] == "azure-key"
    assert "authorization" not in received.headers


def test_a_key_goes_into_the_header_that_a_gateway_wants(model_server):
    server = model_server([text("Hi."), failure(400, "bad key-of-tests")])
    model = build_model(f"openai/x,base_url={server.url},key_header=Subscription-Key,max_tries=1")
    model.complete(ASK)
    assert server.received[0].headers["subscription-key"] == "key-of-tests"
    assert "authorization" not in server.received[0].headers
    with pytest.raises(ModelError, match=r"bad \*\*\*"):
        model.complete(ASK)
