"""Calls in brackets as they stand in a text: where one opens, what it holds, what was forgiven."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from seal.core.formats.forms import MOST_CALLS, Repair

_API = r"(?:(?P<app>[^\W_][\w &'./-]{0,79}?)\s{0,9}:\s{0,9})?(?P<api>[\w./-]{1,200})"
_HEAD = re.compile(rf"\s*{_API}\s{{0,9}}\(")
_OPEN = re.compile(rf"\[{_HEAD.pattern}")
_BARE = re.compile(rf"\[\s*{_API}\s*\]")
_BRACKET = re.compile(rf"\[(?=\s*{_API}(?:\s{{0,9}}\(|\s*\]))")
_ARGUMENT = re.compile(r"\s*(?P<mark>#?)(?P<name>[^=,()\[\]'\"#\n]{1,200})=\s*")
_PLAIN = re.compile(r"[^,()\[\]'\"\n]+")
_AFTER = re.compile(r"\s*+(?:,\s*+#?[^=,()\[\]'\"#\n]{1,200}=|,?+\s*+\)|\])")
_SPACE = re.compile(r"\s*")
_COMMA = re.compile(r"\s*,\s*")
_ESCAPE = re.compile(r"\\([\\'\"\u2018\u2019\u201c\u201d])")
_QUOTES = {"'": "'", '"': '"', "\u2018": "\u2019", "\u2019": "\u2019", "\u201c": "\u201d"}
_UP_TO = {
    quote: re.compile(rf"[^\\{quote}]*+(?:\\.[^\\{quote}]*+)*+{quote}", re.DOTALL)
    for quote in _QUOTES.values()
}


def opens_call(raw: str) -> bool:
    """Tell whether a text begins with a bracket that opens a call with arguments."""
    return _OPEN.match(raw) is not None


def can_be_read(name: str) -> bool:
    """Tell whether a call under this name is read as one."""
    return _HEAD.fullmatch(f"{name}(") is not None


def is_bracket(raw: str) -> bool:
    """Tell whether a text begins like a call in brackets."""
    return opens_call(raw) or _BARE.match(raw) is not None


def repairs_of_bracket(raw: str) -> tuple[Repair, ...]:
    """Return what was forgiven in a call as it was written."""
    if _BARE.match(raw):
        return ("no_input",)
    return _opened(_Text(raw, False), 0).calls[0].repairs


class _Text:
    """What a model wrote, and where calls begin in it.

    Args:
        text: The text.
        cut: True: nothing is closed that the text does not close.
    """

    def __init__(self, text: str, cut: bool) -> None:
        self.text = text
        self.cut = cut
        self.starts = [found.start() for found in _BRACKET.finditer(text)]
        self._opened = [at for at in self.starts if _OPEN.match(text, at)]

    def limit(self, at: int) -> int:
        """Return where the next bracket opens that holds a call: what breaks off ends there."""
        place = bisect_left(self._opened, at)
        return self._opened[place] if place < len(self._opened) else len(self.text)

    def past(self, at: int) -> int:
        """Return the position after blanks."""
        found = _SPACE.match(self.text, at)
        return found.end() if found else at


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A call in a text."""

    app: str
    api: str
    arguments: dict[str, str] | None
    written: str
    end: int
    repairs: tuple[Repair, ...] = ()

    @property
    def name(self) -> str:
        """App and API, or the API alone where no app was named."""
        return f"{self.app}: {self.api}" if self.app else self.api


@dataclass(frozen=True, slots=True)
class Bracket:
    """The calls between two brackets."""

    start: int
    end: int
    calls: tuple[WrittenCall, ...]


def brackets(text: str, cut: bool, is_tool: Callable[[WrittenCall], bool]) -> Iterator[Bracket]:
    """Yield the brackets of a text that hold calls.

    Args:
        text: Of a reply.
        cut: True: nothing is closed that the text does not close.
        is_tool: Tells of a name alone, `[App: api]`, whether it is a call.
    """
    given = _Text(text, cut)
    end = 0
    for start in given.starts:
        if start < end:
            continue
        bare = _BARE.match(given.text, start)
        if bare is None:
            bracket = _opened(given, start)
        else:
            app, api = bare["app"] or "", bare["api"]
            found = WrittenCall(app, api, {}, bare[0], bare.end(), ("no_input",))
            if not is_tool(found):
                continue
            bracket = Bracket(start, bare.end(), (found,))
        end = bracket.end
        yield bracket


