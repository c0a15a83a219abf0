"""What a goal asks for, in words that a person reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from seal.core.conditions import (
    FIRST,
    LAST,
    MESSAGE,
    AllOf,
    Argument,
    Called,
    Column,
    Condition,
    DependsOn,
    StateHas,
    StateUnchanged,
    parts,
)
from seal.core.records import to_plain
from seal.core.types import Goal, Plan


def plan_lines(plan: Plan) -> list[str]:
    """Return one line for each milestone and minefield, numbered, with what it comes after."""
    lines = []
    for prefix, nodes in (("", plan.milestones), ("never ", plan.minefields)):
        for position, node in enumerate(nodes):
            after = f"  (after {', '.join(map(str, node.after))})" if node.after else ""
            lines.append(f"{prefix}{position}: {describe(node.condition)}{after}")
    return lines


def gold_lines(goal: Goal) -> list[str]:
    """Return the plans and answers of a goal; empty where it is not annotated."""
    lines = []
    plans = goal.plans or ()
    for number, plan in enumerate(plans, 1):
        if len(plans) > 1:
            lines.append(f"plan {number} of {len(plans)}")
        lines.extend(plan_lines(plan) or ["no tool needed"])
    if goal.answers:
        lines.append("states " + (" or " if goal.any_answer else ", ").join(goal.answers))
    return lines


def describe(condition: Condition) -> str:
    """Return a condition on one line: `tool(city="Paris" | "Lyon")` of a call, or its fields."""
    if isinstance(condition, Called):
        if condition.arguments is None:
            return f"{condition.tool}(…)"
        given = ", ".join(f"{name}={_values(gold)}" for name, gold in condition.arguments.items())
        return f"{condition.tool}({given})"
    if isinstance(condition, AllOf):
        kept = kept_tables(condition)
        return "; ".join([*asked_lines(condition), *([f"keeps {kept}"] if kept else [])])
    if isinstance(condition, StateHas):
        return _state_line(condition)
    if isinstance(condition, StateUnchanged):
        return f"keeps {condition.table}{_since(condition.since)}"
    if isinstance(condition, DependsOn):
        return f"{_row_texts(condition)}, filled in by {condition.extractor} of {condition.since}"
    return _fields_line(condition)


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


def _fields_line(condition: Condition) -> str:
    fields: dict[str, Any] = to_plain(condition)
    kind = fields.pop("kind", type(condition).__name__)
    told = ", ".join(f"{name}={json_text(value)}" for name, value in fields.items() if value)
    return f"{kind} {told}".rstrip()


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


def json_text(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON text, letters of every script as they are."""
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _values(gold: Argument) -> str:
    if gold.values == ():
        return "[left out]"
    values = " | ".join(map(json_text, gold.listed)) or "any"
    return f"[{values}]" if gold.optional else values


_VERBS = {"snapshot": "is", "addition": "gains", "removal": "loses", "update": "changes to"}
_SIGNS = {"exact": "=", "close": "=", "contains": "contains", "rouge_l": "~"}
