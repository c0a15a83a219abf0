"""`[App: api(#argument='value', #other='?')]`: requests in brackets, as DialogTool asks for them.

An API is named by its app, which may be left out, and its own name, both in any case. Several
brackets are several calls, and so are several calls in one, divided by commas. All values are
texts in quotes, with a backslash before a quote or backslash inside; they become what the offered
tool's schema says, where that loses nothing. `?` stands for a value that is not known yet. What
stands outside the brackets is words, and so is a bracket without arguments that names no offered
tool: `[]`, which asks for nothing, or `[App]`. A bracket that opens a call and breaks off is a
call that cannot be read (`arguments` None).

Source: DialogTool (spec section 5, format of a request); escapes and repairs are ours.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Self

from seal.core.schemas import required_names
from seal.core.text_formats import (
    MOST_CALLS,
    CallText,
    Repair,
    TextForm,
    parse_object,
    says_something,
)
from seal.core.types import JSON, Tool
from seal.core.values import json_text

_FENCE = re.compile(r"```[\w+-]*")
_API = r"(?:(?P<app>[^\W_][\w &'./-]{0,79}?)\s{0,9}:\s{0,9})?(?P<api>[\w./-]{1,200})"
_HEAD = re.compile(rf"\s*{_API}\s{{0,9}}\(")
_OPEN = re.compile(rf"\[{_HEAD.pattern}")
_BARE = re.compile(rf"\[\s*{_API}\s*\]")
_BRACKET = re.compile(rf"\[(?=\s*{_API}(?:\s{{0,9}}\(|\s*\]))")
_ARGUMENT = re.compile(r"\s*+(?P<mark>#?)(?P<name>[^=,()\[\]'\"#\n]{1,200})=\s*")
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


class BracketForm(TextForm):
    """The protocol of requests in brackets.

    Args:
        tools: Those that names and types of values refer to.
    """

    name = "bracket"
    shape = "[App: api(#argument='value', #other='?')]"

    def __init__(self, tools: Sequence[Tool] = ()) -> None:
        self.tools = tuple(tools)
        self._names = _names(self.tools)
        self._named = {tool.name: tool for tool in tools}
        self._by_api: dict[str, list[Tool]] = {}
        for tool in tools:
            self._by_api.setdefault(_api_of(tool).casefold(), []).append(tool)

    def among(self, tools: Sequence[Tool]) -> Self:
        """Return the form in which calls name and fit these tools."""
        return type(self)(tools)

    def called(self, tool: Tool) -> str:
        """Return app and API of a tool, or its name where these do not tell which tool it is.

        An API's own name stands in `Tool.source["api"]`. It is used where the tool's name ends in
        it, so that the name of a scrambled tool stays scrambled.
        """
        return self._names.get(tool.name, _name_under(tool, tool.category))

    def is_own(self, raw: str) -> bool:
        """Tell whether a text begins with a bracket that opens a call with arguments."""
        return _OPEN.match(raw) is not None

    def put(self, name: str, given: str) -> str:
        """Return the bracket of a call."""
        return f"[{self._names.get(name, name)}({given})]"

    def given(self, arguments: dict[str, JSON]) -> str:
        """Return the arguments, each value in quotes."""
        return ", ".join(f"#{key}={_quoted(_text(value))}" for key, value in arguments.items())

    def calls_in(self, text: str, cut: bool) -> tuple[list[CallText], str]:
        """Return the calls of a text, and the words beside them; see `TextForm.calls_in`."""
        text = text.strip()
        calls: list[CallText] = []
        words: list[str] = []
        end = 0
        for bracket in _brackets(text, cut, lambda found: self._tool(found) is not None):
            words.append(text[end : bracket.start])
            calls += map(self._meant, bracket.calls)
            end = bracket.end
            if len(calls) >= MOST_CALLS:
                break
        if not calls:
            return [], text
        words.append(text[end:])
        said = (_FENCE.sub("", part).strip() for part in words)
        return calls, "\n".join(filter(says_something, said))

    def repairs_in(self, raw: str) -> tuple[Repair, ...]:
        """Return what was forgiven in a call as it was written, whatever tools there are."""
        begins = self.is_own(raw) or _BARE.match(raw) is not None
        found = next(_brackets(raw, False, lambda call: True), None) if begins else None
        return found.calls[0].repairs if found else ()

    def _meant(self, found: _WrittenCall) -> CallText:
        """Return the call of the tool that a written one means; under its own name if of none."""
        tool = self._tool(found)
        name, values = found.name if tool is None else tool.name, None
        if found.arguments is not None:
            schemas = {} if tool is None else tool.parameters.get("properties") or {}
            values = {key: _typed(text, schemas.get(key)) for key, text in found.arguments.items()}
        return CallText(name, values, found.written, found.repairs)

    def _tool(self, found: _WrittenCall) -> Tool | None:
        """Return the tool that a call means: of several, the one that its arguments fit best."""
        if not found.app and found.api in self._named:
            return self._named[found.api]
        app = found.app.casefold()
        fitting = [
            tool
            for tool in self._by_api.get(found.api.casefold(), ())
            if not app or app in (tool.category.casefold(), _service_of(tool).casefold())
        ]
        if not app and len({tool.category for tool in fitting}) > 1:
            return None
        return min(fitting, key=lambda tool: _misfits(tool, found.arguments or {}), default=None)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _text(value: JSON) -> str:
    if isinstance(value, str):
        return value
    return str(value) if value is None or isinstance(value, bool) else json_text(value)


_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,4298}")  # as many digits as Python reads
_NUMBER = re.compile(r"-?[0-9]{1,17}(?:\.[0-9]{1,24})?(?:[eE][+-]?[0-9]{1,3})?")
_BOOLEANS = {"true": True, "false": False}


def _misfits(tool: Tool, given: Mapping[str, str]) -> int:
    """Return how many arguments are not declared, or required and not given."""
    declared = tool.parameters.get("properties") or {}
    required = set(required_names(tool.parameters))
    return len(given.keys() - declared.keys()) + len(required - given.keys())


def _names(tools: Sequence[Tool]) -> dict[str, str]:
    """Return for each tool's name what it is called, so that no two are called the same.

    Services of one app may have an API of the same name. These are called by their service.
    """
    plain = {tool.name: _name_under(tool, tool.category) for tool in tools}
    often = Counter(name.casefold() for name in plain.values())
    several = [tool for tool in tools if often[plain[tool.name].casefold()] > 1]
    full = {tool.name: _name_under(tool, _service_of(tool)) for tool in several}
    often = Counter(name.casefold() for name in full.values())
    for name, called in full.items():
        plain[name] = called if often[called.casefold()] == 1 else name
    return plain


def _name_under(tool: Tool, app: str) -> str:
    """Return app and API of a tool; its name where one is missing, or they cannot be read again."""
    api = _api_of(tool)
    written = f"{app}: {api.lower()}"
    return written if api and app and _HEAD.fullmatch(f"{written}(") else tool.name


def _api_of(tool: Tool) -> str:
    api = tool.source.get("api")
    named = isinstance(api, str) and api and tool.name.casefold().endswith(api.casefold())
    return str(api) if named else ""


def _service_of(tool: Tool) -> str:
    service = tool.source.get("tool")
    return service if isinstance(service, str) else ""


def _typed(text: str, schema: JSON) -> JSON:
    """Return a value as its schema has it; the text where that is no such value."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    if kind == "boolean":
        return _BOOLEANS.get(text.lower(), text)
    if kind in ("integer", "number") and _WHOLE.fullmatch(text):
        return int(text)
    if kind == "number" and _NUMBER.fullmatch(text) and isfinite(float(text)):
        return float(text)
    if kind in ("array", "object"):
        member = parse_object(f'{{"value":{text}}}')
        value = member.get("value") if member else None
        return value if isinstance(value, list if kind == "array" else dict) else text
    return text


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
class _WrittenCall:
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
class _Bracket:
    """The calls between two brackets."""

    start: int
    end: int
    calls: tuple[_WrittenCall, ...]


