"""A recorded dialogue as a conversation that is still to be had.

The recorded user is replaced by one that speaks from a brief: what it wants of which app, with the
values that it told or chose in the dialogue. What counts is the state in the end: the bookings of
the dialogue, and no other. Where it booked nothing, its look-ups must have been made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from seal.benchmarks.dialogtool.call_keys import asked
from seal.benchmarks.dialogtool.mobile.calls import (
    BOOKINGS,
    WORLD,
    is_transactional,
    recorded_calls,
)
from seal.core.conditions import Called, StateHas
from seal.core.errors import UsageError
from seal.core.plain import json_text
from seal.core.types import JSON, Goal, Milestone, Plan, Step, Task, Tool, ToolCall, ToolResult

_AGENT, _EXECUTOR, _USER = "execution_manager", "executor", "user_simulator"
_DONE = "All of that is done."


_Made = tuple[ToolCall, Tool, list[dict[str, JSON]]]
"""A recorded call, its tool and the rows that it brought."""


class _Wish(NamedTuple):
    """What the user wants of one API, as long as it wants it."""

    tool: Tool
    values: dict[str, JSON]
    opening: str
    """What the user says first about it."""


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
    wishes = list(_wishes(task, tools))
    calls = list(_calls(task, tools))
    booked = [(call, tool) for call, tool, rows in calls if rows and is_transactional(tool)]
    persona: dict[str, JSON] = {
        "goal": " Then: ".join(map(_in_words, wishes)) or task.goals[0].text,
        "boundary": "You know nothing but this. You accept what is booked with just these values, "
        "and decline anything else.",
        "facts": _facts(wishes),
        "then": [wish.opening for wish in wishes[1:]],
    }
    bookings: list[JSON] = [
        {"tool": tool.id, "asked": asked(tool, call.arguments or {})} for call, tool in booked
    ]
    looked_up = dict.fromkeys(tool.id for _, tool, _ in calls if not is_transactional(tool))
    goal = Goal(
        task.goals[0].text,
        plans=(_plan(bookings, list(looked_up)),),
        offered=task.goals[0].offered,
        relevant=tuple(dict.fromkeys(tool.id for _, tool, _ in calls)),
        reference=tuple(_reference(calls)),
    )
    # The whole dialogue is one goal: for each recorded turn one to act and one to speak.
    turns = 2 * len(task.goals) + len(calls)
    metadata = {**task.metadata, "max_turns": turns}
    return replace(task, goals=(goal,), persona=persona, metadata=metadata)


def _plan(bookings: list[JSON], looked_up: list[str]) -> Plan:
    if bookings:
        return Plan((Milestone(StateHas(BOOKINGS, tuple(bookings))),))
    return Plan(tuple(Milestone(Called(tool)) for tool in looked_up))


def _reference(calls: Sequence[_Made]) -> Iterator[Step]:
    """Yield the recorded calls, each with its result, and leave asked for before what books."""
    said = [*_acts(calls), Step(0, _AGENT, _USER, _DONE)]
    yield from (replace(step, index=place, turn=place) for place, step in enumerate(said))


def _acts(calls: Sequence[_Made]) -> Iterator[Step]:
    for number, (call, tool, rows) in enumerate(calls):
        made = replace(call, id=f"call_{number}")
        if is_transactional(tool):
            yield Step(0, _AGENT, _USER, _question(call.arguments or {}))
        yield Step(0, _AGENT, _EXECUTOR, call=made)
        text = json_text(rows)
        yield Step(0, _EXECUTOR, _AGENT, text, result=ToolResult(made.id, text))


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


def _calls(task: Task, tools: Mapping[str, Tool]) -> Iterator[_Made]:
    """Yield the recorded calls with their tools and rows.

    Raises:
        DataError: A recorded result is no list of rows.
    """
    for goal in task.goals:
        for call, rows in recorded_calls(task, goal):
            tool = tools.get(call.tool or "")
            if tool is not None:
                yield call, tool, rows or []


def _wishes(task: Task, tools: Mapping[str, Tool]) -> Iterator[_Wish]:
    """Yield what the user wants, one API after the other."""
    by_name = {(str(t.source.get("tool")), str(t.source.get("api"))): t for t in tools.values()}
    canonical: dict[tuple[str, str], JSON] = {}
    for call, tool, _ in _calls(task, tools):
        for name, value in (call.arguments or {}).items():
            canonical[str(tool.source.get("tool")), name] = value
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


def _in_words(wish: _Wish) -> str:
    wanted = ", ".join(f"{_name(slot)}: {_value(value)}" for slot, value in wish.values.items())
    told = f" ({wanted})" if wanted else ""
    return f"{wish.tool.description.rstrip('.')} with the app {wish.tool.category}{told}."


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
