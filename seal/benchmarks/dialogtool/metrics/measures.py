"""The metrics of a tool's life, made for how a run scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from seal.benchmarks.dialogtool.metrics.creation import Creation
from seal.benchmarks.dialogtool.metrics.dialogue.metrics import Dialogue
from seal.benchmarks.dialogtool.metrics.dialogue.roles import RoleJudge
from seal.benchmarks.dialogtool.metrics.goal_state import GoalState
from seal.core.protocols import Metric
from seal.core.types import Score, Task, Tool, Trajectory
from seal.evaluation.llm_judge import LLMJudge
from seal.evaluation.scoring import Scoring


def measures(scoring: Scoring) -> tuple[Metric, ...]:
    """Return the metrics of dialogues, of what they booked, and of created tools."""
    return JudgedDialogue(scoring), GoalState(), Creation(scoring.sandbox)


@dataclass(frozen=True, slots=True)
class JudgedDialogue:
    """`Dialogue`, whose roles the judge of the chat rates where it is a model."""

    scoring: Scoring

    def score(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> list[Score]:
        """Return the scores of `Dialogue`."""
        judge = self.scoring.judge_of(task, trajectory.trial)
        of_roles = RoleJudge(judge.model, judge.seed) if isinstance(judge, LLMJudge) else None
        return Dialogue(self.scoring.rules.dialogue, of_roles).score(task, trajectory, tools)


__all__ = ["measures"]