def _brackets(text: str, cut: bool, is_tool: Callable[[_WrittenCall], bool]) -> Iterator[_Bracket]:
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
            found = _WrittenCall(app, api, {}, bare[0], bare.end(), ("no_input",))
            if not is_tool(found):
                continue
            bracket = _Bracket(start, bare.end(), (found,))
        end = bracket.end
        yield bracket


def _opened(given: _Text, start: int) -> _Bracket:
    """Return the calls of the bracket that opens here, of which the last may break off."""
    calls: list[_WrittenCall] = []
    at = start + 1
    while True:
        found = _call(given, at)
        end = given.past(found.end)
        if found.arguments is None:
            return _Bracket(start, found.end, (*calls, found))
        following = _COMMA.match(given.text, end)
        from seal.core.text_formats import MOST_CALLS

        if following and len(calls) < MOST_CALLS and _HEAD.match(given.text, following.end()):
            calls.append(found)
            at = following.end()
            continue
        if given.text[end : end + 1] == "]":
            return _Bracket(start, end + 1, (*calls, found))
        repairs = _once([*found.repairs, "closed"])
        open_ = replace(found, repairs=repairs, written=found.written.removesuffix("]"))
        return _Bracket(start, found.end, (*calls, open_))


def _call(given: _Text, at: int) -> _WrittenCall:
    """Return the call whose name begins here, after a bracket or comma."""
    head = _HEAD.match(given.text, at)
    if head is None:
        raise ValueError(f"no call at {at}: {given.text[at : at + 50]!r}")
    app, api = head["app"] or "", head["api"]
    read = _arguments(given, head.end())
    if read is None:
        end = given.limit(at)
        return _WrittenCall(app, api, None, f"[{given.text[at:end].strip()}", end)
    values, end, repairs = read
    written = f"[{given.text[at:end].strip()}]"
    return _WrittenCall(app, api, values, written, end, repairs)


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
