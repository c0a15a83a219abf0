"""Experiments in retrieval: rankings and their metrics over pools, sizes and samples, no chat."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from seal.core import Pool, UsageError
from seal.core.store import Store, open_store
from seal.experiments.pool_draws import without_distractors
from seal.experiments.retrieval.contenders import (
    Contender,
    Costs,
    Measured,
    Unavailable,
    contenders,
    held_out,
    measure,
    repeated,
)
from seal.experiments.retrieval.draws import Ranked, draw, left_out, open_sources
from seal.experiments.retrieval.ranking_files import (
    TREC_LINES,
    Figures,
    Folder,
    lists_tools,
    open_folder,
)
from seal.experiments.retrieval.retrieval_settings import RetrievalSettings
from seal.experiments.retrieval.robustness import perturbed
from seal.experiments.retrieval.summary import Cell, cell_of, comparisons_of, corrected, results_of
from seal.pools.lookup import Bench
from seal.retrievers import learns
from seal.runs.identity import versions
from seal.runs.ranking import search_pool
from seal.runs.spending.ledger import Meter
from seal.runs.spending.prices import Prices

Progress = Callable[[str, int, int], None]
"""Called with the stage, how many of its items are done, and how many there are."""
OnResult = Callable[[Mapping[str, Any]], None]
"""Called with an entry of `results`."""
_UNFINISHED = "it is not finished: the same command with --resume goes on"


def retrieve(
    pools: Sequence[Bench],
    retrievers: Sequence[Any],
    settings: RetrievalSettings,
    out: Path | None = None,
    progress: Progress | None = None,
    on_result: OnResult | None = None,
    resume: bool = False,
    figures: Figures | None = None,
) -> dict[str, Any]:
    """Rank every goal's tools with every retriever over every pool, and score the rankings.

    Args:
        pools: Names or folders.
        retrievers: Names, texts NAME,KEY=VALUE..., dotted paths, classes or objects.
        settings: Cut-offs, pool sizes, samples and the like.
        out: Folder for results, rankings, TREC run and qrels files; None: none are written.
        progress: Called with how many drawn and whole pools are ranked.
        on_result: Called with each entry of `results` when it is complete.
        resume: Go on with the experiment in `out`.
        figures: Called with the results, before results.json is written.

    Returns:
        The content of results.json: {protocol, versions, retrievers, results, comparisons, notes}.

    Raises:
        UsageError: No pool or no retriever is given, a size is larger than every pool, or a drawn
            pool has too few queries. Or the folder holds something else.
        UnknownNameError: There is no pool, retriever or option of that name.
        DataError: A pool is malformed, or has no task.
    """
    if not pools or not retrievers:
        raise UsageError("retrieval needs a pool and a retriever, such as: seal retrieve sample")
    entered = contenders(retrievers, settings.options)
    learning = any(learns(one.what, one.options) for one in entered)
    sources = open_sources(pools, settings, learning)
    if settings.held_out is not None:
        sources = held_out(sources, settings.held_out)
    sources = [
        each
        for source in sources
        for each in (source, *(perturbed(source, it, settings.seed) for it in settings.perturb))
    ]
    parts = [part for source in sources for part in draw(source, settings)]
    drawn = [part.distractors for part in parts if not part.whole]
    notes = [
        *repeated(entered),
        *left_out(sources, settings),
        *without_distractors(drawn, settings),
    ]
    lines = len(entered) * sum(_lines(part, max(settings.k)) for part in parts)
    with_draws = lines <= TREC_LINES
    if out is not None and not with_draws:
        notes.append(f"rankings of drawn pools were not written: {lines} lines are too many")
    if out is not None and not lists_tools(parts):
        notes.append("the ids of drawn pools' tools were not written: they are too many")
    told = {
        "protocol": settings.protocol(),
        "versions": versions(),
        "pools": [source.to_json() for source in sources],
        "retrievers": [contender.to_json() for contender in entered],
    }
    begun = {**told, "results": [], "comparisons": [], "notes": [_UNFINISHED]}
    with ExitStack() as opened:
        folder = None
        if out is not None:
            folder = opened.enter_context(open_folder(out, begun, with_draws, resume))
            if (finished := folder.finished()) is not None:
                return finished
        store = opened.enter_context(closing(open_store(settings.cache_dir)))
        prices = Prices.load(settings.prices)
        costs = Costs(Meter(), prices)
        experiment = _Experiment(settings, entered, store, folder, progress, on_result, costs)
        result = {**told, **experiment.measured(parts), "notes": notes}
        if folder is not None:
            folder.finish(result, parts, figures)
    return result


def _lines(part: Ranked, k: int) -> int:
    """Return the length of a drawn pool's rankings; 0 for a whole pool, which is always written."""
    return 0 if part.whole else len(part.goals) * min(k, len(part.tools))


