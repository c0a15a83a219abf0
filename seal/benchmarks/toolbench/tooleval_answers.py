"""ToolEval's converted answers: one object a file, query id to a run with its tree of messages.

In `tooleval_results` upstream cut every message at 100 characters. A tool's message then is the
start of a Python literal, of which names, and often arguments, can still be read whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from seal.benchmarks.toolbench.answers import (
    Move,
    Parts,
    Run,
    checked_functions,
    close_run,
    is_cut,
    text_of_arguments,
    text_of_query,
)
from seal.core import DataError, shortened
from seal.pools.reading.python_types import literal
from seal.pools.reading.upstream_files import expect, field

_MESSAGE_LENGTH = 100
"""Upstream cuts the messages of its published results here."""
_LITERAL = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_NAME = re.compile(rf"\{{'name': (?P<name>{_LITERAL}), 'arguments': ", re.DOTALL)
_ARGUMENTS = re.compile(rf"(?P<text>{_LITERAL})(?P<more>, 'response': )?", re.DOTALL)
_RESPONSE = re.compile(rf"(?P<text>{_LITERAL})\}}", re.DOTALL)
_WHOLE = re.compile(_LITERAL, re.DOTALL)
_OPEN_NAME = re.compile(r"\{'name': ['\"](?P<name>[^'\"]*)")
_ESCAPE = re.compile(r"\\(x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|.)", re.DOTALL)
_HALF_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\(?:x.?|u.{0,3}|U.{0,7})?\Z", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


def read_converted(record: Any) -> Run:
    """Return the run that one entry of a converted file holds.

    Raises:
        DataError: A field is missing or of the wrong type; the text names it.
    """
    answer = field(record, "answer", dict)
    details = field(answer, "answer_details", list)
    parts = Parts([])
    texts_cut = 0
    for role, message in _flattened(details):
        if role == "tool":
            parts.moves.append(_move(len(parts.moves) + 1, parts.text, message))
            parts.text = ""
        elif role == "assistant" and isinstance(message, str):
            parts.text = "\n".join(filter(None, (parts.text, message)))
            texts_cut += len(message) == _MESSAGE_LENGTH
    return Run(
        text_of_query(record.get("query")),
        checked_functions(record.get("available_tools"), "available_tools"),
        *close_run(parts, answer.get("final_answer")),
        "answer_details",
        texts_cut=texts_cut,
    )


def _flattened(roots: list[Any]) -> Iterator[tuple[str, Any]]:
    """Yield (role, message) of a tree's nodes, each before those that follow it."""
    waiting = list(reversed(roots))
    while waiting:
        node = waiting.pop()
        if not isinstance(node, dict) or not isinstance(node.get("role"), str):
            raise DataError(f"answer_details: a node has no role: {shortened(node)}")
        yield node["role"], node.get("message")
        following = expect(node.get("next") or [], list, "answer_details.next")
        waiting += reversed(following)


def _move(reply: int, thought: str, message: Any) -> Move:
    """Return the move of a tool's message: an object, or the text of one, maybe cut."""
    if isinstance(message, str):
        move = _move_of_text(reply, thought, message)
        if move is not None:
            return move
        message = literal(message)
    if not isinstance(message, Mapping) or not isinstance(message.get("name"), str):
        raise DataError(f"answer_details: a tool's message has no name: {shortened(message)}")
    response = message.get("response")
    text = response if response is None or isinstance(response, str) else str(response)
    return Move(
        reply,
        thought,
        message["name"],
        text_of_arguments(message.get("arguments")),
        text,
        observation_cut=text is not None and is_cut(text),
    )


def _move_of_text(reply: int, thought: str, message: str) -> Move | None:
    """Read as much of a tool's message as there is; None where it is not one of three texts."""
    named = _NAME.match(message)
    if named is None:
        start = _OPEN_NAME.match(message)
        cut = start is not None and len(message) >= _MESSAGE_LENGTH
        return Move(reply, thought, start["name"], "", "", True, True) if start and cut else None
    name = _unquoted(named["name"])
    arguments = _ARGUMENTS.match(message, named.end())
    if arguments is None:
        if len(message) < _MESSAGE_LENGTH:
            return None
        left = _opened(message[named.end() :])
        return Move(reply, thought, name, left, "", arguments_cut=True, observation_cut=True)
    said = _unquoted(arguments["text"])
    response = _RESPONSE.fullmatch(message, arguments.end())
    if response is not None:
        text = _unquoted(response["text"])
        return Move(reply, thought, name, said, text, observation_cut=is_cut(text))
    if len(message) < _MESSAGE_LENGTH:
        return None
    left = _opened(message[arguments.end() :]) if arguments["more"] else ""
    return Move(reply, thought, name, said, left, False, True)


def _unquoted(literal: str) -> str:
    """Return the text of a Python string literal as `repr` writes it."""
    text = literal[1:-1]
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text


def _opened(text: str) -> str:
    """Return the text of a string literal cut at or before its end, half an escape left out."""
    if _WHOLE.fullmatch(text):
        return _unquoted(text)
    return _ESCAPE.sub(_unescaped, _HALF_ESCAPE.sub(r"\1", text[1:]))


def _unescaped(escape: re.Match[str]) -> str:
    code = escape[1]
    if len(code) > 1:
        point = int(code[1:], 16)
        writable = point < 0x110000 and not 0xD800 <= point < 0xE000
        return chr(point) if writable else "\N{REPLACEMENT CHARACTER}"
    return _ESCAPED.get(code, code)
