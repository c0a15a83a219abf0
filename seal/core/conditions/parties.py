"""A step as a row of the table `message`: who says what to whom.

The roles of the agent (orchestrator, planner, execution manager, verifier, checker and others) are
one party there, for a user sees but one agent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seal.core.types import Step, ToolCall

MESSAGE = "message"
"""Name of the table that holds one step as its only row."""
AGENT = "agent"
USER = "user_simulator"
EXECUTOR = "executor"
SYSTEM = "system"
_OTHERS = frozenset({USER, EXECUTOR, SYSTEM})


def party(role: str) -> str:
    """Return the party that a role belongs to: itself, or the agent."""
    return role if role in _OTHERS else AGENT


def takes_turn(author: str, recipient: str) -> bool:
    """Tell whether a message begins a turn, with which the clock of a world moves on.

    Messages of the user do, and those of whoever answers to the user or calls the executor.
    """
    return author == USER or (author != EXECUTOR and recipient in (USER, EXECUTOR))


def calls_of(step: Step) -> list[dict[str, Any]] | None:
    """Return what really ran and brought no error: {tool, arguments, result}; None: nothing did."""
    result = step.result
    if result is None or result.error is not None or result.executed is None:
        return None
    executed = result.executed
    return [{"tool": executed.tool, "arguments": executed.arguments, "result": result.value}]


def _content(step: Step) -> str:
    if step.content or step.call is None:
        return step.content or (step.result.content if step.result else "")
    return _written(step.call)


def _written(call: ToolCall) -> str:
    """Return a call as text: the tool's own name, whatever the model was shown, and arguments."""
    name = call.tool.rpartition("/")[2].partition("~")[0] if call.tool else call.name
    if call.arguments is None:
        return f"{name}({call.raw})"
    given = (f"{key}={json.dumps(v, ensure_ascii=False)}" for key, v in call.arguments.items())
    return f"{name}({', '.join(given)})"


def _call_id(step: Step) -> str | None:
    if step.call is not None:
        return step.call.id
    return None if step.result is None else step.result.call_id


def _error(step: Step) -> str | None:
    error = None if step.result is None else step.result.error
    return None if error is None else str(error.get("message", error))


COLUMNS: Mapping[str, Callable[[Step], Any]] = {
    "author": lambda step: party(step.author),
    "recipient": lambda step: party(step.recipient),
    "content": _content,
    "calls": calls_of,
    "call_id": _call_id,
    "name": lambda step: None if step.call is None else step.call.name,
    "error": _error,
}
"""Column of the table `message` to how it is read off a step."""


def message_row(step: Step, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return those columns of a step as there are."""
    return {name: COLUMNS[name](step) for name in columns if name in COLUMNS}
