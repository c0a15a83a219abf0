"""An ablation: play a run for each condition, pair their scores, write what they prove.

Its files:

comparison.json          what was varied, a row for each run, the paired differences
report.html              its tables, and its runs side by side
CONDITION/               its run: a run folder
figures/                 of the ablation of similarity, with the extra `experiments`
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

from seal.core import UsageError
from seal.core.text import counted
from seal.evaluation import REGISTRY as METRICS
from seal.evaluation.role_work import roles_record
from seal.evaluation.scoring import build_metrics, is_foreign
from seal.experiments.ablation.irrelevance import Irrelevant
from seal.experiments.ablation.similarity import homes_of, points_of
from seal.experiments.ablation.variants import Variation, ablation_named, conditions_of
from seal.experiments.comparison.between_runs import sides_of
from seal.experiments.comparison.pairs import Side, compare, untested
from seal.experiments.result_files import ExperimentFile, write_json
from seal.experiments.role_counts import work_of
from seal.experiments.series import PlannedRun, Reporter, SeriesResult, metrics_of, play
from seal.pools.lookup import open_pool
from seal.pools.pool import StoredPool
from seal.pools.task_order import told_of
from seal.runs.engine import Engine
from seal.runs.run import free_folder
from seal.runs.run_folder import RunFolder
from seal.runs.scales import SCALES, plain_scales, scales_of
from seal.runs.settings import GROWING, RunSettings, changed

COMPARISON = ExperimentFile(
    "comparison.json",
    "ablation",
    ("protocol", "runs", "comparisons", "notes"),
    telling=("protocol",),
    growing=GROWING,
)


def ablate(
    what: str,
    settings: RunSettings,
    retrievers: Sequence[Any] = (),
    out: Path | None = None,
    resume: bool = False,
    progress: Reporter | None = None,
) -> SeriesResult:
    """Play a benchmark under conditions that differ in one thing.

    Args:
        what: Name of the ablation (`conditions.ablation_named`).
        settings: Settings of every run. A condition replaces what is varied, and all runs share the
            budget.
        retrievers: The retrievers that the ablation `retriever` compares; none: hybrid, tfidf,
            bm25, oracle.
        out: Folder of the ablation; None: `runs/POOL-MODEL`, with a number if that exists.
        resume: Go on with the ablation in `out`: what is played stays.
        progress: Called with how many runs are done, and how far the present one is.

    Raises:
        UnknownNameError: No such ablation, or metric.
        UsageError: A setting has a value that no ablation can have, the folder is in use, or it
            holds an ablation of other settings.
        DataError: The pool or a folder is damaged.
        InfrastructureError: A worker process died.
    """
    if out is None and resume:
        raise UsageError("--resume needs --out DIR: the folder of the ablation to go on with")
    pool = open_pool(settings.pool)
    ablation = ablation_named(what, pool.benchmark)
    if retrievers and ablation.field != "retriever":
        raise UsageError(f"the ablation {what} compares no retrievers: give one --retriever")
    further = [name for name in ablation.metrics if name not in settings.metrics]
    settings = changed(settings, metrics=(*settings.metrics, *further))
    build_metrics(settings.metrics, METRICS)  # refuses what is no metric
    out = out or free_folder(settings)
    COMPARISON.check_folder(out, resume)
    irrelevant = Irrelevant.of(pool, settings) if what == "irrelevance" else None
    homes = homes_of(pool, pool.chosen(settings)) if what == "similarity" else None
    if irrelevant is not None:
        conditions = irrelevant.conditions(ablation, settings)
    else:
        conditions = conditions_of(ablation, settings, retrievers)
    planned = _Planned(ablation, settings, pool, conditions, irrelevant, homes)
    planned.check(out)
    begun = planned.content(out, [], [f"unfinished: {counted(len(planned.conditions), 'run')}"])
    with COMPARISON.opened(out, begun, resume):
        found = partial(planned.content, out)
        result = play(planned.conditions, out, settings, found, progress)
        write_json(result.content, out / COMPARISON.name)
    return result


@dataclass(frozen=True, slots=True)
class _Planned:
    """An ablation of one pool under its settings."""

    ablation: Variation
    settings: RunSettings
    pool: StoredPool
    conditions: Sequence[PlannedRun]
    irrelevant: Irrelevant | None
    homes: Mapping[tuple[str, int], str] | None

    def check(self, out: Path) -> None:
        """Refuse a condition that cannot be played, before the first one is played."""
        for condition in self.conditions:
            folder = RunFolder(out / condition.name)
            if not folder.is_begun:
                with Engine.of(condition.settings, folder) as engine:
                    engine.check()

    def content(self, out: Path, done: Sequence[str], notes: list[str]) -> dict[str, Any]:
        """Return the content of comparison.json.

        Args:
            out: Folder of the ablation.
            done: Names of the finished runs.
            notes: On what is not finished.
        """
        runs = {name: RunFolder(out / name) for name in done}
        seed, irrelevant = self.settings.seed, self.irrelevant
        sides = list(sides_of(runs).values())
        most = max(self.settings.cutoffs)
        told = [
            f"{name}@{most}" if name in ("recall", "mrr") else name for name in self.ablation.told
        ]
        told += [name for name in _headlined(runs.values()) if name not in told]
        partner = irrelevant.seeds if irrelevant is not None else None
        compared = [
            entry
            for one, other in _compared(sides, self.ablation.against)
            for entry in compare(one, other, seed, partner=partner, family=told)
        ]
        scales = scales_of(runs.values())
        content: dict[str, Any] = {
            "protocol": self._protocol(told),
            "system": self._system(runs),
            "runs": [_row(name, folder) for name, folder in runs.items()],
            "comparisons": compared,
            SCALES: plain_scales(scales, sorted({entry["metric"] for entry in compared})),
            "notes": [*notes, *self._without_seed(), *untested(compared, told)],
        }
        if self.ablation.name == "injection":
            content["costs"] = costs_of(compared)
        if self.ablation.name == "roles":
            work = {name: work_of(folder) for name, folder in runs.items()}
            content["roles"] = {name: roles_record(found) for name, found in work.items()}
            content["notes"] += silent(runs, {name: found.keys() for name, found in work.items()})
        if irrelevant is not None and len(sides) == 2:
            content["kinds"] = irrelevant.by_kind(sides[0], sides[1], seed)
        if self.homes is not None and sides:
            content["points"] = points_of(self.pool, self.homes, sides[0].scores, seed)
        return content

    def _protocol(self, told: Sequence[str]) -> dict[str, Any]:
        ablation, settings = self.ablation, self.settings
        return {
            "ablation": ablation.name,
            "varied": ablation.varied or ablation.option or ablation.field or "tasks",
            "conditions": [condition.name for condition in self.conditions],
            "told": told,
            "pool": self.pool.name,
            "pool_digest": self.pool.digest,
            "seed": settings.seed,
            "select": dict(settings.select),
            **told_of(settings),
            "trials": settings.trials,
        }

    def _system(self, runs: Mapping[str, RunFolder]) -> dict[str, Any]:
        """Return the system that was tested, without what was varied."""
        if not runs:
            return {}
        system = next(iter(runs.values())).manifest()["system"]
        return {name: said for name, said in system.items() if name != self.ablation.field}

    def _without_seed(self) -> list[str]:
        alone = len(self.irrelevant.kinds) - len(self.irrelevant.seeds) if self.irrelevant else 0
        if not alone:
            return []
        return [f"{counted(alone, 'irrelevant task')} without a seed in this pool, in no pair"]


def _headlined(runs: Iterable[RunFolder]) -> dict[str, None]:
    """Return the metrics that a benchmark brings itself and declares to matter."""
    found: dict[str, None] = {}
    for run in runs:
        declared, metrics = run.declared(), run.summary()["metrics"]
        named = (*declared.get("headline", ()), declared.get("success", ""))
        mine = (name for name in named if name in metrics and is_foreign(name, METRICS))
        found |= dict.fromkeys(mine)
    return found


def _compared(sides: Sequence[Side], against: str) -> list[tuple[Side, Side]]:
    if not against:
        return list(combinations(sides, 2))
    plain = [side for side in sides if side.name == against]
    return [(side, other) for other in plain for side in sides if side is not other]


def _row(name: str, folder: RunFolder) -> dict[str, Any]:
    summary = folder.summary()
    kept = ("tasks", "errors", "error_reasons", "skipped", "usage")
    told = {part: summary[part] for part in kept}
    return {"condition": name, **told, "metrics": metrics_of(summary)}


def silent(runs: Mapping[str, RunFolder], spoke: Mapping[str, Set[str]]) -> list[str]:
    """Return a note for each role that was seated and never spoke: its runs say nothing about it.

    Runs in which nobody spoke are left out: there the infrastructure failed.

    Args:
        runs: Condition to its run.
        spoke: Condition to the roles that spoke in it.
    """
    found: dict[str, list[str]] = {}
    for name, folder in runs.items():
        seats = folder.manifest()["system"]["roles"] if spoke[name] else ()
        for role in sorted(set(seats) - spoke[name]):
            found.setdefault(role, []).append(name)
    return [f"{role}: seated, and never spoke ({', '.join(found[role])})" for role in sorted(found)]


def costs_of(comparisons: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return for each metric what each stage costs.

    Args:
        comparisons: Of each condition less the plain run.

    Returns:
        {metric, plain, stages: {name: {cost, low, high, n}}}. `plain` is the mean of the plain run
        over the pairs of the first stage that has any. `cost` is what gold in the place of the
        stage adds, with its 95 % interval.
    """
    by_metric: dict[str, dict[str, Mapping[str, Any]]] = {}
    for entry in comparisons:
        if entry["n"]:
            by_metric.setdefault(entry["metric"], {})[entry["run"]] = entry
    return [
        {
            "metric": metric,
            "plain": next(iter(found.values()))["other_mean"],
            "stages": {
                stage: {
                    "cost": entry["difference"],
                    "low": entry["low"],
                    "high": entry["high"],
                    "n": entry["n"],
                }
                for stage, entry in found.items()
            },
        }
        for metric, found in by_metric.items()
    ]
