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
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import isfinite
from typing import Self

from seal.core.formats.bracket_text import WrittenCall, brackets, can_be_read, opens_call
from seal.core.formats.forms import (
    MOST_CALLS,
    CallText,
    Reading,
    TextForm,
    parse_object,
    says_something,
    settled,
)
from seal.core.plain import json_text, well_formed
from seal.core.types import JSON, Tool, ToolCall

_FENCE = re.compile(r"```[\w+-]*")


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
        return self._names.get(tool.name, _plain_name(tool))

    def write(self, call: ToolCall) -> str:
        """Return the bracket of a call; an unparsable one as it was written."""
        name = self._names.get(call.name, call.name)
        if call.arguments is None:
            return call.raw if opens_call(call.raw) else f"[{name}({call.raw})]"
        given = (f"#{key}={_quoted(_text(value))}" for key, value in call.arguments.items())
        return f"[{name}({', '.join(given)})]"

    def read(self, text: str, offered: Collection[str] = (), cut: bool = False) -> Reading:
        """Return the calls, or the words, of a reply; see `TextForm.read`."""
        text = well_formed(text).strip()
        calls: list[ToolCall] = []
        words: list[str] = []
        end = 0
        for bracket in brackets(text, cut, lambda found: self._tool(found) is not None):
            words.append(text[end : bracket.start])
            calls += map(self._meant, bracket.calls)
            end = bracket.end
            if len(calls) >= MOST_CALLS:
                break
        if not calls:
            return Reading(text)
        words.append(text[end:])
        said = (_FENCE.sub("", part).strip() for part in words)
        return settled("\n".join(filter(says_something, said)), calls, offered)

    def _meant(self, found: WrittenCall) -> ToolCall:
        """Return the call of the tool that a written one means; under its own name if of none."""
        tool = self._tool(found)
        name, values = found.name if tool is None else tool.name, None
        if found.arguments is not None:
            schemas = {} if tool is None else tool.parameters.get("properties") or {}
            values = {key: _typed(text, schemas.get(key)) for key, text in found.arguments.items()}
        return CallText(name, values, found.written, found.repairs).call()

    def _tool(self, found: WrittenCall) -> Tool | None:
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


_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
_NUMBER = re.compile(r"-?[0-9]{1,17}(?:\.[0-9]{1,24})?(?:[eE][+-]?[0-9]{1,3})?")
_BOOLEANS = {"true": True, "false": False}


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
    """Return app and API of a tool; its name where it has none, or they cannot be read again."""
    api = _api_of(tool)
    written = f"{tool.category}: {api.lower()}"
    return written if api and tool.category and can_be_read(written) else tool.name


def _full_name(tool: Tool) -> str:
    """Return service and API of a tool: services of one app may have an API of the same name."""
    api, service = _api_of(tool), _service_of(tool)
    written = f"{service}: {api.lower()}"
    return written if api and service and can_be_read(written) else tool.name


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
