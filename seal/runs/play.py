"""What a run really plays: its settings without gaps, and the pool's tasks as it wants them.

A gap in the settings is filled by what the benchmark says, else by the default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, NamedTuple

from seal.agents.teams import REGISTRY as TEAMS
from seal.agents.teams import team_options
from seal.core import DataError, UsageError
from seal.pools.benchmark import part_of
from seal.pools.lookup import open_pool, with_functions
from seal.pools.pool import StoredPool
from seal.runs.settings import Origin, Play, RunSettings


class Played(NamedTuple):
    """The settings of a run without gaps, and its pool under them."""

    settings: RunSettings
    pool: StoredPool


def played(settings: RunSettings) -> Played:
    """Return what a run plays.

    Raises:
        UnknownNameError: No such pool or team.
        UsageError: Settings that cannot be together.
        DataError: The folder is no pool, or says how to play it in a way that cannot be.
        CodeRefusedError: The pool names a team that is code, which the settings do not allow.
    """
    pool = with_functions(open_pool(settings.pool), settings.allow_code)
    whole = completed(settings, pool)
    _check_offered(whole, pool)
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


def _check_offered(settings: RunSettings, pool: StoredPool) -> None:
    """Raise UsageError where an option is given that only benchmarks of dialogues take."""
    created = settings.mobile_tools == "created"
    for flag, given, part in (
        ("--on-policy", settings.on_policy, "view"),
        ("--tools created", created, "creator"),
    ):
        if given and part_of(pool.benchmark, part) is None:
            raise UsageError(
                f"{flag}: the benchmark {pool.name} does not have it; leave the option out, or "
                "name a benchmark of recorded dialogues, such as dialogtool-sample"
            )


_PLAY = tuple(field.name for field in fields(Play))


def completed(settings: RunSettings, pool: StoredPool) -> RunSettings:
    """Return settings that have a team, a history and a format, with the origin of each value.

    Whoever completes them again changes nothing. What a task says of its own limits goes before
    the defaults of the run, task by task (`seal.runs.goal_chats`).

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
    return replace(settings, **{name: play[name] for name in gaps}, origins=told)


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
