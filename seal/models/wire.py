"""Requests and answers as OpenAI's chat completions have them: pure functions on plain JSON.

Servers take function names of `[A-Za-z0-9_-]{1,64}` only, so every tool gets a wire name that is
unique within its request, and the answer's names are mapped back.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import orjson

from seal.core import (
    JSON,
    Completion,
    Message,
    ModelError,
    Request,
    RequestError,
    Tool,
    ToolCall,
    Usage,
    UsageError,
)
from seal.core.function_calls import parse_call, wire_name, wire_names
from seal.core.outcomes import FAULTY, finish_of, refusal_of, unread
from seal.core.plain import well_formed
from seal.core.providers import OpenAIServer
from seal.core.secrets import public_url
from seal.models.normal_form import closed, normalised, presentation_of
from seal.models.profiles import HINTS, Profile, after_refusal, differences, save, saved_at
from seal.models.settings import ModelSettings
from seal.models.tokens import count_thinking, estimate_usage

if TYPE_CHECKING:
    from seal.core.servers import Server

_KEPT_TOOL_SETS = 256
_PLAIN = Profile()
_OF_TOOLS = frozenset({"parallel_tool_calls", "tool_choice"})
"""Fields that servers refuse in a request without tools."""
UNREADABLE = "unreadable"
"""The `finish_reason` of an answer in which the server could not read the calls."""
_CONTEXTS = ("n_ctx", "max_model_len", "context_length", "max_context_length", "context_window")
"""Names of a model's context: llama.cpp's, vLLM's, OpenRouter's, LM Studio's and Groq's."""
_log = logging.getLogger(__name__)


class _LearntError(Exception):
    """A refusal has changed the profile: the same request may be taken now."""


class MalformedAnswerError(Exception):
    """The server's answer is no chat completion; the text says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class WireTools:
    """The tools of a request as servers take them."""

    tools: tuple[Tool, ...]
    names: tuple[str, ...]
    """Wire name of each tool."""
    to_wire: Mapping[str, str]
    from_wire: Mapping[str, str]
    functions: list[dict[str, Any]]
    """The `tools` field of a request."""

    def wire(self, name: str) -> str:
        """Return the wire name of a tool; of a name that is not offered, a valid one like it."""
        return self.to_wire.get(name) or wire_name(name)


