"""Calls simulated ahead, so that a later run finds their answers stored."""

from __future__ import annotations

from pathlib import Path

from seal.core.places import cache_folder
from seal.core.store import FILE_NAME, Store
from seal.pools.lookup import open_pool
from seal.runs.cast import Cast
from seal.runs.environment_stack import simulator_of
from seal.runs.run_folder import RunFolder
from seal.runs.settings import RunSettings
from seal.simulator_cache.fill import FillReport, fill, gold_calls, made_calls


def fill_cache(settings: RunSettings, calls: str | Path = "gold") -> FillReport:
    """Have each call of a pool's gold, or of a run, answered once.

    Args:
        settings: As of the run that is to come: pool, simulator and its model, seed, limit, select.
        calls: `gold`, or the folder of a run over the same tools.

    Raises:
        UsageError: The simulator lacks what it needs.
        DataError: `calls` is no run, or the pool is damaged.
        InfrastructureError: The simulator's model failed; what is stored stays.
    """
    pool = open_pool(settings.pool)
    tools = {tool.id: tool for tool in pool.tools()}
    if calls == "gold":
        planned = gold_calls(pool.tasks(select=settings.select, limit=settings.limit))
    else:
        planned = made_calls(RunFolder.open(Path(calls)).trajectories())
    with Store(cache_folder(settings.cache_dir) / FILE_NAME) as store:
        cast = Cast(settings, store, pool)
        return fill(simulator_of(settings, tools, pool, store, cast), tools, planned)
