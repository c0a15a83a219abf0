"""An ablation: what it varies, how it is played, and what its runs prove.

Beside it: tasks that no tool serves, and the likeness of names against errors.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

from seal.agents.roles import Checker
from seal.agents.teams import MANAGER, team_options
from seal.core import Task, UnknownNameError, UsageError
from seal.core.arrays import Floats, np
from seal.core.registry import load_dotted, name_of
from seal.core.text import counted
from seal.core.values import derive_seed
from seal.evaluation import REGISTRY as METRICS
from seal.evaluation.goals import ranking
from seal.evaluation.scoring import build_metrics
from seal.evaluation.statistics import mean_over, rounded
from seal.experiments.comparison import sides_of
from seal.experiments.explanation import roles_record, work_of
from seal.experiments.paired_scores import Side, compare, untested
from seal.experiments.series import (
    ExperimentFile,
    PlannedRun,
    Reporter,
    SeriesResult,
    metrics_of,
    play,
    write_json,
)
from seal.models.spec import is_offline
from seal.pools.benchmark import Benchmark
from seal.pools.counts import environments_of, home_of
from seal.pools.lookup import open_pool
from seal.pools.pool import StoredPool, prefix, told_of
from seal.retrievers.base import spec_of
from seal.runs.engine import Engine
from seal.runs.play import run_folder
from seal.runs.resolve import baselines_of
from seal.runs.run import SCALES, RunFolder, plain_scales, scales_of
from seal.runs.score_table import ScoreTable
from seal.runs.settings import GROWING, RunSettings, changed

# -- What each ablation varies, and the settings of its conditions.
#
# In `injection`, gold replaces a stage:
#
# - tools: the retriever is the oracle's.
# - calls: the execution manager is played by the gold (`gold_calls`), with the tools that were
#   retrieved; a gold tool that was not retrieved cannot be called. It reports what came back.
# - results: calls of gold tools bring what the gold calls bring (the setting `gold_results`).
# - all: all three, and every role is played by the gold: the ceiling.
#
# Each of the first three replaces one stage and keeps the others, so the costs need not add up.
# What two stages lose or save only together is in `all` alone.
#
# In `roles` the conditions are `none`, each role alone, and `all`. The settings may name the agent
# of a role. Otherwise the planner splits requests, and the checker sends an unsolved request back
# once. The verifier then asks the model; it is a rule if the model is an offline one.

PATTERNS = ("ife", "ifn", "ian", "iat", "iav", "iac", "rac")
ABSTENTION = ("abstained", "no_call", "says_cannot")
_SUCCESS = ("pass_rate", "similarity", "all_gold_calls")
_RELEVANT = ("relevant_called", "relevant_answered")
_TOKENS = ("tokens_in", "tokens_out")
ALL = "all"
_GOLD_PLAYER = "gold_calls"
_LONGEST = 60
"""Characters of a folder's name."""


@dataclass(frozen=True, slots=True)
class Variation:
    """One thing that may be varied."""

    name: str
    field: str
    """The setting of a run that is varied; empty: it is no single setting."""
    conditions: tuple[str, ...]
    """Values of the setting. A comparison subtracts a later condition from an earlier one."""
    told: tuple[str, ...]
    """Metrics that the ablation is about: they are in the short table, and p is corrected over
    those of no condition."""
    metrics: tuple[str, ...] = ()
    """Further metrics that the runs are scored by."""
    against: str = ""
    """Condition that all others are compared with; empty: every two are compared."""
    varied: str = ""
    """What differs, as comparison.json names it; empty: `option`, else `field`, else the tasks."""
    option: str = ""
    """`-T` option that is varied instead of a setting."""
    options: tuple[tuple[str, Any], ...] = ()
    """Names and values of `-T` options of every condition. The user's own values come first, and a
    team that does not take an option does not get it."""


