"""The first stage that explains why a goal failed, from what a finished run left.

A goal is failed where it is not solved; an undecided one is neither. The
stages are asked in the order of `ORDER`, and the first with evidence is the
answer. Without evidence the goal is `unexplained`: nothing is guessed.

- infrastructure: the chat or its judge broke, or the first call that failed had no recorded or
  simulated answer. No failure of the model.
- not_retrieved: a gold tool was not offered. Gold tools are those of the gold calls, of the plan
  that lacks fewest; without gold calls `Goal.relevant`, of which one that was offered and failed
  comes first.
- user: the simulated user broke its brief before the step at which the agent first failed.
- wrong_tool, with the cause `policy`: a call broke a rule of its world's policy.
- wrong_tool, with the cause `extra_effect`: a call changed what gold does not, and that alone
  decided, or every gold call was made besides it. With the cause `undone`: a call took back what
  gold calls left.
- not_called, wrong_tool, wrong_argument, tool_error: the first gold step, in the order of the
  plan, that was not done, or the first milestone where the plan asks of a world
  (`attribution_steps`). Without gold calls only what is certain: none of the relevant tools was
  called, or one was, and in vain.
- gave_up: nothing above, and the answer is empty, only refuses, or repeats the request.
- answer: nothing above, and the answer contradicts or omits what the calls brought.
- unexplained: the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from seal.core import JSON, Goal, Scale, Score, Task, Tool, ToolResult, Trajectory
from seal.core.conditions import Asked
from seal.core.telling import Finding
from seal.core.text import counted
from seal.evaluation.calls import LOST_EFFECT, NO_GOLD_EFFECT, VERDICT, effects_of, lost_of
from seal.evaluation.error_patterns import StepNote, findings_by_goal
from seal.evaluation.goals import (
    INFRASTRUCTURE,
    JUDGED,
    MISSION,
    RATE,
    WORST_FIRST,
    GoalChat,
    TaskChat,
    applies,
    asks_calls_alone,
    breaches_of,
    decides,
    failed,
    no_gold,
    state_of,
)
from seal.evaluation.rule_judge import judge_answer
from seal.evaluation.statistics import kind_of_reason
from seal.evaluation.words import findings_of, reason_of, slots_for

# -- What the rules of attribution look at, what they say, and who decides that a goal failed.
#
# The metric that decides is the one of the run's headline:
#
# - The one that the benchmark declares as success; `calls_right` where all gold is calls alone.
# - A goal of a kind that its benchmark declares, by the metrics that the benchmark names: solved
#   where each that applies is 1.
# - Any other goal by `pass_rate`, which follows the milestones where a plan asks of a world; where
#   a run has none, by another judge's metric, `mission_accuracy` or `calls_right`. A goal is
#   undecided, neither solved nor failed, where the judge was unsure and gold says nothing of the
#   answer (`goals.is_decidable`).
#
# A chat that broke, and a verdict that an infrastructure failure prevented, is an error and no
# failure of the model. A goal without a verdict is counted apart.


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

    @cached_property
    def findings(self) -> list[Finding]:
        """What was told of each slot of gold; none where the agent said nothing."""
        return self.chat.once(findings_of, self)

    @cached_property
    def verdict_on_calls(self) -> str | None:
        """Why the calls are not right; None: they are, nobody tells, or they do not decide."""
        score = self.scores.get(VERDICT)
        decides_calls = self.decision.metric == VERDICT or asks_calls_alone(self.goal)
        if score is None or not decides_calls or state_of(score) != "unsolved":
            return None
        return score.reason

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


def listed(names: Sequence[str], word: Literal["and", "or"] = "and") -> str:
    """Return names in a row, each once; alternatives have `or` between them."""
    return (", " if word == "and" else " or ").join(dict.fromkeys(names))


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
        goal: Whose kind the benchmark may have its own metrics for.
        failure: Why nothing of its chat may be scored; empty where everything may.
        scores: Of this goal, by metric.
        metric: Decide by this one, whatever others say.
        decided_by: What the goal's benchmark says; None: nothing.
        scales: What scores mean, by metric; those of other metrics are rates.
    """
    if failure:
        return Decision("error", "", failure)
    own = () if decided_by is None else decided_by(goal)
    found = [scores[name] for name in _deciding(scores, metric, own) if name in scores]
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
    scores: Mapping[str, Score], metric: str | None, own: Sequence[Sequence[str]]
) -> Sequence[str]:
    if metric is not None:
        return (metric,)
    groups = [*own, *((name,) for name in (*JUDGED, MISSION, VERDICT))]
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