class ServerModel:
    """A model behind a server. Safe in threads, which share one client.

    Args:
        name: What the server calls the model.
        settings: Address, tries, further fields.
    """

    cached = True
    profile: Profile | None = None
    """What the model takes; grows where a refusal teaches more. None: the class knows itself."""
    provider: str
    unusable: str
    """What is said of an answer that cannot be read."""
    leading_letter = False
    """Whether a function's name must not begin with a digit or a dash (Gemini)."""
    counted_as = ""
    """Model by whose table tokens are counted where the server does not."""
    _server: Server

    def __init__(self, name: str, settings: ModelSettings) -> None:
        provider = self.provider
        if not name:
            raise UsageError(f"{provider}/: the model's name is missing; write {provider}/NAME")
        self.name = name
        self.settings = settings
        self._tools: dict[tuple[int, ...], WireTools] = {}
        self._lock = threading.Lock()

    @property
    def identity(self) -> dict[str, JSON]:
        """What shapes this model's answers, besides the request; holds no secret."""
        return {
            "model": f"{self.provider}/{self.name}",
            "base_url": self.place,
            "temperature": self.settings.temperature,
            "options": dict(self.settings.options),
            **self._rules,
        }

    @property
    def _rules(self) -> dict[str, JSON]:
        """What the profile adds to the identity; nothing where it shapes no answer."""
        rules = {} if self.profile is None else self.profile.identity(self._given)
        return {"profile": rules} if rules else {}

    @property
    def place(self) -> str | None:
        """Address of the server without secrets; None: the provider's own."""
        return public_url(self._server.url) if self._server.url else None

    @property
    def _given(self) -> set[str]:
        """Fields of the request that the user gave."""
        own = {"temperature"} if self.settings.temperature is not None else set()
        return own | self.settings.options.keys()

    @property
    def outage(self) -> str:
        """Why its server counts as down; empty while it does not."""
        return self._server.outage

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without key and connections: the other process reads its own environment."""
        return type(self), (self.name, replace(self.settings, recordings=None))

    def complete(self, request: Request) -> Completion:
        """Return the server's answer.

        Where the server refuses what a profile can do without, it is asked again without it.

        Raises:
            ModelError: The server refused, or failed as often as may be tried.
        """
        while True:  # ends: each refusal that teaches something leaves less to be taught
            how = self.profile and presentation_of(request, self.profile)
            try:
                if how:
                    from seal.models.text_calls import PresentedModel

                    return PresentedModel(self, how).complete(request)
                return self._complete(request)
            except _LearntError:
                continue

    def _complete(self, request: Request) -> Completion:
        """Return the server's answer to a request that it takes as far as the profile says."""
        tools = self._wired(request.tools)
        profile = self.profile
        body = self._body(request, tools, profile or _PLAIN)

        def ask() -> Completion:
            try:
                answer = self._ask(body)
            except ModelError as error:
                wrote = unread(error.said) if isinstance(error, RequestError) else None
                if wrote is not None:
                    answered = Completion(wrote, finish_reason=UNREADABLE)
                    return estimate_usage(request, answered, self.counted_as)
                own = isinstance(error, RequestError) and error.refusal
                if own or profile is None or not self._learns(profile, str(error), body):
                    raise
                raise _LearntError from None
            try:
                completion, counted = self._read(answer, tools)
            except MalformedAnswerError as error:
                problem = str(error)
            else:
                if profile is not None and profile.thinking is not None:
                    completion = _with_usual_marks(completion, *profile.thinking)
                if counted:
                    return count_thinking(completion, self.counted_as)
                return estimate_usage(request, completion, self.counted_as)
            refusal = refusal_of(400, problem)
            if refusal is not None:
                raise RequestError(self._server.told(f"answered {problem}"), refusal)
            raise self._server.transient(f"{self.unusable}: {problem}")

        return self._server.answer(ask)

    def context(self) -> int | None:
        """Return how many tokens prompt and answer may have, as the server says; None: it does not.

        The file of `/models` says so under one of several names, llama.cpp at `/props`.
        """
        if not isinstance(self._server, OpenAIServer):
            return None
        listed = self._server.found("/models").get("data")
        entries = [one for one in listed or () if isinstance(one, dict)]
        own = next((one for one in entries if one.get("id") == self.name), {})
        settings = self._server.found("//props").get("default_generation_settings")
        shown = {**own, **(settings if isinstance(settings, dict) else {})}
        counts = [shown.get(name) for name in _CONTEXTS]
        return next((n for n in counts if isinstance(n, int) and n > 0), None)

    def _wired(self, tools: tuple[Tool, ...]) -> WireTools:
        """Return the wire form of the tools, made once for each set of tools, by identity."""
        key = tuple(map(id, tools))  # the entry keeps the tools alive, so ids stay theirs
        found = self._tools.get(key)
        if found is None:
            found = wire_tools(tools, self.leading_letter)
            if len(self._tools) >= _KEPT_TOOL_SETS:
                self._tools.clear()
            self._tools[key] = found
        return found

    def _learns(self, profile: Profile, said: str, body: Mapping[str, Any]) -> bool:
        """Tell whether asking again can help, after a refusal under a profile."""
        _, _, words = said.partition(" answered HTTP ")
        with self._lock:
            if self.profile is not profile:  # another thread has learnt meanwhile
                return True
            learnt = after_refusal(profile, words, body, self._given)
            if learnt is None:
                return False
            self.profile = learnt
        name = f"{self.provider}/{self.name}"
        _log.warning("%s refused a request; from now on: %s", name, differences(profile, learnt))
        path = saved_at(self.name, self.place)
        if path.is_file() and self.settings.profile is None:
            save(learnt, path)
        return True

    def _body(self, request: Request, tools: WireTools, profile: Profile) -> Any:
        """Return what is sent under a profile."""
        raise NotImplementedError

    def _ask(self, body: Any) -> Any:
        """Return the JSON of the server's answer."""
        raise NotImplementedError

    def _read(self, answer: Any, tools: WireTools) -> tuple[Completion, bool]:
        """Return the completion in an answer, and whether the server counted the tokens."""
        raise NotImplementedError


