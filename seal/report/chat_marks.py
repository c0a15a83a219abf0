"""What a goal asks for, in words, and what is known of a chat beside what was said."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from seal.core import Goal, Plan, Score, Tables, Task, Trajectory, ends_conversation
from seal.core.conditions import Argument, Called, Condition, OfTheStepAlone
from seal.core.records import to_plain
from seal.core.text import counted, one_line
from seal.evaluation.goals import EXECUTOR, USER, applies
from seal.evaluation.pattern_scores import PATTERNS, SERVICE_ANSWERS
from seal.evaluation.scoring import USER_ERRORS as AUDIT_METRICS
from seal.report.grids import grouped, listed

if TYPE_CHECKING:
    from seal.report.world_views import GoalOutcome, WorldChange


# -- What a goal asks for, in words that a person reads.

_LEFT_OUT = "left out"
"""Stands for an argument that is not given."""


def plan_lines(plan: Plan) -> list[str]:
    """Return one line for each milestone and minefield, numbered, with what it comes after."""
    lines = []
    for prefix, nodes in (("", plan.milestones), ("never ", plan.minefields)):
        for position, node in enumerate(nodes):
            after = f"  (after {', '.join(map(str, node.after))})" if node.after else ""
            lines.append(f"{prefix}{position}: {describe(node.condition)}{after}")
    return lines


def gold_lines(goal: Goal) -> list[str]:
    """Return the plans and answers of a goal; empty where it is not annotated."""
    lines = []
    plans = goal.plans or ()
    for number, plan in enumerate(plans, 1):
        if len(plans) > 1:
            lines.append(f"plan {number} of {len(plans)}")
        lines.extend(plan_lines(plan) or ["no tool needed"])
    if goal.answers:
        lines.append("states " + (" or " if goal.any_answer else ", ").join(goal.answers))
    return lines


def describe(condition: Condition) -> str:
    """Return a condition on one line: a call as `tool(city="Paris" | "Lyon", n=1 | left out)`."""
    if isinstance(condition, Called):
        if condition.arguments is None:
            return f"{condition.tool}(…)"
        given = ", ".join(f"{name}={_values(gold)}" for name, gold in condition.arguments.items())
        return f"{condition.tool}({given})"
    if isinstance(condition, OfTheStepAlone):
        return fields_line(condition)
    from seal.report.world_views import described

    return described(condition)


def fields_line(condition: Condition) -> str:
    """Return the kind of a condition and its fields on one line."""
    fields: dict[str, Any] = to_plain(condition)
    kind = fields.pop("kind", type(condition).__name__)
    told = ", ".join(f"{name}={json_text(value)}" for name, value in fields.items() if value)
    return f"{kind} {told}".rstrip()


def json_text(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON text, letters of every script as they are."""
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _values(gold: Argument) -> str:
    if gold.values == ():
        return _LEFT_OUT
    values = " | ".join(map(json_text, gold.listed)) or "any"
    return f"{values} | {_LEFT_OUT}" if gold.optional else values


# -- What is known of a chat beside what was said: milestones, world, clock, audit, error patterns.

_FLAGS = {
    "outside_brief": "the user said what its brief does not tell",
    "ended_early": "the user ended too early",
    "spoke_as_assistant": "the user spoke as the assistant",
    "said_nothing": "the user said nothing",
    "unknown_call": "the user called a tool that it does not have",
}
_PATTERNS = {
    "IAC": "a gold call is not made",
    "IAN": "no such argument",
    "IAT": "a value of a wrong type",
    "IAV": "a wrong or missing value",
    "IFE": "no call that can be read",
    "IFN": "no such tool",
    "RAC": "the same call again",
}
_FAULTS = 3
"""Most faults of one finding that a mark tells."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened at a step."""

    kind: str
    """reached, partly, hit, event, printed, thought, ended, flag, fault (of the agent) or service
    (a dead one)."""
    text: str


@dataclass(frozen=True, slots=True)
class Annotations:
    """What stands beside the steps of one chat, by `Step.index`."""

    goals: tuple[GoalOutcome, ...] = ()
    marks: Mapping[int, Sequence[Mark]] = field(default_factory=dict)
    changes: Mapping[int, WorldChange] = field(default_factory=dict)
    times: Mapping[int, str] = field(default_factory=dict)
    beginning: Tables = field(default_factory=dict)
    """The world before the chat; empty where there is none."""


def annotate(
    task: Task | None, trajectory: Trajectory, scores: Sequence[Score] = ()
) -> Annotations:
    """Return what is known of a chat.

    Args:
        task: What was played; None: only what the trajectory itself tells is known.
        trajectory: What was said and done.
        scores: Scores of this task and trial.
    """
    known = _of_world(task, trajectory, scores) if _has_world(task, trajectory) else Annotations()
    marks = chain(
        _reached(known.goals),
        _happened(trajectory),
        _printed(trajectory),
        _answered(trajectory),
        _flags(scores),
        _faults(scores),
    )
    return replace(known, marks=grouped(marks))


