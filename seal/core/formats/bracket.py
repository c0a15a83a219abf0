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
from collections.abc import Collection, Sequence
from typing import Self

from seal.core.formats.bracket_text import brackets, opens_call
from seal.core.formats.bracket_tools import KnownTools, names, plain_name
from seal.core.formats.forms import (
    MOST_CALLS,
    PlainForm,
    Reading,
    says_something,
    settled,
    without_thinking,
)
from seal.core.plain import json_text, well_formed
from seal.core.types import JSON, Tool, ToolCall

_FENCE = re.compile(r"```[\w+-]*")


class BracketForm(PlainForm):
    """The protocol of requests in brackets.

    Args:
        tools: Those that names and types of values refer to.
    """

    name = "bracket"
    shape = "[App: api(#argument='value', #other='?')]"

    def __init__(self, tools: Sequence[Tool] = ()) -> None:
        self.tools = tuple(tools)
        self._names = names(self.tools)

    def among(self, tools: Sequence[Tool]) -> Self:
        """Return the form in which calls name and fit these tools."""
        return type(self)(tools)

    def called(self, tool: Tool) -> str:
        """Return app and API of a tool, or its name where these do not tell which tool it is.

        An API's own name stands in `Tool.source["api"]`. It is used where the tool's name ends in
        it, so that the name of a scrambled tool stays scrambled.
        """
        return self._names.get(tool.name, plain_name(tool))

    def write(self, call: ToolCall) -> str:
        """Return the bracket of a call; an unparsable one as it was written."""
        name = self._names.get(call.name, call.name)
        if call.arguments is None:
            return call.raw if opens_call(call.raw) else f"[{name}({call.raw})]"
        given = (f"#{key}={_quoted(_text(value))}" for key, value in call.arguments.items())
        return f"[{name}({', '.join(given)})]"

    def read(self, text: str, offered: Collection[str] = (), cut: bool = False) -> Reading:
        """Return the calls, or the words, of a reply; see `TextForm.read`."""
        text = without_thinking(well_formed(text)).strip()
        known = KnownTools(self.tools)
        calls: list[ToolCall] = []
        words: list[str] = []
        end = 0
        for bracket in brackets(text, cut, known.has):
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


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _text(value: JSON) -> str:
    if isinstance(value, str):
        return value
    return str(value) if value is None or isinstance(value, bool) else json_text(value)
