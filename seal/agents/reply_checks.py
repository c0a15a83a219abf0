"""Checks of what a role, or a model, gives back: of other types it is refused by name."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from typing import Any

from seal.agents.faults import PluginError
from seal.agents.teams import EXECUTOR
from seal.core import Completion, Reply, ToolCall, ToolResult, UsageError


def checked_reply(role: str, reply: Any) -> Reply:
    """Return what a role replied.

    Raises:
        UsageError: It is no `Reply`, or a field of it is of another type; the text names both.
    """
    if not isinstance(reply, Reply):
        raise UsageError(
            f"role {role!r} replied with {type(reply).__name__}; expected seal.Reply(content=...)"
        )
    speaker = f"role {role!r} replied with"
    _check(speaker, "content", reply.content, str)
    _check(speaker, "next", reply.next, str, type(None))
    for call in _items(speaker, "calls", reply.calls):
        _check_call(speaker, call)
    for result in _items(speaker, "results", reply.results):
        _check(speaker, "a result", result, ToolResult)
        _check(speaker, "a result's content", result.content, str)
    return reply


def checked_results(role: str, reply: Reply, executed: Set[str], recorded: Set[str]) -> Reply:
    """Return a reply without the results that stand in the record already.

    Args:
        role: Who replied.
        reply: What it replied.
        executed: Ids of the calls of the last message that it ran.
        recorded: Ids of its own calls, which stand in the record with their results.

    Raises:
        PluginError: Another role than the executor brings a result of what it never ran, or the
            executor brings no result of what it ran.
    """
    results = tuple(result for result in reply.results if result.call_id not in recorded)
    brought = {result.call_id for result in results}
    if role != EXECUTOR and brought:
        raise PluginError(
            f"role {role!r} replied with results of {_listed(brought)}, which it never ran; only "
            f"the {EXECUTOR} brings results. Run calls by chat.execute(calls): it records them"
        )
    if not executed <= brought:
        raise PluginError(
            f"role {role!r} ran {_listed(executed - brought)} and replied without the results; "
            f"expected one of each call that it ran, as chat.execute returned it"
        )
    return replace(reply, results=results) if reply.results else reply


def _listed(ids: Set[str]) -> str:
    return ", ".join(map(repr, sorted(ids)))


def checked_calls(role: str, calls: Any) -> tuple[ToolCall, ...]:
    """Return the calls that a role runs.

    Raises:
        UsageError: They are no calls, or a field of one is of another type.
    """
    speaker = f"role {role!r} executes"
    given = _items(speaker, "calls", calls)
    for call in given:
        _check_call(speaker, call)
    return given


def checked_completion(role: str, answer: Any) -> Completion:
    """Return what a role's model answered.

    Raises:
        UsageError: It is no `Completion`, or a field of it is of another type.
    """
    speaker = f"the model of role {role!r} answered with"
    _check(speaker, "what should be a seal.Completion", answer, Completion)
    _check(speaker, "content", answer.content, str)
    for call in _items(speaker, "calls", answer.calls):
        _check_call(speaker, call)
    return answer  # type: ignore[no-any-return]


def _check_call(speaker: str, call: Any) -> None:
    _check(speaker, "a call", call, ToolCall)
    _check(speaker, "a call's name", call.name, str)
    _check(speaker, "a call's arguments", call.arguments, dict, type(None))
    _check(speaker, "a call's raw text", call.raw, str)


def _items(speaker: str, what: str, value: Any) -> tuple[Any, ...]:
    _check(speaker, what, value, tuple, list)
    return tuple(value)


def _check(speaker: str, what: str, value: Any, *kinds: type) -> None:
    if not isinstance(value, kinds):
        names = " or ".join("None" if kind is type(None) else kind.__name__ for kind in kinds)
        raise UsageError(f"{speaker} {what} of type {type(value).__name__}; expected {names}")
