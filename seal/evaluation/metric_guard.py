"""Metrics from elsewhere, whose failure is a score without a value."""

from __future__ import annotations

from dataclasses import dataclass, replace

from seal.core import Metric, Score, SealError
from seal.core.secrets import without_keys
from seal.evaluation.goals import INFRASTRUCTURE, ChatMetric, TaskChat, scores_of


@dataclass(frozen=True)
class Guarded(ChatMetric):
    """A metric from elsewhere: where it fails, its score has no value and says so.

    Args:
        inner: The metric.
        name: Its name, for the score that stands for a failure.
    """

    inner: Metric
    name: str

    def of(self, chat: TaskChat) -> list[Score]:
        """Return the metric's scores, or one without a value for each goal.

        A chat that failed has scores without values alone, whatever the metric says of it.
        """
        failure = chat.failure
        try:
            scores = list(scores_of(self.inner, chat))
            if failure:
                scores = [replace(one, value=None, weight=0.0, reason=failure) for one in scores]
            return scores
        except Exception as error:  # a plug-in's fault is an error of its task, never a score
            if isinstance(error, SealError) and not failure:
                raise
            reason = failure or f"{INFRASTRUCTURE}: metric {self.name}: {told(error)}"
            return LeftOutMetric(self.name, reason).of(chat)


@dataclass(frozen=True)
class LeftOutMetric(ChatMetric):
    """A metric that measures nothing, and says why.

    Args:
        name: Its name.
        reason: Why.
    """

    name: str
    reason: str

    def of(self, chat: TaskChat) -> list[Score]:
        """Return a score without a value for each goal."""
        task, trial = chat.task.id, chat.trajectory.trial
        return [
            Score(task, trial, goal, self.name, None, reason=self.reason)
            for goal in range(len(chat.task.goals))
        ]


def told(error: BaseException) -> str:
    """Return the kind of an error and what it says, without keys."""
    said = without_keys(str(error).encode("utf-8", "replace")).decode()
    return f"{type(error).__name__}: {said}"
