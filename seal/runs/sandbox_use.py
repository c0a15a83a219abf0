"""The sandbox of a run, as part of what the run measures."""

from __future__ import annotations

from seal.core.errors import UsageError
from seal.core.types import JSON
from seal.pools.benchmark import part_of
from seal.pools.pool import StoredPool
from seal.runs.settings import RunSettings
from seal.sandbox import build_sandbox


def sandbox_identity(settings: RunSettings, pool: StoredPool) -> dict[str, JSON]:
    """Return `{"sandbox": ...}` where a task of the run runs code, else nothing.

    A run whose limit ends before such a task needs no sandbox, and is told why there is none; it
    may go on with a higher limit only where that is still so.

    Raises:
        UsageError: A task that is played needs the sandbox, and it cannot be used here.
    """
    runs_code = part_of(pool.benchmark, "runs_code")
    if runs_code is None:
        return {}
    tasks = enumerate(pool.tasks(select=settings.select))
    first = next((position for position, task in tasks if runs_code(task)), None)
    if first is None:
        return {}
    needed = settings.limit is None or first < settings.limit
    return {"sandbox": identity_of(settings.sandbox, needed)}


def identity_of(sandbox: str, needed: bool = False) -> dict[str, JSON]:
    """Return the name that a sandbox was asked by, and its identity, or why it is missing.

    Raises:
        UsageError: It is needed, and cannot be used here.
    """
    try:
        return {"asked": sandbox, **build_sandbox(sandbox).identity()}
    except UsageError as error:
        if needed:
            raise
        return {"asked": sandbox, "missing": str(error)}
