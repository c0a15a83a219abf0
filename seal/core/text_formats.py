"""Calls as text: what every form has, and the forms `action` (ReAct) and `json`."""

from __future__ import annotations

import ast
import html
import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal, Self

import orjson

from seal.core.types import JSON, Tool, ToolCall
from seal.core.values import (
    json_bytes,
    json_text,
    json_value,
    leaves,
    literal_value,
    nested_deeper,
    one_line,
    parse_expression,
    well_formed,
)

# -- What a text protocol has to know: how calls, results and answers are written, and read again.
#
# A map of arguments is JSON, else a Python literal, which is never evaluated. Every repair has a
# name (`Repair`), so that a score can tell models that keep a form from those that are forgiven.

FINISHES = frozenset({"finish", "final_answer"})
"""Names of calls by which models trained on other protocols give their answer."""
MOST_CALLS = 64
"""Calls of one reply that are read; what follows is text."""
Repair = Literal[
    "arguments_as_text",
    "closed",
    "code_fence",
    "entities",
    "in_content",
    "in_thoughts",
    "inner_quote",
    "invented_observation",
    "markup",
    "missing_mark",
    "no_input",
    "no_marker",
    "no_quotes",
    "other_key",
    "python_literal",
    "repeated_argument",
    "said_again",
    "trailing_text",
    "typographic_quotes",
]
"""What was forgiven, in a map or in the form around it.

arguments_as_text: the map was written as a JSON text; closed: quotes or brackets were missing at
the end; code_fence: it stood between backticks; entities: its quotes were written as in HTML,
`&quot;`; in_content: the server left the call in the text of the answer, in the dialect of the
model's family; in_thoughts: it left it in the thinking, with nothing else said; inner_quote: a
value has quotes of its own kind
without a backslash; invented_observation: the model went on with a result of its own making, which
was cut off; markup: a marker or name was set in bold, quotes or backticks; missing_mark: an
argument came without `#`; no_input: no arguments were written, or `null` for a tool without
parameters, and are taken as none; no_marker: the name came without `Action:`; no_quotes: a value
came without quotes; other_key: `parameters` instead of `arguments`; python_literal: it is no JSON
but a Python literal; repeated_argument: a map has one key twice, whose last value counts;
said_again: one call came several times under one id, or its arguments in one text; trailing_text:
something followed on the map; typographic_quotes: quotes came as a word processor sets them.
"""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a model's text says."""

    content: str = ""
    """Words: what was said beside the calls, or the answer."""
    calls: tuple[ToolCall, ...] = ()
    """`raw` holds the call as it was written, where it could not be read or had to be repaired."""


class TextForm(ABC):
    """A text protocol for models without tool calling.

    Names, results and answers stand as they are, unless a protocol has forms of its own for them.
    """

    name: str
    shape: str
    """How a call is written, for who wrote one that cannot be read."""
    result_word = "Result"
    """Stands before a result."""

    def among(self, tools: Sequence[Tool]) -> Self:
        """Return the form in which names and values of calls are those of these tools."""
        return self

    def called(self, tool: Tool) -> str:
        """Return the name by which calls and documents name a tool."""
        return tool.name

    def write(self, call: ToolCall) -> str:
        """Return a call as a model should write it; an unparsable one as it was written."""
        if call.arguments is None:
            return call.raw if self.is_own(call.raw) else self.put(call.name, call.raw)
        return self.put(call.name, self.given(call.arguments))

    @abstractmethod
    def is_own(self, raw: str) -> bool:
        """Tell whether a text begins like a call of this protocol."""

    @abstractmethod
    def put(self, name: str, given: str) -> str:
        """Return the text of a call.

        Args:
            name: Of the tool, as the model sees it.
            given: The arguments as text.
        """

    def given(self, arguments: dict[str, JSON]) -> str:
        """Return the text of arguments."""
        return json_text(arguments)

    def observed(self, content: str, of: str = "") -> str:
        """Return a result as the model reads it: one line, after a word that says what it is.

        Args:
            content: What came back.
            of: Name of the tool, where several calls are answered at once.
        """
        return f"{self.result_word}{f' of {of}' if of else ''}: {one_line(content)}"

    def answered(self, text: str) -> str:
        """Return a final answer as a model should write it."""
        return text

    def read(self, text: str, offered: Collection[str] = (), cut: bool = False) -> Reading:
        """Return what a text says. Never raises, whatever the text is.

        Args:
            text: A model's reply.
            offered: Names of the offered tools.
            cut: True: the text was cut off at a token limit, so that nothing is closed.
        """
        found, words = self.calls_in(well_formed(text), cut)
        return settled(words, [one.call() for one in found], offered)

    @abstractmethod
    def calls_in(self, text: str, cut: bool) -> tuple[list[CallText], str]:
        """Return the calls of a text, and the words beside them or the answer.

        Args:
            text: Well-formed.
            cut: As of `read`.
        """

    def repairs_in(self, raw: str) -> tuple[Repair, ...]:
        """Return what was forgiven in a call as it was written; empty where it is none."""
        found, _ = self.calls_in(raw, False)
        return tuple(dict.fromkeys(found[0].repairs)) if found else ()


