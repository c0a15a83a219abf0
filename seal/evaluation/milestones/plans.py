"""One plan's similarity to what was done: its milestones, its minefields, and both together.

Two sets of rules (`seal.core.conditions.Match`). `toolsandbox` is the original's evaluator, bug for
bug. `clean`, the default, departs from it:

- Conditions are measured as one would expect (`seal.core.conditions.cells`, `.tables`): an absent
  value is no match of a value, tables are compared as multisets, and rows in any order.
- Guarded tables of which no milestone asks anything are unchanged also before the first milestone
  and after the last one (`seal.evaluation.milestones.guardrails`).
- A minefield counts where it is met wholly; a message that is a little like a forbidden one does
  no harm. The original voids the score for any partial match.
- Where a plan has minefields alone, the agent must have said something to the user: doing nothing
  is no answer. What it must say, such as what is missing, is asked by a milestone of its own
  (`Replied`, or `StateHas` of the table `message`), which a mere refusal does not meet.
- The answers of one batch of calls have the worlds that each of them left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from seal.core.conditions import Asked, Called, Match, Replied, party
from seal.core.conditions.messages import AGENT, USER
from seal.core.types import Milestone, Plan, Step
from seal.evaluation.milestones.guardrails import parts, under
from seal.evaluation.milestones.matching import Assigned, best_match
from seal.evaluation.milestones.similarities import Similarities

WHOLLY = 1 - 1e-6
"""Similarity from which a node is met wholly; cells are rounded to 32 bits."""


@dataclass(frozen=True, slots=True)
class Reached:
    """The step that a node was matched to."""

    node: int
    index: int
    """`Step.index` of the step."""
    similarity: float
    conditions: tuple[float, ...]
    """Similarities of the node's conditions, in their order; guardrails around the milestones come
    last."""


@dataclass(frozen=True, slots=True)
class PlanResult:
    """How well a plan was kept, every similarity in [0, 1]."""

    milestone_similarity: float
    """Mean over the milestones; 1 where there are none."""
    minefield_similarity: float
    """Mean over the minefields; 0 where there are none."""
    milestones: tuple[Reached, ...]
    """In the order of the nodes."""
    minefields: tuple[Reached, ...]
    """In the order of assignment."""

    @property
    def similarity(self) -> float:
        """The milestones' similarity; 0 where a minefield was hit."""
        return 0.0 if self.minefield_similarity else self.milestone_similarity


def measure_plan(plan: Plan, steps: Sequence[Step], match: Match = "clean") -> PlanResult:
    """Return how well a plan was kept.

    Args:
        plan: That can be measured (`seal.evaluation.milestones.checks`).
        steps: As `seal.evaluation.milestones.view.view` gives them; none: nothing is reached.
        match: By which rules.
    """
    milestones = _matched(under(plan.milestones, match), steps)
    minefields = _matched(under(plan.minefields, match), steps, WHOLLY if match == "clean" else 0.0)
    return PlanResult(
        _mean(milestones, len(plan.milestones), _without_milestones(steps, match)),
        _mean(minefields, len(plan.minefields), 0.0),
        tuple(sorted(milestones, key=lambda reached: reached.node)),
        tuple(minefields),
    )


def asks_of_world(plan: Plan) -> bool:
    """Tell whether a plan asks more than calls, questions and replies, or forbids something."""
    if plan.minefields:
        return True
    conditions = (part for node in plan.milestones for part in parts(node.condition))
    return any(not isinstance(part, (Called, Asked, Replied)) for part in conditions)


def _mean(found: Sequence[Reached], count: int, none: float) -> float:
    return sum(reached.similarity for reached in found) / count if count else none


def _without_milestones(steps: Sequence[Step], match: Match) -> float:
    if match == "toolsandbox":
        return 1.0
    said = (s for s in steps if party(s.author) == AGENT and s.recipient == USER)
    return float(any(step.content.strip() for step in said))


def _matched(
    nodes: Sequence[Milestone], steps: Sequence[Step], least: float = 0.0
) -> list[Reached]:
    """Return the step of each node, in the order of assignment.

    Args:
        nodes: Milestones or minefields.
        steps: All of them.
        least: Similarity below which a node counts as not met at all.
    """
    if not nodes or not steps:
        return []
    bound = [replace(node, condition=node.condition.among(steps)) for node in nodes]
    similarities = Similarities(bound, steps, least)
    mapped: dict[int, int] = {}
    found = []
    for one in best_match([node.after for node in nodes], similarities):
        values = similarities.conditions(one.node, one.place, mapped)
        found.append(_reached(one, steps, values))
        mapped[one.node] = one.place
    return found


def _reached(one: Assigned, steps: Sequence[Step], values: Sequence[float]) -> Reached:
    return Reached(one.node, steps[one.place].index, one.similarity, tuple(values))
