"""Several runs that make one experiment: played one after the other, under one budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seal.core.text import counted
from seal.runs.engine import Engine
from seal.runs.identity import measure_of, system_of
from seal.runs.journal import spent_on
from seal.runs.resume import check_resumable
from seal.runs.run import Progress, budget_of, run, within
from seal.runs.run_folder import BASELINES, RunFolder
from seal.runs.settings import RunSettings

Reporter = Callable[[str, int, int], None]
"""Called with the stage, how many of its items are done, and how many there are."""
_KEPT = ("mean", "n", "undefined", "low", "high", "reasons")
"""Of a metric of summary.json."""


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run of an experiment."""

    name: str
    """Name of the condition and of its folder."""
    settings: RunSettings
    only: tuple[str, ...] | None = None
    """Ids of the tasks to play; None: all that the settings select."""


@dataclass(frozen=True, slots=True)
class SeriesResult:
    """The outcome of an experiment of several runs."""

    folder: Path
    content: dict[str, Any]
    """Content of its JSON file."""
    exit_code: int
    """0 fine, 1 finished with task errors, 3 a budget stopped it."""


Content = Callable[[Sequence[str], list[str]], dict[str, Any]]
"""Names of finished runs, and notes, to the content of the experiment's JSON file."""


def play(
    conditions: Sequence[PlannedRun],
    out: Path,
    settings: RunSettings,
    content: Content,
    report: Reporter | None,
    skip: bool = False,
) -> SeriesResult:
    """Play runs until the budget is spent, and return the outcome.

    Args:
        conditions: The runs, in the order in which they are played.
        out: Folder of the experiment.
        settings: Their budget is shared by all runs.
        content: Called once, when the last run is over.
        report: Called with how many runs are done, and how far the present one is.
        skip: Skip runs that are finished without an error. They count as done even if the budget
            is spent.

    Raises:
        UsageError: A folder holds a run of other settings.
        DataError: The pool or a folder is damaged.
        InfrastructureError: A worker process died.
    """
    told = report or (lambda stage, done, total: None)

    def advance(state: Progress) -> None:
        told(state.stage, state.done, state.total)

    budget = budget_of(settings)
    done: list[str] = []
    for one in conditions:
        told("runs", len(done), len(conditions))
        folder = RunFolder(out / one.name)
        if skip and _finished(folder, one.settings):
            _check_same(folder, one.settings)
        else:
            asked = within(one.settings, budget)
            if asked is None:
                break
            if run(asked, folder.path, resume=True, progress=advance, only=one.only).exit_code == 3:
                break
        done.append(one.name)
        spent = spent_on(folder)
        budget.add(spent.asked, spent.tokens)
    told("runs", len(done), len(conditions))
    missing = len(conditions) - len(done)
    spent_note = f"the budget is spent: {missing} of {counted(len(conditions), 'run')} not finished"
    failed = any(RunFolder(out / name).summary()["errors"] for name in done)
    found = content(done, [spent_note] if missing else [])
    return SeriesResult(out, found, 3 if missing else int(failed))


def _finished(folder: RunFolder, settings: RunSettings) -> bool:
    """Tell whether a run has all its chats and scores, and no error."""
    if not folder.is_scored:
        return False
    summary = folder.summary()
    with folder.trajectories_path.open("rb") as lines:
        chats = sum(1 for _ in lines)
    whole = chats + summary["skipped"] == summary["tasks"] * settings.trials
    baselines = not settings.baselines or len(folder.baselines()) == len(BASELINES)
    return whole and not summary["errors"] and baselines


def _check_same(folder: RunFolder, settings: RunSettings) -> None:
    """Raise UsageError if a finished run has other settings."""
    with Engine.of(settings, folder) as engine:
        now = {"measure": measure_of(engine), "system": system_of(engine)}
    check_resumable(folder.manifest(), now, folder.path)


def metrics_of(summary: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the metrics of a run's summary.json without their groups."""
    return {
        metric: {key: found[key] for key in _KEPT if key in found}
        for metric, found in summary["metrics"].items()
    }
