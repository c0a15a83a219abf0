"""What a run really plays: the pool's own way of being played, and its tasks as the run wants them.

A pool says in import.json, under `play`, which team, history and format it is made for. They hold
where the user says nothing, and run.json tells which of them did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import islice
from typing import Any

from seal.agents.teams import REGISTRY as TEAMS
from seal.agents.teams import team_options
from seal.agents.tool_life.team import NAME, TOOL_LIFE, asked_tasks
from seal.benchmarks.dialogtool.on_policy import on_policy
from seal.benchmarks.pool import StoredPool, View
from seal.core.errors import DataError, OptionError
from seal.core.tool_life import CREATION
from seal.core.types import JSON, Task, Tool
from seal.pipeline.pools import open_pool
from seal.pipeline.sandboxed import creates
from seal.pipeline.settings import History, Play, RunSettings

_PLAY = tuple(field.name for field in fields(Play))
_ON_POLICY = {"team": "direct", "history": "own", "format": "native"}
"""How dialogues are played with a user that is still to be talked to: as a conversation."""


@dataclass(frozen=True, slots=True)
class Played:
    """Settings without gaps, and the pool under them."""

    settings: RunSettings
    pool: StoredPool
    defaults: Mapping[str, JSON]
    """Settings that the pool gave, for the user gave none."""


def played(settings: RunSettings) -> Played:
    """Open the pool of a run, and complete its settings by the pool's.

    Raises:
        UnknownNameError: No such pool or team.
        UsageError: Settings that cannot be together.
        DataError: The folder is no pool, or says how to play it in a way that cannot be.
        CodeRefusedError: The pool names a team that is code, which the settings do not allow.
    """
    pool = open_pool(settings.pool)
    defaults = _defaults(settings, pool)
    whole = replace(settings, **defaults)
    play = whole.play
    whole = replace(whole, **{name: getattr(play, name) for name in _PLAY})
    whole = _deciding(whole)
    view = _view(whole, pool)
    if view is not None:
        pool = StoredPool(pool.folder, view, pool.benchmark)
    return Played(whole, pool, defaults)


def _defaults(settings: RunSettings, pool: StoredPool) -> dict[str, Any]:
    """Return the pool's settings where the user has none.

    Raises:
        DataError: A setting that a pool does not have, or that is no text.
        CodeRefusedError: A team that is code, which the settings do not allow.
    """
    given = pool.report.get("play", {})
    known = isinstance(given, dict) and set(given) <= set(_PLAY)
    if not known or not all(isinstance(value, str) for value in given.values()):
        raise DataError(
            f"{pool.folder}/import.json: play: expected texts for {', '.join(_PLAY)}, "
            f"got {given!r}; import the pool again"
        )
    declared = {} if pool.benchmark is None else pool.benchmark.play
    own = {**given, **declared, **(_ON_POLICY if settings.on_policy else {})}
    defaults = {name: value for name, value in own.items() if getattr(settings, name) is None}
    if "team" in defaults and "team" not in declared:
        place = f"{pool.folder}/import.json: play.team"
        TEAMS.check_named(defaults["team"], place, settings.allow_code)
    return defaults


def _deciding(settings: RunSettings) -> RunSettings:
    """Return settings under which the team `tool_life` decides for itself, where it must.

    On policy nobody knows what gold would decide, and only calls that are run need created tools.

    Raises:
        OptionError: Gold decisions are asked for.
    """
    flag = "--on-policy" if settings.on_policy else "--tools created"
    recorded = not settings.on_policy and settings.mobile_tools == "recorded"
    if recorded or settings.team != NAME:
        return settings
    options = dict(settings.world_options)
    if options.setdefault("decisions", "own") != "own":
        raise OptionError(
            f"{flag} with -T decisions={options['decisions']}: it takes the team's own decisions; "
            "leave one of both out"
        )
    history: History | None = "own" if settings.on_policy else settings.history
    return replace(settings, world_options=options, history=history)


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
