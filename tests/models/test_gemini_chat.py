import base64
import json
import logging
import pickle
import subprocess
import sys

import pytest
from servers import answer, failure, garbage, half, nothing, played

from seal.core import (
    Message,
    ModelError,
    OptionError,
    Request,
    Tool,
    ToolCall,
    Usage,
    UsageError,
)
from seal.models.spec import ModelSettings, build_model

pytest.importorskip("google.genai", reason="the extra gemini is not installed")
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


@pytest.mark.parametrize(
    ("below", "path"),
    [
        ("", "/v1beta"),
        ("/", "/v1beta"),
        ("/v1beta/", "/v1beta"),
        ("/v1", "/v1"),
        ("/at/google/v1alpha", "/at/google/v1alpha"),
        ("/at/google/", "/at/google/v1beta"),
    ],
)
def test_an_address_may_have_a_path_and_end_with_the_version(
    model_server, monkeypatch, below, path
):
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    server = model_server([answer(spoken({"text": "Sunny."}))])
    model = build_model(f"gemini/gemini-3,base_url={server.root}{below},stream=false")
    assert model.complete(ASK).content == "Sunny."
    assert server.received[0].path == f"{path}/models/gemini-3:generateContent"


def test_an_address_may_have_a_query_and_the_key_another_header(model_server, monkeypatch):
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    server = model_server([answer(spoken({"text": "Sunny."}))])
    address = f"{server.root}/v1beta?tenant=t1"
    model = build_model(f"gemini/gemini-3,base_url={address},key_header=Subscription-Key")
    assert model.complete(ASK).content == "Sunny."
    (received,) = server.received
    assert received.path == "/v1beta/models/gemini-3:streamGenerateContent?alt=sse&tenant=t1"
    assert {n for n, v in received.headers.items() if KEY in v} == {"subscription-key"}


def test_a_proxy_of_the_environment_is_asked_with_the_key(model_server, monkeypatch):
    proxy = model_server([answer(spoken({"text": "Sunny."}))])
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, proxy.root)
    model = build_model("gemini/gemini-3,base_url=http://models.example:80,stream=false")
    assert model.complete(ASK).content == "Sunny."
    (received,) = proxy.received
    assert received.path == "http://models.example/v1beta/models/gemini-3:generateContent"
    assert received.headers["x-goog-api-key"] == KEY


@pytest.mark.parametrize(
    ("options", "host"),
    [
        ("", "generativelanguage.googleapis.com"),
        (",vertexai=true,key_env=EXPRESS_KEY", "aiplatform.googleapis.com"),
        (
            ",vertexai=true,key_env=EXPRESS_KEY,project=p,location=europe-west4",
            "europe-west4-aiplatform.googleapis.com",
        ),
    ],
)
def test_google_itself_is_asked_where_no_address_is_given(model_server, monkeypatch, options, host):
    for name in ("GOOGLE_API_KEY", "EXPRESS_KEY"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.delenv("GOOGLE_GEMINI_BASE_URL", raising=False)
    proxy = model_server([failure(403)])
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, proxy.root)
    model = build_model(f"gemini/gemini-2.5-flash{options},max_tries=1")
    with pytest.raises(ModelError, match=r"could not be reached .*Can this machine reach"):
        model.complete(ASK)
    assert (proxy.received[0].method, proxy.received[0].path) == ("CONNECT", f"{host}:443")


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
        "thinkingConfig": thinking,
        "responseJsonSchema": schema,
    }
    assert body["safetySettings"][0]["threshold"] == "OFF"
    (declared,) = body["tools"][0]["functionDeclarations"]
    assert declared["name"] == "_7day_weather"
    assert declared["parameters_json_schema"] == WEATHER.parameters


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
    cut = [answer(spoken(finishReason=word)) for word in ("MAX_TOKENS", "CONTINUATION")]
    model, _ = model_of([answer(blocked), *cut])
    filtered = model.complete(ASK)
    assert (filtered.content, filtered.finish_reason) == ("", "content_filter")
    assert [model.complete(ASK).truncated for _ in cut] == [True, True]


