"""Tasks, chats and scores as data blocks of a page, which its script renders when they are opened.

A block is `<script type="application/json">`: the browser keeps it as text, never runs it, and
thousands of chats cost no elements.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from markupsafe import Markup

from seal.core.types import Goal, Score, Step, Task, ToolCall, ToolResult, Trajectory
from seal.report.gold import gold_lines, json_text
from seal.report.outcomes import reason_of
from seal.report.transcript import folded

CUT = 4_000
"""Characters of one text that a page holds; the run's files have the rest."""
CUT_DETAILS = 1_500

_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def data_block(kind: str, key: str, value: Any) -> Markup:
    """Return a data block.

    Args:
        kind: Suffix of the attribute by which the script finds it: `data-chat`.
        key: That attribute's value; digits and slashes.
        value: JSON; `<`, `>` and `&` are written as escapes, so that no text of it ends the block.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(_ESCAPES)
    opening = Markup('<script type="application/json" data-{}="{}">').format(kind, key)
    return opening + Markup(text) + Markup("</script>")


def task_data(task: Task) -> dict[str, Any]:
    """Return what a page shows of a task."""
    return {
        "goals": [_goal_data(goal) for goal in task.goals],
        "persona": _text(json_text(task.persona, indent=2)) if task.persona else None,
    }


def chat_data(trajectory: Trajectory) -> dict[str, Any]:
    """Return what a page shows of a chat: steps, offered tools, stops and answers."""
    return {
        "steps": [_step_data(step) for step in trajectory.steps],
        "offered": [[_text(id)[0] for id in ids] for ids in trajectory.offered],
        "stops": [[stop.reason, _text(stop.error or "")] for stop in trajectory.stops],
        "answers": [None if text is None else _text(text) for text in trajectory.answers],
    }


def score_data(scores: Iterable[Score]) -> list[list[Any]]:
    """Return [metric, goal, value, reason, details] for each score."""
    return [
        [
            _text(score.metric)[0],
            score.goal,
            score.value,
            _text(reason_of(score))[0],
            _text(json_text(score.details, indent=2), CUT_DETAILS) if score.details else None,
        ]
        for score in scores
    ]


def _goal_data(goal: Goal) -> dict[str, Any]:
    return {
        "text": _text(goal.text),
        "gold": [_text(line, CUT_DETAILS)[0] for line in gold_lines(goal)],
        "annotated": goal.plans is not None,
    }


def _step_data(step: Step) -> dict[str, Any]:
    data: dict[str, Any] = {
        "index": step.index,
        "author": _text(step.author)[0],
        "recipient": _text(step.recipient)[0],
        "turn": step.turn,
        "goal": step.goal,
    }
    if step.content and step.result is None:
        data["content"] = _text(step.content)
    if step.call is not None:
        data["call"] = _call_data(step.call)
    if step.result is not None:
        data["result"] = _result_data(step.result)
    if step.state is not None and step.index > 0:
        data["state"] = _text(json_text(step.state, indent=2), CUT_DETAILS)
    if step.usage is not None:
        data["tokens"] = [step.usage.tokens_in, step.usage.tokens_out, step.usage.estimated]
    return data


def _call_data(call: ToolCall) -> dict[str, Any]:
    parsed = call.arguments is not None
    return {
        "id": _text(call.id)[0],
        "name": _text(call.name)[0],
        "tool": _text(call.tool)[0] if call.tool else None,
        "parsed": parsed,
        "arguments": _text(json_text(call.arguments, indent=2) if parsed else call.raw),
    }


def _result_data(result: ToolResult) -> dict[str, Any]:
    error = result.error
    return {
        "id": _text(result.call_id)[0],
        "content": _text(result.content),
        "error": None if error is None else _text(str(error.get("kind", "error")))[0],
        "executed": result.executed is not None,
    }


def _text(text: str, limit: int = CUT) -> tuple[str, int]:
    return folded(text, limit)
