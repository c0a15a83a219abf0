"""Chats and scores of a run as far as they are written, and how one chat ended."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from seal.core import Scale, Score, Step, Trajectory
from seal.evaluation.goals import RATE, WORST_FIRST, decides, state_of
from seal.report.grids import grouped
from seal.runs.lines import Tail
from seal.runs.run_folder import RunFolder

DECISIVE = dict.fromkeys(("pass_rate", "success", "mission_accuracy", "similarity"), RATE)
"""Metrics that can say whether a task is solved, with the scale of each; the first that a chat was
scored by counts."""


def decisive_of(runs: Iterable[RunFolder]) -> Mapping[str, Scale]:
    """Return the metrics that decide: those that benchmarks declare, then `DECISIVE`."""
    declared = {
        success: run.scales().get(success, RATE)
        for run in runs
        if (success := run.declared().get("success"))
    }
    return {**declared, **{name: RATE for name in DECISIVE if name not in declared}}


@dataclass(frozen=True, slots=True)
class ChatOutcome:
    """One chat in short."""

    task_id: str
    trial: int
    label: str
    """solved, unsolved, undecided, error, or unscored."""
    stop: str
    """Stop reason of the last goal that was played; empty where there is none."""
    calls: int
    error: str = ""
    """What failed; empty where nothing did."""


def outcome_label(
    failed: bool, scores: Iterable[Score], decisive: Mapping[str, Scale] = DECISIVE
) -> str:
    """Return the chat's outcome: its worst goal decides.

    Args:
        failed: The infrastructure ended the chat (`Trajectory.failed`).
        scores: Scores of the chat.
        decisive: Metrics that decide (`decisive_of`).

    Of several decisive metrics the first that says anything counts (`deciding_metric`). A
    score may carry a `label` in its details, as the pass rate does; else the best value is
    solved and any other unsolved.
    """
    if failed:
        return "error"
    scores = list(scores)
    metric = deciding_metric(scores, decisive)
    if metric is None:
        return "unscored"
    found = (state_of(s, decisive[metric]) for s in scores if s.metric == metric and decides(s))
    return min(found, key=WORST_FIRST.index)


def deciding_metric(scores: Iterable[Score], decisive: Collection[str] = DECISIVE) -> str | None:
    """Return the metric that says how a chat ended; None: it has no such score."""
    measured = {score.metric for score in scores if decides(score)}
    return next((metric for metric in decisive if metric in measured), None)


def reason_of(score: Score) -> str:
    """Return why a score is what it is: its reason, else the one in its details (a verdict's)."""
    return score.reason or str(score.details.get("reason") or "")


def scores_so_far(run: RunFolder, metrics: Collection[str] = ()) -> Iterator[Score]:
    """Yield the scores of some metrics, of all where none is named; nothing of an unscored run."""
    for score in Tail(run.scores_path, Score, saying=metrics).read():
        if not metrics or score.metric in metrics:
            yield score


def trajectories_so_far(run: RunFolder) -> Iterator[Trajectory]:
    """Yield the chats that are complete; a line that is being written is left out."""
    yield from Tail(run.trajectories_path, Trajectory).read()


def by_chat(scores: Iterable[Score]) -> dict[tuple[str, int], list[Score]]:
    """Return the scores of each chat by task id and trial."""
    return grouped(((score.task_id, score.trial), score) for score in scores)


def outcomes(run: RunFolder) -> Iterator[ChatOutcome]:
    """Yield every finished chat in short, in the order of the file."""
    decisive = decisive_of([run])
    scores = by_chat(scores_so_far(run, decisive))
    for chat in trajectories_so_far(run):
        mine = scores.get((chat.task_id, chat.trial), [])
        yield ChatOutcome(
            chat.task_id,
            chat.trial,
            outcome_label(chat.failed, mine, decisive),
            chat.stops[-1].reason if chat.stops else "",
            sum(1 for _ in chat.calls()),
            next((stop.error for stop in chat.stops if stop.error), ""),
        )


def said(step: Step) -> tuple[Any, ...]:
    """Return what a step says and does, by which steps are the same."""
    call, result = step.call, step.result
    return (
        (step.author, step.recipient, step.content),
        call and (call.name, call.arguments, call.raw),
        result and (result.content, result.error),
    )
