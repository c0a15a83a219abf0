"""What a goal asks for, in words that a person reads."""

from __future__ import annotations

import json
from typing import Any

from seal.core import Goal, Plan
from seal.core.conditions import Argument, Called, Condition
from seal.core.conditions.condition import OfTheStepAlone
from seal.core.records import to_plain

_LEFT_OUT = "left out"
"""Stands for an argument that is not given."""


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
    """Return a condition on one line: a call as `tool(city="Paris" | "Lyon", n=1 | left out)`."""
    if isinstance(condition, Called):
        if condition.arguments is None:
            return f"{condition.tool}(…)"
        given = ", ".join(f"{name}={_values(gold)}" for name, gold in condition.arguments.items())
        return f"{condition.tool}({given})"
    if isinstance(condition, OfTheStepAlone):
        return fields_line(condition)
    from seal.report.gold_worlds import described

    return described(condition)


def fields_line(condition: Condition) -> str:
    """Return the kind of a condition and its fields on one line."""
    fields: dict[str, Any] = to_plain(condition)
    kind = fields.pop("kind", type(condition).__name__)
    told = ", ".join(f"{name}={json_text(value)}" for name, value in fields.items() if value)
    return f"{kind} {told}".rstrip()


def json_text(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON text, letters of every script as they are."""
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _values(gold: Argument) -> str:
    if gold.values == ():
        return _LEFT_OUT
    values = " | ".join(map(json_text, gold.listed)) or "any"
    return f"{values} | {_LEFT_OUT}" if gold.optional else values
