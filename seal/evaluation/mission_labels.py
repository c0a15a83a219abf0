"""What gold implies of a mission: its type, and how it leans on earlier ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from seal.core import JSON, Goal, Task
from seal.core.conditions import Asked, Called
from seal.core.statements import leaves, states
from seal.core.values import json_text
from seal.evaluation.goals import USER, no_missions
from seal.evaluation.mission_gold import TYPES

# -- What gold implies of a mission: its type, how its calls hang together, and on what it leans.
#
# A benchmark's own labels go first: `type` and `relation` of a goal. Without them, by rule:
#
# - `type`: `clarify` if gold asks the user, or if the label `missing` says that the request lacks
#   what a call requires. Else the number of gold calls decides (of relevant tools, if no call is
#   annotated): none is `chat`, one `single`, more are `multi`.
# - `relation` to earlier requests of the task: a gold argument has a value that the request does
#   not state, and an earlier request does, or what was found or called for it. `near`: the request
#   right before, or what came of it, has each such value; `far`: one is found farther back alone.
#   Truth values, texts of one letter and whole numbers up to 31 count for nothing: they recur by
#   chance.
#
# Gold does not tell by which words a request leans on others. So `near` and `far` are no kinds of
# Multi-Mission Tool Bench's (implicit, ellipsis, memory), which a benchmark's labels alone can
# give. Values that people say in other words (a day without its year, the name of a currency) are
# not found: `relation` misses some and invents few.
#
# Source: Yu et al., Multi-Mission Tool Bench (2025), section 3; the rules are ours.

Implied = Literal["near", "far"]

_COUNTS = 31
"""Whole numbers up to this one are counts, days and hours."""


def mission_type(goal: Goal) -> str | None:
    """Return the type of a mission (`TYPES`): its label, else as gold implies; None: no mission."""
    named = goal.labels.get("type")
    return str(named) if named in TYPES else implied_type(goal)


def implied_type(goal: Goal) -> str | None:
    """Return the type that gold implies, whatever the label is; None: gold tells of no calls."""
    if "missing" in goal.labels:
        return "clarify"
    if not goal.plans:
        count = len(goal.relevant[:1] if goal.any_relevant else goal.relevant)
        return ("single" if count == 1 else "multi") if count else None
    if no_missions(goal):
        return None
    plan = goal.plans[0]
    if any(isinstance(milestone.condition, Asked) for milestone in plan.milestones):
        return "clarify"
    return ("chat", "single")[len(plan.calls())] if len(plan.calls()) < 2 else "multi"


def relation(task: Task, number: int) -> str | None:
    """Return how a mission leans on earlier ones; None: on none, as far as gold tells.

    A task with a label `relation` has it wherever there is a relation.

    Args:
        task: Of several goals.
        number: Of the mission, from 0.
    """
    if any("relation" in goal.labels for goal in task.goals):
        named = task.goals[number].labels.get("relation")
        return str(named) if named else None
    return implied_relation(task, number)


def implied_relation(task: Task, number: int) -> Implied | None:
    """Return the relation that gold implies, whatever the labels are."""
    own = _said(task, number)
    earlier = [
        (*_said(task, place), *_found(task.goals[place])) for place in reversed(range(number))
    ]
    found: Implied | None = None
    for value in _values(task.goals[number]) if number else ():
        if _stated(own, value):
            continue
        back = next((n for n, texts in enumerate(earlier) if _stated(texts, value)), None)
        if back:
            return "far"
        found = "near" if back == 0 else found
    return found


def _said(task: Task, number: int) -> tuple[str, ...]:
    """Return what the user says in a mission."""
    replies = (task.persona or {}).get("replies") or ()
    answers = replies[number] if number < len(replies) else ()
    return (task.goals[number].text, *answers)


def _found(goal: Goal) -> Iterator[str]:
    """Yield what the agent says, calls and finds in a mission."""
    for step in goal.reference:
        if step.author != USER and step.content:
            yield step.content
    for call in _calls(goal):
        yield json_text(list(_first_values(call).values()))


def _values(goal: Goal) -> Iterator[Any]:
    """Yield the values of a mission's gold calls that do not recur by chance."""
    for call in _calls(goal):
        for _, value in leaves(_first_values(call)):
            number = isinstance(value, (int, float))
            count = number and float(value).is_integer() and abs(value) <= _COUNTS
            if not count and (number or len(str(value).strip()) > 1):
                yield value


def _calls(goal: Goal) -> list[Called]:
    return goal.plans[0].calls() if goal.plans else []


def _first_values(call: Called) -> dict[str, JSON]:
    given = (call.arguments or {}).items()
    return {name: argument.listed[0] for name, argument in given if argument.listed}


def _stated(texts: tuple[str, ...], value: Any) -> bool:
    return any(states(text, value) for text in texts)
