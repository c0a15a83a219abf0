"""What a model takes: profiles by name, from files, and learnt from refusals."""

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from servers import Answer, ModelServer, Received, failure, text

from seal.core import (
    Completion,
    DataError,
    Goal,
    Message,
    ModelError,
    Request,
    Tool,
    ToolCall,
    UnknownNameError,
)
from seal.core.store import Store
from seal.evaluation.llm_judge import LLMJudge
from seal.models.cached_model import CachedModel
from seal.models.profiles import (
    Profile,
    after_refusal,
    family_of,
    find_profile,
    read_profile,
    save,
    saved_at,
    shipped,
)
from seal.models.spec import ModelSettings, build_model, model_identity
from seal.models.wire import NOT_RUN, changes, normalised

WEATHER = Tool("weather", "weather", "Weather", {"type": "object", "properties": {}})
HELLO = Request((Message("system", "Be brief."), Message("user", "Hello.")))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEAL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def said(text: str) -> list[Message]:
    """Return messages of a short notation: `S U A2 T T`, with words of their own."""
    messages, called = [], 0
    waiting: list[str] = []
    for number, word in enumerate(text.split()):
        role = {"S": "system", "U": "user", "A": "assistant", "T": "tool"}[word[0]]
        if word[1:]:
            waiting = [f"call_{called + n}" for n in range(int(word[1:]))]
            called += len(waiting)
            calls = tuple(ToolCall(i, "weather", {}) for i in waiting)
            messages.append(Message("assistant", "", calls))
        elif role == "tool":
            messages.append(Message("tool", str(number), call_id=waiting.pop(0)))
        else:
            messages.append(Message(role, str(number)))
    return messages


def shown(messages: tuple[Message, ...]) -> str:
    """Return such a notation, the words behind each letter."""
    return " ".join(
        m.role[0].upper() + (f"*{len(m.calls)}" if m.calls else "") + m.content.replace("\n\n", "+")
        for m in messages
    ).replace("I have read the results.", "...")


@pytest.mark.parametrize(
    ("family", "given", "expected"),
    [
        ("gpt-4o", "S U U A2 T T U", "S0 U1 U2 A*2 T4 T5 U6"),
        ("mistral-nemo", "S U U", "S0 U1+2"),
        ("mistral-nemo", "S A U", "S0 UContinue. A1 U2"),
        ("mistral-nemo", "S U A1 T U", "S0 U1 A*1 T3 A... U4"),
        ("mistral-nemo", "S U A A1 T A U", "S0 U1 A*12 T4 A5 U6"),
        ("mistral-nemo", "S S U A S", "S0+1 U2 A3 U4"),
        ("gemma-2-9b", "S U U A U", "U0+1+2 A3 U4"),
        ("gemma-2-9b", "S A U", "U0 A1 U2"),
        ("llama-3.1-8b", "S U A2 T T U", "S0 U1 A*1 T3 A*1 T4 U5"),
        ("llama-3.1-8b", "S A U", "S0 UContinue. A1 U2"),
        ("qwen3.5-4b", "S U S", "S0 U1 U2"),
    ],
)
def test_messages_take_the_form_that_a_family_wants(family: str, given: str, expected: str) -> None:
    assert shown(normalised(said(given), family_of(family))) == expected


def test_ids_of_calls_and_results_are_of_nine_letters_and_digits_for_mistral() -> None:
    sent = normalised(said("S U A2 T T A1 T"), family_of("mistral-nemo"))
    made = [call.id for message in sent for call in message.calls]
    assert made == [message.call_id for message in sent if message.role == "tool"]
    assert len(set(made)) == 3 and all(len(i) == 9 and i.isalnum() for i in made)


def test_a_call_without_a_result_gets_one_and_a_result_without_a_call_is_the_users() -> None:
    lost = (*said("S U A2"), Message("tool", "late", call_id="call_1"), *said("U"))
    assert shown(normalised(lost, Profile())) == f"S0 U1 A*2 T{NOT_RUN} Tlate U0"
    stray = (Message("tool", "stray", call_id="call_9"), Message("user", "Go."))
    assert shown(normalised(stray, Profile())) == "UResult: stray UGo."