def _with_usual_marks(completion: Completion, begins: str, ends: str) -> Completion:
    """Return a completion whose thinking, in marks of the model's own, is taken as thinking."""
    words = completion.content.replace(begins, "<think>").replace(ends, "</think>")
    return replace(completion, content=words)


def wire_tools(tools: tuple[Tool, ...], leading_letter: bool = False) -> WireTools:
    """Return the wire form of a request's tools."""
    names = wire_names([tool.name for tool in tools], leading_letter)
    functions = [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": tool.description,
                "parameters": tool.parameters,
            },
        }
        for name, tool in zip(names, tools, strict=True)
    ]
    pairs = list(zip(names, (tool.name for tool in tools), strict=True))
    to_wire = {name: wire for wire, name in reversed(pairs)}
    return WireTools(tools, tuple(names), to_wire, dict(pairs), functions)


def _wire_message(message: Message, tools: WireTools) -> dict[str, Any]:
    wired: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.calls:
        wired["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": tools.wire(call.name),
                    "arguments": orjson.dumps(sent_arguments(call)).decode(),
                },
            }
            for call in message.calls
        ]
    elif message.role == "tool":
        wired["tool_call_id"] = message.call_id
    return wired


def sent_arguments(call: ToolCall) -> dict[str, JSON]:
    """Return a JSON object in any case: servers parse the history and fail on anything else.

    Arguments that did not parse stand as {"unparsable_arguments": TEXT}.
    """
    return {"unparsable_arguments": call.raw} if call.arguments is None else call.arguments


def _json_mode(mode: str, schema: Mapping[str, JSON] | None) -> dict[str, JSON]:
    """Return the `response_format` that asks for a JSON object."""
    if mode == "object":
        return {"type": "json_object"}
    described = {"name": "answer", "schema": schema or {"type": "object"}}
    return {"type": "json_schema", "json_schema": described}


def wire_request(
    model: str,
    request: Request,
    tools: WireTools,
    settings: ModelSettings,
    profile: Profile = _PLAIN,
) -> dict[str, Any]:
    """Return the JSON body of a chat completion.

    Content is never null: some servers print it.

    Args:
        model: Name that the server knows.
        request: What is asked.
        tools: The request's tools.
        settings: Their temperature goes before the request's, and so do further fields, of which a
            value of None leaves one out.
        profile: What the model takes.
    """
    temperature = settings.temperature
    messages = normalised(request.messages, profile)
    body: dict[str, Any] = {
        "model": model,
        "messages": [_wire_message(message, tools) for message in messages],
        "temperature": request.temperature if temperature is None else temperature,
        "seed": request.seed,
    }
    if tools.functions:
        body["tools"] = tools.functions if profile.open_objects else _closed(tools.functions)
    if request.max_tokens is not None:
        body["max_tokens"] = request.max_tokens
    if request.json_object:
        body["response_format"] = _json_mode(profile.json_mode, request.json_schema)
    body = {name: value for name, value in body.items() if name not in profile.without}
    body |= settings.options
    left_out = HINTS & {*profile.without} if tools.functions else _OF_TOOLS
    for name in left_out:
        body.pop(name, None)
    if "max_tokens" in body:
        body.setdefault(profile.output_limit, body.pop("max_tokens"))
    return {name: value for name, value in body.items() if value is not None}


