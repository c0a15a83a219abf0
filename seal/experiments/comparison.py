"""Runs compared: what is matched, how far apart, which tasks turned."""

from __future__ import annotations

import filecmp
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, count
from pathlib import Path
from typing import Any

from seal.core import DataError, Scale, Task, UnknownNameError, UsageError, cluster_of
from seal.core.arrays import Floats, NDArray, np
from seal.core.files import opened
from seal.core.records import SCHEMAS
from seal.core.values import json_value
from seal.evaluation.goals import RATE
from seal.evaluation.significance import ALPHA, POWER
from seal.experiments.judging import win_rate
from seal.experiments.paired_scores import (
    Chats,
    Pairs,
    Side,
    column_of,
    compare,
    correct,
    flips_of,
    means_over_trials,
    pair_up,
    passes_of,
    untested,
    verdicts_of,
)
from seal.experiments.settings import CompareSettings
from seal.pools.importer import TASKS
from seal.runs.run import SCALES, RunFolder, check_whole, plain_scales, scales_of, varied_settings
from seal.runs.score_table import read_scores
from seal.runs.settings import GROWING

# -- A comparison of runs: what is matched, how far apart they are, and which tasks turned.

FEW = 50
"""Clusters below which intervals are somewhat narrow and power is rough; see
perf/interval_coverage.py."""


def study(
    runs: Mapping[str, RunFolder],
    settings: CompareSettings,
    family: Sequence[str],
    decisive: Collection[str],
) -> dict[str, Any]:
    """Return what the runs differ in.

    Args:
        runs: Name to run; two or more.
        settings: How they are compared.
        family: Metrics over which p is corrected by Holm, together with all pairs of runs; those
            that `settings.metrics` names go before it.
        decisive: Metrics that may tell a solved task, the first goes before the others.

    Returns:
        {protocol, differs, runs, pairs, comparisons, scales, notes}; `seal.compare` says what is in
        them.

    Raises:
        UsageError: Fewer than two runs, two that have no task in common, or measure
            otherwise without `force`.
        UnknownNameError: No run has the metric.
        DataError: A run is not scored, or a file is damaged.
    """
    differs = _differences_of(runs, settings.force)
    told, clusters = list(settings.metrics or family), shared_clusters(runs)

    # Of large runs only the first, and the one that is compared with it, fit into memory.
    @lru_cache(2 if settings.pairs == "first" else None)
    def side(name: str) -> Side:
        return side_of(name, runs[name], clusters[name])

    scales = scales_of(runs.values())
    rows: dict[str, dict[str, Any]] = {}
    metrics: set[str] = set()
    entries: list[dict[str, Any]] = []
    pairs: list[dict[str, Any]] = []
    notes: list[str] = []
    for first, later in combinations(runs, 2):
        if settings.pairs == "first" and first != next(iter(runs)):
            continue
        for name in (first, later):
            rows[name] = _row(name, runs[name], side(name))
            metrics.update(side(name).scores.metrics)
        found = _Compared.of(side(later), side(first), settings, scales)
        entries += found.entries
        pairs.append(found.described(settings, decisive, scales))
        notes += found.notes(told)
        del found  # its columns need not be kept while the next two are paired
    for name in (*settings.metrics, *filter(None, [settings.success])):
        if name not in metrics:
            raise UnknownNameError("metric of these runs", name, sorted(metrics))
    correct([entry for entry in entries if entry["metric"] in told])
    if settings.win_rate:
        for pair in pairs:
            one, other = runs[pair["run"]], runs[pair["other"]]
            pair["win_rate"] = win_rate(one, other, settings)
    return {
        "protocol": {
            "pairs": settings.pairs,
            "metrics": list(settings.metrics),
            "family": told,
            "seed": settings.seed,
            "resamples": settings.resamples,
            "level": 0.95,
            "alpha": ALPHA,
            "power": POWER,
        },
        "differs": differs,
        "varied": varied_settings(runs),
        "runs": [rows[name] for name in runs],
        "pairs": pairs,
        "comparisons": entries,
        SCALES: plain_scales(scales, sorted(metrics)),
        "notes": notes,
    }


def _differences_of(runs: Mapping[str, RunFolder], force: bool) -> list[str]:
    """Return in what runs measure otherwise; refuse what is no comparison."""
    if len(runs) < 2:
        named = ", ".join(runs) or "none"
        raise UsageError(f"a comparison needs at least two runs, got {named}: name another one")
    differs = list(differing(runs))
    if differs and not force:
        raise UsageError(
            "; ".join(differs) + ". Such numbers cannot be compared. Where the judge or the "
            "metrics differ, score both alike (seal score RUN --judge J --metric M); where it is "
            "meant: --force (from Python force=True)"
        )
    return differs


def _row(name: str, run: RunFolder, side: Side) -> dict[str, Any]:
    chats = side.scores.chats()
    return {
        "run": name,
        "path": str(run.path),
        "model": run.model or None,
        "tasks": len(side.scores.tasks),
        "chats": len(chats),
        "trials": len(set(chats[:, 1].tolist())),
    }


