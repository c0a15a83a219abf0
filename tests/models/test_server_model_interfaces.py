"""Interfaces of providers beside chat completions, each against its published shape."""

import json
import logging
from dataclasses import replace
from importlib.util import find_spec

import pytest
from looped import every_case
from servers import Answer, answer, failure, garbage, message, nothing, text
from wire_answers import events

import seal
from seal.core import (
    Completion,
    Message,
    ModelError,
    Request,
    RequestError,
    SealError,
    Tool,
    ToolCall,
    Usage,
    UsageError,
)
from seal.core.store import Store
from seal.models.cached_model import CachedModel
from seal.models.spec import build_model, model_identity

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
        "stream": True,
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
            response(THOUGHT, CALLED, {**CALLED, "call_id": "call_y"}),
            response(said("No.", "refusal")),
            response(said("It is"), **full),
        ]
    )
    model = build_model(f"openai/gpt-5,base_url={server.url},api=responses")
    called, refused, cut = (model.complete(ASK) for _ in range(3))
    assert called.calls == (ToolCall("", "weather.now", {"city": "Oslo"}),) * 2
    assert refused.content == "No."
    assert (cut.content, cut.truncated, cut.finish_reason) == ("It is", True, "length")


def test_a_call_that_is_not_complete_in_a_response_that_is_is_asked_for_again(model_server):
    cut = {**CALLED, "arguments": '{"city": "Os', "status": "incomplete"}
    server = model_server([response(cut), response(CALLED)])
    model = build_model(f"openai/gpt-5,base_url={server.url},api=responses,first_wait_s=0.01")
    assert model.complete(ASK).calls == (ToolCall("", "weather.now", {"city": "Oslo"}),)
    assert len(server.received) == 2


@pytest.mark.parametrize("streamed", [False, True])
def test_words_that_stand_beside_an_empty_output_are_read(model_server, streamed):
    whole = {"object": "response", "status": "completed", "output": [], "output_text": "Sunny."}
    ended = events(("response.completed", {"type": "response.completed", "response": whole}))
    server = model_server([ended if streamed else answer(whole)])
    stream = json.dumps(streamed)
    model = build_model(f"openai/m,base_url={server.url},api=responses,stream={stream}")
    assert model.complete(ASK).content == "Sunny."


def test_parameters_in_place_of_arguments_are_read_in_responses(model_server):
    named = {name: value for name, value in CALLED.items() if name != "arguments"}
    server = model_server([response({**named, "parameters": {"city": "Oslo"}})])
    model = build_model(f"openai/gpt-5,base_url={server.url},api=responses")
    assert model.complete(ASK).calls == (ToolCall("", "weather.now", {"city": "Oslo"}),)


def test_json_is_asked_for_in_the_field_of_responses(model_server):
    server = model_server([response(said("{}"))])
    model = build_model(f"openai/gpt-4.1,base_url={server.url},api=responses")
    model.complete(Request((Message("user", "Give JSON."),), json_object=True))
    assert server.received[0].body["text"] == {"format": {"type": "json_object"}}


@every_case(
    ("field", "value"),
    [
        ("stop", "END"),
        ("seed", 1),
        ("presence_penalty", 0.5),
        ("frequency_penalty", 0.5),
        ("logprobs", True),
        ("logit_bias", {"5": 1}),
    ],
)
def test_a_field_that_responses_lack_is_refused_before_anything_is_sent(field, value):
    there = {"base_url": "http://h/v1"}
    with pytest.raises(UsageError, match=f"no field '{field}', so it would not be sent"):
        build_model(seal.Model("openai/gpt-5", api="responses", **there, **{field: value}))
    build_model(seal.Model("openai/gpt-5", api="responses", **there, **{field: None}))
    build_model(seal.Model("openai/gpt-5", **there, **{field: value}))


def test_a_choice_of_one_tool_has_the_form_of_responses(model_server):
    server = model_server([response(CALLED)])
    choice = {"type": "function", "function": {"name": "weather_now"}}
    named = seal.Model("openai/gpt-5", base_url=server.url, api="responses", tool_choice=choice)
    build_model(named).complete(ASK)
    assert server.received[0].body["tool_choice"] == {"type": "function", "name": "weather_now"}


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


