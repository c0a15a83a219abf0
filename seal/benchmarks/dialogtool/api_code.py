"""The function that an API is made of: its signature, its source, its calls in the sandbox.

It is written by rule, or by a search for the best filter.
"""

from __future__ import annotations

import inspect
import json
import keyword
import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from io import StringIO
from typing import Any, Literal, NamedTuple

from seal.core import JSON, Tool
from seal.core.values import digest, json_text
from seal.sandbox.function_cases import Case, Row, Sandbox, Status

# -- The function that an API is made of: its name, what a creator is told of it, and its calls.
#
# A tool that a model creates is one Python function over the table of its API:
#
#     def findrestaurants(table, cuisine, city, price_range=None):
#         ...
#         return rows
#
# Its name is the API's in lower case, with `_` for what a name cannot hold, those of arguments
# likewise: `from` is `from_`. The required arguments come first. An optional one that a call does
# not give keeps its default None and filters nothing. The text `dontcare` filters nothing either.

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
_OPENS = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,}+)[^`\n]*\n")
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
    defining = [
        block for block in blocks if re.search(r"^[^\S\n]*+(?:async\s+)?def\b", block, re.M)
    ]
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


# -- Functions of APIs written without a model: from the document alone, and by the oracle.
#
# Both filter the table by a few rules and are source text, which runs where a model's does. The
# rule-written creator reads the API's document. The oracle also knows every recorded call, and
# takes the rules that reproduce most of them. What it misses, no filter of this family finds, so a
# creator is measured relative to it.

How = Literal["same", "part"]
"""same: equal, whatever the case of letters. part: one text contains the other."""

_ROUNDS = 4
"""Times that every rule is reconsidered, at most."""
_COVERED = 0.5
"""Least share of an argument's recorded rows that a column of another name must agree with."""


class Rule(NamedTuple):
    """An argument chooses the rows whose column fits its value."""

    argument: str
    column: str
    how: How = "same"


class Filter(NamedTuple):
    """A function of the family: all rules together, then at most so many rows of the table."""

    rules: tuple[Rule, ...]
    most: int | None = None
    """None: all of them."""


class ApiCase(NamedTuple):
    """A recorded call: its arguments, and the places of its rows in the table."""

    arguments: Mapping[str, JSON]
    rows: Sequence[int]


class Fitted(NamedTuple):
    """The best filter of the family."""

    filter: Filter
    passed: int
    """Recorded calls whose rows it brings."""
    cases: int


def fold(value: Any) -> Any:  # noqa: D103
    return value.strip().casefold() if isinstance(value, str) else value


def fits(cell: Any, folded: Any, how: Any) -> Any:  # noqa: D103
    cell = fold(cell)
    if how == "same":
        return cell == folded
    return str(cell) in str(folded) or str(folded) in str(cell)


def rule_written(tool: Tool) -> str:
    """Return a function written from an API's document: every given argument is a filter.

    Arguments that are no column of its rows filter nothing.
    """
    columns = columns_of(tool)
    required, optional = arguments_of(tool)
    known = [name for name in (*required, *optional) if name in columns or not columns]
    return source_of(tool, Filter(tuple(Rule(name, name) for name in known)))


def oracle_written(tool: Tool, table: Sequence[Row], cases: Iterable[ApiCase]) -> str:
    """Return the function of the family that passes most recorded calls (`fit`)."""
    return source_of(tool, fit(tool, table, cases).filter)


def source_of(tool: Tool, chosen: Filter) -> str:
    """Return the source text of a filter as the function of a tool."""
    rules = "".join(
        f"        ({parameter(r.argument)}, {r.column!r}, {r.how!r}),\n" for r in chosen.rules
    )
    return (
        f"{_plain(fold)}\n\n{_plain(fits)}\n\n"
        f"{signature(tool)}\n"
        "    rows = table\n"
        f"    rules = [\n{rules}    ]\n"
        "    for value, column, how in rules:\n"
        "        if value is not None and value != 'dontcare':\n"
        "            value = fold(value)\n"
        "            rows = [r for r in rows if column not in r or fits(r[column], value, how)]\n"
        f"    return rows{'' if chosen.most is None else f'[:{chosen.most}]'}\n"
    )


def fit(tool: Tool, table: Sequence[Row], cases: Iterable[ApiCase]) -> Fitted:
    """Return the filter that passes most recorded calls, and how many.

    The search takes up one argument after the other: leave it out, or filter by the column of its
    name or one that its values agree with, equal or in part. Then it tries how many rows are
    returned. Of equally good ones the first found, so equal calls give an equal filter.

    Args:
        tool: Whose arguments may be used.
        table: Rows, each once.
        cases: Recorded calls.
    """
    search = _Search(table, list(cases))
    required, optional = arguments_of(tool)
    options = {name: search.options(name) for name in (*required, *optional)}
    chosen = Filter(tuple(found[0] for found in options.values() if found))
    passed = search.passed(chosen)
    choices = [(name, rule) for name, rules in options.items() for rule in (*rules, None)]
    for _ in range(_ROUNDS):
        before = passed
        for name, rule in choices:
            kept = [each for each in chosen.rules if each.argument != name]
            rules = sorted([*kept, rule] if rule else kept)
            chosen, passed = search.better(chosen, passed, Filter(tuple(rules), chosen.most))
        for most in (None, *search.sizes()):
            chosen, passed = search.better(chosen, passed, Filter(chosen.rules, most))
        if passed == before:
            break
    return Fitted(chosen, passed, len(search.cases))


class _Search:
    """Which rows each rule leaves, as sets of bits, so that a filter is tried in microseconds."""

    def __init__(self, table: Sequence[Row], cases: list[ApiCase]) -> None:
        self.table, self.cases = table, cases
        self._due = [_bits(case.rows) for case in cases]
        self._distinct = [len(set(case.rows)) == len(case.rows) for case in cases]
        self._all = (1 << len(table)) - 1
        self._left: dict[Rule, list[int]] = {}

    def sizes(self) -> list[int]:
        """Return the numbers of rows that recorded calls brought, the largest first."""
        return sorted({len(case.rows) for case in self.cases}, reverse=True)[:12]

    def options(self, argument: str) -> list[Rule]:
        """Return the rules that an argument may have: by the column of its own name first."""
        columns = list(dict.fromkeys(name for row in self.table for name in row))
        own = [name for name in columns if name == argument]
        others = sorted(
            (-share, name)
            for name in columns
            if name != argument and (share := self._agreement(argument, name)) >= _COVERED
        )
        kept = [*own, *(name for _, name in others[:3])]
        hows: tuple[How, ...] = ("same", "part")
        return [Rule(argument, column, how) for how in hows for column in kept]

    def _agreement(self, argument: str, column: str) -> float:
        """Return how many of the rows that an argument's calls brought have its value there."""
        told = met = 0
        for case in self.cases:
            value = case.arguments.get(argument)
            if value is not None and value != "dontcare":
                told += len(case.rows)
                met += sum(
                    column in row and fits(row[column], fold(value), "same")
                    for row in (self.table[place] for place in case.rows)
                )
        return met / told if told else 0.0

    def passed(self, chosen: Filter) -> int:
        """Return how many recorded calls a filter passes."""
        return sum(
            self._distinct[case] and self._result(chosen, case) == self._due[case]
            for case in range(len(self.cases))
        )

    def better(self, chosen: Filter, passed: int, other: Filter) -> tuple[Filter, int]:
        """Return the filter that passes more recorded calls, and how many; else the chosen one."""
        count = self.passed(other)
        return (other, count) if count > passed else (chosen, passed)

    def _result(self, chosen: Filter, case: int) -> int:
        left = self._all
        for rule in chosen.rules:
            left &= self._masks(rule)[case]
        return left if chosen.most is None else _lowest(left, chosen.most)

    def _masks(self, rule: Rule) -> list[int]:
        """Return the rows that a rule leaves of each case."""
        if rule not in self._left:
            known: dict[str, int] = {}
            self._left[rule] = [self._mask(rule, case.arguments, known) for case in self.cases]
        return self._left[rule]

    def _mask(self, rule: Rule, arguments: Mapping[str, JSON], known: dict[str, int]) -> int:
        value = arguments.get(rule.argument)
        if value is None or value == "dontcare":
            return self._all
        folded = fold(value)
        key = json.dumps([type(value).__name__, folded])
        if key not in known:
            known[key] = _bits(
                place
                for place, row in enumerate(self.table)
                if rule.column not in row or fits(row[rule.column], folded, rule.how)
            )
        return known[key]


def _bits(places: Iterable[int]) -> int:
    return sum({1 << place for place in places})


def _lowest(bits: int, count: int) -> int:
    """Return a set's first members."""
    if bits.bit_count() <= count:
        return bits
    kept = 0
    for _ in range(count):
        kept |= bits & -bits
        bits &= bits - 1
    return kept


@cache
def _plain(function: Any) -> str:
    """Return a function's source without annotations and remarks."""
    first, *body = inspect.getsource(function).splitlines()
    names = ", ".join(inspect.signature(function).parameters)
    assert first.startswith(f"def {function.__name__}(")
    return "\n".join([f"def {function.__name__}({names}):", *body])
