"""Whether a dialogue left the world as it should: what was booked, and nothing else.

- goal_state: 1 where the calls that changed something are those of the gold, as a multiset of tools
  and arguments (`call_keys`), whatever their order; else 0. One score a task, over the goals
  that were played. Its details count what was due, made, missing and beyond.
- goal_state_due: the same of the tasks in which something was to be booked: who books nothing at
  all is right in the others.

It applies to tasks of the world `mobile` whose calls were run. A recorded booking that brought
nothing changed nothing, and is not due. Where a recorded result cannot be read there is no value.

Source: ours; the authors of DialogTool (2025) name state checks as future work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from seal.benchmarks.dialogtool.call_keys import call_key
from seal.benchmarks.dialogtool.mobile.calls import WORLD, is_transactional, recorded_calls
from seal.benchmarks.dialogtool.tool_life import TEACHER
from seal.core.errors import DataError
from seal.core.types import Score, Task, Tool, Trajectory
from seal.evaluation.goals import Value, failure_reason, undefined

NAME = "goal_state"
DUE = "goal_state_due"
_NOT_RUN = "its calls were not run: play it with decisions of the model's own"

Booking = tuple[str, bytes]
"""Tool id and what equal calls have in common."""


class GoalState:
    """The metrics `goal_state` and `goal_state_due`."""

    def score(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> list[Score]:
        """Return one score of each; none where the task has another world."""
        if task.world != WORLD:
            return []
        value = self._value(task, trajectory, tools)
        due = value if value.details.get("due", 1) else undefined("nothing was to be booked")
        return [
            value.score(task.id, trajectory.trial, 0, NAME),
            due.score(task.id, trajectory.trial, 0, DUE),
        ]

    def _value(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> Value:
        failure = failure_reason(trajectory)
        if failure:
            return undefined(failure)
        results = [result for _, result in trajectory.calls()]
        taught = TEACHER in trajectory.provenance.get("seated", ())
        if taught or (results and not any(results)):
            return undefined(_NOT_RUN)
        try:
            due = Counter(_due(task, len(trajectory.stops), tools))
        except DataError as error:
            return undefined(str(error))
        made = Counter(_made(trajectory, tools))
        missing, beyond = (due - made).total(), (made - due).total()
        counts = {"due": due.total(), "made": made.total(), "missing": missing, "beyond": beyond}
        return Value(float(not missing and not beyond), details=counts)


def _due(task: Task, played: int, tools: Mapping[str, Tool]) -> Iterator[Booking]:
    """Yield the bookings of the references."""
    for goal in task.goals[:played]:
        for call, rows in recorded_calls(task, goal):
            if rows:
                yield from _booking(call.tool, call.arguments, tools)


def _made(trajectory: Trajectory, tools: Mapping[str, Tool]) -> Iterator[Booking]:
    for step in trajectory.steps:
        result = step.result
        if result is not None and result.executed and not result.error and result.value:
            yield from _booking(result.executed.tool, result.executed.arguments, tools)


def _booking(
    name: str | None, arguments: Mapping[str, object] | None, tools: Mapping[str, Tool]
) -> Iterator[Booking]:
    """Yield what a call booked; nothing where its tool changes nothing."""
    tool = tools.get(name or "")
    if tool is not None and is_transactional(tool):
        yield tool.id, call_key(tool, arguments or {})