@pytest.mark.parametrize("status", ["queued", "in_progress"])
def test_a_response_that_is_still_to_be_made_is_no_answer(model_server, status):
    server = model_server([response(said(""), status=status)])
    model = build_model(
        f'openai/x,base_url={server.url},api=responses,stream=false,extra_body={{"background":true}}'
    )
    with pytest.raises(RequestError, match=f"only {status}. Leave background out"):
        model.complete(ASK)
    assert len(server.received) == 1 and "stream" not in server.received[0].body


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


# Anthropic's messages

USAGE = {
    "input_tokens": 20,
    "cache_creation_input_tokens": 4,
    "cache_read_input_tokens": 7,
    "output_tokens": 12,
}
SIGNED = {"type": "thinking", "thinking": "Look it up.", "signature": "c2lnbmVk"}
USED = {"type": "tool_use", "id": "toolu_1", "name": "weather_now", "input": {"city": "Oslo"}}


def whole(*content, stop="end_turn"):
    made = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x"}
    return made | {"content": list(content), "stop_reason": stop, "usage": USAGE}


def streamed(*content, stop="end_turn"):
    """Return a message as the events of a stream."""
    begun = whole() | {"stop_reason": None}
    events = [{"type": "message_start", "message": begun}]
    for index, block in enumerate(content):
        words = {k: block[k] for k in ("text", "thinking", "signature") if k in block}
        empty = block | dict.fromkeys(words, "") | ({"input": {}} if "input" in block else {})
        deltas = [{"type": f"{kind}_delta", kind: said} for kind, said in words.items()]
        if "input" in block:
            deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
        events.append({"type": "content_block_start", "content_block": empty, "index": index})
        events += [{"type": "content_block_delta", "delta": d, "index": index} for d in deltas]
        events.append({"type": "content_block_stop", "index": index})
    events.append({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": USAGE})
    return by_events([*events, {"type": "message_stop"}])


def by_events(events):
    text = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)
    return Answer(text.encode(), headers={"Content-Type": "text/event-stream"})


@pytest.fixture
def claude(model_server):
    pytest.importorskip("anthropic", reason="the extra anthropic is not installed")

    made = []

    def build(script, **options):
        server = model_server(script)
        quick = {"first_wait_s": 0.001, "max_wait_s": 0.05, **options}
        made.append(build_model(seal.Model("anthropic/claude-x", base_url=server.url, **quick)))
        return made[-1], server

    yield build
    for model in made:  # the SDK leaves connections open that broke off
        model._server._connection().close()


@pytest.mark.parametrize("stream", [True, False])
def test_a_chat_is_sent_as_a_message_of_anthropic(claude, stream):
    blocks = SIGNED, {"type": "text", "text": "I look."}, USED
    given = (
        streamed(*blocks, stop="tool_use") if stream else answer(whole(*blocks, stop="tool_use"))
    )
    model, server = claude([given], stream=stream, top_k=5, key_header="x-api-key")
    found = model.complete(ASK)
    (received,) = server.received
    assert received.path == "/v1/messages"
    assert "authorization" not in received.headers
    assert received.headers["x-api-key"] == "key-of-tests"
    body = received.body
    assert body.pop("stream", False) is stream
    use = {"type": "tool_use", "id": "call_0", "name": "weather_now", "input": {"city": "Bern"}}
    result = {"type": "tool_result", "tool_use_id": "call_0", "content": '{"celsius": 7}'}
    assert body == {
        "model": "claude-x",
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Weather in Bern?"}]},
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [result]},
        ],
        "tools": [
            {
                "name": "weather_now",
                "description": "Weather of a city",
                "input_schema": WEATHER.parameters,
            }
        ],
        "temperature": 0.0,
        "max_tokens": 90,
        "top_k": 5,
        "cache_control": {"type": "ephemeral"},
    }
    assert (found.content, found.reasoning) == ("I look.", "Look it up.")
    assert found.calls == (ToolCall("", "weather.now", {"city": "Oslo"}),)
    assert found.finish_reason == "tool_calls"
    assert (found.usage.tokens_in, found.usage.tokens_out) == (31, 12)


