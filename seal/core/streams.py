"""Answers that servers stream, gathered into the JSON of an answer that is not streamed."""

from __future__ import annotations

import codecs
import json
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby, pairwise
from typing import Any

from seal.core.outcomes import error_in, finish_of

_UTF8 = codecs.lookup("utf-8-sig")
"""Found before any stream comes: where no file can be opened, Python finds no codec, and keeps that
for good."""
_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")
"""What a line of a stream begins with, and no JSON."""
_USUAL = frozenset(
    {"choices", "candidates", "id", "model", "object", "type", "usage"}
    | {"promptFeedback", "usageMetadata"}
)
"""Names of which one stands in each event of an answer."""
_WHOLE = frozenset({"id", "index", "object", "role", "type"})
"""Texts that every part of a message repeats whole."""
_COMMENTS = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?::[^\r\n]*[\r\n]\s*)+")
"""Lines that keep a connection alive before an answer begins."""
_LINE = re.compile(r"\r\n|\r|\n")
_OVER = re.compile(r"(?:\A|(?<=[\r\n]))data: *\[DONE\]")
"""What follows this line is of no answer."""
_END = b"[DONE]"
_MOST_SHOWN = 1000
"""Characters of what nobody understands; messages are cut further, after keys are taken out."""
_LATE = 2**16
"""Bytes at the end of a stream in which words are looked for."""
_PIECES = {
    "response.output_text": ("message", "text"),
    "response.refusal": ("message", "refusal"),
    "response.function_call_arguments": ("function_call", "arguments"),
    "response.reasoning_text": ("reasoning", "text"),
    "response.reasoning_summary_text": ("reasoning", "text"),
}
"""Events by which parts of a response come to the item that they are of, and their field."""
_BEGINS = "response.created"
_ENDS = ("response.completed", "response.done", "response.incomplete", "response.failed", "error")
"""Events after which a response has no other; OpenRouter says `done`."""
_SAID = frozenset({"content", "reasoning", "reasoning_content", "refusal"})
"""Texts of a message, of which a piece may come as a number: servers decode pieces as JSON."""
_EMPTY = {"role": "assistant", "content": None}
_TEXTS, _CALLS, _LEGACY = " texts", " tool_calls", " function_call"
"""Names under which a choice holds the parts of its message that wait for further ones."""


class CutStreamError(ValueError):
    """A stream ended before its answer did.

    Args:
        said: How.
        repair: What may help where the answer was asked for as a stream; empty: nothing is known.
    """

    def __init__(self, said: str, repair: str = "") -> None:
        super().__init__(said)
        self.repair = repair


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


def holds_answer(text: bytes | bytearray, form: Streamed) -> bool:
    """Tell whether a stream that was read so far holds an answer and its end.

    Some servers keep the connection open after it, and say no last event.
    """
    try:
        return is_stream(text) and answer_in(text, form) is not None
    except ValueError:
        return False


_ALIVE = re.compile(
    rb"(?:\s|:[^\r\n]*[\r\n]|event: ?(?:ping|keep-?alive|heartbeat)[\r\n]"
    rb"|data: ?\{\"type\": ?\"(?:ping|keep-?alive|heartbeat)\"[^\r\n]*[\r\n])*"
)
"""Bytes that keep a connection alive, and nothing else."""


class Patience:
    """Tells when a stream that is kept alive has said its answer long ago.

    Args:
        silence: Seconds without anything else.
    """

    def __init__(self, silence: float) -> None:
        self._silence = silence
        self._since = time.monotonic()

    def is_over(self, piece: bytes, text: bytearray, form: Streamed) -> bool:
        """Tell whether nothing more is to come after a piece.

        Args:
            piece: What came last.
            text: All that came.
            form: How answers come.
        """
        now = time.monotonic()
        if not _ALIVE.fullmatch(piece):
            self._since = now
        elif now - self._since >= self._silence:
            self._since = now
            return holds_answer(text, form)
        return False


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
        return any(form.says(one) for _, one in _chunks(whole) if isinstance(one, dict))
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
    comments = _COMMENTS.match(text)
    if comments and text[comments.end() : comments.end() + 1] in (b"{", b"["):
        return _json(text[comments.end() :])  # a gateway took them for a part of a whole answer
    chunks: list[dict[str, Any]] = []
    try:
        for event, chunk in _chunks(text):
            if error := error_in(chunk, event):
                return {"error": error}
            if isinstance(chunk, dict):
                chunks.append(chunk)
    except ValueError:
        if text.endswith((b"\n\n", b"\r\n\r\n")):
            raise
        raise CutStreamError("the stream ended amid an event") from None
    answer, ended = form.gathered(chunks)
    ended = ended and (_END in text[-32:] or not _ends_amid(chunks, form))
    if not ended and (error := _error_after(text)):
        return {"error": error}
    odd = next((one for one in reversed(chunks) if _USUAL.isdisjoint(one)), None)
    if not ended and odd:
        raise CutStreamError(f"the stream ended, and had said {json.dumps(odd)[:_MOST_SHOWN]}")
    if not ended:
        said, again = "the stream broke off before the answer's end", "if it does so again"
        if _END in text[-32:]:
            said, again = "the stream ended and said no reason", "if this server gives none"
        raise CutStreamError(said, f"; {again}: -M stream=false")
    return answer


