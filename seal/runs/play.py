"""What a run really plays: its settings without gaps, and the pool's tasks as it wants them.

A gap in the settings is filled by what the benchmark says, else by the default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, NamedTuple

from seal import retrievers
from seal.agents.teams import REGISTRY as TEAMS
from seal.agents.teams import build_team, team_options
from seal.core import DataError
from seal.pools.benchmark import part_of
from seal.pools.lookup import open_pool, with_functions
from seal.pools.pool import StoredPool
from seal.runs.judge_setup import JudgeChoice
from seal.runs.run_folder import RunFolder
from seal.runs.settings import GivenElse, Origin, Play, RunSettings


class Played(NamedTuple):
    """The settings of a run without gaps, and its pool under them."""

    settings: RunSettings
    pool: StoredPool


def played(settings: RunSettings, folder: RunFolder | None = None) -> Played:
    """Return what a run plays.

    Args:
        settings: As the user gave them.
        folder: Of the run, which may have begun.

    Raises:
        UnknownNameError: No such pool or team.
        UsageError: Settings that cannot be together.
        DataError: The folder is no pool, or says how to play it in a way that cannot be.
        CodeRefusedError: The pool names a team that is code, which the settings do not allow.
    """
    pool = with_functions(open_pool(settings.pool), settings.allow_code)
    whole = completed(settings, pool, folder)
    viewed = part_of(pool.benchmark, "view")
    view = None if viewed is None else viewed(whole, pool)
    documents = part_of(pool.benchmark, "documents")
    told = None if documents is None else documents(whole)
    if view is not None or told is not None:
        pool = StoredPool(pool.folder, view, pool.benchmark, told)
    return Played(whole, pool)


def team_part(settings: RunSettings) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options of the team, and those of worlds."""
    taken = team_options(settings.play.team)
    options = settings.world_options
    return (
        {name: value for name, value in options.items() if name in taken},
        {name: value for name, value in options.items() if name not in taken},
    )


_PLAY = tuple(field.name for field in fields(Play))
FILLED = (*_PLAY, "retriever", "judge")
"""Settings whose default says what is played only once they are completed."""


def completed(
    settings: RunSettings, pool: StoredPool, folder: RunFolder | None = None
) -> RunSettings:
    """Return settings of which none is missing, with the origin of each value.

    Team, history and format are named, the retriever is `GivenElse` where nobody names one, and
    the judge is a rule or a model. None that is left in a setting is its value: no limit, or each
    task's or published judge's own. Whoever completes them again changes nothing. What a task says
    of its own limits goes before the defaults of the run, task by task (`seal.runs.goal_chats`).

    Args:
        settings: As the user gave them.
        pool: That is played.
        folder: Of the run. One that has begun keeps the retriever that it had by default.

    Raises:
        OptionError: An option that the benchmark cannot have under these settings.
        DataError: The pool says how to play it in a way that cannot be.
        CodeRefusedError: The pool names a team that is code, which the settings do not allow.
    """
    own = _play_of(pool, settings)
    of_benchmark = part_of(pool.benchmark, "settings")
    settings = settings if of_benchmark is None else of_benchmark(settings, own)
    play: dict[str, Any] = {**{name: getattr(Play(), name) for name in _PLAY}, **own}
    by: dict[str, Origin] = {name: "benchmark" if name in own else "default" for name in _PLAY}
    gaps = [name for name in _PLAY if getattr(settings, name) is None]
    origins = {**settings.origins, **{name: by[name] for name in gaps}}
    told = {name: origin for name, origin in origins.items() if origin != "default"}
    whole = replace(settings, **{name: play[name] for name in gaps}, origins=told)
    retriever = _by_default(whole, folder) if whole.gives_tools else whole.retriever
    team = build_team(whole.team, whole.roles, team_part(whole)[0])
    has_judge = bool({**team.models, **whole.role_models}.get("judge"))
    judge = JudgeChoice.of(whole.judge, has_judge).text
    return replace(whole, retriever=retriever, judge=judge)


def _by_default(settings: RunSettings, folder: RunFolder | None) -> GivenElse:
    """Return what offers tools where nobody names a retriever.

    A run that has begun keeps its own: the general one was another before.
    """
    named = settings.retriever
    usual = named if isinstance(named, GivenElse) else GivenElse(retrievers.DEFAULT)
    begun = folder is not None and folder.is_begun
    system = folder.manifest().get("system") if folder is not None and begun else None
    told = str((system or {}).get("retriever"))
    before = GivenElse(told.removeprefix(GivenElse("").identity))
    return before if told == before.identity else usual


def _play_of(pool: StoredPool, settings: RunSettings) -> Mapping[str, Any]:
    """Return the settings that a pool is made for: what its benchmark says goes first.

    Raises:
        DataError: A setting that a pool does not have, or that is no text.
        CodeRefusedError: A team that is code, which the settings do not allow.
    """
    given: Any = pool.report.get("play", {})
    known = isinstance(given, dict) and set(given) <= set(_PLAY)
    if not known or not all(isinstance(value, str) for value in given.values()):
        raise DataError(
            f"{pool.folder}/import.json: play: expected texts for {', '.join(_PLAY)}, "
            f"got {given!r}; import the pool again"
        )
    declared = {} if pool.benchmark is None else pool.benchmark.play
    if settings.team is None and "team" in given and "team" not in declared:
        place = f"{pool.folder}/import.json: play.team"
        TEAMS.check_named(given["team"], place, settings.allow_code)
    return {**given, **declared}
