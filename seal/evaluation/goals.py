"""What a metric is and what it reads.

Beside it: the kinds of gold, who decides a goal, published rules (`--match`), and the guard
around metrics of others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, get_args

from seal.core import (
    CHAT_TOOLS,
    JSON,
    DataError,
    Goal,
    Metric,
    OverdueError,
    Plan,
    Scale,
    Score,
    SealError,
    Step,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
    UnknownNameError,
    UsageError,
    text_of,
)
from seal.core.concurrency import in_time
from seal.core.conditions import BREACHES, CLEAN, Asked, Called, Match, Replied, parts
from seal.core.earlier_results import Made, goal_in_chat, lacking, result_value, takes_results
from seal.core.registry import Registry
from seal.core.secrets import without_keys

if TYPE_CHECKING:
    from seal.evaluation.calls import Verdict
    from seal.evaluation.missions import MissionRules


# -- A chat as metrics read it, and the goals in it: who acted, and whether anything may be scored.
#
# `TaskChat` is made once for all metrics of a trajectory. What several of them ask of a goal is
# found by the first that asks (`GoalChat`). `GoalMetric` is a metric that looks at each goal by
# itself.

USER = "user_simulator"
EXECUTOR = "executor"
INFRASTRUCTURE = "infrastructure"
"""First word of the reason of a score that an infrastructure failure left without a value."""
LARGEST_SCORE = 1e100
"""Of any size: beyond it no variance can be computed."""
WHOLLY = 1 - 1e-6
"""Value from which a goal, or a node of its plan, is met wholly; cells are rounded to 32 bits."""
RATE = Scale()
"""Scale of a metric that declares none."""
UNDECIDED = "undecided"
"""First word of the reason of a score of what is neither right nor wrong."""
NONE_NEEDED = "no call was needed"
"""Why metrics of calls do not apply to a goal."""
IN_ORDER = "in_order"
"""Label of a goal whose gold calls are right in the order of its plan alone."""
TALK = "talk"
"""Label `action` of a goal that is small talk."""
ENDS = frozenset({"ends_as", "final_state"})
"""Kinds of the conditions that say how a world ends."""
MISSION = "mission_accuracy"
JUDGED = ("pass_rate", "tooleval", "sopr", "fac", "success")
CRASHED = "crashed"
"""How a chat ended in which the agent's own code failed: no goal is solved so."""
DECIDING = frozenset({MISSION, *JUDGED})
"""Metrics that may say whether a goal is solved, on any benchmark."""


Outcome = Literal["unsolved", "undecided", "solved"]
WORST_FIRST: tuple[Outcome, ...] = get_args(Outcome)
"""What a score of a metric that decides may say of its goal."""


def decides(score: Score) -> bool:
    """Tell whether a score of a metric that decides says anything of its goal."""
    return score.value is not None or score.details.get("label") == "unsure"


def is_best(value: float, scale: Scale = RATE) -> bool:
    """Tell whether a value is the best of its scale: 1, or 0 where low values are better."""
    return value <= 1 - WHOLLY if scale.higher_is_better is False else value >= WHOLLY


def ranking(names: Iterable[str], scales: Mapping[str, Scale]) -> list[str]:
    """Return the metrics by which runs may be known, drawn and ranked: those of no condition.

    Whoever tries less may have more of the others (`Scale.condition`).
    """
    return [name for name in names if not scales.get(name, RATE).condition]


def state_of(score: Score, scale: Scale = RATE) -> Outcome:
    """Return what a score that `decides` says of its goal.

    It is undecided where a judge was unsure and the metric does not count that as a failure.
    """
    label = score.details.get("label")
    if label == "unsure" and score.value != 0.0:
        return "undecided"
    if label in ("solved", "unsolved"):
        return "solved" if label == "solved" else "unsolved"
    return "solved" if score.value is not None and is_best(score.value, scale) else "unsolved"


@dataclass(frozen=True, slots=True)
class Value:
    """One metric of one goal."""

    value: float | None
    weight: float = 1.0
    """Denominator for micro means."""
    reason: str = ""
    details: dict[str, JSON] = field(default_factory=dict)

    def score(self, task_id: str, trial: int, goal: int, metric: str) -> Score:
        """Return the value as a record."""
        return Score(
            task_id, trial, goal, metric, self.value, self.weight, self.reason, self.details
        )


def undefined(reason: str) -> Value:
    """Return the value of a metric that does not apply."""
    return Value(None, 0.0, reason)


_T = TypeVar("_T")


