"""Answers that servers stream, gathered into the JSON of a chat completion that is not streamed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")
"""What a line of a stream begins with, and no JSON."""
_WHOLE = frozenset({"id", "index", "object", "role", "type"})
"""Texts that every part of a message repeats whole."""
_LINE = re.compile(r"\r\n|\r|\n")
_END = b"[DONE]"
_LATE = 2**16
"""Bytes at the end of a stream in which words are looked for."""
_EMPTY = {"role": "assistant", "content": None}


class CutStreamError(ValueError):
    """A stream ended before its answer did."""


def is_ended(text: bytes | bytearray) -> bool:
    """Tell whether a stream that was read so far says that nothing follows."""
    return text[-32:].rstrip().endswith(_END) and is_stream(text)


def is_stream(text: bytes | bytearray) -> bool:
    """Tell whether a body is a stream of events, whatever its header says of it."""
    return text[:64].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(_FIELDS)


def has_words(text: bytes | bytearray) -> bool:
    """Tell whether words of a model came in a stream that was cut; its comments are none."""
    if not is_stream(text):
        return False
    late = text[-_LATE:]
    whole = late[late.find(b"\n\n") + 2 if len(text) > _LATE else 0 : late.rfind(b"\n") + 1]
    try:
        return any(_says(choice) for chunk in _chunks(whole) for choice in _choices(chunk))
    except ValueError:
        return False


def _says(choice: dict[str, Any]) -> bool:
    delta = choice.get("delta")
    return isinstance(delta, dict) and any(delta[name] for name in delta.keys() - {"role"})


def answer_in(text: bytes | bytearray) -> Any:
    """Return the JSON of an answer: as it stands, or gathered from a stream.

    A stream's error stands under `error`, as in a body that is not streamed.

    Raises:
        CutStreamError: The stream ended before its answer did.
        ValueError: It is neither JSON nor a stream of it.
    """
    if not is_stream(text):
        return json.loads(text)
    answer: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    for chunk in _chunks(text):
        if chunk.get("error"):
            return chunk
        for choice in _choices(chunk):
            _add(choices.setdefault(_index(choice) or 0, {}), choice)
        rest = {name: value for name, value in chunk.items() if name != "choices"}
        answer.update((name, value) for name, value in rest.items() if value is not None)
    ended = all(choice.get("finish_reason") for choice in choices.values()) and choices
    if not ended and _END not in text[-32:]:
        raise CutStreamError("the stream broke off before the answer's end")
    for choice in choices.values():
        for call in choice["message"].get("tool_calls") or ():
            if isinstance(call, dict):
                call.pop("index", None)
    answer["object"] = "chat.completion"
    answer["choices"] = [choices[index] for index in sorted(choices)]
    return answer


def _chunks(text: bytes | bytearray) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a stream's events; other JSON is passed over.

    Raises:
        ValueError: An event is no JSON.
    """
    for data in _events(text.decode("utf-8-sig")):
        chunk = json.loads(data)
        if isinstance(chunk, dict):
            yield chunk


def _events(text: str) -> Iterator[str]:
    """Yield the data of each event, in which lines of one event are joined.

    Servers that put no blank line between their events write each on one line.
    """
    lines: list[str] = []
    for line in (*_LINE.split(text), ""):
        field, _, value = line.partition(":")
        if field == "data" and value.strip() != "[DONE]":
            if lines and value.lstrip().startswith("{") and lines[-1].rstrip().endswith("}"):
                yield "\n".join(lines)
                lines = []
            lines.append(value)
        elif not line and lines:
            yield "\n".join(lines)
            lines = []


def _choices(chunk: dict[str, Any]) -> list[dict[str, Any]]:
    choices = chunk.get("choices")
    return [choice for choice in choices if isinstance(choice, dict)] if choices else []


def _index(entry: dict[str, Any]) -> int | None:
    index = entry.get("index")
    return index if isinstance(index, int) and index >= 0 else None


def _add(choice: dict[str, Any], chunk: dict[str, Any]) -> None:
    """Add a part of a choice to what is gathered of it."""
    message = choice.setdefault("message", dict(_EMPTY))
    for name, value in chunk.items():
        if name in ("delta", "message"):  # some servers end with the whole message
            if isinstance(value, dict) and (name == "delta" or message == _EMPTY):
                _merge(message, value)
        elif value is not None:
            choice[name] = _merged(choice.get(name), value, name)


def _merge(into: dict[str, Any], part: dict[str, Any]) -> None:
    for name, value in part.items():
        if name == "tool_calls" and isinstance(value, list):
            calls = into.setdefault(name, [])
            for call in value:
                _add_call(calls, call)
        elif value is not None or name not in into:
            into[name] = _merged(into.get(name), value, name)


def _merged(old: Any, new: Any, name: str) -> Any:
    """Return a value with a further part of it: texts and lists grow, objects by their fields."""
    if isinstance(old, str) and isinstance(new, str) and name not in _WHOLE:
        return old + new
    if isinstance(old, list) and isinstance(new, list):
        return old + new
    if isinstance(old, dict) and isinstance(new, dict):
        grown = dict(old)
        _merge(grown, new)
        return grown
    return new


def _add_call(calls: list[Any], part: Any) -> None:
    """Add a part of a tool call to the call that it is of, or begin one."""
    known = _same_call([call for call in calls if isinstance(call, dict)], part)
    if known is None:
        calls.append({**part, "index": _index(part)} if isinstance(part, dict) else part)
        return
    new, old = part.get("function"), known.get("function")
    if isinstance(new, dict) and isinstance(old, dict) and new.get("name") == old.get("name"):
        part = {**part, "function": {**new, "name": None}}  # some servers repeat it
    _merge(known, {name: value for name, value in part.items() if name != "index"})


def _same_call(calls: list[dict[str, Any]], part: Any) -> dict[str, Any] | None:
    """Return the call that a part goes on with; None: it begins one.

    A part says by its index which. Some servers give none, or one and the same to all calls: there
    a new id begins a call, or without ids a function's name.
    """
    if not isinstance(part, dict):
        return None
    index, named, function = _index(part), part.get("id"), part.get("function")
    begins = isinstance(function, dict) and bool(function.get("name"))
    for call in reversed(calls):
        if call["index"] == index and (not named or call.get("id") in (None, "", named)):
            return None if index is None and begins and not named else call
    return None if begins or named or not calls else calls[-1]
