"""How a scenario's world begins: the base world with the scenario's changes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from seal.benchmarks.toolsandbox.scenarios.files import BaseWorld, Scenario
from seal.benchmarks.toolsandbox.scenarios.fitting import Types, check_begun, check_cells
from seal.core.errors import DataError, shortened
from seal.core.types import JSON, Tables

UTC = "UTC"
"""Zone of a clock that names none (`seal.environments.chat_world`)."""
_TIME = re.compile(r"@(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?)")


def clock_fields(scenario: Scenario, base: BaseWorld) -> dict[str, JSON]:
    """Return the clock of a scenario, for `metadata.clock`.

    Raises:
        DataError: The zone is unknown, or a time is none.
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
        DataError: A change names no table of the base world, or a row that cannot be changed, or a
            cell cannot be what it is; the text names the place.
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
