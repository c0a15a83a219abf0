import gzip
import io
import json
import logging
import os
import pickle
import subprocess
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from servers import (
    Answer,
    answer,
    calls,
    failure,
    garbage,
    half,
    installed,
    late,
    message,
    nothing,
    text,
)

from seal.core import Message, ModelError, Request, RequestError, Tool, ToolCall, Usage, UsageError
from seal.models.spec import Model, ModelSettings, build_model, model_identity

KEY = "sk-Zq81-distinctive+key/of=tests"
WEATHER = Tool(
    "demo/weather/now",
    "weather.now",
    "Weather of a city",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
ASK = Request((Message("user", "Weather in Bern?"),), (WEATHER,), seed=7)


@pytest.fixture(autouse=True)
def only_this_key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.fixture
def model_of(model_server):
    def build(script, **settings):
        server = model_server(script)
        quick = {"first_wait_s": 0.001, "max_wait_s": 0.05, "timeout_s": 5.0, **settings}
        return build_model("openai/any-model", ModelSettings(base_url=server.url, **quick)), server

    return build


@pytest.mark.parametrize("by_flag", [True, False])
def test_fields_that_one_server_knows_are_fields_of_the_request(model_server, by_flag):
    server = model_server([text("Hi.")])
    options = {"extra_body": {"min_p": 0.1, "max_tokens": 7}}
    spec = Model("openai/x", base_url=server.url, **({} if by_flag else options))
    model = build_model(spec, ModelSettings().told(options if by_flag else {}))
    model.complete(Request((Message("user", "Hi"),)))
    body = server.received[0].body
    assert (body["min_p"], body["max_tokens"]) == (0.1, 7) and "extra_body" not in body
    with pytest.raises(UsageError, match="extra_body=3: expected an object"):
        ModelSettings().told({"extra_body": 3})


def test_a_connection_that_a_server_closes_behind_an_answer_costs_no_try(model_of):
    model, server = model_of([replace(text("Hi."), cut="next")] * 3, max_tries=1)
    assert [model.complete(ASK).content for _ in range(3)] == ["Hi."] * 3
    assert len(server.received) == 3


def test_an_answer_without_choices_says_nothing(model_of):
    model, _ = model_of([answer({"choices": []})], max_tries=1)
    with pytest.raises(
        ModelError, match=r"says nothing: its `choices` are an empty list; --resume"
    ):
        model.complete(ASK)


def test_a_request_carries_model_messages_tools_and_parameters(model_of):
    model, server = model_of([text("Sunny.")])
    answered = model.complete(ASK)
    assert (answered.content, answered.calls) == ("Sunny.", ())
    body = server.received[0].body
    assert server.received[0].path == "/v1/chat/completions"
    assert server.received[0].headers["authorization"] == f"Bearer {KEY}"
    assert body == {
        "model": "any-model",
        "messages": [{"role": "user", "content": "Weather in Bern?"}],
        "temperature": 0.0,
        "seed": 7,
        "max_tokens": 8192,
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "weather_now",
                    "description": "Weather of a city",
                    "parameters": WEATHER.parameters,
                },
            }
        ],
    }


def test_usage_is_the_servers(model_of):
    model, _ = model_of([text("Sunny.", usage=(120, 8))])
    assert model.complete(ASK).usage == Usage(120, 8)


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {"prompt_tokens": "many"},
        {"prompt_tokens": 3},
        [],
        {"prompt_tokens": 2**64, "completion_tokens": 1},
        {"prompt_tokens": 10**300, "completion_tokens": 1},
        {"prompt_tokens": 3, "completion_tokens": -1},
        {"prompt_tokens": True, "completion_tokens": 1},
        {"prompt_tokens": 3.0, "completion_tokens": 1},
    ],
)
def test_usage_that_the_server_does_not_give_is_estimated(model_of, usage):
    scripted = json.loads(text("Sunny, twenty degrees.").body)
    scripted["usage"] = usage
    model, _ = model_of([answer(scripted)])
    counted = model.complete(ASK).usage
    assert counted.estimated and counted.tokens_in > 10 and 4 <= counted.tokens_out <= 8


def test_call_names_are_mapped_back_and_ids_dropped(model_of):
    model, _ = model_of([calls(("weather_now", {"city": "Bern"}), ("unheard_of", {}))])
    assert model.complete(ASK).calls == (
        ToolCall("", "weather.now", {"city": "Bern"}),
        ToolCall("", "unheard_of", {}),
    )


def test_repeated_and_missing_call_ids_do_no_harm(model_of):
    entry = {"type": "function", "function": {"name": "weather_now", "arguments": "{}"}}
    other = {"type": "function", "function": {"name": "weather_now", "arguments": '{"a": 1}'}}
    given = [{**entry, "id": "x"}, {**other, "id": "x"}, entry, entry]
    model, _ = model_of([message(None, given)])
    assert [call.id for call in model.complete(ASK).calls] == ["", "", "", ""]


