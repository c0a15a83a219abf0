"""What the rules of attribution look at, what they say, and who decides that a goal failed.

The metric that decides follows from the kind of gold:

- A mission (its gold goal names a `type`) by `mission_accuracy`.
- A goal whose gold is calls and nothing else by `calls_right`.
- A goal of a kind that its benchmark declares, by the metrics that the benchmark names: solved
  where each that applies is 1.
- Any other goal by `pass_rate`, which follows the milestones where a plan asks of a world; where a
  run has none, by another judge's metric. A goal is undecided, neither solved nor failed, where the
  judge was unsure and gold says nothing of the answer (`goals.is_decidable`).

A chat that broke, and a verdict that an infrastructure failure prevented, is an error and no
failure of the model. A goal without a verdict is counted apart.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from seal.core import JSON, Goal, Scale, Score, ToolResult, shortened
from seal.evaluation.calls import VERDICT
from seal.evaluation.error_patterns import StepNote
from seal.evaluation.goals import (
    CRASHED,
    INFRASTRUCTURE,
    JUDGED,
    MISSION,
    RATE,
    WORST_FIRST,
    GoalChat,
    TaskChat,
    asks_calls_alone,
    decides,
    failed,
    state_of,
)
from seal.evaluation.rule_judge import judge_answer
from seal.evaluation.statistics import kind_of_reason

_CUT_SHORT = (CRASHED, "context_overflow")
"""How a chat ended in which the agent could go on no more."""


class Evidence(GoalChat):
    """One goal that is not solved.

    Args:
        chat: What was done for its task.
        position: Of the goal in its task.
        scores: Of the goal, by metric.
        decision: Who says that it is not solved.
        calls: The agent's calls for the goal (`diagnose`); not those that end the chat.
    """

    def __init__(
        self,
        chat: TaskChat,
        position: int,
        scores: Mapping[str, Score],
        decision: Decision,
        calls: Sequence[StepNote],
    ) -> None:
        super().__init__(chat, position)
        self.scores, self.decision, self.calls = scores, decision, calls
        self.said = self.answer or ""
        """The final answer; empty where there is none."""

    def result(self, finding: StepNote) -> ToolResult | None:
        """Return what a call brought; None where it was not answered."""
        return None if finding.call is None else self.results.get(finding.call.id)

    def succeeded(self, finding: StepNote) -> bool:
        """Tell whether a call was taken and brought no error; one without answer is not blamed."""
        result = self.result(finding)
        return finding.valid and finding.service is None and (result is None or not failed(result))

    def named(self, tool: str) -> str:
        """Return a tool's function name; its id where the pool has none."""
        return self.tools[tool].name if tool in self.tools else tool

    def calls_of(self, tools: Collection[str | None]) -> list[StepNote]:
        """Return the calls of some tools, in their order; None among them: of unknown names."""
        return [finding for finding in self.calls if finding.tool in tools]

    def other_call(self, gold: Collection[str]) -> StepNote | None:
        """Return the first call of a tool that is not among some, or of an unknown name."""
        return next((finding for finding in self.calls if finding.tool not in gold), None)

    def answer_step(self) -> int | None:
        """Return the step of the last words of the agent; None where it said nothing."""
        said = [
            s.index
            for s in self.steps
            if s.call is None and s.result is None and s.content and s.content == self.said
        ]
        return said[-1] if said else None


def wrong_tool(evidence: Evidence, expected: Iterable[str], other: StepNote) -> Cause:
    """Return that another tool was called in place of those that were due."""
    names = listed([evidence.named(tool) for tool in expected])
    cause = "unknown_name" if other.tool is None else "other_tool"
    said = f"{names} was due, {other.name} was called"
    return Cause("wrong_tool", cause, said, other.step, names, names, other.name)


