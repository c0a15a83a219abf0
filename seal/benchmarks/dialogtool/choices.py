"""What a run of dialogues plays: who decides, and which tasks, as what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from seal.benchmarks.dialogtool.goals import creates
from seal.benchmarks.dialogtool.on_policy import on_policy
from seal.benchmarks.dialogtool.roles.team import NAME, TOOL_LIFE, asked_tasks
from seal.benchmarks.dialogtool.tool_life import CREATION
from seal.core.errors import OptionError
from seal.core.types import Task, Tool
from seal.pools.pool import StoredPool, View
from seal.runs.settings import RunSettings

_ON_POLICY = {"team": "direct", "history": "own", "format": "native"}
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
        settings = _conversing(settings)
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


def _conversing(settings: RunSettings) -> RunSettings:
    """Return settings of which a conversation fills the gaps, in the name of who asked for it."""
    gaps: dict[str, Any] = {
        name: value for name, value in _ON_POLICY.items() if getattr(settings, name) is None
    }
    by = settings.origins.get("on_policy", "default")
    return replace(settings, **gaps, origins={**settings.origins, **dict.fromkeys(gaps, by)})


def view(settings: RunSettings, pool: StoredPool) -> View | None:
    """Return what chooses and changes the tasks that are played; None: all are, as they are.

    Raises:
        OptionError: Tasks are asked for that there are not.
    """
    asked = None
    if settings.play.team in (NAME, TOOL_LIFE):
        asked = asked_tasks(settings.world_options.get("tasks"))
    if settings.on_policy:
        return _OnPolicy({tool.id: tool for tool in pool.tools()})
    return None if asked is None else _Asked(CREATION in asked, asked != (CREATION,))


@dataclass(frozen=True, slots=True)
class _OnPolicy:
    """Dialogues as conversations that are still to be had.

    Args:
        tools: The pool, by id.
    """

    tools: Mapping[str, Tool]

    def __call__(self, read: Callable[[], Iterator[Task]]) -> Iterator[Task]:
        """Yield the dialogues; tasks of creation are none."""
        return (on_policy(task, self.tools) for task in read() if not creates(task))


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


__all__ = ["completed", "view"]
