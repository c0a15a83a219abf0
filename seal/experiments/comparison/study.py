"""A comparison of runs: what is matched, how far apart they are, and which tasks turned."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import Any

from seal.core import Scale, UnknownNameError, UsageError
from seal.core.arrays import Floats, NDArray, np
from seal.evaluation.goals import RATE
from seal.evaluation.power import ALPHA, POWER
from seal.experiments.comparison.between_runs import differing, shared_clusters, side_of
from seal.experiments.comparison.comparison_settings import Against, CompareSettings
from seal.experiments.comparison.pairs import (
    Chats,
    Pairs,
    Side,
    column_of,
    compare,
    correct,
    pair_up,
    untested,
)
from seal.experiments.comparison.trial_means import means_over_trials
from seal.experiments.comparison.verdicts import flips_of, passes_of, verdicts_of
from seal.experiments.win_rates import win_rate
from seal.runs.run_folder import RunFolder
from seal.runs.scales import SCALES, plain_scales, scales_of

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
    for first, later in _chosen(list(runs), settings.pairs):
        for name in (first, later):
            rows[name] = _row(name, runs[name], side(name))
            metrics.update(side(name).scores.metrics)
        each, pair, noted = _compared(side(later), side(first), settings, decisive, scales, told)
        entries += each
        pairs.append(pair)
        notes += noted
    _check_metrics(settings, sorted(metrics))
    correct([entry for entry in entries if entry["metric"] in told])
    if settings.is_asked:
        for pair in pairs:
            one, other = runs[pair["run"]], runs[pair["other"]]
            pair["win_rate"] = win_rate(one, other, settings)
    return {
        "protocol": _protocol(settings, told),
        "differs": differs,
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


def _chosen(names: Sequence[str], against: Against) -> list[tuple[str, str]]:
    """Return the runs that are compared, two by two, the earlier first."""
    every = combinations(names, 2)
    return [pair for pair in every if against == "all" or pair[0] == names[0]]


def _protocol(settings: CompareSettings, told: Sequence[str]) -> dict[str, Any]:
    return {
        "pairs": settings.pairs,
        "metrics": list(settings.metrics),
        "family": told,
        "seed": settings.seed,
        "resamples": settings.resamples,
        "level": 0.95,
        "alpha": ALPHA,
        "power": POWER,
    }


def _check_metrics(settings: CompareSettings, known: Sequence[str]) -> None:
    for name in (*settings.metrics, *([settings.success] if settings.success else [])):
        if name not in known:
            raise UnknownNameError("metric of these runs", name, known)


def _row(name: str, run: RunFolder, side: Side) -> dict[str, Any]:
    model = run.manifest().get("system", {}).get("model", {})
    chats = side.scores.chats()
    return {
        "run": name,
        "path": str(run.path),
        "model": model.get("model") if isinstance(model, Mapping) else model,
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
    def of(cls, one: Side, other: Side, settings: CompareSettings) -> _Compared:
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
        entries = _entries(*paired, settings)
        return cls(one, other, pairs, chats, shared, paired, averaged, entries)

    def described(
        self, settings: CompareSettings, decisive: Collection[str], scales: Mapping[str, Scale]
    ) -> dict[str, Any]:
        """Return what `api.objects.comparisons.Comparison` says of a pair, but the win rate."""
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
        if counted and all(entry["low"] == entry["high"] == 0 for entry in counted):
            yield f"{name} have the same value in every pair"
        yield from untested(self.entries, told)
        _, _, pairs = self.paired
        matched = (pairs.rows >= 0) & (pairs.others >= 0)
        clusters = len(set(pairs.clusters[matched].tolist()))
        if 1 < clusters < FEW:
            yield f"{name}: {clusters} tasks, or families of them, make rough intervals"
        if not counted:
            yield f"{name}: no metric has a value in both"


def _compared(
    one: Side,
    other: Side,
    settings: CompareSettings,
    decisive: Collection[str],
    scales: Mapping[str, Scale],
    told: Sequence[str],
) -> tuple[list[dict[str, Any]], dict[str, Any], list[str]]:
    """Return the entries of two runs, what is said of the pair, and notes; nothing else is kept."""
    found = _Compared.of(one, other, settings)
    return found.entries, found.described(settings, decisive, scales), list(found.notes(told))


def _entries(
    one: Side, other: Side, pairs: Pairs, settings: CompareSettings
) -> list[dict[str, Any]]:
    """Return the differences in each metric, with the tasks of either direction."""
    entries = compare(
        one,
        other,
        # Not of the names: a report names runs otherwise, and says the same of them.
        settings.seed,
        settings.resamples,
        settings.metrics or None,
        family=(),
        pairs=pairs,
    )
    return [
        entry | _directions(pairs, _differences(one, other, pairs, entry["metric"]))
        for entry in entries
    ]


def _differences(one: Side, other: Side, pairs: Pairs, metric: str) -> Floats:
    """Return the one run's values less the other's, (pairs,)."""
    return column_of(one.scores, pairs.rows, metric) - column_of(other.scores, pairs.others, metric)


def _directions(pairs: Pairs, differences: Floats) -> dict[str, list[str]]:
    """Return the tasks in which the one run's mean is higher, and those in which it is lower."""
    here = ~np.isnan(differences)
    sums = np.bincount(pairs.tasks[here], differences[here], len(pairs.names))
    return {
        "higher": [pairs.names[place] for place in np.flatnonzero(sums > 1e-12).tolist()],
        "lower": [pairs.names[place] for place in np.flatnonzero(sums < -1e-12).tolist()],
    }
