"""What a run of dialogues plays, what its ablations vary, and which of its turns people rate.

On policy a recorded dialogue is a conversation that is still to be had. A user that speaks from a
brief replaces the recorded one. The brief says what it wants of which app, with the values that it
told or chose in the dialogue. What counts is the state in the end: the bookings of the dialogue,
and no other. Where it booked nothing, its look-ups must have been made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from typing import Any, NamedTuple

from seal.benchmarks.dialogtool.dialogues import asked
from seal.benchmarks.dialogtool.roles import ToolWriter
from seal.benchmarks.dialogtool.tool_life import (
    ACTOR,
    CREATION,
    NAME,
    RESPONDER,
    TOOL_LIFE,
    asked_tasks,
    creates,
)
from seal.benchmarks.dialogtool.world import BOOKINGS, WORLD, Call, calls_of, is_transactional
from seal.core import (
    JSON,
    Goal,
    Message,
    Milestone,
    OptionError,
    Plan,
    Step,
    Task,
    Tool,
    ToolResult,
    Trajectory,
    UsageError,
)
from seal.core.conditions import Called, Condition
from seal.core.state_conditions import StateHas
from seal.core.values import json_text
from seal.experiments.ablation import Variation
from seal.pools.pool import StoredPool, View
from seal.runs.environments import worlds_of
from seal.runs.settings import RunSettings

_ON_POLICY: Mapping[str, Any] = {"team": "direct", "history": "own", "format": "native"}
"""How dialogues are played with a user that is still to be talked to: as a conversation."""
_BETWEEN = 9
"""Dialogues between two tasks of creation."""
_OPTIONS: Mapping[str, tuple[JSON, JSON]] = {
    "on_policy": (False, True),
    "tools": ("recorded", "created"),
}
"""Option of the benchmark to its values; the first is the default.

on_policy: whether a simulated user with a brief speaks instead of the recorded one. tools: what
answers calls in the mobile, the recorded corpus or functions that the role `creator` wrote.
"""


def completed(settings: RunSettings, play: Mapping[str, Any]) -> RunSettings:
    """Return settings under which dialogues are conversations on policy, and the team decides.

    On policy nobody knows what gold would decide, and only calls that are run need created tools.
    Options that have their default are left out.

    Args:
        settings: Of the run.
        play: What the pool says where the settings do not.

    Raises:
        OptionError: Gold decisions are asked for, or an option has a value that it cannot have.
    """
    options = dict(settings.world_options)
    for name, values in _OPTIONS.items():
        value = options.pop(name, values[0])
        if value not in values:
            expected = " or ".join(map(json_text, values))
            raise OptionError(f"-T {name}={value}: expected {expected}")
        if value != values[0]:
            options[name] = values[1]
    settings = replace(settings, world_options=options)
    if "on_policy" in options:
        gaps = {name: how for name, how in _ON_POLICY.items() if getattr(settings, name) is None}
        by = settings.origins.get("world_options", "default")
        origins = {**settings.origins, **dict.fromkeys(gaps, by)}
        settings = replace(settings, **gaps, origins=origins)
    if not options.keys() & _OPTIONS or (settings.team or play.get("team")) != NAME:
        return settings
    flag = "-T on_policy=true" if "on_policy" in options else "-T tools=created"
    if options.setdefault("decisions", "own") != "own":
        raise OptionError(
            f"{flag} with -T decisions={options['decisions']}: it takes the team's own decisions; "
            "leave one of both out"
        )
    history = "own" if "on_policy" in options else settings.history
    return replace(settings, world_options=options, history=history)


def view(settings: RunSettings, pool: StoredPool) -> View | None:
    """Return what chooses and changes the tasks that are played; None: all are, as they are.

    Raises:
        OptionError: Unknown tasks are asked for, or created tools of a pool without a mobile.
    """
    if "tools" in settings.world_options and not worlds_of(settings, pool.outlines()):
        raise OptionError(
            "-T tools=created: no task of this pool is played in a world, whose tools can be "
            "created; leave the option out"
        )
    asked = None
    if settings.play.team in (NAME, TOOL_LIFE):
        asked = asked_tasks(settings.world_options.get("tasks"))
    if "on_policy" in settings.world_options:
        tools = {tool.id: tool for tool in pool.tools()}
        return lambda read: (on_policy(task, tools) for task in read() if not creates(task))
    return None if asked is None else _Asked(CREATION in asked, asked != (CREATION,))


def creator(
    settings: RunSettings,
    tasks: Callable[[], Iterator[Task]],
    ask: Callable[[str, Task, Sequence[Message]], str],
) -> ToolWriter | None:
    """Return what writes the functions of tools; None: what was recorded answers."""
    return ToolWriter(tasks, ask) if "tools" in settings.world_options else None


@dataclass(slots=True)
class _Asked:
    """Dialogues and tasks of creation, as far as they are asked for.

    Where both are, every tenth task is one of creation while there are any, so that the first N
    tasks hold both.

    Args:
        creation: Whether tasks of creation are played.
        dialogues: Whether dialogues are.
    """

    creation: bool
    dialogues: bool
    _creating: list[Task] | None = None

    def __call__(self, read: Callable[[], Iterator[Task]]) -> Iterator[Task]:
        """Yield the tasks."""
        if not self.creation:
            return (task for task in read() if not creates(task))
        if self._creating is None:
            self._creating = [task for task in read() if creates(task)]
        return self._mixed(read) if self.dialogues else iter(self._creating)

    def _mixed(self, read: Callable[[], Iterator[Task]]) -> Iterator[Task]:
        creating = iter(self._creating or ())
        for number, task in enumerate((t for t in read() if not creates(t)), 1):
            yield task
            if not number % _BETWEEN:
                yield from islice(creating, 1)
        yield from creating


_SHOWN = ("name", "gender", "mbti", "language", "emotion", "interaction")
"""Parts of a character that people who rate it read."""
_TOLD = (
    *("creation", "awareness", "selection", "selection_recall", "execution"),
    *("goal_state", "goal_state_due", "bleu", "rouge_l", "role"),
)
"""Metrics that an ablation of a tool's life tells."""
TOOLS = Variation(
    "tools",
    "world_options",
    ("created", "recorded"),
    _TOLD,
    varied="mobile_tools",  # so that ablations go on that were begun when it was a setting
    option="tools",
    options=(("decisions", "own"),),
)
APPS = Variation("apps", "world_options", ("hierarchical", "flat"), _TOLD, option="apps")


def rated(task: Task, trajectory: Trajectory) -> Iterator[tuple[int, str, str]]:
    """Yield (goal, character, words) of each turn in which the actor or the responder spoke.

    The character is described where the actor played one; else it is empty.
    """
    played = trajectory.provenance.get("role")
    parts = [played.get(name) for name in _SHOWN] if isinstance(played, Mapping) else []
    character = "; ".join(str(part) for part in parts if part)
    said: dict[int, dict[str, str]] = {}
    for step in trajectory.steps:
        if step.author in (ACTOR, RESPONDER) and step.call is None and step.content.strip():
            said.setdefault(step.goal, {})[step.author] = step.content
    for goal, words in said.items():
        if goal < len(task.goals):
            acted = ACTOR in words
            yield goal, character if acted else "", words[ACTOR if acted else RESPONDER]


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
            "one; choose such tasks with --select, or leave -T on_policy out"
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

    It names neither slots nor the app, which may be called like a slot (a cinema): if a question
    names a slot, the user answers with its value.
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
