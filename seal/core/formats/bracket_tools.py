"""The tools that calls in brackets mean, by app and API, and values as their schemas have them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from math import isfinite

from seal.core.formats.bracket_text import WrittenCall, can_be_read
from seal.core.formats.objects import parse_object
from seal.core.types import JSON, Tool, ToolCall

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
_NUMBER = re.compile(r"-?[0-9]{1,17}(?:\.[0-9]{1,24})?(?:[eE][+-]?[0-9]{1,3})?")
_BOOLEANS = {"true": True, "false": False}


class KnownTools:
    """The tools that calls may mean.

    Args:
        tools: Of one chat.
    """

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = tools
        self._named = {tool.name: tool for tool in tools}
        self._by_api: dict[str, list[Tool]] = {}
        for tool in tools:
            self._by_api.setdefault(_api_of(tool).casefold(), []).append(tool)

    def meant(self, found: WrittenCall) -> ToolCall:
        """Return the call of the tool that a written one means; under its own name if of none."""
        tool = self.tool(found)
        raw = found.written if found.arguments is None or found.repairs else ""
        name = found.name if tool is None else tool.name
        if found.arguments is None:
            return ToolCall("", name, None, raw)
        schemas = {} if tool is None else tool.parameters.get("properties") or {}
        values = {key: _typed(text, schemas.get(key)) for key, text in found.arguments.items()}
        return ToolCall("", name, values, raw)

    def has(self, found: WrittenCall) -> bool:
        """Tell whether a written call means a tool."""
        return self.tool(found) is not None

    def tool(self, found: WrittenCall) -> Tool | None:
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


def names(tools: Sequence[Tool]) -> dict[str, str]:
    """Return for each tool's name what it is called, so that no two are called the same."""
    plain = {tool.name: plain_name(tool) for tool in tools}
    often = Counter(name.casefold() for name in plain.values())
    several = [tool for tool in tools if often[plain[tool.name].casefold()] > 1]
    full = {tool.name: _full_name(tool) for tool in several}
    often = Counter(name.casefold() for name in full.values())
    for name, called in full.items():
        plain[name] = called if often[called.casefold()] == 1 else name
    return plain


def plain_name(tool: Tool) -> str:
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
