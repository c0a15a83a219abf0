"""Small trajectories for tests of scores, built from what a test cares about."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from seal.core import (
    Goal,
    Metric,
    Milestone,
    Plan,
    Ranking,
    Score,
    Step,
    Stop,
    Task,
    ToolCall,
    ToolResult,
    Trajectory,
)
from seal.core.conditions import Argument, Called, Condition

MANAGER = "execution_manager"
CallSpec = tuple[str, dict[str, Any] | None]


def gold(tool: str, arguments: Mapping[str, Any] | None = None, **any_of: Any) -> Called:
    """A gold call; values given as `Argument` stay as they are, others are the one accepted."""
    if arguments is None:
        return Called(tool)
    return Called(
        tool,
        {n: v if isinstance(v, Argument) else Argument((v,)) for n, v in arguments.items()},
    )


def plan(*conditions: Condition) -> Plan:
    return Plan(tuple(Milestone(condition) for condition in conditions))


def goal(*plans: Plan, text: str = "do it", **fields: Any) -> Goal:
    return Goal(text, plans=plans, **fields)


def task(*goals: Goal, **fields: Any) -> Task:
    return Task("t", "bench", goals, **fields)


def exchange(
    calls: Sequence[CallSpec],
    results: Sequence[Any] | None = None,
    position: int = 0,
    first: int = 0,
) -> list[Step]:
    """One reply with calls and, where given, a result for each; an Exception is a failed call."""
    steps = [
        Step(
            i,
            MANAGER,
            "executor",
            call=ToolCall(f"call_{first + i}", tool, arguments, tool=tool or None),
            turn=first,
            goal=position,
        )
        for i, (tool, arguments) in enumerate(calls)
    ]
    for i, value in enumerate(results or ()):
        error = {"kind": "api", "message": str(value)} if isinstance(value, Exception) else None
        plain = None if error else value
        result = ToolResult(f"call_{first + i}", str(value), error, plain)
        steps.append(
            Step(0, "executor", MANAGER, str(value), result=result, turn=first, goal=position)
        )
    return [replace(step, index=i) for i, step in enumerate(steps)]


def trajectory(
    steps: Sequence[Step] = (),
    answer: str | None = "done",
    rankings: Sequence[Sequence[tuple[str, float]]] = (),
    stop: str = "done",
    **fields: Any,
) -> Trajectory:
    return Trajectory(
        "t",
        0,
        tuple(steps),
        rankings=tuple(Ranking("t", 0, "q", tuple(hits)) for hits in rankings),
        stops=(Stop(stop, "server down" if stop == "error" else None),),  # type: ignore[arg-type]
        answers=(answer,),
        **fields,
    )


def by_name(metric: Metric, what: Task, done: Trajectory) -> dict[str, Score]:
    """Scores of the first goal."""
    return {s.metric: s for s in metric.score(what, done, {}) if s.goal == 0}
