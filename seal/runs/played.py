"""What a run really plays: its settings without gaps, and the pool's tasks as it wants them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from seal.agents.teams import team_options
from seal.benchmarks.dialogtool.on_policy import on_policy
from seal.benchmarks.dialogtool.roles.team import NAME, TOOL_LIFE, asked_tasks
from seal.core.tool_life import CREATION
from seal.core.types import Task, Tool
from seal.pools.lookup import open_pool
from seal.pools.pool import StoredPool, View
from seal.runs.defaults import completed
from seal.runs.sandboxed import creates
from seal.runs.settings import RunSettings


@dataclass(frozen=True, slots=True)
class Played:
    """Settings without gaps, and the pool under them."""

    settings: RunSettings
    pool: StoredPool


def played(settings: RunSettings) -> Played:
    """Open the pool of a run, and complete its settings by the pool's.

    Raises:
        UnknownNameError: No such pool or team.
        UsageError: Settings that cannot be together.
        DataError: The folder is no pool, or says how to play it in a way that cannot be.
        CodeRefusedError: The pool names a team that is code, which the settings do not allow.
    """
    pool = open_pool(settings.pool)
    whole = completed(settings, pool)
    view = _view(whole, pool)
    if view is not None:
        pool = StoredPool(pool.folder, view, pool.benchmark)
    return Played(whole, pool)


def team_part(settings: RunSettings) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options of the team, and those of worlds."""
    taken = team_options(settings.play.team)
    options = settings.world_options
    return (
        {name: value for name, value in options.items() if name in taken},
        {name: value for name, value in options.items() if name not in taken},
    )


def _view(settings: RunSettings, pool: StoredPool) -> View | None:
    """Return what chooses and changes the tasks that are played; None: all are, as they are."""
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


_BETWEEN = 9
"""Dialogues between two tasks of creation."""
