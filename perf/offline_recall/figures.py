"""Figures of the wanted pools, and of all pools under all retrievers."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import seal
from offline_recall.pools import Pools
from offline_recall.pytrec import gaps_to_pytrec
from offline_recall.retrievers import RETRIEVERS, WANTED, K, Wanted
from seal.cli.failure import tell
from seal.cli.output import progress
from seal.report.retrieval_results import line_of


class Figure(NamedTuple):
    """One retriever on one pool; `recall` and `mrr` are {mean, low, high}, None if unavailable."""

    pool: str
    size: str
    tools: int
    queries: float
    samples: int
    digest: str
    retriever: str
    options: dict[str, Any]
    template: str | None
    recall: dict[str, float] | None
    mrr: dict[str, float] | None
    unavailable: str | None


def figures(result: dict[str, Any], name: str) -> Iterator[Figure]:
    """Yield the figures of an experiment over one pool, which gets a name."""
    asked = {retriever["retriever"]: retriever for retriever in result["retrievers"]}
    for entry in result["results"]:
        retriever = asked[entry["retriever"]]
        yield Figure(
            name,
            str(entry["size"]),
            entry["tools"],
            entry["queries"],
            entry["samples"],
            entry["pool_digest"],
            entry["retriever"],
            retriever["options"],
            retriever["template"],
            _interval(entry, f"recall@{K}"),
            _interval(entry, f"mrr@{K}"),
            entry.get("unavailable"),
        )


def _interval(entry: dict[str, Any], metric: str) -> dict[str, float] | None:
    found = entry["metrics"].get(metric)
    return None if found is None else {name: found[name] for name in ("mean", "low", "high")}


def measure_wanted(pools: Pools, cache: Path) -> Iterator[tuple[Wanted, Figure]]:
    """Yield each wanted figure with ours; a benchmark that is not here is left out."""
    for wanted in WANTED:
        place = pools.place(wanted.pool)
        if place is None:
            continue
        result = measured(place, wanted, cache)
        yield wanted, next(figures(result, wanted.pool))


def measured(place: Path, wanted: Wanted, cache: Path) -> dict[str, Any]:
    """Return the result of the experiment that measures one wanted figure."""
    stage = f"{wanted.pool} {wanted.size}"
    with progress((stage,)) as advance:
        return seal.retrieve(
            place,
            wanted.retriever,
            K,
            pool_sizes=(wanted.size,),
            cache_dir=cache,
            progress=lambda _, done, total: advance(stage, done, total),
        ).content


class Grid(NamedTuple):
    """All pools under all retrievers."""

    figures: list[Figure]
    seconds: float
    cpu_seconds: float
    pytrec_difference: float | None
    """Largest absolute difference of mean recall@10 and mrr@10 from pytrec_eval's."""


def measure_grid(
    names: Sequence[str],
    retrievers: Sequence[str],
    pools: Pools,
    cache: Path,
    folder: Path,
) -> Grid:
    """Measure the pools that are here; embeddings are computed before the clock starts."""
    places = {name: place for name in names if (place := pools.place(name)) is not None}
    if places:
        seal.retrieve(list(places.values()), RETRIEVERS["MiniLM"], K, cache_dir=cache)
    wall, cpu = time.perf_counter(), time.process_time()
    results = {
        name: seal.retrieve(
            place,
            retrievers,
            K,
            out=folder / name,
            cache_dir=cache,
            on_result=lambda entry: tell(line_of(entry)),
        ).content
        for name, place in places.items()
    }
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    gaps = [gap for name in results for gap in gaps_to_pytrec(results[name], folder / name)]
    found = [figure for name in results for figure in figures(results[name], name)]
    return Grid(found, wall, cpu, max(gaps, default=None))