@dataclass(frozen=True, slots=True)
class CallText:
    """A call as it stands in a text."""

    name: str
    arguments: dict[str, JSON] | None
    """None: they cannot be read."""
    written: str
    repairs: tuple[Repair, ...] = ()

    def call(self) -> ToolCall:
        """Return the call, with its text where it could not be read or had to be repaired."""
        raw = self.written if self.arguments is None or self.repairs else ""
        return ToolCall("", self.name, self.arguments, raw)


def says_something(text: str) -> bool:
    """Tell whether a text has a letter or a digit, and is no mere punctuation around calls."""
    return any(map(str.isalnum, text))


def settled(content: str, calls: list[ToolCall], offered: Collection[str]) -> Reading:
    """Return a reading in which a call that only finishes is the answer.

    Such a call has one of the names `FINISHES`, which no offered tool has. Beside other calls it is
    passed over: their results are not known yet.
    """
    real = [c for c in calls if c.name in offered or c.name.casefold() not in FINISHES]
    if real or not calls:
        return Reading(content, tuple(real))
    return Reading(_answer(calls[-1]) or content)


def _answer(call: ToolCall) -> str:
    if call.arguments is None:
        return call.raw.rpartition("Action Input:")[2].strip()
    answer = call.arguments.get("answer")
    return answer.strip() if isinstance(answer, str) else ", ".join(leaves(call.arguments))


MAX_DEPTH = 100
"""Nesting beyond which arguments count as unparsable: records could not hold them."""


_FENCED = re.compile(r"```[\w+-]*[ \t]*\n?(.*?)\s*(?:```)?\s*", re.DOTALL)
_BYTE_ORDER = "\ufeff"
"""Some servers leave it before a text."""
_CLOSERS = {"{": "}", "[": "]", "(": ")"}


@dataclass(frozen=True, slots=True)
class Written:
    """What a text says."""

    value: dict[str, JSON] | None
    """None: no map."""
    repairs: tuple[Repair, ...] = ()


def parse_object(text: str) -> dict[str, JSON] | None:
    """Return the JSON object that a text is; None for any other text, NaN or deep nesting."""
    try:
        value = json_value(text)
    except orjson.JSONDecodeError:
        return None
    may_be_deep = text.count("[") + text.count("{") > MAX_DEPTH
    deep = may_be_deep and nested_deeper(value, MAX_DEPTH)
    return value if isinstance(value, dict) and not deep else None


def objects_in(text: str) -> Iterator[dict[str, JSON]]:
    """Yield the objects that stand in a text, but for those within another one.

    They may hold line breaks within texts, and have Python's quotes or a comma at the end.
    """
    decoder, found = json.JSONDecoder(strict=False), _OBJECT.search(text)
    looks = 0
    while found is not None and looks < _MOST_BROKEN:
        place = found.start()
        end, rest = place + 1, text[place:]
        # Of the rest alone: an error counts the lines before it, from the text's beginning.
        try:
            value, length = decoder.raw_decode(rest)
            end = place + length
            yield value
        except (ValueError, RecursionError):
            looks += 1
            closed, _ = span_of(rest) if looks <= _MOST_LOOKS else (None, "")
            read = None if closed is None else read_object(rest[:closed], cut=True).value
            if closed is not None and read is not None:
                end = place + closed
                yield read
        found = _OBJECT.search(text, end)


