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
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite

from seal.core.formats.forms import MOST_CALLS, Reading, says_something, settled, without_thinking
from seal.core.formats.objects import Repair, parse_object
from seal.core.plain import json_text, well_formed
from seal.core.types import JSON, Tool, ToolCall

_API = r"(?:(?P<app>[^\W_][\w &'./-]{0,79}?)\s{0,9}:\s{0,9})?(?P<api>[\w./-]{1,200})"
_HEAD = re.compile(rf"\s*{_API}\s{{0,9}}\(")
_OPEN = re.compile(rf"\[{_HEAD.pattern}")
_BARE = re.compile(rf"\[\s*{_API}\s*\]")
_BRACKET = re.compile(rf"\[(?=\s*{_API}(?:\s{{0,9}}\(|\s*\]))")
_ARGUMENT = re.compile(r"\s*(?P<mark>#?)(?P<name>[^=,()\[\]'\"#\n]{1,200})=\s*")
_PLAIN = re.compile(r"[^,()\[\]'\"\n]+")
_AFTER = re.compile(r"\s*(?:,\s*#?[^=,()\[\]'\"#\n]{1,200}=|,?\s*\)|\])")
_SPACE = re.compile(r"\s*")
_COMMA = re.compile(r"\s*,\s*")
_ESCAPE = re.compile(r"\\([\\'\"\u2018\u2019\u201c\u201d])")
_FENCE = re.compile(r"```[\w+-]*")
_QUOTES = {"'": "'", '"': '"', "\u2018": "\u2019", "\u2019": "\u2019", "\u201c": "\u201d"}
_UP_TO = {
    quote: re.compile(rf"[^\\{quote}]*+(?:\\.[^\\{quote}]*+)*+{quote}", re.DOTALL)
    for quote in _QUOTES.values()
}
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
_NUMBER = re.compile(r"-?[0-9]{1,17}(?:\.[0-9]{1,24})?(?:[eE][+-]?[0-9]{1,3})?")
_BOOLEANS = {"true": True, "false": False}


class BracketForm:
    """The protocol of requests in brackets.

    Args:
        tools: Those that names and types of values refer to.
    """

    name = "bracket"
    shape = "[App: api(#argument='value', #other='?')]"

    def __init__(self, tools: Sequence[Tool] = ()) -> None:
        self.tools = tuple(tools)
        self._names = _names(self.tools)

    def among(self, tools: Sequence[Tool]) -> BracketForm:
        """Return the form in which calls name and fit these tools."""
        return BracketForm(tools)

    def called(self, tool: Tool) -> str:
        """Return app and API of a tool, or its name where these do not tell which tool it is.

        An API's own name stands in `Tool.source["api"]`. It is used where the tool's name ends in
        it, so that the name of a scrambled tool stays scrambled.
        """
        return self._names.get(tool.name, _plain_name(tool))

    def write(self, call: ToolCall) -> str:
        """Return the bracket of a call; an unparsable one as it was written."""
        name = self._names.get(call.name, call.name)
        if call.arguments is None:
            return call.raw if _OPEN.match(call.raw) else f"[{name}({call.raw})]"
        given = (f"#{key}={_quoted(_text(value))}" for key, value in call.arguments.items())
        return f"[{name}({', '.join(given)})]"

    def observed(self, content: str, of: str = "") -> str:
        """Return a result after a word that says what it is."""
        return f"Result{f' of {of}' if of else ''}: {content}"

    def answered(self, text: str) -> str:
        """Return the words as they are."""
        return text

    def read(self, text: str, offered: Collection[str] = (), cut: bool = False) -> Reading:
        """Return the calls, or the words, of a reply; see `TextForm.read`."""
        text = without_thinking(well_formed(text)).strip()
        known = _Known(self.tools)
        calls: list[ToolCall] = []
        words: list[str] = []
        end = 0
        for bracket in _brackets(_Text(text, cut), known):
            words.append(text[end : bracket.start])
            calls += map(known.meant, bracket.calls)
            end = bracket.end
            if len(calls) >= MOST_CALLS:
                break
        if not calls:
            return Reading(text)
        words.append(text[end:])
        said = (_FENCE.sub("", part).strip() for part in words)
        return settled("\n".join(filter(says_something, said)), calls, offered)


