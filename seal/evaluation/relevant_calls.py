"""Calls against gold that names tools and no calls, as StableToolBench's and AnyTool's does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from seal.core.types import Goal, Score, Task, Tool, Trajectory
from seal.evaluation.goals import USER, Value, failed, score_goals, undefined

NAMES = ("relevant_called", "relevant_answered")


@dataclass(frozen=True, slots=True)
class RelevantCalls:
    """Shares of the relevant tools of a goal, in [0, 1].

    - relevant_called: those that were called at all, whatever the arguments.
    - relevant_answered: those of which a call brought a result that is no error.

    Where any one of them is enough (`Goal.any_relevant`), 1 for one of them. None where the goal
    has no relevant tool, or has plans: then `call_recall` says more.
    """

    def score(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> list[Score]:
        """Return one score for each goal and name."""

        def measure(position: int, goal: Goal) -> dict[str, Value]:
            if not goal.relevant or goal.plans is not None:
                none = undefined("the gold is no tools alone")
                return dict.fromkeys(NAMES, none)
            called, answered = set(), set()
            for step, answer in trajectory.calls(position):
                if step.call is not None and step.author != USER:
                    called.add(step.call.tool)
                    if answer is not None and not failed(answer.result):
                        answered.add(step.call.tool)
            return {"relevant_called": _share(goal, called), NAMES[1]: _share(goal, answered)}

        return score_goals(task, trajectory, NAMES, measure)


def _share(goal: Goal, tools: set[str | None]) -> Value:
    wanted = set(goal.relevant)
    found = len(wanted & tools)
    if goal.any_relevant:
        return Value(float(found > 0))
    return Value(found / len(wanted), float(len(wanted)))
