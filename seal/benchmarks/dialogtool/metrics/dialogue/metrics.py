"""The metric of a tool's life in dialogue: awareness, requests, replies, roles, turn by turn.

Each figure but those of texts has a twin `_exact`; what the plain name means, `match` says. Every
turn of a dialogue has a score of each, without a value where the role was not seated or nothing was
due. Tasks of other benchmarks have none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from seal.benchmarks.dialogtool.metrics.dialogue.awareness import awareness
from seal.benchmarks.dialogtool.metrics.dialogue.replies import replies
from seal.benchmarks.dialogtool.metrics.dialogue.requests import requests
from seal.benchmarks.dialogtool.metrics.dialogue.roles import RoleJudge, role
from seal.benchmarks.dialogtool.metrics.dialogue.turns import is_turn, turns_of
from seal.core.types import Goal, Score, Task, Tool, Trajectory
from seal.evaluation.goals import Value, failure_reason, score_goals, undefined
from seal.evaluation.scoring import DialogueMatch

TWINS = ("awareness", "selection", "selection_recall", "execution")
"""Names that have a twin `_exact`."""
NAMES = (
    *(name for twin in TWINS for name in (twin, f"{twin}_exact")),
    "bleu",
    "rouge_l",
    "role",
)


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Scores the turns of dialogues that tell act and kind in their goals' labels.

    Args:
        match: What the plain names mean.
        judge: Of roles; None: by rule.
    """

    match: DialogueMatch = "lenient"
    judge: RoleJudge | None = None

    def score(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> list[Score]:
        """Return one score for each goal and name; none for a task without such turns."""
        if not any(map(is_turn, task.goals)):
            return []
        turns = [] if failure_reason(trajectory) else turns_of(task.goals, trajectory)
        played = trajectory.provenance.get("role")

        def measure(position: int, goal: Goal) -> Mapping[str, Value]:
            if not is_turn(goal):
                return dict.fromkeys(NAMES, undefined("the goal is no turn of a dialogue"))
            turn = turns[position]
            lenient, exact = awareness(turn)
            values = {"awareness": lenient, "awareness_exact": exact}
            values |= requests(turn, tools)
            values |= replies(turn)
            values["role"] = role(turn, played, self.judge)
            if self.match == "exact":
                values |= {name: values[f"{name}_exact"] for name in TWINS}
            return values

        return score_goals(task, trajectory, NAMES, measure)