Decided = tuple[Decision, Cause | None]
"""Whether a goal is solved, and why it failed; None: it did not fail."""
CauseOf = Callable[[Evidence], Cause | None]
"""Why a goal failed, where its benchmark knows better than the calls show; None: it does not."""


def attribute(
    task: Task,
    trajectory: Trajectory,
    tools: Mapping[str, Tool],
    scores: Iterable[Score],
    metric: str | None = None,
    decided_by: DecidedBy | None = None,
    cause_of: CauseOf | None = None,
    scales: Mapping[str, Scale] | None = None,
) -> list[Decided]:
    """Return for each goal of a chat whether it is solved, and the first stage that explains.

    Args:
        task: What was played.
        trajectory: What was said and done.
        tools: The pool by id.
        scores: Of this task and trial.
        metric: Decide by this one; None: by the first that says something (`decide`).
        decided_by: What the benchmark says of that.
        cause_of: What the benchmark says of a failure; it is asked before the calls are.
        scales: What scores mean, by metric; those of other metrics are rates.
    """
    chat = TaskChat(task, trajectory, tools)
    by_goal: list[dict[str, Score]] = [{} for _ in task.goals]
    for score in scores:
        if 0 <= score.goal < len(by_goal):
            by_goal[score.goal][score.metric] = score
    found: list[Decided] = []
    for position, (goal, own) in enumerate(zip(task.goals, by_goal, strict=True)):
        decision = decide(goal, chat.failure, own, metric, decided_by, scales)
        cause = None
        if decision.state == "error":
            broken = "chat" if trajectory.failed else "judge"  # or a metric after it
            cause = Cause("infrastructure", broken, decision.reason[:400])
        elif decision.state == "unsolved":
            calls = chat.once(findings_by_goal, chat).get(position, ())
            made = [f for f in calls if f.call is not None and f.kind != "finish"]
            evidence = Evidence(chat, position, own, decision, made)
            cause = _lacked(evidence) or _of_chat(evidence, cause_of)
        found.append((decision, cause))
    return found


def _of_chat(evidence: Evidence, cause_of: CauseOf | None) -> Cause:
    """Return the agent's first failure, or the user's where that came before it."""
    own = breach(evidence) or (None if cause_of is None else cause_of(evidence))
    if own is None and evidence.decision.reason.startswith((NO_GOLD_EFFECT, LOST_EFFECT)):
        own = extra_effect(evidence)
    agent = own or _of_steps(evidence) or of_answer(evidence)
    user = broken_brief(evidence)
    if user is None or user.step is None:
        return agent
    lacks = agent.stage == "not_called" or agent.cause == OMITS
    if lacks or agent.step is None or user.step < agent.step:
        return user  # what is lacking could have been done until the end
    return agent


