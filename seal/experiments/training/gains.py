"""What training was worth: one model before and after, on its own pool and on foreign ones.

Source of the gap: the SEAL paper, Figure 2 (retrievers tested within and beyond their source).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from seal.core import InfrastructureError, Task
from seal.core.store import Store, open_store
from seal.core.text import counted
from seal.experiments.retrieval.contenders import Contender, Measured, Unavailable, measure
from seal.experiments.retrieval.draws import Draw, Ranked, Source, queries_of
from seal.experiments.retrieval.summary import (
    cell_of,
    comparisons_of,
    corrected,
    results_of,
    rounded,
)
from seal.experiments.training.splits import NearDuplicate
from seal.experiments.training.training_settings import TrainSettings
from seal.runs.ranking import search_pool

BEFORE, AFTER = "before", "after"
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Tested:
    """A pool, and the tasks of it that test the retriever."""

    source: Source
    tasks: tuple[Task, ...]
    in_source: bool
    """True: the retriever was trained on other tasks of this pool."""
    asked: int = 0
    """Queries of the tasks, before any was left out."""
    near: tuple[NearDuplicate, ...] = ()
    """Queries that stand in training or nearly do, each with the training query likest to it."""
    left_out: int = 0
    """Queries that are near to training ones and so not measured."""


def evaluate(
    tested: Sequence[Tested],
    trained: Path,
    settings: TrainSettings,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Measure the base and the trained model over whole pools.

    Args:
        tested: The training pools first.
        trained: Folder of the trained model.
        settings: Base, template, cut-offs, seed, cache.
        progress: Told how many pools are done.

    Returns:
        {results, comparisons, gap}. The first two as of `seal.retrieve`, with the retrievers
        "before" and "after" and `in_source`; a comparison is after less before. `gap`: for recall
        and mrr at the largest K {before, after: {in_source, foreign, gap}}, where `foreign` is the
        mean over the foreign pools that were measured; None where no foreign or no training pool
        was. Entries of a pool all of whose queries were left out have that reason in `unavailable`
        and no metrics.

    Raises:
        InfrastructureError: A model could not embed the pool.
    """
    results: list[dict[str, Any]] = []
    comparisons: list[dict[str, Any]] = []
    with open_store(settings.cache_dir) as store:
        for done, part in enumerate(tested, 1):
            cell = cell_of([(_ranked(part), _outcomes(part, trained, settings, store))], settings.k)
            entries = results_of(cell, (BEFORE, AFTER), settings.k, settings.seed)
            results += [{**entry, "in_source": part.in_source} for entry in entries]
            comparisons += comparisons_of(cell, settings.k, settings.seed)
            if progress is not None:
                progress("pools", done, len(tested))
    return {
        "results": results,
        "comparisons": corrected(comparisons),
        "gap": _gap(results, max(settings.k)),
    }


def _ranked(part: Tested) -> Ranked:
    source, draws = part.source, (Draw(0, tuple(queries_of(part.tasks))),)
    return Ranked(source, "all", source.tools, part.tasks, source.digest, draws)


def _outcomes(
    part: Tested, trained: Path, settings: TrainSettings, store: Store
) -> Mapping[str, Measured | Unavailable]:
    """Return what both models gave; the trained one stands first, for the sign of differences."""
    if not part.tasks:
        nothing = Unavailable(f"{counted(part.asked, 'query')}, all in training or nearly so")
        return {AFTER: nothing, BEFORE: nothing}
    outcomes: dict[str, Measured | Unavailable] = {}
    for label, model in ((AFTER, str(trained)), (BEFORE, settings.base)):
        options = {"model": model, "template": settings.template}
        if settings.device is not None:
            options["device"] = settings.device
        pool = search_pool(
            store,
            part.source.tools,
            part.tasks,
            seed=settings.seed,
            options=options,
            # A trained encoder may be trained again: its vectors are worth no place. A map's are
            # those of its base.
            cache=settings.cache if label == BEFORE or settings.trains == "map" else "off",
        )
        if label == AFTER:
            pool = replace(pool, cache_dir=None)
        outcome = measure(Contender(label, "dense", options, None), _ranked(part), pool, settings.k)
        if isinstance(outcome, Unavailable):
            raise InfrastructureError(f"{model} over {part.source.label}: {outcome.reason}")
        outcomes[label] = outcome.measured
    return outcomes


def _gap(results: Sequence[Mapping[str, Any]], k: int) -> dict[str, Any] | None:
    measured = [entry for entry in results if "unavailable" not in entry]
    if len({entry["in_source"] for entry in measured}) < 2:
        return None
    return {
        metric: {label: _gap_of(measured, metric, label) for label in (BEFORE, AFTER)}
        for metric in (f"recall@{k}", f"mrr@{k}")
    }


def _gap_of(results: Sequence[Mapping[str, Any]], metric: str, label: str) -> dict[str, Any]:
    means: dict[bool, list[float]] = {True: [], False: []}
    for entry in results:
        mean = entry["metrics"][metric]["mean"]
        if entry["retriever"] == label and mean is not None:
            means[entry["in_source"]].append(mean)
    own, foreign = (sum(found) / len(found) if found else None for found in means.values())
    gap = None if own is None or foreign is None else own - foreign
    return {"in_source": rounded(own), "foreign": rounded(foreign), "gap": rounded(gap)}
