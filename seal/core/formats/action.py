"""`Action: NAME`, `Action Input: {...}`: the text protocol of ReAct, as ToolScan asks it.

A marker stands at the beginning of a line. Several actions in one reply are several calls; what
follows on an `Observation:` that the model writes itself is cut off. A reply without an action is
words; `Final Answer:` says where they begin. An action without an input, an input without an
action, and an input that is no map are calls that cannot be read (`arguments` None).

Also read are `Action: NAME with Action Input: {...}` and the same without its first word, which
are ToolScan's own. Source: Yao et al., ReAct (2023); Kokane et al., ToolScan (2024), prompts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from seal.core.formats.forms import (
    MOST_CALLS,
    CallText,
    Repair,
    TextForm,
    read_object,
    says_something,
)

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
