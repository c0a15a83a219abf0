"""An experiment in retrieval, and its files."""

from __future__ import annotations

import csv
import io
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import combinations, groupby
from pathlib import Path
from typing import Any

from seal.core import Pool, Ranking, SealError, UsageError
from seal.core.arrays import Floats, Integers, np
from seal.core.files import AtomicFile, cache_folder, naming
from seal.core.records import query_id, write_records
from seal.core.store import Store, open_store
from seal.core.values import derive_seed, json_bytes
from seal.evaluation.ranking_metrics import metric_names
from seal.evaluation.rankings import RANKED, qrels_of, write_trec_qrels, write_trec_run
from seal.evaluation.significance import mean_and_deviation, paired_differences
from seal.evaluation.statistics import groups_of, mean_intervals
from seal.evaluation.statistics import rounded as shown
from seal.experiments.draws import (
    Contender,
    Measured,
    Measurement,
    Ranked,
    Source,
    Unavailable,
    contenders,
    distinct,
    draw,
    held_out,
    left_out,
    measure,
    open_sources,
    repeated,
    without_distractors,
)
from seal.experiments.generation import RecordJournal
from seal.experiments.paired_scores import correct
from seal.experiments.series import FIGURES, ExperimentFile, LongForm, figures_of, write_json
from seal.experiments.settings import RetrievalSettings, Size
from seal.pools.lookup import Bench
from seal.runs.engine import search_pool
from seal.runs.identity import versions

# -- From rows of metrics to means, deviations, intervals and paired comparisons.

DIGITS = 12
"""Decimals of every number: an independent scorer's figures differ by less."""
RESAMPLES = 10_000
"""Resamples of every test."""
TESTED = ("recall", "mrr", "ndcg", "map", "rprec")
"""Metrics whose differences are tested, at the largest K."""
UNCALIBRATED = "its scores hold the order of tools and cannot be compared between queries"


@dataclass(frozen=True, slots=True)
class Sample:
    """What one sample measured."""

    number: int
    tools: int
    digest: str
    queries: int