@pytest.mark.parametrize(
    ("sent", "arguments", "raw"),
    [
        ('{"city": "Bern"}', {"city": "Bern"}, ""),
        ("", {}, ""),
        (" \n", {}, ""),
        (None, {}, ""),
        ({"city": "Bern"}, {"city": "Bern"}, ""),
        ('{"city": "Bern"', {"city": "Bern"}, '{"city": "Bern"'),
        ('{"city": "Bern"]', None, '{"city": "Bern"]'),
        ("[1, 2]", None, "[1, 2]"),
        ([1, 2], None, "[1,2]"),
        ("city=Bern", None, "city=Bern"),
        ('{"n": NaN}', None, '{"n": NaN}'),
        ("[" * 5000, None, "[" * 5000),
        ('{"a":' * 150 + "1" + "}" * 150, None, '{"a":' * 150 + "1" + "}" * 150),
    ],
)
def test_arguments_that_are_no_object_keep_their_text(model_of, sent, arguments, raw):
    entry = {"id": "x", "type": "function", "function": {"name": "f", "arguments": sent}}
    model, _ = model_of([message(None, [entry])])
    (call,) = model.complete(ASK).calls
    assert (call.arguments, call.raw) == (arguments, raw)


def test_a_legacy_function_call_is_a_call(model_of):
    model, _ = model_of(
        [message(None, function_call={"name": "weather_now", "arguments": '{"city": "Bern"}'})]
    )
    assert model.complete(ASK).calls == (ToolCall("", "weather.now", {"city": "Bern"}),)


def test_what_came_with_a_call_goes_back_with_it(model_of):
    extra = {"google": {"thought_signature": "c2lnbg=="}}
    made = {"id": "a", "type": "function", "extra_content": extra}
    made["function"] = {"name": "weather_now", "arguments": "{}"}
    model, server = model_of([message(None, [made], "tool_calls"), text("fine")])
    found = model.complete(ASK)
    call = ToolCall("call_0", "weather.now", {})
    said = Message("assistant", "", (call,), signed=found.signed)
    told = (*ASK.messages, said, Message("tool", "7", call_id="call_0"))
    model.complete(replace(ASK, messages=told))
    sent = server.received[1].body["messages"][-2]
    assert sent["tool_calls"][0]["extra_content"] == extra and "thinking_blocks" not in sent


def test_an_id_that_holds_a_thought_goes_back_as_it_came(model_of):
    made = calls(("weather_now", {}), ("weather_now", {"city": "Bern"}))
    id = "call_7__thought__c2lnbg=="
    model, server = model_of([changed_id(made, "id_1", id), text("fine")])
    found = model.complete(ASK)
    asked = (ToolCall("call_0", "weather.now", {}), ToolCall("call_1", "weather.now", {}))
    said = Message("assistant", "", asked, signed=found.signed)
    results = (Message("tool", str(n), call_id=f"call_{n}") for n in range(2))
    model.complete(replace(ASK, messages=(*ASK.messages, said, *results)))
    *_, sent, first, second = server.received[1].body["messages"]
    assert [one["id"] for one in sent["tool_calls"]] == ["call_0", id]
    assert [first["tool_call_id"], second["tool_call_id"]] == ["call_0", id]


def test_answers_that_name_several_models_are_told_once(model_of, caplog):
    model, _ = model_of([text("a"), changed_id(text("b"), "scripted", "other"), text("c")])
    for _ in range(3):
        model.complete(ASK)
    (told,) = [one for one in caplog.messages if "some answers name the model" in one]
    assert "'scripted', others 'other'" in told


def changed_id(made, old, new):
    return replace(made, body=made.body.replace(old.encode(), new.encode()))


def test_null_content_is_an_empty_text_and_parts_are_joined(model_of):
    parts = [{"type": "text", "text": "Sun"}, {"type": "image"}, {"type": "text", "text": "ny"}]
    model, _ = model_of([calls(("f", {})), message(parts), message(None, refusal="I must not.")])
    assert [model.complete(ASK).content for _ in range(3)] == ["", "Sunny", "I must not."]


def test_an_answer_cut_at_the_token_limit_says_so(model_of):
    model, _ = model_of([text("Sun", finish_reason="length")])
    assert model.complete(ASK).truncated


def test_lone_surrogates_in_an_answer_are_replaced(model_of):
    model, _ = model_of([text("a\ud800b"), calls(("f\udfff", {}))])
    assert model.complete(ASK).content == "a\ufffdb"
    assert model.complete(ASK).calls[0].name == "f\ufffd"