def is_bracket(raw: str) -> bool:
    """Tell whether a text begins like a call in brackets."""
    return bool(_OPEN.match(raw) or _BARE.match(raw))


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
class _Found:
    """A call in a text."""

    app: str
    api: str
    arguments: dict[str, str] | None
    written: str
    end: int
    repairs: tuple[Repair, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.app}: {self.api}" if self.app else self.api


@dataclass(frozen=True, slots=True)
class _Bracket:
    """The calls between two brackets."""

    start: int
    end: int
    calls: tuple[_Found, ...]


def _brackets(given: _Text, known: _Known) -> Iterator[_Bracket]:
    """Yield the brackets of a text that hold calls."""
    end = 0
    for start in given.starts:
        if start < end:
            continue
        bare = _BARE.match(given.text, start)
        if bare is None:
            bracket = _opened(given, start)
        else:
            app, api = bare["app"] or "", bare["api"]
            found = _Found(app, api, {}, bare[0], bare.end(), ("no_input",))
            if known.tool(found) is None:
                continue
            bracket = _Bracket(start, bare.end(), (found,))
        end = bracket.end
        yield bracket


def _opened(given: _Text, start: int) -> _Bracket:
    """Return the calls of the bracket that opens here, of which the last may break off."""
    calls: list[_Found] = []
    at = start + 1
    while True:
        found = _call(given, at)
        end = given.past(found.end)
        if found.arguments is None:
            return _Bracket(start, found.end, (*calls, found))
        following = _COMMA.match(given.text, end)
        if following and len(calls) < MOST_CALLS and _HEAD.match(given.text, following.end()):
            calls.append(found)
            at = following.end()
            continue
        if given.text[end : end + 1] == "]":
            return _Bracket(start, end + 1, (*calls, found))
        repairs = _once([*found.repairs, "closed"])
        open_ = replace(found, repairs=repairs, written=found.written.removesuffix("]"))
        return _Bracket(start, found.end, (*calls, open_))


def _call(given: _Text, at: int) -> _Found:
    """Return the call whose name begins here, after a bracket or comma."""
    head = _HEAD.match(given.text, at)
    if head is None:
        raise ValueError(f"no call at {at}: {given.text[at : at + 50]!r}")
    app, api = head["app"] or "", head["api"]
    read = _arguments(given, head.end())
    if read is None:
        end = given.limit(at)
        return _Found(app, api, None, f"[{given.text[at:end].strip()}", end)
    written = f"[{given.text[at : read.end].strip()}]"
    return _Found(app, api, read.values, written, read.end, read.repairs)


@dataclass(frozen=True, slots=True)
class _Arguments:
    values: dict[str, str]
    end: int
    repairs: tuple[Repair, ...]


def _arguments(given: _Text, at: int) -> _Arguments | None:
    """Return the arguments from here to the bracket that closes them; None: they break off."""
    text = given.text
    values: dict[str, str] = {}
    repairs: list[Repair] = []
    while True:
        limit = given.limit(at)
        at = given.past(at)
        if text[at : at + 1] == ")":
            return _Arguments(values, at + 1, _once(repairs))
        if at >= limit or text[at] == "]":
            broken = given.cut and at >= len(text)
            return None if broken else _Arguments(values, at, _once([*repairs, "closed"]))
        argument = _ARGUMENT.match(text, at)
        value = _value(given, argument.end()) if argument else None
        if argument is None or value is None:
            return None
        name = argument["name"].strip()
        repairs += () if argument["mark"] else ("missing_mark",)
        repairs += ("repeated_argument",) if name in values else ()
        repairs += value.repairs
        values[name] = value.text
        at = given.past(value.end)
        if text[at : at + 1] == ",":
            at += 1
        elif at < given.limit(value.end) and text[at] not in ")]":
            return None


def _once(repairs: Sequence[Repair]) -> tuple[Repair, ...]:
    return tuple(dict.fromkeys(repairs))


