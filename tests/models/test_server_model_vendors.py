"""Servers that answer in the shapes that their vendors publish: a chat, a refusal, a full window.

Each plays a chat of two calls, one after the other, streamed and not. What it enforces of requests,
such as Mistral's ids of calls, is enforced here too. Sources: the vendors' references, and answers
of theirs that people report.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from servers import Answer, Received, answer, failure, garbage, played
from small_pools import play, weather_task, write_pool

import seal
from seal.core import OutageError
from seal.models.spec import ModelSettings, build_model

THOUGHT = "The user asks for it."
SAID = "It is sunny in Rome."
CALLED = [("weather", {"city": "Rome"}), ("news", {"topic": "Rome"})]
USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
TOO_LONG = (
    "This model's maximum context length is 4096 tokens. However, you requested 4290 tokens (4200 "
    "in the messages, 90 in the completion). Please reduce the length of the messages or completion"
)


def events(*chunks: Any, before: str = "", between: str = "", event: str = "") -> Answer:
    """Return a stream; `between` stands before each event, such as a comment that keeps alive."""
    lines = [f"{between}{event}data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    body = "".join([before, *lines, "" if event else "data: [DONE]\n\n"])
    return Answer(body.encode(), headers={"Content-Type": "text/event-stream"})


def no_rule(request: Received) -> Answer | None:
    return None


def both(whole: Answer, streamed: Answer | None = None) -> dict[bool, Answer]:
    return {False: whole, True: streamed or whole}


@dataclass(frozen=True)
class Vendor:
    """What a vendor's answers look like."""

    ids: tuple[str, str]
    """Of the two calls."""
    refusal: Answer
    refused: str
    """Why the goal stops after the refusal, or what the run's outage says."""
    overload: dict[bool, Answer]
    overflow: dict[bool, Answer]
    """By whether the answer is streamed."""
    model: str = "m"
    path: str = "/v1"
    options: dict[str, Any] = field(default_factory=dict)
    thinks: str = ""
    """Field of the message that holds the thinking; `content`: in parts of it."""
    silence: str | None = ""
    """What its content is beside calls."""
    message: dict[str, Any] = field(default_factory=dict)
    choice: dict[str, Any] = field(default_factory=dict)
    outer: dict[str, Any] = field(default_factory=dict)
    """Further fields of a message, of a choice, of an answer and its chunks."""
    usage: dict[str, Any] = field(default_factory=dict)
    usage_with_end: bool = False
    """Whether the usage of a stream comes with its end, and not in a chunk of its own."""
    pieces: int = 3
    """In which a call is streamed; 1: whole."""
    arguments: Callable[[Any], Any] = json.dumps
    before: str = ""
    """Stands before an answer that is not streamed, while the server works."""
    between: str = ""
    first: tuple[dict[str, Any], ...] = ()
    """Chunks before the message's."""
    rule: Callable[[Received], Answer | None] = no_rule
    shown: dict[str, Any] = field(default_factory=dict)
    """Path to what it shows there."""
    context: int | None = None

    def answer(self, request: Received) -> Answer:
        """Return the next answer of the chat."""
        if request.method == "GET":
            path = request.path
            return answer(self.shown[path]) if path in self.shown else failure(404, "Not Found")
        refused = self.rule(request)
        if refused is not None:
            return refused
        done = sum(message["role"] == "tool" for message in request.body["messages"])
        if request.body.get("stream"):
            chunks = self.chunks(done, "stream_options" in request.body)
            return events(*self.first, *chunks, between=self.between)
        whole = {**self.outer, "object": "chat.completion", "choices": [self.whole(done)]}
        text = self.before + json.dumps({**whole, "usage": {**USAGE, **self.usage}})
        return Answer(text.encode())

    def whole(self, done: int) -> dict[str, Any]:
        said = {"role": "assistant", "content": SAID if done == 2 else self.silence} | self.message
        if done < 2:
            said["tool_calls"] = [self.call(done)]
            said |= self.thought(THOUGHT)
        finish = "stop" if done == 2 else "tool_calls"
        return {"index": 0, "message": said, "finish_reason": finish, **self.choice}

    def call(self, done: int) -> dict[str, Any]:
        name, given = CALLED[done]
        function = {"name": name, "arguments": self.arguments(given)}
        return {"id": self.ids[done], "type": "function", "index": 0, "function": function}

    def thought(self, text: str) -> dict[str, Any]:
        if self.thinks == "content":
            parts = [{"type": "text", "text": text}]
            return {"content": [{"type": "thinking", "thinking": parts}]}
        return {self.thinks: text} if self.thinks else {}

    def chunks(self, done: int, counts: bool) -> Iterator[dict[str, Any]]:
        """Yield the chunks of a streamed answer."""
        yield self.chunk({"role": "assistant", "content": ""})
        if done < 2:
            for text in (THOUGHT[:9], THOUGHT[9:]) if self.thinks else ():
                yield self.chunk({"content": None, **self.thought(text)})
            for part in self.parts(self.call(done)):
                yield self.chunk({"tool_calls": [part]})
        else:
            for text in (SAID[:5], SAID[5:]):
                yield self.chunk({"content": text})
        end = self.chunk({"content": ""}, "stop" if done == 2 else "tool_calls")
        told = {"usage": {**USAGE, **self.usage}}
        if self.usage_with_end:
            yield {**end, **told}
            return
        yield end
        if counts:
            yield {**self.outer, "object": "chat.completion.chunk", "choices": [], **told}

    def parts(self, call: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if self.pieces == 1:
            yield call
            return
        text = call["function"]["arguments"]
        yield {**call, "function": {"name": call["function"]["name"], "arguments": ""}}
        for piece in (text[:4], text[4:]):
            yield {"index": 0, "function": {"arguments": piece}}

    def chunk(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, **self.choice}
        return {**self.outer, "object": "chat.completion.chunk", "choices": [choice]}


def mistral_rules(request: Received) -> Answer | None:
    """Refuse fields that are not Mistral's, and ids of calls that are not of nine letters."""
    for name in ("seed", "stream_options"):
        if name in request.body:
            extra = {"type": "extra_forbidden", "loc": ["body", name], "input": 1}
            told = {"detail": [{**extra, "msg": "Extra inputs are not permitted"}]}
            return answer(
                {"object": "error", "message": told, "type": "invalid_request_error"}, 422
            )
    for message in request.body["messages"]:
        for call in message.get("tool_calls") or ():
            if not (len(call["id"]) == 9 and call["id"].isalnum()):
                said = (
                    f"Tool call id was {call['id']} but must be a-z, A-Z, 0-9, with a length of 9."
                )
                told = {"type": "invalid_function_call", "param": None, "code": "3280"}
                return answer({"object": "error", "message": said, **told}, 400)
    return None


def deepseek_rules(request: Received) -> Answer | None:
    """Refuse calls without the thinking before them, which is on unless it is turned off."""
    called = [m for m in request.body["messages"] if m.get("tool_calls")]
    if all(message.get("reasoning_content") == THOUGHT for message in called):
        return None
    return failure(
        400,
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        type="invalid_request_error",
        code="invalid_request_error",
    )


KEEP_FIRST = (
    "Trying to keep the first 4390 tokens when context the overflows. However, the model is "
)
KEEP_FIRST += (
    "loaded with context length of only 4096 tokens, which is not enough. Try to load the "
)
KEEP_FIRST += "model with a larger context length, or provide a shorter input"
TOO_LARGE = (
    "Prompt contains 4390 tokens and 0 draft tokens, too large for model with 4096 maximum context "
    "length"
)
NO_KEEP = "Cannot truncate prompt with n_keep (4390) >= n_ctx (4096)"
BUSY = "server busy, please try again.  maximum pending requests exceeded"
UPSTREAM = "qwen/qwen3-32b is temporarily rate-limited upstream. Please retry shortly"
LATE = (
    "Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-10-21 "
    "have exceeded token rate limit of your current pricing tier. Please retry after 1 seconds."
)
BLOCKED = (
    "The response was filtered due to the prompt triggering Azure OpenAI's content management "
    "policy. Please modify your prompt and retry."
)
SAFE = {"hate": {"filtered": False, "severity": "safe"}}
VENDORS = {
    "vLLM": Vendor(
        ids=("chatcmpl-tool-" + "a" * 32, "chatcmpl-tool-" + "b" * 32),
        thinks="reasoning",
        message=dict.fromkeys(("refusal", "annotations", "audio", "function_call")),
        choice={"logprobs": None, "stop_reason": None, "token_ids": None},
        outer={"id": "chatcmpl-1", "created": 1, "model": "m", "prompt_logprobs": None},
        usage={"prompt_tokens_details": None},
        refusal=failure(404, "The model `m` does not exist.", type="NotFoundError", code=404),
        refused="Check the model's name",
        overload=both(garbage(b"<html>503 Service Temporarily Unavailable</html>", 503)),
        overflow=both(
            failure(400, TOO_LONG, type="BadRequestError", param=None, code=400),
            answer({"object": "error", "message": TOO_LONG, "type": "BadRequestError"}, 400),
        ),
        shown={"/v1/models": {"data": [{"id": "m", "max_model_len": 4096, "parent": None}]}},
        context=4096,
    ),
    "Ollama": Vendor(
        ids=("call_a1b2c3d4", "call_e5f6a7b8"),
        thinks="reasoning",
        outer={"id": "chatcmpl-1", "created": 1, "model": "m", "system_fingerprint": "fp_ollama"},
        pieces=1,
        refusal=failure(404, "model 'm' not found", type="not_found_error", code=None),
        refused="Check the model's name",
        overload=both(failure(503, BUSY, type="api_error", param=None, code=None)),
        overflow=both(
            failure(400, "prompt too long; exceeded max context length by 294 tokens"),
            failure(500, "the input length exceeds the context length", type="api_error"),
        ),
        shown={
            "/v1/models": {"object": "list", "data": [{"id": "m", "owned_by": "library"}]},
            "/api/ps": {"models": [{"name": "m", "model": "m", "context_length": 4096}]},
        },
        context=4096,
    ),
    "llama.cpp": Vendor(
        ids=("x" * 32, "y" * 32),
        thinks="reasoning_content",
        outer={"id": "chatcmpl-1", "created": 1, "model": "m", "system_fingerprint": "b1-abc"},
        silence=None,
        refusal=failure(401, "Invalid API Key", type="authentication_error", code=401),
        refused="Set OPENAI_API_KEY to a key",
        overload=both(failure(503, "Loading model", type="unavailable_error", code=503)),
        overflow=both(
            failure(
                400,
                "request (4390 tokens) exceeds the available context size (4096 tokens), "
                "try increasing it",
                type="exceed_context_size_error",
                code=400,
                n_prompt_tokens=4390,
                n_ctx=4096,
            ),
            events({"error": {"code": 500, "message": "Context size has been exceeded."}}),
        ),
        shown={"/props": {"default_generation_settings": {"n_ctx": 4096}, "total_slots": 1}},
        context=4096,
    ),
    "LM Studio": Vendor(
        ids=("365174485", "984512367"),
        thinks="reasoning_content",
        outer={"id": "chatcmpl-1", "created": 1, "model": "m", "system_fingerprint": "m"},
        choice={"logprobs": None},
        refusal=failure(404, "No models loaded. Please load a model", code="model_not_found"),
        refused="Check the model's name",
        overload=both(
            answer({"error": "The model is being loaded"}, 503),
            events({"error": {"message": "Model unloaded."}}, event="event: error\n"),
        ),
        overflow=both(
            answer({"error": KEEP_FIRST}, 400), events({"error": NO_KEEP}, event="event: error\n")
        ),
        shown={
            "/v1/models": {"data": [{"id": "m", "object": "model", "owned_by": "organization"}]},
            "/api/v0/models": {
                "data": [
                    {"id": "n", "state": "not-loaded", "max_context_length": 9},
                    {"id": "m", "max_context_length": 32768, "loaded_context_length": 4096},
                ]
            },
        },
        context=4096,
    ),
    "Mistral": Vendor(
        model="magistral-medium-latest",
        ids=("D681PevKs", "aB3xK9mP2"),
        thinks="content",
        outer={"id": "cmpl-1", "created": 1, "model": "magistral-medium-latest"},
        pieces=1,
        arguments=dict,
        usage_with_end=True,
        rule=mistral_rules,
        refusal=answer({"detail": "Unauthorized"}, 401),
        refused="Set OPENAI_API_KEY to a key",
        overload=both(
            answer(
                {"object": "error", "message": "Rate limit exceeded", "type": "rate_limited"}, 429
            )
        ),
        overflow=both(
            answer({"object": "error", "message": TOO_LARGE, "param": None, "code": "3051"}, 400)
        ),
        shown={
            "/v1/models": {"data": [{"id": "magistral-medium-latest", "max_context_length": 4096}]}
        },
        context=4096,
    ),
    "DeepSeek": Vendor(
        model="deepseek-v4-flash",
        ids=("call_00_aB3xK9mP2", "call_00_D681PevKs"),
        thinks="reasoning_content",
        outer={"id": "9f1", "created": 1, "model": "deepseek-v4-flash"},
        choice={"logprobs": None},
        usage={"prompt_cache_hit_tokens": 0, "completion_tokens_details": {"reasoning_tokens": 5}},
        usage_with_end=True,
        before="\n\n\n",
        between=": keep-alive\n\n",
        rule=deepseek_rules,
        refusal=failure(402, "Insufficient Balance", type="unknown_error", code="invalid_request"),
        refused="The account behind OPENAI_API_KEY has no credit left",
        overload=both(
            answer(
                {
                    "choices": [
                        {
                            "index": 0,
                            "message": {"role": "assistant", "content": "It"},
                            "finish_reason": "insufficient_system_resource",
                        }
                    ]
                }
            ),
            failure(503, "Service is too busy.", type="service_unavailable_error"),
        ),
        overflow=both(failure(400, TOO_LONG, code="invalid_request_error")),
    ),
    "OpenRouter": Vendor(
        model="qwen/qwen3-32b",
        path="/api/v1",
        ids=("call_f1e2d3c4", "call_b5a69788"),
        thinks="reasoning",
        outer={"id": "gen-1", "created": 1, "model": "qwen/qwen3-32b", "provider": "DeepInfra"},
        message={"refusal": None, "reasoning_details": [{"type": "reasoning.text", "text": "T"}]},
        choice={"native_finish_reason": "tool_calls", "logprobs": None},
        usage={"cost": 0.00001, "is_byok": False},
        between=": OPENROUTER PROCESSING\n\n",
        refusal=failure(
            403,
            "qwen/qwen3-32b requires moderation on DeepInfra. Your input was flagged for violence.",
            code=403,
            metadata={"reasons": ["violence"], "flagged_input": "it", "provider_name": "DeepInfra"},
        ),
        refused="filtered",
        overload=both(
            failure(
                429,
                "Provider returned error",
                code=429,
                metadata={"raw": UPSTREAM, "provider_name": "BaseTen"},
            ),
            events(
                {
                    "id": "gen-1",
                    "error": {"code": "server_error", "message": "Provider disconnected"},
                    "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}],
                },
                between=": OPENROUTER PROCESSING\n\n",
            ),
        ),
        overflow=both(
            failure(
                400,
                "Provider returned error",
                code=400,
                metadata={
                    "raw": json.dumps({"error": {"message": TOO_LONG, "code": 400}}),
                    "provider_name": "BaseTen",
                },
            )
        ),
        shown={"/api/v1/models": {"data": [{"id": "qwen/qwen3-32b", "context_length": 4096}]}},
        context=4096,
    ),
    "Azure": Vendor(
        model="gpt-4o",
        path="/openai/deployments/gpt-4o?api-version=2024-10-21",
        options={"key_header": "api-key"},
        ids=("call_aB3xK9mP2aB3xK9mP2aB3xK9", "call_D681PevKsD681PevKsD681Pe"),
        outer={"id": "chatcmpl-1", "created": 1, "model": "gpt-4o-2024-08-06"},
        message={"refusal": None},
        choice={"content_filter_results": SAFE, "logprobs": None},
        first=(
            {
                "choices": [],
                "object": "",
                "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": SAFE}],
            },
        ),
        refusal=failure(
            400,
            BLOCKED,
            param="prompt",
            code="content_filter",
            innererror={"code": "ResponsibleAIPolicyViolation"},
        ),
        refused="filtered",
        overload=both(failure(429, LATE, retry_after="0", code="429")),
        overflow=both(failure(400, TOO_LONG, param="messages", code="context_length_exceeded")),
    ),
}  # fmt: skip
STREAMED = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-Zq81-of-tests")


