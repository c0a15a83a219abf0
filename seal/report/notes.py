"""What is told in plain lines below the table of a run: counts, gaps, and why tasks failed."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from seal.evaluation.goals import INFRASTRUCTURE
from seal.report.grids import counted
from seal.report.judging import judging_notes
from seal.report.lanes import Lane, lanes_of
from seal.report.outcomes import scores_so_far, trajectories_so_far
from seal.report.printable import one_line, printable
from seal.report.tables import (
    OF_SOME_BENCHMARKS,
    headline_of,
    lacking_metrics,
    lane_rows,
    rare_metrics,
)
from seal.report.users import percent, user_rows
from seal.runs.run_folder import RunFolder

ERRORS = 5
"""Most distinct error messages that are told."""
LONGEST = 300
"""Most characters of one."""


def summary_notes(run: RunFolder, metrics: Sequence[str] | None = None) -> list[str]:
    """Return the lines below `summary_table`, printable, to be wrapped by the terminal alone.

    Counts of tasks and stop reasons; the metrics without any value, with the reason; where tasks
    failed, the errors with their counts, and how to see one of the chats.

    Args:
        run: A run that has been scored.
        metrics: Those of the table; None: the main ones.
    """
    summary = run.summary()
    lines = [
        _counts(summary),
        "mean [95 % interval], n: scores with a value",
        *gap_notes(lanes_of([run]), metrics),
        *_users(run),
        *judging_notes(summary),
        *_pools_own(run),
        *_errors(run, summary.get("error_reasons") or {}),
    ]
    return [printable(line) for line in lines]


def _pools_own(run: RunFolder) -> list[str]:
    """Return the settings that the pool gave, for the user gave none."""
    manifest = run.manifest()
    known = manifest["measure"] | manifest["system"]
    origins = manifest.get("origins") or {}
    own = [name for name, origin in origins.items() if origin == "benchmark" and name in known]
    given = {name: known[name] for name in own}
    given |= manifest.get("pool_defaults") or {}  # of runs before there were origins
    told = ", ".join(f"--{name} {value}" for name, value in given.items())
    return [f"played as the pool asks where no flag says otherwise: {told}"] if told else []


def missing_notes(lanes: Sequence[Lane]) -> list[str]:
    """Return which files of scored runs are gone, what a report lacks without them, and the repair.

    Args:
        lanes: Runs beside their baselines.
    """
    notes = []
    for lane in lanes:
        path, played = lane.run.path, lane.run.trajectories_path.is_file()
        if not played:
            notes.append(
                f"{path} has no trajectories.jsonl: no chat of it can be shown; bring the file "
                "back, or play the run again"
            )
        if not lane.run.scores_path.is_file():
            repair = f"write it: seal score {shlex.quote(str(path))}" if played else "bring it back"
            notes.append(f"{path} has no scores.jsonl: its chats have no outcome; {repair}")
    return notes


def _counts(summary: Mapping[str, Any]) -> str:
    parts = [counted(summary.get("tasks", 0), "task"), counted(summary.get("errors", 0), "error")]
    if summary.get("skipped"):
        parts.append(f"{summary['skipped']} skipped")
    if summary.get("unfinished"):
        parts.append(f"{summary['unfinished']} unfinished")
    stops = summary.get("stop_reasons") or {}
    ended = ", ".join(f"{reason} {count}" for reason, count in sorted(stops.items()))
    return ", ".join(parts) + (f"; goals ended by {ended}" if ended else "")


def gap_notes(lanes: Sequence[Lane], metrics: Sequence[str] | None = None) -> list[str]:
    """Return which metrics of the short table no lane has a value of, and which few goals have.

    Args:
        lanes: Runs beside their baselines.
        metrics: Those of the table; None: the main ones.
    """
    lacking = lacking_metrics(lane_rows(lanes, metrics))
    by_reason: dict[str, list[str]] = {}
    for metric in lacking:
        if metric not in OF_SOME_BENCHMARKS:
            reasons = {
                reason
                for lane in lanes
                for reason in (lane.metrics.get(metric) or {}).get("reasons") or ()
            }
            why = " / ".join(sorted(reasons)) or "not measured"
            by_reason.setdefault(why, []).append(metric)
    notes = [f"n/a ({why}): {', '.join(names)}" for why, names in by_reason.items()]
    chosen = metrics is not None or headline_of(lane.run for lane in lanes)
    few = [] if chosen else _few(lanes)
    return [*notes, *([f"left out, for few goals have them: {', '.join(few)}"] if few else [])]


def _few(lanes: Sequence[Lane]) -> list[str]:
    """Return the metrics that the short table leaves out though a lane has a value of them."""
    found = []
    for metric in rare_metrics([lane.metrics for lane in lanes]):
        most = max((lane.metrics.get(metric) or {}).get("n") or 0 for lane in lanes)
        if most:
            found.append(f"{metric} (n={most})")
    return found


def _users(run: RunFolder) -> Iterator[str]:
    """Yield what the simulated users did wrong, where there were any."""
    for row in user_rows([lane for lane in lanes_of([run]) if lane.kind == "run"]):
        yield (
            f"user of {counted(row.conversations, 'conversation')}: hallucination "
            f"{percent(row.hallucination)}, instruction-following errors {percent(row.instruction)}"
        )


def error_notes(reasons: Mapping[str, int], most: int = ERRORS) -> Iterator[str]:
    """Yield the errors of a run, the most frequent first.

    Args:
        reasons: Message to the number of chats that failed for it.
        most: Distinct messages that are told.
    """
    ordered = sorted(reasons.items(), key=lambda reason: (-reason[1], reason[0]))
    for message, count in ordered[:most]:
        yield f"error in {counted(count, 'chat')}: {one_line(message, LONGEST)}"
    if len(ordered) > most:
        yield f"and {counted(len(ordered) - most, 'other error')}; summary.json has all"


def _errors(run: RunFolder, reasons: Mapping[str, int]) -> Iterator[str]:
    """Yield the errors, and the command that shows one of the chats."""
    yield from error_notes(reasons)
    failed = _failed_chat(run) if reasons else None
    if failed is not None:
        task_id, trial = failed
        words = [
            "seal",
            "view",
            str(run.path),
            task_id,
            *(["--trial", str(trial)] if trial else []),
        ]
        yield f"see one of them: {shlex.join(words)}"


def _failed_chat(run: RunFolder) -> tuple[str, int] | None:
    """Return task and trial of the first chat that failed, else of one that was not judged."""
    for trajectory in trajectories_so_far(run):
        if trajectory.failed:
            return trajectory.task_id, trajectory.trial
    for score in scores_so_far(run):
        if score.value is None and score.reason.startswith(INFRASTRUCTURE):
            return score.task_id, score.trial
    return None
