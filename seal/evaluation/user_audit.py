"""How often simulated users did what no user should do.

Source: Lu et al., ToolSandbox (2024), section on the user simulator, whose authors found such
errors by hand; here `user_flags` finds them by rule, so that every score can be read beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from seal.core import END_CONVERSATION, Scale, Score, Step
from seal.evaluation.goals import USER, GoalChat, GoalMetric, TaskChat, Value, undefined

if TYPE_CHECKING:
    from seal.evaluation.user_flags import Flag

HALLUCINATION = "user_hallucination"
INSTRUCTION = "user_instruction_error"
NAMES = (HALLUCINATION, INSTRUCTION)


class UserAudit(GoalMetric):
    """Two rates of conversations: 1 where the user made such an error, else 0.

    `user_hallucination` and `user_instruction_error`; details.flags holds the flags. A goal counts
    where the task has a persona, or the user answered; tasks without any such goal have no scores.
    Without a brief nobody can tell what the user made up.
    """

    names = NAMES
    scales = dict.fromkeys(NAMES, Scale(higher_is_better=False, gold_is_best=False))

    def of(self, chat: TaskChat) -> list[Score]:
        """Return two scores for each goal; none of a task whose user only speaks its goals."""
        answered = any(sum(map(_is_spoken, goal.steps)) > 1 for goal in chat.goals)
        return [] if chat.task.persona is None and not answered else super().of(chat)

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the values of one goal."""
        # Where a user was played: other runs do not load the rules.
        from seal.evaluation.user_flags import against_orders, hallucinations

        made_up = undefined("the user has no brief")
        if goal.task.persona:
            made_up = _value(hallucinations(goal))
        return {HALLUCINATION: made_up, INSTRUCTION: _value(against_orders(goal))}


SPOILT = "spoilt by the user"
"""Why a score has no value whose chat is left out for the errors of its user."""


def is_spoilt(scores: Iterable[Score]) -> bool:
    """Tell whether the scores of a chat say that its user made an error."""
    return any(score.metric in NAMES and score.value for score in scores)


def left_out(scores: Iterable[Score]) -> list[Score]:
    """Return the scores of a spoilt chat without values, but for those of the user."""
    return [
        score if score.metric in NAMES else replace(score, value=None, weight=0.0, reason=SPOILT)
        for score in scores
    ]


def ends_conversation(step: Step) -> bool:
    """Tell whether a user's call ends the conversation, here or in an imported recording."""
    call = step.call
    named = END_CONVERSATION.rpartition("/")[2]
    return call is not None and named in (call.name, (call.tool or "").rpartition("/")[2])


def _is_spoken(step: Step) -> bool:
    return step.author == USER and step.call is None


def _value(flags: Sequence[Flag]) -> Value:
    listed = [asdict(flag) | {"facts": list(flag.facts)} for flag in flags]
    reason = "; ".join(dict.fromkeys(flag.flag for flag in flags))
    return Value(float(bool(flags)), reason=reason, details={"flags": listed})