@dataclass(frozen=True, slots=True)
class Cell:
    """One size of one pool under all retrievers; a row is a query in a sample."""

    source: Source
    size: Size
    goals: int
    """Goals that were ranked, also those without relevant tools."""
    samples: tuple[Sample, ...]
    values: Mapping[str, Floats]
    """Retriever's label to (rows, metrics)."""
    sample_of: Integers
    """Position in `samples` of each row."""
    task_of: tuple[str, ...]
    """Task id of each row."""
    identities: Mapping[str, str]
    unavailable: Mapping[str, str]
    """Retriever's label to the reason."""
    facts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Retriever's label to what its results say besides: {calibration?, uncalibrated?, unmatched?,
    tied?, longer?}."""


def cell_of(
    parts: Sequence[tuple[Ranked, Mapping[str, Measured | Unavailable]]], ks: Sequence[int]
) -> Cell:
    """Return the cell of one pool and size; a retriever that failed in one sample failed in all.

    Args:
        parts: What was ranked, with what each retriever gave.
        ks: Cut-offs.
    """
    first = parts[0][0]
    ranked = [part for part, _ in parts]
    draws = [(part, draw) for part in ranked for draw in part.draws]
    width = len(metric_names(ks, RANKED))
    values, identities, unavailable, facts = {}, {}, {}, {}
    for label in parts[0][1]:
        outcomes = [found[label] for _, found in parts]
        measured = [each for each in outcomes if isinstance(each, Measured)]
        failed = next((each.reason for each in outcomes if isinstance(each, Unavailable)), None)
        if failed is not None:
            unavailable[label] = failed
            continue
        known = [dict(each.values) for each in measured]
        rows = [
            of[query]
            for part, of in zip(ranked, known, strict=True)
            for draw in part.draws
            for query in draw.queries
        ]
        values[label] = np.array(rows, dtype=np.float64).reshape(-1, width)
        identities[label] = measured[-1].identity
        facts[label] = _facts(ranked, measured)
    return Cell(
        first.source,
        first.size,
        sum(len(part.goals) for part in ranked),
        tuple(
            Sample(draw.sample, len(part.tools), part.digest, len(draw.queries))
            for part, draw in draws
        ),
        values,
        np.repeat(np.arange(len(draws)), [len(draw.queries) for _, draw in draws]),
        tuple(task for _, draw in draws for task, _ in draw.queries),
        identities,
        unavailable,
        facts,
    )


def _facts(ranked: Sequence[Ranked], measured: Sequence[Measured]) -> dict[str, Any]:
    """Return what did not match, which texts were cut, and of a whole pool the calibration."""
    facts: dict[str, Any] = {}
    found = measured[0].calibration
    if found is not None and ranked[0].whole:
        if all(each.measures for each in measured):
            told = {name: rounded(value) for name, value in asdict(found).items()}
            facts["calibration"] = told
        else:
            facts["uncalibrated"] = UNCALIBRATED
    for kind in ("unmatched", "tied"):
        if met := sum(getattr(each, kind) for each in measured):
            facts[kind] = {"queries": met, "of": sum(len(each.values) for each in measured)}
    longer = sorted((one for each in measured for one in each.longer), key=lambda one: one.longer)
    # Of several samples that with the most.
    if most := {(one.kind, one.longest): one for one in longer}:
        facts["longer"] = [most[texts]._asdict() for texts in sorted(most)]
    return facts


def results_of(cell: Cell, labels: Sequence[str], ks: Sequence[int]) -> list[dict[str, Any]]:
    """Return one entry of `results` for each retriever.

    Args:
        cell: What was measured.
        labels: Of all retrievers, in order; the unavailable ones too.
        ks: Cut-offs.
    """
    queries = mean_and_deviation([sample.queries for sample in cell.samples])
    base = {
        "pool": cell.source.label,
        "pool_digest": cell.source.digest,
        "size": cell.size,
        "tools": cell.samples[0].tools,
        "samples": len(cell.samples),
        "queries": _number(queries.mean),
        "queries_deviation": rounded(queries.deviation),
    }
    estimates = _estimates(cell, metric_names(ks, RANKED))
    return [
        {**base, "retriever": label, "unavailable": cell.unavailable[label], "metrics": {}}
        if label in cell.unavailable
        else {
            **base,
            "retriever": label,
            "identity": cell.identities[label],
            "metrics": estimates[label],
            "by_sample": _by_sample(cell, label, metric_names(ks, RANKED)),
            **cell.facts.get(label, {}),
        }
        for label in labels
    ]


def _number(mean: float | None) -> float | int | None:
    """Return a mean of counts, rounded; a whole one is a count itself, an integer."""
    value = rounded(mean)
    return int(value) if value is not None and float(value).is_integer() else value


def rounded(value: float | None) -> float | int | None:
    """Return a number with `DIGITS` decimals, a whole one as an integer; None stays None."""
    if value is None:
        return None
    value = round(float(value), DIGITS)
    return int(value) if value.is_integer() and abs(value) > 1 else value


def _by_sample(cell: Cell, label: str, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return each sample's means; nothing of a single sample, whose means stand above."""
    if len(cell.samples) == 1:
        return []
    means = sample_means(cell.values[label], cell.sample_of)
    return [
        {
            "sample": sample.number,
            "tools_digest": sample.digest,
            "queries": sample.queries,
            "metrics": {name: rounded(mean) for name, mean in zip(names, row, strict=True)},
        }
        for sample, row in zip(cell.samples, means.tolist(), strict=True)
    ]


def sample_means(values: Floats, sample_of: Integers) -> Floats:
    """Return the means of each sample that has rows, (samples, columns)."""
    present, index = np.unique(sample_of, return_inverse=True)
    sums = np.zeros((len(present), values.shape[1]))
    np.add.at(sums, index, values)
    means: Floats = sums / np.bincount(index)[:, None]
    return means