THINKS = {"thinking": {"type": "enabled", "budget_tokens": 2048}, "max_tokens": 4096}
QUESTION = Request((Message("user", "Weather in Oslo?"),), (WEATHER,))


def after(completion):
    """Return the request that follows on the call of a completion."""
    call = replace(completion.calls[0], id="call_0")
    said = Message("assistant", completion.content, (call,))
    told = (*QUESTION.messages, said, Message("tool", "7", call_id="call_0"))
    return Request(told, (WEATHER,))


def fine():
    return streamed({"type": "text", "text": "7 degrees."})


@pytest.mark.parametrize("mode", ["record", "off"])
def test_thinking_is_handed_back_with_the_calls_that_it_led_to(claude, tmp_path, mode):
    model, server = claude([streamed(SIGNED, USED, stop="tool_use"), fine(), fine()], **THINKS)
    with Store(tmp_path / "kept") as store:
        chat = CachedModel(model, store, model.identity, mode)
        second = after(chat.complete(QUESTION))
        chat.complete(second)
        said = replace(second.messages[1], content="Well:")  # by nobody of this chat
        chat.complete(replace(second, messages=(QUESTION.messages[0], said, second.messages[2])))
    first, second, third = (received.body for received in server.received)
    assert "temperature" not in first and "temperature" not in second
    assert second["messages"][1]["content"][0] == SIGNED
    assert "thinking" not in third and third["temperature"] == 0.0


def test_interleaved_thinking_goes_back_in_its_order(claude, tmp_path):
    second = SIGNED | {"thinking": "And again.", "signature": "YWdhaW4="}
    words = {"type": "text", "text": "I look."}
    blocks = (SIGNED, words, second, USED)
    model, server = claude([streamed(*blocks, stop="tool_use"), fine()], **THINKS)
    with Store(tmp_path / "kept") as store:
        chat = CachedModel(model, store, model.identity)
        chat.complete(after(chat.complete(QUESTION)))
    sent = server.received[1].body["messages"][1]["content"]
    assert sent == [SIGNED, words, second, USED | {"id": "call_0"}]


def test_adaptive_thinking_stays_on_after_a_call_without_thinking(claude, caplog):
    for thinking, stays in (({"type": "adaptive"}, True), (THINKS["thinking"], False)):
        model, server = claude([fine(), fine()], thinking=thinking, max_tokens=4096)
        for _ in range(2):
            model.complete(after(Completion(calls=(ToolCall("", "weather.now", {}),))))
        for received in server.received:
            assert ("thinking" in received.body) is stays
            assert ("temperature" in received.body) is not stays
        assert sum("go without thinking" in told for told in caplog.messages) == (not stays)


def test_thinking_of_a_kept_answer_is_handed_back_by_another_process(claude, tmp_path):
    first, _ = claude([streamed(SIGNED, USED, stop="tool_use")], **THINKS)
    with Store(tmp_path / "kept") as store:
        CachedModel(first, store, {"model": "claude"}).complete(QUESTION)
        again, server = claude([fine()], **THINKS)
        chat = CachedModel(again, store, {"model": "claude"})
        called = chat.complete(QUESTION)
        assert called.kept and called.reasoning == "Look it up."
        assert chat.complete(after(called)).content == "7 degrees."
    (received,) = server.received
    assert received.body["thinking"] == THINKS["thinking"]
    assert received.body["messages"][1]["content"][0] == SIGNED


@pytest.mark.filterwarnings("ignore:Pydantic serializer")
def test_arguments_that_anthropic_cannot_have_are_the_models_own(claude):
    model, _ = claude([answer(whole(SIGNED, USED | {"input": "{city"}))], stream=False)
    (call,) = model.complete(ASK).calls
    assert (call.arguments, call.raw) == (None, "{city")


def test_arguments_that_the_limit_cut_are_no_arguments_of_anthropics_either(claude):
    half = '{"city": "Bern", "days": [1, 2'
    parts = streamed(USED, stop="max_tokens").body.replace(
        json.dumps(json.dumps(USED["input"])).encode(), json.dumps(half).encode()
    )
    cut = Answer(parts, headers={"Content-Type": "text/event-stream"})
    model, _ = claude([cut, answer(whole(USED, stop="max_tokens"))])
    for raw in (half, '{"city": "Oslo"'):
        (call,) = model.complete(ASK).calls
        assert (call.arguments, call.raw) == (None, raw)


