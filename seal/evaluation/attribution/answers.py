"""What is left where the calls do not explain: giving up, the answer, a judge that is unsure."""

from __future__ import annotations

from seal.core.conditions import Asked, Replied
from seal.core.plain import leaves
from seal.core.types import Goal
from seal.evaluation.attribution.evidence import Evidence, listed
from seal.evaluation.attribution.stages import Cause
from seal.evaluation.error_patterns.gold import no_gold
from seal.evaluation.goals import failed
from seal.evaluation.rule_judge import judge_answer, judge_trajectory
from seal.evaluation.statements import statement

OMITS = "omits"
"""Cause of an answer that lacks what had to be said."""

_SHORTEST = 2
"""Characters of a value of a result that hardly stands in an answer by chance."""


def of_answer(evidence: Evidence) -> Cause:
    """Return what the end of a chat explains, else `unsure` or `unexplained`."""
    return (
        gave_up(evidence)
        or _contradicts(evidence)
        or _omits(evidence)
        or _unsure(evidence)
        or _judged(evidence)
        or Cause("unexplained", "no_evidence", "nothing that is certain explains it")
    )


def gave_up(evidence: Evidence) -> Cause | None:
    """Return that there is no answer, or nothing in it but refusal, or the request again."""
    answer = evidence.answer
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
    return Cause("gave_up", "refused", bare.reason, evidence.answer_step(), received=answer[:200])


def _contradicts(evidence: Evidence) -> Cause | None:
    """Return that an expected number is in a result, and the answer has another one instead."""
    if evidence.decision.state != "unsolved" or not evidence.calls:
        return None
    if not any(map(evidence.succeeded, evidence.calls)):
        return None
    verdict = judge_trajectory(evidence.goal, evidence.answer, evidence.steps)
    if verdict.label != "unsolved":
        return None
    return Cause(
        "answer", "contradicts", verdict.reason, evidence.answer_step(),
        received=evidence.answer[:200],
    )  # fmt: skip


def _omits(evidence: Evidence) -> Cause | None:
    """Return that the answer lacks what it had to state.

    A judge who is unsure saw no plain omission. It is one only where the answer states none of the
    values, nor anything else that a result brought: values may stand in other words.
    """
    if no_gold(evidence.goal) == "no gold calls annotated" and not evidence.goal.answers:
        return None
    for values in _expected(evidence.goal):
        lacking = [v for v in values if statement(evidence.answer, v) == "absent"]
        unsure = evidence.decision.state == "unsure"
        if not lacking or (unsure and len(lacking) < len(values)):
            continue
        if unsure and (not evidence.results or _states_results(evidence)):
            continue
        return Cause(
            "answer",
            OMITS,
            f"the answer does not state {listed(lacking)}",
            evidence.answer_step(),
            listed(lacking),
            listed(lacking),
            evidence.answer[:200],
        )
    return None


def _expected(goal: Goal) -> list[tuple[str, ...]]:
    """Return sets of values, one for each way in which the answer may be right."""
    if goal.answers:
        return [goal.answers]
    return [
        states
        for plan in goal.plans or ()
        for milestone in plan.milestones
        if isinstance(milestone.condition, Replied) and (states := milestone.condition.states)
    ]


def _states_results(evidence: Evidence) -> bool:
    """Tell whether the answer has a value of a result that the request did not have."""
    return any(
        len(value) >= _SHORTEST
        and statement(evidence.answer, value) != "absent"
        and statement(evidence.goal.text, value) == "absent"
        for result in evidence.results.values()
        if not failed(result)
        for value in leaves(result.value if result.value is not None else result.content)
    )


def _unsure(evidence: Evidence) -> Cause | None:
    if evidence.decision.state != "unsure":
        return None
    said = evidence.decision.reason or "the judge could not decide"
    return Cause(
        "unsure", "undecided", said, evidence.answer_step(), received=evidence.answer[:200]
    )


def _judged(evidence: Evidence) -> Cause | None:
    """Return the answer by elimination: what gold asks of calls is known, and all of it was done.

    A goal whose gold names no calls has no such proof.
    """
    plans = evidence.goal.plans
    if not plans:
        return None
    conditions = [m.condition for plan in plans for m in plan.milestones]
    asks = bool(conditions) and all(isinstance(one, Asked) for one in conditions)
    return Cause(
        "answer",
        "asked_nothing" if asks else "judged",
        f"what gold asks of calls was done; {evidence.decision.metric} is not reached: "
        f"{evidence.decision.reason or 'no reason given'}",
        evidence.answer_step(),
        received=evidence.answer[:200],
    )