def not_called(evidence: Evidence, expected: Sequence[str], gold: Collection[str]) -> Cause:
    """Return that tools that were due, and offered, were not called, or others in their place.

    Where the chat was cut short, that is the cause.

    Args:
        evidence: Of the goal.
        expected: The tools that were due.
        gold: Tools whose calls are never wrong.
    """
    other = evidence.other_call(gold)
    if other is not None:
        return wrong_tool(evidence, expected, other)
    cause = "stopped_early" if evidence.calls else "no_call"
    if evidence.calls_of(expected):
        cause = "too_few"
    names = listed([evidence.named(tool) for tool in expected])
    cause = evidence.stop if evidence.stop in _CUT_SHORT else cause
    return Cause("not_called", cause, f"{names} was due and never called", None, names, names)


def tool_error(evidence: Evidence, finding: StepNote) -> Cause:
    """Return that a call failed, and no later one mended it.

    A call that nothing was recorded or simulated for is a failure of the infrastructure.
    """
    result = evidence.result(finding)
    error = (result.error if result else None) or {}
    cause = finding.service or str(error.get("kind") or "error")
    stage: Stage = "infrastructure" if cause == "unrecorded" else "tool_error"
    told = error.get("message") or error.get("upstream") or (result.content if result else "")
    brought = str(told)[:200]
    said = f"{finding.name} failed and nothing mended it: {brought}"
    return Cause(stage, cause[:40], said, finding.step, finding.name, None, brought)


def rejected(finding: StepNote) -> Cause:
    """Return what is wrong with a call that its schema does not take, by its first fault."""
    if not finding.faults:
        return argument("format", finding.name, step=finding.step)
    fault = finding.faults[0]
    expected, received = fault.expected, fault.received
    if fault.kind == "missing_argument":
        expected, received = "a value", None
    return argument(fault.kind, finding.name, fault.name, expected, received, finding.step)


def argument(
    cause: str,
    tool: str,
    name: str = "",
    expected: JSON = None,
    received: JSON = None,
    step: int | None = None,
) -> Cause:
    """Return that an argument is not as gold, or the schema, has it."""
    said = f"{tool}: {cause} {name}".rstrip()
    if expected is not None or received is not None:
        said += f": expected {told(expected)}, received {told(received)}"
    return Cause("wrong_argument", cause, said, step, name, _short(expected), _short(received))


def listed(names: Sequence[str], word: Literal["and", "or"] = "and") -> str:
    """Return at most three names in a row; alternatives have `or` between them."""
    unique = list(dict.fromkeys(names))
    more = f" {word} {len(unique) - 3} more" if len(unique) > 3 else ""
    return (", " if word == "and" else " or ").join(unique[:3]) + more


def told(value: JSON) -> str:
    """Return a value for a sentence; alternatives of one are that one."""
    if isinstance(value, (list, tuple)) and len(value) == 1:
        value = value[0]
    return "nothing" if value is None else shortened(value)


