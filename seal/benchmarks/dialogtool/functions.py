"""The function that an API is made of: its name, what a creator is told of it, and its calls.

A tool that a model creates is one Python function over the table of its API:

    def findrestaurants(table, cuisine, city, price_range=None):
        ...
        return rows

Its name is the API's in lower case, with `_` for what a name cannot hold, those of arguments
likewise: `from` is `from_`. The required arguments come first. An optional one that a call does not
give keeps its default None and filters nothing. The text `dontcare` filters nothing either.
"""

from __future__ import annotations

import keyword
import re
import threading
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import NamedTuple

from seal.core import JSON, Tool
from seal.core.canonical import digest
from seal.core.plain import json_text
from seal.sandbox.function_cases import Case, Row, Sandbox, Status

CONVENTION = (
    "The first parameter, table, is a list of rows, each a dict from column to value. Arguments "
    "come by keyword; an optional one that is not given is None and filters nothing, and neither "
    "does the value 'dontcare' nor an argument that is no column of the table. The function "
    "returns the list of the rows that fit all other arguments, unchanged."
)
"""What a creator is told."""

TABLE = "table"
"""The first parameter."""
ROWS_SHOWN = 3
_OPENS = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})[^`\n]*\n")
_CLOSES = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})\s*")


class Code(NamedTuple):
    """A function's source as it stands in a model's text."""

    source: str
    fences: int
    """Fenced blocks in the text, an unclosed one included."""


def function_name(tool: Tool) -> str:
    """Return the name of a tool's function: the API's in lower case, as a name of Python."""
    return parameter(str(tool.source.get("api") or tool.name).lower())


def parameter(name: str) -> str:
    """Return the name that an argument has in Python: `from` is `from_`, `e-mail` is `e_mail`."""
    folded = unicodedata.normalize("NFKC", name)  # as Python itself reads names
    plain = "".join(letter if f"a{letter}".isidentifier() else "_" for letter in folded)
    plain = plain if plain.isidentifier() else f"_{plain}"
    return f"{plain}_" if keyword.iskeyword(plain) or plain == TABLE else plain


def keywords(arguments: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return a call's arguments as the function takes them."""
    return {parameter(name): value for name, value in arguments.items()}


def signature(tool: Tool) -> str:
    """Return the first line of a tool's function: required arguments, then optional ones."""
    required, optional = arguments_of(tool)
    named = [*map(parameter, required), *(f"{parameter(name)}=None" for name in optional)]
    parameters = [TABLE, *named]
    return f"def {function_name(tool)}({', '.join(parameters)}):"


def arguments_of(tool: Tool) -> tuple[list[str], list[str]]:
    """Return the names of a tool's required arguments, and of its optional ones."""
    required = [str(name) for name in tool.parameters.get("required", ())]
    names = [str(name) for name in tool.parameters.get("properties", {})]
    return required, [name for name in names if name not in required]


def columns_of(tool: Tool) -> list[str]:
    """Return the columns that a tool's document says its rows have; empty where it says none."""
    shape = tool.returns if isinstance(tool.returns, dict) else {}
    row = shape.get("items", {})
    properties = row.get("properties", {}) if isinstance(row, dict) else {}
    return [str(name) for name in properties] if isinstance(properties, dict) else []


def example_of(metadata: Mapping[str, JSON]) -> dict[str, JSON] | None:
    """Return the worked example of a creation task, `{"arguments": {...}, "rows": [...]}`.

    Args:
        metadata: The task's; None comes back where it names no example.
    """
    cases, table, number = (metadata.get(key) for key in ("cases", "table", "example"))
    if not isinstance(cases, list) or not isinstance(table, list):
        return None
    if not isinstance(number, int) or not 0 <= number < len(cases):
        return None
    arguments, places = cases[number][:2]
    return {"arguments": arguments, "rows": [table[place] for place in places]}


def example_text(tool: Tool, arguments: Mapping[str, JSON], rows: Sequence[Row]) -> str:
    """Return a worked example in words: a call as Python writes it, and the rows that it brings.

    Of many rows the first `ROWS_SHOWN` are shown.
    """
    given = "".join(f", {name}={value!r}" for name, value in keywords(arguments).items())
    shown = "\n".join(json_text(row) for row in rows[:ROWS_SHOWN]) or "(none)"
    left = len(rows) - ROWS_SHOWN
    more = f"\n({left} more)" if left > 0 else ""
    return f"{function_name(tool)}(table{given}) returns these rows:\n{shown}{more}"


def code_of(text: str) -> Code:
    """Return the source in a model's text, which is only cut out here, never run.

    The source is the fenced blocks that hold a `def`, joined, for a model may write a helper apart.
    If none holds one, it is the first block; without any block, the whole text. A block that is
    never closed ends with the text.
    """
    blocks = list(_fenced(text))
    if not blocks:
        return Code(text, 0)
    defining = [block for block in blocks if re.search(r"^\s*(?:async\s+)?def\b", block, re.M)]
    return Code("\n".join(defining or blocks[:1]), len(blocks))


def _fenced(text: str) -> Iterator[str]:
    """Yield what stands between fences, in one pass, for a text may open one in every line."""
    mark, lines = "", list[str]()
    for line in StringIO(text):
        if not mark:
            opened = _OPENS.fullmatch(line)
            mark = opened["mark"] if opened else ""
        elif (closed := _CLOSES.fullmatch(line)) and closed["mark"].startswith(mark):
            yield "".join(lines)
            mark, lines = "", []
        else:
            lines.append(line)
    if mark:
        yield "".join(lines)


class CodeFault(NamedTuple):
    """Why a created tool brings no rows."""

    status: Status
    message: str


@dataclass(frozen=True, slots=True)
class CreatedTools:
    """Calls functions that a model wrote. Safe in threads.

    A call runs in a session of its own, so that equal calls bring equal rows whatever came before;
    what was run once is kept. Time is on the wall, so a call may run out of time on a busy machine
    alone. Such a call runs once more before its outcome is kept.

    Args:
        sandbox: Where they run.
        source_of: A tool to the model's text that holds its function: asked once for each tool,
            when it is first called.
    """

    sandbox: Sandbox
    source_of: Callable[[Tool], str]
    _sources: dict[str, str] = field(default_factory=dict, init=False, repr=False)
    _answers: dict[str, list[Row] | CodeFault] = field(default_factory=dict, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def call(
        self, tool: Tool, arguments: Mapping[str, JSON], table: Sequence[Row]
    ) -> list[Row] | CodeFault:
        """Return the rows that a tool's function brings, or why it brings none.

        Args:
            tool: The API.
            arguments: Of the call.
            table: Rows of the API; the function gets a copy.

        Raises:
            UsageError: The sandbox cannot be used here.
        """
        key = digest([tool.id, dict(arguments), list(table)])
        with self._lock:
            known = self._answers.get(key)
        if known is None:
            known = self._run(tool, keywords(arguments), table)
            with self._lock:
                known = self._answers.setdefault(key, known)
        return known if isinstance(known, CodeFault) else [dict(row) for row in known]

    def _run(
        self, tool: Tool, arguments: dict[str, JSON], table: Sequence[Row]
    ) -> list[Row] | CodeFault:
        source, name = self._source(tool), function_name(tool)
        (outcome,) = self.sandbox.run(source, name, table, [Case(arguments)])
        if outcome.status == "timeout":
            (outcome,) = self.sandbox.run(source, name, table, [Case(arguments)])
        if outcome.status != "pass":
            return CodeFault(outcome.status, outcome.message)
        rows = outcome.received
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            return CodeFault("wrong", f"{name} returned {type(rows).__name__}, not a list of rows")
        return rows

    def _source(self, tool: Tool) -> str:
        with self._lock:
            if tool.id not in self._sources:
                self._sources[tool.id] = code_of(self.source_of(tool)).source
            return self._sources[tool.id]
