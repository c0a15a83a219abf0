"""The first gold step, in the order of the plan, that the agent did not do.

Of several plans the one counts that lacks fewest calls, then has fewest wrong ones
(`error_patterns.gold`). A gold call is done where one that gold accepts brought no error, or was
not run at all. One that is not done was called with other arguments, rejected, answered by an error
and never mended, not called while others were, or not called.

Where a mission's scorer takes arguments loosely and its names are wrong already, arguments are not
looked at, for an exact comparison would blame what the scorer accepts.

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
from itertools import chain

from seal.core.conditions import Asked, Called, party
from seal.core.conditions.messages import AGENT, USER
from seal.core.order import levels
from seal.core.types import Plan
from seal.evaluation.attribution.evidence import (
    MISSION,
    Cause,
    Evidence,
    argument,
    not_called,
    rejected,
    tool_error,
    wrong_tool,
)
from seal.evaluation.error_patterns.findings import REJECTED, Finding
from seal.evaluation.error_patterns.gold import GoldFinding, choose
from seal.evaluation.goals import failed


def first_gold_step(evidence: Evidence) -> Cause | None:
    """Return why the first gold call or question was not done; None where all were.

    Args:
        evidence: Of a goal with gold calls (`error_patterns.no_gold`).
    """
    plans = evidence.goal.plans or ()
    compared = choose(plans, evidence.calls).missing
    plan = plans[compared.plan]
    walk = _Walk(evidence, plan, {found.milestone: found for found in compared.findings})
    for place in chain.from_iterable(levels([m.after for m in plan.milestones])):
        cause = walk.cause_of(place)
        if cause is not None:
            return cause
    return walk.beyond()


class _Walk:
    def __init__(self, evidence: Evidence, plan: Plan, lacking: dict[int, GoldFinding]) -> None:
        self._evidence = evidence
        self._plan = plan
        self._lacking = lacking
        self._gold = {called.tool for called in plan.calls()}
        self._of = len(plan.calls())
        mission = evidence.scores.get(MISSION) if evidence.decision.metric == MISSION else None
        self._error = str((mission.details if mission else {}).get("error") or "")
        loose = evidence.task.metadata.get("argument_scorer", "exact") != "exact"
        by_name = mission is not None and mission.details.get("stage") == "action"
        self._names_only = loose and by_name

    @property
    def _passed(self) -> int:
        lacking = {p for p, found in self._lacking.items() if not self._excused(found)}
        return sum(
            place not in lacking and self._failed_call(milestone.condition) is None
            for place, milestone in enumerate(self._plan.milestones)
            if isinstance(milestone.condition, Called)
        )

    def cause_of(self, place: int) -> Cause | None:
        """Return why a milestone was not done; None where it was, or it is a reply."""
        condition = self._plan.milestones[place].condition
        if isinstance(condition, Asked):
            return self._not_asked(condition)
        if not isinstance(condition, Called):
            return None
        found = self._lacking.get(place)
        if found is None or self._excused(found):
            failing = None if self._names_only else self._failed_call(condition)
            if failing is None:
                return None
            return tool_error(self._evidence, failing, self._of, self._passed)
        if found.cause == "not_called":
            return self._not_called(condition)
        if found.cause == "rejected":
            if self._ran_all_the_same(condition):
                return None
            return self._rejected(condition, self._at(found.step))
        return self._wrong_value(found)

    def beyond(self) -> Cause | None:
        """Return what a mission's verdict blames where every gold call was made."""
        if not self._error or self._error.startswith("param"):
            return None
        extra = next(self._evidence.others(self._gold), None)
        if extra is not None:
            return wrong_tool(self._evidence, sorted(self._gold), extra, self._of, self._passed)
        if not self._evidence.calls:
            return None
        last = self._evidence.calls[-1]
        name = last.call.name if last.call is not None else ""
        return Cause(
            "wrong_tool",
            "order_or_number",
            f"{self._error}: {name}",
            last.step,
            name,
            of=self._of,
            passed=self._passed,
        )

    def _excused(self, found: GoldFinding) -> bool:
        return self._names_only and found.cause == "wrong_value"

    def _at(self, step: int | None) -> Finding | None:
        return next((f for f in self._evidence.calls if f.step == step), None)

    def _failed_call(self, gold: object) -> Finding | None:
        """Return the last of the calls that gold accepts, where all of them failed."""
        if not isinstance(gold, Called):
            return None
        right = [
            f
            for f in self._evidence.calls
            if f.call is not None and f.call.tool == gold.tool and f.valid
            and (f.kind == "cut" or gold.accepts(f.call.arguments))
        ]  # fmt: skip
        if not right or any(map(self._evidence.succeeded, right)):
            return None
        return right[-1]

    def _not_called(self, gold: Called) -> Cause:
        other = next(self._evidence.others(self._gold), None)
        if other is not None:
            return wrong_tool(self._evidence, [gold.tool], other, self._of, self._passed)
        again = any(f.call is not None and f.call.tool == gold.tool for f in self._evidence.calls)
        cause = "too_few" if again else "stopped_early" if self._evidence.calls else "no_call"
        return not_called(self._evidence, [gold.tool], cause, self._of, self._passed)

    def _wrong_value(self, found: GoldFinding) -> Cause:
        name = self._evidence.named(found.tool)
        if not found.faults:
            return argument("value", name, "", None, None, found.step, self._of, self._passed)
        fault = found.faults[0]
        return argument(
            fault.problem, name, fault.name, fault.expected, fault.received, found.step,
            self._of, self._passed,
        )  # fmt: skip

    def _ran_all_the_same(self, gold: Called) -> bool:
        """Tell whether a call that gold accepts brought a result, whatever its schema says."""
        return any(
            f.call is not None
            and f.call.tool == gold.tool
            and gold.accepts(f.call.arguments)
            and not failed(self._evidence.result(f))
            for f in self._evidence.calls
        )

    def _rejected(self, gold: Called, finding: Finding | None) -> Cause | None:
        """Return what a schema does not take, beside what gold has there."""
        if finding is None:
            return None
        cause = rejected(self._evidence, finding, self._of, self._passed)
        named = finding.faults[0].name if finding.faults else ""
        wanted = (gold.arguments or {}).get(named)
        if wanted is None or not wanted.values:
            return cause
        fault = finding.faults[0]
        return argument(
            fault.kind, self._evidence.named(gold.tool), named, wanted.values, fault.received,
            finding.step, self._of, self._passed,
        )  # fmt: skip

    def _not_asked(self, gold: Asked) -> Cause | None:
        """Return that what had to be asked was not, which is a made-up argument of a call."""
        asked = any(
            party(step.author) == AGENT and step.recipient == USER and gold.similarity(step, {})
            for step in self._evidence.steps
        )
        calls = [f for f in self._evidence.calls if f.call is not None]
        if asked or not calls:
            return None
        name = calls[0].call.name if calls[0].call is not None else ""
        said = f"{name} was called without asking the user for what was missing"
        return Cause(
            "wrong_argument", "not_asked", said, calls[0].step, name, of=self._of,
            passed=self._passed,
        )  # fmt: skip