ABLATIONS: Mapping[str, Variation] = {
    ablation.name: ablation
    for ablation in (
        Variation("feedback", "feedback", ("on", "off"), (*_SUCCESS, *PATTERNS, "recovery")),
        Variation(
            "format",
            "format",
            ("native", "action", "json"),
            (*_SUCCESS, "ife", "tokens_in_per_call", "tokens_out_per_call"),
            ("tokens_per_call",),
        ),
        Variation(
            "irrelevance",
            "",
            ("irrelevant", "answerable"),
            (*ABSTENTION, "calls", "pass_rate"),
            ("abstention",),
        ),
        Variation("similarity", "", ("all",), (*_SUCCESS, *PATTERNS)),
        Variation(
            "retriever",
            "retriever",
            ("hybrid", "tfidf", "bm25", "oracle"),
            ("recall", "mrr", *_SUCCESS, "call_recall", *PATTERNS),
        ),
        Variation(
            "injection",
            "",
            ("plain", "tools", "calls", "results", "all"),
            (*_SUCCESS, "call_recall", "param_acc_gold", "recall", *_RELEVANT),
            ("relevant_calls",),
            against="plain",
            varied="stages",
        ),
        Variation(
            "roles",
            "",
            (),
            (*_SUCCESS, "call_recall", "param_acc_gold", "calls", "turns", *_TOKENS),
            against="none",
            varied="roles",
        ),
        Variation(
            "react",
            "",
            ("react", "plain"),
            (*_SUCCESS, *PATTERNS, "turns", "tokens_in", "tokens_out"),
            varied="style",
        ),
    )
}
"""Name to ablation of any benchmark. `recall` and `mrr` stand for those at the largest cut-off."""


def ablation_named(name: str, benchmark: Benchmark | None = None) -> Variation:
    """Return an ablation of `ABLATIONS`, or one that the benchmark offers.

    Raises:
        UnknownNameError: There is no ablation of that name; the text names the closest.
    """
    offered = () if benchmark is None else benchmark.ablations
    own = [load_dotted(each) if isinstance(each, str) else each for each in offered]
    known: dict[str, Variation] = {**ABLATIONS, **{ablation.name: ablation for ablation in own}}
    if name not in known:
        raise UnknownNameError("ablation", name, known)
    return known[name]


def conditions_of(
    ablation: Variation,
    settings: RunSettings,
    retrievers: Sequence[Any] = (),
) -> list[PlannedRun]:
    """Return the conditions of an ablation whose runs have the same tasks.

    Args:
        ablation: Any but `irrelevance`.
        settings: What all runs share.
        retrievers: Those to compare, where retrievers are; none: the ablation's own.

    Raises:
        UsageError: A single retriever, or one twice, or an option that the ablation varies.
    """
    if ablation.name == "injection":
        return _injected(ablation, settings)
    if ablation.name == "roles":
        return _seated(settings)
    if ablation.name == "react":
        return _styled(settings)
    if not ablation.field:
        return [PlannedRun(name, settings) for name in ablation.conditions]
    values: Sequence[Any] = ablation.conditions
    if ablation.field == "retriever":
        values = _retrievers(retrievers or values)
    names = [_folder_name(value) for value in values]
    options = dict(ablation.options)
    if settings.team is not None:
        taken = team_options(settings.team)
        options = {name: value for name, value in options.items() if name in taken}
    if options:
        settings = changed(settings, world_options={**options, **settings.world_options})
    if ablation.option:
        if ablation.option in settings.world_options:
            raise UsageError(
                f"-T {ablation.option} is what the ablation {ablation.name} varies: leave it out"
            )
        values = [{**settings.world_options, ablation.option: value} for value in values]
    return [
        PlannedRun(name, changed(settings, **{ablation.field: value}))
        for name, value in zip(names, values, strict=True)
    ]


def _styled(settings: RunSettings) -> list[PlannedRun]:
    """Return the run whose execution manager thinks, and the one whose does not.

    Raises:
        UsageError: The settings name who plays the role.
    """
    if MANAGER in settings.roles:
        raise UsageError(
            f"the role {MANAGER} is what the ablation react varies, and "
            f"{name_of(settings.roles[MANAGER])} plays it: leave it out"
        )
    thinking = changed(settings, roles={**settings.roles, MANAGER: "react"})
    return [PlannedRun("react", thinking), PlannedRun("plain", settings)]


def _retrievers(wanted: Sequence[Any]) -> Sequence[Any]:
    if len(wanted) < 2:
        raise UsageError(
            f"an ablation of retrievers needs at least two, got {_label(wanted[0])}: "
            "give --retriever A,B, or none for hybrid, tfidf, bm25 and oracle"
        )
    labels = [_folder_name(what) for what in wanted]
    for label, what in zip(labels, wanted, strict=True):
        if labels.count(label) > 1:
            raise UsageError(f"--retriever {_label(what)} stands twice; give each one once")
    return wanted


