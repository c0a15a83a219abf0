"""What followed on errors: repairs, the first one, and which error came after which.

ToolScan measures no recovery, and leaves causes and effects together (a repeated call brings a
missing one); these statistics are ours.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from seal.evaluation.error_patterns.findings import REJECTED, Finding
from seal.evaluation.error_patterns.gold import GoldComparison

_REPAIRS = frozenset({"valid", "service", "refused"})
"""Kinds of calls that are right as calls, whatever they brought, and nothing again."""


@dataclass(frozen=True, slots=True)
class Repair:
    """What an agent did with feedback on an error."""

    error: Finding
    step: int | None = None
    """Of the call that repaired it; None: none did."""
    calls: int = 0
    """Calls after the feedback up to that one, itself included; 0 where there is none."""


def repairs(findings: Sequence[Finding]) -> list[Repair]:
    """Return what became of each error that the agent was told of, in their order.

    Told it is by a result with an error that is no failure of a service. An error is repaired by
    the first valid call of the same tool after the feedback that repeats no earlier one; where the
    tool is not known, of any.

    Args:
        findings: Of one goal.
    """
    calls = [finding.step for finding in findings if finding.call is not None]
    right = [f for f in findings if f.kind in _REPAIRS]
    by_tool: dict[str | None, list[int]] = {None: [finding.step for finding in right]}
    for finding in right:
        if finding.call is not None and finding.call.tool is not None:
            by_tool.setdefault(finding.call.tool, []).append(finding.step)
    return [_repair(f, calls, by_tool) for f in findings if f.kind in REJECTED and f.told]


def _repair(
    error: Finding, calls: Sequence[int], by_tool: Mapping[str | None, Sequence[int]]
) -> Repair:
    tool = None if error.call is None or error.kind == "IFN" else error.call.tool
    steps = by_tool.get(tool, ())
    told = error.step if error.answered is None else error.answered
    place = bisect_right(steps, told)
    if place == len(steps):
        return Repair(error)
    return Repair(
        error, steps[place], bisect_right(calls, steps[place]) - bisect_right(calls, told)
    )


def events(findings: Sequence[Finding], gold: GoldComparison | None = None) -> list[str]:
    """Return the errors of a goal in the order in which they came to be, the model's and others'.

    Each is a pattern, or `service`; what was found missing or wrong at the end comes last, once.

    Args:
        findings: Of the goal.
        gold: What the agent did beside its plan; None: there is no gold.
    """
    found: list[str] = [
        f.pattern or "service" for f in findings if f.pattern or f.service is not None
    ]
    if gold is not None:
        found += [name for name, count in (("IAC", gold.missing), ("IAV", gold.wrong)) if count]
    return found


def transitions(found: Sequence[str]) -> dict[str, int]:
    """Return how often one error came next after another, as `IAN>RAC`, in the order of names."""
    counts = Counter(f"{one}>{next_one}" for one, next_one in pairwise(found))
    return dict(sorted(counts.items()))


def first_error(findings: Sequence[Finding]) -> Finding | None:
    """Return the agent's first error; None where no step of it is one."""
    return next((finding for finding in findings if finding.pattern is not None), None)
