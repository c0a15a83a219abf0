"""The first gold step, in the order of the plan, that the agent did not do.

Of several plans the one counts that lacks fewest calls, then has fewest wrong ones
(`error_patterns.gold`). A gold call is done where one that gold accepts brought no error, or was
not run at all. A call that is not done had other arguments, was rejected, brought an error that
nothing mended, or was never made.

If a mission's scorer takes arguments loosely and its names are wrong already, arguments are not
compared. An exact comparison would blame what the scorer accepts.

Where gold names tools alone (`first_of_relevant`), nobody says which of them must be called, how
often and with what. Others may serve as well. Only these count, the first in time of several:

- nothing was called: not called.
- a relevant tool was called, and none of its calls succeeded: it failed, or its schema does not
  take what it was given. A service that is dead is what failed, whatever it was given.
- a name that was not offered was called, and no tool after it.
- none of the relevant tools was called: where other tools answered, the wrong tool; where none
  did, their failure.

A relevant tool that was left out while others succeeded is no evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from seal.core import Plan
from seal.core.conditions import Asked, Called, party
from seal.core.conditions.messages import AGENT, USER
from seal.core.order import levels
from seal.evaluation.attribution.evidence import (
    Cause,
    Evidence,
    argument,
    not_called,
    rejected,
    tool_error,
    wrong_tool,
)
from seal.evaluation.calls import MISPLACED, VERDICT
from seal.evaluation.error_patterns.against_gold import GoldFinding, choose
from seal.evaluation.error_patterns.findings import REJECTED, StepNote
from seal.evaluation.goals import CRASHED, MISSION, failed


def first_gold_step(evidence: Evidence) -> Cause | None:
    """Return why the first gold call or question was not done; None where all were.

    Args:
        evidence: Of a goal with gold calls (`error_patterns.no_gold`).
    """
    plans = evidence.goal.plans or ()
    compared = choose(plans, evidence.calls)
    steps = _GoldSteps(evidence, plans[compared.plan], compared.findings)
    causes = map(steps.cause_of, chain.from_iterable(levels([m.after for m in steps.milestones])))
    cause = next(filter(None, causes), None) or steps.beyond()
    return None if cause is None else replace(cause, of=steps.of, passed=steps.passed)


class _GoldSteps:
    """The gold calls and questions of the plan that counts, beside what was done."""

    def __init__(self, evidence: Evidence, plan: Plan, lacking: Sequence[GoldFinding]) -> None:
        self._evidence = evidence
        self._gold = {called.tool for called in plan.calls()}
        self.milestones = plan.milestones
        self.of = len(plan.calls())
        mission = evidence.scores.get(MISSION) if evidence.decision.metric == MISSION else None
        details = mission.details if mission else {}
        self._error = str(details.get("error") or "")
        by_calls = evidence.decision.metric == VERDICT and evidence.stop != CRASHED
        self._besides = evidence.decision.reason if by_calls else ""
        loose = evidence.task.metadata.get("argument_scorer", "exact") != "exact"
        self._names_only = loose and details.get("stage") == "action"
        self._lacking = {
            found.milestone: found
            for found in lacking
            if not (self._names_only and found.cause == "wrong_value")
        }

    @property
    def passed(self) -> int:
        """Gold calls that were made as gold has them, and brought something."""
        return sum(
            place not in self._lacking and self._failed_call(milestone.condition) is None
            for place, milestone in enumerate(self.milestones)
            if isinstance(milestone.condition, Called)
        )

    def cause_of(self, place: int) -> Cause | None:
        """Return why a milestone was not done; None where it was, or it is a reply."""
        condition = self.milestones[place].condition
        if isinstance(condition, Asked):
            return self._not_asked(condition)
        if not isinstance(condition, Called):
            return None
        found = self._lacking.get(place)
        if found is None:
            failing = None if self._names_only else self._failed_call(condition)
            return None if failing is None else tool_error(self._evidence, failing)
        if found.cause == "not_called":
            return not_called(self._evidence, [condition.tool], self._gold)
        if found.cause == "rejected":
            return self._rejected(condition, found.step)
        fault = found.faults[0] if found.faults else None
        name = self._evidence.named(found.tool)
        if fault is None:
            return argument("value", name, step=found.step)
        wrong = fault.name, fault.expected, fault.received
        return argument(fault.problem, name, *wrong, step=found.step)

    def beyond(self) -> Cause | None:
        """Return what a verdict on calls blames where every gold call was made."""
        if self._besides and self._evidence.calls:
            made = self._evidence.other_call(self._gold) or self._evidence.calls[-1]
            cause = "order_or_number" if self._besides == MISPLACED else "besides"
            return Cause("wrong_tool", cause, self._besides, made.step, made.name)
        if not self._error or self._error.startswith("param") or not self._evidence.calls:
            return None
        extra = self._evidence.other_call(self._gold)
        if extra is not None:
            return wrong_tool(self._evidence, sorted(self._gold), extra)
        last = self._evidence.calls[-1]
        said = f"{self._error}: {last.name}"
        return Cause("wrong_tool", "order_or_number", said, last.step, last.name)

    def _failed_call(self, gold: object) -> StepNote | None:
        """Return the last of the calls that gold accepts, where all of them failed."""
        if not isinstance(gold, Called):
            return None
        right = [
            finding
            for finding in self._evidence.calls_of([gold.tool])
            if finding.valid and (finding.kind == "cut" or gold.accepts(finding.arguments))
        ]
        return right[-1] if right and not any(map(self._evidence.succeeded, right)) else None

    def _rejected(self, gold: Called, step: int | None) -> Cause | None:
        """Return what a schema does not take, beside what gold has there.

        None where a call that gold accepts brought a result, whatever its schema says.
        """
        if any(
            gold.accepts(finding.arguments) and not failed(self._evidence.result(finding))
            for finding in self._evidence.calls_of([gold.tool])
        ):
            return None
        finding = next((f for f in self._evidence.calls if f.step == step), None)
        if finding is None:
            return None
        fault = finding.faults[0] if finding.faults else None
        wanted = (gold.arguments or {}).get(fault.name) if fault else None
        if fault is None or wanted is None or not wanted.values:
            return rejected(finding)
        name = self._evidence.named(gold.tool)
        return argument(fault.kind, name, fault.name, wanted.values, fault.received, finding.step)

    def _not_asked(self, gold: Asked) -> Cause | None:
        """Return that what had to be asked was not, which is a made-up argument of a call."""
        asked = any(
            party(step.author) == AGENT and step.recipient == USER and gold.similarity(step, {})
            for step in self._evidence.steps
        )
        if asked or not self._evidence.calls:
            return None
        first = self._evidence.calls[0]
        said = f"{first.name} was called without asking the user for what was missing"
        return Cause("wrong_argument", "not_asked", said, first.step, first.name)


def first_of_relevant(evidence: Evidence) -> Cause | None:
    """Return the first thing that went wrong with the relevant tools; None: nothing is certain."""
    relevant = list(dict.fromkeys(evidence.goal.relevant))
    lacking = [
        tool for tool in relevant if not any(map(evidence.succeeded, evidence.calls_of([tool])))
    ]
    passed = len(relevant) - len(lacking)
    if not relevant or (evidence.goal.any_relevant and passed):
        return None
    cause = _first_of_relevant(evidence, relevant, lacking)
    return None if cause is None else replace(cause, of=len(relevant), passed=passed)


def _first_of_relevant(
    evidence: Evidence, relevant: Sequence[str], lacking: Sequence[str]
) -> Cause | None:
    """Return the first thing that went wrong, of a goal of which some relevant tools are lacking.

    A name that was not offered counts unless a call of a tool followed it.
    """
    calls = evidence.calls
    if not calls:
        return not_called(evidence, relevant, relevant)
    made = [own for tool in lacking if (own := evidence.calls_of([tool]))]
    failing = [(own[0].step, _in_vain(evidence, own)) for own in made]
    unknown = next(iter(evidence.calls_of([None])), None)
    if unknown and lacking and not any(f.valid for f in calls if f.step > unknown.step):
        failing.append((unknown.step, wrong_tool(evidence, lacking, unknown)))
    if failing:
        return min(failing, key=lambda one: one[0])[1]
    if evidence.calls_of(relevant):
        return None
    answered = next(filter(evidence.succeeded, calls), None)
    if answered is not None:
        return wrong_tool(evidence, relevant, answered)
    return _in_vain(evidence, evidence.calls_of([calls[0].tool]))


def _in_vain(evidence: Evidence, calls: Sequence[StepNote]) -> Cause:
    """Return why calls failed of which none succeeded.

    A call that the schema takes, or that a dead service answered, tells more than one that the
    schema does not take.
    """
    telling = [f for f in calls if f.kind not in REJECTED or f.service is not None]
    return tool_error(evidence, telling[-1]) if telling else rejected(calls[-1])
