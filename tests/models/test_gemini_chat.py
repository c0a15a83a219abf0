import pytest
from servers import answer, failure, garbage, half, nothing

from seal.core import Message, ModelError, Request, Tool, ToolCall, Usage, UsageError
from seal.models.spec import ModelSettings, build_model

KEY = "AIza-distinctive-key"
WEATHER = Tool("demo/weather/now", "7day weather", "Weather", {"type": "object", "properties": {}})
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


@pytest.fixture
def model_of(model_server, monkeypatch):
    def build(script, name="gemini-3-any", **options):
        monkeypatch.setenv("GOOGLE_API_KEY", KEY)
        server = model_server(script)
        settings = ModelSettings(
            base_url=server.root, first_wait_s=0.001, max_wait_s=0.01, max_tries=2, timeout_s=5
        )
        return build_model(f"gemini/{name}", settings.told(options)), server

    return build


@pytest.fixture
def sent(model_of):
    """Return the body that a model sends for `ASK`."""

    def body(**options):
        model, server = model_of([answer(spoken({"text": "Sunny."}))], **options)
        model.complete(ASK)
        return server.received[0].body

    return body


def test_results_of_one_reply_are_one_content_and_name_their_function(sent):
    contents = sent()["contents"]
    assert [content["role"] for content in contents] == ["user", "model", "user"]
    assert contents[0]["parts"] == [{"text": "Weather in Bern and Rome?"}]
    calls = [part["functionCall"] for part in contents[1]["parts"]]
    assert calls == [
        {"name": "_7day_weather", "args": {"city": "Bern"}},
        {"name": "_7day_weather", "args": {"unparsable_arguments": "{"}},
    ]
    responses = [part["functionResponse"] for part in contents[2]["parts"]]
    assert [r["response"] for r in responses] == [{"sky": "blue"}, {"result": "an error"}]
    assert {r["name"] for r in responses} == {"_7day_weather"}


def test_the_first_call_of_a_reply_carries_the_signature(sent):
    parts = sent()["contents"][1]["parts"]
    assert ["thoughtSignature" in part for part in parts] == [True, False]
    parts = sent(name="gemini-2.5-flash")["contents"][1]["parts"]
    assert ["thoughtSignature" in part for part in parts] == [False, False]


def test_an_address_may_end_with_the_version(model_server, monkeypatch):
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    server = model_server([answer(spoken({"text": "Sunny."}))])
    model = build_model(f"gemini/gemini-3,base_url={server.root}/v1beta/,stream=false")
    assert model.complete(ASK).content == "Sunny."
    assert server.received[0].path == "/v1beta/models/gemini-3:generateContent"


def test_a_models_own_signature_goes_back_with_its_call(model_of):
    called = {"functionCall": {"name": "_7day_weather", "args": {}}, "thoughtSignature": "c2lnbg=="}
    for name in ("gemini-3-pro", "gemini-2.5-flash", "models/gemini-flash-latest"):
        model, server = model_of([answer(spoken(called)), answer(spoken({"text": "Sunny."}))], name)
        found = model.complete(Request(HISTORY[1:2], (WEATHER,)))
        call = ToolCall("c0", "7day weather", {})
        said = Message("assistant", "", (call,), signed=found.signed)
        model.complete(Request((HISTORY[1], said, HISTORY[3]), (WEATHER,)))
        (part,) = server.received[1].body["contents"][1]["parts"]
        assert part == called


def test_every_name_of_a_model_that_wants_signatures_gets_the_stand_in(sent):
    for name in ("gemini-flash-latest", "models/gemini-3-pro", "publishers/google/models/gemini-3"):
        parts = sent(name=name)["contents"][1]["parts"]
        assert ["thoughtSignature" in part for part in parts] == [True, False]


def test_the_configuration_holds_system_text_tools_and_parameters(sent):
    thinking = {"thinking_budget": 128, "include_thoughts": True}
    schema = {"type": "object", "properties": {"two_words": {"type": "string"}}}
    body = sent(
        seed=None,
        top_k=4,
        thinking_config=thinking,
        response_json_schema=schema,
        safety_settings=[{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}],
    )
    assert body["systemInstruction"] == {"parts": [{"text": "Be brief."}]}
    assert body["generationConfig"] == {
        "temperature": 0.0,
        "topK": 4,
        "thinkingConfig": {"thinkingBudget": 128, "includeThoughts": True},
        "responseJsonSchema": schema,
    }
    assert body["safetySettings"][0]["threshold"] == "OFF"
    (declared,) = body["tools"][0]["functionDeclarations"]
    assert declared["name"] == "_7day_weather"
    assert declared["parametersJsonSchema"] == WEATHER.parameters


