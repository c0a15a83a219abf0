"""Missions done right, done in the fewest steps, and how far the others came.

They apply to any goal whose plans are partial orders of calls, questions and replies: Multi-Mission
Tool Bench's missions, and the gold calls of other benchmarks as well. A goal's turns are what the
agent, its roles being one, says to the user and which calls it makes at once.

- mission_accuracy: 1 where names, order and arguments are right (`missions.judge`). Its details say
  what went wrong, and hold what tables are made of.
- name_accuracy: 1 where names and order are right.
- optimal_path: 1 where a mission is right in the fewest steps; of missions with calls that may be
  made at once.
- progress: share of gold nodes that were finished, questions and final answer included, with their
  number as weight; of missions with calls that need others before them.
- dialogue_accuracy: 1 where every mission of a task of several is right; one score a task.

A failure of the model is 0, whatever it was, and none leaves the denominator: not malformed calls,
nor silence, nor a chat that a limit ended. Of several plans the one counts that went best.

Where gold has neither a question nor a reply, what the agent says is passed over: only its calls
are compared, and a goal that needs no tool is right where none was called. Arguments are compared
by the scorer that the task's metadata name under `argument_scorer`, else `exact`, under which a
call has the gold call's arguments where that call accepts them, alternatives and all.

Source: Yu et al., Multi-Mission Tool Bench (2025), section 4 and evaluation code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from seal.core.conditions import Asked, Called, Replied, party
from seal.core.conditions.messages import AGENT
from seal.core.types import (
    CHAT_TOOLS,
    JSON,
    Goal,
    Milestone,
    Plan,
    Score,
    Step,
    Task,
    Tool,
    ToolCall,
    Trajectory,
)
from seal.evaluation.goals import (
    USER,
    Value,
    cut_calls,
    failure_reason,
    goal_steps,
    score_goals,
    undefined,
)
from seal.evaluation.missions.graph import ANSWER, ASK
from seal.evaluation.missions.judgement import Match, MissionKind, Verdict, judge

NAMES = ("mission_accuracy", "name_accuracy", "optimal_path", "progress")
DIALOGUE = "dialogue_accuracy"
UNDECIDED = "undecided: the search for a right way ended early"
"""Reason of values that are neither right nor wrong, since `Verdict.undecided` says so."""
LEAVES: Mapping[MissionKind, str] = {"combine": "parallel", "serial": "serial", "cs": "mixed"}
"""How the calls of a mission hang together, in the paper's words."""

_OF_ARGUMENTS = ("mission_accuracy", "optimal_path", "progress")
_OPEN = {"label": NAMES, "param_label": _OF_ARGUMENTS}
"""Metrics without a value where a search ended early, by what is undecided."""
_LABELS = ("type", "relation")
"""Labels by which tables group missions, besides what their gold says."""
_CLOSING: Mapping[str, JSON] = {"content": "(end)"}
_HEARERS = (USER, "checker")


