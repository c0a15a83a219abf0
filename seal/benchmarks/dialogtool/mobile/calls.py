"""The virtual mobile as a pool records it: its world's name, its bookings, what its calls brought.

A goal of a recorded dialogue holds the calls of its turn in its reference, each with a result whose
content is JSON text: a list of rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from seal.core.errors import DataError, shortened
from seal.core.types import JSON, Goal, Task, Tool, ToolCall

WORLD = "mobile"
"""Where recorded dialogues are played (`seal.benchmarks.dialogtool.mobile`)."""
BOOKINGS = "bookings"
"""Its table of the calls that changed something: {tool, asked, arguments, result}, in their
order; `asked` has the arguments and defaults as they are compared (`call_keys`)."""


def is_transactional(tool: Tool) -> bool:
    """Tell whether calls of a tool change something."""
    return tool.source.get("transactional") is True


def recorded_calls(
    task: Task, goal: Goal
) -> Iterator[tuple[ToolCall, list[dict[str, JSON]] | None]]:
    """Yield the calls of a goal's reference, each with the rows that it brought.

    None where no result of the call was recorded.

    Raises:
        DataError: A recorded result is no list of rows; names the task.
    """
    brought = {s.result.call_id: s.content for s in goal.reference if s.result is not None}
    for step in goal.reference:
        if step.call is not None:
            content = brought.get(step.call.id)
            yield step.call, None if content is None else _rows(task, step.call, content)


def _rows(task: Task, call: ToolCall, content: str) -> list[dict[str, JSON]]:
    try:
        rows = json.loads(content)
    except (ValueError, RecursionError):
        rows = None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise DataError(
            f"task {task.id}: the recorded result of {call.name} ({call.id}): expected a list of "
            f"rows as JSON, got {shortened(content)}; import the pool again"
        )
    return rows


__all__ = ["BOOKINGS", "WORLD", "is_transactional", "recorded_calls"]
