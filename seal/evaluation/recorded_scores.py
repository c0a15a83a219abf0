"""Scores that others gave a chat before it came here, as its provenance has them."""

from __future__ import annotations

from collections.abc import Mapping

from seal.core import Score, Task, Tool, Trajectory

GIVEN = "recorded_scores"
"""Part of a trajectory's provenance: metric to {value, reason}; a value of None was not given."""


class RecordedScores:
    """Takes what was given; of a chat with several goals as the score of the last."""

    name = "recorded_scores"

    def score(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> list[Score]:
        """Return the scores; empty where none were given."""
        given = trajectory.provenance.get(GIVEN)
        goal = len(task.goals) - 1
        return [
            Score(task.id, trajectory.trial, goal, name, one["value"], reason=str(one["reason"]))
            for name, one in (given.items() if isinstance(given, dict) else ())
            if isinstance(one, dict)
        ]