def _short(value: JSON) -> JSON:
    """Return a value that fits a report: a long one as its beginning."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (list, tuple)) and len(value) == 1:
        return _short(value[0])
    return value[:200] if isinstance(value, str) else shortened(value)


Stage = Literal[
    "infrastructure",
    "not_retrieved",
    "user",
    "not_called",
    "wrong_tool",
    "wrong_argument",
    "tool_error",
    "gave_up",
    "answer",
    "unexplained",
]
ORDER: tuple[Stage, ...] = get_args(Stage)
"""The order in which stages explain, and in which a waterfall shows them."""
MEANINGS: dict[Stage, str] = {
    "infrastructure": "infrastructure failed",
    "not_retrieved": "gold tool not retrieved",
    "user": "user simulator broke its brief",
    "not_called": "gold tool offered, never called",
    "wrong_tool": "wrong tool",
    "wrong_argument": "wrong argument",
    "tool_error": "tool error not recovered",
    "gave_up": "gave up",
    "answer": "answer contradicts or omits results",
    "unexplained": "unexplained",
}


@dataclass(frozen=True, slots=True)
class Cause:
    """What was found at a stage."""

    stage: Stage
    cause: str
    """A word for tables, such as `not_in_pool`, `value`, `unsubscribed`."""
    said: str
    """The evidence in a sentence."""
    step: int | None = None
    """`Step.index` of what shows it; None: it is about what is not there."""
    name: str = ""
    """The tool or argument that it is about."""
    expected: JSON = None
    received: JSON = None
    of: int = 0
    """Gold tools or gold steps of the goal; 0: not known."""
    passed: int = 0
    """How many of them got past this stage."""

    @property
    def partly(self) -> bool:
        """Some of several gold tools, or gold steps, got past the stage."""
        return self.of > 1 and 0 < self.passed < self.of


State = Literal["solved", "unsolved", "undecided", "error", "unscored"]

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
    failure: str,
    scores: Mapping[str, Score],
    metric: str | None = None,
    decided_by: DecidedBy | None = None,
    scales: Mapping[str, Scale] | None = None,
) -> Decision:
    """Return whether a goal is solved.

    Args:
        goal: Whose kind of gold chooses the metric.
        failure: Why nothing of its chat may be scored; empty where everything may.
        scores: Of this goal, by metric.
        metric: Decide by this one, whatever the gold is.
        decided_by: What the goal's benchmark says; None: nothing.
        scales: What scores mean, by metric; those of other metrics are rates.
    """
    if failure:
        return Decision("error", "", failure)
    own = () if decided_by is None else decided_by(goal)
    found = [scores[name] for name in _deciding(goal, scores, metric, own) if name in scores]
    if not found:
        return Decision("unscored", "", "not scored")
    said = [score for score in found if decides(score)]
    if not said:
        return _without_value(found)
    states = [state_of(score, (scales or {}).get(score.metric, RATE)) for score in said]
    state, worst = min(zip(states, said, strict=True), key=lambda each: WORST_FIRST.index(each[0]))
    if state == "solved" and any(s.reason.startswith(INFRASTRUCTURE) for s in found):
        return _without_value(found)
    reason = worst.details.get("reason") or worst.reason or worst.details.get("error") or ""
    return Decision(state, worst.metric, str(reason))


def _deciding(
    goal: Goal, scores: Mapping[str, Score], metric: str | None, own: Sequence[Sequence[str]]
) -> Sequence[str]:
    if metric is not None:
        return (metric,)
    if "type" in goal.labels and _has_said(scores, MISSION):
        return (MISSION,)
    usual = (VERDICT, *JUDGED) if asks_calls_alone(goal) else JUDGED
    groups = [*own, *((name,) for name in usual)]
    said = (group for group in groups if any(_has_said(scores, name) for name in group))
    without = [name for group in groups for name in group if name in scores]
    return next(said, None) or without


def _has_said(scores: Mapping[str, Score], name: str) -> bool:
    return name in scores and decides(scores[name])


def _without_value(found: Sequence[Score]) -> Decision:
    broken = next((s for s in found if s.reason.startswith(INFRASTRUCTURE)), None)
    if broken is not None:
        return Decision("error", broken.metric, broken.reason)
    return Decision("unscored", found[0].metric, kind_of_reason(found[0].reason))


OMITS = "omits"
"""Cause of an answer that lacks what had to be said."""


def in_answer(
    evidence: Evidence,
    cause: str,
    said: str,
    stage: Stage = "answer",
    name: str = "",
    expected: JSON = None,
) -> Cause:
    """Return what the final answer shows."""
    step, answer = evidence.answer_step(), evidence.said[:200]
    return Cause(stage, cause, said, step, name, expected, answer)


def gave_up(evidence: Evidence) -> Cause | None:
    """Return that there is no answer, or nothing in it but refusal, or the request again."""
    answer = evidence.said
    if answer.strip() and answer.strip() == evidence.goal.text.strip():
        said = "the answer only repeats the request"
        return Cause("gave_up", "repeats_request", said, evidence.answer_step())
    bare = judge_answer(Goal(evidence.goal.text), answer or None)
    if bare.label != "unsolved":
        return None
    if not answer.strip():
        limit = evidence.stop not in ("done", "user_ended")
        cause = evidence.stop if limit else "no_answer"
        return Cause("gave_up", cause, f"there is no final answer ({evidence.stop})")
    return in_answer(evidence, "refused", bare.reason, "gave_up")
