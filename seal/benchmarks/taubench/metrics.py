"""The metrics of tau-bench and tau2-bench: the reward, and the two halves that make it.

A task of tau2-bench says which halves count. It may also have statements that a judge is to
confirm; where all else is right, the reward is then undecided.

An output is looked for as upstream does: letter by letter, whatever its case, in a message without
its commas. Upstream gives no reward to a chat that is cut before its user, or a transfer to a human
agent, ends it.

Source: sierra-research/tau-bench, `Env.calculate_reward`, and sierra-research/tau2-bench,
`evaluate_simulation`; none of their code is here. Its data are
equal if their digests are. Here they are compared as the tables of every world are
(`seal.core.state_conditions.EndsAs`), so that 5.0 is 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seal.core import DataError, Goal, Scale, ToolCall
from seal.core.conditions import tells_user
from seal.core.state_conditions import Ended, EndsAs
from seal.core.values import equal, json_text
from seal.evaluation.goals import GoalChat, GoalMetric, Value, undefined
from seal.evaluation.plans import view

REWARD, STATE, OUTPUTS = "reward", "reward_state", "reward_outputs"
_ENDED = ("user_ended", "done")
BASIS, STATEMENTS, ACTIONS = "reward_basis", "nl_assertions", "actions"
"""Where a task's metadata say what makes its reward, what a judge is to confirm, and which calls
somebody must make."""
DATA, SAID, NOTED = "DB", "COMMUNICATE", "NL_ASSERTION"
ASSERTED, MADE = "ENV_ASSERTION", "ACTION"
ASSERTIONS = "assertions"
"""Table of what a task asserts of its end, with `holds` for whether it does."""


def decided_by(goal: Goal) -> list[tuple[str, ...]]:
    """Return that the reward decides whether a goal is solved."""
    return [(REWARD,)]


class Reward(GoalMetric):
    """The reward of upstream's evaluator, with its halves.

    - reward_state: 1 if the database ends as after the gold calls.
    - reward_outputs: 1 if each output stands in a message of the agent to its user. Without outputs
      there is no value.
    - reward: 1 if both hold, and the chat came to an end.
    """

    names = (REWARD, STATE, OUTPUTS)
    scales = dict.fromkeys(names, Scale(gold_is_best=True))

    def measure(self, goal: GoalChat) -> Mapping[str, Value]:
        """Return the values of one goal."""
        try:
            differ = _difference(goal)
        except DataError as error:
            return dict.fromkeys(self.names, undefined(str(error)))
        lacks = _unsaid(goal)
        told = f"the data do not end as after gold: {', '.join(sorted(differ))}" if differ else ""
        state = Value(float(not differ), reason=told)
        outputs = undefined("the task has no outputs")
        if goal.goal.answers:
            unsaid = f"never said: {', '.join(lacks)}" if lacks else ""
            outputs = Value(float(not lacks), reason=unsaid)
        about = goal.task.metadata
        basis = about.get(BASIS) or [DATA, SAID]
        why = state.reason if DATA in basis else ""
        why = why or (outputs.reason if lacks and SAID in basis else "")
        why = why or (_refuted(goal) if ASSERTED in basis else "")
        why = why or (_unmade(goal) if MADE in basis else "")
        if not why and goal.stop not in _ENDED:
            why = f"the chat was cut: {goal.stop}"
        reward = Value(float(not why), reason=why)
        others = [one for one in basis if one not in (DATA, SAID, ASSERTED, MADE)]
        if not about.get(STATEMENTS):
            others = [one for one in others if one != NOTED]
        if others and not why:
            reward = undefined(f"no judge says so: {', '.join(others)}")
        return {REWARD: reward, STATE: state, OUTPUTS: outputs}


def _difference(goal: GoalChat) -> list[str]:
    """Return the tables that do not end as after the gold calls.

    Raises:
        DataError: The chat does not tell how they should, or the goal has no such gold.
    """
    nodes = (node.condition for plan in goal.goal.plans or () for node in plan.milestones)
    ends = next((one for one in nodes if isinstance(one, EndsAs)), None)
    if ends is None:
        raise DataError("the goal does not say how the data end")
    known = ends.in_chat(goal.trajectory, goal.position)
    steps = view(goal.trajectory, goal.position, goal.task.initial_state, "clean")
    found = known.among(steps)
    return [*found.differences] if isinstance(found, Ended) else []


def _refuted(goal: GoalChat) -> str:
    """Return what the task asserts of its end and does not hold; empty: all holds."""
    steps = view(goal.trajectory, goal.position, goal.task.initial_state, "clean")
    rows = (steps[-1].state or {}).get(ASSERTIONS, ()) if steps else ()
    failed = [
        f"{row['func_name']} {json_text(row['arguments'])}" for row in rows if not row["holds"]
    ]
    return f"at the end it does not hold: {', '.join(failed)}" if failed else ""


def _unmade(goal: GoalChat) -> str:
    """Return the calls that somebody must make and nobody made; empty: all were made.

    As upstream does, those arguments are compared that the task names, or else those that the call
    was given.
    """
    made = [step.call for step in goal.steps if step.call is not None]
    lacks = [
        wanted["name"]
        for wanted in goal.task.metadata.get(ACTIONS) or ()
        if not any(call.name == wanted["name"] and _alike(call, wanted) for call in made)
    ]
    return f"never called: {', '.join(lacks)}" if lacks else ""


def _alike(call: ToolCall, wanted: Mapping[str, Any]) -> bool:
    given, gold = call.arguments or {}, wanted["arguments"]
    compared = given if wanted["compare_args"] is None else wanted["compare_args"]
    return equal(
        {name: value for name, value in given.items() if name in compared},
        {name: value for name, value in gold.items() if name in compared},
    )


def _unsaid(goal: GoalChat) -> list[str]:
    """Return the outputs that stand in no message of the agent to its user."""
    said = [step.content.lower().replace(",", "") for step in goal.steps if tells_user(step)]
    return [one for one in goal.goal.answers if not any(one.lower() in text for text in said)]
