"""Metrics of one's own: plain functions as metrics, and metrics tried before they are trusted."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from numbers import Real
from sys import float_info
from typing import Any

import numpy as np

from seal.core import Scale, Score, SealError, Task, Tool, Trajectory, UsageError, shortened
from seal.core.settings import check_plain, fields_of, fits, places_of, takes
from seal.evaluation.goals import Guarded, told
from seal.evaluation.scoring import is_ours

_EXPECTED = (
    "expected a number, True or False, a map of names to these, a list with one of them for each "
    "goal, or a list of seal.Score of this chat; NaN, infinity and an empty map or list are none "
    "of these"
)
_SCORES = (
    "expected a list of seal.Score of this chat, each with a finite number or None as its value"
)
_DECLARED = {
    "names": (Sequence[str], "a list of texts"),
    "scales": (Mapping[str, Scale], "a map of names to seal.core.Scale"),
}
"""Attribute of a metric to its type, and to the type in words."""


@dataclass(frozen=True, slots=True)
class FunctionMetric:
    """A function of (task, trajectory), or of (task, trajectory, tools), as a metric.

    Args:
        function: Returns a number or a bool, which becomes the score of the chat's last goal. It
            may also return a map of metric names to these, a list with one of either for each goal,
            or `Score` records.
        name: Of the metric where the function names none.
    """

    function: Callable[..., Any]
    name: str

    @property
    def identity(self) -> str:
        """Module and name of the function, by which a run's record names the metric."""
        return f"{self.function.__module__}:{self.function.__qualname__}"

    @property
    def scales(self) -> Mapping[str, Scale]:
        """What the scores mean, as the function's attribute `scales` declares it."""
        found: Mapping[str, Scale] = getattr(self.function, "scales", {})
        return found

    def score(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> list[Score]:
        """Return what the function says, as scores.

        Raises:
            UsageError: It returned something else.
        """
        found = self.function(*(task, trajectory, tools)[: places_of(self.function, 3, 2)])
        if isinstance(found, Sequence) and not isinstance(found, str):
            if found and all(isinstance(score, Score) for score in found):
                return list(found)
            if len(found) == len(task.goals):
                by_goal = (self._of(task, trajectory, *said) for said in enumerate(found))
                return list(chain.from_iterable(by_goal))
            raise _unusable(self.name, found, task, _EXPECTED)
        return self._of(task, trajectory, len(task.goals) - 1, found)

    def _of(self, task: Task, trajectory: Trajectory, goal: int, said: Any) -> list[Score]:
        named = said if isinstance(said, Mapping) else {self.name: said}
        known = all(
            isinstance(name, str) and isinstance(value, (Real, np.bool_)) and math.isfinite(value)
            for name, value in named.items()
        )
        if not named or not known:
            raise _unusable(self.name, said, task, _EXPECTED)
        return [
            Score(task.id, trajectory.trial, goal, name, float(value))
            for name, value in named.items()
        ]


def own_metric(what: Any, found: Any) -> Guarded:
    """Return a metric of the user's as one of ours.

    Args:
        what: What the user named.
        found: What that stands for: a class, an object with `score`, or a function.

    Raises:
        UsageError: It is none of these, or its `names` or `scales` are of another type.
    """
    try:
        metric = found() if isinstance(found, type) else found
    except Exception as error:  # whatever a stranger's class raises
        raise UsageError(
            f"the metric {_name(found)} is not made: {told(error)}; give {_name(found)}(...) itself"
        ) from error
    if inspect.isfunction(metric) or inspect.ismethod(metric):
        check_plain(metric, f"the metric {_name(what)}")
        if places_of(metric, 3, 2) is None:
            raise UsageError(
                f"the metric {_name(what)} takes {inspect.signature(metric)}; expected a function "
                "of (task, trajectory), or of (task, trajectory, tools)"
            )
        metric = FunctionMetric(metric, metric.__name__)
    score = getattr(metric, "score", None)
    if not callable(score) or not takes(score, 3):
        raise UsageError(
            f"{what!r} is no metric: expected a class or object with "
            f"score(task, trajectory, tools), or a function of (task, trajectory), "
            f"got {type(metric).__name__}"
        )
    check_plain(score, f"the metric {_name(what)}: score")
    for part, (kind, said) in _DECLARED.items():
        try:
            found = getattr(metric, part, None)
        except Exception as error:  # whatever a stranger's property raises
            found = told(error)
        if found and not fits(found, kind):
            raise UsageError(
                f"the metric {_name(what)}: expected its {part} as {said}, "
                f"got {shortened(found)}; mend its {part}, or leave the metric out"
            )
    return Guarded(metric, what if isinstance(what, str) else _name(metric))


def try_metrics(
    metrics: Iterable[Guarded], task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]
) -> None:
    """Score one chat, so that a metric that cannot work is told before more chats are played.

    Raises:
        UsageError: A metric raised, or returned what is no score; the text names it.
    """
    for metric in metrics:
        try:
            found: Any = metric.inner.score(task, trajectory, tools)
            scores = list(found) if isinstance(found, Iterable) else [found]
        except SealError:
            raise
        except (Exception, SystemExit) as error:  # whatever it raises is its author's to mend
            raise UsageError(
                f"the metric {metric.name} failed on the first chat that ended, task {task.id}: "
                f"{told(error)}; mend it, or leave it out"
            ) from error
        expected = _EXPECTED if isinstance(metric.inner, FunctionMetric) else _SCORES
        if not scores and not is_ours(metric):
            raise _unusable(metric.name, scores, task, expected)
        for score in scores:
            if not _is_score(score, task, trajectory):
                raise _unusable(metric.name, score, task, expected)


def _unusable(metric: str, said: Any, task: Task, expected: str) -> UsageError:
    return UsageError(f"task {task.id}: the metric {metric} returned {shortened(said)}; {expected}")


def _is_score(score: Any, task: Task, trajectory: Trajectory) -> bool:
    kinds = {name: kind for name, kind in fields_of(Score).items() if name != "value"}
    if not isinstance(score, Score) or not all(fits(getattr(score, n), kinds[n]) for n in kinds):
        return False
    chat, value = (score.task_id, score.trial), score.value
    if chat != (task.id, trajectory.trial) or score.goal not in range(len(task.goals)):
        return False
    # No number that is none, infinite, or beyond a float is at most this.
    plain = isinstance(value, (int, float)) and abs(value) <= float_info.max
    return value is None or plain


def _name(what: Any) -> str:
    return str(getattr(what, "name", None) or getattr(what, "__name__", type(what).__name__))