def test_an_answer_without_counts_is_estimated(claude):
    events = [{"type": "message_start", "message": whole() | {"usage": None, "stop_reason": None}}]
    events += [{"type": "content_block_start", "index": 0, "content_block": {"type": "text"}}]
    delta = {"type": "text_delta", "text": "Yes."}
    events += [{"type": "content_block_delta", "index": 0, "delta": delta}]
    events += [{"type": "message_delta", "delta": {"stop_reason": "end_turn"}}]
    model, _ = claude([by_events([*events, {"type": "message_stop"}])])
    found = model.complete(ASK)
    assert found.content == "Yes." and found.usage.estimated


def test_anthropic_takes_turns_that_begin_with_the_user(claude):
    model, server = claude([streamed({"type": "text", "text": "Hi."})], cache_control=None)
    talk = (Message("assistant", "Hello."), Message("user", ""), Message("user", "Who are you?"))
    model.complete(Request(talk))
    body = server.received[0].body
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
    texts = [block["text"] for message in body["messages"] for block in message["content"]]
    assert texts == ["(nothing)", "Hello.", "(nothing)", "Who are you?"]
    assert body["max_tokens"] > 0 and "cache_control" not in body


def fault(status, kind, said):
    return answer({"type": "error", "error": {"type": kind, "message": said}}, status)


def test_faults_of_anthropic_are_told_as_those_of_others(claude):
    fine = streamed({"type": "text", "text": "Yes."})
    broken = by_events(
        [
            {"type": "message_start", "message": whole()},
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        ]
    )
    amid = replace(fine, cut="half")
    anew = replace(fine, body=fine.body[: fine.body.index(b"event: message_delta")] + fine.body)
    last = fine.body.index(b"event: message_delta")
    unended = replace(fine, body=fine.body[:last])
    passing = (fault(529, "overloaded_error", "Overloaded"), broken, nothing(), garbage())
    for one in (*passing, amid, anew, unended):
        model, _ = claude([one, fine])
        assert model.complete(ASK).content == "Yes."
    for status, kind, said, match in (
        (401, "authentication_error", "bad key-of-tests", r"bad \*\*\*.*ANTHROPIC_API_KEY"),
        (404, "not_found_error", "model: claude-x", "Check the model's name"),
        (400, "invalid_request_error", "no such field", "no such field"),
        (
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API.",
            r"API\. The account behind ANTHROPIC_API_KEY has no credit left\.",
        ),
    ):
        model, server = claude([fault(status, kind, said)])
        with pytest.raises(ModelError, match=match) as told:
            model.complete(ASK)
        assert str(told.value).startswith(
            f"anthropic/claude-x at {server.url} answered HTTP {status}"
        )


def test_a_whole_answer_where_a_stream_was_asked_for_is_read_as_on_other_wires(claude):
    model, _ = claude([answer(whole({"type": "text", "text": "Yes."}))], max_tries=1)
    assert model.complete(ASK).content == "Yes."


def test_a_gateway_of_anthropics_interface_gets_the_key_in_its_header_alone(claude):
    fine = streamed({"type": "text", "text": "Yes."})
    model, server = claude([fine], key_header="Subscription-Key")
    model.complete(ASK)
    (received,) = server.received
    carriers = {name for name, value in received.headers.items() if "key-of-tests" in value}
    assert carriers == {"subscription-key"}


def test_a_key_that_anthropics_server_repeats_is_in_no_log(claude, caplog):
    caplog.set_level(logging.DEBUG)
    model, _ = claude([fault(401, "authentication_error", "bad key-of-tests")])
    with pytest.raises(ModelError, match=r"bad \*\*\*"):
        model.complete(ASK)
    assert "HTTP 401" in caplog.text and "key-of-tests" not in caplog.text


