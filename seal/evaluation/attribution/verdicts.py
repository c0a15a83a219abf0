"""When a goal is failed: which metric says so, for each kind of gold.

- A mission (its gold goal names a `type`) by `mission_accuracy`.
- A goal of a kind that its benchmark declares, by the metrics that the benchmark names: solved
  where each that applies is 1.
- Any other goal by `pass_rate`, which follows the milestones where a plan asks of a world; where a
  run has none, by another judge's metric. Unsure is not solved.

A chat that broke, and a verdict that an infrastructure failure prevented, is an error and no
failure of the model. A goal without a verdict is counted apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from seal.core.types import Goal, Score, Trajectory
from seal.evaluation.goals import INFRASTRUCTURE, failure_reason
from seal.evaluation.milestones.plans import WHOLLY
from seal.evaluation.statistics import kind_of_reason

State = Literal["solved", "unsolved", "unsure", "error", "unscored"]

MISSION = "mission_accuracy"
JUDGED = ("pass_rate", "tooleval", "sopr", "fac", "success")
DECIDING = frozenset({MISSION, *JUDGED})
"""Metrics that may say whether a goal is solved, on any benchmark."""
DecidedBy = Callable[[Goal], Sequence[Sequence[str]]]
"""A goal to groups of metrics: the first group in which one has a value decides."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a goal is solved, and who says so."""

    state: State
    metric: str = ""
    """Empty: nobody."""
    reason: str = ""


def decide(
    goal: Goal,
    trajectory: Trajectory,
    scores: Mapping[str, Score],
    metric: str | None = None,
    decided_by: DecidedBy | None = None,
) -> Decision:
    """Return whether a goal is solved.

    Args:
        goal: Whose kind of gold chooses the metric.
        trajectory: The chat.
        scores: Of this goal, by metric.
        metric: Decide by this one, whatever the gold is.
        decided_by: What the goal's benchmark says; None: nothing.
    """
    failure = failure_reason(trajectory)
    if failure:
        return Decision("error", "", failure)
    own = () if decided_by is None else decided_by(goal)
    found = [scores[name] for name in _deciding(goal, scores, metric, own) if name in scores]
    if not found:
        return Decision("unscored", "", "not scored")
    valued = [score for score in found if score.value is not None]
    if not valued:
        return _without_value(found)
    worst = next((s for s in valued if _state(s) != "solved"), valued[0])
    if _state(worst) == "solved" and any(s.reason.startswith(INFRASTRUCTURE) for s in found):
        return _without_value(found)
    return Decision(_state(worst), worst.metric, _reason(worst))


def is_mission(goal: Goal, scores: Mapping[str, Score]) -> bool:
    """Tell whether a goal is a mission, which `mission_accuracy` decides."""
    return "type" in goal.labels and _has_value(scores, MISSION)


def _deciding(
    goal: Goal, scores: Mapping[str, Score], metric: str | None, own: Sequence[Sequence[str]]
) -> Sequence[str]:
    if metric is not None:
        return (metric,)
    if is_mission(goal, scores):
        return (MISSION,)
    groups = [*own, *((name,) for name in JUDGED)]
    valued = (group for group in groups if any(_has_value(scores, name) for name in group))
    without = [name for group in groups for name in group if name in scores]
    return next(valued, None) or without


def _has_value(scores: Mapping[str, Score], name: str) -> bool:
    return name in scores and scores[name].value is not None


def _without_value(found: Sequence[Score]) -> Decision:
    broken = next((s for s in found if s.reason.startswith(INFRASTRUCTURE)), None)
    if broken is not None:
        return Decision("error", broken.metric, broken.reason)
    return Decision("unscored", found[0].metric, kind_of_reason(found[0].reason))


def _state(score: Score) -> State:
    label = score.details.get("label")
    if label in ("solved", "unsolved", "unsure"):
        return "unsure" if label == "unsure" else "solved" if label == "solved" else "unsolved"
    return "solved" if score.value is not None and score.value >= WHOLLY else "unsolved"


def _reason(score: Score) -> str:
    said = score.details.get("reason") or score.reason or score.details.get("error") or ""
    return str(said)
