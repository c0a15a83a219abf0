"""The settings that a run keeps, so that some of its tasks are played again as they were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args

from seal.core import JSON, DataError, UsageError
from seal.pools.lookup import open_pool
from seal.runs.run import RunFolder
from seal.runs.settings import LIMITS, Origin, RunSettings

ASKED = "asked"
"""Part of run.json: setting that somebody gave to its value, where a file may say it again."""
AGAIN = "again"
"""Part of run.json: which tasks of which other run it plays."""
ORIGINS = "origins"
"""Part of run.json: setting to who gave it."""
_SOMEBODY = ("flag", "call", "environment", "file", "experiment")
_OF_HERE = {
    *("cache_dir", "prices", "workers", "processes", ORIGINS),
    *("max_total_tokens", "max_total_seconds", "max_dollars"),
}
"""Settings of a machine, or of one run alone: a run that plays again has its own."""
_NEVER = {"allow_code", "servers"}
"""What would let a file start code."""
_TEXTS = {"prompts"}
"""Settings whose values are texts for models."""
_WITH = {"model": ("model_options", "base_url", *LIMITS), "retriever": ("retriever_options",)}
"""Setting to those that go with it: whoever names another one does not mean them."""


def kept(settings: RunSettings) -> dict[str, JSON]:
    """Return the settings that run.json keeps: those that somebody gave, and the pool.

    Objects, code, addresses and files of a machine are left out.
    """
    given = [name for name, by in settings.origins.items() if by in _SOMEBODY]
    names = sorted({*given, "pool"} - _OF_HERE - _NEVER)
    values = ((name, _plain(getattr(settings, name))) for name in names)
    return {name: value for name, value in values if _is_kept(name, value)}


def _plain(value: Any) -> Any:
    if isinstance(value, (str, Path)):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def _is_kept(name: str, value: Any) -> bool:
    """Tell whether a file may say a value: code and addresses have a colon."""
    leaves = list(_leaves(value))
    known = all(leaf is None or isinstance(leaf, (str, int, float)) for leaf in leaves)
    return known and (name in _TEXTS or not any(":" in str(leaf) for leaf in leaves))


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _leaves(each)
    else:
        yield value


def settings_again(run: RunFolder, now: RunSettings) -> RunSettings:
    """Return the settings that play tasks of a run again: its own, save those that are given now.

    Args:
        run: The other run. Its files are not trusted: they name no code and no address.
        now: What is given now; `origins` says what came as a flag or in a call.

    Raises:
        UsageError: The run keeps no settings, or had some that its files do not keep and nobody
            gives now. Or it was played on another pool than the one that is there.
        DataError: Its run.json is damaged.
    """
    manifest = run.manifest()
    told, origins = manifest.get(ASKED), manifest.get(ORIGINS) or {}
    if told is None:
        raise UsageError(
            f"{run.path} keeps no settings, for an older version began it; play its tasks by "
            "--select id=ID, with the flags of then"
        )
    if not isinstance(told, dict):
        raise DataError(f"{run.path}/run.json: {ASKED}: expected an object")
    given = {name for name, by in now.origins.items() if by in ("flag", "call")}
    given |= {each for name in given & _WITH.keys() for each in _WITH[name]}
    names = {each.name for each in fields(RunSettings)} - _OF_HERE - _NEVER
    theirs = {n: told[n] for n in names - given if n in told and _is_kept(n, told[n])}
    asked = {name for name, by in origins.items() if by in _SOMEBODY}
    if lacking := sorted((asked | {"pool"}) - _OF_HERE - given - theirs.keys()):
        flags = ", ".join("its benchmark" if n == "pool" else _flag(n) for n in lacking)
        raise UsageError(
            f"{run.path} does not keep {flags}, for code, objects and addresses are not taken "
            "from a file; give it again"
        )
    usual = RunSettings()
    base = {name: getattr(usual, name) for name in names - given - theirs.keys()}
    of_them: dict[str, Origin] = {
        name: by for name, by in origins.items() if name in theirs and by in get_args(Origin)
    }
    by = {name: who for name, who in now.origins.items() if name not in base}
    found = replace(now, **base, **theirs, origins=by | of_them)
    _check_pool(run, found)
    return found


def _flag(name: str) -> str:
    return "--" + {"roles": "role", "metrics": "metric"}.get(name, name).replace("_", "-")


def _check_pool(run: RunFolder, settings: RunSettings) -> None:
    """Refuse a pool whose tasks are not those that a run was of.

    Raises:
        UsageError: It is another one, or has changed.
    """
    measure = run.manifest().get("measure") or {}
    pool = open_pool(settings.pool)
    if pool.name != run.pool_name:
        raise UsageError(
            f"{run.path} is of {run.pool_name}, not of {pool.name}; name its own benchmark, or none"
        )
    if pool.digest != measure.get("pool_digest"):
        raise UsageError(
            f"{pool.name} has changed since {run.path} was played: its tools and tasks have the "
            f"digest {pool.digest[:12]}, and had {measure.get('pool_digest')!s:.12}; give the "
            "folder of the pool of then"
        )