def test_history_is_sent_with_wire_names_and_never_null(model_of):
    model, server = model_of([text("Sunny.")])
    history = (
        Message("user", "Weather?"),
        Message(
            "assistant",
            "",
            (
                ToolCall("call_0", "weather.now", {"city": "Bern"}),
                ToolCall("call_1", "weather.now", None, "{oops"),
            ),
        ),
        Message("tool", '{"sky": "blue"}', call_id="call_0"),
        Message("tool", "error", call_id="call_1"),
    )
    model.complete(Request(history, (WEATHER,)))
    sent = server.received[0].body["messages"]
    assert sent[1]["content"] == ""
    functions = [call["function"] for call in sent[1]["tool_calls"]]
    assert {function["name"] for function in functions} == {"weather_now"}
    assert json.loads(functions[0]["arguments"]) == {"city": "Bern"}
    assert json.loads(functions[1]["arguments"]) == {"unparsable_arguments": "{oops"}
    assert sent[2] == {"role": "tool", "content": '{"sky": "blue"}', "tool_call_id": "call_0"}


def test_options_win_and_null_leaves_a_field_out(model_of):
    options = {"temperature": None, "seed": None, "top_p": 0.5}
    model, server = model_of([text("x")], options=options)
    model.complete(Request(ASK.messages, json_object=True, max_tokens=9))
    body = server.received[0].body
    assert "temperature" not in body and "seed" not in body and "tools" not in body
    assert (body["top_p"], body["max_tokens"]) == (0.5, 9)
    assert body["response_format"] == {"type": "json_object"}


def test_an_answer_is_capped_unless_somebody_says_otherwise(model_of):
    def sent(request=ASK, **options):
        model, server = model_of([text("x")], options=options)
        model.complete(request)
        body = server.received[0].body
        return {name: body[name] for name in body if name.startswith("max_")}

    assert sent() == {"max_tokens": 8192}
    assert sent(Request(ASK.messages, max_tokens=9)) == {"max_tokens": 9}
    assert sent(max_tokens=9) == {"max_tokens": 9}
    assert sent(max_completion_tokens=9) == {"max_completion_tokens": 9}
    assert sent(max_tokens=None) == {}


@pytest.mark.parametrize(
    "said",
    [
        "max_tokens is too large: 8192. This model supports at most 4096 completion tokens.",
        "Invalid max_tokens value, the valid range of max_tokens is [1, 4096]",
        "This model's maximum context length is 4096 tokens. However, you requested 8692 tokens "
        "(500 in the messages, 8192 in the completion).",
        "Requested token count exceeds the model's maximum context length of 4096 tokens. You "
        "requested a total of 8300 tokens: 108 tokens from the input messages and 8192 tokens for "
        "the completion.",
    ],
)
def test_a_server_that_finds_the_cap_too_large_is_asked_without_it_from_then_on(model_of, said):
    model, server = model_of([failure(400, said), text("x"), text("y")])
    assert [model.complete(ASK).content for _ in range(2)] == ["x", "y"]
    assert ["max_tokens" in got.body for got in server.received] == [True, False, False]
    mine, server = model_of([failure(400, said)], options={"max_tokens": 8192})
    with pytest.raises(RequestError):
        mine.complete(ASK)


def test_a_refusal_of_the_cap_that_comes_late_does_no_harm(model_of):
    said = "max_tokens is too large: 8192. This model supports at most 4096 completion tokens."
    both, answered = threading.Barrier(2), threading.Event()

    def script(request):
        if "max_tokens" not in request.body:
            return text("x")
        if both.wait(10):
            answered.wait(10)
        return failure(400, said)

    model, _ = model_of(script)

    def ask(_):
        found = model.complete(ASK).content
        answered.set()
        return found

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(ask, range(2))) == ["x", "x"]


def test_another_name_of_the_limit_is_learnt_and_the_cap_stays(model_of):
    said = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens'."
    model, server = model_of([failure(400, said), text("x")])
    model.complete(ASK)
    assert server.received[1].body["max_completion_tokens"] == 8192


def test_a_full_window_stays_one_without_the_cap(model_of):
    said = "maximum context length is 4096 tokens (9000 in the messages, 8192 in the completion)"
    model, server = model_of([failure(400, said)] * 2)
    with pytest.raises(RequestError) as caught:
        model.complete(ASK)
    assert caught.value.refusal == "context_overflow" and len(server.received) == 2


def test_retry_after_in_seconds_is_waited_for(model_of):
    model, server = model_of([failure(429, retry_after="0.2"), text("Sunny.")], max_wait_s=5)
    start = time.monotonic()
    assert model.complete(ASK).content == "Sunny."
    assert time.monotonic() - start >= 0.2
    assert len(server.received) == 2


def test_a_wait_without_end_is_no_wait(model_of):
    for asked in ("inf", "-inf", "nan", "1e300"):
        model, server = model_of([failure(429, retry_after=asked), text("fine")])
        assert model.complete(ASK).content == "fine"
        assert len(server.received) == 2


def test_an_empty_list_of_calls_hides_no_legacy_call(model_of):
    called = {"name": "weather_now", "arguments": "{}"}
    made = message(None, finish_reason="function_call", tool_calls=[], function_call=called)
    model, _ = model_of([made])
    assert [call.name for call in model.complete(ASK).calls] == ["weather.now"]