def _label(retriever: Any) -> str:
    return spec_of(retriever).identity


def _folder_name(value: Any) -> str:
    """Return a condition's name: that of a value, in characters that every file system takes."""
    text = value if isinstance(value, str) else _label(value)
    return re.sub(r"[^A-Za-z0-9._=-]+", "_", text).strip("._")[:_LONGEST] or "condition"


def _injected(ablation: Variation, settings: RunSettings) -> list[PlannedRun]:
    """Return the plain run and those with gold in the place of a stage."""
    ceiling = baselines_of(settings, all_given=False, alike=True)["ceiling"]
    models = {**settings.role_models, "execution_manager": _GOLD_PLAYER}
    asked = {
        "plain": settings,
        "tools": changed(settings, retriever="oracle", retriever_options={}),
        "calls": changed(settings, role_models=models),
        "results": changed(settings, gold_results=True),
        ALL: changed(
            ceiling,
            model=f"{_GOLD_PLAYER}:answer",
            roles=settings.roles,
            trials=settings.trials,
            gold_results=True,
        ),
    }
    return [PlannedRun(name, asked[name]) for name in ablation.conditions]


def _seated(settings: RunSettings) -> list[PlannedRun]:
    """Return the run without the roles, those with each alone, and the one with all."""
    is_rule = is_offline(settings.role_models.get("verifier", settings.model))
    usual = {
        "planner": "decompose",
        "verifier": "rule_verifier" if is_rule else "verifier",
        "checker": Checker(returns=1),
    }
    agents = {role: settings.roles.get(role) or one for role, one in usual.items()}
    sets = {"none": {}, **{role: {role: one} for role, one in agents.items()}, ALL: agents}
    empty = {**settings.roles, **dict.fromkeys(agents)}
    return [
        PlannedRun(name, changed(settings, roles={**empty, **chosen}))
        for name, chosen in sets.items()
    ]


# -- An ablation: play a run for each condition, pair their scores, write what they prove.
#
# Its files:
#
# comparison.json          what was varied, a row for each run, the paired differences
# report.html              its tables, and its runs side by side
# CONDITION/               its run: a run folder
# figures/                 of the ablation of similarity, with the extra `experiments`

