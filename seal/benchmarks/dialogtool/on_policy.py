"""A recorded dialogue as a conversation that is still to be had.

The recorded user is replaced by one that speaks from a brief: what it wants of which app, with the
values that it told or chose in the dialogue. What counts is the state in the end: the bookings of
the dialogue, and no other. Where it booked nothing, its look-ups must have been made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from seal.benchmarks.dialogtool.call_keys import asked
from seal.benchmarks.dialogtool.mobile.recordings import (
    BOOKINGS,
    WORLD,
    Call,
    calls_of,
    is_transactional,
)
from seal.core.conditions import Called, Condition, StateHas
from seal.core.errors import UsageError
from seal.core.plain import json_text
from seal.core.types import JSON, Goal, Milestone, Plan, Step, Task, Tool, ToolResult

_AGENT, _EXECUTOR, _USER = "execution_manager", "executor", "user_simulator"
_DONE = "All of that is done."


class _Wish(NamedTuple):
    """What the user wants of one API, as long as it wants it."""

    tool: Tool
    values: dict[str, JSON]
    opening: str
    """What the user says first about it."""

    def __str__(self) -> str:
        """Return it in words."""
        wanted = ", ".join(f"{_name(slot)}: {_value(value)}" for slot, value in self.values.items())
        told = f" ({wanted})" if wanted else ""
        return f"{self.tool.description.rstrip('.')} with the app {self.tool.category}{told}."


def on_policy(task: Task, tools: Mapping[str, Tool]) -> Task:
    """Return the dialogue as one goal, for a user that speaks from a brief.

    The goal's text is what the recorded user said first. The persona has `goal` (all wishes in
    words), `facts` (slot to value), `then` (how later wishes are told) and `boundary`. The plan
    asks of the table `bookings` to hold what the dialogue booked. The reference
    makes the recorded calls, and asks for leave before those that book. `metadata["max_turns"]` is
    the model turns that it should take at most: two for each recorded turn, one for each call.

    Args:
        task: As `seal import dialogtool` wrote it.
        tools: The pool, by id.

    Raises:
        UsageError: The task is no dialogue of the virtual mobile.
        DataError: A recorded result is no list of rows.
    """
    if task.world != WORLD:
        raise UsageError(
            f"task {task.id} is no recorded dialogue of the world {WORLD}: on-policy users need "
            "one; choose such tasks with --select, or leave --on-policy out"
        )
    calls = list(calls_of(task, tools))
    wishes = list(_wishes(task, calls, tools))
    persona: dict[str, JSON] = {
        "goal": " Then: ".join(map(str, wishes)) or task.goals[0].text,
        "boundary": "You know nothing but this. You accept what is booked with just these values, "
        "and decline anything else.",
        "facts": _facts(wishes),
        "then": [wish.opening for wish in wishes[1:]],
    }
    bookings = tuple(
        {"tool": made.tool.id, "asked": asked(made.tool, made.call.arguments or {})}
        for made in calls
        if made.booked
    )
    called = {made.tool.id: made.tool for made in calls}
    looked_up = [name for name, tool in called.items() if not is_transactional(tool)]
    due: Iterable[Condition] = map(Called, looked_up)
    if bookings:
        due = [StateHas(BOOKINGS, bookings)]
    said = [*_acts(calls), Step(0, _AGENT, _USER, _DONE)]
    goal = Goal(
        task.goals[0].text,
        plans=(Plan(tuple(map(Milestone, due))),),
        offered=task.goals[0].offered,
        relevant=tuple(called),
        reference=tuple(replace(step, index=n, turn=n) for n, step in enumerate(said)),
    )
    # The whole dialogue is one goal: for each recorded turn one to act and one to speak.
    turns = 2 * len(task.goals) + len(calls)
    metadata = {**task.metadata, "max_turns": turns}
    return replace(task, goals=(goal,), persona=persona, metadata=metadata)


def _acts(calls: Sequence[Call]) -> Iterator[Step]:
    """Yield the recorded calls, each with its result, and leave asked for before what books."""
    for number, made in enumerate(calls):
        call = replace(made.call, id=f"call_{number}")
        if is_transactional(made.tool):
            yield Step(0, _AGENT, _USER, _question(call.arguments or {}))
        yield Step(0, _AGENT, _EXECUTOR, call=call)
        text = json_text(made.rows or [])
        yield Step(0, _EXECUTOR, _AGENT, text, result=ToolResult(call.id, text))


def _question(arguments: Mapping[str, JSON]) -> str:
    """Return how leave is asked for.

    Without the names of slots and of the app, which may be called like one (a cinema): to a
    question that names a slot the user answers by its value.
    """
    told = ", ".join(
        f"{_name(slot)}: {_value(value)}" if isinstance(value, bool) else _value(value)
        for slot, value in arguments.items()
    )
    return f"I would do this: {told}. Shall I go ahead with that?"


def _wishes(task: Task, calls: Sequence[Call], tools: Mapping[str, Tool]) -> Iterator[_Wish]:
    """Yield what the user wants, one API after the other."""
    by_name = {(str(t.source.get("tool")), str(t.source.get("api"))): t for t in tools.values()}
    canonical = {
        (str(made.tool.source.get("tool")), name): value
        for made in calls
        for name, value in (made.call.arguments or {}).items()
    }
    for (service, intent), goals in groupby(task.goals, _intent):
        wanted = by_name.get((service, intent))
        if wanted is None:
            continue
        turns = list(goals)
        declared = wanted.parameters.get("properties", {})
        told: dict[str, list[str]] = turns[-1].labels.get("state", {}).get("slot_values", {})
        values = {
            name: canonical.get((service, name), variants[0])
            for name, variants in told.items()
            if name in declared and variants
        }
        yield _Wish(wanted, values, turns[0].text)


def _intent(goal: Goal) -> tuple[str, str]:
    state = goal.labels.get("state", {})
    return str(goal.labels.get("service", "")), str(state.get("active_intent", ""))


def _facts(wishes: list[_Wish]) -> dict[str, JSON]:
    """Return slot to value; a slot that means another thing in a later wish has its app's name."""
    facts: dict[str, JSON] = {}
    for wish in wishes:
        for slot, value in wish.values.items():
            name = _name(slot)
            if facts.get(name, value) != value:
                facts[f"{name} ({wish.tool.category})"] = {"value": value, "ask": [name]}
            else:
                facts[name] = value
    return facts


def _name(slot: str) -> str:
    return slot.replace("_", " ")


def _value(value: JSON) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