_OBJECT = re.compile(r"\{\s*+(?:[uUrR]?[\"']|\})")
"""Begins an object with a member, or with none: `{"a`, `{u'a`, `{}`; not `{{` or `{ a`."""
_MOST_LOOKS = 16
"""Objects that are no JSON and are read otherwise: each takes the length of the text."""
_MOST_BROKEN = 5_000
"""Objects that are no JSON after which no other one is looked for: nobody has answered so."""


def read_object(text: str, cut: bool = False) -> Written:
    """Return the map that a text writes, and what was repaired to read it.

    Args:
        text: Empty: no arguments, which is a map without members.
        cut: True: the text may have been cut off, so that closing it would invent a value.
    """
    text = well_formed(text).strip().lstrip(_BYTE_ORDER).lstrip()
    if not text:
        return Written({}, ("no_input",))
    fenced = _FENCED.fullmatch(text)
    inner = fenced[1].strip() if fenced else text
    before: tuple[Repair, ...] = ("code_fence",) if fenced else ()
    for candidate, repairs in _candidates(inner, cut):
        value = parse_object(candidate)
        if value is not None:
            return Written(value, (*before, *repairs, *repeats(candidate)))
        literal = _literal(candidate)
        if literal is not None:
            return Written(literal.value, (*before, *literal.repairs, *repairs))
    return Written(None)


def read_arguments(text: str, cut: bool = False) -> Written:
    """Return the map that the text of a native call's arguments writes; see `read_object`.

    Some servers encode it twice, escape it as in HTML, or send it twice. What follows are words,
    but for a further object, which may be another call.

    Args:
        text: The arguments.
        cut: As of `read_object`.
    """
    read = read_object(text, cut)
    if read.value is None and text.lstrip().startswith('"'):
        with suppress(ValueError):
            inner = json_value(text)
            if isinstance(inner, str) and inner.lstrip().startswith(("{", "```")):
                again = read_object(inner, cut)
                read = replace(again, repairs=("arguments_as_text", *again.repairs))
    if read.value is None and "&quot;" in text:
        read = read_object(html.unescape(text), cut)
        read = replace(read, repairs=("entities", *read.repairs))
    if read.value is None or "trailing_text" in read.repairs:
        several = objects_in_a_row(text)
        if len(several) > 1:
            is_one = all(one == several[0] for one in several)
            return Written(several[0], ("said_again",)) if is_one else Written(None)
        begins = text.find("{")
        end, _ = span_of(text[begins:]) if begins >= 0 else (None, "")
        behind = "" if end is None else text[begins + end :]
        if "{" in behind or (read.value == {} and _MARKS.sub("", behind)):
            return Written(None)  # `{} "utc"` gives something, in words that nobody reads
    return read


_MARKS = re.compile(r"<[^<>]{1,40}>|[\s`}]")
"""What says nothing behind an object: `<|im_end|>`, `</tool_call>`."""


def objects_in_a_row(text: str) -> list[dict[str, JSON]]:
    """Return the JSON objects of which a text consists; none where it has anything else.

    At most `MOST_CALLS` are taken: of more there is none.
    """
    found: list[dict[str, JSON]] = []
    rest, decoder = text.strip().lstrip(_BYTE_ORDER).lstrip(), json.JSONDecoder()
    try:
        while rest and len(found) < MOST_CALLS:
            _, end = decoder.raw_decode(rest)
            value = parse_object(rest[:end])
            if value is None:
                return []
            found.append(value)
            rest = rest[end:].lstrip()
    except (ValueError, RecursionError):
        return []
    return [] if rest else found


_NONE = re.compile(
    r"(?:.*(?:\bAction Input:|[\"'](?:arguments|parameters)[\"']\s*:))?"
    r"\s*(?:(null|None)|\{\s*\})[\W_]*",
    re.DOTALL,
)
"""`null`, `{}""` and `Action: now\\nAction Input: None`; not `{} now`, `[]` nor `say null`."""


