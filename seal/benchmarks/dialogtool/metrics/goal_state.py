"""Whether a dialogue left the world as it should: what was booked, and nothing else.

- goal_state: 1 if the calls that changed something are those of the gold, else 0. They are compared
  as a multiset of tools and arguments (`call_keys`), without their order. One score a task, over
  the goals that were played. Its details count what was due, made, missing and beyond.
- goal_state_due: the same of the tasks in which something was to be booked: who books nothing at
  all is right in the others.

It applies to tasks of the world `mobile` whose calls were run. A recorded booking that brought
nothing changed nothing, and is not due. Where a recorded result cannot be read there is no value.

Source: ours; the authors of DialogTool (2025) name state checks as future work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from seal.benchmarks.dialogtool.call_keys import call_key
from seal.benchmarks.dialogtool.mobile.recordings import WORLD, calls_of, is_transactional
from seal.benchmarks.dialogtool.tool_life import TEACHER
from seal.core import DataError, Task, Tool, Trajectory
from seal.evaluation.goals import GoalChat, GoalMetric, Value, undefined

NAME = "goal_state"
DUE = "goal_state_due"
_NOT_RUN = "its calls were not run: play it with decisions of the model's own"


class GoalState(GoalMetric):
    """The metrics `goal_state` and `goal_state_due`, of a task as a whole."""

    names = (NAME, DUE)

    def applies(self, goal: GoalChat) -> bool:
        """Tell whether this is the first goal of a task of the phone."""
        return goal.task.world == WORLD and not goal.position

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the values of the task."""
        value = self._value(goal.task, goal.trajectory, goal.tools)
        due = value if value.details.get("due", 1) else undefined("nothing was to be booked")
        return {NAME: value, DUE: due}

    def _value(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> Value:
        results = [result for _, result in trajectory.calls()]
        taught = TEACHER in trajectory.provenance.get("seated", ())
        if taught or (results and not any(results)):
            return undefined(_NOT_RUN)
        try:
            played = replace(task, goals=task.goals[: len(trajectory.stops)])
            due = Counter(
                (made.tool.id, call_key(made.tool, made.call.arguments or {}))
                for made in calls_of(played, tools)
                if made.booked
            )
        except DataError as error:
            return undefined(str(error))
        made = Counter(_made(trajectory, tools))
        missing, beyond = (due - made).total(), (made - due).total()
        counts = {"due": due.total(), "made": made.total(), "missing": missing, "beyond": beyond}
        return Value(float(not missing and not beyond), details=counts)


def _made(trajectory: Trajectory, tools: Mapping[str, Tool]) -> Iterator[tuple[str, bytes]]:
    """Yield tool id and `call_key` of each call that booked something."""
    for step in trajectory.steps:
        result = step.result
        if result is None or result.executed is None or result.error or not result.value:
            continue
        tool = tools.get(result.executed.tool)
        if tool is not None and is_transactional(tool):
            yield tool.id, call_key(tool, result.executed.arguments or {})