def test_what_a_model_of_googles_does_not_take_is_left_out_as_of_others(model_of):
    fine = answer(spoken({"text": "Sunny."}))
    said = "Invalid JSON payload received. Unknown name \"seed\" at 'generation_config'"
    model, server = model_of([failure(400, said), fine])
    assert model.complete(ASK).content == "Sunny."
    assert "seed" not in server.received[1].body["generationConfig"]
    model, server = model_of([fine], name="gemma-3-27b-it")  # takes neither tools nor system texts
    model.complete(ASK)
    assert not {"tools", "systemInstruction"} & server.received[0].body.keys()


def test_what_the_sdk_refuses_to_send_is_told_and_not_tried_again(model_of):
    model, server = model_of([], thinking_config={"thinking_butget": 3})
    with pytest.raises(ModelError, match=r"google-genai refuses this: .*thinking_butget"):
        model.complete(ASK)
    assert not server.received and model.outage


def test_arguments_results_and_schemas_arrive_as_they_are(model_of):
    inner = {"two_words": {"twoWords": [1, None, "ß", {"a_b": 1.5}]}, "$ref": "x"}
    schema = {"type": "object", "properties": {"two_words": {"anyOf": [{"type": "null"}, inner]}}}
    call = ToolCall("c0", "look_up", inner)
    talk = (
        Message("user", "\u2028\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16")),
        Message("assistant", "", (call,)),
        Message("tool", json.dumps(inner), call_id="c0"),
    )
    model, server = model_of([answer(spoken({"text": "Sunny."}))], "gemini-2.5-flash")
    model.complete(Request(talk, (Tool("t", "look_up", "", schema),)))
    asked, called, told = (content["parts"][0] for content in server.received[0].body["contents"])
    assert asked == {"text": "\u2028\U0001f600"}
    assert called["functionCall"] == {"name": "look_up", "args": inner}
    assert told["functionResponse"] == {"name": "look_up", "response": inner}
    (declared,) = server.received[0].body["tools"][0]["functionDeclarations"]
    assert declared["parameters_json_schema"] == schema


@pytest.mark.parametrize(
    ("signature", "raw"),
    [("b+/w", b"o\xef\xf0"), ("b-_w", b"o\xef\xf0"), ("b-8", b"o\xef"), ("not 64!", b"not 64!")],
)
def test_a_signature_goes_back_with_its_bytes(model_of, signature, raw):
    called = {"functionCall": {"name": "_7day_weather", "args": {}}, "thoughtSignature": signature}
    model, server = model_of([answer(spoken(called)), answer(spoken({"text": "Sunny."}))])
    found = model.complete(Request(HISTORY[1:2], (WEATHER,)))
    said = Message("assistant", "", (ToolCall("c0", "7day weather", {}),), signed=found.signed)
    model.complete(Request((HISTORY[1], said, HISTORY[3]), (WEATHER,)))
    (part,) = server.received[1].body["contents"][1]["parts"]
    assert base64.urlsafe_b64decode(part["thoughtSignature"]) == raw


def test_without_a_key_the_variable_is_named(monkeypatch):
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    with pytest.raises(UsageError, match="set GOOGLE_API_KEY"):
        build_model("gemini/gemini-2.5-flash")