def test_every_shipped_family_is_found_by_a_name_of_its_own() -> None:
    names = {
        "Hermes-3-Llama-3.1-8B": "hermes",
        "o4-mini": "o-series",
        "gpt-5-mini": "gpt-5",
        "anthropic/claude-sonnet-4": "claude",
        "google/gemma-4-31b-it": "gemma-4",
        "gemma3:4b": "gemma",
        "mistralai/Mistral-7B-Instruct-v0.2": "mistral-7b",
        "mistralai/Mistral-Small-3.2": "mistral",
        "meta-llama/Llama-3.3-70B-Instruct": "llama-3",
        "qwen3.5-4b": "qwen3.5",
        "Qwen/Qwen2.5-7B-Instruct": "qwen",
        "deepseek-ai/DeepSeek-V3.1": "deepseek",
        "openai/gpt-oss-20b": "gpt-oss",
        "moonshotai/Kimi-K2": "kimi",
        "zai-org/GLM-4.6": "glm",
        "meta-llama/Llama-4-Scout": "llama-4",
        "glaive-function-calling-v1": "glaive",
        "LiquidAI/LFM2.5-8B-A1B": "lfm",
        "internlm/Intern-S1": "internlm",
        "ibm-granite/granite-3.3-8b-instruct": "granite",
        "microsoft/Phi-4-mini-instruct": "phi-4-mini",
        "nvidia/Nemotron-Nano-9B-v2": "nemotron",
        "MiniMaxAI/MiniMax-M2": "minimax",
        "ai21labs/AI21-Jamba-Mini": "jamba",
        "stepfun-ai/step3": "step3",
        "ByteDance-Seed/Seed-OSS-36B-Instruct": "seed-oss",
        "CohereLabs/c4ai-command-r7b-12-2024": "command",
        "Salesforce/xLAM-1b-fc-r": "xlam",
        "apertus-8b": "apertus",
        "meituan-longcat/LongCat-Flash-Chat": "longcat",
        "allenai/Olmo-3-7B-Instruct": "olmo-3",
        "c4ai-command-r-plus": "command-r-plus",
    }
    assert {name: family_of(name).name for name in names} == names
    assert set(names.values()) == set(shipped())
    assert family_of("gpt-4o") == family_of("gpt-5-chat-latest") == Profile()


