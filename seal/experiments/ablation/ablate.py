"""An ablation: play a run for each condition, pair their scores, write what they prove.

Its files:

comparison.json          what was varied, a row for each run, the paired differences
comparison.md            the same for a person (`seal.report.ablation_results`)
report.html              its tables, and its runs side by side
CONDITION/               its run: a run folder
figures/                 of the ablation of similarity, with the extra `experiments`
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from seal.core import UsageError
from seal.core.folders import Lock
from seal.evaluation import REGISTRY as METRICS
from seal.evaluation.role_work import roles_record
from seal.evaluation.scoring import build_metrics
from seal.experiments.ablation.conditions import Variation, ablation_named, conditions_of
from seal.experiments.ablation.injection import costs_of, injected
from seal.experiments.ablation.irrelevance import Irrelevant
from seal.experiments.ablation.roles import ROLES, seated, silent
from seal.experiments.ablation.similarity import correlations_of, homes_of, points_of
from seal.experiments.comparison.pairs import Side, compare, untested
from seal.experiments.comparison.runs import sides_of
from seal.experiments.result_files import ExperimentFile, write_json
from seal.experiments.role_work import work_of
from seal.experiments.series import (
    Condition,
    Reporter,
    SeriesResult,
    metrics_of,
    outcome,
    play,
    spent_note,
)
from seal.pools.lookup import open_pool
from seal.pools.order import told_of
from seal.pools.pool import StoredPool
from seal.runs.engine import Engine
from seal.runs.play import played
from seal.runs.run import free_folder
from seal.runs.run_folder import RunFolder
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
    roles: Sequence[str] = (),
) -> SeriesResult:
    """Play a benchmark under conditions that differ in one thing.

    Args:
        what: Name of the ablation (`conditions.ablation_named`).
        settings: Of every run; what is varied gives way to the condition, and the budget
            is that of all runs together.
        retrievers: Those to compare, of the ablation `retriever`; none: hybrid, tfidf, bm25,
            oracle.
        out: Folder of the ablation; None: `runs/POOL-MODEL`, with a number where that is taken.
        resume: Go on with the ablation that `out` holds: what is played stays.
        progress: Told how many runs are done, and how far the present one is.
        roles: Those to seat and to take away, of the ablation `roles`; none: all three.

    Raises:
        UnknownNameError: No such ablation, or metric.
        UsageError: Settings that cannot be, a folder in use, or other settings than the ablation's.
        DataError: The pool or a folder is damaged.
        InfrastructureError: A worker process died.
    """
    if out is None and resume:
        raise UsageError("--resume needs --out DIR: the folder of the ablation to go on with")
    pool = open_pool(settings.pool)
    ablation = ablation_named(what, pool.benchmark)
    if retrievers and ablation.field != "retriever":
        raise UsageError(f"the ablation {what} compares no retrievers: give one --retriever")
    if roles and what != "roles":
        raise UsageError(f"the ablation {what} seats no roles: leave --roles out")
    settings = changed(settings, metrics=_metrics(settings, ablation))
    build_metrics(settings.metrics, METRICS)  # refuses what is no metric
    out = out or free_folder(settings)
    COMPARISON.check_folder(out, resume)
    planned = _plan(ablation, settings, retrievers, roles or ROLES, pool)
    _check(planned, out)
    out.mkdir(parents=True, exist_ok=True)
    with Lock(out):
        COMPARISON.check_folder(out, resume)  # again: another process may have been faster
        return _played(planned, settings, out, progress)


def _metrics(settings: RunSettings, ablation: Variation) -> tuple[Any, ...]:
    further = (name for name in ablation.metrics if name not in settings.metrics)
    return (*settings.metrics, *further)


@dataclass(frozen=True, slots=True)
class _Planned:
    ablation: Variation
    pool: StoredPool
    conditions: Sequence[Condition]
    irrelevant: Irrelevant | None = None
    homes: Mapping[tuple[str, int], str] | None = None


def _plan(
    ablation: Variation,
    settings: RunSettings,
    retrievers: Sequence[Any],
    roles: Sequence[str],
    pool: StoredPool,
) -> _Planned:
    if ablation.field:
        return _Planned(ablation, pool, conditions_of(ablation, settings, retrievers))
    if ablation.name == "injection":
        return _Planned(ablation, pool, injected(ablation, settings))
    if ablation.name == "roles":
        return _Planned(ablation, pool, seated(roles, settings))
    if ablation.name == "irrelevance":
        found = Irrelevant.of(pool, settings)
        return _Planned(ablation, pool, found.conditions(ablation, settings), found)
    tasks = pool.chosen(settings)
    homes = homes_of(pool, tasks)
    return _Planned(ablation, pool, [Condition(ablation.conditions[0], settings)], homes=homes)


def _check(planned: _Planned, out: Path) -> None:
    """Refuse what a later condition cannot be before the first one is played."""
    for condition in planned.conditions:
        folder = RunFolder(out / condition.name)
        if not (folder.path / "run.json").is_file():
            opened = played(condition.settings)
            with Engine(opened.settings, folder, opened.pool) as engine:
                engine.check()


def _played(
    planned: _Planned, settings: RunSettings, out: Path, report: Reporter | None
) -> SeriesResult:
    conditions = planned.conditions
    begun = _content(planned, settings, out, [], [f"{len(conditions)} runs are not finished"])
    if not COMPARISON.begun(out, begun):
        write_json(begun, out / COMPARISON.name)
    done = [condition.name for condition in play(conditions, out, settings, report)]
    missing = len(conditions) - len(done)
    content = _content(planned, settings, out, done, spent_note(missing, len(conditions)))
    write_json(content, out / COMPARISON.name)
    return outcome(out, content, content["runs"], missing)


def _content(
    planned: _Planned, settings: RunSettings, out: Path, done: Sequence[str], notes: list[str]
) -> dict[str, Any]:
    runs = {name: RunFolder(out / name) for name in done}
    content: dict[str, Any] = {
        "protocol": _protocol(planned, settings),
        "system": _system(planned, runs),
        "runs": [_row(name, folder) for name, folder in runs.items()],
        "comparisons": [],
        "notes": [*notes, *_notes(planned)],
    }
    seed = settings.seed
    sides = list(sides_of(runs).values())
    told = content["protocol"]["told"]
    partner = planned.irrelevant.seeds if planned.irrelevant is not None else None
    for one, other in _compared(sides, planned.ablation.against):
        content["comparisons"] += compare(one, other, seed, partner=partner, family=told)
    content["notes"] += untested(content["comparisons"], told)
    if planned.ablation.name == "injection":
        content["costs"] = costs_of(content["comparisons"])
    if planned.ablation.name == "roles":
        work = {name: work_of(folder) for name, folder in runs.items()}
        content["roles"] = {name: roles_record(found) for name, found in work.items()}
        content["notes"] += silent(runs, {name: found.keys() for name, found in work.items()})
    if planned.irrelevant is not None and len(sides) == 2:
        content["kinds"] = planned.irrelevant.by_kind(sides[0], sides[1], seed)
    if planned.homes is not None and sides:
        points = points_of(planned.pool, planned.homes, sides[0].scores, seed)
        content |= {"points": points, "correlations": correlations_of(points, seed)}
    return content


def _compared(sides: Sequence[Side], against: str) -> list[tuple[Side, Side]]:
    if not against:
        return list(combinations(sides, 2))
    plain = [side for side in sides if side.name == against]
    return [(side, other) for other in plain for side in sides if side is not other]


def _protocol(planned: _Planned, settings: RunSettings) -> dict[str, Any]:
    return {
        "ablation": planned.ablation.name,
        "varied": planned.ablation.option or planned.ablation.field or planned.ablation.varied,
        "conditions": [condition.name for condition in planned.conditions],
        "told": _told(planned.ablation, settings),
        "pool": planned.pool.name,
        "pool_digest": planned.pool.digest,
        "seed": settings.seed,
        "select": dict(settings.select),
        **told_of(settings),
        "trials": settings.trials,
    }


def _told(ablation: Variation, settings: RunSettings) -> list[str]:
    most = max(settings.cutoffs)
    return [f"{name}@{most}" if name in ("recall", "mrr") else name for name in ablation.told]


def _system(planned: _Planned, runs: Mapping[str, RunFolder]) -> dict[str, Any]:
    """Return what was measured, without what was varied."""
    if not runs:
        return {}
    system = dict(next(iter(runs.values())).manifest()["system"])
    system.pop(planned.ablation.field, None)
    return system


def _row(name: str, folder: RunFolder) -> dict[str, Any]:
    summary = folder.summary()
    return {
        "condition": name,
        "tasks": summary["tasks"],
        "errors": summary["errors"],
        "error_reasons": summary["error_reasons"],
        "skipped": summary["skipped"],
        "usage": summary["usage"],
        "metrics": metrics_of(summary),
    }


def _notes(planned: _Planned) -> list[str]:
    found = planned.irrelevant
    if found is not None and len(found.seeds) < len(found.kinds):
        alone = len(found.kinds) - len(found.seeds)
        return [f"{alone} irrelevant tasks name no seed of this pool and are in no pair"]
    return []