def _ends_amid(chunks: list[dict[str, Any]], form: Streamed) -> bool:
    """Tell whether the last event holds words and no end, whatever was said before.

    Some gateways say an end before the first word, or after each tool of their own.
    """
    return bool(chunks) and form.says(chunks[-1]) and not form.gathered(chunks[-1:])[1]


def _error_after(text: bytes | bytearray) -> dict[str, Any] | None:
    """Return the error that follows the last event of a stream and is none; None: there is none."""
    _, _, rest = text[text.rfind(b"data:") :].partition(b"\n")
    try:
        return error_in(_json(rest))
    except ValueError:
        return None


def _chunks(text: bytes | bytearray) -> Iterator[tuple[str, Any]]:
    """Yield the JSON of a stream's events, each with the event's name; empty: it has none.

    Raises:
        ValueError: An event is no JSON.
    """
    for event, data in _events(_UTF8.decode(text)[0]):
        try:
            chunk = _json(data)
        except ValueError:
            if event != "error":
                raise
            chunk = data
        yield event, chunk


def _json(text: str | bytes | bytearray) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("JSON of too many levels") from None


def _events(text: str) -> Iterator[tuple[str, str]]:
    """Yield name and data of each event, in which lines of one event are joined.

    Servers that put no blank line between their events write each on one line.
    """
    lines: list[str] = []
    event = ""
    for line in (*_LINE.split(_OVER.split(text, maxsplit=1)[0]), ""):
        field, _, value = line.partition(":")
        if field == "data":
            if lines and value.lstrip().startswith("{") and lines[-1].rstrip().endswith("}"):
                yield event, "\n".join(lines)
                lines = []
            lines.append(value)
        elif field == "event":
            if any(map(str.strip, lines)):
                yield event, "\n".join(lines)
                lines = []
            event = value.strip()
        elif not line:
            if event == "error" or any(map(str.strip, lines)):  # empty data is no event
                yield event, "\n".join(lines)
            lines, event = [], ""


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _chat(
    chunks: list[dict[str, Any]], offered: Collection[str] = ()
) -> tuple[dict[str, Any], bool]:
    """Return a chat completion: its texts and calls come in parts.

    Args:
        chunks: The data of its events.
        offered: Names of the request's tools, by which a piece of a name is told from a name.
    """
    answer: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    told = [_objects(chunk.get("choices")) for chunk in chunks]
    if _begins_anew(chunks, told):
        return {"error": BEGUN_ANEW}, True
    is_one = _counts_on(told)
    for chunk, of_chunk in zip(chunks, told, strict=True):
        for choice in of_chunk:
            place = 0 if is_one else _index(choice) or 0
            _add(choices.setdefault(place, {}), choice, offered)
        rest = {name: value for name, value in chunk.items() if name != "choices"}
        answer.update((name, value) for name, value in rest.items() if value is not None)
    for choice in choices.values():
        message = choice["message"]
        kinds = (choice.pop(kind, None) for kind in (_CALLS, _LEGACY))
        for calls in (one.whole() for one in kinds if one):
            message["tool_calls"] = message.get("tool_calls") or calls
        for name, pieces in choice.pop(_TEXTS, {}).items():
            message[name] = _with_more(message.get(name), pieces)
    answer["object"] = "chat.completion"
    answer["choices"] = [choices[index] for index in sorted(choices)]
    return answer, any(choice.get("finish_reason") for choice in choices.values())


BEGUN_ANEW = {"message": "the answer began anew amid the stream", "code": "server_error"}
"""The failure of a gateway that falls back to another model amid an answer."""


