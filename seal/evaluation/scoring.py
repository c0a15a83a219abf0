"""Every metric over one trajectory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from seal.core.protocols import Judge, Metric
from seal.core.types import Score, Task, Tool, Trajectory
from seal.evaluation.calls import Calls
from seal.evaluation.judge import PassRate, RuleJudge
from seal.evaluation.retrieval import Retrieval
from seal.evaluation.usage import UsageMetrics


def default_metrics(
    ks: Sequence[int] = (1, 5, 10), judge: Judge | None = None
) -> tuple[Metric, ...]:
    """Return the metrics that every run gets: retrieval, calls, pass rate, usage.

    Args:
        ks: Cut-offs of the retrieval metrics.
        judge: Of the pass rate; None: by rule, without a model.
    """
    return Retrieval(tuple(ks)), Calls(), PassRate(judge or RuleJudge()), UsageMetrics()


def score_trajectory(
    task: Task, trajectory: Trajectory, tools: Mapping[str, Tool], metrics: Iterable[Metric]
) -> list[Score]:
    """Return the scores of one trajectory, metric by metric.

    Raises:
        ValueError: The trajectory is of another task.
    """
    if trajectory.task_id != task.id:
        raise ValueError(f"trajectory of task {trajectory.task_id!r} scored against {task.id!r}")
    return [score for metric in metrics for score in metric.score(task, trajectory, tools)]
