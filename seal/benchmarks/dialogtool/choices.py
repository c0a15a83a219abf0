"""What a run of dialogues plays, what its ablations vary, and which of its turns people rate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from seal.benchmarks.dialogtool.on_policy import on_policy
from seal.benchmarks.dialogtool.roles.team import NAME, TOOL_LIFE, asked_tasks
from seal.benchmarks.dialogtool.tool_life import ACTOR, CREATION, RESPONDER, creates
from seal.core.errors import OptionError
from seal.core.types import Task, Trajectory
from seal.experiments.ablation.conditions import Variation
from seal.pools.pool import StoredPool, View
from seal.runs.settings import RunSettings

_ON_POLICY: Mapping[str, Any] = {"team": "direct", "history": "own", "format": "native"}
"""How dialogues are played with a user that is still to be talked to: as a conversation."""
_BETWEEN = 9
"""Dialogues between two tasks of creation."""


def completed(settings: RunSettings, play: Mapping[str, Any]) -> RunSettings:
    """Return settings under which dialogues are conversations on policy, and the team decides.

    On policy nobody knows what gold would decide, and only calls that are run need created tools.

    Args:
        settings: Of the run.
        play: What the pool says where the settings do not.

    Raises:
        OptionError: Gold decisions are asked for.
    """
    if settings.on_policy:
        gaps = {name: how for name, how in _ON_POLICY.items() if getattr(settings, name) is None}
        by = settings.origins.get("on_policy", "default")
        origins = {**settings.origins, **dict.fromkeys(gaps, by)}
        settings = replace(settings, **gaps, origins=origins)
    recorded = not settings.on_policy and settings.mobile_tools == "recorded"
    if recorded or (settings.team or play.get("team")) != NAME:
        return settings
    flag = "--on-policy" if settings.on_policy else "--tools created"
    options = dict(settings.world_options)
    if options.setdefault("decisions", "own") != "own":
        raise OptionError(
            f"{flag} with -T decisions={options['decisions']}: it takes the team's own decisions; "
            "leave one of both out"
        )
    history = "own" if settings.on_policy else settings.history
    return replace(settings, world_options=options, history=history)


def view(settings: RunSettings, pool: StoredPool) -> View | None:
    """Return what chooses and changes the tasks that are played; None: all are, as they are.

    Raises:
        OptionError: Tasks are asked for that there are not.
    """
    asked = None
    if settings.play.team in (NAME, TOOL_LIFE):
        asked = asked_tasks(settings.world_options.get("tasks"))
    if settings.on_policy:
        tools = {tool.id: tool for tool in pool.tools()}
        return lambda read: (on_policy(task, tools) for task in read() if not creates(task))
    return None if asked is None else _Asked(CREATION in asked, asked != (CREATION,))


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
    "tools", "mobile_tools", ("created", "recorded"), _TOLD, options=(("decisions", "own"),)
)
APPS = Variation("apps", "world_options", ("hierarchical", "flat"), _TOLD, option="apps")


def rated(task: Task, trajectory: Trajectory) -> Iterator[tuple[int, str, str]]:
    """Yield (goal, character, words) of each turn in which one of both said something.

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