def _begins_anew(chunks: list[dict[str, Any]], told: list[list[dict[str, Any]]]) -> bool:
    """Tell whether a second answer follows on a part of a first: it has a role, and another id.

    Servers that give each chunk an id of its own, or a role, begin nothing by it.

    Args:
        chunks: Of the stream.
        told: Their choices.
    """
    spoken = [(chunk, of) for chunk, of in zip(chunks, told, strict=True) if of]
    ids = [chunk.get("id") for chunk, _ in spoken]
    begins = [any(_object(one.get("delta")).get("role") for one in of) for _, of in spoken]
    changes = [place for place in range(2, len(ids)) if ids[place] != ids[place - 1]]
    if len(changes) != 1 or ids[0] != ids[1] or not ids[0] or not ids[-1]:
        return False
    return begins[changes[0]] and not any(begins[1 : changes[0]])


def _counts_on(told: Sequence[Sequence[dict[str, Any]]]) -> bool:
    """Tell whether a server numbers the pieces of one choice, as some do, and no choices.

    Several choices come in turns, or one after the other, and each ends.

    Args:
        told: The choices of each chunk.
    """
    pieces = [one for of_chunk in told for one in of_chunk]
    places = [_index(one) or 0 for one in pieces]
    alone = all(len(of_chunk) < 2 for of_chunk in told) and len(pieces) > 2
    rising = alone and all(after == before + 1 for before, after in pairwise(places))
    return rising and not any(one.get("finish_reason") for one in pieces[:-1])


def _says_in_chat(chunk: dict[str, Any]) -> bool:
    deltas = (choice.get("delta") for choice in _objects(chunk.get("choices")))
    return any(d[name] for d in deltas if isinstance(d, dict) for name in d.keys() - {"role"})


CHAT = Streamed(_chat, _says_in_chat)
"""OpenAI's chat completions."""


def chat_of(offered: Collection[str]) -> Streamed:
    """Return the stream of a chat completion whose request offers tools of these names."""
    return replace(CHAT, gathered=partial(_chat, offered=offered))


def _response(chunks: list[dict[str, Any]]) -> tuple[dict[str, Any], bool]:
    """Return a response: the last event holds it whole, at some servers without its output.

    What the events before it said counts where it leaves that out, or empty, and so do calls where
    it has none (SGLang's router).
    """
    begun = [_object(chunk.get("response")) for chunk in chunks if chunk.get("type") == _BEGINS]
    if len({str(one.get("id")) for one in begun}) > 1:
        return {"error": BEGUN_ANEW}, True
    ends = [chunk for chunk in chunks if chunk.get("type") in _ENDS]
    last = ends[-1] if ends else {}
    if last.get("type") == "error":
        return {"error": last}, True
    answer = last.get("response")
    if not isinstance(answer, dict):
        return {}, False
    items, output = _items(chunks), _objects(answer.get("output"))
    held, told = ([one.get("type") for one in of] for of in (output, [i.told for i in items]))
    if held == told:
        for item, whole in zip(items, output, strict=True):
            item.add(whole)
    elif output and not {"function_call"}.intersection(told).difference(held):
        return answer, True
    return {**answer, "output": [item.whole() for item in items]}, True


@dataclass(slots=True)
class _Item:
    """An item of a response, as far as its events tell it."""

    told: dict[str, Any]
    pieces: dict[tuple[str, Any], list[str]] = field(default_factory=dict)
    """Pieces of texts by their field, and by the part of the item."""
    is_done: bool = False

    def add(self, told: Mapping[str, Any]) -> None:
        """Take what a later event tells of it; what is empty there stays as it was."""
        self.told |= {name: value for name, value in told.items() if value not in (None, "", [])}

    def whole(self) -> dict[str, Any]:
        """Return the item, with the pieces in the place of what it lacks."""
        texts: dict[str, str] = {}
        for (name, _), pieces in self.pieces.items():
            text = joined(pieces) if name == "arguments" else text_of(pieces)
            texts[name] = texts.get(name, "") + text
        arguments = texts.pop("arguments", "")
        if self.told.get("arguments") in (None, "", _NONE_YET) and arguments:
            self.told["arguments"] = arguments
        parts = _objects(self.told.get("summary")) + _objects(self.told.get("content"))
        if texts and not any(part.get("text") or part.get("refusal") for part in parts):
            self.told["content"] = [texts]
        return self.told


