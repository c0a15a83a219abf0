"""Similarity to milestones and minefields, as scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from seal.core import DataError, Scale
from seal.core.conditions import Match
from seal.evaluation.goals import GoalChat, GoalMetric, Value, applies, match_of, undefined

# -- How well a chat keeps to milestones and off minefields, as metrics of a run.

NAMES = ("similarity", "milestone_similarity", "minefield_similarity", "turn_count")


@dataclass(frozen=True)
class Milestones(GoalMetric):
    """Similarity of a chat to the plans of each goal, in [0, 1], and its turns.

    - similarity: the milestones' similarity, or 0 where a minefield was hit. Of several plans the
      best one counts, of equally good ones the first. `details`: the plan's position, the rules,
      and, where the world ends otherwise than gold asks, `ends`: table to its rows that are
      `too_many`, `missing` and `different`, at most 20 of each.
    - milestone_similarity, minefield_similarity: the two of which it is made (`PlanResult`), for
      that plan. `details`: `mapping`, [[node, step index, similarity]], and `conditions`, for each
      entry of it the similarities of the node's conditions.
    - turn_count: messages between user, agent and executor (`plans.turn_count`), unbounded above.

    A goal has no value without a plan, with one that cannot be measured (`check_plan`), or if its
    task names unknown rules. Plans may hold only what the metrics of calls and answers measure
    (`Called`, `Asked` and `Replied`). Their goal has a value where the task names its rules.

    Source: ToolSandbox, section 4.

    Args:
        match: Rules to measure by; None: those that the task's metadata name under `match`, else
            `clean`.
    """

    match: Match | None = None

    names = NAMES
    main_of_some = ("similarity",)
    scales: ClassVar[Mapping[str, Scale]] = {
        "similarity": Scale(gold_is_best=True),
        "milestone_similarity": Scale(gold_is_best=True),
        "minefield_similarity": Scale(higher_is_better=False, gold_is_best=True),
        "turn_count": Scale(bounded=False, higher_is_better=None),
    }

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the values of one goal."""
        if not applies(goal.task, goal.goal):
            return dict.fromkeys(NAMES, undefined("no milestones of the world"))
        try:
            match = self.match or match_of(goal.task)
            # Of worlds alone: other runs do not load what measures milestones.
            from seal.evaluation.plans import measure_goal

            best = goal.chat.once(measure_goal, goal, match)
        except DataError as error:
            return dict.fromkeys(NAMES, undefined(f"the plan cannot be measured: {error}"))
        from seal.evaluation.plans import values_of

        return values_of(best, match)