def _closed(functions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the `tools` of a request whose schemas leave nothing open."""
    found = []
    for one in functions:
        function = one["function"]
        found.append(
            {**one, "function": {**function, "parameters": closed(function["parameters"])}}
        )
    return found


def parse_completion(answer: Any, tools: WireTools) -> tuple[Completion, bool]:
    """Return the completion in a server's answer, and whether the server counted the tokens.

    Unknown and repeated call ids do no harm: ids are dropped, the chat numbers calls by position.

    Raises:
        MalformedAnswerError: It is no chat completion.
    """
    if not isinstance(answer, dict):
        raise MalformedAnswerError(f"no JSON object but {_excerpt(answer)}")
    if isinstance(answer.get("error"), dict):
        raise MalformedAnswerError(f"it is an error: {_excerpt(answer['error'], 300)}")
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise MalformedAnswerError(f"it has no choices: {_excerpt(answer)}")
    message = choices[0].get("message")
    if not isinstance(message, dict):
        raise MalformedAnswerError(f"its first choice has no message: {_excerpt(answer)}")
    finish = finish_of(choices[0].get("finish_reason"))
    if finish in FAULTY:
        raise MalformedAnswerError(f"it broke off: {_excerpt(choices[0].get('error') or finish)}")
    usage = _usage(answer.get("usage"))
    completion = Completion(
        _joined(message.get("content"), "text") or _joined(message.get("refusal"), "text"),
        tuple(_calls(message, tools)),
        usage or Usage(),
        finish == "length",
        finish_reason=finish,
        reasoning=next(filter(None, _thoughts(message)), ""),
    )
    return completion, usage is not None


def _thoughts(message: dict[str, Any]) -> Iterator[str]:
    """Yield the thinking that servers give beside the content, each in its own field."""
    for name in ("reasoning_content", "reasoning", "thinking"):
        yield _joined(message.get(name), "text").strip()
    yield _joined(message.get("content"), "thinking").strip()


def _joined(content: Any, kind: str) -> str:
    """Return a text, which some servers send in parts; a text without parts is of kind `text`."""
    if isinstance(content, list):
        found = (part.get(kind) for part in content if isinstance(part, dict))
        content, kind = "".join(_joined(part, "text") for part in found), "text"
    return well_formed(content) if isinstance(content, str) and kind == "text" else ""


def _calls(message: dict[str, Any], tools: WireTools) -> Iterator[ToolCall]:
    entries = message.get("tool_calls")
    if entries is None:
        legacy = message.get("function_call")
        entries = [{"function": legacy}] if legacy else []
    if not isinstance(entries, list):
        raise MalformedAnswerError(f"its tool_calls are no list: {_excerpt(entries)}")
    for entry in entries:
        function = entry.get("function") if isinstance(entry, dict) else None
        if not isinstance(function, dict):
            raise MalformedAnswerError(f"a tool call has no function: {_excerpt(entry)}")
        name = well_formed(str(function.get("name") or ""))
        yield parse_call(tools.from_wire.get(name, name), function.get("arguments"))


def _usage(usage: Any) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    counts = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not all(isinstance(count, int) and count >= 0 for count in counts):
        return None
    told = usage.get("completion_tokens_details")
    thought = told.get("reasoning_tokens") if isinstance(told, dict) else 0
    thought = thought if isinstance(thought, int) and thought > 0 else 0
    asked, said = cast("tuple[int, int]", counts)
    if usage.get("total_tokens") == asked + said + thought:  # xAI counts thinking apart
        said += thought
    return Usage(asked, said, reasoning=min(thought, said))


def _excerpt(value: Any, most: int = 80) -> str:
    text = value if isinstance(value, str) else repr(value)
    return repr(text[:most]) if text else "nothing"
