"""Answers that a benchmark recorded with its gold calls; they are used before simulated ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from seal.core import JSON, Response, Task, Tool
from seal.core.canonical import equal
from seal.core.conditions import Called

RecordedCall = tuple[Called, JSON]
"""A gold call and its result."""


def recorded_calls(task: Task) -> Iterator[RecordedCall]:
    """Yield the gold calls of a task whose arguments and results are recorded."""
    plans = (plan for goal in task.goals for plan in goal.plans or ())
    for milestone in (milestone for plan in plans for milestone in plan.milestones):
        condition, result = milestone.condition, milestone.result
        if result is None or not isinstance(condition, Called):
            continue
        if condition.arguments is not None:
            yield condition, result


class GoldAnswers:
    """The simulator that answers a gold call with its milestone's result, in every task alike.

    A call is found by its tool and by arguments that the gold accepts. An argument that equals its
    default counts as not given if the gold does not name it. If milestones disagree, that of the
    first task counts.

    Args:
        calls: Gold calls of all tasks, in the order of the tasks (`recorded_calls`).
    """

    identity = "gold/1"

    def __init__(self, calls: Iterable[RecordedCall]) -> None:
        self._answers: dict[str, list[RecordedCall]] = {}
        for call in calls:
            self._answers.setdefault(call[0].tool, []).append(call)

    def __len__(self) -> int:
        return sum(map(len, self._answers.values()))

    def respond(self, tool: Tool, arguments: dict[str, JSON]) -> Response:
        """Return the recorded result, or an error of the kind `not_recorded` that is not kept."""
        defaults = default_values(tool)
        for condition, result in self._answers.get(tool.id, ()):
            if condition.accepts(_given(arguments, condition, defaults)):
                return Response(result)
        error = f"No gold answer of {tool.name} to these arguments."
        return Response("", error, cacheable=False, kind="not_recorded")


def _given(
    arguments: Mapping[str, JSON], condition: Called, defaults: Mapping[str, JSON]
) -> dict[str, JSON]:
    gold = condition.arguments or {}
    return {
        name: value
        for name, value in arguments.items()
        if name in gold or not (name in defaults and equal(value, defaults[name]))
    }


def default_values(tool: Tool) -> dict[str, JSON]:
    """Return the values that arguments of a tool have where they are not given."""
    properties = tool.parameters.get("properties", {})
    return {
        name: p["default"]
        for name, p in properties.items()
        if isinstance(p, dict) and "default" in p
    }