_TOLD = ("tasks", "errors", "error_reasons", "skipped", "usage")
"""Of a run's summary.json, beside its metrics."""
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
    if out is None:
        with run_folder(out, settings) as path:
            return ablate(what, settings, retrievers, path, resume, progress)
    pool = open_pool(settings.pool)
    ablation = ablation_named(what, pool.benchmark)
    if retrievers and ablation.field != "retriever":
        raise UsageError(f"the ablation {what} compares no retrievers: give one --retriever")
    further = [name for name in ablation.metrics if name not in settings.metrics]
    settings = changed(settings, metrics=(*settings.metrics, *further))
    build_metrics(settings.metrics, METRICS)  # refuses what is no metric
    COMPARISON.check_folder(out, resume)
    irrelevant = Irrelevant.of(pool, settings) if what == "irrelevance" else None
    homes = homes_of(pool, pool.chosen(settings)) if what == "similarity" else None
    if irrelevant is not None:
        conditions = irrelevant.conditions(ablation, settings)
    else:
        conditions = conditions_of(ablation, settings, retrievers)
    planned = _Planned(ablation, settings, pool, conditions, irrelevant, homes)
    for condition in conditions:  # what cannot be played is refused before the first is played
        folder = RunFolder(out / condition.name)
        if not folder.is_begun:
            with Engine.of(condition.settings, folder) as engine:
                engine.check()
    begun = planned.content(out, [], [f"unfinished: {counted(len(conditions), 'run')}"])
    with COMPARISON.opened(out, begun, resume):
        result = play(conditions, out, settings, partial(planned.content, out), progress)
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
        scales = scales_of(runs.values())
        family = ranking(told, scales)
        partner = irrelevant.seeds if irrelevant is not None else None
        compared = [
            entry
            for one, other in _compared(sides, self.ablation.against)
            for entry in compare(one, other, seed, partner=partner, family=family, scales=scales)
        ]
        if irrelevant and (alone := len(irrelevant.kinds) - len(irrelevant.seeds)):
            what = counted(alone, "irrelevant task")
            notes = [*notes, f"{what} without a seed in this pool, in no pair"]
        # The system that was tested, without what was varied.
        tested = next(iter(runs.values())).manifest()["system"] if runs else {}
        system = {name: said for name, said in tested.items() if name != self.ablation.field}
        ablation, settings = self.ablation, self.settings
        content: dict[str, Any] = {
            "protocol": {
                "ablation": ablation.name,
                "varied": ablation.varied or ablation.option or ablation.field or "tasks",
                "conditions": [condition.name for condition in self.conditions],
                "told": told,
                "pool": self.pool.name,
                "pool_digest": self.pool.digest,
                "seed": seed,
                "select": dict(settings.select),
                **told_of(settings),
                "trials": settings.trials,
            },
            "system": system,
            "runs": [
                {
                    "condition": name,
                    **{part: summary[part] for part in _TOLD},
                    "metrics": metrics_of(summary),
                }
                for name, summary in ((name, folder.summary()) for name, folder in runs.items())
            ],
            "comparisons": compared,
            SCALES: plain_scales(scales, sorted({*told, *(each["metric"] for each in compared)})),
            "notes": [*notes, *untested(compared, told)],
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
            content["points"] = points_of(self.pool, self.homes, sides[0].scores)
        return content


def _headlined(runs: Iterable[RunFolder]) -> dict[str, None]:
    """Return the metrics that a benchmark brings itself and declares to matter."""
    from seal.evaluation.own_metrics import is_foreign  # of tables alone: it has numpy

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
                stage: {"cost": entry["difference"], **{n: entry[n] for n in ("low", "high", "n")}}
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
        made_of = {task.id: task.metadata.get("seed") for task in irrelevant}
        seeds = {
            id: seed for id, seed in made_of.items() if isinstance(seed, str) and seed in every
        }
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
            share of all tasks of the kind, with its 95 % interval over tasks, and the
            paired differences to their seeds (`paired_scores.compare`).
        """
        tasks = Counter(self.kinds.values())
        return [
            {
                "kind": kind,
                "tasks": tasks[kind],
                "without_seed": tasks[kind] - len(self._partners(kind)),
                "metrics": {name: self._share(one, kind, name) for name in ABSTENTION},
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

    def _share(self, one: Side, kind: str, metric: str) -> dict[str, Any]:
        table = one.scores
        if metric not in table.metrics:  # nothing was scored
            return {"mean": None, "low": None, "high": None, "n": 0}
        scored = enumerate(table.scored())
        rows = [(task, row) for row, (task, _, _) in scored if self.kinds.get(task) == kind]
        values = table.values[:, table.metrics[metric]]
        return rate_of(values, rows)


# -- How alike the names of an environment's tools are, against the errors made there.
#
# An environment is a category of tools; a goal belongs to that of its gold tools, else of its
# offered ones, where it is a single one. J_avg in both variants is of all its tools
# (`seal.pools.counts`).
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
    pool: StoredPool, homes: Mapping[tuple[str, int], str], scores: ScoreTable
) -> list[dict[str, Any]]:
    """Return a point for each environment that has a goal, by name.

    Args:
        pool: Whose tools there are.
        homes: Of the goals (`homes_of`).
        scores: Of the run.

    Returns:
        {environment, tools, goals, strict, stopwords, rates: {name: {rate, low, high, n}}}: J_avg
        in both variants (None: fewer than two names), and the error rates with their 95 %
        intervals over tasks; a rate is None where no goal has a value.
    """
    rows: dict[str, list[tuple[str, int]]] = {}
    for row, (task, _, goal) in enumerate(scores.scored()):
        if (task, goal) in homes:
            rows.setdefault(homes[task, goal], []).append((task, row))
    errors = _errors(scores)

    def rate(place: str, name: str) -> dict[str, Any]:
        found = rate_of(errors[name], rows[place])
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


def rate_of(values: Floats, rows: Sequence[tuple[str, int]]) -> dict[str, Any]:
    """Return {mean, low, high, n} of some values, with the interval over their tasks.

    Args:
        values: Of all rows; NaN where there is none.
        rows: Those that count: the task and its place in `values`.
    """
    found = [(task, float(values[row])) for task, row in rows if not np.isnan(values[row])]
    number = {task: place for place, task in enumerate(dict.fromkeys(task for task, _ in found))}
    return mean_over([value for _, value in found], [number[task] for task, _ in found])


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
