"""The pools of a sweep: drawn, and written as pool folders of their own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from seal.core.plain import INDENTED, json_bytes
from seal.core.records import AtomicFile, write_records
from seal.core.types import JSON, Task, Tool
from seal.experiments.pool_draws import Sampled, drawn_pools, drawn_queries
from seal.experiments.sweep.settings import SweepSettings
from seal.pools.importer import REPORT, TASKS, TOOLS, ImportReport, pool_digest
from seal.pools.pool import StoredPool
from seal.pools.samples import PoolSample
from seal.runs.settings import RunSettings


def draw_pools(pool: StoredPool, settings: RunSettings, sweep: SweepSettings) -> list[PoolSample]:
    """Return the pools of a sweep, sizes ascending, of each size sample by sample.

    Args:
        pool: The large one.
        settings: Its seed decides what is drawn; its tags and its limit, of which tasks.
        sweep: Sizes, samples and the rest of the protocol.

    Raises:
        UsageError: A size is beyond the pool or serves no task, no task has relevant tools, or a
            pool has fewer tasks than `queries`.
        DataError: The pool is malformed.
    """
    tools = pool.tools()
    tasks = tuple(pool.tasks(select=settings.select, limit=settings.limit))
    drawn = (
        _whole(tools, tasks, sweep) if sweep.whole else _sampled(tools, tasks, settings.seed, sweep)
    )
    return [_with_queries(it, sweep.queries, settings.seed, pool) for it in drawn]


def _whole(
    tools: tuple[Tool, ...], tasks: tuple[Task, ...], sweep: SweepSettings
) -> list[PoolSample]:
    samples = 1 if sweep.queries is None else sweep.samples
    return [PoolSample(len(tools), sample, tools, tasks, ()) for sample in range(samples)]


def _sampled(
    tools: tuple[Tool, ...], tasks: tuple[Task, ...], seed: int, sweep: SweepSettings
) -> list[PoolSample]:
    sizes = [len(tools) if size == "all" else size for size in sweep.pool_sizes]
    return drawn_pools(tools, tasks, sizes, sweep, seed)


def _with_queries(
    drawn: PoolSample, queries: int | None, seed: int, pool: StoredPool
) -> PoolSample:
    sampled = Sampled(pool.name, pool.digest, drawn.size, drawn.sample)
    return replace(drawn, tasks=drawn_queries(drawn.tasks, queries, seed, sampled))


def write_pool(drawn: PoolSample, folder: Path, origin: StoredPool, seed: int) -> None:
    """Write a drawn pool as a pool folder; its import.json says where it was drawn from.

    Equal pools are equal bytes, so that writing one again changes nothing.

    Args:
        drawn: The tools and tasks.
        folder: Where to; `tools.jsonl`, `tasks.jsonl`, `import.json`, and `web.json` and
            `mobile.json` where the large pool has them.
        origin: The large pool.
        seed: Of the drawing.
    """
    write_records(folder / TOOLS, drawn.tools)
    write_records(folder / TASKS, drawn.tasks)
    for beside in (origin.web, origin.mobile):
        if beside is not None:
            with AtomicFile(folder / beside.name) as out:
                out.write(beside.read_bytes())
    lacks = origin.report.get("lacks")
    facts: dict[str, JSON] = {
        "drawn_from": origin.digest,
        "size": drawn.size,
        "sample": drawn.sample,
        "seed": seed,
        "seeds": list(drawn.seeds),
    }
    report = ImportReport(
        origin.name,
        len(drawn.tasks),
        len(drawn.tools),
        {},
        tuple(map(str, lacks)) if isinstance(lacks, list) else (),
        pool_digest(folder),
        {},
        facts,
    )
    with AtomicFile(folder / REPORT) as out:
        out.write(json_bytes(report.to_json(), INDENTED))
