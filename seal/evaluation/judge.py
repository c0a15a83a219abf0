"""Pass rate: the share of goals that a judge calls solved.

Source: the SEAL paper, "Pass rate". What it leaves open: a goal that stays unsure in the second
stage is not passed; its label stays in the details and the share of unsure in the summary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from seal.core.errors import InfrastructureError
from seal.core.protocols import Judge
from seal.core.types import Goal, Score, Task, Tool, Trajectory
from seal.evaluation.goals import INFRASTRUCTURE, Value, goal_steps, score_goals, undefined
from seal.evaluation.llm_judge import LLMJudge
from seal.evaluation.rule_judge import RuleJudge

NAME = "pass_rate"


@dataclass(frozen=True, slots=True)
class PassRate:
    """1.0 for solved, 0.0 for unsolved and unsure; details: label, stage, reason."""

    judge: Judge = field(default_factory=RuleJudge)

    def score(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> list[Score]:
        """Return one score for each goal.

        A goal without a final answer, whatever limit was reached, is unsolved. Where the judge
        itself fails (server, cache under replay) the value is None with the failure as reason.
        """

        def measure(position: int, goal: Goal) -> dict[str, Value]:
            answers = trajectory.answers
            answer = answers[position] if position < len(answers) else None
            steps = goal_steps(trajectory, position)
            try:
                verdict = self.judge.judge(goal, answer, steps)
            except InfrastructureError as error:
                return {NAME: undefined(f"{INFRASTRUCTURE}: judge: {error}")}
            reason = verdict.reason
            stop = trajectory.stops[position].reason if position < len(trajectory.stops) else "done"
            if not answer and stop != "done":
                reason = f"{reason} ({stop})"
            details = {"label": verdict.label, "stage": verdict.stage, "reason": reason}
            return {NAME: Value(float(verdict.label == "solved"), details=details)}

        return score_goals(task, trajectory, [NAME], measure)


__all__ = ["LLMJudge", "PassRate", "RuleJudge"]
