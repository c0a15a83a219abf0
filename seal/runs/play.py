"""What a run really plays: its settings without gaps, and the pool's tasks as it wants them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from seal.agents.teams import team_options
from seal.core.errors import UsageError
from seal.pools.benchmark import part_of
from seal.pools.lookup import open_pool
from seal.pools.pool import StoredPool
from seal.runs.defaults import completed
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
    _check_offered(whole, pool)
    viewed = part_of(pool.benchmark, "view")
    view = None if viewed is None else viewed(whole, pool)
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
