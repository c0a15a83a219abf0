"""What the command line does, as Python functions; `seal` exports them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seal.core.errors import UnknownNameError
from seal.core.registry import Registry, load_dotted
from seal.pipeline.settings import RunSettings

if TYPE_CHECKING:
    from seal.pipeline.run import Progress, RunResult

REGISTRIES = {
    "agent": "seal.agents:REGISTRY",
    "benchmark": "seal.benchmarks:REGISTRY",
    "metric": "seal.evaluation:REGISTRY",
    "model": "seal.models:REGISTRY",
    "retriever": "seal.retrievers:REGISTRY",
    "simulator": "seal.simulator_cache:REGISTRY",
    "team": "seal.agents.teams:REGISTRY",
}
"""Kind of plug-in to where its registry stands."""


def run(
    pool: str | Path = "sample",
    *,
    out: str | Path | None = None,
    resume: bool = False,
    progress: Callable[[Progress], None] | None = None,
    **settings: Any,
) -> RunResult:
    """Play a benchmark's tasks and score them.

    Args:
        pool: A shipped benchmark's name, or a folder that `import_benchmark` wrote.
        out: Run folder; None: a new one under `runs/`.
        resume: Go on with the run in `out`.
        progress: Told how far the run is, as chats end.
        **settings: Fields of `RunSettings`; models, retrievers, agents and simulators may be
            objects, names or dotted paths.

    Returns:
        The run's folder, its summary, and the exit code of `seal run`.

    Raises:
        UsageError: A setting that no run can have.
        DataError: The pool is malformed.
    """
    from seal.pipeline.run import run as play

    asked = RunSettings(pool=pool, **settings)
    return play(asked, None if out is None else Path(out), resume, progress)


def score(run: str | Path, **options: Any) -> dict[str, Any]:
    """Score a run's trajectories again, without a chat.

    Args:
        run: Run folder; its scores and its summary are replaced.
        **options: Of `seal.pipeline.rescore.rescore`: judge, judge_model...

    Returns:
        The summary.

    Raises:
        DataError: No run in the folder.
        UsageError: A judge that cannot be, or another process writes the run.
    """
    from seal.pipeline.rescore import rescore

    return rescore(Path(run), **options)


def register(kind: str, name: str, plugin: Any) -> None:
    """Make a plug-in known by name in this process.

    Args:
        kind: agent, benchmark, metric, model, retriever, simulator or team.
        name: What settings and flags call it.
        plugin: An object or class of that kind (`seal.core.protocols`).

    Raises:
        UnknownNameError: No such kind.
        UsageError: The name is taken.
    """
    if kind not in REGISTRIES:
        raise UnknownNameError("kind of plug-in", kind, REGISTRIES)
    registry: Registry = load_dotted(REGISTRIES[kind])
    registry.register(name, plugin)