def _estimates(cell: Cell, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return {retriever: {metric: {mean, deviation, n, undefined, low, high, by}}}."""
    estimates = _estimated(cell, names, slice(None))
    if cell.size != "all" or len(cell.samples) > 1:
        return estimates
    undefined = cell.goals - len(cell.task_of)
    for label in estimates:
        for name in names:
            estimates[label][name] |= {"undefined": undefined, "by": {}}
    named = {task.id: groups_of(task) for task in cell.source.tasks}
    groups: dict[str, list[int]] = {}
    for row, task in enumerate(cell.task_of):
        for group in named[task]:
            groups.setdefault(group, []).append(row)
    for group, rows in sorted(groups.items()):
        part = _estimated(cell, names, np.asarray(rows))
        for label in estimates:
            for name in names:
                estimates[label][name]["by"][group] = part[label][name]
    return estimates


def _estimated(cell: Cell, names: Sequence[str], rows: Any) -> dict[str, dict[str, Any]]:
    """Return {retriever: {metric: {mean, deviation, n, low, high}}} of some rows."""
    if not cell.values:
        return {}
    columns = estimated(
        np.hstack(list(cell.values.values()))[rows],
        cell.sample_of[rows],
        np.asarray(cell.task_of)[rows],
    )
    return {
        label: dict(zip(names, columns[start : start + len(names)], strict=True))
        for label, start in zip(cell.values, range(0, len(columns), len(names)), strict=True)
    }


def estimated(values: Floats, samples: Integers, tasks: Any) -> list[dict[str, Any]]:
    """Return {mean, deviation, n, low, high} of each column; None where there is no row.

    Args:
        values: (rows, columns).
        samples: Of each row; `mean` is that of the samples' means, and `deviation` theirs by n - 1.
        tasks: Of each row; all rows of a task in all samples count together in the interval.
    """
    if not len(values):
        empty = {"mean": None, "deviation": None, "n": 0, "low": None, "high": None}
        return [dict(empty) for _ in range(values.shape[1])]
    spreads = [mean_and_deviation(column) for column in sample_means(values, samples).T.tolist()]
    ends = mean_intervals(values, tasks, sample_weights(samples))
    low, high = ends.tolist() if not np.isnan(ends).any() else (None, None)
    return [
        {
            "mean": rounded(spread.mean),
            "deviation": rounded(spread.deviation),
            "n": len(values),
            "low": None if low is None else rounded(low[position]),
            "high": None if high is None else rounded(high[position]),
        }
        for position, spread in enumerate(spreads)
    ]


def sample_weights(sample_of: Integers) -> Floats:
    """Return a weight for each row by which every sample counts alike; their mean is 1."""
    present, index = np.unique(sample_of, return_inverse=True)
    weights: Floats = len(sample_of) / (len(present) * np.bincount(index)[index])
    return weights


def comparisons_of(cell: Cell, ks: Sequence[int], seed: int) -> list[dict[str, Any]]:
    """Return the paired differences of every two retrievers in each of `TESTED`.

    Rows are weighted so that every sample counts alike. The rows of a task count together.
    """
    compared = [
        (metric, one, other)
        for metric in metric_names((max(ks),), TESTED)
        for one, other in combinations(cell.values, 2)
    ]
    if not cell.task_of or not compared:
        return []
    names = metric_names(ks, RANKED)
    values = {
        (metric, label): rows[:, names.index(metric)]
        for metric, _, _ in compared
        for label, rows in cell.values.items()
    }
    differences = paired_differences(
        np.column_stack([values[metric, a] - values[metric, b] for metric, a, b in compared]),
        np.unique(np.asarray(cell.task_of), return_inverse=True)[1],
        derive_seed(seed, cell.source.digest, cell.size, "difference"),
        RESAMPLES,
        weights=sample_weights(cell.sample_of),
    )
    return [
        {
            "pool": cell.source.label,
            "size": cell.size,
            "metric": metric,
            "retriever": one,
            "other": other,
            "difference": rounded(difference.mean),
            "low": rounded(difference.low),
            "high": rounded(difference.high),
            "p": difference.p,
            "n": difference.n,
        }
        for (metric, one, other), difference in zip(compared, differences, strict=True)
    ]


def corrected(comparisons: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the comparisons with `p_holm`: corrected over all comparisons of one metric.

    Both p are None if only the queries of one task are compared: no test can be made of them.
    """
    found = [{**each, "p_holm": None} for each in comparisons]
    for metric in {each["metric"] for each in found}:
        correct([each for each in found if each["metric"] == metric])
    return [each | {"p": shown(each["p"])} for each in found]


# -- Experiments in retrieval: rankings and their metrics over pools, sizes and samples, no chat.

Progress = Callable[[str, int, int], None]
"""Called with the stage, how many of its items are done, and how many there are."""
OnResult = Callable[[Mapping[str, Any]], None]
"""Called with an entry of `results`."""
OnQuery = Callable[[Mapping[str, Any]], None]
"""Called with {pool, retriever, task_id, goal, metric...} of each query of a whole pool."""
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
    on_query: OnQuery | None = None,
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
        on_query: Called with the metrics of each query, if the experiment in `out` was unfinished.

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
    kept = None if settings.cache == "off" else cache_folder(settings.cache_dir) / "indexes"
    sources = open_sources(pools, settings, kept)
    if settings.held_out is not None:
        sources = held_out(sources, settings.held_out)
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
        store = opened.enter_context(closing(open_store(settings.cache_dir, if_asked=True)))
        told_by = (progress, on_result, on_query)
        experiment = _Experiment(settings, entered, store, folder, *told_by)
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
    on_query: OnQuery | None
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
                self._tell_queries(part, found)
                done += 1
                if self.progress is not None:
                    self.progress("pools", done, len(parts))
            cell = cell_of(outcomes, k)
            entries = results_of(cell, labels, k)
            for contender, entry in zip(self.entered, entries, strict=True):
                known = contender.in_source(cell.source)
                origin: dict[str, Any] = {} if known is None else {"in_source": known}
                if known:
                    origin["training_queries"] = contender.training_queries(
                        cell.source, cell.task_of
                    )
                results.append({**entry, **origin})
                if self.on_result is not None:
                    self.on_result(results[-1])
            comparisons += comparisons_of(cell, k, seed)
        return {"results": results, "comparisons": corrected(comparisons)}

    def _tell_queries(self, part: Ranked, found: Mapping[str, Measured | Unavailable]) -> None:
        if self.on_query is None:
            return
        names = metric_names(self.settings.k, RANKED)
        for label, measured in found.items() if part.whole else ():
            for (task, goal), row in measured.values if isinstance(measured, Measured) else ():
                place = {"pool": part.source.label, "retriever": label, "task_id": task}
                values = dict(zip(names, map(_shown, row), strict=True))
                self.on_query({**place, "goal": goal, **values})

    def _outcome(self, contender: Contender, part: Ranked) -> Measured | Unavailable:
        """Measure, unless the retriever could not be asked for another part of the pool."""
        key = (part.source.label, contender.label)
        if key in self.failed:
            return self.failed[key]
        if self.folder is not None and (kept := self.folder.kept(part, contender.label)):
            return kept
        pool = self._pool(contender, part)
        outcome = measure(contender, part, pool, self.settings.k)
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
            part.tasks,
            seed=self.settings.seed,
            options=contender.options,
            cache=self.settings.cache,
            allow_code=self.settings.allow_code,
        )
        if self.progress is not None:
            pool = replace(pool, progress=partial(self.progress, "embed tools"))
        return pool if part.whole else replace(pool, cache_dir=None)  # drawn: never searched again


