"""Every metric over one trajectory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seal.core.errors import (
    CodeRefusedError,
    DataError,
    UnknownNameError,
    UsageError,
    shortened,
)
from seal.core.protocols import Judge, Metric
from seal.core.registry import Registry
from seal.core.tool_life import CREATION
from seal.core.types import Goal, Score, Task, Tool, Trajectory
from seal.evaluation.calls import Calls
from seal.evaluation.dialogue.metrics import Dialogue
from seal.evaluation.dialogue.roles import RoleJudge
from seal.evaluation.dialogue.turns import is_turn
from seal.evaluation.error_patterns import ErrorPatterns
from seal.evaluation.goal_state import GoalState
from seal.evaluation.judge import LLMJudge, PassRate, RuleJudge
from seal.evaluation.milestones.metrics import Milestones
from seal.evaluation.mission_metrics import Missions
from seal.evaluation.own_metrics import Guarded, LeftOut, own_metric
from seal.evaluation.retrieval import Retrieval
from seal.evaluation.rules import rules_named
from seal.evaluation.usage import UsageMetrics
from seal.evaluation.user_audit import UserAudit


def default_metrics(
    ks: Sequence[int] = (1, 5, 10), judge: Judge | None = None, match: str | None = None
) -> tuple[Metric, ...]:
    """Return the metrics of every run.

    They are: retrieval, calls, missions, pass rate, milestones, error patterns, usage, user audit,
    and those of dialogues where a task is one, and the goal state where the virtual mobile played.
    Of the turns of a recorded dialogue, and of a tool to create, those of requests say nothing.

    Args:
        ks: Cut-offs of the retrieval metrics.
        judge: Of the pass rate where milestones do not say, and of roles where it is a model; None:
            by rule, without a model.
        match: Rules of milestones, missions and dialogues (`rules`); None: each task's own.

    Raises:
        UsageError: There are no such rules.
    """
    rules = rules_named(match)
    of_roles = RoleJudge(judge.model, judge.seed) if isinstance(judge, LLMJudge) else None
    return (
        OfRequests(Retrieval(tuple(ks)), unless_ranked=True),
        Calls(),
        OfRequests(Missions(rules.missions)),
        # The conditions of milestones may be a plug-in's.
        OfRequests(Guarded(PassRate(judge or RuleJudge(), rules.milestones), "pass_rate")),
        OfRequests(Guarded(Milestones(rules.milestones), "milestones")),
        ErrorPatterns(),
        UsageMetrics(),
        UserAudit(),
        Dialogue(rules.dialogue, of_roles),
        GoalState(),
    )


@dataclass(frozen=True, slots=True)
class OfRequests:
    """A metric of what was made of a request: it has no scores of turns, nor of tools to create.

    A turn of a recorded dialogue asks for the next act alone, which neither solves nor fails what
    the user is after.

    Args:
        inner: The metric.
        unless_ranked: It has scores of them too where tools were retrieved.
    """

    inner: Metric
    unless_ranked: bool = False

    def score(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> list[Score]:
        """Return the metric's scores; none of turns and creations."""
        if any(map(_is_request, task.goals)) or (self.unless_ranked and trajectory.rankings):
            return list(self.inner.score(task, trajectory, tools))
        return []


def _is_request(goal: Goal) -> bool:
    return not is_turn(goal) and goal.labels.get("task") != CREATION


def named_metrics(
    names: Any, place: str, registry: Registry, allow_code: Collection[str]
) -> tuple[Guarded | LeftOut, ...]:
    """Return the metrics that data names; `LeftOut` for one that cannot be had.

    Args:
        names: A list of names; a dotted path counts where its module is allowed.
        place: Where they stand, for messages.
        registry: Of metrics.
        allow_code: Modules that are allowed.

    Raises:
        DataError: It is no list of texts.
        UsageError: What is allowed is not there, or no metric.
    """
    if not isinstance(names, list):
        raise DataError(f"{place}: expected a list of metrics, got {shortened(names)}; mend it")
    return tuple(_named(name, place, registry, allow_code) for name in names)


def _named(
    name: Any, place: str, registry: Registry, allow_code: Collection[str]
) -> Guarded | LeftOut:
    try:
        return own_metric(name, registry.named(name, place, allow_code))
    except (CodeRefusedError, UnknownNameError) as error:
        return LeftOut(name, str(error))


def build_metrics(wanted: Iterable[Any], registry: Registry) -> tuple[Guarded, ...]:
    """Return further metrics by object, class, function, name or dotted path.

    Raises:
        UnknownNameError: No metric of that name.
        UsageError: It is no metric (`seal.evaluation.own_metrics`).
    """
    return tuple(own_metric(what, registry.resolve(what)) for what in wanted)


def score_trajectory(
    task: Task, trajectory: Trajectory, tools: Mapping[str, Tool], metrics: Iterable[Metric]
) -> list[Score]:
    """Return the scores of one trajectory, metric by metric.

    Raises:
        ValueError: The trajectory is of another task.
        UsageError: Two metrics give a score of one name.
    """
    if trajectory.task_id != task.id:
        raise ValueError(f"trajectory of task {trajectory.task_id!r} scored against {task.id!r}")
    found: dict[tuple[str, int], Score] = {}
    for metric in metrics:
        for score in metric.score(task, trajectory, tools):
            if found.setdefault((score.metric, score.goal), score) is not score:
                raise UsageError(
                    f"two metrics give the score {score.metric!r}, so that neither could be read; "
                    "rename your own"
                )
    return list(found.values())