def none_written(raw: str) -> tuple[Repair, ...]:
    """Return what is to be forgiven in a call whose arguments are none; empty: they are something.

    Args:
        raw: The arguments, or the whole call, as a model wrote them.
    """
    found = _NONE.fullmatch(raw)
    return () if found is None else ("no_input",) if found[1] else ("trailing_text",)


def repeats(text: str) -> tuple[Repair, ...]:
    """Return what was forgiven in a JSON text that is read: a key that an object has twice."""
    found: list[Repair] = []

    def members(pairs: list[tuple[str, Any]]) -> None:
        if len(dict(pairs)) < len(pairs):
            found.append("repeated_argument")

    json.loads(text, object_pairs_hook=members, parse_int=str)  # int refuses very many digits
    return tuple(found[:1])


def _candidates(text: str, cut: bool) -> Iterator[tuple[str, tuple[Repair, ...]]]:
    """Yield the texts that may be the map, with what was done to get them."""
    yield text, ()
    if not text.startswith("{"):
        return
    end, missing = span_of(text)
    if end is not None:
        if end < len(text):
            yield text[:end], ("trailing_text",)
    elif missing and not cut:
        yield text + missing, ("closed",)


def span_of(text: str) -> tuple[int | None, str]:
    """Return where the value ends that begins with the text's first character, a bracket.

    Returns:
        The position after it, or None and what would close it, which is empty where brackets cross.
    """
    open_: list[str] = []
    quote, escaped = "", False
    for index, character in enumerate(text):
        if quote:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == quote:
                quote = ""
        elif character in "\"'":
            quote = character
        elif character in _CLOSERS:
            open_.append(_CLOSERS[character])
        elif character in "}])":
            if not open_ or open_.pop() != character:
                return None, ""
            if not open_:
                return index + 1, ""
    return None, quote + "".join(reversed(open_))


def _literal(text: str) -> Written | None:
    try:
        tree = parse_expression(text)
        value = literal_value(tree)
    except ValueError:
        return None
    if not isinstance(value, dict) or nested_deeper(value, MAX_DEPTH) or not _is_plain(value):
        return None
    maps = (node for node in ast.walk(tree) if isinstance(node, ast.Dict))
    keys = [[literal_value(key) for key in node.keys if key] for node in maps]
    twice = any(len(set(names)) < len(names) for names in keys)
    repairs: tuple[Repair, ...] = ("python_literal", *(("repeated_argument",) if twice else ()))
    return Written(json_value(json_bytes(value)), repairs)