def _of_steps(evidence: Evidence) -> Cause | None:
    """Return what the calls explain, by the kind of gold that there is."""
    goal = evidence.goal
    if applies(evidence.task, goal):
        # Of worlds alone: other runs do not load what measures milestones.
        from seal.evaluation.attribution_steps import first_world_step

        found = first_world_step(evidence)
        if found is not None or evidence.verdict_on_calls is None or no_gold(goal):
            return found
    asks = any(
        isinstance(one.condition, Asked) for plan in goal.plans or () for one in plan.milestones
    )
    if goal.plans and no_gold(goal) and not asks:
        return _needless(evidence)
    # Of calls alone: a run whose failures are others does not load it.
    from seal.evaluation.attribution_steps import first_gold_step, first_of_relevant

    if asks and no_gold(goal):
        return first_gold_step(evidence) or _needless(evidence)
    if not no_gold(goal):
        return first_gold_step(evidence)
    return first_of_relevant(evidence)


def breach(evidence: Evidence) -> Cause | None:
    """Return the first call that broke the policy of its world; None where none is known to."""
    for told in breaches_of(evidence):
        name = str(told.get("tool"))
        said = f"{name} broke the rule {told.get('rule')}: {told['why']}"
        step = told.get("step")
        return Cause("wrong_tool", "policy", said, step if isinstance(step, int) else None, name)
    return None


def extra_effect(evidence: Evidence) -> Cause | None:
    """Return the first call that changed what gold does not, or took back what gold leaves.

    None where none is known to.
    """
    whole = evidence.scores.get("similarity")
    acted, said = effects_of(evidence, whole.details.get("match") if whole else None)
    cause = "extra_effect" if acted else "undone"
    acted, said = (acted, said) if acted else lost_of(evidence)
    first = next((finding for finding in evidence.calls if finding.call in acted), None)
    if first is None:
        return None
    said = said if cause == "extra_effect" else f"{first.name} took back what gold leaves: {said}"
    return Cause("wrong_tool", cause, said, first.step, first.name, None, first.name)


def _needless(evidence: Evidence) -> Cause | None:
    """Return the call that failed a goal which needs no tool; None where none was made.

    It is the first that changed something, else the first.
    """
    if not evidence.calls:
        return None
    first = evidence.calls[0]
    said = f"{first.name} was called, and no tool was needed"
    other = Cause("wrong_tool", "none_needed", said, first.step, first.name, None, first.name)
    return extra_effect(evidence) or other


def gold_sets(goal: Goal) -> list[tuple[str, ...]]:
    """Return alternative sets of tools of which one is needed; empty: no tool is known to be.

    With gold calls there is a set for each plan; if a plan needs no tool, no set at all. Without
    gold calls the relevant tools are one set, or one set each if they are alternatives.
    """
    plans = goal.plans or ()
    if any(plan.calls() for plan in plans):
        called = [plan.tools() for plan in plans]
        return called if all(called) else []
    if goal.any_relevant:
        return [(tool,) for tool in goal.relevant]
    return [tuple(goal.relevant)] if goal.relevant else []


def needed_of(goal: Goal, offered: Collection[str]) -> list[str]:
    """Return the tools that a goal needs; of alternatives those of which fewest were not offered.

    Args:
        goal: With its gold; empty: it needs none, or nobody says which.
        offered: Ids of the tools that the agent had.
    """
    sets = gold_sets(goal)
    fewest = min(sets, key=lambda tools: len(set(tools).difference(offered)), default=())
    return list(dict.fromkeys(fewest))


def not_retrieved(evidence: Evidence) -> Cause | None:
    """Return which gold tools the agent was not offered; None where it had what it needed."""
    if evidence.offered is None:
        return None
    offered = frozenset(evidence.offered)
    needed = needed_of(evidence.goal, offered)
    missing = [tool for tool in needed if tool not in offered]
    if not missing:
        return None
    chat, position = evidence.trajectory, evidence.position
    ranked = [ranking.hits for ranking in chat.rankings if ranking.goal == position]
    lacking, wanted, got = (
        listed([evidence.named(tool) for tool in tools])
        for tools in (missing, needed, sorted(offered))
    )
    before = offered.intersection(chat.offered[position - 1]) if ranked and position else ()
    earlier = f", {len(before)} of them for earlier goals" if before else ""
    verb = "was" if len(missing) == 1 else "were"
    said = f"{lacking} {verb} not among the {counted(len(offered), 'tool')} offered{earlier}"
    cause = "not_offered"
    if any(tool not in evidence.tools for tool in missing):
        cause = "not_in_pool"
    elif any(ranked):
        cause = "below_cutoff"
    elif ranked:
        cause = "no_tool_matched"
        said = f"{lacking} {verb} not offered: the retriever found no tool that matches"
    passed = len(needed) - len(missing)
    return Cause("not_retrieved", cause, said, None, lacking, wanted, got, len(needed), passed)