@dataclass(frozen=True, slots=True)
class _Experiment:
    """Measures part after part."""

    settings: RetrievalSettings
    entered: Sequence[Contender]
    store: Store
    folder: Folder | None
    progress: Progress | None
    on_result: OnResult | None
    costs: Costs
    failed: dict[tuple[str, str], Unavailable] = field(default_factory=dict)
    """Pool and retriever to why it could not be asked."""

    def measured(self, parts: Sequence[Ranked]) -> dict[str, Any]:
        """Return {results, comparisons} of all pools and sizes."""
        results: list[dict[str, Any]] = []
        comparisons: list[dict[str, Any]] = []
        labels = [contender.label for contender in self.entered]
        k, seed = self.settings.k, self.settings.seed
        done = 0
        for _, group in groupby(parts, key=lambda part: (part.source.label, part.size)):
            outcomes = []
            for part in group:
                found = {each.label: self._outcome(each, part) for each in self.entered}
                outcomes.append((part, found))
                done += 1
                if self.progress is not None:
                    self.progress("pools", done, len(parts))
            cell = cell_of(outcomes, k)
            entries = results_of(cell, labels, k, seed)
            for contender, entry in zip(self.entered, entries, strict=True):
                results.append({**entry, **_origin(contender, cell)})
                if self.on_result is not None:
                    self.on_result(results[-1])
            comparisons += comparisons_of(cell, k, seed)
        return {"results": results, "comparisons": corrected(comparisons)}

    def _outcome(self, contender: Contender, part: Ranked) -> Measured | Unavailable:
        """Measure, unless the retriever could not be asked for another part of the pool."""
        key = (part.source.label, contender.label)
        if key in self.failed:
            return self.failed[key]
        if self.folder is not None and (kept := self.folder.kept(part, contender.label)):
            return kept
        pool = self._pool(contender, part)
        outcome = measure(contender, part, pool, self.settings.k, self.costs)
        if isinstance(outcome, Unavailable):
            self.failed[key] = outcome
            return outcome
        if self.folder is None:
            return outcome.measured
        return self.folder.keep(part, contender.label, outcome)

    def _pool(self, contender: Contender, part: Ranked) -> Pool:
        pool = search_pool(
            self.store,
            part.tools,
            part.source.all_tasks if learns(contender.what, contender.options) else part.tasks,
            seed=self.settings.seed,
            options=contender.options,
            cache=self.settings.cache,
            meter=self.costs.meter,
        )
        if self.progress is not None:
            pool = replace(pool, progress=partial(self.progress, "embed tools"))
        return pool if part.whole else replace(pool, cache_dir=None)  # drawn: never searched again


def _origin(contender: Contender, cell: Cell) -> dict[str, Any]:
    """Return what a trained retriever has seen of a cell: {in_source, training_queries}."""
    known = contender.in_source(cell.source)
    if not known:
        return {} if known is None else {"in_source": False}
    return {
        "in_source": True,
        "training_queries": contender.training_queries(cell.source, cell.task_of),
    }