def _is_plain(value: Any) -> bool:
    """Tell whether JSON has such a value: no set, bytes, complex or infinite number or key."""
    if isinstance(value, dict):
        return all(isinstance(key, str) for key in value) and all(map(_is_plain, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, (str, int))


# -- `Action: NAME`, `Action Input: {...}`: the text protocol of ReAct, as ToolScan asks it.
#
# A marker stands at the beginning of a line. Several actions in one reply are several calls; what
# follows on an `Observation:` that the model writes itself is cut off. A reply without an action is
# words; `Final Answer:` says where they begin. An action without an input, an input without an
# action, and an input that is no map are calls that cannot be read (`arguments` None).
#
# Also read are `Action: NAME with Action Input: {...}` and the same without its first word, which
# are ToolScan's own. Source: Yao et al., ReAct (2023); Kokane et al., ToolScan (2024), prompts.

_MARKER = re.compile(
    r"^[ \t]*+(?P<open>[*_`#]{0,4})[ \t]*+"
    r"(?:(?P<kind>Thought|Action Input|Action|Observation|Final Answer)(?P<of> of [^\n:]{1,200})?"
    r"[*_`]{0,3}[ \t]*:[*_`]{0,3}"
    r"|(?P<bare>[\w./-]{1,200})[ \t]+with Action Input:)[ \t]*",
    re.MULTILINE,
)
_INLINE = re.compile(r"(?<![ \t])[ \t]++(?:with[ \t]+)?Action Input:")
_AROUND = " \t\r\n*`\"'"


@dataclass(frozen=True, slots=True)
class _Part:
    """The text from one marker to the next."""

    kind: str
    """What the marker says; empty before the first, `bare` for a name without its marker."""
    marker: str
    body: str
    name: str = ""

    @property
    def written(self) -> str:
        """Marker and body."""
        return self.marker + self.body

    @property
    def marked_up(self) -> bool:
        """True where the marker is set in markdown."""
        return any(character in self.marker for character in "*`#")


class ActionForm(TextForm):
    """The protocol of actions."""

    name = "action"
    shape = 'Action: NAME\nAction Input: {"argument": "value"}'
    result_word = "Observation"

    def is_own(self, raw: str) -> bool:
        """Tell whether a text begins with a marker."""
        return _MARKER.match(raw) is not None

    def put(self, name: str, given: str) -> str:
        """Return the two lines of a call."""
        return f"Action: {name}\nAction Input: {given}"

    def answered(self, text: str) -> str:
        """Return an answer after its marker."""
        return f"Final Answer: {text}"

    def calls_in(self, text: str, cut: bool) -> tuple[list[CallText], str]:
        """Return the calls of a text, and the words or the answer; see `TextForm.calls_in`."""
        parts = list(_parts(text))
        calls: list[CallText] = []
        words: list[str] = []
        repairs: tuple[Repair, ...]
        answer = ""
        position = 0
        while position < len(parts) and len(calls) < MOST_CALLS:
            part = parts[position]
            position += 1
            if part.kind == "Observation" and calls:
                invented = "".join(other.written for other in parts[position - 1 :])
                if (last := calls[-1]).arguments is not None:
                    written = f"{last.written}\n{invented.strip()}"
                    repairs = (*last.repairs, "invented_observation")
                    calls[-1] = replace(last, written=written, repairs=repairs)
                break
            if part.kind in ("Action", "bare"):
                following = parts[position : position + 1]
                taken = part.kind == "Action" and _takes_input(part, following)
                position += taken
                calls.append(_read(part, following[0] if taken else None, cut))
            elif part.kind == "Action Input":
                calls.append(CallText("", None, part.written.strip()))
            elif part.kind == "Final Answer":
                answer = part.body.strip()
            elif says_something(part.written):
                words.append(part.written.strip())
        return calls, "\n".join(words) if calls else answer or "\n".join(words)

    def repairs_in(self, raw: str) -> tuple[Repair, ...]:
        """Return what was forgiven in an action as it was written."""
        return super().repairs_in(raw) if self.is_own(raw) else ()


def _parts(text: str) -> Iterator[_Part]:
    marks = list(_MARKER.finditer(text))
    first = marks[0].start() if marks else len(text)
    if first:
        yield _Part("", "", text[:first])
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=False):
        kind = mark["kind"] or "bare"
        yield _Part(kind, mark[0], text[mark.end() : end], mark["bare"] or "")


def _takes_input(action: _Part, following: list[_Part]) -> bool:
    """Tell whether the input of an action is the next part."""
    inline = _INLINE.search(action.body)
    return inline is None and bool(following) and following[0].kind == "Action Input"


def _read(action: _Part, given: _Part | None, cut: bool) -> CallText:
    """Return the call that an action and its input make, if they make one."""
    written = (action.written + (given.written if given else "")).strip()
    name, text = action.name or action.body, given.body if given else None
    inline = None if action.name else _INLINE.search(action.body)
    if action.name:
        text = action.body
    elif inline is not None:
        name, text = action.body[: inline.start()], action.body[inline.end() :]
    plain = name.strip(_AROUND)
    if text is None:
        return CallText(plain.partition("\n")[0], None, written)
    found = read_object(text, cut)
    repairs: list[Repair] = ["no_marker"] if action.name else []
    if plain != name.strip() or action.marked_up or (given is not None and given.marked_up):
        repairs.append("markup")
    if found.value is None or not plain or "\n" in plain:
        return CallText(plain.partition("\n")[0], None, written)
    return CallText(plain, found.value, written, (*repairs, *found.repairs))


