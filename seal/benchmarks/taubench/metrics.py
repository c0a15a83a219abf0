"""The metrics of tau-bench and tau2-bench: the reward, and the two halves that make it.

A task of tau2-bench says which halves count. It may also have statements that a judge's model is to
confirm, one by one; where all else is right and none is asked, the reward is undecided.

An output is looked for as upstream does: letter by letter, whatever its case, in a message without
its commas. Upstream gives no reward to a chat that is cut before its user, or a transfer to a human
agent, ends it.

Source: sierra-research/tau-bench, `Env.calculate_reward`, and sierra-research/tau2-bench,
`evaluate_simulation`; none of their code is here. Its data are
equal if their digests are. Here they are compared as the tables of every world are
(`seal.core.state_conditions.EndsAs`), so that 5.0 is 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from seal.core import (
    DataError,
    Goal,
    InfrastructureError,
    Metric,
    NoVerdictError,
    Scale,
    Task,
    ToolCall,
)
from seal.core.conditions import tells_user
from seal.core.state_conditions import Ended, EndsAs
from seal.core.text import shipped_text
from seal.core.values import digest, equal, json_text
from seal.evaluation.goals import INFRASTRUCTURE, GoalChat, GoalMetric, Value, undefined
from seal.evaluation.llm_judge import LLMJudge, OneOf, ask, choice, shown_steps
from seal.evaluation.panel import LABELS
from seal.evaluation.plans import view
from seal.evaluation.scoring import Scoring

REWARD, STATE, OUTPUTS = "reward", "reward_state", "reward_outputs"
_ENDED = ("user_ended", "done")
BASIS, STATEMENTS, ACTIONS = "reward_basis", "nl_assertions", "actions"
"""Where a task's metadata say what makes its reward, what a judge is to confirm, and which calls
somebody must make."""
DATA, SAID, NOTED = "DB", "COMMUNICATE", "NL_ASSERTION"
ASSERTED, MADE = "ENV_ASSERTION", "ACTION"
ASSERTIONS = "assertions"
"""Table of what a task asserts of its end, with `holds` for whether it does."""
STATEMENT = shipped_text(__package__, "judge_statement.txt").strip()
"""What a judge's model is told of one statement."""


def decided_by(goal: Goal) -> list[tuple[str, ...]]:
    """Return that the reward decides whether a goal is solved."""
    return [(REWARD,)]


def measures(scoring: Scoring) -> tuple[Metric, ...]:
    """Return the metric of a run, which asks the run's judge."""
    return (Reward(scoring.judge_of),)


def _no_judge(task: Task, trial: int) -> object:
    return None


@dataclass(frozen=True)
class Reward(GoalMetric):
    """The reward of upstream's evaluator, with its halves.

    Args:
        judge: (task, trial) to the judge of a chat; only a model is asked, and only where all else
            is right.

    - reward_state: 1 if the database ends as after the gold calls.
    - reward_outputs: 1 if each output stands in a message of the agent to its user. Without outputs
      there is no value.
    - reward: 1 if both hold, and the chat came to an end.
    """

    judge: Callable[[Task, int], object] = _no_judge
    names = (REWARD, STATE, OUTPUTS)
    scales = MappingProxyType(dict.fromkeys(names, Scale(gold_is_best=True)))

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
        others = [one for one in basis if one not in (DATA, SAID, ASSERTED, MADE, NOTED)]
        if others and not why:
            reward = undefined(f"unknown here: {', '.join(others)}")
        elif NOTED in basis and about.get(STATEMENTS) and not why:
            reward = self._judged(goal)
        return {REWARD: reward, STATE: state, OUTPUTS: outputs}

    def _judged(self, goal: GoalChat) -> Value:
        """Return the reward by what the judge says of each statement; a denied one decides."""
        judge = self.judge(goal.task, goal.trajectory.trial)
        if not isinstance(judge, LLMJudge):
            return undefined(f"no judge's model says so: {NOTED}")
        chat, open_ones = shown_steps(goal.steps), list[str]()
        for statement in goal.task.metadata[STATEMENTS]:
            shown = {"conversation": chat, "statement": statement}
            try:
                found = ask(judge, STATEMENT, shown, read_label, OneOf("verdict", LABELS))
            except InfrastructureError as error:
                return undefined(f"{INFRASTRUCTURE}: judge: {error}")
            except NoVerdictError as error:
                return undefined(f"the judge gave no verdict: {error}")
            if found[0] == "unsolved":
                return Value(0.0, reason=f"the judge denies: {statement} ({found[1]})")
            open_ones += [statement] * (found[0] == "unsure")
        if open_ones:
            return undefined(f"the judge cannot say: {'; '.join(open_ones)}")
        return Value(1.0, details={"by": f"llm/{digest(STATEMENT)[:12]}"})


def read_label(text: str) -> tuple[str, str] | None:
    """Return the verdict on a statement and its reason; None: a text has none."""
    found = choice(text, "verdict", {label: label for label in LABELS})
    return None if found is None else (found[0], str(found[1]))


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