def _has_world(task: Task | None, trajectory: Trajectory) -> bool:
    """Tell whether a chat has milestones, tables or a clock."""
    if any(step.state for step in trajectory.steps):
        return True
    return task is not None and (
        bool(task.initial_state)
        or "clock" in task.metadata
        or any(applies(task, goal) for goal in task.goals)
    )


def _of_world(task: Task | None, trajectory: Trajectory, scores: Sequence[Score]) -> Annotations:
    """Return what became of the milestones, and the world and the time of each step."""
    from seal.report.world_views import beginning, goal_outcomes, times, world_changes

    state = task.initial_state if task is not None else None
    return Annotations(
        () if task is None else tuple(goal_outcomes(task, trajectory, scores)),
        changes=world_changes(trajectory, state),
        times={} if task is None else times(task, trajectory.steps),
        beginning=beginning(trajectory, state),
    )


def _reached(goals: Sequence[GoalOutcome]) -> Iterator[tuple[int, Mark]]:
    for outcome in goals:
        for node in outcome.nodes:
            if node.step is not None:
                share = f" in part, {node.similarity:.3f}" if node.became == "partly" else ""
                how = "hit" if node.became == "hit" else f"reached{share}"
                yield node.step, Mark(node.became, f"{node.kind} {node.node} {how}")


def _printed(trajectory: Trajectory) -> Iterator[tuple[int, Mark]]:
    for one in trajectory.provenance.get("printed", ()):
        yield one["step"], Mark("printed", f"{one['role']} printed:\n{one['text']}".rstrip())


def _answered(trajectory: Trajectory) -> Iterator[tuple[int, Mark]]:
    """Yield what a model thought before its answer, and where the answer was broken off."""
    for step in trajectory.steps:
        if step.reasoning:
            yield step.index, Mark("thought", f"{step.author} thought:\n{step.reasoning}")
        if step.finish_reason not in ("", "stop", "tool_calls"):
            yield step.index, Mark("fault", f"the answer was broken off: {step.finish_reason}")
        if step.left_out:
            told = f"the window was full: {counted(step.left_out, 'result')} left out of the prompt"
            yield step.index, Mark("event", told)


def _happened(trajectory: Trajectory) -> Iterator[tuple[int, Mark]]:
    """Yield where the world told of something by itself, and where the user ended the chat."""
    for step in trajectory.steps:
        if step.author == EXECUTOR and step.result is None and step.call is None:
            yield step.index, Mark("event", "the world tells of this by itself")
        if step.author == USER and ends_conversation(step):
            yield step.index, Mark("ended", "the user ends the conversation")


def _flags(scores: Sequence[Score]) -> Iterator[tuple[int, Mark]]:
    """Yield the errors of the user that the audit found."""
    for score in scores:
        flags = score.details.get("flags") if score.metric in AUDIT_METRICS else None
        for flag in flags if isinstance(flags, list) else ():
            if isinstance(flag, dict) and type(flag.get("step")) is int:
                name = str(flag.get("flag"))
                facts = flag.get("facts")
                named = ", ".join(map(str, facts)) if isinstance(facts, list) else ""
                told = _FLAGS.get(name, name)
                yield flag["step"], Mark("flag", f"{told}: {named}" if named else told)


def _faults(scores: Sequence[Score]) -> Iterator[tuple[int, Mark]]:
    """Yield the findings of error patterns, and the services that gave no answer, at their calls.

    A gold call that nobody made belongs to no step.
    """
    for score in scores:
        if score.metric not in (*PATTERNS, SERVICE_ANSWERS):
            continue
        found = score.details.get("findings")
        for finding in found if isinstance(found, list) else ():
            if isinstance(finding, dict) and type(finding.get("step")) is int:
                yield finding["step"], _fault_mark(score.metric, finding)


def _fault_mark(metric: str, finding: Mapping[str, Any]) -> Mark:
    if metric == SERVICE_ANSWERS:
        return Mark("service", f"the service gave no answer: {finding.get('service')}")
    pattern = str(finding.get("pattern"))
    meaning = _PATTERNS.get(pattern, pattern)
    if "cause" in finding:
        meaning = f"{meaning}, beside gold call {finding.get('gold')}"
    if type(finding.get("earlier")) is int:
        meaning = f"{meaning}, as in step {finding['earlier']}"
    faults = finding.get("faults")
    texts = [_fault_text(fault) for fault in faults or () if isinstance(fault, dict)]
    told = f": {listed(texts, _FAULTS, '; ')}" if texts else ""
    return Mark("fault", f"{pattern}, {meaning}{told}")


def _fault_text(fault: Mapping[str, Any]) -> str:
    """Return the argument or the tool, what was expected of it, and what was received."""
    told = [
        f"{word} {fault[word]}"
        for word in ("expected", "received")
        if fault.get(word) not in (None, "None")
    ]
    name = one_line(str(fault.get("name") or ""), 60)
    return " ".join(part for part in (name, ", ".join(told)) if part)