def run_with(script, vendor, stream, model_server, tmp_path):
    server = model_server(script)
    address = server.root + vendor.path
    pool = write_pool(tmp_path / "pool", [weather_task("Rome")])
    told = {"stream": stream, "first_wait_s": 0.001, **vendor.options}
    model = seal.Model(f"openai/{vendor.model}", base_url=address, **told)
    return play(pool, tmp_path / "run", model=model, team="direct", workers=1), server


@STREAMED
@pytest.mark.parametrize("name", VENDORS)
def test_a_chat_of_two_calls_is_played_as_the_vendor_answers(model_server, tmp_path, name, stream):
    vendor = VENDORS[name]
    run, server = run_with(vendor.answer, vendor, stream, model_server, tmp_path)
    (chat,) = run.folder.trajectories()
    assert [stop.reason for stop in chat.stops] == ["done"], chat.stops
    assert [(s.call.name, s.call.arguments) for s in chat.steps if s.call] == CALLED
    assert chat.answers == (SAID,)
    thoughts = [step.reasoning for step in chat.steps if step.call]
    assert thoughts == ([THOUGHT] * 2 if vendor.thinks else ["", ""])
    usage = run.summary["usage"]
    assert (usage["tokens_in"], usage["tokens_out"], usage["estimated"]) == (33, 21, False)
    assert len(server.received) <= 3 + 2  # Mistral and DeepSeek refuse once or twice, and teach it
    assert {request.body["model"] for request in server.received} == {vendor.model}
    header = vendor.options.get("key_header", "authorization")
    assert all("sk-Zq81" in request.headers[header] for request in server.received)


