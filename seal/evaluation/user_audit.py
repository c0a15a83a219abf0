"""How often simulated users did what no user should do.

Source: Lu et al., ToolSandbox (2024), section on the user simulator, whose authors found such
errors by hand; here `user_flags` finds them by rule, so that every score can be read beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from seal.core.types import END_CONVERSATION, Goal, Score, Step, Task, Tool, Trajectory
from seal.evaluation.goals import USER, Value, goal_steps, score_goals, undefined

if TYPE_CHECKING:
    from seal.evaluation.user_flags import Flag

HALLUCINATION = "user_hallucination"
INSTRUCTION = "user_instruction_error"
NAMES = (HALLUCINATION, INSTRUCTION)


@dataclass(frozen=True, slots=True)
class UserAudit:
    """Two rates of conversations: 1 where the user made such an error, else 0.

    `user_hallucination` and `user_instruction_error`; details.flags holds the flags. A goal counts
    where the task has a persona, or the user answered; tasks without any such goal have no scores.
    Without a brief nobody can tell what the user made up.
    """

    def score(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> list[Score]:
        """Return two scores for each goal; none of a task whose user only speaks its goals."""
        if task.persona is None and not any(
            len(_words(goal_steps(trajectory, goal))) > 1 for goal in range(len(task.goals))
        ):
            return []
        # Where a user was played: other runs do not load the rules.
        from seal.evaluation.user_flags import against_orders, hallucinations

        def measure(position: int, goal: Goal) -> dict[str, Value]:
            made_up = undefined("the user has no brief")
            if task.persona:
                made_up = _value(hallucinations(task, trajectory, position))
            return {
                HALLUCINATION: made_up,
                INSTRUCTION: _value(against_orders(task, trajectory, position)),
            }

        return score_goals(task, trajectory, NAMES, measure)


def ends_conversation(step: Step) -> bool:
    """Tell whether a user's call ends the conversation, here or in an imported recording."""
    call = step.call
    named = END_CONVERSATION.rpartition("/")[2]
    return call is not None and named in (call.name, (call.tool or "").rpartition("/")[2])


def _words(steps: Sequence[Step]) -> list[Step]:
    return [step for step in steps if step.author == USER and step.call is None]


def _value(flags: Sequence[Flag]) -> Value:
    listed = [asdict(flag) | {"facts": list(flag.facts)} for flag in flags]
    reason = "; ".join(dict.fromkeys(flag.flag for flag in flags))
    return Value(float(bool(flags)), reason=reason, details={"flags": listed})
