"""Calls against gold: those that were not made (IAC), and those with wrong values (IAV).

For one plan g, with m the valid calls that the agent made for the goal, by tools a:

- IAC(g) = sum over a of max(0, |g[a]| - |m[a]|)
- IAV(g) = sum over a of min(|g[a]|, |m[a]|) - matches[a]

so that a second call that is missing is IAC alone. matches[a] is the size of a maximum one-to-one
matching: no call serves two gold calls. A call matches if the gold call accepts its arguments
(`Called.accepts`). Every required argument has an accepted value, optional ones may be absent, and
there are no others.

Of several plans ToolScan's paper takes the least IAC and the least IAV, each for itself. Its code
and we take one plan, with the least (IAC, IAV), so that there is one explanation (`choose`). Of
equal ones the first counts.

Source: Kokane et al., ToolScan (2024), section on error patterns, and its evaluation code. That
code has no one-to-one matching, and counts calls that use an optional argument as wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from seal.core import CHAT_TOOLS, Plan
from seal.core.conditions import Called
from seal.evaluation.calls import ArgumentFinding, align
from seal.evaluation.error_patterns.findings import StepNote
from seal.evaluation.goals import asks_of_world

Cause = Literal["not_called", "rejected", "wrong_value"]
"""Why a gold call was not made as it should be: nobody called the tool again; calls of it were
invalid; a valid call has other arguments."""


@dataclass(frozen=True, slots=True)
class GoldFinding:
    """A gold call that was not made as it should be."""

    pattern: Literal["IAC", "IAV"]
    milestone: int
    """Its position in the plan."""
    tool: str
    cause: Cause
    step: int | None = None
    """Of the call with wrong arguments, or of the last one that was rejected; None: neither."""
    faults: tuple[ArgumentFinding, ...] = ()
    """Arguments of that call that differ, each with what was expected and received."""


@dataclass(frozen=True, slots=True)
class GoldComparison:
    """What the agent did beside one plan."""

    plan: int
    """Position of the plan in the goal."""
    gold: int
    """Gold calls of the plan."""
    findings: tuple[GoldFinding, ...]

    @property
    def missing(self) -> int:
        """IAC(g)."""
        return sum(finding.pattern == "IAC" for finding in self.findings)

    @property
    def wrong(self) -> int:
        """IAV(g)."""
        return sum(finding.pattern == "IAV" for finding in self.findings)


def choose(plans: Sequence[Plan], findings: Sequence[StepNote]) -> GoldComparison:
    """Return the comparison with the plan that counts: the one with the least (IAC, IAV).

    Args:
        plans: As of `compare_plans`.
        findings: Of the goal.
    """
    return min(compare_plans(plans, findings), key=lambda g: (g.missing, g.wrong))


def compare_plans(plans: Sequence[Plan], findings: Sequence[StepNote]) -> list[GoldComparison]:
    """Return what the agent did beside each plan.

    Args:
        plans: Of a goal with gold calls (`no_gold`). Those that ask of a world and of no call are
            passed over; one that asks for nothing is met.
        findings: Of the goal.
    """
    return [
        compare_plan(plan, position, findings)
        for position, plan in enumerate(plans)
        if _gold_calls(plan) or not asks_of_world(plan)
    ]


def compare_plan(plan: Plan, position: int, findings: Sequence[StepNote]) -> GoldComparison:
    """Return what the agent did beside one plan.

    Args:
        plan: The plan; of its milestones those count that are calls.
        position: Its position in the goal.
        findings: Of the goal.
    """
    acts = [finding for finding in findings if finding.call is not None]
    made = [finding for finding in acts if finding.valid]
    cut = {finding.call.id for finding in made if finding.call and finding.kind == "cut"}
    best = align(plan, position, [f.call for f in made if f.call], cut)
    paired = {pair.gold: pair for pair in best.pairs}
    gold, found = _gold_calls(plan), []
    for place, called in gold.items():
        pair = paired.get(place)
        if pair is None:
            found.append(_not_made(place, called.tool, acts))
        elif not pair.comparison.exact:
            step, faults = made[pair.made].step, pair.comparison.findings
            found.append(GoldFinding("IAV", place, called.tool, "wrong_value", step, faults))
    return GoldComparison(position, len(gold), tuple(found))


def _not_made(place: int, tool: str, acts: Sequence[StepNote]) -> GoldFinding:
    own = (f.step for f in reversed(acts) if f.tool == tool and not f.valid)
    rejected = next(own, None)
    cause: Cause = "not_called" if rejected is None else "rejected"
    return GoldFinding("IAC", place, tool, cause, rejected)


def _gold_calls(plan: Plan) -> dict[int, Called]:
    """Return the gold calls by the position of their milestone."""
    return {
        place: milestone.condition
        for place, milestone in enumerate(plan.milestones)
        if isinstance(milestone.condition, Called)
        and not milestone.condition.tool.startswith(CHAT_TOOLS)
    }