@dataclass(frozen=True, slots=True)
class _Compared:
    """Two runs that are compared, and their entries."""

    one: Side
    other: Side
    pairs: Pairs
    """By trial."""
    chats: Chats
    """Of these pairs."""
    shared: NDArray[np.bool_]
    """Of each task of the pairs, whether both runs have it."""
    paired: tuple[Side, Side, Pairs]
    """What the entries are of: the runs, or, where these differ in the trials of a task, their
    means over trials."""
    averaged: bool
    entries: list[dict[str, Any]]

    @classmethod
    def of(
        cls, one: Side, other: Side, settings: CompareSettings, scales: Mapping[str, Scale]
    ) -> _Compared:
        pairs = pair_up(one, other)
        chats = Chats.of(pairs)
        played = [np.bincount(chats.tasks, held, len(pairs.names)) > 0 for held in chats.held]
        shared = played[0] & played[1]
        if not shared.any():
            raise UsageError(
                f"{other.name} and {one.name} have no task in common: compare runs of one benchmark"
            )
        paired = one, other, pairs
        averaged = bool((chats.held[0] != chats.held[1])[shared[chats.tasks]].any())
        if averaged:
            mean = replace(one, scores=means_over_trials(one.scores))
            other_mean = replace(other, scores=means_over_trials(other.scores))
            paired = mean, other_mean, pair_up(mean, other_mean)
        # The seed is not of the names: a report names runs otherwise, and says the same of them.
        asked = settings.seed, settings.resamples, settings.metrics or None
        compared = compare(paired[0], paired[1], *asked, family=(), pairs=paired[2], scales=scales)
        entries = [
            entry | _directions(paired[2], _differences(*paired, entry["metric"]))
            for entry in compared
        ]
        return cls(one, other, pairs, chats, shared, paired, averaged, entries)

    def described(
        self, settings: CompareSettings, decisive: Collection[str], scales: Mapping[str, Scale]
    ) -> dict[str, Any]:
        """Return what `seal.api.comparisons.Comparison` says of a pair, but the win rate."""
        metric = settings.success or self._success(decisive)
        found: dict[str, Any] = {
            "run": self.one.name,
            "other": self.other.name,
            "averaged": self.averaged,
            **self._matched(),
            "success": metric,
            "flips": None,
            "passes": [],
            "win_rate": None,
        }
        if metric is not None:
            scale = scales.get(metric, RATE)
            verdicts = verdicts_of(
                self.one, self.other, self.pairs, self.chats, metric, self.averaged, scale
            )
            found["flips"] = flips_of(verdicts)
            found["passes"] = passes_of(verdicts, settings.seed, settings.resamples)
            correct(found["passes"])
        return found

    def _success(self, decisive: Collection[str]) -> str | None:
        """Return the first decisive metric in which both runs have a value for one pair."""
        for name in decisive:
            if not np.isnan(_differences(*self.paired, name)).all():
                return name
        return None

    def _matched(self) -> dict[str, Any]:
        matched = self.shared[self.chats.tasks]
        ours, theirs = self.chats.held
        return {
            "matched": {
                "tasks": int(self.shared.sum()),
                "chats": int((ours & matched).sum()),
                "other_chats": int((theirs & matched).sum()),
            },
            "alone": self._alone(ours & ~matched),
            "other_alone": self._alone(theirs & ~matched),
        }

    def _alone(self, chats: NDArray[np.bool_]) -> dict[str, Any]:
        """Return which tasks have no partner."""
        named = sorted({self.pairs.names[task] for task in self.chats.tasks[chats].tolist()})
        return {"tasks": len(named), "chats": int(chats.sum()), "named": named}

    def notes(self, told: Collection[str]) -> Iterator[str]:
        """Yield what a reader should know before the figures.

        Args:
            told: Metrics of the family.
        """
        counted = [entry for entry in self.entries if entry["n"]]
        name = f"{self.one.name} and {self.other.name}"
        if counted and not any(entry["higher"] or entry["lower"] for entry in counted):
            yield f"{name} have the same value in every pair that has values"
        yield from untested(self.entries, told)
        _, _, pairs = self.paired
        matched = (pairs.rows >= 0) & (pairs.others >= 0)
        clusters = len(set(pairs.clusters[matched].tolist()))
        if 1 < clusters < FEW:
            yield f"{name}: {clusters} tasks, or families of them, make rough intervals"
        if not counted:
            yield f"{name}: no metric has a value in both"


def _differences(one: Side, other: Side, pairs: Pairs, metric: str) -> Floats:
    """Return the one run's values minus the other's, (pairs,)."""
    return column_of(one.scores, pairs.rows, metric) - column_of(other.scores, pairs.others, metric)