def test_a_full_window_and_a_refusal_of_anthropic_are_outcomes(claude):
    text = {"type": "text", "text": "It"}
    model, _ = claude(
        [
            fault(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000"),
            streamed(text, stop="max_tokens"),
            streamed(text, stop="refusal"),
        ]
    )
    with pytest.raises(RequestError) as told:
        model.complete(ASK)
    assert told.value.refusal == "context_overflow"
    assert model.complete(ASK).finish_reason == "length"
    assert model.complete(ASK).finish_reason == "content_filter"


def test_a_field_that_a_model_of_anthropic_refuses_is_left_out(claude):
    fine = streamed({"type": "text", "text": "Yes."})
    said = "`temperature` is deprecated for this model."
    model, server = claude([fault(400, "invalid_request_error", said), fine])
    assert model.complete(ASK).content == "Yes."
    assert "temperature" not in server.received[1].body


def test_an_address_of_the_environment_is_part_of_what_a_model_is(monkeypatch):
    pytest.importorskip("anthropic", reason="the extra anthropic is not installed")
    own = build_model("anthropic/claude-x").identity
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://gateway.example/v1")
    other = build_model("anthropic/claude-x").identity
    assert (own["base_url"], other["base_url"]) == (None, "http://gateway.example/v1")


def test_anthropic_without_a_key_is_told(monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(SealError, match="no key; set ANTHROPIC_API_KEY"):
        build_model("anthropic/claude-x")


# LiteLLM


@pytest.fixture
def lite(model_server, monkeypatch):
    if find_spec("litellm") is None:  # an import here would ask GitHub, and tell what failed later
        pytest.skip("the extra litellm is not installed")
    monkeypatch.setenv("LITE_KEY", "key-of-lite")

    def build(script, **options):
        server = model_server(script)
        quick = {"first_wait_s": 0.001, "max_wait_s": 0.05, "key_env": "LITE_KEY", **options}
        name = "litellm/openai/some-model"
        return build_model(seal.Model(name, base_url=server.url, **quick)), server

    return build


@pytest.mark.filterwarnings("ignore")  # of LiteLLM's own
def test_litellm_asks_as_its_provider_wants(lite):
    made = {"id": "x", "type": "function"}
    made["function"] = {"name": "weather_now", "arguments": '{"city": "Oslo"}'}
    model, server = lite([message(None, [made], "tool_calls"), failure(429), text("7 degrees.")])
    assert model.complete(ASK).calls == (ToolCall("", "weather.now", {"city": "Oslo"}),)
    assert model.complete(ASK).content == "7 degrees."
    (received, *_) = server.received
    assert received.headers["authorization"] == "Bearer key-of-lite"
    assert received.body["model"] == "some-model"
    assert received.body["messages"][2]["tool_calls"][0]["function"]["name"] == "weather_now"


@pytest.mark.filterwarnings("ignore")
def test_faults_that_litellm_tells_are_told_as_those_of_others(lite):
    model, server = lite([failure(401, "bad key-of-lite")])
    with pytest.raises(ModelError, match=r"bad \*\*\*"):
        model.complete(ASK)
    assert len(server.received) == 1
    model, _ = lite([failure(400, "This model's maximum context length is 10 tokens")])
    with pytest.raises(RequestError) as told:
        model.complete(ASK)
    assert told.value.refusal == "context_overflow"


@pytest.mark.filterwarnings("ignore")
def test_tools_reach_a_model_that_litellm_does_not_know(model_server, monkeypatch):
    pytest.importorskip("litellm", reason="the extra litellm is not installed")
    monkeypatch.setenv("LITE_KEY", "key-of-lite")
    server = model_server([text("7 degrees."), message(None, finish_reason="load")] * 2)
    options = f"base_url={server.url},key_env=LITE_KEY,max_tries=1"
    model = build_model(f"litellm/sambanova/new-model,{options}")
    assert model.complete(ASK).content == "7 degrees."
    assert server.received[0].body["tools"][0]["function"]["name"] == "weather_now"
    with pytest.raises(ModelError, match="ends by 'load'"):  # which LiteLLM calls `stop`
        model.complete(ASK)


@pytest.mark.filterwarnings("ignore")
def test_a_key_that_litellm_finds_by_itself_is_not_told(lite, monkeypatch):
    monkeypatch.setenv("GROQ_API_KEY", "gsk-of-a-provider")
    model, _ = lite([failure(400, "bad request to https://x?key=gsk-of-a-provider")])
    with pytest.raises(ModelError, match=r"key=\*\*\*"):
        model.complete(ASK)
