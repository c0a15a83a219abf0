"""The chats of one task: their limits, what was said before, and the one trajectory of all."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from seal.agents.conversation import REPEATS, ChatLimits
from seal.agents.teams import MANAGER, USER
from seal.core import JSON, Goal, Plan, Step, Task, Tool, ToolCall, Trajectory, levels
from seal.core.conditions import SYSTEM
from seal.core.earlier_results import recorded_gold, waits
from seal.core.values import digest, json_text
from seal.models.presentation import Example, ExampleCalls
from seal.runs.settings import RunSettings

# -- The goals of a task in its chats: limits, what was said before, one trajectory of all.


def messages_of(task: Task, given: int | None) -> int | None:
    """Return the messages that each goal of a task may take; None: no limit.

    Args:
        task: May have a limit of its own, `metadata["max_messages"]`.
        given: The run's; None: it says nothing.
    """
    return _own(task, "max_messages") if given is None else given


def turns_of(task: Task, given: int | None, messages: int | None = None) -> int:
    """Return the model turns that each goal of a task may take.

    Args:
        task: May need more than the default: `metadata["max_turns"]`, its own messages, or one for
            each gold step and the report.
        given: The run's; None: it says nothing.
        messages: The run's limit of messages; None: the task's own counts.
    """
    if given is not None:
        return given
    spoken = messages_of(task, None) if messages is None else None
    gold = max((len(plan.milestones) for plan in _plans(task)), default=0)
    return max(ChatLimits().max_turns, _own(task, "max_turns") or 0, spoken or 0, gold + 1)


def limits_of(task: Task, settings: RunSettings) -> ChatLimits:
    """Return how far a chat may go: as the run says, else as its task does, and as far as its gold.

    Repeats do not end a recording: what it repeated is part of what is played. Nor do they end a
    task that has a limit of messages of its own.
    """
    messages = messages_of(task, settings.max_messages)
    recorded = isinstance(settings.model, str) and settings.model.startswith("recorded:")
    gold = [[repr(step.condition) for step in plan.milestones] for plan in _plans(task)]
    said = "max_calls" in settings.origins or settings.max_calls != ChatLimits().max_calls
    equal = max((count for steps in gold for count in Counter(steps).values()), default=0)
    return ChatLimits(
        turns_of(task, settings.max_turns, settings.max_messages),
        max([settings.max_calls, *(0 if said else len(steps) for steps in gold)]),
        settings.max_tokens,
        settings.max_seconds,
        None if recorded or messages != settings.max_messages else max(REPEATS, equal + 1),
        messages,
    )


def _plans(task: Task) -> Iterator[Plan]:
    return (plan for goal in task.goals for plan in goal.plans or ())


def _own(task: Task, name: str) -> int | None:
    own = task.metadata.get(name)
    return own if type(own) is int and own > 0 else None


BEFORE = -1
"""Goal of the steps of a task's own history: they belong to none that is played."""


def history_of(task: Task, goal: int, lead: str, caller: str = MANAGER) -> list[Step]:
    """Return the steps before a goal, numbered through.

    What the system says, such as a policy or the date, goes to the lead and to who makes the calls.
    Where `metadata["golden_history"]` is `texts`, earlier goals come without calls and results.

    Args:
        task: The task.
        goal: Position of the first goal that is played: those before it come as their references.
        lead: Role that hears the user. Where another role makes the calls, the lead hands requests
            on to it, and passes its reports on to the user, as in a chat.
        caller: Role that makes the calls; where it is the lead too, nothing is handed on.
    """
    steps: list[Step] = []
    before: list[Step] = []
    more = 0
    for step in task.before:
        heard = _spoken(step, lead, caller) if _is_systems(step) else [step]
        before += [replace(s, goal=BEFORE, turn=s.turn + more + n) for n, s in enumerate(heard)]
        more += len(heard) - 1
    append_renumbered(steps, before)
    in_words = task.metadata.get("golden_history") == "texts"
    for position, earlier in enumerate(task.goals[:goal]):
        text = task.said_first(position) or earlier.text
        said = _said_before(earlier, lead, caller, position)
        said += _golden(earlier, lead, caller, text)
        told = [step for step in said if not (in_words and (step.call or step.result))]
        append_renumbered(steps, [replace(step, goal=position) for step in told])
    everybody = (SYSTEM, USER, MANAGER)
    append_renumbered(steps, _said_before(task.goals[goal], lead, caller, goal, everybody))
    return steps


