"""An ablation, played and compared.

Beside it: tasks that no tool serves, and the likeness of names against errors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

from seal.core import Task, UsageError
from seal.core.arrays import Floats, np
from seal.core.text import counted
from seal.core.values import derive_seed
from seal.evaluation import REGISTRY as METRICS
from seal.evaluation.scoring import build_metrics, is_foreign
from seal.evaluation.statistics import mean_over, rounded
from seal.experiments.ablation_conditions import (
    ABSTENTION,
    PATTERNS,
    Variation,
    ablation_named,
    conditions_of,
)
from seal.experiments.comparison import sides_of
from seal.experiments.paired_scores import Side, compare, untested
from seal.experiments.role_work import roles_record, work_of
from seal.experiments.series import (
    ExperimentFile,
    PlannedRun,
    Reporter,
    SeriesResult,
    metrics_of,
    play,
    write_json,
)
from seal.pools.counts import environments_of, home_of
from seal.pools.lookup import open_pool
from seal.pools.pool import StoredPool, prefix, told_of
from seal.runs.engine import Engine
from seal.runs.play import free_folder
from seal.runs.run import SCALES, RunFolder, plain_scales, scales_of
from seal.runs.scores import ScoreTable
from seal.runs.settings import GROWING, RunSettings, changed

# -- An ablation: play a run for each condition, pair their scores, write what they prove.
#
# Its files:
#
# comparison.json          what was varied, a row for each run, the paired differences
# report.html              its tables, and its runs side by side
# CONDITION/               its run: a run folder
# figures/                 of the ablation of similarity, with the extra `experiments`

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
        what: Name of the ablation (`ablation_conditions.ablation_named`).
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


# -- Compares tasks that no tool serves with the answerable tasks that they were made from.
#
# The tag `irrelevance` says why no tool serves a task. `metadata["seed"]` names the task that it
# was made from. `seal.evaluation.conversation_audit` defines what counts as abstaining.

TAG = "irrelevance"
_ANSWERABLE = (None, "", "none", False)
"""Values of the tag for tasks that tools serve."""


@dataclass(frozen=True, slots=True)
class Irrelevant:
    """The tasks of both conditions."""

    kinds: Mapping[str, str]
    """Id of an irrelevant task to its kind."""
    seeds: Mapping[str, str]
    """Id of an irrelevant task to that of the answerable one, if the pool has it."""

    @classmethod
    def of(cls, pool: StoredPool, settings: RunSettings) -> Irrelevant:
        """Return the tasks of a pool; `limit` and `first` count irrelevant tasks.

        Raises:
            UsageError: The pool has no irrelevant task, or no answerable task that one was made
                from.
        """
        every = {task.id for task in pool.tasks()}
        irrelevant = [
            task
            for task in pool.tasks(select=settings.select)
            if task.tags.get(TAG) not in _ANSWERABLE
        ][: settings.first]
        if settings.limit is not None:
            drawn = prefix(irrelevant, settings.limit)
            irrelevant = [task for task in irrelevant if task.id in drawn]
        if not irrelevant:
            raise UsageError(
                f"{pool.name} has no selected task with the tag {TAG!r}: take a pool that has, "
                "or make one: seal generate queries --tools POOL --kinds irrelevance --out DIR"
            )
        seeds = {task.id: seed for task in irrelevant if (seed := _seed(task)) in every}
        if not seeds:
            raise UsageError(
                f"{pool.name}: none of {counted(len(irrelevant), 'irrelevant task')} names by "
                "metadata.seed an answerable task of the pool; nothing can be set beside them"
            )
        return cls({task.id: str(task.tags[TAG]) for task in irrelevant}, seeds)

    def conditions(self, ablation: Variation, settings: RunSettings) -> list[PlannedRun]:
        """Return the two conditions, which name their tasks, so that no limit or tag applies."""
        shared = changed(settings, limit=None, first=None, select={})
        parts = (tuple(self.kinds), tuple(dict.fromkeys(self.seeds.values())))
        return [
            PlannedRun(name, shared, only)
            for name, only in zip(ablation.conditions, parts, strict=True)
        ]

    def by_kind(self, one: Side, other: Side, seed: int) -> list[dict[str, Any]]:
        """Return for each kind the scores of its tasks and of their seeds, and the differences.

        Args:
            one: The run of the irrelevant tasks.
            other: That of the answerable ones.
            seed: Of intervals and tests.

        Returns:
            {kind, tasks, without_seed, metrics: {name: {mean, low, high, n}}, comparisons}: the
            share of all tasks of the kind, with its 95 % bootstrap interval over tasks, and the
            paired differences to their seeds (`paired_scores.compare`).
        """
        tasks = Counter(self.kinds.values())
        return [
            {
                "kind": kind,
                "tasks": tasks[kind],
                "without_seed": tasks[kind] - len(self._partners(kind)),
                "metrics": {name: self._share(one, kind, name, seed) for name in ABSTENTION},
                "comparisons": compare(
                    one,
                    other,
                    derive_seed(seed, kind),
                    metrics=ABSTENTION,
                    partner=self._partners(kind),
                ),
            }
            for kind in sorted(tasks)
        ]

    def _partners(self, kind: str) -> dict[str, str]:
        return {task: seed for task, seed in self.seeds.items() if self.kinds[task] == kind}

    def _share(self, one: Side, kind: str, metric: str, seed: int) -> dict[str, Any]:
        table = one.scores
        if metric not in table.metrics:  # nothing was scored
            return {"mean": None, "low": None, "high": None, "n": 0}
        scored = enumerate(table.scored())
        rows = [(task, row) for row, (task, _, _) in scored if self.kinds.get(task) == kind]
        values = table.values[:, table.metrics[metric]]
        return rate_of(values, rows, derive_seed(seed, kind, metric))


def _seed(task: Task) -> str:
    made_of = task.metadata.get("seed")
    return made_of if isinstance(made_of, str) else ""


# -- How alike the names of an environment's tools are, against the errors made there.
#
# An environment is a category of tools; a goal belongs to that of its gold tools, else of its
# offered ones, where it is a single one. J_avg in both variants is of all its tools
# (`seal.evaluation.name_similarity`).
#
# An error rate is 1 less the mean score of a pattern over the goals of the environment, so that its
# denominators are those of `seal.evaluation.pattern_scores`; `any` is the share of goals with at
# least one error of any pattern, `failed` 1 less the pass rate.

VARIANTS = ("strict", "stopwords")
LEAST = 3
"""Fewest environments that show anything."""
ANY, FAILED = "any", "failed"
RATES = (*PATTERNS, ANY, FAILED)


def homes_of(pool: StoredPool, tasks: Iterable[Task]) -> dict[tuple[str, int], str]:
    """Return (task id, goal) to its environment; goals without one are left out.

    Args:
        pool: Whose tools there are.
        tasks: Those that are played.

    Raises:
        UsageError: Fewer than three environments have a goal: they show nothing.
    """
    category_of = {tool.id: tool.category for tool in pool.tools()}
    found = {}
    for task in tasks:
        for position, goal in enumerate(task.goals):
            home = home_of(goal, category_of)
            if home is not None:
                found[task.id, position] = home
    count = len(set(found.values()))
    if count < LEAST:
        raise UsageError(
            f"{pool.name} has goals in {counted(count, 'environment')}, and the ablation needs "
            "at least "
            f"{LEAST}: take a pool with more categories of tools, or select more tasks"
        )
    return found


def points_of(
    pool: StoredPool, homes: Mapping[tuple[str, int], str], scores: ScoreTable, seed: int
) -> list[dict[str, Any]]:
    """Return a point for each environment that has a goal, by name.

    Args:
        pool: Whose tools there are.
        homes: Of the goals (`homes_of`).
        scores: Of the run.
        seed: Of the intervals.

    Returns:
        {environment, tools, goals, strict, stopwords, rates: {name: {rate, low, high, n}}}: J_avg
        in both variants (None: fewer than two names), and the error rates with their 95 % bootstrap
        intervals over tasks; a rate is None where no goal has a value.
    """
    rows: dict[str, list[tuple[str, int]]] = {}
    for row, (task, _, goal) in enumerate(scores.scored()):
        if (task, goal) in homes:
            rows.setdefault(homes[task, goal], []).append((task, row))
    errors = _errors(scores)

    def rate(place: str, name: str) -> dict[str, Any]:
        found = rate_of(errors[name], rows[place], derive_seed(seed, place, name))
        return {"rate": found.pop("mean"), **found}

    return [
        {
            "environment": place.name,
            "tools": place.tools,
            "goals": len(rows[place.name]),
            "strict": rounded(place.similarity_strict),
            "stopwords": rounded(place.similarity_stopwords),
            "rates": {name: rate(place.name, name) for name in RATES},
        }
        for place in environments_of(pool)
        if place.name in rows
    ]


def rate_of(values: Floats, rows: Sequence[tuple[str, int]], seed: int) -> dict[str, Any]:
    """Return {mean, low, high, n} of some values, with the interval over their tasks.

    Args:
        values: Of all rows; NaN where there is none.
        rows: Those that count: the task and its place in `values`.
        seed: Of the interval.
    """
    found = [(task, float(values[row])) for task, row in rows if not np.isnan(values[row])]
    number = {task: place for place, task in enumerate(dict.fromkeys(task for task, _ in found))}
    return mean_over([value for _, value in found], [number[task] for task, _ in found], seed)


def _errors(scores: ScoreTable) -> dict[str, Floats]:
    """Return the error of every row, by name; NaN where there is no value."""
    nothing = np.full(len(scores.goals), np.nan)

    def error(metric: str) -> Floats:
        if metric not in scores.metrics:
            return nothing
        found: Floats = 1 - scores.values[:, scores.metrics[metric]]
        return found

    errors = {name: error(name) for name in PATTERNS}
    every = np.column_stack(list(errors.values()))
    known = ~np.isnan(every).all(axis=1)
    anyhow = np.where(known, (np.nan_to_num(every) > 0).any(axis=1), np.nan)
    return {**errors, ANY: anyhow, FAILED: error("pass_rate")}
