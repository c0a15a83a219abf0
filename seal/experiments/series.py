"""Several runs that make one experiment: played one after the other, under one budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seal.runs.engine import Engine
from seal.runs.identity import check_resumable, measure_of, system_of
from seal.runs.journal import spent_on
from seal.runs.play import played
from seal.runs.run import Progress, budget_of, run, within
from seal.runs.run_folder import BASELINES, RunFolder
from seal.runs.settings import RunSettings

Reporter = Callable[[str, int, int], None]
"""Told the stage, how many of its items are done, and how many there are."""
_KEPT = ("mean", "n", "undefined", "low", "high", "reasons")
"""Of a metric of summary.json."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One run of an experiment."""

    name: str
    """Of its folder too."""
    settings: RunSettings
    only: tuple[str, ...] | None = None
    """Ids of its tasks; None: all that the settings select."""


@dataclass(frozen=True, slots=True)
class SeriesResult:
    """What an experiment of several runs left."""

    folder: Path
    content: dict[str, Any]
    """Of its JSON file."""
    exit_code: int
    """0 fine, 1 finished with task errors, 3 a budget stopped it."""


def play(
    conditions: Sequence[Condition],
    out: Path,
    settings: RunSettings,
    report: Reporter | None,
    skip: bool = False,
) -> list[Condition]:
    """Play runs until the budget is spent, and return those that are finished.

    Args:
        conditions: In the order in which they are played.
        out: Folder of the experiment.
        settings: Whose budget is that of all runs together.
        report: Told how many runs are done, and how far the present one is.
        skip: Leave runs alone that are finished without an error; they count as done even where
            the budget is spent.

    Raises:
        UsageError: A folder holds a run of other settings.
        DataError: The pool or a folder is damaged.
        InfrastructureError: A worker process died.
    """
    told = report or (lambda stage, done, total: None)
    budget = budget_of(settings)
    done: list[Condition] = []
    for one in conditions:
        told("runs", len(done), len(conditions))
        folder = RunFolder(out / one.name)
        if skip and _finished(folder, one.settings):
            _check_same(folder, one.settings)
        else:
            asked = within(one.settings, budget)
            if asked is None:
                break
            advance = _advance(told)
            if run(asked, folder.path, resume=True, progress=advance, only=one.only).exit_code == 3:
                break
        done.append(one)
        spent = spent_on(folder)
        budget.add(spent.asked, spent.tokens)
    told("runs", len(done), len(conditions))
    return done


def _advance(report: Reporter) -> Callable[[Progress], None]:
    return lambda state: report(state.stage, state.done, state.total)


def _finished(folder: RunFolder, settings: RunSettings) -> bool:
    """Tell whether a run has all its chats and scores, without an error."""
    if not (folder.path / "summary.json").is_file():
        return False
    summary = folder.summary()
    with folder.trajectories_path.open("rb") as lines:
        chats = sum(1 for _ in lines)
    whole = chats + summary["skipped"] == summary["tasks"] * settings.trials
    baselines = not settings.baselines or len(folder.baselines()) == len(BASELINES)
    return whole and not summary["errors"] and baselines


def _check_same(folder: RunFolder, settings: RunSettings) -> None:
    """Raise UsageError where a finished run has other settings."""
    opened = played(settings)
    with Engine(opened.settings, folder, opened.pool) as engine:
        now = {"measure": measure_of(engine), "system": system_of(engine)}
    check_resumable(folder.manifest(), now, folder.path)


def outcome(
    out: Path, content: dict[str, Any], rows: Sequence[Mapping[str, Any]], missing: int
) -> SeriesResult:
    """Return what an experiment left.

    Args:
        out: Its folder.
        content: Of its JSON file.
        rows: Of its finished runs.
        missing: Runs that are not finished.
    """
    return SeriesResult(out, content, 3 if missing else int(any(row["errors"] for row in rows)))


def spent_note(missing: int, planned: int) -> list[str]:
    """Return a sentence where the budget left runs out."""
    told = f"the budget is spent: {missing} of {planned} runs are not finished"
    return [told] if missing else []


def metrics_of(summary: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the metrics of a run's summary.json without their groups."""
    return {
        metric: {key: found[key] for key in _KEPT if key in found}
        for metric, found in summary["metrics"].items()
    }