def test_an_answer_becomes_text_calls_and_usage(model_of):
    parts = (
        {"text": "thinking", "thought": True},
        {"text": "Let me look."},
        {"functionCall": {"name": "_7day_weather", "args": {"city": "Bern"}}},
    )
    model, server = model_of([answer(spoken(*parts))])
    answered = model.complete(ASK)
    assert answered.usage == Usage(9, 5, reasoning=3)
    assert (answered.reasoning, answered.finish_reason) == ("thinking", "stop")
    assert answered.content == "Let me look."
    assert answered.calls == (ToolCall("", "7day weather", {"city": "Bern"}),)
    (received,) = server.received
    assert received.path == "/v1beta/models/gemini-3-any:streamGenerateContent?alt=sse"
    assert received.headers["x-goog-api-key"] == KEY
    assert received.body["generationConfig"]["seed"] == 3


def test_streaming_is_turned_off_by_an_option(model_of):
    model, server = model_of([answer(spoken({"text": "Sunny."}))], stream=False)
    assert model.complete(ASK).content == "Sunny."
    assert server.received[0].path == "/v1beta/models/gemini-3-any:generateContent"


def test_a_blocked_prompt_and_a_full_answer_are_outcomes(model_of):
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}}
    model, _ = model_of([answer(blocked), answer(spoken(finishReason="MAX_TOKENS"))])
    filtered = model.complete(ASK)
    assert (filtered.content, filtered.finish_reason) == ("", "content_filter")
    assert model.complete(ASK).truncated


def test_what_a_model_of_googles_does_not_take_is_left_out_as_of_others(model_of):
    fine = answer(spoken({"text": "Sunny."}))
    said = "Invalid JSON payload received. Unknown name \"seed\" at 'generation_config'"
    model, server = model_of([failure(400, said), fine])
    assert model.complete(ASK).content == "Sunny."
    assert "seed" not in server.received[1].body["generationConfig"]
    model, server = model_of([fine], name="gemma-3-27b-it")  # takes neither tools nor system texts
    model.complete(ASK)
    assert not {"tools", "systemInstruction"} & server.received[0].body.keys()


def test_without_a_key_the_variable_is_named(monkeypatch):
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    with pytest.raises(UsageError, match="set GOOGLE_API_KEY"):
        build_model("gemini/gemini-2.5-flash")


BROKEN = [
    failure(429),
    failure(500),
    garbage(),
    half(),
    nothing(),
    *map(answer, ({}, [], "no", {"candidates": 3}, {"promptFeedback": "no"})),
    *map(answer, (spoken({"functionCall": "7day"}), spoken(content="no"))),
    answer(spoken(content={"parts": "no"})),
]


@pytest.mark.parametrize("broken", BROKEN, ids=range(len(BROKEN)))
def test_a_failure_that_may_pass_is_tried_again_and_then_told(model_of, broken):
    model, _ = model_of([broken, answer(spoken({"text": "Sunny."}))])
    assert model.complete(ASK).content == "Sunny."
    model, server = model_of([broken] * 2)
    with pytest.raises(ModelError, match="tried 2 times"):
        model.complete(ASK)
    assert len(server.received) == 2


def test_the_wait_that_googles_error_asks_for_is_told(model_of):
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37.5s"}
    busy = {"code": 429, "message": "Quota.", "status": "RESOURCE_EXHAUSTED", "details": [{}, info]}
    model, _ = model_of([answer({"error": busy}, 429)] * 2)
    with pytest.raises(ModelError, match=r"asked for a wait of 38 s; max_wait_s=38 waits"):
        model.complete(ASK)


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_refusal_is_told_at_once_and_without_the_key(model_of, status):
    model, server = model_of([failure(status, f"bad {KEY}")])
    with pytest.raises(ModelError, match=f"HTTP {status}") as caught:
        model.complete(ASK)
    assert KEY not in str(caught.value) and caught.value.__context__ is None
    assert len(server.received) == 1