def _items(chunks: list[dict[str, Any]]) -> list[_Item]:
    """Return the items of a response in the order in which they began.

    An event names its item by an id and a place. Some servers change the ids from event to event,
    others give one place to all.
    """
    items: list[_Item] = []
    known: dict[tuple[str, str], _Item] = {}
    for chunk in chunks:
        event, _, how = str(chunk.get("type")).rpartition(".")
        if event != "response.output_item" and event not in _PIECES:
            continue
        kind, name = _PIECES.get(event, ("", ""))
        told = _object(chunk.get("item"))
        id = str(told.get("id") or chunk.get("item_id") or "")
        keys = ("id", id), ("place", str(chunk.get("output_index")))
        item = known.get(keys[0]) if id else None
        if item is None and how != "added":
            at_place = known.get(keys[1])
            item = None if at_place is None or at_place.is_done else at_place
        if item is None:
            item = _Item({"type": kind})
            items.append(item)
        known.update(dict.fromkeys(keys, item))
        item.add(told)
        item.is_done |= bool(told) and how == "done"
        text = chunk.get("delta" if how == "delta" else name) if kind else None
        if kind == "function_call" and how == "done" and item.told.get("status"):
            item.told["status"] = "completed"  # some servers end no item
        if text := piece_of(text):
            part = name, chunk.get("content_index", chunk.get("summary_index"))
            if how == "delta":
                item.pieces.setdefault(part, []).append(text)
            else:  # all of it
                item.pieces[part] = [text]
    return items


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
    parts: list[dict[str, Any]] = []
    for chunk in chunks:
        for one in _objects(chunk.get("candidates"))[:1]:
            candidate |= one
            parts += _parts(one)
        answer |= {name: value for name, value in chunk.items() if name != "candidates"}
    if candidate:
        answer["candidates"] = [candidate | {"content": {"parts": _texts_joined(parts)}}]
    return answer, bool(
        candidate.get("finishReason") or (not candidate and answer.get("promptFeedback"))
    )