# -- The files of a retrieval experiment.
#
# results.json             everything that was found, and how
# results.csv              the same figures, one a line
# POOL-RETRIEVER/          rankings.jsonl, run.trec and qrels.trec of the whole pool, queries.csv:
#                          {task, goal} and its metrics, one query a line
# POOL-RETRIEVER/SIZE-N/   run.trec and qrels.trec of the drawn pool N, in small experiments
# draws.jsonl              {pool, size, sample, tools_digest, queries}: what each sample asked, by
#                          the query ids of the TREC files; of drawn pools {distractors, tools}
#                          too: how many tools no seed query needs, and the ids of all
# timings.jsonl            what each measurement took; the one file that is another in every run
#
# qrels.trec holds what any sample of its pool asked. Beside them stand the figures/ of
# `seal.report`. Until all of them are written, results.json has no results, and
# measured.jsonl has what each retriever measured: a resumed experiment goes on from there.

Figures = Callable[[Mapping[str, Any], Path], list[str]]
"""Writes what readers look at into a folder; returns a note on each thing that it left out."""
RESULTS = "results.json"
QUERIES = "queries.csv"
MEASURED = "measured.jsonl"
_MEASURED_2 = "retrieval-measured/2"
RETRIEVAL = ExperimentFile(
    RESULTS,
    "experiment in retrieval",
    ("protocol", "pools", "retrievers", "results"),
    telling=("protocol", "pools", "retrievers"),
)
DRAWS = "draws.jsonl"
TIMINGS = "timings.jsonl"
_PLACE = ("pool", "pool_digest", "size", "tools", "sample", "retriever", "identity")
_COLUMNS = (*_PLACE, *FIGURES, "queries", "samples", "unavailable")
"""Of the long form. `size`: as asked; `sample`: empty in the line of all samples together; `n`:
queries behind the value."""
TREC_LINES = 2_000_000
"""Ranked tools of drawn pools that are written at most: about 150 MB."""
_TOOL_IDS = 1_000_000
"""Ids of the tools of drawn pools that are written at most: about 50 MB."""
_NAME_LIMIT = 120
"""Characters of a folder's name."""


