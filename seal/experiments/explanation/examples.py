"""Examples of a stage: what was asked, what gold has, what was called and answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from seal.core.conditions import Argument, Called
from seal.core.errors import shortened
from seal.core.types import Goal, Task, Tool, ToolCall, Trajectory
from seal.evaluation.attribution import Attribution, Stage
from seal.evaluation.goals import failed, goal_steps, made_calls

CALLS = 8
"""Most calls, of gold and of the agent, that an example lists."""
TEXT = 400
"""Most characters of a text of an example."""


class Examples:
    """Keeps examples of each stage, of as many causes as there are.

    Args:
        most: Of each stage.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[Stage, dict[str, list[dict[str, Any]]]] = {}

    def add(
        self, found: Attribution, task: Task, chat: Trajectory, tools: Mapping[str, Tool]
    ) -> None:
        """Take a failed goal in, where there is room for its cause."""
        kept = self._kept.setdefault(found.found.stage, {}).setdefault(found.found.cause, [])
        if len(kept) < self._most:
            kept.append(example(found, task, chat, tools))

    def of(self, stage: Stage, causes: Iterable[str]) -> list[dict[str, Any]]:
        """Return the examples of a stage, one of each cause in turn.

        Args:
            stage: The stage.
            causes: In the order in which they take their turns.
        """
        kept = [list(self._kept.get(stage, {}).get(cause, ())) for cause in causes]
        chosen = []
        while any(kept):
            chosen += [found.pop(0) for found in kept if found]
        return chosen[: self._most]


def example(
    found: Attribution, task: Task, chat: Trajectory, tools: Mapping[str, Tool]
) -> dict[str, Any]:
    """Return a failed goal for people: query, gold against the calls made, answer, reason."""
    goal = task.goals[found.goal]
    answers = chat.answers
    answer = answers[found.goal] if found.goal < len(answers) else None
    return {
        **row(found),
        "query": goal.text[:TEXT],
        "gold": gold_of(goal, tools),
        "calls": calls_of(chat, found.goal),
        "answer": None if answer is None else answer[:TEXT],
        "metric": found.metric,
        "verdict": found.label,
        "reason": found.reason,
    }


def row(found: Attribution) -> dict[str, Any]:
    """Return an attribution as plain JSON."""
    cause = found.found
    return {
        "task": found.task_id,
        "trial": found.trial,
        "goal": found.goal,
        "stage": cause.stage,
        "cause": cause.cause,
        "partly": cause.partly,
        "passed": cause.passed,
        "of": cause.of,
        "step": cause.step,
        "name": cause.name,
        "expected": cause.expected,
        "received": cause.received,
        "evidence": cause.said,
    }


def gold_of(goal: Goal, tools: Mapping[str, Tool]) -> list[str]:
    """Return what gold asks for, a line each: calls of the first plan, else relevant tools."""
    plan = next((plan for plan in goal.plans or () if plan.calls()), None)
    if plan is not None:
        return [_gold_call(called, tools) for called in islice(plan.calls(), CALLS)]
    if goal.relevant:
        joint = " or " if goal.any_relevant else ", "
        names = [tools[tool].name if tool in tools else tool for tool in goal.relevant]
        return [f"tools: {joint.join(names)}"[:TEXT]]
    if goal.plans is not None and not goal.plans:
        return []
    return [] if goal.plans is None else ["no tool"]


def _gold_call(called: Called, tools: Mapping[str, Tool]) -> str:
    name = tools[called.tool].name if called.tool in tools else called.tool
    if called.arguments is None:
        return f"{name}(any arguments)"
    given = ", ".join(f"{k}={_accepted(v)}" for k, v in called.arguments.items())
    return f"{name}({given})"[:TEXT]


def _accepted(argument: Argument) -> str:
    if argument.values is None:
        return "any"
    return " or ".join(shortened(value) for value in argument.values[:3])


def calls_of(chat: Trajectory, goal: int) -> list[str]:
    """Return the agent's calls for a goal, a line each, with what failed."""
    steps = goal_steps(chat, goal)
    results = {s.result.call_id: s.result for s in steps if s.result is not None}
    calls = made_calls(steps)
    lines = [_call(call) + _outcome(results.get(call.id)) for call in calls[:CALLS]]
    return [*lines, f"and {len(calls) - CALLS} more"] if len(calls) > CALLS else lines


def _call(call: ToolCall) -> str:
    if call.arguments is None:
        return f"{call.name}({call.raw})"[:TEXT]
    given = ", ".join(f"{name}={shortened(value)}" for name, value in call.arguments.items())
    return f"{call.name}({given})"[:TEXT]


def _outcome(result: Any) -> str:
    if result is None:
        return " -> no answer"
    if not failed(result):
        return ""
    return f" -> {result.error.get('kind')}: {str(result.error.get('message') or '')[:120]}"