@dataclass(frozen=True, slots=True)
class Missions:
    """The metrics of missions (`NAMES` and `DIALOGUE`).

    Args:
        match: Rules of `missions.judge`.
    """

    match: Match = "clean"

    def score(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> list[Score]:
        """Return one score for each goal and name, and one of the dialogue.

        Raises:
            UnknownNameError: The task names a scorer of arguments that there is not.
            MissingExtraError: A scorer compares texts by words, and the library is absent.
        """
        right: list[float | None] = []

        def measure(position: int, goal: Goal) -> dict[str, Value]:
            values = self._values(task, trajectory, position, goal, tools)
            right.append(values["mission_accuracy"].value)
            return values

        scores = score_goals(task, trajectory, NAMES, measure)
        dialogue = _dialogue(task, trajectory, right)
        return [*scores, dialogue.score(task.id, trajectory.trial, 0, DIALOGUE)]

    def _values(
        self,
        task: Task,
        trajectory: Trajectory,
        position: int,
        goal: Goal,
        tools: Mapping[str, Tool],
    ) -> dict[str, Value]:
        reason = no_missions(goal)
        if reason:
            return dict.fromkeys(NAMES, undefined(reason))
        scorer = task.metadata.get("argument_scorer", "exact")
        offered = _offered(trajectory, position, goal, tools)
        steps = goal_steps(trajectory, position)
        verdicts = [
            judge(
                nodes_of(plan, self.match),
                turns_of(steps, plan, scorer == "exact"),
                self.match,
                tools=offered,
                scorer=scorer,
            )
            for plan in goal.plans or ()
        ]
        best = max(range(len(verdicts)), key=lambda plan: _merit(verdicts[plan]))
        verdict = verdicts[best]
        labels = {name: goal.labels[name] for name in _LABELS if name in goal.labels}
        details = {"plan": best, "match": self.match, **_told(verdict, tools), **labels}
        values = _of_verdict(verdict, details)
        if verdict.undecided:
            undecided = Value(None, 0.0, UNDECIDED, details=details)
            values |= dict.fromkeys(_OPEN[verdict.undecided], undecided)
        if verdict.label == "correct" and cut_calls(trajectory, position):
            cut = undefined("arguments were cut upstream")
            values |= dict.fromkeys(_OF_ARGUMENTS, cut)
        return values


def no_missions(goal: Goal) -> str:
    """Return why a goal is no mission; empty where it is one."""
    if goal.plans is None:
        return "no gold calls annotated"
    if not goal.plans:
        return "the goal has no plan"
    conditions = (m.condition for plan in goal.plans for m in (*plan.milestones, *plan.minefields))
    if not all(isinstance(condition, (Called, Asked, Replied)) for condition in conditions):
        return "the plan asks of the world, not of calls"
    return "" if not any(p.minefields for p in goal.plans) else "the plan has minefields"


def nodes_of(plan: Plan, match: Match = "clean") -> list[dict[str, JSON]]:
    """Return a plan as the nodes that `judge` takes; tools go by their ids.

    Args:
        plan: Of calls, questions and replies.
        match: Under `mmtb`, and where no tool is needed, every plan ends with the final answer.
    """
    nodes = [_node(milestone) for milestone in plan.milestones]
    closed = any(node["name"] == ANSWER for node in nodes)
    if not nodes or (match == "mmtb" and not closed):
        nodes.append({"name": ANSWER, "deps": list(range(len(nodes))), "arguments": {}})
    return nodes


def _node(milestone: Milestone) -> dict[str, JSON]:
    condition = milestone.condition
    deps = list(milestone.after)
    if isinstance(condition, Called):
        return {"name": condition.tool, "deps": deps, "arguments": _gold_arguments(condition)}
    name = ASK if isinstance(condition, Asked) else ANSWER
    return {"name": name, "deps": deps, "arguments": {}}


def _gold_arguments(called: Called) -> dict[str, JSON]:
    """Return a gold call's arguments, optional ones too, each with its first value."""
    gold = called.arguments or {}
    return {name: argument.values[0] for name, argument in gold.items() if argument.values}


def turns_of(steps: Sequence[Step], plan: Plan, alternatives: bool) -> list[Mapping[str, JSON]]:
    """Return what the agent did for a goal as the steps that `judge` takes.

    Args:
        steps: Of the goal.
        plan: Where it has neither a question nor a reply, texts are left out.
        alternatives: Calls that a gold call accepts are given its arguments.
    """
    spoken = any(not isinstance(m.condition, Called) for m in plan.milestones)
    gold = plan.calls() if alternatives else []
    turns = [
        turn
        for _, group in groupby(steps, key=lambda step: (step.turn, step.author))
        for turn in _turns(list(group), gold)
        if spoken or "tool_calls" in turn
    ]
    return turns if spoken else [*turns, _CLOSING]


def _turns(said: Sequence[Step], gold: Sequence[Called]) -> Iterator[Mapping[str, JSON]]:
    """Yield the turn that a reply is; nothing for what is not the agent's to the outside."""
    first = said[0]
    if party(first.author) != AGENT:
        return
    calls = [s.call for s in said if s.call and not (s.call.tool or "").startswith(CHAT_TOOLS)]
    if calls:
        yield {"tool_calls": [_call(call, gold) for call in calls]}
    elif first.call is None and first.result is None and first.recipient in _HEARERS:
        yield {"content": first.content}


def _call(call: ToolCall, gold: Sequence[Called]) -> dict[str, JSON]:
    arguments = call.raw if call.arguments is None else call.arguments
    for called in gold:
        if called.tool == call.tool and called.accepts(call.arguments):
            arguments = _gold_arguments(called)
            break
    return {"name": call.tool or call.name, "arguments": arguments}


def _offered(
    trajectory: Trajectory, position: int, goal: Goal, tools: Mapping[str, Tool]
) -> dict[str, JSON]:
    """Return the schemas of the tools that the agent had, by their ids."""
    had = trajectory.offered[position] if position < len(trajectory.offered) else goal.offered
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


def _dialogue(task: Task, trajectory: Trajectory, right: Sequence[float | None]) -> Value:
    failure = failure_reason(trajectory)
    if failure:
        return undefined(failure)
    if len(task.goals) < 2:
        return undefined("the task has one goal")
    if None in right:
        return undefined("a goal of the task is no mission, or its mission is not decided")
    return Value(float(all(right)), details={"missions": [int(value or 0) for value in right]})