@dataclass(frozen=True, slots=True)
class Folder:
    """Where an experiment is written."""

    out: Path
    journal: RecordJournal[Measured]
    """What was measured."""
    names: Mapping[tuple[str, str], str]
    """Pool and retriever to the folder of the rankings."""
    with_draws: bool
    """Whether the rankings of drawn pools are written too."""
    ks: Sequence[int]
    """Cut-offs of what was measured."""

    def finished(self) -> dict[str, Any] | None:
        """Return the content of results.json; None where something is still to be done.

        Who was unavailable is asked again.
        """
        held = RETRIEVAL.read(self.out / RESULTS)
        is_whole = not any("unavailable" in entry for entry in held["results"])
        return held if held["results"] and is_whole else None

    def kept(self, ranked: Ranked, retriever: str) -> Measured | None:
        """Return what a retriever measured before the experiment was interrupted."""
        return self.journal.made.get(self._key(ranked, retriever))

    def keep(self, ranked: Ranked, retriever: str, made: Measurement) -> Measured:
        """Write one retriever's rankings of a pool, the relevant tools, and what it measured."""
        self._write_rankings(ranked, retriever, made.rankings)
        if ranked.whole:
            self._write_values(self.out / self._place(ranked, retriever), made.measured)
        with naming(self.out / TIMINGS), (self.out / TIMINGS).open("ab") as file:
            draw = {"size": ranked.size, "sample": ranked.draws[0].sample}
            told = {"pool": ranked.source.label, **draw, "retriever": retriever}
            file.write(json_bytes({**told, "tools": len(ranked.tools), **made.timing}) + b"\n")
        return self.journal.add(replace(made.measured, id=self._key(ranked, retriever)))

    def _key(self, ranked: Ranked, retriever: str) -> str:
        return f"{self._place(ranked, retriever)} {ranked.digest}"

    def _place(self, ranked: Ranked, retriever: str) -> str:
        """Return the folder of a retriever's rankings, within the experiment's."""
        name = self.names[ranked.source.label, retriever]
        return name if ranked.whole else f"{name}/{ranked.size}-{ranked.draws[0].sample}"

    def _write_rankings(self, ranked: Ranked, retriever: str, rankings: Sequence[Ranking]) -> None:
        folder = self.out / self._place(ranked, retriever)
        if ranked.whole:
            write_records(folder / "rankings.jsonl", rankings)
        elif not self.with_draws:
            return
        qrels = qrels_of(ranked.tasks)
        asked = {query for draw in ranked.draws for query in draw.queries}
        write_trec_run(folder / "run.trec", rankings, retriever, qrels)
        write_trec_qrels(
            folder / "qrels.trec", {query: qrels[query] for query in qrels if query in asked}
        )

    def _write_values(self, folder: Path, measured: Measured) -> None:
        """Write the metrics of each query."""
        with AtomicFile(folder / QUERIES) as file:
            lines = io.StringIO()
            writer = csv.writer(lines, lineterminator="\n")
            writer.writerow(["task", "goal", *metric_names(self.ks, RANKED)])
            writer.writerows([*query, *map(rounded, row)] for query, row in measured.values)
            file.write(lines.getvalue().encode())

    def finish(
        self, result: dict[str, Any], parts: Sequence[Ranked], figures: Figures | None
    ) -> None:
        """Write which queries each sample asked and the figures; the results come last.

        What `figures` left out is added to the notes of the result.
        """
        with_tools = lists_tools(parts)
        with AtomicFile(self.out / DRAWS) as file:
            for ranked in parts:
                for draw in ranked.draws:
                    told: dict[str, Any] = {
                        "pool": ranked.source.label,
                        "size": ranked.size,
                        "sample": draw.sample,
                        "tools_digest": ranked.digest,
                        "queries": [query_id(query) for query in draw.queries],
                    }
                    told |= {} if ranked.whole else {"distractors": ranked.distractors}
                    if with_tools and not ranked.whole:
                        told["tools"] = [tool.id for tool in ranked.tools]
                    file.write(json_bytes(told) + b"\n")
        LONG.write(result, self.out)
        if figures is not None:
            result["notes"] += figures(result, self.out)
        write_json(result, self.out / RESULTS)

    def discard(self) -> None:
        """Remove what an experiment wrote that cannot be."""
        for name in {Path(name).parts[0] for name in self.names.values()}:
            shutil.rmtree(self.out / name, ignore_errors=True)
        for name in (RESULTS, MEASURED, DRAWS, "results.csv", TIMINGS):
            (self.out / name).unlink(missing_ok=True)