def _opened(given: _Text, start: int) -> Bracket:
    """Return the calls of the bracket that opens here, of which the last may break off."""
    calls: list[WrittenCall] = []
    at = start + 1
    while True:
        found = _call(given, at)
        end = given.past(found.end)
        if found.arguments is None:
            return Bracket(start, found.end, (*calls, found))
        following = _COMMA.match(given.text, end)
        if following and len(calls) < MOST_CALLS and _HEAD.match(given.text, following.end()):
            calls.append(found)
            at = following.end()
            continue
        if given.text[end : end + 1] == "]":
            return Bracket(start, end + 1, (*calls, found))
        repairs = _once([*found.repairs, "closed"])
        open_ = replace(found, repairs=repairs, written=found.written.removesuffix("]"))
        return Bracket(start, found.end, (*calls, open_))


def _call(given: _Text, at: int) -> WrittenCall:
    """Return the call whose name begins here, after a bracket or comma."""
    head = _HEAD.match(given.text, at)
    if head is None:
        raise ValueError(f"no call at {at}: {given.text[at : at + 50]!r}")
    app, api = head["app"] or "", head["api"]
    read = _arguments(given, head.end())
    if read is None:
        end = given.limit(at)
        return WrittenCall(app, api, None, f"[{given.text[at:end].strip()}", end)
    values, end, repairs = read
    written = f"[{given.text[at:end].strip()}]"
    return WrittenCall(app, api, values, written, end, repairs)


def _arguments(given: _Text, at: int) -> tuple[dict[str, str], int, tuple[Repair, ...]] | None:
    """Return the arguments from here to the bracket that closes them, where they end, and repairs.

    None: they break off.
    """
    text = given.text
    values: dict[str, str] = {}
    repairs: list[Repair] = []
    while True:
        limit = given.limit(at)
        at = given.past(at)
        if text[at : at + 1] == ")":
            return values, at + 1, _once(repairs)
        if at >= limit or text[at] == "]":
            broken = given.cut and at >= len(text)
            return None if broken else (values, at, _once([*repairs, "closed"]))
        argument = _ARGUMENT.match(text, at)
        found = _value(given, argument.end()) if argument else None
        if argument is None or found is None:
            return None
        value, end, forgiven = found
        name = argument["name"].strip()
        repairs += () if argument["mark"] else ("missing_mark",)
        repairs += ("repeated_argument",) if name in values else ()
        repairs += forgiven
        values[name] = value
        at = given.past(end)
        if text[at : at + 1] == ",":
            at += 1
        elif at < given.limit(end) and text[at] not in ")]":
            return None


def _once(repairs: Sequence[Repair]) -> tuple[Repair, ...]:
    return tuple(dict.fromkeys(repairs))


def _value(given: _Text, at: int) -> tuple[str, int, tuple[Repair, ...]] | None:
    """Return the value that begins here, where it ends, and repairs.

    None: its quotes never close, or it is none.
    """
    text, limit = given.text, given.limit(at)
    opening = text[at : at + 1]
    if opening not in _QUOTES:
        plain = _PLAIN.match(text, at, limit)
        value = plain[0].strip() if plain else ""
        return (value, at + len(plain[0]), ("no_quotes",)) if plain and value else None
    closing = _QUOTES[opening]
    repairs: tuple[Repair, ...] = () if opening in "'\"" else ("typographic_quotes",)
    end = at + 1
    # Looking for the quote is fast, and a text may open 64 calls that never close theirs.
    while text.find(closing, end) >= 0 and (found := _UP_TO[closing].match(text, end)):
        end = found.end()
        if _AFTER.match(text, end) or given.past(end) == given.limit(end):
            value = _ESCAPE.sub(r"\1", text[at + 1 : end - 1])
            return value, end, repairs
        # A quote with something else behind it belongs to the value, unless the value lost its
        # own and runs into the next bracket.
        if end > limit:
            return None
        repairs = _once([*repairs, "inner_quote"])
    return None
