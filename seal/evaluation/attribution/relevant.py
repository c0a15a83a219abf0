"""Goals whose gold names tools alone: what is certain without gold calls.

Which relevant tools must be called, how often and with what, nobody says, and others may serve as
well. So only these count, the first in time of several:

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

from seal.evaluation.attribution.evidence import (
    Evidence,
    not_called,
    rejected,
    tool_error,
    wrong_tool,
)
from seal.evaluation.attribution.stages import Cause
from seal.evaluation.error_patterns.findings import REJECTED, Finding


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