def test_retry_after_as_a_date_is_waited_for(model_of):
    soon = (datetime.now(UTC) + timedelta(seconds=2)).replace(microsecond=0)
    busy = failure(503, retry_after=format_datetime(soon, usegmt=True))
    model, _ = model_of([busy, text("Sunny.")], max_wait_s=5)
    assert model.complete(ASK).content == "Sunny."
    assert datetime.now(UTC) >= soon


@pytest.mark.parametrize("asked", ["3600", "never", "nan", "-5", ""])
def test_no_retry_after_waits_longer_than_the_cap(model_of, asked):
    model, _ = model_of([failure(429, retry_after=asked), text("Sunny.")], max_wait_s=0.05)
    start = time.monotonic()
    assert model.complete(ASK).content == "Sunny."
    assert time.monotonic() - start < 60  # a busy machine is slow too


@pytest.mark.parametrize(
    "broken",
    [
        failure(500),
        failure(502),
        failure(408),
        garbage(),
        garbage(b"not json at all"),
        answer({"choices": []}),
        answer({"choices": [{}]}),
        answer([]),
        answer({"choices": [{"message": {"tool_calls": "many"}}]}),
        answer({"choices": [{"message": {"tool_calls": [1]}}]}),
        half(),
        nothing(),
    ],
    ids=lambda a: f"{a.status}-{a.cut}-{a.body[:20]!r}",
)
def test_a_failure_that_may_pass_is_tried_again_and_then_told(model_of, broken):
    model, server = model_of([broken, text("Sunny.")])
    assert model.complete(ASK).content == "Sunny."
    model, server = model_of([broken] * 3, max_tries=3)
    with pytest.raises(ModelError, match=r"openai/any-model at http://127.*tried 3 times"):
        model.complete(ASK)
    assert len(server.received) == 3


def test_a_limit_of_rate_that_stays_is_told_with_what_sends_fewer(model_of):
    model, _ = model_of([failure(429, "3 requests per minute")] * 2, max_tries=2)
    with pytest.raises(ModelError, match=r"per minute \(tried 2 times\)\. .*requests_per_minute=N"):
        model.complete(ASK)


def test_whole_answers_are_no_repair_where_they_are_asked_for(model_of):
    cut = type(answer({}))(b": ping\n\n", 200, {"Content-Type": "text/event-stream"})
    for streams in (True, False):
        model, _ = model_of([cut] * 2, max_tries=2, stream=streams)
        with pytest.raises(ModelError, match="broke off") as told:
            model.complete(ASK)
        assert ("-M stream=false" in str(told.value)) is streams


def test_json_that_breaks_off_is_no_answer(model_of):
    cut = answer({}).headers
    body = text("never whole").body[:40]
    broken = type(answer({}))(body, 200, cut)
    model, _ = model_of([broken, text("Sunny.")])
    assert model.complete(ASK).content == "Sunny."


@pytest.mark.parametrize(
    ("status", "repair"),
    [
        (400, "-M FIELD=null"),
        (401, "OPENAI_API_KEY"),
        (403, "OPENAI_API_KEY"),
        (404, "model's name and --base-url"),
        (422, "-M FIELD=null"),
    ],
)
def test_a_refusal_is_told_at_once_with_its_repair(model_of, status, repair):
    model, server = model_of([failure(status, "the server's own words")])
    with pytest.raises(ModelError, match="the server's own words") as caught:
        model.complete(ASK)
    assert repair in str(caught.value) and f"HTTP {status}" in str(caught.value)
    assert len(server.received) == 1


def test_too_many_tools_are_told_with_the_option_that_offers_fewer(model_of):
    for said in (
        "'tools' is too long: at most 128 are taken, 150 were given.",
        "Invalid 'tools': array too long. Expected an array with maximum length 128",
        "You may offer at most 64 tools",
    ):
        model, _ = model_of([failure(400, said)])
        with pytest.raises(RequestError, match="Offer fewer tools: --top-k N"):
            model.complete(ASK)


@pytest.mark.parametrize(
    ("said", "repair"),
    [
        (
            "Invalid schema for function 'look': 'oops' is not valid.",
            "send tools as text: --format",
        ),
        ("Invalid 'tools[0].function.name': string does not match pattern.", "--format json"),
        ("tools.3.custom.input_schema: JSON schema is invalid.", "--format json"),
        ("Invalid 'messages[1].content': string too long.", "takes no message such as this"),
        ("Unsupported parameter: 'temperature' with this model.", "-M FIELD=null"),
        ("max_tokens: 4096 > 2048, which is the maximum allowed number", "-M max_tokens=N"),
        ("Calls need their reasoning_content.", "thinking_with_calls = true"),
        ("Extra inputs: messages.2.assistant.reasoning_content", "thinking_with_calls = false"),
        ("`look` functionDeclaration `parameters.city` schema is wrong", "--format json"),
    ],
)
def test_a_repair_is_one_that_can_help(model_of, said, repair):
    # A field that is refused is asked for by its other name first.
    model, _ = model_of([failure(400, said)] * 2, temperature=0.5)
    with pytest.raises(RequestError) as caught:
        model.complete(ASK)
    assert repair in str(caught.value)


