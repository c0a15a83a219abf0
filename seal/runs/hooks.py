"""Hooks: objects that are told when a run and its parts begin and end. They change nothing.

`seal.run(..., hooks=[...])` takes them, or `seal run --hooks module:name`. docs/results.md has
examples.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from seal.core import JSON, Completion, Message, Request, ToolCall, UsageError, fault, text_of
from seal.core.registry import Registry, name_of
from seal.core.settings import takes
from seal.core.values import json_bytes, json_value

Kind = Literal["run", "chat", "request", "call", "score"]
"""A run; the chat about a task; a question to a model; a call of a tool; the scoring of a chat."""
REGISTRY = Registry("hooks", "seal.hooks", {})
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Event:
    """What begins or ends.

    What `data` has at a start, and what an end adds:

    - `run`, not of its floor and ceiling: `benchmark`, `folder`, `model`; then `metrics`, `errors`.
    - `chat`, about a task: `task`, `trial`, `goals`; then `answers`, `stops`.
    - `request` to a model, by a role, a judge or a simulator: `role`, `model`, `messages`, `tools`,
      `temperature`, `seed`, `max_tokens`; then `content`, `reasoning`, `calls`, `tokens_in`,
      `tokens_out`, `finish_reason`, and `kept`, whether the answer came from the cache.
    - `call` of a tool: `id`, `name`, `arguments`; then `result`, `failed`.
    - `score`, the scoring of a chat: `task`, `trial`; then `scores`.
    """

    kind: Kind
    id: int
    """Unique within a run; start and end of one thing have the same."""
    parent: int | None
    """Id of what it is a part of; None of a run."""
    data: Mapping[str, JSON]
    """Copies, which a hook may keep and change: of a start what is known then, of an end also what
    came of it."""
    error: str = ""
    """Of an end: the exception that ended it, `Kind: text`; empty where none did."""


@runtime_checkable
class Hooks(Protocol):
    """Is told of a run, in the threads in which it is played. What it raises is logged once."""

    def start(self, event: Event) -> None:
        """Take note that something begins."""
        ...

    def end(self, event: Event) -> None:
        """Take note that it has ended."""
        ...


HooksChoice: TypeAlias = str | Hooks | type[Hooks]
"""A text is a name, or a dotted path; a class takes no arguments."""


def build_hooks(wanted: Sequence[HooksChoice]) -> tuple[Hooks, ...]:
    """Return hooks by object, class, name or dotted path.

    Raises:
        UnknownNameError: There are none of that name.
        UsageError: It has no `start` and `end`, or is gone.
    """
    if "opentelemetry" in wanted:
        raise UsageError(
            "the hooks opentelemetry are gone: docs/results.md has a class that opens spans; name "
            "yours as --hooks module:Spans"
        )
    return tuple(map(_built, wanted))


def _built(what: Any) -> Hooks:
    found = REGISTRY.resolve(what)
    hooks = found() if isinstance(found, type) else found
    if not (isinstance(hooks, Hooks) and takes(hooks.start, 1) and takes(hooks.end, 1)):
        raise UsageError(f"hooks {name_of(what)}: expected methods start(event) and end(event)")
    return hooks


class Teller:
    """Tells hooks of the events of one run. Safe in threads, as far as the hooks are.

    Args:
        hooks: Who is told; empty: nobody, at no cost.
    """

    def __init__(self, hooks: Sequence[Hooks] = ()) -> None:
        self._hooks = hooks
        self._ids = count(1)
        self._root: int | None = None
        self._failed: set[int] = set()

    @contextmanager
    def of(
        self, kind: Kind, data: Callable[[], Mapping[str, Any]], *, alone: bool = True
    ) -> Iterator[dict[str, Any]]:
        """Tell of a start, and of the end after the block, with what the block puts into the map.

        Args:
            kind: What begins.
            data: Returns what is known of it; called only where there are hooks.
            alone: Whether what the block begins is a part of it, and not of something beside it.
        """
        came: dict[str, Any] = {}
        if not self._hooks:
            yield came
            return
        told, parent = _CURRENT.get()
        within = parent if told is self else self._root
        event = Event(kind, next(self._ids), within, _facts(data))
        if kind == "run":
            self._root = event.id
        token = _CURRENT.set((self, event.id) if alone else (told, parent))
        self._tell("start", event)
        error = ""
        try:
            yield came
        except BaseException as raised:
            error = f"{type(raised).__name__}: {text_of(raised)}"
            raise
        finally:
            _CURRENT.reset(token)
            data_then = {**event.data, **_facts(lambda: came)}
            self._tell("end", replace(event, data=data_then, error=error))

    def add(self, came: dict[str, Any], data: Callable[[], Mapping[str, Any]]) -> None:
        """Add to what an end is told of; `data` is called only where there are hooks."""
        if self._hooks:
            came |= _facts(data)

    def _tell(self, what: Literal["start", "end"], event: Event) -> None:
        for number, hooks in enumerate(self._hooks):
            own = replace(event, data=_plain(event.data))  # none sees what another one changes
            try:
                getattr(hooks, what)(own)
            except Exception as error:  # a hook is never the reason that a chat fails
                if number not in self._failed:
                    self._failed.add(number)
                    name = type(hooks).__name__
                    _LOG.warning("hooks %s: %s; told once, the run goes on", name, fault(error))


_CURRENT: ContextVar[tuple[Teller | None, int | None]] = ContextVar("event", default=(None, None))
"""Who tells, and the event within which this code runs, in whatever thread."""


def called(call: ToolCall) -> dict[str, Any]:
    """Return what hooks are told of a call."""
    arguments = call.raw if call.arguments is None else call.arguments
    return {"id": call.id, "name": call.name, "arguments": arguments}


def asked(role: str, model: str, request: Request) -> dict[str, Any]:
    """Return what hooks are told of a request."""
    return {
        "role": role,
        "model": model,
        "messages": [_said(message) for message in request.messages],
        "tools": [tool.name for tool in request.tools],
        "temperature": request.temperature,
        "seed": request.seed,
        "max_tokens": request.max_tokens,
    }


def answered(answer: Completion) -> dict[str, Any]:
    """Return what hooks are told of an answer."""
    return {
        "content": answer.content,
        "reasoning": answer.reasoning,
        "calls": [called(call) for call in answer.calls],
        "tokens_in": answer.usage.tokens_in,
        "tokens_out": answer.usage.tokens_out,
        "finish_reason": answer.finish_reason,
        "kept": answer.kept,
    }


def _said(message: Message) -> dict[str, Any]:
    calls = [called(call) for call in message.calls]
    return {
        "role": message.role,
        "content": message.content,
        **({"calls": calls} if calls else {}),
        **({"call_id": message.call_id} if message.call_id else {}),
    }


def _facts(data: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    try:
        return _plain(data())
    except Exception as error:  # a user's own model or agent may have put anything there
        return {"untold": fault(error)}


def _plain(data: Mapping[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = json_value(json_bytes(data, default=str))
    return plain