class TaskChat:
    """What was done for a task, beside its gold and the pool.

    Args:
        task: The task.
        trajectory: What was said and done for it.
        tools: The pool by id.
    """

    def __init__(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> None:
        self.task, lacking = gold_in_chat(task.of_tools(tools), trajectory)
        """With gold that knows its tools: their defaults may be left out or written. And with what
        this chat's calls brought, where gold takes the results of earlier calls."""
        self.trajectory, self.tools = trajectory, tools
        self.failure = failure_reason(trajectory) or lacking
        """Why nothing may be scored; empty where everything may."""
        self._known: dict[Hashable, Any] = {}

    @cached_property
    def lent(self) -> Trajectory:
        """The trajectory as code of others gets it (`lent`)."""
        return lent(self.trajectory)

    @cached_property
    def goals(self) -> list[GoalChat]:
        """The goals of the task, in their order."""
        return [GoalChat(self, position) for position in range(len(self.task.goals))]

    def once(self, find: Callable[..., _T], *of: Any) -> _T:
        """Return what a function says of some arguments; it is asked once.

        Args:
            find: The function.
            of: Its arguments; goals of this chat, and values that can be keys.
        """
        key = (find, *of)
        if key not in self._known:
            self._known[key] = find(*of)
        found: _T = self._known[key]
        return found


class GoalChat:
    """One goal of a chat: what was asked, said and done.

    Args:
        chat: The chat.
        position: Of the goal in its task.
    """

    def __init__(self, chat: TaskChat, position: int) -> None:
        self.chat, self.position = chat, position
        self.task, self.trajectory, self.tools = chat.task, chat.trajectory, chat.tools
        self.goal = chat.task.goals[position]
        """The goal with its gold."""
        self.answer = answer_of(chat.trajectory, position)
        """The final answer; None where there is none."""
        self.stop = stop_of(chat.trajectory, position)
        """Why the chat about the goal ended."""

    @cached_property
    def steps(self) -> list[Step]:
        """What was said and done for the goal."""
        return goal_steps(self.trajectory, self.position)

    @cached_property
    def made(self) -> list[ToolCall]:
        """The agent's API calls (`made_calls`)."""
        return made_calls(self.steps)

    @cached_property
    def results(self) -> dict[str, ToolResult]:
        """Id of a call to its result."""
        return {s.result.call_id: s.result for s in self.steps if s.result is not None}

    @cached_property
    def cut(self) -> set[str]:
        """Ids of the calls whose arguments are unknown (`cut_calls`)."""
        return cut_calls(self.trajectory, self.position)

    @property
    def offered(self) -> tuple[str, ...] | None:
        """Ids of the tools that the agent had; None where nobody says."""
        offered = self.trajectory.offered
        return offered[self.position] if self.position < len(offered) else None


def breaches_of(goal: GoalChat) -> list[dict[str, JSON]]:
    """Return the calls for a goal that broke a rule of its world's policy, as the run told them."""
    told = goal.trajectory.provenance.get(BREACHES)
    listed = [one for one in told if isinstance(one, dict)] if isinstance(told, list) else []
    return [{"why": "", **one} for one in listed if one.get("goal") == goal.position]


class ChatMetric(ABC):
    """A metric of ours: it reads a chat that other metrics have read before."""

    main: ClassVar[Sequence[str]] = ()
    """Scores that the short table shows where a benchmark declares none; of `recall@K` the base."""
    main_of_some: ClassVar[Sequence[str]] = ()
    """Likewise, of a gold of their own kind: shown where enough goals have it."""
    main_beside: ClassVar[Mapping[str, str]] = {}
    """Of these to another, beside which they are shown however few goals have them."""
    scales: ClassVar[Mapping[str, Scale]] = {}
    """Name of a score to what its values mean; of a name that is not here they are `RATE`s."""

    @abstractmethod
    def of(self, chat: TaskChat) -> list[Score]:
        """Return the scores of a chat."""

    def score(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> list[Score]:
        """Return the scores of a chat; value None where the metric does not apply."""
        return self.of(TaskChat(task, trajectory, tools))


class GoalMetric(ChatMetric):
    """A metric with one score for each goal and name."""

    @property
    @abstractmethod
    def names(self) -> Sequence[str]:
        """Names of the scores, in their order."""

    def applies(self, goal: GoalChat) -> bool:
        """Tell whether a goal has scores of this metric at all."""
        return True

    @abstractmethod
    def measure(self, goal: GoalChat) -> Mapping[str, Value]:
        """Return a value for each name; it is not asked where the infrastructure failed."""

    def of(self, chat: TaskChat) -> list[Score]:
        """Return one score for each goal and name; no value where the infrastructure failed.

        Goals to which the metric does not apply have none.
        """
        task, trial = chat.task.id, chat.trajectory.trial
        scores = []
        for goal in filter(self.applies, chat.goals):
            failed = dict.fromkeys(self.names, undefined(chat.failure)) if chat.failure else None
            values = failed or self.measure(goal)
            scores += [values[name].score(task, trial, goal.position, name) for name in self.names]
        return scores


def scores_of(metric: Metric, chat: TaskChat) -> Iterable[Score]:
    """Return a metric's scores of a chat, whoever wrote the metric."""
    if isinstance(metric, ChatMetric):
        return metric.of(chat)
    return metric.score(chat.task, chat.lent, chat.tools)


def lent(trajectory: Trajectory) -> Trajectory:
    """Return a chat with copies of the tables that it shares with others, which may be changed."""
    steps = [
        replace(step, state={name: _own(rows) for name, rows in step.state.items()})
        if step.state
        else step
        for step in trajectory.steps
    ]
    return replace(trajectory, steps=tuple(steps))


def _own(rows: list[Any]) -> list[Any]:
    from seal.core.table_versions import Version

    return rows.copies() if isinstance(rows, Version) else rows


def failure_reason(trajectory: Trajectory) -> str:
    """Return why nothing may be scored; empty where everything may."""
    for stop in trajectory.stops:
        if stop.reason == "error":
            return f"{INFRASTRUCTURE}: {stop.error or 'unknown failure'}"
    return ""


def gold_in_chat(task: Task, trajectory: Trajectory) -> tuple[Task, str]:
    """Return a task whose gold has what a chat brought, and why nothing may be scored.

    Gold may take the results of earlier calls (`seal.core.earlier_results`). Nothing may be scored
    where the result of a right call lacks the part that gold takes; empty: it may.
    """
    if not any(takes_results(plan) for goal in task.goals for plan in goal.plans or ()):
        return task, ""
    goals, told = [], ""
    for position, goal in enumerate(task.goals):
        steps = goal_steps(trajectory, position)
        results = {step.result.call_id: step.result for step in steps if step.result is not None}
        made = [
            Made(call.tool, call.arguments, result_value(result.content))
            for call in made_calls(steps)
            if (result := results.get(call.id)) is not None and result.error is None
        ]
        told = told or lacking(goal, made)
        goals.append(goal_in_chat(goal, made))
    return replace(task, goals=tuple(goals)), told and f"{INFRASTRUCTURE}: {told}"


def goal_steps(trajectory: Trajectory, goal: int) -> list[Step]:
    """Return what was said and done for one goal."""
    return [step for step in trajectory.steps if step.goal == goal]


def answer_of(trajectory: Trajectory, goal: int) -> str | None:
    """Return the final answer to a goal; None where there is none."""
    return trajectory.answers[goal] if goal < len(trajectory.answers) else None


def stop_of(trajectory: Trajectory, goal: int, unknown: str = "not played") -> str:
    """Return why the chat about a goal ended; `unknown` where nobody says."""
    return trajectory.stops[goal].reason if goal < len(trajectory.stops) else unknown


def asks_of_world(plan: Plan) -> bool:
    """Tell whether a plan asks more than calls, questions and replies, or forbids something."""
    if plan.minefields:
        return True
    conditions = (part for node in plan.milestones for part in parts(node.condition))
    return any(not isinstance(part, (Called, Asked, Replied)) for part in conditions)


def leaves_calls_open(plan: Plan) -> bool:
    """Tell whether a plan says how its world ends, to which other calls may lead than it names."""
    asked = (part for node in plan.milestones for part in parts(node.condition))
    ends = [part for part in asked if getattr(part, "kind", "") in ENDS]
    return not all(getattr(part, "of_plan", False) for part in ends)


def unserved(goal: Goal) -> bool:
    """Tell whether a goal says that no tool serves it: its label `action` is `abstain`.

    A plan without calls alone says less: that goal may be small talk, which asks for an answer.
    """
    return goal.labels.get("action") == "abstain"


def is_talk(goal: Goal) -> bool:
    """Tell whether a goal is small talk, to which a refusal is no answer: `action` is `talk`."""
    return goal.labels.get("action") == TALK


def asks_calls_alone(goal: Goal) -> bool:
    """Tell whether gold is calls and nothing else: it says nothing of what is to be answered."""
    return no_call_besides(goal) and all(plan.milestones for plan in goal.plans or ())


def asks_no_call(goal: Goal) -> bool:
    """Tell whether gold is that no call is right: that no tool serves the goal, or nothing else."""
    alone = no_call_besides(goal) and not any(plan.milestones for plan in goal.plans or ())
    return alone or unserved(goal)


def no_call_besides(goal: Goal) -> bool:
    """Tell whether the calls of gold are all that it asks, be they none."""
    plans = goal.plans or ()
    said = (
        goal.answers
        or goal.tells
        or any(step.call is None and step.result is None for step in goal.reference)
    )
    calls = (isinstance(node.condition, Called) for plan in plans for node in plan.milestones)
    return bool(plans) and not said and all(calls) and not any(plan.minefields for plan in plans)


def is_decidable(goal: Goal) -> bool:
    """Tell whether gold says what a right answer states, or what is to become of the world.

    Where no tool serves, a right answer says so.
    Of such a goal an answer from which that cannot be told is no solution.
    """
    asked = [node.condition for plan in goal.plans or () for node in plan.milestones]
    of_world = any(map(asks_of_world, goal.plans or ()))
    told = bool(goal.answers or goal.tells) or of_world or unserved(goal)
    return told or any(isinstance(one, Replied) for one in asked)


def no_gold(goal: Goal) -> str:
    """Return why a goal has no gold calls; empty where it has."""
    if goal.plans is None:
        return "no gold calls annotated"
    if not goal.plans:
        return "the goal has no plan"
    called = (called.tool for plan in goal.plans for called in plan.calls())
    if not all(tool.startswith(CHAT_TOOLS) for tool in called):
        return ""
    if any(map(asks_of_world, goal.plans)):
        return "the plan asks of the world, not of calls"
    return NONE_NEEDED


def no_missions(goal: Goal) -> str:
    """Return why a goal is no mission; empty where it is one."""
    plans = [plan.without_end() for plan in goal.plans or ()]
    if not plans:
        return no_gold(goal)
    conditions = (m.condition for plan in plans for m in (*plan.milestones, *plan.minefields))
    if not all(isinstance(condition, (Called, Asked, Replied)) for condition in conditions):
        return "the plan asks of the world, not of calls"
    return "the plan has minefields" if any(plan.minefields for plan in plans) else ""


def is_dialogue(task: Task) -> bool:
    """Tell whether the goals of a task are missions of a dialogue: several, or labelled ones."""
    return len(task.goals) > 1 or "type" in task.goals[0].labels


def made_calls(steps: Iterable[Step]) -> list[ToolCall]:
    """Return the agent's API calls in order, as the model wrote them: rejected ones too.

    The user's own calls and those of the harness's own tools are none of the agent's API calls.
    """
    return [
        step.call
        for step in steps
        if step.call is not None
        and step.author != USER
        and not (step.call.tool or "").startswith(CHAT_TOOLS)
    ]


def cut_calls(trajectory: Trajectory, goal: int) -> set[str]:
    """Return the ids of the calls whose arguments are unknown because upstream cut their text.

    Such a call has no arguments, and its result's error lists "arguments" under "cut". One without
    a result counts as cut where `provenance["truncated"]` counts cut arguments.
    """
    counted = trajectory.provenance.get("truncated")
    any_cut = isinstance(counted, dict) and bool(counted.get("arguments"))
    cut = set()
    for step, answer in trajectory.calls(goal):
        if step.call is not None and step.call.arguments is None:
            error = answer.result.error if answer is not None and answer.result else None
            unmarked = answer is None and any_cut
            if unmarked or (error is not None and "arguments" in error.get("cut", ())):
                cut.add(step.call.id)
    return cut


def failed(result: ToolResult | None) -> bool:
    """Tell whether a call brought an error, or nothing at all.

    A result that upstream cut is no failure, unless what is left of it reports one.
    """
    if result is None:
        return True
    error = result.error
    return error is not None and (error.get("kind") != "truncated" or bool(error.get("upstream")))


# -- The rules that scores are computed by.
#
# `--match`, and `match` in the metadata of tasks, take rules under one name. `clean`: ours,
# everywhere. `lenient`, `exact`: the turns of dialogues as they are published, or by the very
# action, API and arguments. Packs have others under the entry point `seal.matches`: milestones as a
# published evaluator measures them, or missions as published code judges them. Rules that a
# benchmark declares (`Benchmark.matches`): `calls_right` as its authors judge it, for its runs
# alone. Not named: each task's own rules of milestones, `clean` for missions and `lenient` for
# dialogues.

DialogueMatch = Literal["lenient", "exact"]
"""Lenient: as published. Exact: the very action, API, argument names and values."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a name stands for."""

    milestones: Match | None = None
    """None: each task's own."""
    missions: MissionRules | None = None
    """None: `seal.evaluation.missions.CLEAN`."""
    dialogue: DialogueMatch = "lenient"
    calls: Verdict | None = None
    """Says `calls_right`; None: `seal.evaluation.calls` does."""


_HERE = "seal.evaluation.goals"
MATCHES = Registry(
    "match",
    "seal.matches",
    {"clean": f"{_HERE}:OURS", "exact": f"{_HERE}:EXACT", "lenient": f"{_HERE}:LENIENT"},
)
"""Rules by name: each a `Rules`."""
OURS = Rules(milestones="clean")
LENIENT = Rules(dialogue="lenient")
EXACT = Rules(dialogue="exact")


def rules_named(
    name: str | None, declared: Mapping[str, Callable[[], Verdict]] | None = None
) -> Rules:
    """Return the rules of a name; None: none is asked for.

    Args:
        name: Of the rules.
        declared: Rules that the benchmark declares, by name.

    Raises:
        UsageError: There are no such rules.
    """
    declared = declared or {}
    if name is None:
        return Rules()
    if name in declared:
        return Rules(calls=declared[name]())
    try:
        return _registered(name)
    except UnknownNameError as error:
        known = ", ".join((*error.known, *declared))
        raise UsageError(f"match: expected one of {known}, got {name!r}") from None


def milestone_match(name: object, place: str) -> Match:
    """Return the name of rules of milestones that stands in data.

    Args:
        name: What stands there.
        place: Where it stands, for messages.

    Raises:
        DataError: There are no such rules, or they say nothing of milestones.
    """
    with suppress(UnknownNameError):
        if isinstance(name, str) and _registered(name).milestones:
            return name
    known = ", ".join(each for each in MATCHES.names() if _registered(each).milestones)
    raise DataError(f"{place}: expected one of {known}, got {name!r}")


@cache  # an unknown name is looked for again: it may be registered later
def _registered(name: str) -> Rules:
    if name not in MATCHES:  # a dotted path of data is no name, and is not imported
        raise UnknownNameError("match", name, MATCHES.names())
    rules: Rules = MATCHES.resolve(name)
    return rules


# -- Metrics from elsewhere, whose failure is a score without a value.


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
            found = in_time(lambda: list(scores_of(self.inner, chat)))
            scores = [self._in_scale(score) for score in found]
            if failure:
                scores = [replace(one, value=None, weight=0.0, reason=failure) for one in scores]
            return scores
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a plug-in's fault is an error of its task, never a score
            if isinstance(error, SealError) and not (failure or isinstance(error, OverdueError)):
                raise
            reason = failure or f"{INFRASTRUCTURE}: metric {self.name}: {told(error)}"
            return LeftOutMetric(self.name, reason).of(chat)

    def _in_scale(self, score: Score) -> Score:
        """Return a score without its value where that lies outside of its scale."""
        said = out_of_scale(score, self.inner)
        reason = f"{INFRASTRUCTURE}: metric {self.name}: {said}"
        return replace(score, value=None, weight=0.0, reason=reason) if said else score


def out_of_scale(score: Score, metric: Metric) -> str:
    """Return why a value is none of its scale; empty where it is one.

    Args:
        score: Of the metric.
        metric: Its `scales` are by the names of its scores. One whose `is_recorded` is true hands
            on what others gave, in whatever scale.
    """
    scales: Mapping[str, Scale] = getattr(metric, "scales", None) or {}
    bounded = scales.get(score.metric, RATE).bounded and not getattr(metric, "is_recorded", False)
    if score.value is None or not bounded or 0 <= score.value <= 1:
        return ""
    return (
        f"{score.metric} is {score.value:g}, and a rate lies in [0, 1]; if it counts, or has a "
        f"unit, give the metric the attribute scales: {{{score.metric!r}: Scale(bounded=False)}} "
        "of `from seal.core import Scale`"
    )


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
    said = without_keys(text_of(error).encode("utf-8", "replace")).decode()
    return f"{type(error).__name__}: {said}"


# -- Which goals milestones measure, and by which rules.


def match_of(task: Task) -> Match:
    """Return the rules that a task is measured by.

    Raises:
        DataError: The task names rules that there are not.
    """
    return milestone_match(task.metadata.get("match", CLEAN), f"task {task.id!r}: metadata.match")


def applies(task: Task, goal: Goal) -> bool:
    """Tell whether a goal is measured by the milestones of its plans."""
    plans = goal.plans or ()
    return bool(plans) and ("match" in task.metadata or any(map(asks_of_world, plans)))
