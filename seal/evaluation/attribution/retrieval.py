"""Was every gold tool offered?"""

from __future__ import annotations

from collections.abc import Sequence

from seal.evaluation.attribution.evidence import Evidence, listed
from seal.evaluation.attribution.stages import Cause


def gold_sets(evidence: Evidence) -> list[tuple[str, ...]]:
    """Return alternative sets of tools of which one is needed; empty: no tool is known to be.

    Those of the gold calls of each plan, and of none where a plan needs none; without gold calls
    the relevant tools, of which any one is enough where they are alternatives.
    """
    goal = evidence.goal
    plans = goal.plans or ()
    if any(plan.calls() for plan in plans):
        called = [tuple(dict.fromkeys(c.tool for c in plan.calls())) for plan in plans]
        return called if all(called) else []
    if goal.any_relevant:
        return [(tool,) for tool in goal.relevant]
    return [tuple(goal.relevant)] if goal.relevant else []


def not_retrieved(evidence: Evidence) -> Cause | None:
    """Return which gold tools the agent was not offered; None where it had what it needed."""
    sets, offered = gold_sets(evidence), evidence.offered
    if not sets or offered is None or any(offered.issuperset(tools) for tools in sets):
        return None
    needed = min(sets, key=lambda tools: len(set(tools) - offered))
    missing = [tool for tool in needed if tool not in offered]
    cause = _cause(evidence, missing)
    names = listed([evidence.named(tool) for tool in missing])
    got = sorted(offered)
    return Cause(
        "not_retrieved",
        cause,
        f"{names} was not among the {len(got)} tools offered",
        None,
        names,
        listed([evidence.named(tool) for tool in needed]),
        listed([evidence.named(tool) for tool in got]),
        len(needed),
        len(needed) - len(missing),
    )


def _cause(evidence: Evidence, missing: Sequence[str]) -> str:
    if any(tool not in evidence.tools for tool in missing):
        return "not_in_pool"
    if any(ranking.goal == evidence.position for ranking in evidence.trajectory.rankings):
        return "below_cutoff"
    return "not_offered"
