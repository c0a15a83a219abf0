"""What gold decides on a turn of a dialogue, and the function that an API deserves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seal.benchmarks.dialogtool.tool_life import ASK_REPLY, Lesson, write_act
from seal.core.formats.bracket import BracketForm
from seal.core.plain import json_text
from seal.core.protocols import Completion, Request
from seal.core.types import Goal, Step, Tool, ToolCall

_USERS = ("user_simulator", "user", "executor")


def gold_act(goal: Goal) -> Completion:
    """Return the action of the label `act`."""
    return Completion(write_act(str(goal.labels.get("act", "")), "as recorded"))


def gold_request(goal: Goal, tools: Sequence[Tool]) -> Completion:
    """Return the calls of the first plan, unknown values as `?`; `[]` where none is due."""
    calls = _calls(goal, {tool.id: tool.name for tool in tools})
    return Completion(calls=calls) if calls else Completion("[]")


def gold_app(goal: Goal, listed: str) -> Completion:
    """Return the app of the first gold call, of those that a prompt lists.

    Args:
        goal: What is played.
        listed: The prompt; an app stands in a line of its own, `- NAME: description`.
    """
    service = str(goal.labels.get("service", ""))
    apps = [line[2:].partition(":")[0] for line in listed.splitlines() if line.startswith("- ")]
    wanted = [name for name in apps if name and service.startswith(name)]
    due = goal.plans and goal.plans[0].calls()
    return Completion(f"[{max(wanted, key=len)}]" if wanted and due else "[]")


def gold_reply(goal: Goal) -> str:
    """Return what the assistant said in the end; empty where no reference says it."""
    said = [step.content for step in goal.reference if _speaks(step)]
    return said[-1] if said else ""


def gold_lesson(goal: Goal, request: Request) -> Completion:
    """Return what a teacher is asked for: the reply, or all that was decided before it."""
    if request.messages[-1].content == ASK_REPLY:
        return Completion(Lesson(reply=gold_reply(goal)).write())
    state: dict[str, Any] = goal.labels.get("state") or {}
    calls = goal.plans[0].calls() if goal.plans else []
    results = [step.content for step in goal.reference if step.result is not None]
    form = BracketForm()
    written = [form.write(ToolCall("", _api(c.tool), c.canonical_arguments())) for c in calls]
    lesson = Lesson(
        action=str(goal.labels.get("act", "")),
        request=" ".join(written),
        result=" ".join(results),
        state=json_text(state.get("slot_values") or {}),
    )
    return Completion(lesson.write())


def _api(tool_id: str) -> str:
    return tool_id.rpartition("/")[2]


def _calls(goal: Goal, offered: dict[str, str]) -> tuple[ToolCall, ...]:
    due = goal.plans[0].calls() if goal.plans else []
    return tuple(
        ToolCall("", offered.get(gold.tool, gold.tool), gold.canonical_arguments()) for gold in due
    )


def _speaks(step: Step) -> bool:
    spoken = step.result is None and step.call is None and bool(step.content.strip())
    return spoken and step.author not in _USERS