def _said_before(
    goal: Goal, lead: str, caller: str, position: int, authors: Sequence[str] = (USER, MANAGER)
) -> list[Step]:
    """Return what the label `before` says between two goals: [[author, text]...].

    What the system says, such as the date, holds for its own goal alone.
    """
    said: list[Step] = []
    for author, text in goal.labels.get("before", ()):
        if author in authors:
            spoken = _spoken(Step(0, author, lead, text, goal=position), lead, caller)
            said += [replace(one, turn=len(said) + n) for n, one in enumerate(spoken)]
    return said


def _is_systems(step: Step) -> bool:
    """Tell whether the system says something to the agent."""
    return step.author == SYSTEM and step.recipient != USER and step.call is None


def append_renumbered(steps: list[Step], played: Sequence[Step]) -> None:
    """Append steps whose indices, turns and call ids go on from those before them."""
    first_turn = steps[-1].turn + 1 if steps else 0
    offset = first_turn - (played[0].turn if played else 0)
    calls = sum(step.call is not None for step in steps)
    ids: dict[str, str] = {}
    for step in played:
        if step.call is not None:
            ids[step.call.id] = f"call_{calls + len(ids)}"
    for step in played:
        call = replace(step.call, id=ids[step.call.id]) if step.call else None
        result = step.result
        if result is not None:
            result = replace(result, call_id=ids.get(result.call_id, result.call_id))
        steps.append(
            replace(step, index=len(steps), turn=step.turn + offset, call=call, result=result)
        )


def _golden(goal: Goal, lead: str, caller: str, text: str) -> list[Step]:
    """Return a goal's request, in the user's words, and reference as the team would say them."""
    said: list[Step] = []
    turn, before = -1, None
    for step in _with_request(goal, lead, text):
        for spoken in _spoken(step, lead, caller):
            together = step.call is not None and step.turn == before
            turn += not together
            said.append(replace(spoken, turn=turn))
        before = step.turn if step.call is not None else None
    return said


def _with_request(goal: Goal, lead: str, text: str) -> Iterator[Step]:
    if not goal.reference or goal.reference[0].author != USER:
        yield Step(0, USER, lead, text, turn=-1)
    yield from goal.reference


def _spoken(step: Step, lead: str, caller: str) -> list[Step]:
    """Return a step as it is said in this team: texts but the system's pass through the lead."""
    if step.call is not None:
        return [replace(step, author=caller)]
    if step.result is not None:
        return [replace(step, recipient=caller)]
    if step.author == SYSTEM:
        route = [(SYSTEM, role) for role in dict.fromkeys((lead, caller))]
    elif step.author == USER:
        route = [(USER, lead), (lead, caller)]
    else:
        route = [(caller, lead), (lead, USER)]
    return [
        replace(step, author=author, recipient=recipient)
        for author, recipient in route
        if author != recipient
    ]


def merge_goals(task: Task, trial: int, parts: Sequence[Trajectory]) -> Trajectory:
    """Return what chats played as one trajectory.

    Indices, turns and call ids are numbered anew from 0, in the order of the chats.

    Args:
        task: The task.
        trial: Number of the repetition.
        parts: What was said in each chat, without the history before it.
    """
    steps: list[Step] = []
    printed: list[JSON] = []
    asked: dict[str, JSON] = {}
    for part in parts:
        asked |= part.provenance.get("own_models", {})
        for one in part.provenance.get("printed", ()):
            printed.append({**one, "step": one["step"] - part.steps[0].index + len(steps)})
        append_renumbered(steps, part.steps)
    return Trajectory(
        task.id,
        trial,
        tuple(steps),
        tuple(ranking for part in parts for ranking in part.rankings),
        tuple(offered for part in parts for offered in part.offered),
        tuple(stop for part in parts for stop in part.stops),
        tuple(answer for part in parts for answer in part.answers),
        {**({"printed": printed} if printed else {}), **({"own_models": asked} if asked else {})},
    )


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
