"""Every metric over one trajectory; metrics by name; the audit of users; recorded scores."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

from seal.core import (
    DataError,
    Goal,
    Judge,
    Metric,
    Scale,
    Score,
    Step,
    Task,
    Tool,
    Trajectory,
    UsageError,
)
from seal.core.conditions import Match
from seal.core.registry import Registry
from seal.evaluation.calls import EXTRA, Calls, ExtraCalls, UsageMetrics
from seal.evaluation.goals import (
    USER,
    ChatMetric,
    GoalChat,
    GoalMetric,
    Guarded,
    Rules,
    TaskChat,
    Value,
    applies,
    match_of,
    scores_of,
    undefined,
)
from seal.evaluation.missions import Missions
from seal.evaluation.pass_rates import PassRate
from seal.evaluation.pattern_scores import ErrorPatterns
from seal.evaluation.ranking_metrics import Retrieval
from seal.evaluation.rule_judge import RuleJudge

if TYPE_CHECKING:
    from seal.evaluation.conversation_audit import Flag


# -- How often simulated users did what no user should do.
#
# Source: Lu et al., ToolSandbox (2024), section on the user simulator, whose authors found such
# errors by hand. Here `conversation_audit` finds them by rule, so that every score can be read
# beside them.

HALLUCINATION = "user_hallucination"
INSTRUCTION = "user_instruction_error"
USER_ERRORS = (HALLUCINATION, INSTRUCTION)


class UserAudit(GoalMetric):
    """Two rates of conversations: 1 where the user made such an error, else 0.

    - user_hallucination: the simulated user stated a value or name that it cannot know.
    - user_instruction_error: it left early, spoke as the assistant, or said nothing.

    Rules find both; details.flags holds the flags with their steps. A goal counts where the task
    has a persona, or the user answered; tasks without any such goal have no scores. Without a brief
    nobody can tell what the user made up.
    """

    names = USER_ERRORS
    scales = dict.fromkeys(USER_ERRORS, Scale(higher_is_better=False, gold_is_best=False))

    def of(self, chat: TaskChat) -> list[Score]:
        """Return two scores for each goal; none of a task whose user only speaks its goals."""
        answered = any(sum(map(_is_spoken, goal.steps)) > 1 for goal in chat.goals)
        return [] if chat.task.persona is None and not answered else super().of(chat)

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the values of one goal."""
        made_up = undefined("the user has no brief")
        # Where a user was played: other runs do not load the rules.
        if goal.task.persona:
            from seal.evaluation.conversation_audit import hallucinations

            made_up = _value(hallucinations(goal))
        from seal.evaluation.conversation_audit import against_orders

        return {HALLUCINATION: made_up, INSTRUCTION: _value(against_orders(goal))}


SPOILT = "spoilt by the user"
"""Why a score has no value whose chat is left out for the errors of its user."""


def is_spoilt(scores: Iterable[Score]) -> bool:
    """Tell whether the scores of a chat say that its user made an error."""
    return any(score.metric in USER_ERRORS and score.value for score in scores)


def left_out(scores: Iterable[Score]) -> list[Score]:
    """Return the scores of a spoilt chat without values, but for those of the user."""
    return [
        score
        if score.metric in USER_ERRORS
        else replace(score, value=None, weight=0.0, reason=SPOILT)
        for score in scores
    ]


def _is_spoken(step: Step) -> bool:
    return step.author == USER and step.call is None


def _value(flags: Sequence[Flag]) -> Value:
    listed = [asdict(flag) | {"facts": list(flag.facts)} for flag in flags]
    reason = "; ".join(dict.fromkeys(flag.flag for flag in flags))
    return Value(float(bool(flags)), reason=reason, details={"flags": listed})


# -- How well a chat keeps to milestones and off minefields, as metrics of a run.

NAMES = ("similarity", "milestone_similarity", "minefield_similarity", "turn_count")


