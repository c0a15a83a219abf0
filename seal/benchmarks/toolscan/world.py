"""The world of the sample's tasks, whose tools look something up: equal questions, equal answers.

`answers.json` holds tables, and how each tool asks one:

    {"tables": {name: [row]},
     "tools": {name: {"from": table,
                      "where": {argument: [column, comparison]},
                      "give": [column],
                      "one": true?,                  # a single row, or an error where there is none
                      "total": column?}}}            # the sum besides the rows

Comparisons are those of `COMPARISONS`; an argument that is not given compares nothing. Rows come
in the order of the table. Texts are compared without regard to case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seal.core import JSON, DataError, Response, Tool, located, shortened
from seal.core.environment import EnvironmentFactory
from seal.core.values import digest
from seal.environments.world import WorldSetup, check_options
from seal.pools.pool import load_pool
from seal.pools.reading.files import expect, field_of, json_file, named
from seal.simulator_cache.simulators import SimulatedEnvironments

NAME = "toolscan-sample"
FOLDER = Path(__file__).parent / "sample"
WORLD = "lookups"
"""Name of the world."""

Row = Mapping[str, JSON]
Comparison = Callable[[Any, Any], bool]
COMPARISONS: Mapping[str, Comparison] = {
    "is": lambda cell, given: bool(cell == given),
    "contains": lambda cell, given: given in cell,
    "at_least": lambda cell, given: bool(cell >= given),
    "at_most": lambda cell, given: bool(cell <= given),
    "before": lambda cell, given: bool(cell < given),
}
"""Name to (cell, argument) to whether the row counts; `contains` is of a list or a text."""


def lookups(setup: WorldSetup) -> EnvironmentFactory:
    """Return what opens the sample's environments; calls are checked by rule before.

    Raises:
        OptionError: An option is given; there is none.
    """
    check_options(NAME, setup, ())
    tools = {tool.id: tool for tool in load_pool(FOLDER).tools()}
    return SimulatedEnvironments(Lookup.read(FOLDER / "authored" / "answers.json"), tools)


def _folded(value: Any) -> Any:
    if isinstance(value, list):
        return [_folded(item) for item in value]
    return value.casefold() if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class Question:
    """How a tool asks a table."""

    rows: Sequence[Row]
    where: Mapping[str, tuple[str, Comparison]]
    give: Sequence[str]
    one: bool
    total: str

    def answer(self, arguments: Mapping[str, JSON]) -> Response:
        """Return the rows that the arguments ask for.

        Raises:
            DataError: Nothing is said of how an argument is compared, or it cannot be with a cell.
        """
        asked = [
            (*named(self.where, name, "argument"), _folded(value))
            for name, value in arguments.items()
        ]
        try:
            rows = [
                row
                for row in self.rows
                if all(counts(_folded(row[column]), value) for column, counts, value in asked)
            ]
            total = sum(row[self.total] for row in rows) if self.total else 0
        except TypeError as error:
            raise DataError(f"a cell of another type than its column's: {error}") from error
        found = [{column: row[column] for column in self.give} for row in rows]
        if not self.one:
            answer: dict[str, JSON] = {"count": len(found), "results": found}
            if self.total:
                answer[f"total_{self.total}"] = total
            return Response(answer)
        if not found:
            told = ", ".join(f"{name} {value!r}" for name, value in arguments.items())
            return Response("", f"Nothing is known under {told}.")
        return Response(found[0])


class Lookup:
    """The simulator that looks answers up; safe in threads.

    Args:
        content: Of answers.json.

    Raises:
        DataError: A tool asks for a table, column or comparison that does not exist.
    """

    def __init__(self, content: JSON) -> None:
        self.identity = f"lookup/1/{digest(content)[:16]}"
        """Name, and the digest of tables and questions."""
        tables = field_of(content, "tables", dict)
        self._questions: dict[str, Question] = {}
        for name, asked in field_of(content, "tools", dict).items():
            with located(f"tool {name!r}"):
                self._questions[name] = _question(asked, tables)

    @classmethod
    def read(cls, path: Path) -> Lookup:
        """Return the lookup of a file.

        Raises:
            DataError: It is no JSON, or a tool asks for what does not exist.
        """
        with located(path):
            return cls(json_file(path))

    def __contains__(self, name: object) -> bool:
        """Tell whether a tool of this name has answers."""
        return name in self._questions

    def respond(self, tool: Tool, arguments: dict[str, JSON]) -> Response:
        """Return the answer to a call, an error to a wrong one; kept nowhere: it is here."""
        try:
            return self._questions[tool.name].answer(arguments)
        except DataError as error:
            return Response("", str(error))


def _question(asked: Any, tables: Mapping[str, Any]) -> Question:
    table = field_of(asked, "from", str)
    rows = expect(named(tables, table, "table", "from"), list, table)
    where: dict[str, tuple[str, Comparison]] = {}
    for argument, told in field_of(asked, "where", dict).items():
        place = f"where.{argument}"
        if not isinstance(told, list) or len(told) != 2:
            raise DataError(f"{place}: expected a column and a comparison, got {shortened(told)}")
        column = expect(told[0], str, place)
        where[argument] = (column, named(COMPARISONS, told[1], "comparison", place))
    give = [expect(column, str, "give") for column in field_of(asked, "give", list)]
    total = expect(asked.get("total", ""), str, "total")
    needed = {*give, *(column for column, _ in where.values()), *filter(None, [total])}
    for number, row in enumerate(rows):
        lacking = needed - expect(row, dict, f"row {number} of {table}").keys()
        if lacking:
            raise DataError(f"row {number} of {table} lacks {', '.join(sorted(lacking))}")
    return Question(rows, where, give, bool(asked.get("one", False)), total)