def test_the_sdk_is_imported_when_a_model_of_googles_is_asked():
    code = (
        "import os, sys\n"
        "os.environ['GOOGLE_API_KEY'] = 'key-of-tests'\n"
        "from seal.models.spec import build_model\n"
        "build_model('gemini/gemini-2.5-flash')\n"
        "print(sorted({'google.genai', 'google.auth', 'httpx2'} & sys.modules.keys()))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


# Vertex AI, with Google's default credentials.


@pytest.fixture
def cloud(model_server, monkeypatch, tmp_path):
    """Return how a model of Vertex AI is made, signed in by a file of a service account.

    The server gives the tokens that it takes.
    """
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    made = rsa.generate_private_key(65537, 2048).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    for name in ("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"):
        monkeypatch.delenv(name, raising=False)

    def build(script, options="project=blue,location=europe-west4", token=None):
        given = token or answer({"access_token": TOKEN, "expires_in": 3600, "token_type": "Bearer"})
        later = played(script, lambda request: failure(418))
        server = model_server(lambda request: given if request.path == "/token" else later(request))
        account = {
            "type": "service_account",
            "client_email": "me@blue.iam.gserviceaccount.com",
            "private_key": made.decode(),
            "project_id": "of-the-account",
            "token_uri": f"{server.root}/token",
        }
        file = tmp_path / "account.json"
        file.write_text(json.dumps(account))
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
        own = f"base_url={server.root},vertexai=true,max_tries=2,first_wait_s=0.001"
        return f"{own},{options}".rstrip(","), server

    return build


TOKEN = "ya29-token-of-tests"


def test_vertex_is_asked_with_the_default_credentials(cloud):
    options, server = cloud([answer(spoken({"text": "Sunny."}))] * 2)
    model = build_model(f"gemini/gemini-2.5-flash,{options}")
    for _ in range(2):
        assert model.complete(ASK).content == "Sunny."
    place = "/v1beta1/projects/blue/locations/europe-west4/publishers/google/models"
    signed_in, *asked = server.received
    assert signed_in.path == "/token"
    for received in asked:
        assert received.path == f"{place}/gemini-2.5-flash:streamGenerateContent?alt=sse"
        assert received.headers["authorization"] == f"Bearer {TOKEN}"
        assert "x-goog-api-key" not in received.headers
    assert model.identity["options"]["vertexai"] is True


def test_a_token_of_vertex_is_shown_nowhere(cloud):
    options, _ = cloud([failure(403, f"bad {TOKEN}")])
    with pytest.raises(ModelError, match=r"bad \*\*\*\. Sign in by `gcloud auth") as caught:
        build_model(f"gemini/gemini-2.5-flash,{options}").complete(ASK)
    assert caught.value.__context__ is None


def test_where_google_gives_no_token_how_to_sign_in_is_told(cloud):
    options, server = cloud([], token=answer({"error": "invalid_grant"}, 401))
    with pytest.raises(ModelError, match=r"gave no token: .*invalid_grant.* Sign in by") as caught:
        build_model(f"gemini/gemini-2.5-flash,{options}").complete(ASK)
    assert caught.value.__context__ is None
    assert [received.path for received in server.received] == ["/token"]


def test_without_credentials_how_to_sign_in_is_told(monkeypatch, tmp_path):
    for name in ("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    with pytest.raises(UsageError, match=r"credentials were not found.* Sign in by `gcloud"):
        build_model("gemini/gemini-2.5-flash,vertexai=true,project=blue").complete(ASK)


def test_a_project_without_vertex_is_refused(monkeypatch):
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    with pytest.raises(OptionError, match="location, project is of Vertex AI: add vertexai=true"):
        build_model("gemini/gemini-2.5-flash,project=blue,location=global")


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


@pytest.mark.parametrize("broken", [*BROKEN[:5], failure(401, f"bad {KEY}")], ids=range(6))
def test_a_key_appears_nowhere(model_of, broken, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    model, _ = model_of([broken] * 2)
    with pytest.raises(ModelError) as caught:
        model.complete(ASK)
    told = [repr(caught.value), repr(caught.value.__context__), caplog.text, *capfd.readouterr()]
    told += [repr(model), json.dumps(model.identity), repr(pickle.dumps(caught.value))]
    assert not [where for where in told if KEY in where]


def test_a_proxy_that_is_not_there_is_named_by_its_variable(model_of, monkeypatch):
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    model, server = model_of([])
    told = "through the proxy that HTTP_PROXY names: .*refused.* Without it: NO_PROXY=127"
    with pytest.raises(ModelError, match=told):
        model.complete(ASK)
    assert model.outage and not server.received
