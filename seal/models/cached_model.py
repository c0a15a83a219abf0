"""Answers of models kept in a store, so that a run can be repeated without its server."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from seal.core import (
    ENDED,
    JSON,
    CacheMissError,
    CacheMode,
    ChatModel,
    Completion,
    InfrastructureError,
    Message,
    Request,
    RequestError,
    Tool,
    ToolCall,
    Usage,
    UsageError,
)
from seal.core.dialects import called_name, is_amid_marks, is_unparsed
from seal.core.outcomes import fault_in, finish_of, noise_in
from seal.core.store import Store
from seal.core.text import counted
from seal.core.values import digest
from seal.models.profiles import of_fields
from seal.models.wire import changes, object_of, objects_in

_log = logging.getLogger(__name__)

KEY_VERSION = 1
"""Part of every key; grows when keys are made in another way."""


class CachedModel:
    """The model of one role in one chat, with its answers kept.

    The key is the SHA-256 of the canonical JSON of everything that shapes the answer: the model's
    identity, the messages and tools, the parameters and seed, the context, and how many equal
    requests this chat has made before. Call ids count by position, and the order of arguments never
    matters. Of errors only a full window and a filter are kept, which are the model's own. A full
    window is a setting of the server: it is kept with the size that the server tells, and where it
    tells another or none, only `replay` plays it. Of two writers the first wins, and both use its
    answer.

    Args:
        inner: The model.
        store: The store.
        identity: What the model is (`seal.models.spec.model_identity`).
        mode: record: look, else ask and keep; replay: look, never ask; off: always ask, never keep.
        context: Where the chat stands: run seed, task, trial, role, vote.
    """

    def __init__(
        self,
        inner: ChatModel,
        store: Store,
        identity: Mapping[str, JSON],
        mode: CacheMode = "record",
        context: Mapping[str, JSON] | None = None,
    ) -> None:
        if mode not in ("record", "replay", "off"):
            raise UsageError(f"cache mode {mode!r}; known: record, replay, off")
        self.inner = inner
        self.mode = mode
        self.context = dict(context or {})
        self._store = store
        self._identity = dict(identity)
        self._unruled = {name: value for name, value in identity.items() if name != "profile"}
        """The identity for requests that the model's profile leaves as they are."""
        rules = identity.get("profile")
        self._rules = of_fields(rules, "profile", "kept") if isinstance(rules, Mapping) else None
        self._asked: Counter[str] = Counter()
        self._signed: dict[str, tuple[Mapping[str, JSON], ...]] = {}
        """By what was said and called in this chat: what the server wants back with it."""
        self._lock = threading.Lock()
        self._tools: tuple[tuple[Tool, ...], str] = ((), digest([]))

    def complete(self, request: Request) -> Completion:
        """Return the kept answer, or the model's.

        Raises:
            CacheMissError: Nothing is kept, under replay.
            ModelError: The model failed; of this only its own outcomes are kept.
        """
        completion = self._completed(request)
        if completion.signed:
            self._signed[_said(completion)] = completion.signed
        return completion

    def _completed(self, request: Request) -> Completion:
        if self.mode == "off":
            return self.inner.complete(self._with_signed(request))
        key, number = self._key(request)
        entry, is_told = self._store.get(key), True
        if entry is not None and (fault := self._fault(entry, request)):
            if self._store.is_new("faults of models"):
                _log.warning(
                    "an earlier version kept answers that are faults of the server; they are asked "
                    "for again, and stay where they are. The first: %s %s",
                    self._identity.get("model"),
                    fault,
                )
            key = digest([key, {"instead_of": "a fault"}])
            entry = self._store.get(key)
        if entry is not None and self.mode == "record" and _is_full(entry):
            window = self._window()
            is_told = window is not None
            if not is_told or entry.get("window") != window:
                key = digest([key, {"window": window}])
                entry = self._store.get(key)
        if entry is None:
            if self.mode == "replay":
                raise CacheMissError(self._miss(request, number))
            answer = self._answer(request)
            if _is_full(answer) and not is_told:
                return decode_completion(answer)
            return decode_completion(self._store.put(key, answer))
        return replace(decode_completion(entry), kept=True)

    def _fault(self, entry: Mapping[str, Any], request: Request) -> str:
        """Return why a kept answer to a request is none of the model; empty where it is one.

        Earlier versions kept some: what is kept is judged as an answer that comes now.
        """
        if "base_url" not in self._identity or "finish_reason" not in entry:
            return ""
        content, calls = entry.get("content"), entry.get("calls")
        if not isinstance(content, str) or not isinstance(calls, list):
            return ""  # it is damaged, and told as such
        made = objects_in(calls)
        readable = len(made) == len(calls) and all(c.get("arguments") is not None for c in made)
        names = [str(call.get("name") or "") for call in made]
        offered = {tool.name for tool in request.tools} if made else set()
        named = all(name.strip() and called_name(name, offered) == name for name in names)
        named = named and not any(is_amid_marks(name, offered) for name in names)
        usage, finish = object_of(entry.get("usage")), finish_of(entry["finish_reason"])
        counts = usage.get("tokens_in") and not usage.get("estimated")
        tokens = usage.get("tokens_out") if counts else None
        said, thought = bool(content.strip()), bool(entry.get("reasoning"))
        fault = fault_in(finish, said, len(calls), readable, named, tokens, thought)
        if finish != "length" and any(map(_is_unparsed, made)):
            fault = fault or "gives arguments with marks of a call in them"
        return fault or noise_in(content if said or calls else str(entry.get("reasoning") or ""))

    def _window(self) -> int | None:
        """Return the tokens that prompt and answer may have; None: the server does not say."""
        model: Any = self.inner
        while not hasattr(model, "context") and hasattr(model, "inner"):
            model = model.inner
        found = model.context() if callable(getattr(model, "context", None)) else None
        return found if isinstance(found, int) else None

    def _with_signed(self, request: Request) -> Request:
        """Return a request with what the server wants back, whether it was asked for it or not."""
        if not self._signed:
            return request
        messages = (
            replace(m, signed=self._signed.get(_said(m), ())) if m.calls else m
            for m in request.messages
        )
        return replace(request, messages=tuple(messages))

    def _key(self, request: Request) -> tuple[str, int]:
        ruled = self._rules is None or changes(request, self._rules)
        request_digest = digest(
            {
                "version": KEY_VERSION,
                "identity": self._identity if ruled else self._unruled,
                "context": self.context,
                "messages": plain_messages(request.messages),
                "tools": self._tools_digest(request.tools),
                "role": request.role,
                "temperature": request.temperature,
                "seed": request.seed,
                "max_tokens": request.max_tokens,
                "json_object": request.json_object,
            }
        )
        with self._lock:
            number = self._asked[request_digest]
            self._asked[request_digest] += 1
        return (digest([request_digest, number]) if number else request_digest), number

    def _tools_digest(self, tools: tuple[Tool, ...]) -> str:
        known, known_digest = self._tools
        if len(known) == len(tools) and all(map(lambda a, b: a is b, known, tools)):
            return known_digest
        found = digest([[tool.name, tool.description, tool.parameters] for tool in tools])
        self._tools = (tools, found)
        return found

    def _answer(self, request: Request) -> dict[str, Any]:
        """Return what is kept of the model's answer, or of its own outcome that there is none."""
        try:
            answer = encode_completion(self.inner.complete(self._with_signed(request)))
        except RequestError as error:
            if error.refusal is None:
                raise
            answer = {"refusal": error.refusal, "said": str(error)}
        if _is_full(answer):
            answer["window"] = self._window()
        return {**answer, "model": self._identity, "context": self.context}

    def _miss(self, request: Request, number: int) -> str:
        where = ", ".join(f"{name} {value}" for name, value in self.context.items())
        last = request.messages[-1].content if request.messages else ""
        return (
            f"no kept answer of {self._identity.get('model')} as {request.role or 'a model'} "
            f"({where or 'no context'}; {counted(len(request.messages), 'message')}, equal request "
            f"number {number + 1}, last message {last[:80]!r}): play it once with --cache record"
        )


