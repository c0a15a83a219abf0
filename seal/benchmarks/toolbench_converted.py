"""ToolEval's converted answers: one object a file, query id to a run with its tree of messages.

In `tooleval_results` upstream cut every message at 100 characters. A tool's message then is the
start of a Python literal, of which names, and often arguments, can still be read whole.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from seal.benchmarks.toolbench_answers import (
    Move,
    Parts,
    Run,
    close_run,
    is_cut,
    text_of_arguments,
    text_of_query,
)
from seal.core.errors import DataError

_MESSAGE_LENGTH = 100
"""Upstream cuts the messages of its published results here."""
_LITERAL = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_NAME = re.compile(rf"\{{'name': (?P<name>{_LITERAL}), 'arguments': ", re.DOTALL)
_ARGUMENTS = re.compile(rf"(?P<text>{_LITERAL}), 'response': ", re.DOTALL)
_OPEN_NAME = re.compile(r"\{'name': ['\"](?P<name>[^'\"]*)")


def read_converted(record: Any) -> Run:
    """Return the run that one entry of a converted file holds.

    Raises:
        DataError: A field is missing or of the wrong type; the text names it.
    """
    if not isinstance(record, dict):
        raise DataError(f"expected an object, got {str(record)[:100]!r}")
    answer, functions = record.get("answer"), record.get("available_tools")
    if not isinstance(answer, dict) or not isinstance(answer.get("answer_details"), list):
        raise DataError("answer.answer_details: missing, or no list")
    if not isinstance(functions, list):
        raise DataError("available_tools: missing, or no list")
    parts = Parts([])
    texts_cut = 0
    for role, message in _flattened(answer["answer_details"]):
        if role == "tool":
            parts.moves.append(_move(len(parts.moves) + 1, parts.text, message))
            parts.text = ""
        elif role == "assistant" and isinstance(message, str):
            parts.text = "\n".join(filter(None, (parts.text, message)))
            texts_cut += len(message) == _MESSAGE_LENGTH
    closed = close_run(parts, answer.get("final_answer"))
    return Run(
        text_of_query(record.get("query")),
        functions,
        closed.moves,
        closed.text,
        closed.answer,
        closed.finish,
        "answer_details",
        texts_cut=texts_cut,
    )


def _flattened(roots: list[Any]) -> Iterator[tuple[str, Any]]:
    """Yield (role, message) of a tree's nodes, each before those that follow it."""
    waiting = list(reversed(roots))
    while waiting:
        node = waiting.pop()
        if not isinstance(node, dict) or not isinstance(node.get("role"), str):
            raise DataError(f"answer_details: a node has no role: {str(node)[:100]}")
        yield node["role"], node.get("message")
        waiting += reversed(node.get("next") or [])


def _move(reply: int, thought: str, message: Any) -> Move:
    if isinstance(message, str):
        whole = _literal(message)
        if not isinstance(whole, dict):
            return _cut_move(reply, thought, message)
        message = whole
    if not isinstance(message, Mapping) or not isinstance(message.get("name"), str):
        raise DataError(f"answer_details: a tool's message has no name: {str(message)[:100]}")
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


def _cut_move(reply: int, thought: str, message: str) -> Move:
    """Read what is left of a tool's message whose end is missing."""
    named = _NAME.match(message)
    if named is None:
        start = _OPEN_NAME.match(message)
        if start is None:
            raise DataError(f"answer_details: a tool's message has no name: {message[:100]}")
        return Move(reply, thought, start["name"], "", "", True, True)
    name = str(_literal(named["name"]))
    rest = message[named.end() :]
    arguments = _ARGUMENTS.match(rest)
    if arguments is None:
        return Move(reply, thought, name, _open_text(rest), "", True, True)
    response = _open_text(rest[arguments.end() :])
    return Move(reply, thought, name, str(_literal(arguments["text"])), response, False, True)


def _literal(text: str) -> Any:
    """Return the value of a Python literal, or None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a model's text may hold escapes that Python warns of
            return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _open_text(text: str) -> str:
    """Return the content of a string literal whose end is missing."""
    quote = text[:1]
    if quote not in ("'", '"') or not quote:
        return text
    for end in range(len(text), max(len(text) - 10, 0), -1):
        value = _literal(text[:end] + quote)
        if isinstance(value, str):
            return value
    return text[1:]