def _lacked(evidence: Evidence) -> Cause | None:
    """Return which gold tools were not offered, unless one that was explains the failure for sure.

    Tools that gold merely names as relevant are one way of several. So a call of one of them that
    failed, and that nothing mended, tells more than that the agent lacked another.
    """
    cause, goal = not_retrieved(evidence), evidence.goal
    called = goal.plans is None and evidence.calls_of(goal.relevant)
    if cause is not None and cause.partly and called:
        found = _of_steps(evidence)
        return found if found is not None and found.stage == "tool_error" else cause
    return cause


def broken_brief(evidence: Evidence) -> Cause | None:
    """Return the user's first error; None where it made none, or nobody audited it."""
    from seal.evaluation.scoring import USER_ERRORS

    flags = [
        flag
        for name in USER_ERRORS
        if name in evidence.scores
        for flag in evidence.scores[name].details.get("flags") or ()
        if isinstance(flag, dict) and type(flag.get("step")) is int and "flag" in flag
    ]
    first = min(flags, key=lambda flag: int(flag["step"]), default=None)
    if first is None:
        return None
    facts = [str(fact) for fact in first.get("facts") or ()]
    told = f": {listed(facts)}" if facts else ""
    kind, step = str(first["flag"]), int(first["step"])
    said = f"the user did {kind.replace('_', ' ')}{told}"
    return Cause("user", kind, said, step, received=str(first.get("said") or "")[:200])


def of_answer(evidence: Evidence) -> Cause:
    """Return what the end of a chat explains, else `unexplained`."""
    return (
        gave_up(evidence)
        or _contradicts(evidence)
        or _omits(evidence)
        or _judged(evidence)
        or Cause("unexplained", "no_evidence", "nothing that is certain explains it")
    )


def _contradicts(evidence: Evidence) -> Cause | None:
    """Return that the answer denies what it had to state, or tells another value for it."""
    bad = [one for one in evidence.findings if one.state == "contradicted"]
    return in_answer(evidence, "contradicts", reason_of(bad[0])) if bad else None


def _omits(evidence: Evidence) -> Cause | None:
    """Return that the answer lacks what it had to state."""
    lacking = [one for one in evidence.findings if one.state == "left out"]
    if not lacking:
        return None
    sets = slots_for(evidence.goal)
    alternatives = [text for slots in sets for one in slots[:1] for text in one.texts]
    names = listed([" or ".join(one.slot.texts) for one in lacking])
    names = listed(alternatives, "or") if len(sets) > 1 else names
    said = f"the answer does not state {names}"
    return in_answer(evidence, OMITS, said, name=names, expected=names)


def _judged(evidence: Evidence) -> Cause | None:
    """Return the answer by elimination: what gold asks of calls is known, and all of it was done.

    A goal whose gold names no calls has no such proof.
    """
    plans = evidence.goal.plans
    if not plans:
        return None
    conditions = [m.condition for plan in plans for m in plan.milestones]
    asks = bool(conditions) and all(isinstance(one, Asked) for one in conditions)
    said = (
        f"what gold asks of calls was done; {evidence.decision.metric} is not reached: "
        f"{evidence.decision.reason or 'no reason given'}"
    )
    return in_answer(evidence, "asked_nothing" if asks else "judged", said)