@dataclass(frozen=True, slots=True)
class _Value:
    text: str
    end: int
    repairs: tuple[Repair, ...] = ()


def _value(given: _Text, at: int) -> _Value | None:
    """Return the value that begins here; None: its quotes never close, or it is none."""
    text, limit = given.text, given.limit(at)
    opening = text[at : at + 1]
    if opening not in _QUOTES:
        plain = _PLAIN.match(text, at, limit)
        value = plain[0].strip() if plain else ""
        return _Value(value, at + len(plain[0]), ("no_quotes",)) if plain and value else None
    closing = _QUOTES[opening]
    repairs: tuple[Repair, ...] = () if opening in "'\"" else ("typographic_quotes",)
    end = at + 1
    # Looking for the quote is fast, and a text may open 64 calls that never close theirs.
    while text.find(closing, end) >= 0 and (found := _UP_TO[closing].match(text, end)):
        end = found.end()
        if _AFTER.match(text, end) or given.past(end) == given.limit(end):
            value = _ESCAPE.sub(r"\1", text[at + 1 : end - 1])
            return _Value(value, end, repairs)
        # A quote with something else behind it belongs to the value, unless the value lost its
        # own and runs into the next bracket.
        if end > limit:
            return None
        repairs = _once([*repairs, "inner_quote"])
    return None


class _Known:
    """The tools that calls may mean."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = tools
        self._named = {tool.name: tool for tool in tools}
        self._by_api: dict[str, list[Tool]] = {}
        for tool in tools:
            self._by_api.setdefault(_api_of(tool).casefold(), []).append(tool)

    def meant(self, found: _Found) -> ToolCall:
        """Return the call of the tool that a written one means; under its own name if of none."""
        tool = self.tool(found)
        raw = found.written if found.arguments is None or found.repairs else ""
        name = found.name if tool is None else tool.name
        if found.arguments is None:
            return ToolCall("", name, None, raw)
        schemas = {} if tool is None else tool.parameters.get("properties") or {}
        values = {key: _typed(text, schemas.get(key)) for key, text in found.arguments.items()}
        return ToolCall("", name, values, raw)

    def tool(self, found: _Found) -> Tool | None:
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


def _misfits(tool: Tool, given: Mapping[str, str]) -> int:
    """Return how many arguments are not declared, or required and not given."""
    declared = tool.parameters.get("properties") or {}
    required = tool.parameters.get("required") or ()
    return len(given.keys() - declared.keys()) + len(set(required) - given.keys())


def _names(tools: Sequence[Tool]) -> dict[str, str]:
    """Return for each tool's name what it is called, so that no two are called the same."""
    plain = {tool.name: _plain_name(tool) for tool in tools}
    often = Counter(name.casefold() for name in plain.values())
    several = [tool for tool in tools if often[plain[tool.name].casefold()] > 1]
    full = {tool.name: _full_name(tool) for tool in several}
    often = Counter(name.casefold() for name in full.values())
    for name, called in full.items():
        plain[name] = called if often[called.casefold()] == 1 else name
    return plain


def _plain_name(tool: Tool) -> str:
    api = _api_of(tool)
    written = f"{tool.category}: {api.lower()}"
    return written if api and tool.category and _HEAD.fullmatch(f"{written}(") else tool.name


def _full_name(tool: Tool) -> str:
    """Return service and API of a tool: services of one app may have an API of the same name."""
    api, service = _api_of(tool), _service_of(tool)
    written = f"{service}: {api.lower()}"
    return written if api and service and _HEAD.fullmatch(f"{written}(") else tool.name


def _api_of(tool: Tool) -> str:
    api = tool.source.get("api")
    named = isinstance(api, str) and api and tool.name.casefold().endswith(api.casefold())
    return str(api) if named else ""


def _service_of(tool: Tool) -> str:
    service = tool.source.get("tool")
    return service if isinstance(service, str) else ""


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _text(value: JSON) -> str:
    if isinstance(value, str):
        return value
    return str(value) if value is None or isinstance(value, bool) else json_text(value)


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
