"""What the command line does, as Python functions; `seal` exports them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seal.core.errors import UnknownNameError
from seal.core.registry import Registry, load_dotted
from seal.pipeline.settings import RunSettings

if TYPE_CHECKING:
    from seal.benchmarks import ImportReport, StoredPool
    from seal.pipeline.run import Progress, RunResult

REGISTRIES = {
    "agent": "seal.agents:REGISTRY",
    "benchmark": "seal.benchmarks:REGISTRY",
    "embedder": "seal.retrievers.embedders:EMBEDDERS",
    "metric": "seal.evaluation:REGISTRY",
    "model": "seal.models:REGISTRY",
    "retriever": "seal.retrievers:REGISTRY",
    "section": "seal.report.sections:SECTIONS",
    "simulator": "seal.simulator_cache:REGISTRY",
    "team": "seal.agents.teams:REGISTRY",
    "template": "seal.retrievers.documents:TEMPLATES",
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
        UnknownNameError: No such setting; names the closest.
        UsageError: A setting that no run can have.
        DataError: The pool is malformed.
    """
    from seal.pipeline.run import run as play

    known = {setting.name for setting in fields(RunSettings)}
    for name in settings:
        if name not in known:
            raise UnknownNameError("setting", name, known)
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


def retrieve(
    pools: str | Path | Sequence[str | Path],
    retrievers: Any,
    k: int | Sequence[int] = (1, 5, 10),
    *,
    out: str | Path | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Rank every goal's tools with every retriever over every pool, and score the rankings.

    Args:
        pools: Names or folders; a single one may stand alone.
        retrievers: Names, dotted paths, classes or objects; a single one may stand alone.
        k: Cut-offs; the largest is the length of a ranking.
        out: Folder for rankings, TREC run and qrels files; None: none are written.
        **options: Of `seal.pipeline.retrieve.retrieve`: seed, options, select, limit, cache_dir.

    Returns:
        {"results": [{pool, pool_digest, tools, queries, retriever, metrics}]}.

    Raises:
        UsageError: No pool, no retriever, a cut-off below 1, or an option that is a service's key.
        DataError: A pool is malformed.
    """
    from seal.pipeline.retrieve import retrieve as rank

    places = [pools] if isinstance(pools, str | Path) else list(pools)
    several = isinstance(retrievers, (list, tuple))
    cutoffs = [k] if isinstance(k, int) else list(k)
    return rank(
        places,
        retrievers if several else [retrievers],
        cutoffs,
        out=None if out is None else Path(out),
        **options,
    )


def load_pool(pool: str | Path) -> StoredPool:
    """Return the tools and tasks of a benchmark.

    Args:
        pool: A shipped benchmark's name, or a folder that `import_benchmark` wrote.

    Raises:
        UnknownNameError: Nothing of that name.
        UsageError: A known benchmark whose files are not here.
        DataError: The folder is no pool.
    """
    from seal.pipeline.pools import open_pool

    return open_pool(pool)


def import_benchmark(
    name: str, source: str | Path, out: str | Path, **options: Any
) -> ImportReport:
    """Import a benchmark's upstream files into a pool folder.

    Args:
        name: Of the importer, or a dotted path to one.
        source: File or folder as upstream publishes it.
        out: Folder to make; an earlier pool there is replaced.
        **options: Of the importer.

    Raises:
        UsageError: No such importer or source, or `out` may not be replaced.
        DataError: The source is malformed or holds nothing; nothing is left behind.
    """
    from seal.benchmarks import import_benchmark as read

    return read(name, Path(source), Path(out), **options)


def register(kind: str, name: str, plugin: Any) -> None:
    """Make a plug-in known by name in this process.

    Args:
        kind: agent, benchmark, embedder, metric, model, retriever, section (of the report),
            simulator, team or template (of a tool's document).
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
