"""Cells and arguments of a scenario: whether they can be, and the tables that it begins with.

What is written is checked by names and types. A scenario begins with the base world and its own
changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import NoneType
from typing import Any, get_args
from zoneinfo import ZoneInfo

from seal.benchmarks.toolsandbox.scenarios.files import BaseWorld, Scenario
from seal.core import JSON, DataError, Tables, Tool, ToolCall, shortened
from seal.core.conditions import Column
from seal.core.validation import CallValidator
from seal.environments.function_tools import fits
from seal.pools.reading.upstream_files import named

Types = Mapping[str, Any]
"""Column to its type, as `Worlds.columns` has it; without any, nothing is known of the table."""

_EXACT = Column()
_COMPARED: Mapping[str, type] = {"close": float, "contains": str, "rouge_l": str}
"""Measure to what it compares."""
_SPOKEN = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    NoneType: "null",
}


def check_begun(rows: Iterable[Mapping[str, JSON]], types: Types, place: str) -> None:
    """Make sure that a table can begin with these rows.

    Raises:
        DataError: A column is unknown, a cell is of another type, or a cell is left out that cannot
            be null, in this order. The text names the place, what was expected and the repair.
    """
    for number, row in enumerate(rows):
        check_cells(row, types, f"{place}.{number}")
        for name, kind in types.items():
            if name not in row and not is_of(None, kind):
                raise DataError(
                    f"{place}.{number}: the column {name!r} is left out; expected "
                    f"{spoken_type(kind)}"
                )


def check_cells(row: Mapping[str, JSON], types: Types, place: str) -> None:
    """Make sure that a table has the columns of a row, and that its cells are of their types.

    Raises:
        DataError: As of `check_begun`.
    """
    for name, value in row.items():
        kind = _type_of(name, types, place)
        if not is_of(value, kind):
            raise DataError(
                f"{place}.{name}: expected {spoken_type(kind)}, got {shortened(value)}; mend it"
            )


def check_wanted(
    row: Mapping[str, JSON], types: Types, columns: Mapping[str, Column], place: str
) -> None:
    """Make sure that a row of a table can be like a wanted one.

    Args:
        row: The wanted cells.
        types: Of the table.
        columns: How its columns are measured; others exactly.
        place: Of the row.

    Raises:
        DataError: A column is unknown, or no cell of its type can be like the wanted one.
    """
    for name, value in row.items():
        kind, measure = _type_of(name, types, place), columns.get(name, _EXACT).measure
        if measure == "exact" and not is_of(value, kind):
            raise DataError(
                f"{place}.{name}: expected {spoken_type(kind)}, got {shortened(value)}; no cell "
                "is ever so; write what it holds"
            )
        compared = _COMPARED.get(measure)
        if compared is None or value is None:
            continue
        if not is_of(value, compared):
            raise DataError(
                f"{place}.{name}: {measure} compares {spoken_type(compared)}, got "
                f"{shortened(value)}; mend it, or measure it exactly"
            )
        if not is_of(compared(), kind):
            raise DataError(
                f"{place}.{name}: {measure} compares {spoken_type(compared)}, and the column is "
                f"{spoken_type(kind)}; measure it exactly, or by any"
            )


def check_measured(columns: Iterable[str], types: Types, place: str) -> None:
    """Make sure that a table has the columns for which a measure is given.

    Raises:
        DataError: It has no such column.
    """
    for name in columns:
        _type_of(name, types, place)


class Arguments:
    """What tools take: names and values of arguments.

    Args:
        documents: The tools.
    """

    def __init__(self, documents: Iterable[Tool]) -> None:
        self._tools = {tool.id: tool for tool in documents}
        # What is asked of a call names some of its arguments; none of them is required.
        lenient = {
            name: replace(tool, parameters={**tool.parameters, "required": []})
            for name, tool in self._tools.items()
        }
        self._validator = CallValidator(lenient)

    def check(self, tool: str, arguments: Mapping[str, JSON], place: str) -> None:
        """Make sure that a tool takes some arguments; null stands for any value's absence.

        Args:
            tool: Its id; of one that is not known, nothing is checked.
            arguments: Those that are asked for.
            place: For the message.

        Raises:
            DataError: The tool has no such argument, or takes no such value; the text names it.
        """
        self.check_names([tool], arguments, place)
        if tool in self._tools:
            given = {name: value for name, value in arguments.items() if value is not None}
            name = self._tools[tool].name
            wrong = self._validator.check(ToolCall("", name, given, tool=tool))
            if wrong is not None:
                raise DataError(f"{place}.{name}.{wrong.name}: {wrong.message}")

    def check_names(self, tools: Sequence[str], arguments: Iterable[str], place: str) -> None:
        """Make sure that arguments of these names are of one of some tools.

        Args:
            tools: Their ids; where one is not known, or takes any argument, nothing is checked.
            arguments: Names.
            place: For the message.

        Raises:
            DataError: None of the tools has an argument of a name; the text lists those they have.
        """
        documents = [self._tools.get(tool) for tool in tools]
        taking = [tool for tool in documents if tool is not None and not _takes_any(tool)]
        if len(taking) < len(tools):
            return
        known = {n: n for tool in taking for n in tool.parameters.get("properties", {})}
        kind = f"argument of {' or '.join(tool.name for tool in taking)}"
        for name in arguments:
            named(known, name, kind, place)


def _takes_any(tool: Tool) -> bool:
    return bool(tool.parameters.get("additionalProperties"))


def is_of(value: JSON, kind: Any) -> bool:
    """Tell whether a JSON value is of a type; true and false are no numbers."""
    if isinstance(value, bool) and not {bool, Any} & set(_choices(kind)):
        return False
    return fits(value, kind)


def spoken_type(kind: Any) -> str:
    """Return a type in words, such as `a number or null`."""
    return " or ".join(_SPOKEN.get(choice, str(choice)) for choice in _choices(kind))


def _choices(kind: Any) -> Iterator[Any]:
    yield from get_args(kind) or (NoneType if kind is None else kind,)


def _type_of(name: str, types: Types, place: str) -> Any:
    return named(types, name, "column", place) if types else Any


UTC = "UTC"
"""Zone of a clock that names none (`seal.environments.chat_world`)."""
_TIME = re.compile(r"@(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?)")


def clock_fields(scenario: Scenario, base: BaseWorld) -> dict[str, JSON]:
    """Return the clock of a scenario, for `metadata.clock`.

    Raises:
        DataError: The zone is unknown, or a time is malformed.
    """
    given = {**base.clock, **scenario.clock}
    zone = given.get("zone", UTC)
    try:
        return dict(timed(given, ZoneInfo(str(zone)), "clock"))
    except (KeyError, OSError, ValueError) as error:
        raise DataError(f"clock: {error}; expected start, zone, first and step") from error


def timed(value: JSON, zone: ZoneInfo, place: str) -> Any:
    """Return a value with POSIX seconds for each text that names a local time (`@...`).

    Args:
        value: A JSON value.
        zone: Of the local times.
        place: Of the value, for the message.

    Raises:
        DataError: There is no such day or time.
    """
    if isinstance(value, Mapping):
        return {name: timed(item, zone, place) for name, item in value.items()}
    if isinstance(value, list):
        return [timed(item, zone, place) for item in value]
    named = _TIME.fullmatch(value) if isinstance(value, str) else None
    if named is None:
        return value
    try:
        return datetime.fromisoformat(named[1]).replace(tzinfo=zone).timestamp()
    except ValueError as error:
        raise DataError(
            f"{place}: {value!r}: {error}; expected a time such as @2025-11-20T07:15"
        ) from error


def tables_of(
    scenario: Scenario, base: BaseWorld, zone: ZoneInfo, columns: Mapping[str, Types]
) -> Tables:
    """Return the tables that a scenario begins with.

    Args:
        scenario: With its changes.
        base: How its world begins without them.
        zone: Of the local times.
        columns: Table of the kind of world to its columns and their types.

    Raises:
        DataError: A change names a table that the base world has not, or a row that cannot be
            changed. Or it gives a cell a value that it cannot have. The text names the place.
    """
    world = f"world {scenario.world!r} ({base.place}): tables"
    tables: Tables = timed(base.tables, zone, world)
    for name, rows in tables.items():
        check_begun(rows, columns.get(name, {}), f"{world}.{name}")
    for name, change in scenario.changes.items():
        if name not in tables:
            known = ", ".join(tables) or "none"
            raise DataError(f"with.{name}: the world {scenario.world!r} has no such table: {known}")
        place = f"with.{name}"
        changed = _changed(tables[name], timed(change, zone, place), columns.get(name, {}), place)
        check_begun(changed, columns.get(name, {}), place)
        tables = {**tables, name: changed}
    return tables


def _changed(
    rows: Sequence[Mapping[str, JSON]], change: Mapping[str, JSON], types: Types, place: str
) -> list[dict[str, JSON]]:
    at_once = any(not isinstance(c, Mapping) and c is not None for c in change.values())
    if len(rows) > 1 and types and at_once and change.keys() <= types.keys():
        raise DataError(
            f"{place}: the base world has {len(rows)} rows of it, and cells alone change a table "
            "of one row; keep one row only, or name a row by its first column: {ROW: {column: "
            "value}}"
        )
    if len(rows) == 1 and (change.keys() <= {*rows[0], *types} or (types and at_once)):
        check_cells(change, types, place)
        return [{**rows[0], **change}]
    if not rows:
        raise DataError(f"{place}: the table is empty in the base world, so no column names rows")
    named = next(iter(rows[0]), "")
    if not all(named in row for row in rows):
        raise DataError(f"{place}: not every row of the base world has {named!r}, which names it")
    found = {str(row[named]): dict(row) for row in rows}
    for name, cells in change.items():
        if cells is None and name in found:
            del found[name]
        elif isinstance(cells, Mapping):
            check_cells(cells, types, f"{place}.{name}")
            found[name] = {named: name, **found.get(name, {}), **cells}
        else:
            raise DataError(
                f"{place}.{name}: expected an object of cells, or null for a row that there is; "
                f"got {shortened(cells)}; rows: {', '.join(found)}"
            )
    return list(found.values())
