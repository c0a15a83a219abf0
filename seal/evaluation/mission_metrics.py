"""Missions done right, done in the fewest steps, and how far the others came.

They apply to any goal whose plans are partial orders of calls, questions and replies: Multi-Mission
Tool Bench's missions, and the gold calls of other benchmarks as well. A goal's turns are what the
agent, its roles being one, says to the user and which calls it makes at once.

- mission_accuracy: 1 where names, order and arguments are right (`missions.judgement`). Its details
  say what went wrong, and hold what tables are made of; in a dialogue also type and relation
  (`mission_labels`).
- name_accuracy: 1 where names and order are right.
- optimal_path: 1 where a mission is right in the fewest steps; of missions with calls that may be
  made at once.
- progress: share of gold nodes that were finished, questions and final answer included, with their
  number as weight; of missions with calls that need others before them.
- dialogue_accuracy: 1 where every mission of a task of several is right; one score a task.

Every failure of the model counts as 0: malformed calls, silence, a chat that a limit ended. Of
several plans the one that went best counts.

If gold has neither a question nor a reply, only the agent's calls are compared. A goal that needs
no tool is then right if none was called. The task's metadata name the scorer of arguments under
`argument_scorer`. The default is `exact`: a gold call accepts every value that it names,
alternatives too.

Source: Yu et al., Multi-Mission Tool Bench (2025), section 4 and evaluation code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, ClassVar

from seal.core import JSON, Plan, Scale, Score, Step, Tool, ToolCall
from seal.core.conditions import Asked, Called, party
from seal.core.conditions.messages import AGENT
from seal.evaluation.goals import (
    MISSION,
    UNDECIDED,
    USER,
    GoalChat,
    GoalMetric,
    TaskChat,
    Value,
    is_dialogue,
    made_calls,
    no_missions,
    undefined,
)
from seal.evaluation.missions.graph import ANSWER, ASK, Call, Graph, Turn, checked_graph
from seal.evaluation.missions.judgement import (
    CLEAN,
    MissionKind,
    MissionRules,
    Verdict,
    verdict_on,
)

NAMES = ("mission_accuracy", "name_accuracy", "optimal_path", "progress")
DIALOGUE = "dialogue_accuracy"
OPEN = f"{UNDECIDED}: the search for a right way ended early"
"""Reason of values that are neither right nor wrong, since `Verdict.undecided` says so."""
LEAVES: Mapping[MissionKind, str] = {"combine": "parallel", "serial": "serial", "cs": "mixed"}
"""How the calls of a mission hang together, in the paper's words."""

_OF_ARGUMENTS = ("mission_accuracy", "optimal_path", "progress")
_OPEN = {"label": NAMES, "param_label": _OF_ARGUMENTS}
"""Metrics without a value where a search ended early, by what is undecided."""
_CLOSING = Turn(text="(end)")
_HEARERS = (USER, "checker")


@dataclass(frozen=True)
class Missions(GoalMetric):
    """The metrics of missions (`NAMES` and `DIALOGUE`).

    Args:
        rules: Of judging; None: `CLEAN`.
    """

    rules: MissionRules | None = None

    names = NAMES
    main_of_some = ("mission_accuracy", DIALOGUE, "progress", "optimal_path")
    main_beside: ClassVar[Mapping[str, str]] = {"progress": DIALOGUE, "optimal_path": DIALOGUE}
    scales = dict.fromkeys((*NAMES, DIALOGUE), Scale(gold_is_best=True))

    def of(self, chat: TaskChat) -> list[Score]:
        """Return one score for each goal and name, and one of the dialogue.

        Raises:
            UnknownNameError: The task names a scorer of arguments that there is not.
            MissingExtraError: A scorer compares texts by words, and the library is absent.
        """
        scores = super().of(chat)
        right = [score.value for score in scores if score.metric == MISSION]
        dialogue = _dialogue(chat, right)
        return [*scores, dialogue.score(chat.task.id, chat.trajectory.trial, 0, DIALOGUE)]

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the values of one goal."""
        reason = no_missions(goal.goal)
        if reason:
            return dict.fromkeys(NAMES, undefined(reason))
        rules = self.rules or CLEAN
        scorer = goal.task.metadata.get("argument_scorer", "exact")
        offered = _offered(goal)
        verdicts = [
            verdict_on(
                graph_of(plan, rules.answered),
                turns_of(goal.steps, plan),
                rules,
                offered,
                scorer,
            )
            for plan in goal.goal.plans or ()
        ]
        best = max(range(len(verdicts)), key=lambda plan: _merit(verdicts[plan]))
        verdict = verdicts[best]
        details = {"plan": best, "match": rules.name, **_told(verdict, goal.tools)}
        if is_dialogue(goal.task):
            from seal.evaluation.mission_labels import mission_type, relation

            labels = {
                "type": mission_type(goal.goal),
                "relation": relation(goal.task, goal.position),
            }
            details |= {name: label for name, label in labels.items() if label}
        values = _of_verdict(verdict, details)
        if verdict.undecided:
            undecided = Value(None, 0.0, OPEN, details=details)
            values |= dict.fromkeys(_OPEN[verdict.undecided], undecided)
        if verdict.label == "correct" and goal.cut:
            values |= dict.fromkeys(_OF_ARGUMENTS, undefined("arguments were cut upstream"))
        return values


def graph_of(plan: Plan, answered: bool = False) -> Graph:
    """Return a plan as the graph of its gold calls; tools go by their ids.

    Args:
        plan: Of calls, questions and replies.
        answered: Whether the final answer is added where it is missing; it is also added where no
            tool is needed.
    """
    names, arguments = [], []
    gold: list[Called | None] = []
    for condition in (milestone.condition for milestone in plan.milestones):
        said = ASK if isinstance(condition, Asked) else ANSWER
        gold.append(condition if isinstance(condition, Called) else None)
        names.append(condition.tool if isinstance(condition, Called) else said)
        arguments.append(_gold_arguments(condition) if isinstance(condition, Called) else {})
    deps: list[Sequence[int]] = [milestone.after for milestone in plan.milestones]
    if not names or (answered and ANSWER not in names):
        deps.append(range(len(names)))
        names.append(ANSWER)
        arguments.append({})
        gold.append(None)
    return checked_graph(names, arguments, deps, gold)


def _gold_arguments(called: Called) -> dict[str, JSON]:
    """Return a gold call's arguments, optional ones too, each with its first value."""
    gold = called.arguments or {}
    return {name: argument.values[0] for name, argument in gold.items() if argument.values}


