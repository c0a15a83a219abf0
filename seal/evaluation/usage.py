"""What a goal cost: calls, turns, tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from seal.core.types import Goal, Score, Step, Task, Tool, Trajectory
from seal.evaluation.goals import (
    EXECUTOR,
    USER,
    Value,
    answer_of,
    goal_steps,
    made_calls,
    score_goals,
    undefined,
)

NAMES = ("calls", "turns", "tokens_in", "tokens_out")


@dataclass(frozen=True, slots=True)
class UsageMetrics:
    """Counts for each goal, unbounded above.

    - calls: API calls of the agent (`goals.made_calls`).
    - turns: replies of the agent to the executor or to the user. Messages between the agent's own
      roles are not counted; a final response that no role passed on to the user counts as one.
    - tokens_in, tokens_out: of the agent's model calls; None where none was counted.
    """

    def score(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> list[Score]:
        """Return one score for each goal and name."""

        def measure(position: int, goal: Goal) -> dict[str, Value]:
            steps = goal_steps(trajectory, position)
            agent = [s for s in steps if s.author not in (USER, EXECUTOR)]
            return {
                "calls": Value(float(len(made_calls(steps)))),
                "turns": Value(float(_turns(agent, bool(answer_of(trajectory, position))))),
                **_tokens(agent),
            }

        return score_goals(task, trajectory, NAMES, measure)


def _turns(agent: list[Step], answered: bool) -> int:
    calling = {s.turn for s in agent if s.call is not None}
    speaking = {s.turn for s in agent if s.call is None and s.recipient == USER}
    return len(calling | speaking) + (answered and not speaking)


def _tokens(agent: list[Step]) -> dict[str, Value]:
    counted = [s.usage for s in agent if s.usage is not None]
    if not counted:
        none = undefined("no tokens were counted")
        return {"tokens_in": none, "tokens_out": none}
    details = {"estimated": True} if any(u.estimated for u in counted) else {}
    return {
        "tokens_in": Value(float(sum(u.tokens_in for u in counted)), details=details),
        "tokens_out": Value(float(sum(u.tokens_out for u in counted)), details=details),
    }


@dataclass(frozen=True, slots=True)
class TokensPerCall:
    """What a call cost: `tokens_in_per_call` and `tokens_out_per_call`.

    Tokens of the agent's model calls for a goal over its API calls (`goals.made_calls`), so words
    around calls and the final answer are counted too. None where no call was made or no token was
    counted.
    """

    def score(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> list[Score]:
        """Return one score for each goal and name."""

        def measure(position: int, goal: Goal) -> dict[str, Value]:
            steps = goal_steps(trajectory, position)
            calls = len(made_calls(steps))
            spent = _tokens([s for s in steps if s.author not in (USER, EXECUTOR)])
            return {f"{name}_per_call": _over(value, calls) for name, value in spent.items()}

        names = ("tokens_in_per_call", "tokens_out_per_call")
        return score_goals(task, trajectory, names, measure)


def _over(tokens: Value, calls: int) -> Value:
    if tokens.value is None:
        return tokens
    if not calls:
        return undefined("no call was made")
    return Value(tokens.value / calls, float(calls), details=tokens.details)