def _is_unparsed(call: Mapping[str, Any]) -> bool:
    return call.get("arguments") is None and is_unparsed(str(call.get("raw") or ""))


def _is_full(entry: Mapping[str, Any]) -> bool:
    """Tell whether an entry holds that the window was full, before the answer or amid it."""
    ended = entry.get("refusal") or ENDED.get(str(entry.get("finish_reason")))
    return ended == "context_overflow"


def plain_messages(messages: Sequence[Message]) -> list[list[JSON]]:
    """Return the messages as JSON in which a call's id is its position in the prompt."""
    position: dict[str, int] = {}
    plain: list[list[JSON]] = []
    count = 0
    for message in messages:
        calls: list[list[JSON]] = []
        for call in message.calls:
            position[call.id] = count
            count += 1
            given = call.raw if call.arguments is None else call.arguments
            calls.append([position[call.id], call.name, given])
        answered = position.get(message.call_id, -1) if message.role == "tool" else None
        plain.append([message.role, message.content, calls, answered])
    return plain


def _said(answer: Message | Completion) -> str:
    """Return by what an answer is known again as a message of its chat: its words and calls."""
    return digest(plain_messages([Message("assistant", answer.content.strip(), answer.calls)]))


def encode_completion(completion: Completion) -> dict[str, JSON]:
    """Return an answer as plain JSON."""
    return {
        "content": completion.content,
        "calls": [
            {"name": call.name, "arguments": call.arguments, "raw": call.raw}
            for call in completion.calls
        ],
        "usage": asdict(completion.usage),
        "truncated": completion.truncated,
        "finish_reason": completion.finish_reason,
        "reasoning": completion.reasoning,
        **({"signed": list(completion.signed)} if completion.signed else {}),
    }


def decode_completion(entry: Mapping[str, Any]) -> Completion:
    """Return the answer that an entry holds.

    Raises:
        RequestError: It holds why there is none.
        InfrastructureError: The entry is damaged.
    """
    if "refusal" in entry:
        raise RequestError(str(entry.get("said")), entry["refusal"])
    try:
        return Completion(
            entry["content"],
            tuple(
                ToolCall("", call["name"], call["arguments"], call["raw"])
                for call in entry["calls"]
            ),
            Usage(**entry["usage"]),
            entry["truncated"],
            finish_reason=finish_of(entry.get("finish_reason")),
            reasoning=entry.get("reasoning", ""),
            signed=tuple(entry.get("signed", ())),
        )
    except (KeyError, TypeError) as error:
        raise InfrastructureError(
            f"a kept model answer is damaged ({type(error).__name__}: {error}): "
            "`seal cache verify POOL` lists such entries"
        ) from error
