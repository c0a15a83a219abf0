"""How calls are written and read: the forms of calls, repairs, and OpenAI's functions."""

from __future__ import annotations

import ast
import hashlib
import json
import math
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import Any, Literal, Self

import orjson

from seal.core.registry import load_dotted
from seal.core.types import JSON, Tool, ToolCall
from seal.core.values import (
    json_bytes,
    json_text,
    leaves,
    literal_value,
    nested_deeper,
    one_line,
    parse_expression,
    well_formed,
)

# -- How models without tool calling write calls, and how SEAL reads them.
#
# A text is parsed as JSON, else as a Python literal. It is never evaluated. A call that cannot be
# read has the arguments None. A call that had to be repaired keeps its text in `ToolCall.raw`,
# beside its arguments. `repairs_of` tells the repairs from that text.

Format = Literal["native", "native-text", "action", "json", "bracket"]
"""How a model calls tools and gets results: by the server's tool calling and its tool messages
(native), by its tool calling and with results as text (native-text), or all in text."""

_FORMS = {
    "action": "seal.core.text_formats:ActionForm",
    "bracket": "seal.core.bracket_form:BracketForm",
    "json": "seal.core.text_formats:JsonForm",
}
"""Format to its text protocol; `native` and `native-text` have none."""


def in_text(format: str) -> bool:
    """Tell whether a model's calls stand in its text under a `Format`."""
    return format in _FORMS


@cache
def form_of(format: str) -> TextForm | None:
    """Return the text protocol of a format, which is loaded when first asked for; native: None.

    Args:
        format: A `Format`.
    """
    form: TextForm | None = load_dotted(_FORMS[format])() if format in _FORMS else None
    return form


def repairs_of(call: ToolCall) -> tuple[Repair, ...]:
    """Return what was forgiven to read a call; empty for a right one, and for one not read."""
    if call.arguments is None or not call.raw:
        return ()

    if parse_object(call.raw) == call.arguments:  # of a native call
        return repeats(call.raw)
    forms = filter(None, map(form_of, _FORMS))
    return next(filter(None, (form.repairs_in(call.raw) for form in forms)), ())


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
    "trailing_text",
    "typographic_quotes",
]
"""What was forgiven, in a map or in the form around it.

arguments_as_text: the map was written as a JSON text; closed: quotes or brackets were missing at
the end; code_fence: it stood between backticks; inner_quote: a value has quotes of its own kind
without a backslash; invented_observation: the model went on with a result of its own making, which
was cut off; markup: a marker or name was set in bold, quotes or backticks; missing_mark: an
argument came without `#`; no_input: no arguments were written, and are taken as none; no_marker:
the name came without `Action:`; no_quotes: a value came without quotes; other_key: `parameters`
instead of `arguments`; python_literal: it is no JSON but a Python literal; repeated_argument: a
map has one key twice, whose last value counts; trailing_text: something followed on the map;
typographic_quotes: quotes came as a word processor sets them.
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


_FENCE = re.compile(r"```[\w+-]*[ \t]*\n?(.*?)\s*(?:```)?\s*", re.DOTALL)
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
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    may_be_deep = text.count("[") + text.count("{") > MAX_DEPTH
    deep = may_be_deep and nested_deeper(value, MAX_DEPTH)
    return value if isinstance(value, dict) and not deep else None


def objects_in(text: str) -> Iterator[dict[str, JSON]]:
    """Yield the JSON objects that stand in a text, but for those within another one."""
    decoder, place = json.JSONDecoder(), text.find("{")
    while place >= 0:
        end = place + 1
        with suppress(ValueError, RecursionError):
            # Of the rest alone: an error counts the lines before it, from the text's beginning.
            value, length = decoder.raw_decode(text[place:])
            end = place + length
            yield value
        place = text.find("{", end)


def read_object(text: str, cut: bool = False) -> Written:
    """Return the map that a text writes, and what was repaired to read it.

    Args:
        text: Empty: no arguments, which is a map without members.
        cut: True: the text may have been cut off, so that closing it would invent a value.
    """
    text = well_formed(text).strip()
    if not text:
        return Written({}, ("no_input",))
    fenced = _FENCE.fullmatch(text)
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
    return Written(orjson.loads(json_bytes(value)), repairs)


def _is_plain(value: Any) -> bool:
    """Tell whether JSON has such a value: no set, bytes, complex or infinite number or key."""
    if isinstance(value, dict):
        return all(isinstance(key, str) for key in value) and all(map(_is_plain, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, (str, int))


# -- Names and calls of functions as OpenAI's interface writes them.
#
# It takes function names of `[A-Za-z0-9_-]{1,64}` only, so every tool gets a wire name that is
# unique within its request.

_OTHER = re.compile(r"[^A-Za-z0-9_-]")
_VALID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_VALID_GEMINI = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


def function_of(tool: Tool, name: str) -> dict[str, Any]:
    """Return a tool as a request offers it, under its wire name."""
    described = {"name": name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": described}


def call_of(id: str, name: str, arguments: str) -> dict[str, Any]:
    """Return a call as a message carries it; the arguments are JSON text."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def wire_names(names: Sequence[str], leading_letter: bool = False) -> list[str]:
    """Return a distinct wire name for each name, in order.

    A valid name stays as it is. Any other has its odd characters replaced by `_`; where that
    leaves nothing to read, is too long, or meets another name, it ends in 8 hex digits of the
    name's digest.
    """
    valid = _VALID_GEMINI if leading_letter else _VALID
    plain = [_plain(name, leading_letter) for name in names]
    meet = Counter(plain)
    taken = {name for name in names if valid.fullmatch(name)}
    given: set[str] = set()
    wired = []
    for name, candidate in zip(names, plain, strict=True):
        if name in taken and name not in given:
            wire = name
        elif valid.fullmatch(candidate) and meet[candidate] == 1 and candidate not in taken:
            wire = candidate
        else:
            wire = next(n for n in _marked(name, candidate) if n not in taken and n not in given)
        given.add(wire)
        wired.append(wire)
    return wired


def wire_name(name: str) -> str:
    """Return a valid wire name for a name that no offered tool has."""
    return name if _VALID_GEMINI.fullmatch(name) else next(_marked(name, _plain(name, True)))


def _plain(name: str, leading_letter: bool) -> str:
    candidate = _OTHER.sub("_", name)
    if not any(map(str.isalnum, candidate)):
        return f"tool_{_hex(name, 0)}"
    is_led = candidate[0].isalpha() or candidate[0] == "_"
    return candidate if is_led or not leading_letter else f"_{candidate}"


def _marked(name: str, candidate: str) -> Iterator[str]:
    return (f"{candidate[:55]}_{_hex(name, number)}" for number in count())


def _hex(name: str, number: int) -> str:
    text = f"{number}:{name}" if number else name
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def parse_call(name: str, arguments: Any) -> ToolCall:
    """Return the call of a model's reply, still without a number.

    `raw` holds the text where it is no object, or has a key twice.

    Args:
        name: Function name.
        arguments: Text of a JSON object, as the protocol has it; some servers send the object
            itself, or nothing where a function takes none.
    """
    if not isinstance(arguments, str):
        try:
            arguments = "" if arguments is None else orjson.dumps(arguments).decode()
        except TypeError:  # too deep, or an integer of more than 64 bits
            arguments = str(arguments)

    text = well_formed(arguments)
    if not text.strip():
        return ToolCall("", name, {})
    parsed = parse_object(text)
    return ToolCall("", name, parsed, text if parsed is None or repeats(text) else "")