def _directions(pairs: Pairs, differences: Floats) -> dict[str, list[str]]:
    """Return the tasks in which the one run's mean is higher, and those in which it is lower."""
    here = ~np.isnan(differences)
    sums = np.bincount(pairs.tasks[here], differences[here], len(pairs.names))
    return {
        "higher": [pairs.names[place] for place in np.flatnonzero(sums > 1e-12).tolist()],
        "lower": [pairs.names[place] for place in np.flatnonzero(sums < -1e-12).tolist()],
    }


# -- Run folders compared: every two of them, in every metric.


def side_of(name: str, run: RunFolder, clusters: Mapping[str, str] | None = None) -> Side:
    """Return a run as one side of a comparison.

    Args:
        name: Of the run.
        run: Its folder.
        clusters: Of its tasks, where they are known; None: they are read.

    Raises:
        DataError: The run is not scored, or a file is damaged.
    """
    return Side(name, read_scores(run.scores_path, run.rates()), clusters or clusters_of(run))


def sides_of(runs: Mapping[str, RunFolder]) -> dict[str, Side]:
    """Return runs, each by its name, as sides of comparisons; runs of the same tasks share theirs.

    Raises:
        DataError: As for `side_of`.
    """
    clusters = shared_clusters(runs)
    return {name: side_of(name, run, clusters[name]) for name, run in runs.items()}


def shared_clusters(runs: Mapping[str, RunFolder]) -> dict[str, Mapping[str, str]]:
    """Return the clusters of each run's tasks (`clusters_of`); runs of the same tasks share theirs.

    Raises:
        DataError: A tasks.jsonl is damaged.
    """
    found: dict[str, Mapping[str, str]] = {}
    for name, run in runs.items():
        twins = (known for other, known in found.items() if _same_file(runs[other], run, TASKS))
        found[name] = next(twins, {}) or clusters_of(run)
    return found


def _same_file(one: RunFolder, other: RunFolder, file: str) -> bool:
    try:
        return filecmp.cmp(one.path / file, other.path / file, shallow=False)
    except OSError:
        return False  # who reads them names the fault


def differing(runs: Mapping[str, RunFolder], expected: Sequence[str] = ()) -> Iterator[str]:
    """Yield a sentence for each part of what is measured in which a run differs from the first.

    Args:
        runs: Name to run.
        expected: Parts that are meant to differ.

    Raises:
        DataError: A run.json says nothing of what was measured.
    """
    measures = {name: _measure(run) for name, run in runs.items()}
    first = next(iter(measures))
    for name, measure in measures.items():
        for part in sorted({*measures[first], *measure} - {*GROWING, *expected}):
            was, now = measures[first].get(part), measure.get(part)
            if was != now:
                said = f"{part} is {was!r} and {now!r}"
                if part == "pool_digest":
                    same = _same_file(runs[first], runs[name], "tools.jsonl")
                    said = f"the {'tasks' if same else 'tools'} of their pools differ"
                yield f"{first} and {name} measure otherwise: {said}"


def _measure(run: RunFolder) -> Mapping[str, Any]:
    measure = run.manifest().get("measure")
    if not isinstance(measure, Mapping):
        raise DataError(
            f"{run.path / 'run.json'}: expected an object `measure`, got {type(measure).__name__}: "
            "give the path that `seal run` printed"
        )
    return measure


def named_runs(paths: Sequence[Path]) -> dict[str, RunFolder]:
    """Return the runs of folders by the shortest names that tell them apart.

    A name is the folder's own, with as many of the folders above it as all need.

    Raises:
        UsageError: A folder stands there twice.
        DataError: A folder holds no run, or files of it were cut.
    """
    parts = [path.resolve().parts for path in paths]
    for place, path in enumerate(paths):
        if parts[place] in parts[:place]:
            raise UsageError(f"{path} stands there twice; give another run to compare it with")
    runs = [RunFolder.open(path) for path in paths]
    for run in runs:
        check_whole(run)
    return dict(zip(shortest_names(paths), runs, strict=True))


def shortest_names(paths: Sequence[Path]) -> list[str]:
    """Return the shortest ends of different paths that tell all of them apart."""
    parts = [path.resolve().parts for path in paths]
    ends = ([Path(*part[-depth:]).as_posix() for part in parts] for depth in count(1))
    return next(names for names in ends if len(set(names)) == len(names))


# -- The clusters of a run's tasks.


def clusters_of(run: RunFolder) -> dict[str, str]:
    """Return task id to cluster, from a run's tasks.jsonl.

    Raises:
        DataError: There is no such file, or a line of it is no task; names the line.
    """
    path = run.path / TASKS
    try:  # a task is made of 20 times as many objects as are needed here
        if not path.is_file():
            raise FileNotFoundError(path)  # for a pipe's writer it would wait
        found = {}
        with opened(path) as lines:
            for one in map(json_value, filter(bytes.strip, lines)):
                if one["schema"] != SCHEMAS[Task] or not isinstance(one["id"], str):
                    raise TypeError
                found[one["id"]] = cluster_of(one["id"], one.get("metadata", {}))
        return found
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        pass  # what follows names the fault
    return {task.id: cluster_of(task.id, task.metadata) for task in run.tasks()}