@dataclass(frozen=True)
class Milestones(GoalMetric):
    """Similarity of a chat to the plans of each goal, in [0, 1], and its turns.

    - similarity: the milestones' similarity, or 0 where a minefield was hit. Of several plans the
      best one counts, of equally good ones the first. `details`: the plan's position, the rules,
      and, where the world ends otherwise than gold asks, `ends`: table to its rows that are
      `too_many`, `missing` and `different`, at most 20 of each.
    - milestone_similarity, minefield_similarity: the two of which it is made (`PlanResult`), for
      that plan. `details`: `mapping`, [[node, step index, similarity]], and `conditions`, for each
      entry of it the similarities of the node's conditions.
    - turn_count: messages between user, agent and executor (`plans.turn_count`), unbounded above.

    A goal has no value without a plan, with one that cannot be measured (`check_plan`), or if its
    task names unknown rules. Plans may hold only what the metrics of calls and answers measure
    (`Called`, `Asked` and `Replied`). Their goal has a value where the task names its rules.

    Source: ToolSandbox, section 4.

    Args:
        match: Rules to measure by; None: those that the task's metadata name under `match`, else
            `clean`.
    """

    match: Match | None = None

    names = NAMES
    main_of_some = ("similarity",)
    scales: ClassVar[Mapping[str, Scale]] = {
        "similarity": Scale(gold_is_best=True),
        "milestone_similarity": Scale(gold_is_best=True),
        "minefield_similarity": Scale(higher_is_better=False, gold_is_best=True),
        "turn_count": Scale(bounded=False, higher_is_better=None),
    }

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the values of one goal."""
        if not applies(goal.task, goal.goal):
            return dict.fromkeys(NAMES, undefined("no milestones of the world"))
        try:
            match = self.match or match_of(goal.task)
            # Of worlds alone: other runs do not load what measures milestones.
            from seal.evaluation.plans import measure_goal

            best = goal.chat.once(measure_goal, goal, match)
        except DataError as error:
            return dict.fromkeys(NAMES, undefined(f"the plan cannot be measured: {error}"))
        from seal.evaluation.plans import values_of

        return values_of(best, match)


# -- Every metric over one trajectory.

_LOG = logging.getLogger(__name__)
JudgeOf = Callable[[Task, int], Judge]
"""(task, trial) to the judge of that chat."""


FAMILIES: tuple[type[ChatMetric], ...] = (Milestones, PassRate, Missions, Retrieval, Calls)
"""Metrics of every run, in the order of the short table. If gold asks of a world, a benchmark
reports the similarity to its milestones."""
_BESIDE: tuple[type[ChatMetric], ...] = (ExtraCalls, ErrorPatterns, UsageMetrics, UserAudit)
USUAL_SCALES: Mapping[str, Scale] = {
    name: scale for family in (*FAMILIES, *_BESIDE) for name, scale in family.scales.items()
}
"""Scales of the metrics of every run."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """How a run scores: what the further metrics of a benchmark are made from."""

    judge_of: JudgeOf
    rules: Rules
    sandbox: str = "monty"
    """Where code that a model wrote runs (`seal.sandbox.NAMES`)."""


def every_goal(goal: Goal) -> bool:
    """Return true: a goal asks for something to be done where its benchmark says nothing else."""
    return True


def usual_metrics(
    ks: Sequence[int] = (1, 5, 10),
    judge: Judge | None = None,
    rules: Rules | None = None,
    is_request: Callable[[Goal], bool] = every_goal,
) -> tuple[Metric, ...]:
    """Return the metrics of every run.

    They are: retrieval, calls, missions, pass rate, milestones, what was done besides the gold,
    error patterns, usage and user audit. Those of requests say nothing of a task in which no goal
    is a request.

    Args:
        ks: Cut-offs of the retrieval metrics.
        judge: Of the pass rate where milestones do not say; None: by rule, without a model.
        rules: As `rules_named` gives them; None: each task's own.
        is_request: Whether a goal asks for something to be done.
    """
    rules = rules or Rules()
    # The conditions of milestones may be a plug-in's.
    pass_rate = Guarded(PassRate(judge or RuleJudge(), rules.milestones), "pass_rate")
    milestones = Guarded(Milestones(rules.milestones), "milestones")
    return (
        OfRequests(Retrieval(tuple(ks)), is_request, unless_ranked=True),
        Calls(rules.calls),
        OfRequests(Missions(rules.missions), is_request),
        OfRequests(pass_rate, is_request),
        OfRequests(milestones, is_request),
        Guarded(ExtraCalls(rules.calls, rules.milestones), EXTRA[1]),
        ErrorPatterns(),
        UsageMetrics(),
        UserAudit(),
    )


@dataclass(frozen=True)
class OfRequests(ChatMetric):
    """A metric of what was made of a request: it has no scores of tasks that have none.

    Args:
        inner: The metric.
        is_request: Whether a goal asks for something to be done.
        unless_ranked: It has scores of other tasks too where tools were retrieved.
    """

    inner: Metric
    is_request: Callable[[Goal], bool]
    unless_ranked: bool = False

    def of(self, chat: TaskChat) -> list[Score]:
        """Return the metric's scores; none where no goal is a request."""
        ranked = self.unless_ranked and chat.trajectory.rankings
        if ranked or any(map(self.is_request, chat.task.goals)):
            return list(scores_of(self.inner, chat))
        return []