@STREAMED
@pytest.mark.parametrize("name", VENDORS)
def test_an_overload_is_waited_for(model_server, tmp_path, name, stream):
    vendor = VENDORS[name]
    script = played([vendor.overload[stream]], vendor.answer)
    run, _ = run_with(script, vendor, stream, model_server, tmp_path)
    assert (run.exit_code, run.summary["stop_reasons"]) == (0, {"done": 1})


@STREAMED
@pytest.mark.parametrize("name", VENDORS)
def test_a_full_window_is_the_models_outcome(model_server, tmp_path, name, stream):
    vendor = VENDORS[name]

    def full(request):
        ended = any(message["role"] == "tool" for message in request.body["messages"])
        return (ended and not vendor.rule(request) and vendor.overflow[stream]) or vendor.answer(
            request
        )

    run, _ = run_with(full, vendor, stream, model_server, tmp_path)
    assert (run.exit_code, run.summary["stop_reasons"]) == (0, {"context_overflow": 1})
    assert run.summary["metrics"]["call_f1"]["mean"] == 1.0  # of the call before


@pytest.mark.parametrize("name", VENDORS)
def test_a_refusal_is_told_with_its_repair_or_is_the_models(model_server, tmp_path, name):
    vendor = VENDORS[name]
    if vendor.refused == "filtered":
        run, _ = run_with(lambda r: vendor.refusal, vendor, True, model_server, tmp_path)
        assert run.summary["stop_reasons"] == {"filtered": 1}
    else:
        with pytest.raises(OutageError, match=vendor.refused):
            run_with(lambda r: vendor.refusal, vendor, True, model_server, tmp_path)


@pytest.mark.parametrize("name", VENDORS)
def test_the_context_is_what_the_vendor_shows(model_server, name):
    vendor = VENDORS[name]
    address = model_server(vendor.answer).root + vendor.path
    model = build_model(f"openai/{vendor.model}", ModelSettings(base_url=address))
    assert model.context() == vendor.context
