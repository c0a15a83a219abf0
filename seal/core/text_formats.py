"""Two forms of calls as text: `action` (ReAct) and `json`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from seal.core.call_formats import (
    MOST_CALLS,
    CallText,
    Repair,
    TextForm,
    Written,
    parse_object,
    read_object,
    repeats,
    says_something,
    span_of,
)
from seal.core.types import JSON
from seal.core.values import json_text

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
    r"^[ \t]*(?P<open>[*_`#]{0,4})[ \t]*"
    r"(?:(?P<kind>Thought|Action Input|Action|Observation|Final Answer)(?P<of> of [^\n:]{1,200})?"
    r"[*_`]{0,3}[ \t]*:[*_`]{0,3}"
    r"|(?P<bare>[\w./-]{1,200})[ \t]+with Action Input:)[ \t]*",
    re.MULTILINE,
)
_INLINE = re.compile(r"[ \t]+(?:with[ \t]+)?Action Input:")
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

_START = re.compile(r"\{\s*[\"'](?:name|arguments|parameters)[\"']\s*:")
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
        for start in islice((match.start() for match in _START.finditer(text)), _MOST_TRIES):
            if start < end or len(found) == MOST_CALLS:
                continue
            length, _ = span_of(text[start:])
            stop = len(text) if length is None else start + length
            call = _of_text(text[start:stop], cut)
            if call is not None:
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