def build_metrics(wanted: Iterable[Any], registry: Registry) -> tuple[Guarded, ...]:
    """Return further metrics by object, class, function, name or dotted path.

    Raises:
        UnknownNameError: No metric of that name.
        UsageError: It is no metric (`seal.evaluation.own_metrics`).
    """
    if not (listed := list(wanted)):
        return ()
    # Of further metrics alone: other runs do not load it.
    from seal.evaluation.own_metrics import metric_of

    return tuple(metric_of(what, registry, partial(registry.resolve, what)) for what in listed)


@dataclass(frozen=True)
class OneScore(ChatMetric):
    """One score of a metric that gives several."""

    inner: Metric
    name: str

    @property
    def scales(self) -> Mapping[str, Scale]:  # type: ignore[override]
        """What the scores of the metric mean, as it declares it."""
        found: Mapping[str, Scale] = getattr(self.inner, "scales", {})
        return found

    def of(self, chat: TaskChat) -> list[Score]:
        """Return the scores of that name."""
        return [score for score in scores_of(self.inner, chat) if score.metric == self.name]


def scales_of(metrics: Iterable[Metric]) -> dict[str, Scale]:
    """Return what the scores of metrics mean, by name, as the metrics declare it."""
    found: dict[str, Scale] = {}
    for metric in metrics:
        found |= getattr(inmost(metric), "scales", {})
    return found


def inmost(metric: Any) -> Any:
    """Return the metric that others guard or limit."""
    while isinstance(metric, Guarded | OfRequests):
        metric = metric.inner
    return metric


def is_ours(metric: Metric) -> bool:
    """Tell whether a metric is one that SEAL has, so that a run may have its scores."""
    home = type(metric.inner if isinstance(metric, Guarded) else metric).__module__
    return home.startswith("seal.") and home != "seal.evaluation.own_metrics"


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
    chat = TaskChat(task, trajectory, tools)
    return distinct(chain.from_iterable(scores_of(metric, chat) for metric in metrics))


def distinct(scores: Iterable[Score]) -> list[Score]:
    """Return the scores of a trajectory.

    Raises:
        UsageError: Two of one goal have the same name.
    """
    found: dict[tuple[str, int], Score] = {}
    for score in scores:
        if found.setdefault((score.metric, score.goal), score) is not score:
            raise UsageError(
                f"two metrics give the score {score.metric!r}, so that neither could be read; "
                "rename your own, or leave it out"
            )
    return list(found.values())


# -- Scores that others gave a chat before it came here, as its provenance has them.

GIVEN = "recorded_scores"
"""Part of a trajectory's provenance: metric to {value, reason}; a value of None was not given."""


class RecordedScores:
    """Takes what was given; of a chat with several goals as the score of the last."""

    name = "recorded_scores"
    is_recorded = True

    def score(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> list[Score]:
        """Return the scores; empty where none were given."""
        given = trajectory.provenance.get(GIVEN)
        goal = len(task.goals) - 1
        return [
            Score(task.id, trajectory.trial, goal, name, one["value"], reason=str(one["reason"]))
            for name, one in (given.items() if isinstance(given, dict) else ())
            if isinstance(one, dict)
        ]
