"""Settings without gaps: what the user says, else what the benchmark does, else the default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from seal.agents.teams import REGISTRY as TEAMS
from seal.core.errors import DataError
from seal.pools.benchmark import part_of
from seal.pools.pool import StoredPool
from seal.runs.settings import Origin, Play, RunSettings

_PLAY = tuple(field.name for field in fields(Play))


def completed(settings: RunSettings, pool: StoredPool) -> RunSettings:
    """Return settings that have a team, a history and a format, with the origin of each value.

    Whoever completes them again changes nothing. What a task says of its own limits goes before
    the defaults of the run, task by task (`seal.runs.limits`).

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