@pytest.mark.parametrize(
    ("written", "wrong"),
    [
        ('system = "no"', "system: expected 'any', 'first' or 'none', got 'no'"),
        ('sistem = "none"', "no field of a profile 'sistem'"),
        ("alternates = 1", "alternates: expected true or false, got 1"),
        ('without = "seed"', "without: expected a list, got 'seed'"),
        ("context = 0.5", "context: expected a whole number, got 0.5"),
        ("context = -1", "context: expected at least 1 token, got -1"),
        ('thinking = ["<a>"]', "thinking: expected the marks before and after thoughts, such as "),
        ('thinking = ["", "</a>"]', "thinking: expected the marks before and after thoughts"),
        ("[learnt]\nseeds = 1", "learnt: no field of a profile 'seeds'"),
        ('[learnt]\nsystem = "no"', "learnt: system: expected 'any', 'first' or 'none', got 'no'"),
        ("system =", "no TOML"),
    ],
)
def test_a_wrong_file_is_told_in_one_line(tmp_path: Path, written: str, wrong: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(written, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        build_model(f"openai/x,base_url=http://localhost:9/v1,profile={file}")
    assert str(caught.value).startswith(f"{file}: {wrong}")
    assert "\n" not in str(caught.value)


def test_a_profile_that_is_nowhere_is_told_with_those_that_are() -> None:
    with pytest.raises(UnknownNameError, match=r"no profile \(and no file\) 'mistrall'.*'mistral'"):
        build_model("openai/x,base_url=http://localhost:9/v1,profile=mistrall")


def test_the_named_profile_goes_before_the_probed_and_that_before_the_familys() -> None:
    address = "http://localhost:9/v1"
    assert find_profile("openai/mistral-nemo", address).name == "mistral"
    probed = Profile(system="first", context=4096, without=("seed",))
    save(probed, saved_at("openai/mistral-nemo", address))
    assert find_profile("openai/mistral-nemo", address) == probed
    assert find_profile("openai/mistral-nemo", "http://localhost:8/v1").name == "mistral"
    assert find_profile("litellm/mistral-nemo", address).name == "mistral"  # another interface
    assert find_profile("openai/mistral-nemo", address, "gemma").name == "gemma"
    assert find_profile("openai/mistral-nemo", address, "plain") == Profile()
    assert read_profile(saved_at("openai/mistral-nemo", address)) == probed


def identity_of(spec: str) -> dict[str, Any]:
    return model_identity(spec, None, build_model(f"{spec},base_url=http://localhost:9/v1"))


def test_a_profile_is_part_of_the_identity_where_it_can_shape_an_answer() -> None:
    assert "profile" not in identity_of("openai/gpt-4o")
    assert identity_of("openai/gemma-2-2b-it")["profile"]["system"] == "none"
    assert "call_ids" not in identity_of("openai/mistral-nemo")["profile"]
    assert identity_of("openai/o3")["profile"] == {"without": ["temperature"]}
    assert "profile" not in identity_of("openai/o3,temperature=null")


def test_answers_stay_kept_where_a_profile_leaves_the_request_as_it_is(tmp_path: Path) -> None:
    class Server:
        def complete(self, request: Request) -> Completion:
            return Completion("Hi.")

    identity = {"model": "openai/llama-3.1-8b"}
    ruled = identity | {"profile": family_of("llama-3.1-8b").identity()}
    several = Request(tuple(said("S U A2 T T")), (WEATHER,))
    with Store(tmp_path / "kept") as store:
        for request in (HELLO, several):
            CachedModel(Server(), store, identity).complete(request)
        assert CachedModel(Server(), store, ruled, "replay").complete(HELLO).kept
        assert not CachedModel(Server(), store, ruled).complete(several).kept
    mistral = family_of("mistral-nemo")
    of_tools = Request(tuple(said("S U A1 T")), (WEATHER,))
    assert not changes(of_tools, replace(mistral, calls_in_text=()))
    assert changes(of_tools, mistral)  # calls in the text make another answer
    assert not changes(replace(of_tools, tools=()), mistral)


ASKED = Request(HELLO.messages, (WEATHER,), max_tokens=50, json_object=True)
TOLD = {
    "temperature": "Unsupported value: 'temperature' does not support 0.0 with this model.",
    "seed": "litellm.UnsupportedParamsError: anthropic does not support parameters: ['seed']",
    "max_tokens": "Unsupported parameter: 'max_tokens' is not supported with this model. "
    "Use 'max_completion_tokens' instead.",
    "response_format": "property 'response_format' is unsupported",
    "tools": "registry.ollama.ai/library/gemma2:2b does not support tools",
    "parallel_tool_calls": "Unknown parameter: 'parallel_tool_calls'.",
}


@pytest.mark.parametrize("field", TOLD)
def test_a_refused_field_is_left_out_once_and_told_once(
    field: str, model_server: Callable[..., ModelServer], caplog: pytest.LogCaptureFixture
) -> None:
    def picky(request: Received) -> Answer:
        return failure(400, TOLD[field]) if field in request.body else text("Fine.")

    server = model_server(picky)
    options = ",parallel_tool_calls=true" if field == "parallel_tool_calls" else ""
    model = build_model(f"openai/x,base_url={server.url}{options}")
    with caplog.at_level(logging.WARNING, "seal"):
        assert [model.complete(ASKED).content for _ in range(3)] == ["Fine."] * 3
    assert len(server.received) == 4 and len(caplog.messages) == 1
    assert "openai/x refused a request; from now on: " in caplog.messages[0]
    last = server.received[-1].body
    assert field not in last
    assert ("max_completion_tokens" in last) == (field == "max_tokens")
    assert "profile" not in model_identity("openai/x", None, model)


def test_a_server_that_wants_a_schema_for_json_is_given_one(
    model_server: Callable[..., ModelServer],
) -> None:
    def picky(request: Received) -> Answer:
        if request.body["response_format"]["type"] == "json_object":
            return failure(400, "'response_format.type' not supported: use 'json_schema' or 'text'")
        return text("{}")

    server = model_server(picky)
    model = build_model(f"openai/x,base_url={server.url}")
    assert model.complete(ASKED).content == "{}"
    (given,) = [r.body["response_format"] for r in server.received[1:]]
    assert given["json_schema"]["schema"] == {"type": "object"}


def test_a_judge_gives_the_schema_of_its_verdict_to_a_model_that_takes_one(
    model_server: Callable[..., ModelServer], tmp_path: Path
) -> None:
    (tmp_path / "own.toml").write_text('json_mode = "schema"\n')
    server = model_server([text('{"verdict": "solved", "reason": "so it is"}')])
    model = build_model(f"openai/x,base_url={server.url},profile={tmp_path / 'own.toml'}")
    assert LLMJudge(model).judge(Goal("Weather?"), "Sunny.", []).label == "solved"
    schema = server.received[0].body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["verdict"]["enum"] == ["solved", "unsolved", "unsure"]


@pytest.mark.parametrize(
    "words",
    [
        "max_tokens is too large: 5000. This model supports at most 4096 completion tokens.",
        "This model's maximum context length is 8192 tokens.",
        "Invalid schema for function 'weather': seed is wrong",
        "temperature must be between 0 and 1; other values are not supported",
        "In context=('properties', 'temperature'), 'default' is not permitted",
        "Unsupported keyword in tools[0].function.parameters.properties.seed",
    ],
)
def test_a_refused_value_teaches_nothing(
    words: str, model_server: Callable[..., ModelServer]
) -> None:
    server = model_server(lambda request: failure(400, words))
    with pytest.raises(ModelError, match="answered HTTP 400"):
        build_model(f"openai/x,base_url={server.url}").complete(ASKED)
    assert len(server.received) == 1


def test_the_field_that_a_server_names_says_more_than_its_words(
    model_server: Callable[..., ModelServer],
) -> None:
    words = "'temperature' is not permitted here"
    for param, asked in (("tools[0].function.parameters", 1), ("temperature", 2), (None, 2)):
        server = model_server([failure(400, words, param=param), text("Fine.")])
        model = build_model(f"openai/x,base_url={server.url}")
        if asked == 1:
            with pytest.raises(ModelError, match="answered HTTP 400"):
                model.complete(ASKED)
        else:
            assert model.complete(ASKED).content == "Fine."
        assert len(server.received) == asked


def test_what_was_learnt_is_taken_back_where_the_same_refusal_comes_again(
    model_server: Callable[..., ModelServer], caplog: pytest.LogCaptureFixture
) -> None:
    numbers = iter(range(9))

    def stubborn(request: Received) -> Answer:
        return failure(400, f"request {next(numbers)}: the word temperature is not permitted")

    server = model_server(stubborn)
    model = build_model(f"openai/x,base_url={server.url}")
    for asked in (2, 3):
        with pytest.raises(ModelError, match="answered HTTP 400"):
            model.complete(ASKED)
        assert len(server.received) == asked and model.profile == Profile()
    assert "taken back" in caplog.messages[-1]


def test_a_field_that_the_user_gave_is_never_left_out(
    model_server: Callable[..., ModelServer],
) -> None:
    server = model_server(lambda request: failure(400, TOLD["temperature"]))
    model = build_model(f"openai/x,base_url={server.url},temperature=0.7")
    with pytest.raises(ModelError, match="-M FIELD=null"):
        model.complete(ASKED)
    assert family_of("o3").identity({"temperature"}) == {}
    body = {"temperature": 0.7}
    assert after_refusal(Profile(), TOLD["temperature"], body, {"temperature"}) is None


def test_what_a_refusal_teaches_leaves_keys_of_kept_answers_as_they_are(tmp_path: Path) -> None:
    claude = family_of("claude-x")
    learnt = after_refusal(claude, TOLD["temperature"], {"temperature": 0.0})
    assert learnt is not None and learnt.without == ("seed", "temperature")
    assert learnt.identity() == claude.identity() == {"system": "first", "without": ["seed"]}
    save(learnt, tmp_path / "saved.toml")
    assert read_profile(tmp_path / "saved.toml").identity() == claude.identity()


OF_TEMPLATE = "While executing CallExpression at line 15, column 20 in source:\n" + "{%- if %}" * 90
OF_TEMPLATE += "\nError: Jinja Exception: System role not supported"


def test_a_request_has_one_key_whenever_in_a_run_a_rule_of_its_family_is_overridden(
    model_server: Callable[..., ModelServer], tmp_path: Path
) -> None:
    def strict(request: Received) -> Answer:
        roles = [message["role"] for message in request.body["messages"]]
        return failure(400, OF_TEMPLATE) if "system" in roles else text("Fine.")

    server = model_server(strict)
    spec, several = f"openai/claude-x,base_url={server.url}", Request(tuple(said("S U S U")))
    assert family_of("claude-x").system == "first"
    save(family_of("claude-x"), saved_at("openai/claude-x", server.url))
    before = build_model(spec)
    known = model_identity(spec, None, before)
    with Store(tmp_path / "kept") as store:
        CachedModel(before, store, known).complete(several)
        after = build_model(spec)  # of the saved profile, which has learnt
        for one in (before, after):
            assert one.profile.system == "none"
            assert model_identity(spec, None, one) == known
            again = CachedModel(one, store, model_identity(spec, None, one), "replay")
            assert again.complete(several).kept
    assert len(server.received) == 2


@pytest.mark.parametrize("status", [400, 500])
def test_a_refusal_is_read_to_its_end(
    status: int, model_server: Callable[..., ModelServer]
) -> None:
    def strict(request: Received) -> Answer:
        refused = request.body["messages"][0]["role"] == "system"
        return failure(status, OF_TEMPLATE) if refused else text("Fine.")

    model = build_model(f"openai/x,base_url={model_server(strict).url},max_tries=1")
    assert model.complete(Request(tuple(said("S U")))).content == "Fine."


def test_what_a_refusal_teaches_goes_into_the_saved_profile_alone(
    model_server: Callable[..., ModelServer], tmp_path: Path
) -> None:
    server = model_server(
        lambda r: failure(400, TOLD["seed"]) if "seed" in r.body else text("Fine.")
    )
    saved = saved_at("openai/x", server.url)
    build_model(f"openai/x,base_url={server.url}").complete(HELLO)
    assert not saved.exists()
    save(Profile(context=4096), saved)
    build_model(f"openai/x,base_url={server.url}").complete(HELLO)
    asked = len(server.received)
    again = build_model(f"openai/x,base_url={server.url}")
    again.complete(HELLO)
    assert len(server.received) == asked + 1
    learnt = read_profile(saved)
    assert (learnt.without, learnt.learnt, learnt.context) == (("seed",), {"without": []}, 4096)
    assert "profile" not in model_identity("openai/x", ModelSettings(), again)


def test_fields_of_tools_are_sent_with_tools_alone(
    model_server: Callable[..., ModelServer],
) -> None:
    server = model_server(lambda request: text("Fine."))
    model = build_model(f"openai/x,base_url={server.url},parallel_tool_calls=false")
    for request in (HELLO, ASKED):
        model.complete(request)
    assert ["parallel_tool_calls" in r.body for r in server.received] == [False, True]


def test_a_model_without_tools_is_asked_in_words_and_calls_are_read(
    model_server: Callable[..., ModelServer],
) -> None:
    server = model_server(lambda request: text('{"name": "weather", "arguments": {}}'))
    model = build_model(f"openai/gemma-2-2b-it,base_url={server.url}")
    answer = model.complete(Request(tuple(said("S U A1 T U")), (WEATHER,)))
    assert [call.name for call in answer.calls] == ["weather"]
    body = server.received[0].body
    assert "tools" not in body
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]


@pytest.mark.parametrize(
    "said",
    [
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        "thinking is enabled but reasoning_content is missing in assistant tool call message",
        "Missing `reasoning_content` field in the assistant message at message index 2.",
        "Missing reasoning_content field in the assistant message",
    ],
)
def test_thinking_that_a_server_wants_back_is_learnt(said):
    learnt = after_refusal(Profile(), said, {"messages": []})
    assert learnt is not None and learnt.thinking_with_calls
    assert after_refusal(learnt, said, {"messages": []}) is None


@pytest.mark.parametrize(
    "said",
    [
        "Extra inputs are not permitted: messages.2.assistant.reasoning_content",
        "'messages.2' : for 'role:assistant' property 'reasoning_content' is unsupported",
    ],
)
def test_thinking_that_a_server_takes_not_back_is_left_out_and_no_two_servers_take_turns(said):
    assert after_refusal(Profile(), said, {"messages": []}) is None
    thinks = Profile(thinking_with_calls=True)
    learnt = after_refusal(thinks, said, {"messages": []})
    assert learnt is not None and not learnt.thinking_with_calls
    assert learnt.identity() == thinks.identity()
    wanted = "The `reasoning_content` in the thinking mode must be passed back to the API."
    again = after_refusal(learnt, wanted, {"messages": []})
    assert again is not None and again.thinking_with_calls
    assert after_refusal(again, said, {"messages": []}) is None


@pytest.mark.parametrize(
    "words",
    [
        "messages: text content blocks must be non-empty",
        "The text field in the ContentBlock object at messages.1.content.0 is blank. Add text",
    ],
)
def test_a_message_of_calls_alone_may_have_null_where_a_server_refuses_an_empty_text(
    words, model_server
):
    def script(request):
        if any(one["content"] == "" for one in request.body["messages"]):
            return failure(400, words)
        return text("Done.")

    server = model_server(script)
    model = build_model(f"openai/any,base_url={server.url}")
    assert model.complete(Request(tuple(said("S U A1 T")), (WEATHER,))).content == "Done."
    sent = server.received[-1].body["messages"]
    assert [one["content"] for one in sent if one.get("tool_calls")] == [None]
    assert model.profile.identity() == {}


@pytest.mark.parametrize("model", ["openai/deepseek-v3.2", "openai/kimi-k2-thinking"])
def test_families_that_want_their_thinking_back_get_it(model):
    assert find_profile(model, None).thinking_with_calls
