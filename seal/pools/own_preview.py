"""What a benchmark of one's own holds, and what each metric can say of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from seal.core import Goal, Task
from seal.core.conditions import Called
from seal.core.plain import json_text


class Preview(NamedTuple):
    """What metrics can say."""

    metrics: str
    tasks: int
    """Of which they have a value."""
    why: str


def said_by(tasks: Sequence[Task]) -> list[Preview]:
    """Return what the metrics of every run can say of tasks of one goal each."""
    goals = [task.goals[0] for task in tasks]
    calls = [_calls(goal) for goal in goals]
    answers = sum(bool(goal.answers) for goal in goals)
    refused = sum(goal.labels.get("action") == "abstain" for goal in goals)
    alone = sum(bool(c) and not g.answers for g, c in zip(goals, calls, strict=True))
    decided = answers + alone + refused
    named = sum(map(bool, calls))
    valued = sum(any(call.arguments for call in called) for called in calls)
    without = sum(goal.plans is not None and not goal.plans[0].milestones for goal in goals)
    open_ = len(goals) - decided
    none = f", {refused} no tool" if refused else ""
    rest = f"; {open_} need a judge: --role-model judge=MODEL" if open_ else ""
    return [
        Preview(
            "pass_rate", decided, f"{answers} have an answer, {alone} gold calls alone{none}{rest}"
        ),
        Preview("call_f1, call_recall, call_precision", named, "tasks with gold calls"),
        Preview("param_acc_gold, param_acc_matched", valued, "gold calls with arguments"),
        Preview(
            "recall, mrr, ndcg of retrieval", named, "tools of gold calls, where one retrieves"
        ),
        Preview("abstention", without, "tasks for which no call is right"),
    ]


def gold_of(goal: Goal) -> str:
    """Return the gold calls of a goal in a line, those of its first plan."""
    calls = [_written(call) for call in _calls(goal)]
    if goal.plans is None:
        return "not known"
    return "; ".join(calls) or "no call"


def _calls(goal: Goal) -> list[Called]:
    return [call for plan in (goal.plans or ())[:1] for call in plan.calls()]


def _written(call: Called) -> str:
    if call.arguments is None:
        return call.tool.rpartition("/")[2]
    given = call.canonical_arguments().items()
    values = ", ".join(f"{name}={json_text(value)}" for name, value in given)
    return f"{call.tool.rpartition('/')[2]}({values})"