def turns_of(steps: Sequence[Step], plan: Plan) -> list[Turn]:
    """Return what the agent did for a goal as turns.

    Args:
        steps: Of the goal.
        plan: Where it has neither a question nor a reply, texts are left out.
    """
    spoken = any(not isinstance(m.condition, Called) for m in plan.milestones)
    turns = [
        turn
        for _, group in groupby(steps, key=lambda step: (step.turn, step.author))
        for turn in _turns(list(group))
        if spoken or turn.calls
    ]
    return turns if spoken else [*turns, _CLOSING]


def _turns(said: Sequence[Step]) -> Iterator[Turn]:
    """Yield the turn that a reply is; nothing for what is not the agent's to the outside."""
    first = said[0]
    if party(first.author) != AGENT:
        return
    calls = made_calls(said)
    if calls:
        yield Turn(tuple(map(_call, calls)))
    elif first.call is None and first.result is None and first.recipient in _HEARERS:
        yield Turn(text=first.content)


def _call(call: ToolCall) -> Call:
    arguments: Any = call.raw if call.arguments is None else call.arguments
    return Call(call.tool or call.name, arguments)


def _offered(goal: GoalChat) -> dict[str, JSON]:
    """Return the schemas of the tools that the agent had, by their ids."""
    tools = goal.tools
    had = goal.goal.offered if goal.offered is None else goal.offered
    return {name: tools[name].parameters for name in (had or tools) if name in tools}


def _merit(verdict: Verdict) -> tuple[bool, bool, float]:
    share = verdict.completed / verdict.total
    return verdict.param_label == "correct", verdict.label == "correct", share


def _of_verdict(verdict: Verdict, details: dict[str, JSON]) -> dict[str, Value]:
    right = verdict.param_label == "correct"
    kind = verdict.multi_kind
    reason = verdict.error_type or verdict.exception
    optimal = undefined("no calls that may be made at once")
    if kind in ("combine", "cs"):
        optimal = Value(float(right and verdict.is_optimal))
    progress = undefined("no call needs another before it")
    if kind in ("serial", "cs"):
        progress = Value(verdict.completed / verdict.total, verdict.total)
    return {
        "mission_accuracy": Value(float(right), reason="" if right else reason, details=details),
        "name_accuracy": Value(float(verdict.label == "correct")),
        "optimal_path": optimal,
        "progress": progress,
    }


def _told(verdict: Verdict, tools: Mapping[str, Tool]) -> dict[str, JSON]:
    """Return what a verdict says, for tables and for whoever looks at one mission."""
    diverged, error = verdict.divergence is not None, verdict.error_type
    legal = [tools[n].name if n in tools else n for n in verdict.legal_next]
    told: dict[str, JSON] = {
        "completed": verdict.completed,
        "total": verdict.total,
        "steps": verdict.steps,
        "fewest": verdict.min_length,
        "optimal": verdict.is_optimal,
    }
    where_known: dict[str, JSON] = {
        "leaf": LEAVES[verdict.multi_kind] if verdict.multi_kind else None,
        "error": error,
        "stage": None if error is None else "action" if diverged else "argument",
        "exception": verdict.exception or None,
        "turn": verdict.divergence,
        "legal_next": legal if diverged else None,
        "cut": verdict.cut or None,
        "undecided": verdict.undecided or None,
    }
    return told | {name: value for name, value in where_known.items() if value is not None}


def _dialogue(chat: TaskChat, right: Sequence[float | None]) -> Value:
    if chat.failure:
        return undefined(chat.failure)
    if len(right) < 2:
        return undefined("the task has one goal")
    if None in right:
        return undefined("a goal of the task is no mission, or its mission is not decided")
    return Value(float(all(right)), details={"missions": [int(value or 0) for value in right]})
