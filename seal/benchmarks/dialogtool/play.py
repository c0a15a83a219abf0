"""What a run of dialogues plays, what its ablations vary, and which of its turns people rate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

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
from seal.core import Message, OptionError, Task, Trajectory
from seal.experiments.ablation import Variation
from seal.pools.pool import StoredPool, View
from seal.runs.environments import worlds_of
from seal.runs.settings import RunSettings

_BETWEEN = 9
"""Dialogues between two tasks of creation."""
_ANSWERING = ("recorded", "created")
"""What answers calls in the mobile, by `-T tools=`: the recorded corpus, the default, or functions
that the role `creator` wrote."""


def completed(settings: RunSettings, play: Mapping[str, Any]) -> RunSettings:
    """Return settings under which the team decides where created tools answer its calls.

    Only calls that are run need them. The option is left out where it has its default.

    Args:
        settings: Of the run.
        play: What the pool says where the settings do not.

    Raises:
        OptionError: Gold decisions are asked for, the option has a value that it cannot have, or
            one that is gone is given.
    """
    options = dict(settings.world_options)
    if "on_policy" in options:
        raise OptionError(
            "-T on_policy is gone: -T decisions=own plays a dialogue by the model's own decisions, "
            "and apps and toolsandbox have users that speak"
        )
    answering = options.pop("tools", _ANSWERING[0])
    if answering not in _ANSWERING:
        raise OptionError(f"-T tools={answering}: expected {' or '.join(_ANSWERING)}")
    if answering != _ANSWERING[0]:
        options["tools"] = answering
    settings = replace(settings, world_options=options)
    if "tools" not in options or (settings.team or play.get("team")) != NAME:
        return settings
    if options.setdefault("decisions", "own") != "own":
        raise OptionError(
            f"-T tools=created with -T decisions={options['decisions']}: it takes the team's own "
            "decisions; leave one of both out"
        )
    return replace(settings, world_options=options)


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
