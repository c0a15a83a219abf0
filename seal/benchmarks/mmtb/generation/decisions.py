"""What the planner says, as JSON: whether the mission is done, and what is called next.

    {"Mission_Finish": "yes" | "no", "Thought": ..., "Plan": ...,
     "Action_List": [{"name": ..., "arguments": {...}, "tool_call_purpose": ...}]}

Source: "Multi-Mission Tool Bench" (2025); its planner speaks this form.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

from seal.benchmarks.mmtb.generation.scenes import Action, Decision
from seal.core.errors import DataError, shortened
from seal.core.plain import json_text
from seal.core.types import JSON
from seal.evaluation.missions.graph import ANSWER, ASK
from seal.pools.reading.records import field, json_of_text, refuse_deep

ASKED_TOOL = "tool_name"
"""Argument of a question: the tool that cannot be called yet."""
MISSING = "missing_required_parameters"
"""Argument of a question: what the tool still needs."""
ANSWER_TYPE = "answer_type"
"""Argument of the final answer: `tool` after calls, `chat` without any."""

_FENCE = re.compile(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", re.DOTALL | re.IGNORECASE)


def question(tool: str, missing: Sequence[str]) -> Action:
    """Return the action that asks the user for parameters of a tool."""
    return Action(ASK, {ASKED_TOOL: tool, MISSING: list(missing)})


def final_answer(kind: Literal["tool", "chat"]) -> Action:
    """Return the action that ends a mission."""
    return Action(ANSWER, {ANSWER_TYPE: kind})


def write_decision(decision: Decision) -> str:
    """Return a decision as JSON text."""
    return json_text(
        {
            "Mission_Finish": "yes" if decision.finished else "no",
            "Thought": decision.thought,
            "Plan": decision.plan,
            "Action_List": [
                {"name": a.name, "arguments": a.arguments, "tool_call_purpose": a.purpose}
                for a in decision.actions
            ],
        }
    )


def read_decision(text: str) -> Decision:
    """Return the decision that a JSON text holds; a code fence around it does not matter.

    Raises:
        DataError: It is no JSON, or a field is missing or malformed.
    """
    record = json_object(text)
    finished = field(record, "Mission_Finish", str).strip().lower()
    if finished not in ("yes", "no"):
        raise DataError(f"Mission_Finish: expected yes or no, got {shortened(finished)}")
    actions = field(record, "Action_List", list)
    return Decision(
        finished == "yes",
        field(record, "Thought", str),
        field(record, "Plan", str),
        tuple(_action(action, position) for position, action in enumerate(actions)),
    )


def json_object(text: str) -> dict[str, JSON]:
    """Return the JSON object that a model wrote; a code fence around it does not matter.

    Raises:
        DataError: It is none.
    """
    fenced = _FENCE.fullmatch(text)
    try:
        value = json_of_text(fenced[1] if fenced else text)
    except ValueError as error:
        raise DataError(f"expected one JSON object, got {shortened(text)}") from error
    if not isinstance(value, dict):
        raise DataError(f"expected one JSON object, got {shortened(value)}")
    refuse_deep(value)
    return value


def _action(record: Any, position: int) -> Action:
    try:
        purpose = record.get("tool_call_purpose") if isinstance(record, dict) else None
        return Action(
            field(record, "name", str),
            field(record, "arguments", dict),
            purpose if isinstance(purpose, str) else "",
        )
    except DataError as error:
        raise DataError(f"Action_List.{position}: {error}") from error
