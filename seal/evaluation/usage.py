"""What a goal cost: calls, turns, tokens."""

from __future__ import annotations

from seal.core import Scale, Step
from seal.evaluation.goals import EXECUTOR, USER, GoalChat, GoalMetric, Value, undefined

NAMES = ("calls", "turns", "tokens_in", "tokens_out")
COUNT = Scale(bounded=False, higher_is_better=None)


class UsageMetrics(GoalMetric):
    """Counts for each goal, unbounded above.

    - calls: API calls of the agent (`goals.made_calls`).
    - turns: replies of the agent to the executor or to the user. Messages between the agent's own
      roles are not counted; a final response that no role passed on to the user counts as one.
    - tokens_in, tokens_out: of the agent's model calls; None where none was counted.
    """

    names = NAMES
    scales = dict.fromkeys(NAMES, COUNT)

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the values of one goal."""
        agent = _agent(goal)
        calling = {s.turn for s in agent if s.call is not None}
        speaking = {s.turn for s in agent if s.call is None and s.recipient == USER}
        turns = len(calling | speaking) + (bool(goal.answer) and not speaking)
        return {
            "calls": Value(float(len(goal.made))),
            "turns": Value(float(turns)),
            **_tokens(goal),
        }


def _agent(goal: GoalChat) -> list[Step]:
    return [step for step in goal.steps if step.author not in (USER, EXECUTOR)]


def _tokens(goal: GoalChat) -> dict[str, Value]:
    counted = [s.usage for s in _agent(goal) if s.usage is not None]
    if not counted:
        none = undefined("no tokens were counted")
        return {"tokens_in": none, "tokens_out": none}
    details = {"estimated": True} if any(u.estimated for u in counted) else {}
    return {
        "tokens_in": Value(float(sum(u.tokens_in for u in counted)), details=details),
        "tokens_out": Value(float(sum(u.tokens_out for u in counted)), details=details),
    }


class TokensPerCall(GoalMetric):
    """What a call cost: `tokens_in_per_call` and `tokens_out_per_call`.

    Tokens of the agent's model calls for a goal over its API calls (`goals.made_calls`), so words
    around calls and the final answer are counted too. None where no call was made or no token was
    counted.
    """

    names = ("tokens_in_per_call", "tokens_out_per_call")
    scales = dict.fromkeys(names, COUNT)

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the values of one goal."""
        calls = len(goal.made)
        found = {}
        for name, spent in _tokens(goal).items():
            if spent.value is not None and calls:
                spent = Value(spent.value / calls, float(calls), details=spent.details)
            elif spent.value is not None:
                spent = undefined("no call was made")
            found[f"{name}_per_call"] = spent
        return found