def test_a_spent_quota_is_not_tried_again(model_of):
    model, server = model_of([failure(429, "no money", code="insufficient_quota")])
    with pytest.raises(ModelError, match="no quota left"):
        model.complete(ASK)
    assert len(server.received) == 1


def test_silence_ends_at_the_timeout(model_of):
    model, _ = model_of([late(1.0, text("late"))], timeout_s=0.1, max_tries=1)
    with pytest.raises(ModelError, match=r"no answer within 0\.1 seconds \(tried once\)"):
        model.complete(ASK)


def test_a_server_that_is_not_there_is_told(monkeypatch):
    settings = ModelSettings(base_url="http://127.0.0.1:9/v1", max_tries=2, first_wait_s=0.001)
    with pytest.raises(ModelError, match="Is it running, is --base-url right"):
        build_model("openai/m", settings).complete(ASK)


def test_no_key_and_no_server_is_one_line_before_anything_is_sent(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", " ")
    with pytest.raises(UsageError) as caught:
        build_model("openai/gpt-4o")
    assert "OPENAI_API_KEY" in str(caught.value) and "--base-url" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_server_without_a_key_gets_a_placeholder(model_of, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    model, server = model_of([text("x")])
    model.complete(ASK)
    assert server.received[0].headers["authorization"] == "Bearer no-key-needed"


def test_the_server_may_come_from_the_environment(model_server, monkeypatch):
    server = model_server([text("x")])
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    assert build_model("openai/m").complete(ASK).content == "x"


def test_a_fault_names_the_variable_that_gave_the_address(model_server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", model_server([nothing()]).url)
    with pytest.raises(ModelError, match=r"is OPENAI_BASE_URL right\?"):
        build_model("openai/m", ModelSettings(max_tries=1)).complete(ASK)


def test_the_key_may_stand_in_another_variable(model_server, monkeypatch):
    server = model_server([text("x")])
    monkeypatch.setenv("OTHER_KEY", "other-key")
    settings = ModelSettings(base_url=server.url).told({"api_key_env": "OTHER_KEY"})
    build_model("openai/m", settings).complete(ASK)
    assert server.received[0].headers["authorization"] == "Bearer other-key"


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://host/v1", "http://", "http://h:99999"])
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(UsageError, match="expected an address such as http://localhost:8000/v1"):
        ModelSettings(base_url=url)


@pytest.mark.parametrize("key", ["sk-schlüssel", "two words", "line\nbreak"])
def test_a_key_that_no_header_can_carry_is_refused_unseen(monkeypatch, key):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(UsageError, match="OPENAI_API_KEY holds") as caught:
        build_model("openai/m")
    assert key not in str(caught.value)


def test_user_and_password_of_the_variables_address_become_a_header(model_server, monkeypatch):
    server = model_server([text("x"), failure(400, "bad secretword")])
    address = server.url.replace("http://", "http://ann:secretword@") + "?tenant=t1"
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    model = build_model("openai/m")
    model.complete(ASK)
    assert server.received[0].headers["authorization"] == "Basic YW5uOnNlY3JldHdvcmQ="
    assert server.received[0].path == "/v1/chat/completions?tenant=t1"
    with pytest.raises(ModelError) as caught:
        model.complete(ASK)
    assert "secretword" not in str(caught.value)


@pytest.fixture
def proxy_of(model_server, monkeypatch):
    def start(script, address="http://ann:secretword@{place}"):
        for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
            monkeypatch.delenv(name.upper(), raising=False)
        server = model_server(script)
        place = server.url.removeprefix("http://").removesuffix("/v1")
        monkeypatch.setenv("HTTP_PROXY", address.format(place=place))
        monkeypatch.setenv("http_proxy", address.format(place=place))
        return server

    return start


@pytest.mark.parametrize("address", ["http://ann:secretword@{place}", "ann:secretword@{place}"])
def test_a_proxy_of_the_environment_is_asked(proxy_of, address):
    proxy = proxy_of([text("By way of it.")], address)
    settings = ModelSettings(base_url="http://models.example/v1")
    assert build_model("openai/m", settings).complete(ASK).content == "By way of it."
    assert proxy.received[0].path == "http://models.example/v1/chat/completions"
    assert proxy.received[0].headers["proxy-authorization"] == "Basic YW5uOnNlY3JldHdvcmQ="


def test_no_proxy_of_the_environment_holds(proxy_of, model_of, monkeypatch):
    proxy = proxy_of([])
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert model_of([text("Directly.")])[0].complete(ASK).content == "Directly."
    assert not proxy.received


def test_a_proxy_that_is_not_there_is_named_by_its_variable(proxy_of):
    proxy_of([], "http://127.0.0.1:9")
    model = build_model("openai/m", ModelSettings(base_url="http://127.0.0.1:8/v1", max_tries=1))
    told = "through the proxy that HTTP_PROXY names: .*Connection refused. Without it: NO_PROXY="
    with pytest.raises(ModelError, match=told):
        model.complete(ASK)
    assert model.outage  # so that a run ends before its first chat


@pytest.mark.parametrize("proxy", ["socks5://ann:secretword@{place}", "http://ann:secretword@::::"])
def test_a_proxy_of_a_kind_that_is_not_known_is_refused_without_its_password(proxy_of, proxy):
    proxy_of([], proxy)
    model = build_model("openai/m", ModelSettings(base_url="http://models.example/v1"))
    with pytest.raises(UsageError, match="expected http:// or https://") as caught:
        model.complete(ASK)
    assert "secretword" not in str(caught.value)


def test_a_redirect_is_followed_with_the_same_request(model_of):
    moved = type(answer({}))(b"", 307, {"Location": "/elsewhere/chat/completions"})
    model, server = model_of([moved, text("Found.")])
    assert model.complete(ASK).content == "Found."
    first, second = server.received
    assert second.path == "/elsewhere/chat/completions"
    assert (second.method, second.raw) == ("POST", first.raw)


def of_extra(spec, module):
    """Return a model for which an extra is needed."""
    reason = f"the extra {spec.partition('/')[0]} is not installed"
    return pytest.param(spec, marks=pytest.mark.skipif(not installed(module), reason=reason))


LED = ["openai/m", "openai/m,key_header=api-key", of_extra("gemini/m", "google.genai")]
LED += [of_extra("gemini/m,key_header=api-key", "google.genai")]
LED += [of_extra("anthropic/m", "anthropic"), of_extra("anthropic/m,key_header=k", "anthropic")]


@pytest.mark.parametrize("spec", LED)
def test_another_server_to_which_one_leads_gets_neither_key_nor_account(
    spec, model_server, monkeypatch
):
    for name in ("GOOGLE_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-mine")
    other = model_server([failure(400)])
    moved = type(answer({}))(b"", 307, {"Location": f"{other.root}/chat/completions"})
    server = model_server([moved])
    model = build_model(spec, ModelSettings(base_url=server.root))
    with pytest.raises(ModelError):
        model.complete(ASK)
    getattr(model._server._connection(), "close", int)()
    assert KEY in str(server.received[0].headers)
    sent = str(other.received[0].headers)
    assert KEY not in sent and "org-of-mine" not in sent


def test_a_compressed_answer_is_read(model_of):
    packed = gzip.compress(text("Small.").body)
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    model, server = model_of([type(answer({}))(packed, 200, headers)])
    assert model.complete(ASK).content == "Small."
    assert "gzip" in server.received[0].headers["accept-encoding"]


def test_whose_account_is_charged_may_stand_in_the_environment(model_of, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    model, server = model_of([text("x")])
    model.complete(ASK)
    headers = server.received[0].headers
    assert (headers["openai-organization"], headers["openai-project"]) == ("org-1", "proj-1")


@pytest.mark.parametrize(
    "broken",
    [
        failure(401, f"Incorrect API key provided: {KEY}."),
        failure(500, f"proxy saw Authorization: Bearer {KEY}"),
        failure(400, "key%3A " + KEY.replace("+", "%2B").replace("/", "%2F").replace("=", "%3D")),
        garbage(f"<pre>{KEY}</pre>".encode()),
        garbage(f"<pre>{KEY}</pre>".encode(), 502),
        nothing(),
        late(1.0, text("x")),
    ],
    ids=["401", "500", "quoted", "garbage", "502", "nothing", "late"],
)
def test_a_key_appears_nowhere(model_of, broken, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    model, _ = model_of([broken] * 2, max_tries=2, timeout_s=0.2)
    with pytest.raises(ModelError) as caught:
        model.complete(ASK)
    printed = io.StringIO()
    traceback.print_exception(caught.value, file=printed)
    told = [
        printed.getvalue(),
        repr(caught.value),
        repr(caught.value.__context__),
        repr(model),
        repr(vars(model)["settings"]),
        json.dumps(model_identity("openai/any-model", model.settings, model)),
        caplog.text,
        *capfd.readouterr(),
        repr(pickle.dumps(model)),
        repr(pickle.dumps(caught.value)),
    ]
    assert not [where for where in told if "distinctive" in where]


def test_identity_names_what_shapes_answers_and_nothing_secret(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://ann:pw@localhost:1/v1?key=abc")
    settings = ModelSettings(options={"top_p": 0.5}, temperature=0.3)
    model = build_model("openai/m", settings)
    told = model_identity("openai/m", settings, model)
    query = told.pop("query")
    assert told == {
        "model": "openai/m",
        "base_url": "http://localhost:1/v1",
        "temperature": 0.3,
        "options": {"top_p": 0.5},
    }
    monkeypatch.setenv("OPENAI_BASE_URL", "http://ann:pw@localhost:1/v1?key=abd")
    other = build_model("openai/m", settings).identity["query"]
    assert len(query) == 16 and query != other  # another deployment behind one path


def test_a_key_in_the_path_of_the_variables_address_is_sent_and_told_nowhere(
    model_server, monkeypatch
):
    key = "sk-0123456789abcdefghij"
    server = model_server([text("x"), failure(400, f"no model at /{key}/v1")])
    addresses = [server.url.replace("/v1", f"/{part}/v1") for part in (key, f"{key}0")]
    monkeypatch.setenv("OPENAI_BASE_URL", addresses[1])
    other = build_model("openai/m").identity
    monkeypatch.setenv("OPENAI_BASE_URL", addresses[0])
    model = build_model("openai/m")
    model.complete(ASK)
    assert server.received[0].path == f"/{key}/v1/chat/completions"
    with pytest.raises(ModelError) as caught:
        model.complete(ASK)
    assert key not in f"{caught.value} {model.identity} {model.place}"
    assert model.identity["base_url"] == other["base_url"] == server.url.replace("/v1", "/***/v1")
    assert model.identity != other  # so no answer of one is taken for the other's


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://ann:s3cretpw@h/v1", "^--base-url 'http://h/v1' holds a user .*key_env=VARIABLE"),
        ("http://s3cretpw@h/v1", "^--base-url 'http://h/v1' holds a user .*key_env=VARIABLE"),
        (
            "http://h/v1?api-key=s3cretpw",
            "^--base-url: api-key in the query may be a key",
        ),
        ("http://h/v1?access_code=s3cretpw", "^--base-url: access_code in the query may be a key"),
    ],
)
def test_an_address_of_settings_holds_no_secret(address, said):
    for made in (
        lambda: ModelSettings(base_url=address),
        lambda: ModelSettings().told({"base_url": address}),
    ):
        with pytest.raises(UsageError, match=said) as told:
            made()
        assert "s3cretpw" not in str(told.value)


def test_threads_share_one_client_and_get_their_own_answers(model_of):
    model, _ = model_of(lambda request: text(request.body["messages"][0]["content"]))
    answers = {}

    def ask(number):
        answers[number] = model.complete(Request((Message("user", str(number)),))).content

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(20)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert answers == {n: str(n) for n in range(20)}
    assert model._server._connection() is model._server._connection()


def test_a_pickled_model_answers_too(model_of):
    model, _ = model_of([text("x"), text("y")])
    model.complete(ASK)
    assert pickle.loads(pickle.dumps(model)).complete(ASK).content == "y"


def test_a_retry_prints_nothing(model_of):
    _, server = model_of([failure(429, "slow down"), text("x")])
    script = (
        "import sys; from seal.models.spec import ModelSettings, build_model;"
        "from seal.core.protocols import Message, Request;"
        "s = ModelSettings(base_url=sys.argv[1], first_wait_s=0.001);"
        "build_model('openai/m', s).complete(Request((Message('user', 'x'),)))"
    )
    quiet = subprocess.run(
        [sys.executable, "-c", script, server.url], capture_output=True, text=True, check=True
    )
    assert (quiet.stdout, quiet.stderr) == ("", "")
    assert len(server.received) == 2


def told_of(caplog):
    """Return our warnings."""
    ours = [record for record in caplog.records if record.name.startswith("seal.")]
    return [record for record in ours if record.levelno >= logging.WARNING]


def test_a_long_wait_is_told_with_its_reason_length_and_try(model_of, caplog, monkeypatch):
    monkeypatch.setattr("seal.core.servers._LONG_S", 0.1)
    busy = failure(429, "Rate limit reached.", retry_after="86400")
    model, _ = model_of([busy, text("Sunny.")], max_wait_s=0.2)
    model.complete(ASK)
    (told,) = told_of(caplog)
    assert told.getMessage().endswith(
        "answered HTTP 429: Rate limit reached. "
        "Waiting 0.2 s (it asked for 86400 s; max_wait_s=86400 waits that long), "
        "then try 2 of 5."
    )


def test_a_wait_that_was_cut_short_is_named_when_all_tries_failed(model_of):
    model, _ = model_of([failure(429, "Rate limit.", retry_after="3600")] * 2, max_tries=2)
    with pytest.raises(ModelError) as told:
        model.complete(ASK)
    assert str(told.value).endswith(
        "(tried 2 times). It asked for a wait of 3600 s; max_wait_s=3600 waits that long."
    )


def test_a_long_silence_is_told_after_each_try_but_the_last(model_of, caplog, monkeypatch):
    monkeypatch.setattr("seal.core.servers._LONG_S", 0.1)
    model, _ = model_of([late(0.5, text("Too late."))] * 2, timeout_s=0.15, max_tries=2)
    with pytest.raises(ModelError, match="no answer within"):
        model.complete(ASK)
    (told,) = told_of(caplog)
    assert "gave no answer within 0.15 seconds. Waiting" in told.getMessage()
    assert told.getMessage().endswith("then try 2 of 2.")


def test_a_short_wait_is_not_worth_a_warning(model_of, caplog):
    model, _ = model_of([failure(500), text("Sunny.")])
    model.complete(ASK)
    assert not told_of(caplog)


@pytest.mark.parametrize("said", ["Incorrect API key", "Incorrect API key."])
def test_a_servers_words_and_the_repair_are_two_sentences(model_of, said):
    model, _ = model_of([failure(401, said)])
    with pytest.raises(ModelError, match=r"Incorrect API key\. Set OPENAI_API_KEY to"):
        model.complete(ASK)


def test_a_broken_connection_and_the_question_are_two_sentences(model_of):
    model, _ = model_of([nothing()], max_tries=1)
    with pytest.raises(ModelError, match=r"[^.;]\. Is it running, is --base-url right\?") as told:
        model.complete(ASK)
    assert "broke off: Remote end closed connection" in str(told.value)


CRASHED = {"message": "worker crashed", "code": "server_error"}
BEGUN = {"choices": [{"index": 0, "delta": {"content": "Sun"}}]}
ENDED = {"type": "response.failed", "response": {"status": "failed", "error": CRASHED}}
FAILURES = {
    "an event": ("chat", [BEGUN, {"error": CRASHED}], r"/v1 failed: worker crashed \(server_error"),
    "a text": ("chat", [BEGUN, {"error": "worker crashed"}], r"/v1 failed: worker crashed \("),
    "a failed response": ("responses", [ENDED], r"/v1 failed: worker crashed \(server_error\) \("),
    "an error of a response": (
        "responses",
        [{"type": "error", **CRASHED}],
        r"/v1 failed: worker crashed \(server_error\) \(",
    ),
    "a cut event": ("chat", [BEGUN], "/v1 broke off: the stream ended amid an event"),
    "a cut body": ("chat", [BEGUN], "/v1 broke off: IncompleteRead"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_fault_of_a_server_that_speaks_the_interface_does_not_blame_the_address(model_of, name):
    api, events, told = FAILURES[name]
    body = "".join(
        f"event: {one.get('type', 'message')}\ndata: {json.dumps(one)}\n\n" for one in events
    )
    body += 'data: {"choices": [{' if "cut" in name else ""
    cut = "half" if name == "a cut body" else "no"
    sent = Answer(body.encode(), headers={"Content-Type": "text/event-stream"}, cut=cut)
    model, _ = model_of([sent], max_tries=1, api=api)
    with pytest.raises(ModelError, match=told) as caught:
        model.complete(ASK)
    assert "base-url" not in str(caught.value) and "running" not in str(caught.value)


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_a_response_that_failed_without_a_reason_says_so(model_of, status):
    model, _ = model_of([answer({"status": status, "error": None})], max_tries=1, api="responses")
    with pytest.raises(ModelError, match=rf"/v1 failed: it gives no reason \({status}\)"):
        model.complete(ASK)


def test_what_is_no_json_is_shown_without_any_part_of_the_key(model_of):
    page = f"<html>{'x' * 90}{KEY}{'y' * 900}".encode()
    model, _ = model_of([garbage(page)], max_tries=1)
    with pytest.raises(ModelError, match=r"Is --base-url right\? It sent '<html>xx") as told:
        model.complete(ASK)
    assert KEY[:4] not in str(told.value)


FULL = """
import resource, sys
from seal.core import Message, ModelError, Request
from seal.models.spec import ModelSettings, build_model

ask, address = Request((Message("user", "Hi"),)), sys.argv[1]
settings = ModelSettings(base_url=address, max_tries=2, first_wait_s=0.001)
build_model("openai/x", settings).complete(ask)
other = build_model("openai/y", settings)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
files = []
try:
    while True:
        files.append(open("/dev/null"))
except OSError:
    pass
try:
    other.complete(ask)
except ModelError as error:
    print(error)
files.clear()
print(other.complete(ask).content)
"""


def test_too_many_open_files_are_no_fault_of_the_server(model_server):
    server = model_server(lambda request: text("Hi."))
    command = [sys.executable, "-c", FULL, server.url]
    usual = {name: os.environ[name] for name in os.environ if not name.startswith("COV")}
    done = subprocess.run(
        command, capture_output=True, text=True, env=usual
    )  # coverage opens files
    assert done.returncode == 0, done.stderr
    told, answered = done.stdout.splitlines()
    assert "too many files are open: give fewer --workers, or raise `ulimit -n`" in told
    assert "Is it running" not in told
    assert answered == "Hi."
