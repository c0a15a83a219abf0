"""Why a service gave no answer: what is nobody's error of a chat, told from what a tool said.

Recorded services die, refuse keys that no model has, or answer nothing. ToolBench's server writes
such failures in two ways: as an error of its own (`Unsubscribed error...`), or as the text of a
successful answer (`{'message': "API doesn't exists"}`). Both are read. An error without a
recognisable cause, such as `User not found`, is left to the model: it may have asked for the wrong
thing.

What a tool of a world raises is never a failure of a service, for it belongs to the task.
"""

from __future__ import annotations

import re
from typing import Any, Literal, get_args

import orjson

from seal.core import ToolResult

Service = Literal[
    "unsubscribed",
    "unauthorized",
    "gone",
    "limited",
    "unreachable",
    "broken",
    "empty",
    "unrecorded",
]
"""What was wrong with a service: nobody had subscribed to it; its keys were refused; the API or its
address no longer exists; it was asked too often; it could not be reached or crashed; the program
that calls it does not work; it answered nothing; nothing was recorded or simulated."""

SERVICES: tuple[Service, ...] = get_args(Service)

READ = 600
"""Characters of an answer that are read, and about the most that a message of failure has."""

_SERVED = ("service", "api", "truncated")
"""Kinds of errors that a service, real or simulated, has given."""
_HARNESS = ("not_recorded", "simulator")

_KEY = r"(?:api[ _-]?(?:access[ _-]?)?(?:key|token)|access[ _-]?(?:key|token)|token|subscribe key)"
_WORDS: dict[Service, str] = {
    "unsubscribed": r"\bnot subscribed\b|\bunsubscribed\b",
    "gone": r"\bapi doesn'?t exists?\b|\bdeprecated_endpoint\b|\bendpoint .{1,200} does not exist"
    r"|\bunable to find a route\b|\b404\b[\W_]{0,3}(?:page )?not found"
    r"|\bdeployment_not_found\b|\bdoes not respond at the root\b|\bservice not found\b"
    r"|^\W*(?:message\W+)?(?:(?:file|page) )?not found\W*$|<(?:h1|title)>not found"
    r"|\bpermanent redirect\b|\bhas migrated\b|\bno longer (?:available|supported)\b",
    "limited": r"\btoo many requests\b|\brate limit exceeded\b|\blimit reach|\bquota\b",
    "unauthorized": r"\bunauthori[sz]ed\b|\bnot authori[sz]ed\b|\b403\b[\W_]{0,3}forbidden"
    rf"|(?<![a-z])(?:invalid|missing|expired|no)(?![a-z]).{{0,14}}{_KEY}"
    rf"|{_KEY}\b[^.]{{0,40}}\b(?:invalid|expired|required|missing|empty|must be|failed)\b"
    r"|invalidauthenticationtoken|access_token_signature"
    r"|\bconsumer key\b[^.]{0,20}\bnot valid\b|\bauthori[sz]ation\W+header\b"
    r"|\bauthentication is required\b|\baccess ?denied\b|\binvalid (?:application id|key)\b",
    "unreachable": r"\bapi not working\b|\bgateway\b|\bunreachable\b|\btimed out\b"
    r"|\bmax retries exceeded\b|\bserver error\b|\bjust a moment\b|\bapplication error\b"
    r"|\bservice (?:temporarily )?unavailable\b|\bunabletoresolvehost",
    "broken": r"^function executing from\b",
}
"""Words of each cause, in the order in which they are looked for."""
_CAUSES = {cause: re.compile(words, re.IGNORECASE) for cause, words in _WORDS.items()}
_ENVELOPE = re.compile(r'\{"error": "(?:[^"\\]|\\.)*", "response": "?')


def service_failure(result: ToolResult | None) -> Service | None:
    """Return why the service gave no answer; None where it answered, or it cannot be told.

    Args:
        result: Of a call; None: the chat ended before it.
    """
    if result is None:
        return None
    kind = "" if result.error is None else str(result.error.get("kind") or "")
    if kind in _HARNESS:
        return "unrecorded"
    if kind not in ("", *_SERVED):
        return None
    enveloped, answer = _answer(result.content)
    if not kind:
        if not enveloped:
            return None
        empty = answer is None or (isinstance(answer, str) and not answer.strip())
        return "empty" if empty else _cause(answer)
    page = isinstance(answer, str) and answer.lstrip("\\n \n").startswith("<")
    return (
        _cause(_message(result))
        or _cause(answer)
        or ("gone" if page and _message(result) else None)
    )


def _message(result: ToolResult) -> str:
    """Return what an error says; of an answer that was cut, the error that it began with."""
    error = result.error or {}
    return str(error.get("upstream" if error.get("kind") == "truncated" else "message") or "")


def _answer(content: str) -> tuple[bool, Any]:
    """Return whether a text is ToolBench's {error, response}, and the response, else the text."""
    if not content.startswith("{"):
        return not content.strip(), content
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError:
        return False, _ENVELOPE.sub("", content, count=1)
    if isinstance(value, dict) and "error" in value and "response" in value:
        return True, value["response"]
    return False, content


def _cause(said: Any) -> Service | None:
    """Return what a short text, or the beginning of a page, says is wrong with the service.

    A map of messages is read as text; data of any other kind says nothing of a failure.
    """
    text = str(said) if isinstance(said, str | dict) else ""
    if len(text) > READ and not text.lstrip().startswith("<"):
        text = text[:READ] if text.startswith("Function executing from") else ""
    return next((cause for cause, words in _CAUSES.items() if words.search(text[:READ])), None)