def first_of_relevant(evidence: Evidence) -> Cause | None:
    """Return the first thing that went wrong with the relevant tools; None: nothing is certain."""
    relevant = list(dict.fromkeys(evidence.goal.relevant))
    if not relevant:
        return None
    made = {tool: _calls_of(evidence, tool) for tool in relevant}
    good = [tool for tool in relevant if any(map(evidence.succeeded, made[tool]))]
    of, passed = len(relevant), len(good)
    if evidence.goal.any_relevant and good:
        return None
    if not evidence.calls:
        return not_called(evidence, relevant, "no_call", of, 0)
    lacking = [tool for tool in relevant if tool not in good]
    failing = [_in_vain(evidence, made[tool], of, passed) for tool in lacking if made[tool]]
    unknown = _unknown_name(evidence)
    if unknown is not None and lacking:
        failing.append((unknown.step, wrong_tool(evidence, lacking, unknown, of, passed)))
    if failing:
        return min(failing, key=lambda one: one[0])[1]
    return None if any(made.values()) else _instead(evidence, relevant)


def _calls_of(evidence: Evidence, tool: str) -> list[Finding]:
    return [f for f in evidence.calls if f.call is not None and f.call.tool == tool]


def _unknown_name(evidence: Evidence) -> Finding | None:
    """Return the first call of a name that was not offered, unless a call of a tool followed."""
    found = next((f for f in evidence.calls if f.call is not None and f.call.tool is None), None)
    if found is None or any(f.valid for f in evidence.calls if f.step > found.step):
        return None
    return found


def _in_vain(
    evidence: Evidence, calls: Sequence[Finding], of: int, passed: int
) -> tuple[int, Cause]:
    """Return the first step, and why, of calls none of which succeeded.

    What was brought by a call that the schema takes, or by a dead service, tells more than a call
    that the schema does not take.
    """
    telling = [f for f in calls if f.kind not in REJECTED or f.service is not None]
    first = calls[0].step
    if telling:
        return first, tool_error(evidence, telling[-1], of, passed)
    return first, rejected(evidence, calls[-1], of, passed)


def _instead(evidence: Evidence, relevant: Sequence[str]) -> Cause:
    """Return what calls of other tools alone explain."""
    calls = list(evidence.calls)
    answered = next(filter(evidence.succeeded, calls), None)
    if answered is not None:
        return wrong_tool(evidence, relevant, answered, len(relevant), 0)
    first = calls[0].call.tool if calls[0].call is not None else None
    own = [f for f in calls if f.call is not None and f.call.tool == first]
    return _in_vain(evidence, own, len(relevant), 0)[1]
