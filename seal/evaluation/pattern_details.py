"""Calls against gold (the patterns IAC and IAV), and findings as details of scores."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from seal.core import CHAT_TOOLS, JSON, Plan, shortened
from seal.core.conditions import Called
from seal.core.validation import CallError
from seal.evaluation.calls import ArgumentFinding, align
from seal.evaluation.error_patterns import LISTED, StepNote
from seal.evaluation.goals import asks_of_world

# -- Calls against gold: those that were not made (IAC), and those with wrong values (IAV).
#
# For one plan g, with m the valid calls that the agent made for the goal, by tools a:
#
# - IAC(g) = sum over a of max(0, |g[a]| - |m[a]|)
# - IAV(g) = sum over a of min(|g[a]|, |m[a]|) - matches[a]
#
# so that a second call that is missing is IAC alone. matches[a] is the size of a maximum one-to-one
# matching: no call serves two gold calls. A call matches if the gold call accepts its arguments
# (`Called.accepts`). Every required argument has an accepted value, optional ones may be absent,
# and there are no others.
#
# Of several plans ToolScan's paper takes the least IAC and the least IAV, each for itself. Its code
# and we take one plan, with the least (IAC, IAV), so that there is one explanation (`choose`). Of
# equal ones the first counts.
#
# Source: Kokane et al., ToolScan (2024), section on error patterns, and its evaluation code. That
# code has no one-to-one matching, and counts calls that use an optional argument as wrong.

Cause = Literal["not_called", "rejected", "wrong_value", "refused"]
"""Why a gold call was not made as it should be: nobody called the tool again; calls of it were
invalid; a valid call has other arguments; the tool refused the right call, or did not where gold
says that it is to."""


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
        elif made[pair.made].told != called.refused:
            found.append(GoldFinding("IAC", place, called.tool, "refused", made[pair.made].step))
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


# -- What the details of a score tell of findings, for reports: each with its step and its faults.

LENGTH = 200
"""Characters that a text of many entries has at most, but for the count of those left out."""


NOTHING = "nothing"


_PLAIN = re.compile(r"(?!(?:true|false|null)$)[^\W\d][\w./-]{0,99}")
"""Texts that need no quotes: none that could be a number, or several words."""


_OF_NAMES = ("unknown_tool", "unknown_argument", "unparsable_arguments")
"""Faults of what was received as a name, or as the text of a call."""


def told_of(finding: StepNote) -> dict[str, JSON]:
    """Return a finding for a report: where it is, and what is wrong."""
    told: dict[str, JSON] = {"step": finding.step, "pattern": finding.kind}
    if finding.call is not None:
        told |= {"call": finding.call.id, "name": shortened_name(finding.call.name)}
    if finding.faults:
        told["faults"] = [_fault(fault.kind, fault) for fault in finding.faults[:LISTED]]
    if finding.earlier is not None:
        told["earlier"] = finding.earlier
    if finding.service is not None:
        told["service"] = finding.service
    if finding.refusal:
        told["refusal"] = finding.refusal
    return told


def _fault(kind: str, fault: CallError | ArgumentFinding) -> dict[str, JSON]:
    received = None if fault.received is None else value_words(fault.received)
    if fault.received == "" and kind in _OF_NAMES:
        received = NOTHING
    return {
        "kind": kind,
        "name": shortened_name(fault.name),
        "expected": None if fault.expected is None else expected_words(fault.expected),
        "received": received,
    }


def expected_words(value: Any) -> str:
    """Return what was expected: one value, or the entries of a list or a map with commas.

    Entries that have no room are counted, as in `get_work and 12 more`; no name is cut.
    """
    if isinstance(value, dict):
        return _joined([f"{name}: {value_words(entry)}" for name, entry in value.items()])
    if isinstance(value, list | tuple):
        return _joined([value_words(entry) for entry in value])
    return value_words(value)


def value_words(value: Any) -> str:
    """Return one value: a name as it is, other texts in quotes, and the rest as JSON."""
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) else shortened(value)
    try:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    except (TypeError, ValueError, RecursionError):  # keys that are no texts; nested too deep
        return shortened(value)
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= LENGTH else f"{text[: LENGTH - 3]}..."


def _joined(entries: Sequence[str]) -> str:
    if not entries:
        return NOTHING
    shown = list(entries[:1])
    length = len(shown[0])
    for entry in entries[1:]:
        length += len(entry) + 2
        if length > LENGTH:
            break
        shown.append(entry)
    left = len(entries) - len(shown)
    return ", ".join(shown) + (f" and {left} more" if left else "")


def shortened_name(name: str) -> str:
    """Return a name as it is; one that a model made a text of, at most 200 characters."""
    return name if len(name) <= 200 else f"{name[:197]}..."


def gold_details(pattern: str, compared: GoldComparison) -> dict[str, Any]:
    """Return the details of a score by gold calls: how many were not made, or made wrong."""
    found = [finding for finding in compared.findings if finding.pattern == pattern]
    return {
        "errors": len(found),
        "gold": compared.gold,
        "plan": compared.plan,
        "findings": list(map(_gold_told, found[:LISTED])),
    }


def _gold_told(finding: GoldFinding) -> dict[str, JSON]:
    told: dict[str, JSON] = {
        "pattern": finding.pattern,
        "gold": finding.milestone,
        "name": finding.tool,
        "cause": finding.cause,
    }
    if finding.step is not None:
        told["step"] = finding.step
    if finding.faults:
        told["faults"] = [_fault(fault.problem, fault) for fault in finding.faults[:LISTED]]
    return told
