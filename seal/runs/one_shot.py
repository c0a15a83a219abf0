"""The example of `--one-shot`: how another task of the same environment was carried out."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from seal.core import Goal, Plan, Step, Task, Tool, ToolCall, levels
from seal.core.earlier_results import recorded_gold, waits
from seal.core.values import digest, json_text
from seal.models.presentation import Example, ExampleCalls

# -- How other tasks of the same environment were carried out, for `--one-shot`.
#
# A task's environment is its tag `environment`, else the category of the tools of its gold calls.
# The example is the first other task of the environment, in an order that follows from the run's
# seed. It neither asks the same, nor makes the same calls, nor was made of the same seed task. So
# all but a few tasks of an environment share one. What is shown is the reference, else the first
# plan with its recorded results.

_KEPT = 16
"""Candidates of an environment: more than a task has variants."""
_DONE = "Done."


@dataclass(frozen=True, slots=True)
class _Candidate:
    order: str
    task_id: str
    seed: str
    """Id of the task that it is a variant of, else its own."""
    example: Example


class Examples:
    """Finds the example of each task. Safe in threads.

    Args:
        tasks: All of the pool, read once.
        tools: By id.
        seed: The run's.
    """

    def __init__(self, tasks: Iterable[Task], tools: Mapping[str, Tool], seed: int = 0) -> None:
        self._tools = tools
        found: dict[str, list[_Candidate]] = {}
        for task in tasks:
            example = example_of(task, tools)
            if example is not None:
                order = digest([seed, task.id])
                kept = found.setdefault(environment_of(task, tools), [])
                kept.append(_Candidate(order, task.id, _seed_of(task), example))
                if len(kept) > 2 * _KEPT:
                    kept[:] = heapq.nsmallest(_KEPT, kept, key=lambda one: one.order)
        self._found = {
            name: heapq.nsmallest(_KEPT, kept, key=lambda one: one.order)
            for name, kept in found.items()
        }

    def of(self, task: Task) -> Example | None:
        """Return the example that a task is shown; None where its environment has no other."""
        own = example_of(task, self._tools)
        for candidate in self._found.get(environment_of(task, self._tools), ()):
            if candidate.task_id != task.id and candidate.seed != _seed_of(task):
                if _squeezed(candidate.example.request) in {
                    _squeezed(goal.text) for goal in task.goals
                }:
                    continue
                if own is None or _made(own) != _made(candidate.example):
                    return candidate.example
        return None


def environment_of(task: Task, tools: Mapping[str, Tool]) -> str:
    """Return the environment of a task; empty where nothing says it."""
    named = task.tags.get("environment")
    if isinstance(named, str):
        return named
    ids = (name for goal in task.goals for name in _tools_of(goal))
    return next((tools[name].category for name in ids if name in tools), "")


def _tools_of(goal: Goal) -> Iterator[str]:
    for plan in goal.plans or ():
        yield from (called.tool for called in plan.calls())
    yield from (step.call.tool for step in goal.reference if step.call and step.call.tool)
    yield from goal.relevant
    yield from goal.offered or ()


def example_of(task: Task, tools: Mapping[str, Tool]) -> Example | None:
    """Return how a task's first goal was carried out; None where its gold has no calls."""
    if not task.goals:
        return None
    goal = task.goals[0]
    exchanges = _of_reference(goal.reference, tools)
    if not exchanges and goal.plans:
        exchanges = _of_plan(goal.plans[0], tools)
    if not exchanges:
        return None
    answer = _last_words(goal.reference) or "; ".join(goal.answers)
    return Example(goal.text, exchanges, answer or _DONE)


def _of_reference(steps: tuple[Step, ...], tools: Mapping[str, Tool]) -> tuple[ExampleCalls, ...]:
    results = {step.result.call_id: step.content for step in steps if step.result is not None}
    made = [step for step in steps if step.call is not None]
    found = []
    for _, group in groupby(made, key=lambda step: step.turn):
        calls = [step.call for step in group if step.call is not None]
        named = tuple(
            ToolCall("", _name(call.tool or call.name, tools), call.arguments, call.raw)
            for call in calls
        )
        found.append(ExampleCalls(named, tuple(results.get(call.id, "") for call in calls)))
    return tuple(found)


def _of_plan(plan: Plan, tools: Mapping[str, Tool]) -> tuple[ExampleCalls, ...]:
    found = []
    known = recorded_gold(plan.milestones)
    if any(waits(gold) for gold, _ in known.values()):
        return ()  # a call takes a result that is not recorded
    for group in levels([milestone.after for milestone in plan.milestones]):
        calls, results = [], []
        for gold, result in (known[place] for place in group if place in known):
            calls.append(ToolCall("", _name(gold.tool, tools), gold.canonical_arguments()))
            results.append(_told(result))
        if calls:
            found.append(ExampleCalls(tuple(calls), tuple(results)))
    return tuple(found)


def _told(result: object) -> str:
    """Return a recorded result as simulated APIs tell it."""
    return "" if result is None else json_text({"error": "", "response": result})


def _name(tool: str, tools: Mapping[str, Tool]) -> str:
    return tools[tool].name if tool in tools else tool


def _last_words(steps: tuple[Step, ...]) -> str:
    others = ("user_simulator", "user", "executor")
    spoken = (s for s in reversed(steps) if s.call is None and s.result is None)
    return next((s.content for s in spoken if s.author not in others and s.content.strip()), "")


def _seed_of(task: Task) -> str:
    seed = task.metadata.get("seed")
    return seed if isinstance(seed, str) else task.id


def _squeezed(text: str) -> str:
    return " ".join(text.casefold().split())


def _made(example: Example) -> list[str]:
    calls = (call for exchange in example.exchanges for call in exchange.calls)
    return sorted(digest([call.name, call.arguments, call.raw]) for call in calls)