@contextmanager
def open_folder(
    out: Path, begun: Mapping[str, Any], with_draws: bool, resume: bool
) -> Iterator[Folder]:
    """Give the folder of an experiment, for one process at a time.

    Of a new experiment that cannot be, nothing stays. One that is interrupted can be resumed.

    Args:
        out: New, empty, or with the same experiment.
        begun: Content of results.json before anything is measured.
        with_draws: Write the rankings of drawn pools too.
        resume: Go on with the experiment that the folder holds.

    Raises:
        UsageError: The folder holds something else, or another process writes into it.
        DataError: A file in it is malformed.
        OSError: It cannot be made.
    """
    out = out.resolve()
    journal = out / MEASURED
    with (
        RETRIEVAL.opened(out, begun, resume) as resumed,
        closing(RecordJournal(journal, Measured, _MEASURED_2)) as measured,
    ):
        folder = Folder(out, measured, ranking_folders(begun), with_draws, begun["protocol"]["k"])
        try:
            yield folder
        except SealError:
            if not resumed:
                folder.discard()
            raise
        if folder.finished() is not None:
            journal.unlink()


def lists_tools(parts: Sequence[Ranked]) -> bool:
    """Tell whether the tools of drawn pools are few enough for their ids to be written."""
    return sum(len(part.tools) for part in parts if not part.whole) <= _TOOL_IDS


def ranking_folders(content: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """Return pool and retriever to the folder of the rankings, by the content of results.json."""
    pools, retrievers = content["pools"], content["retrievers"]
    pairs = [(pool["pool"], each["retriever"]) for pool in pools for each in retrievers]
    named = (re.sub(r"[^A-Za-z0-9._-]+", ".", "-".join(pair))[:_NAME_LIMIT] for pair in pairs)
    return dict(zip(pairs, distinct(list(named)), strict=True))


def queries_in(folder: Path, content: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield {pool, retriever, task_id, goal, metric...} of each query of the whole pools.

    Args:
        folder: Of the experiment.
        content: Of its results.json.
    """
    for (pool, retriever), name in ranking_folders(content).items():
        file = folder / name / QUERIES
        with file.open(encoding="utf-8", newline="") if file.is_file() else io.StringIO() as lines:
            for row in csv.DictReader(lines):
                place = {"pool": pool, "retriever": retriever, "task_id": row.pop("task")}
                values = {metric: float(value) for metric, value in row.items()}
                yield {**place, **values, "goal": int(values["goal"])}


def _shown(value: float) -> float:
    return round(float(value), DIGITS)


def _long_rows(result: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the figures of an experiment one by one, each with `_COLUMNS`.

    A retriever that was unavailable has one line for each pool and size, with the reason.
    """
    for entry in result["results"]:
        common = {name: entry.get(name) for name in _COLUMNS}
        common |= {"size": str(entry["size"]), "sample": None}
        if "unavailable" in entry:
            yield common
        for metric, found in entry["metrics"].items():
            yield common | figures_of(metric, found)
        for sample in entry.get("by_sample", ()):
            own = {"sample": sample["sample"], "n": sample["queries"], "queries": sample["queries"]}
            for metric, value in sample["metrics"].items():
                yield {**common, **own, "samples": 1, "metric": metric, "value": value}


LONG = LongForm("results", _COLUMNS, _long_rows)
