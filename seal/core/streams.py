"""Answers that servers stream, gathered into the JSON of an answer that is not streamed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")
"""What a line of a stream begins with, and no JSON."""
_WHOLE = frozenset({"id", "index", "object", "role", "type"})
"""Texts that every part of a message repeats whole."""
_LINE = re.compile(r"\r\n|\r|\n")
_END = b"[DONE]"
_LATE = 2**16
"""Bytes at the end of a stream in which words are looked for."""
_ITEM = "response.output_item.done"
_ENDS = ("response.completed", "response.incomplete", "response.failed", "error")
"""Events after which a response has no other."""
_EMPTY = {"role": "assistant", "content": None}


class CutStreamError(ValueError):
    """A stream ended before its answer did."""


@dataclass(frozen=True, slots=True)
class Streamed:
    """How an interface streams an answer."""

    gathered: Callable[[list[dict[str, Any]]], tuple[dict[str, Any], bool]]
    """Returns the answer in the data of events, and whether they hold its end."""
    says: Callable[[dict[str, Any]], bool]
    """Tells whether the data of an event hold words of the model."""
    last: re.Pattern[bytes] | None = None
    """The line before the data of the last event; None: only `[DONE]` says that it was the last."""


def is_ended(text: bytes | bytearray, form: Streamed) -> bool:
    """Tell whether a stream that was read so far says that nothing follows."""
    if text[-32:].rstrip().endswith(_END):
        return is_stream(text)
    if form.last is None or not text.endswith((b"\n\n", b"\r\n\r\n")):
        return False
    return form.last.match(text, text.rfind(b"\nevent:") + 1) is not None


def is_stream(text: bytes | bytearray) -> bool:
    """Tell whether a body is a stream of events, whatever its header says of it."""
    return text[:64].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(_FIELDS)


def has_words(text: bytes | bytearray, form: Streamed) -> bool:
    """Tell whether words of a model came in a stream that was cut; its comments are none."""
    if not is_stream(text):
        return False
    late = text[-_LATE:]
    whole = late[late.find(b"\n\n") + 2 if len(text) > _LATE else 0 : late.rfind(b"\n") + 1]
    try:
        return any(map(form.says, _chunks(whole)))
    except ValueError:
        return False


def answer_in(text: bytes | bytearray, form: Streamed) -> Any:
    """Return the JSON of an answer: as it stands, or gathered from a stream.

    A stream's error stands under `error`, as in a body that is not streamed, and has a `message`.

    Raises:
        CutStreamError: The stream ended before its answer did.
        ValueError: It is neither JSON nor a stream of it.
    """
    if not is_stream(text):
        return _json(text)
    chunks: list[dict[str, Any]] = []
    try:
        for chunk in _chunks(text):
            if error := chunk.get("error"):
                return {**chunk, "error": {"message": error} if isinstance(error, str) else error}
            chunks.append(chunk)
    except ValueError:
        if text.endswith((b"\n\n", b"\r\n\r\n")):
            raise
        raise CutStreamError("the stream ended amid an event") from None
    answer, ended = form.gathered(chunks)
    if not ended and _END not in text[-32:]:
        raise CutStreamError("the stream broke off before the answer's end")
    return answer


def _chunks(text: bytes | bytearray) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a stream's events; other JSON is passed over.

    Raises:
        ValueError: An event is no JSON.
    """
    for data in _events(text.decode("utf-8-sig")):
        chunk = _json(data)
        if isinstance(chunk, dict):
            yield chunk


def _json(text: str | bytes | bytearray) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("JSON of too many levels") from None


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


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _chat(chunks: list[dict[str, Any]]) -> tuple[dict[str, Any], bool]:
    """Return a chat completion: its texts and calls come in parts."""
    answer: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    for chunk in chunks:
        for choice in _objects(chunk.get("choices")):
            _add(choices.setdefault(_index(choice) or 0, {}), choice)
        rest = {name: value for name, value in chunk.items() if name != "choices"}
        answer.update((name, value) for name, value in rest.items() if value is not None)
    for choice in choices.values():
        for call in _objects(choice["message"].get("tool_calls")):
            call.pop("index", None)
    answer["object"] = "chat.completion"
    answer["choices"] = [choices[index] for index in sorted(choices)]
    return answer, bool(choices) and all(choice.get("finish_reason") for choice in choices.values())


def _says_in_chat(chunk: dict[str, Any]) -> bool:
    deltas = (choice.get("delta") for choice in _objects(chunk.get("choices")))
    return any(d[name] for d in deltas if isinstance(d, dict) for name in d.keys() - {"role"})


CHAT = Streamed(_chat, _says_in_chat)
"""OpenAI's chat completions."""


def _response(chunks: list[dict[str, Any]]) -> tuple[dict[str, Any], bool]:
    """Return a response: the last event holds it whole, at some servers without its output."""
    output = [chunk.get("item") for chunk in chunks if chunk.get("type") == _ITEM]
    ends = [chunk for chunk in chunks if chunk.get("type") in _ENDS]
    last = ends[-1] if ends else {}
    if last.get("type") == "error":
        return {"error": last}, True
    answer = last.get("response")
    if not isinstance(answer, dict):
        return {}, False
    return {**answer, "output": answer.get("output") or output}, True


def _says_in_response(chunk: dict[str, Any]) -> bool:
    return str(chunk.get("type")).endswith(".delta") and bool(chunk.get("delta"))


RESPONSES = Streamed(
    _response,
    _says_in_response,
    re.compile(rf"event: ?(?:{'|'.join(map(re.escape, _ENDS))})\r?\n".encode()),
)
"""OpenAI's responses."""


def _gemini(chunks: list[dict[str, Any]]) -> tuple[dict[str, Any], bool]:
    """Return an answer of Google's: each event is such an answer, with some of the parts."""
    answer: dict[str, Any] = {}
    candidate: dict[str, Any] = {}
    for chunk in chunks:
        for one in _objects(chunk.get("candidates"))[:1]:
            candidate |= {**one, "content": {"parts": [*_parts(candidate), *_parts(one)]}}
        answer |= {name: value for name, value in chunk.items() if name != "candidates"}
    if candidate:
        answer["candidates"] = [candidate]
    return answer, bool(
        candidate.get("finishReason") or (not candidate and answer.get("promptFeedback"))
    )


def _parts(candidate: dict[str, Any]) -> list[dict[str, Any]]:
    content = candidate.get("content")
    return _objects(content.get("parts")) if isinstance(content, dict) else []


GEMINI = Streamed(
    _gemini, lambda chunk: any(_parts(one) for one in _objects(chunk.get("candidates")))
)
"""Google's."""


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
    """Return a value with a further part of it: texts and lists grow, objects by their fields.

    Mistral's content may change from parts of a message to text.
    """
    if isinstance(old, str) and isinstance(new, str) and name not in _WHOLE:
        return old + new
    if isinstance(old, (str, list)) and isinstance(new, (str, list)) and name not in _WHOLE:
        return _parts_of(old) + _parts_of(new)
    if isinstance(old, dict) and isinstance(new, dict):
        grown = dict(old)
        _merge(grown, new)
        return grown
    return new


def _parts_of(value: str | list[Any]) -> list[Any]:
    if isinstance(value, list):
        return value
    return [{"type": "text", "text": value}] if value else []


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