def _texts_joined(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return parts in which texts of one kind that follow each other are one."""
    whole: list[dict[str, Any]] = []
    for kind, run in groupby(parts, _kind_of_text):
        same = list(run)
        texts = [str(part.get("text") or "") for part in same]
        whole += [{**same[0], "text": text_of(texts)}] if kind else same
    return whole


def _kind_of_text(part: dict[str, Any]) -> str:
    """Return whether a part is a text or a thought; empty: it is, or has, something else."""
    if part.keys() - {"text", "thought", "thoughtSignature"}:
        return ""
    return "thought" if part.get("thought") else "text"


def _parts(candidate: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of a candidate; some servers send one, or a text, in the list's place."""
    content = candidate.get("content")
    parts = content.get("parts") if isinstance(content, dict) else content
    if isinstance(parts, str):
        return [{"text": parts}]
    return [parts] if isinstance(parts, dict) else _objects(parts)


def _says_in_gemini(chunk: dict[str, Any]) -> bool:
    parts = [part for one in _objects(chunk.get("candidates")) for part in _parts(one)]
    return any(part.get("text") or not _kind_of_text(part) for part in parts)


GEMINI = Streamed(_gemini, _says_in_gemini)
"""Google's."""


def _index(entry: dict[str, Any]) -> int | None:
    index = entry.get("index")
    return index if isinstance(index, int) and index >= 0 else None


def _add(choice: dict[str, Any], chunk: dict[str, Any], offered: Collection[str]) -> None:
    """Add a part of a choice to what is gathered of it."""
    choice.setdefault("message", dict(_EMPTY))
    for name, value in chunk.items():
        if name in ("delta", "message"):  # some servers end with the whole message
            if isinstance(value, dict) and (name == "delta" or _is_empty(choice)):
                _add_delta(choice, value, offered)
        elif isinstance(value, str):  # some servers say why it ended in each chunk
            usual = name == "finish_reason" and finish_of(value) in ("", "stop")
            choice[name] = choice.get(name) or value if usual else value
        elif value is not None:
            choice[name] = _merged(choice.get(name), value, name)


def _is_empty(choice: dict[str, Any]) -> bool:
    waits = _CALLS in choice or _LEGACY in choice or choice.get(_TEXTS)
    return choice["message"] == _EMPTY and not waits


def _add_delta(choice: dict[str, Any], part: dict[str, Any], offered: Collection[str]) -> None:
    """Add a part of a message to a choice: pieces of texts and of calls wait for the last one."""
    message = choice["message"]
    texts: dict[str, list[Any]] = choice.setdefault(_TEXTS, {})
    for name, value in part.items():
        if name == "tool_calls" and isinstance(value, (list, dict)):
            calls: _Calls = choice.setdefault(_CALLS, _Calls())
            for call in value if isinstance(value, list) else (value,):  # TGI sends one
                calls.add(call, offered)
        elif name == "function_call" and isinstance(value, dict):
            calls = choice.setdefault(_LEGACY, _Calls())
            begun = calls.at.get(None, {}).get("function")
            if _object(begun).get("name") == value.get("name"):
                value = {**value, "name": None}  # there is one, whose name may come with each piece
            calls.add({"function": value}, offered)
        elif isinstance(value, str) and name not in _WHOLE:
            if value:
                texts.setdefault(name, []).append(value)
        elif name in _SAID and isinstance(value, (int, float)):
            texts.setdefault(name, []).append(value)
        elif value is not None or name not in message:
            before = _with_more(message.get(name), texts.pop(name, []))
            message[name] = _merged(before, value, name)


def _with_more(old: Any, pieces: list[Any]) -> Any:
    """Return a value with the pieces that came of it; a number alone is no text."""
    if len(pieces) == 1 and not isinstance(pieces[0], str):
        return pieces[0] if old is None else old
    text = text_of(list(map(piece_of, pieces)))
    return _merged(old, text, "") if text else old


def _merge(into: dict[str, Any], part: dict[str, Any]) -> None:
    for name, value in part.items():
        if value is not None or name not in into:
            into[name] = _merged(into.get(name), value, name)


def _merged(old: Any, new: Any, name: str) -> Any:
    """Return a value with a further part of it: texts and lists grow, objects by their fields.

    Mistral's content may change from parts of a message to text.
    """
    if isinstance(old, str) and isinstance(new, str) and name not in _WHOLE:
        return old + new
    if isinstance(old, (str, list)) and isinstance(new, (str, list)) and name not in _WHOLE:
        parts = _parts_of(old)
        parts += _parts_of(new)  # in its place: a copy for each part takes quadratic time
        return parts
    if isinstance(old, dict) and isinstance(new, dict):
        grown = dict(old)
        _merge(grown, new)
        return grown
    return new


def _parts_of(value: str | list[Any]) -> list[Any]:
    if isinstance(value, list):
        return value
    return [{"type": "text", "text": value}] if value else []


@dataclass(slots=True)
class _Calls:
    """The calls of a message, as far as its parts tell them."""

    entries: list[Any] = field(default_factory=list)
    at: dict[int | None, dict[str, Any]] = field(default_factory=dict)
    """By index, the last call that has it."""

    def add(self, part: Any, offered: Collection[str]) -> None:
        """Add a part of a call to the call that it is of, or begin one."""
        if not isinstance(part, dict):
            self.entries.append(part)
            return
        known, new = self._same(part, offered), part.get("function")
        piece = _object(new).get("arguments")
        is_object = isinstance(piece, (dict, list))  # of a call that has begun: a piece of it
        amid = is_object and known is not None and known["tail"] and not _is_whole(known)
        if isinstance(piece, (int, float)) or amid:
            piece = piece_of(piece)
        pieces = [piece] if isinstance(piece, str) else []
        if pieces:
            new = {**_object(new), "arguments": ""}
            part = {**part, "function": new}
        if known is None:
            known = {**part, "index": _index(part), "pieces": pieces, "tail": ""}
            self.entries.append(known)
            self.at[known["index"]] = known
        else:
            known["pieces"] += pieces
            named = _object(known.get("function")).get("name")
            if isinstance(new, dict) and new.get("name") == named:
                part = {**part, "function": {**new, "name": None}}  # some servers repeat it
            own = {"index"} | ({"id"} if known.get("id") else set())
            _merge(known, {name: value for name, value in part.items() if name not in own})
        if pieces and pieces[0].strip():
            known["tail"] = pieces[0].rstrip()

    def _same(self, part: dict[str, Any], offered: Collection[str]) -> dict[str, Any] | None:
        """Return the call that a part goes on with; None: it begins one.

        A part says by its index which. Some servers give none, or one and the same to all calls,
        and some another id with each part. So a part without a name goes on with the call of its
        index, or with the last. One with a name begins a call, but where it repeats the name of a
        call whose arguments are not whole yet, or gives a late name or a further piece of one.
        """
        if not self.at:
            return None
        index, function = _index(part), _object(part.get("function"))
        name, call = function.get("name"), self.at.get(index)
        if not name:
            last = next(one for one in reversed(self.entries) if isinstance(one, dict))
            return call or (None if part.get("id") and index is not None else last)
        if call is None:
            return None
        before, ids = _object(call.get("function")), (part.get("id"), call.get("id"))
        same_id, same_name = bool(ids[0]) and ids[0] == ids[1], before.get("name") == name
        more = function.get("arguments")
        if not before.get("name"):  # it comes after the id, or after the arguments
            return None if more and _is_whole(call) else call
        if _is_piece(before["name"], name, offered):
            return call
        if call["tail"]:
            ended = (not same_id or more) and _is_whole(call)
            return call if same_name and not ended else None
        if same_id or (index is not None and not all(ids)):
            begun = before.get("arguments") is not None
            return call if same_id or same_name or not begun or more is None else None
        return None

    def whole(self) -> list[Any]:
        """Return the calls; pieces of arguments are one text."""
        calls = [one for one in self.entries if isinstance(one, dict)]
        for call in calls:
            pieces = call.pop("pieces")
            if isinstance(_object(call.get("function")).get("arguments"), str):
                call["function"]["arguments"] = joined(pieces)
            for name in ("index", "tail", "looks"):
                call.pop(name, None)
        return self.entries


_NONE_YET = "{}"
"""How some servers begin the arguments of a call whose arguments follow."""


def piece_of(value: Any) -> str:
    """Return a piece of a text; some servers send one that is JSON, such as a number, as it is."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


_WORDS = 3
"""Fewest words of a text by which a server is known to send all of it with each piece."""


def text_of(pieces: Sequence[str]) -> str:
    """Return a text that came in pieces.

    Some servers send in each piece all that came before, others all of it once more at the end, or
    amid the others. So at least three pieces that each begin with the whole one before, or one that
    begins with what at least two before it say, are no words that were said twice. Both hold at
    least three words.
    """
    pieces = [piece for piece in pieces if piece]
    is_long = len(pieces) > 2 and len(pieces[-1].split(maxsplit=_WORDS)) >= _WORDS
    is_grown = is_long and all(map(str.startswith, pieces[1:], pieces))
    return pieces[-1] if is_grown and len(pieces[0]) < len(pieces[-1]) else _once(pieces, _WORDS)


def _once(pieces: Sequence[str], words: int = 0) -> str:
    """Return pieces one after the other, where those that begin with all before them repeat it.

    Args:
        pieces: None is empty.
        words: That are repeated at least; any is of two pieces at least.
    """
    told: list[str] = []
    length = 0
    for place, piece in enumerate(pieces):
        before = "".join(told) if place > bool(words) and len(piece) >= length else ""
        if before and piece.startswith(before) and len(before.split(maxsplit=words)) >= words:
            told, length = [], 0
        told.append(piece)
        length += len(piece)
    return "".join(told)


def joined(pieces: Sequence[str]) -> str:
    """Return the text of a call's arguments that came in pieces.

    Some servers send in a piece all that came before, others `{}` before the first. That shows at
    the end: then the pieces one after the other are no JSON.
    """
    pieces = [piece for piece in pieces if piece]
    whole = "".join(pieces)
    if len(pieces) < 2 or _is_json(whole):
        return whole
    if pieces[0].strip() == _NONE_YET and _is_json(rest := joined(pieces[1:])):
        return rest
    once = _once(pieces)
    return once if _is_json(once) else whole


def _is_json(text: str) -> bool:
    try:
        _json(text)
    except ValueError:
        return False
    return True


def _is_piece(begun: Any, more: Any, offered: Collection[str]) -> bool:
    """Tell whether a name goes on with one that has begun: `get_` and `weather`."""
    if not isinstance(begun, str) or not isinstance(more, str):
        return False
    if begun in offered and more in offered:
        return False
    return any(name.startswith(begun + more) for name in offered)


_MOST_LOOKS = 64
"""How often the arguments of one call are looked at: each look reads all of them."""


def _is_whole(call: dict[str, Any]) -> bool:
    """Tell whether the arguments of a call are whole JSON, so that a name begins another call."""
    call["looks"] = call.get("looks", 0) + 1
    return (
        call["looks"] <= _MOST_LOOKS
        and call["tail"].endswith("}")
        and _is_json(joined(call["pieces"]))
    )
