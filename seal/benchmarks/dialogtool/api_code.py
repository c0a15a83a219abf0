"""Functions of APIs that are written without a model: from the document alone, and by the oracle.

Both filter the table by a few rules and are source text, which runs where a model's does. The
rule-written creator reads the API's document. The oracle also knows every recorded call, and takes
the rules that reproduce most of them. What it misses, no filter of this family finds, so a creator
is measured relative to it.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

from seal.benchmarks.dialogtool.functions import arguments_of, columns_of, parameter, signature
from seal.core import JSON, Tool
from seal.sandbox.function_cases import Row

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
