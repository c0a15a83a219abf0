"""Settings without gaps: what the user says, else what the benchmark does, else the default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from seal.agents.teams import REGISTRY as TEAMS
from seal.benchmarks.dialogtool.roles.team import NAME
from seal.core.errors import DataError, OptionError
from seal.pools.pool import StoredPool
from seal.runs.settings import History, Origin, Play, RunSettings

_PLAY = tuple(field.name for field in fields(Play))
_ON_POLICY = {"team": "direct", "history": "own", "format": "native"}
"""How dialogues are played with a user that is still to be talked to: as a conversation."""


def completed(settings: RunSettings, pool: StoredPool) -> RunSettings:
    """Return settings that have a team, a history and a format, with the origin of each value.

    Whoever completes them again changes nothing. What a task says of its own limits goes before
    the defaults of the run, task by task (`seal.runs.limits`).

    Raises:
        OptionError: Gold decisions are asked for where the team must decide.
        DataError: The pool says how to play it in a way that cannot be.
        CodeRefusedError: The pool names a team that is code, which the settings do not allow.
    """
    play: dict[str, Any] = {name: getattr(Play(), name) for name in _PLAY}
    by: dict[str, Origin] = dict.fromkeys(_PLAY, "default")
    layers: list[tuple[Mapping[str, Any], Origin]] = [(_play_of(pool, settings), "benchmark")]
    if settings.on_policy:
        layers.append((_ON_POLICY, settings.origins.get("on_policy", "default")))
    for values, origin in layers:
        play |= values
        by |= dict.fromkeys(values, origin)
    gaps = [name for name in _PLAY if getattr(settings, name) is None]
    origins = {**settings.origins, **{name: by[name] for name in gaps}}
    told = {name: origin for name, origin in origins.items() if origin != "default"}
    return _deciding(replace(settings, **{name: play[name] for name in gaps}, origins=told))


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
