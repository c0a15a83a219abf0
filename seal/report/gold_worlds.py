"""What a milestone of a world asks for and guards, in words that a person reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seal.core.conditions import (
    FIRST,
    LAST,
    MESSAGE,
    AllOf,
    Column,
    Condition,
    DependsOn,
    StateHas,
    StateUnchanged,
    parts,
)
from seal.report.gold_words import describe, fields_line, json_text

_VERBS = {"snapshot": "is", "addition": "gains", "removal": "loses", "update": "changes to"}
_SIGNS = {"exact": "=", "close": "=", "contains": "contains", "rouge_l": "~"}


def described(condition: Condition) -> str:
    """Return a condition that looks at more than a message on one line."""
    if isinstance(condition, AllOf):
        kept = kept_tables(condition)
        return "; ".join([*asked_lines(condition), *([f"keeps {kept}"] if kept else [])])
    if isinstance(condition, StateHas):
        return _state_line(condition)
    if isinstance(condition, StateUnchanged):
        return f"keeps {condition.table}{_since(condition.since)}"
    if isinstance(condition, DependsOn):
        return f"{_row_texts(condition)}, filled in by {condition.extractor} of {condition.since}"
    return fields_line(condition)


def asked_lines(condition: Condition) -> list[str]:
    """Return what a milestone asks for, a line for each condition that is no guardrail."""
    return [describe(part) for part in parts(condition) if not isinstance(part, StateUnchanged)]


def kept_tables(condition: Condition) -> str:
    """Return the tables that a milestone guards, each with since when; empty: none."""
    guarded: dict[str, list[str]] = {}
    for part in parts(condition):
        if isinstance(part, StateUnchanged):
            guarded.setdefault(_since(part.since), []).append(part.table)
    return "; ".join(", ".join(tables) + since for since, tables in guarded.items())


def _state_line(condition: StateHas) -> str:
    if condition.table == MESSAGE:
        return _row_texts(condition)
    return f"{condition.table} {_VERBS[condition.measure]} {_row_texts(condition)}" + (
        "" if condition.since is None else _since(condition.since)
    )


def _since(since: int | None) -> str:
    if since is None:
        return " outside of all milestones"
    return {FIRST: " since the start", LAST: " to the end"}.get(since, f" since {since}")


def _row_texts(condition: StateHas | DependsOn) -> str:
    is_message = isinstance(condition, DependsOn) or condition.table == MESSAGE
    texts = [_row_text(row, condition.columns, is_message) for row in condition.rows]
    return ", ".join(texts) or "no row"


def _row_text(row: Mapping[str, Any], columns: Mapping[str, Column], is_message: bool) -> str:
    cells = dict(row)
    ends = ""
    if is_message and {"author", "recipient"} <= cells.keys():
        ends = f"{cells.pop('author')} -> {cells.pop('recipient')}"
    told = ", ".join(_cell_text(name, value, columns.get(name)) for name, value in cells.items())
    return f"{ends}: {told}" if ends else f"{{{told}}}"


def _cell_text(name: str, value: Any, column: Column | None) -> str:
    column = column or Column()
    if column.measure == "calls":
        candidates = value if isinstance(value, (list, tuple)) else [value]
        return " or ".join(dict.fromkeys(_call_text(call, column) for call in candidates))
    if column.measure == "any":
        return f"any {name}"
    within = f" ± {column.tolerance}" if column.measure == "close" else ""
    return f"{name} {_SIGNS[column.measure]} {json_text(value)}{within}"


def _call_text(call: Any, column: Column) -> str:
    if not isinstance(call, Mapping) or not isinstance(call.get("arguments"), Mapping):
        return json_text(call)
    given = ", ".join(
        f"{name}={json_text(value)}"
        + (f" ± {column.tolerances[name]}" if column.tolerances.get(name) else "")
        for name, value in call["arguments"].items()
    )
    return f"{call.get('tool')}({given})"