# -- `{"name": ..., "arguments": {...}}`: calls as JSON objects, one, several, or a list of them.
#
# Words may stand beside them, and are what is left where there is no call. An object is a call
# where it has a name and arguments, or a name alone, or only members that speak of a call
# (`_OF_CALLS`). Any other object is an answer that happens to be JSON.

_START = re.compile(r"\{\s*[\"'](?:name|arguments|parameters|(?P<more>type|id))[\"']\s*:")
_NAME = re.compile(r"[\"']name[\"']\s*:\s*[\"']([^\"'\n]{1,200})[\"']")
_FENCE = re.compile(r"```[\w+-]*")
_MOST_TRIES = 2 * MOST_CALLS
"""Beginnings of calls that are looked at, so that a hostile text costs no more than its length
times this."""
_OF_CALLS = frozenset(
    {"name", "arguments", "parameters", "tool", "tool_name", "function", "action", "args", "input"}
)


class JsonForm(TextForm):
    """The protocol of JSON objects."""

    name = "json"
    shape = '{"name": "NAME", "arguments": {"argument": "value"}}'

    def is_own(self, raw: str) -> bool:
        """Tell whether a text holds the beginning of a call's object."""
        return _START.search(raw) is not None

    def put(self, name: str, given: str) -> str:
        """Return the object of a call."""
        return f'{{"name":{json_text(name)},"arguments":{given}}}'

    def calls_in(self, text: str, cut: bool) -> tuple[list[CallText], str]:
        """Return the calls of a text, and the words beside them; see `TextForm.calls_in`."""
        text = text.strip()
        whole = parse_object(text)
        if whole is not None:
            if not _is_call(whole):
                return [], text
            return [_of_object(whole, text, repeats(text))], ""
        found: list[CallText] = []
        words: list[str] = []
        end = 0
        for beginning in islice(_START.finditer(text), _MOST_TRIES):
            start = beginning.start()
            if start < end or len(found) == MOST_CALLS:
                continue
            length, _ = span_of(text[start:])
            stop = len(text) if length is None else start + length
            call = _of_text(text[start:stop], cut)
            if call is not None and not (beginning["more"] and call.arguments is None):
                words.append(text[end:start])
                found.append(call)
                end = stop
        words.append(text[end:])
        said = "\n".join(_FENCE.sub("", word).strip() for word in words if says_something(word))
        said = said if says_something(_FENCE.sub("", said)) else ""
        if len(found) == 1 and not said and text.startswith("```"):
            found = [replace(found[0], written=text, repairs=("code_fence", *found[0].repairs))]
        return found, said if found else text


def _of_text(written: str, cut: bool) -> CallText | None:
    """Return the call that a part of a text writes, maybe an unreadable one; None: it is none."""
    read = read_object(written, cut)
    if read.value is not None:
        return _of_object(read.value, written, read.repairs) if _is_call(read.value) else None
    named = _NAME.search(written)
    return CallText(named[1] if named else "", None, written)


def _is_call(value: Mapping[str, Any]) -> bool:
    named = isinstance(value.get("name"), str)
    if named and not value.keys().isdisjoint({"arguments", "parameters"}):
        return True
    return bool(value) and value.keys() <= _OF_CALLS


def _of_object(value: Mapping[str, Any], written: str, repairs: tuple[Repair, ...]) -> CallText:
    name = value.get("name")
    if not isinstance(name, str) or not name.strip():
        return CallText("", None, written)
    key = "arguments" if "arguments" in value else "parameters"
    renamed: tuple[Repair, ...] = ("other_key",) if key in value and key != "arguments" else ()
    given = _given(value[key]) if key in value else Written({}, ("no_input",))
    return CallText(name.strip(), given.value, written, (*repairs, *renamed, *given.repairs))


def _given(arguments: JSON) -> Written:
    if isinstance(arguments, dict):
        return Written(arguments)
    if isinstance(arguments, str):
        read = read_object(arguments)
        return replace(read, repairs=("arguments_as_text", *read.repairs))
    return Written(None)
