"""Further published judges as metrics: `tooleval`, `sopr` and `fac`.

- tooleval: ToolEval's pass rate. Whoever did not finish fails. Else solved passes; what is not, is
  asked whether the task can be solved, and `panel.passing` says what follows.
- sopr: StableToolBench's solvable pass rate. No question of solvability; a run that did not finish
  is unsolved; the mean over the runs of the judge, of which each unsure one counts a half.
- fac: final answer completeness (StableToolBench, MirrorAPI): request and answer alone.

To finish is to end a goal by oneself, with an answer or by giving up, and no limit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from seal.core.types import JSON, Goal, Score, Task, Tool, Trajectory
from seal.evaluation.goals import (
    Value,
    answer_of,
    goal_steps,
    made_calls,
    score_goals,
    stop_of,
)
from seal.evaluation.judges.measures import judged, value_of
from seal.evaluation.judges.panel import (
    Ballot,
    Panel,
    Seat,
    half_credit,
    majority,
    passing,
    printed_pass,
    solved_ballot,
    written_pass,
)

_FINISHED = ("done", "user_ended")
_GIVE_UP = "give_up_and_restart"


@dataclass(frozen=True, slots=True)
class SolvablePassRate:
    """StableToolBench's solvable pass rate, in [0, 1] for each goal."""

    panel: Panel
    name: ClassVar[str] = "sopr"

    def score(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> list[Score]:
        """Return one score for each goal; its details have the label of each run of the judge."""

        def measure(position: int, goal: Goal) -> Value:
            missing = unfinished(trajectory, position)
            if missing:
                return _settled("unsolved", missing)
            answer, steps = answer_of(trajectory, position), goal_steps(trajectory, position)
            poll = self.panel.ask(goal, answer, steps)
            leading = poll.leading()
            mean = sum(map(half_credit, poll.labels)) / len(poll.labels)
            return value_of(mean, leading, **poll.record())

        return judged_goals(task, trajectory, self.name, measure)


@dataclass(frozen=True, slots=True)
class ToolEvalPassRate:
    """ToolEval's pass rate: the chance that a goal is printed as passed.

    Details: the label of each judgement (pass, fail, unsure), `csv`: the chance that the csv has it
    as passed, where ties are tossed for, and `hallucination`: a tool was called that there is not.
    """

    panel: Panel
    name: ClassVar[str] = "tooleval"

    def score(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> list[Score]:
        """Return one score for each goal."""

        def measure(position: int, goal: Goal) -> Value:
            steps = goal_steps(trajectory, position)
            seen = {"hallucination": any(call.tool is None for call in made_calls(steps))}
            if not _finished(trajectory, position):
                return _settled("fail", "the run did not finish", **seen)
            answer = answer_of(trajectory, position)
            offered = _offered(trajectory, position, tools)

            def ballot(seat: Seat) -> Ballot:
                told = (
                    Ballot(seat.name, seat.vote, "unsolved", "there is no final answer")
                    if _empty(answer)
                    else solved_ballot(seat, goal, answer, steps)
                )
                solved = told.label or "unsure"
                if solved == "solved":
                    return replace(told, label=passing(solved, "solvable"))
                solvable = seat.judge.solvable(goal, offered)
                return replace(told, label=passing(solved, solvable), solvable=solvable)

            poll = self.panel.poll(ballot)
            leading = poll.leading()
            chance = {"csv": written_pass(poll.labels)}
            return value_of(printed_pass(poll.labels), leading, **chance, **seen, **poll.record())

        return judged_goals(task, trajectory, self.name, measure)


@dataclass(frozen=True, slots=True)
class Completeness:
    """Final answer completeness: 1.0 where the answer addresses all, 0.0 where it does not.

    Of several votes the majority; a tie counts a half. An answer of the judge with neither word
    counts 0 as published; here it is no verdict, and counted.
    """

    panel: Panel
    name: ClassVar[str] = "fac"

    def score(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> list[Score]:
        """Return one score for each goal."""

        def measure(position: int, goal: Goal) -> Value:
            answer = answer_of(trajectory, position)
            if answer is None or not answer.strip():
                return _settled("unsolved", "there is no final answer")

            def ballot(seat: Seat) -> Ballot:
                verdict = seat.judge.complete(goal, answer)
                return Ballot(seat.name, seat.vote, verdict.label, verdict.reason)

            poll = self.panel.poll(ballot)
            leading = poll.leading()
            tied = majority(poll.labels) is None
            right = 0.5 if tied else float(leading.label == "solved")
            return value_of(right, leading, **poll.record())

        return judged_goals(task, trajectory, self.name, measure)


def judged_goals(
    task: Task, trajectory: Trajectory, name: str, measure: Callable[[int, Goal], Value]
) -> list[Score]:
    """Return one score for each goal; a judge that fails or says nothing usable gives no value."""

    def guarded(position: int, goal: Goal) -> Mapping[str, Value]:
        return {name: judged(lambda: measure(position, goal))}

    return score_goals(task, trajectory, [name], guarded)


def unfinished(trajectory: Trajectory, position: int) -> str:
    """Return why there is nothing to judge in a goal; empty where there is."""
    if not _finished(trajectory, position):
        return "the run did not finish"
    return "there is no final answer" if _empty(answer_of(trajectory, position)) else ""


def _empty(answer: str | None) -> bool:
    return answer is None or not answer.strip() or _GIVE_UP in answer


def _finished(trajectory: Trajectory, position: int) -> bool:
    return stop_of(trajectory, position) in _FINISHED


def _offered(trajectory: Trajectory, position: int, tools: Mapping[str, Tool]) -> list[Tool]:
    ids = trajectory.offered[position] if position < len(trajectory.offered) else ()
    return [tools[tool_id] for tool_id in ids if tool_id in tools]


MEASURES = {measure.name: measure for measure in (ToolEvalPassRate, SolvablePassRate, Completeness)}
"""Published judges by the names of their metrics."""


def _settled(label: str, reason: str, **details: JSON) -> Value:
    """Return the value of a goal that no judge need be asked about."""
    return value_of(0.0, Ballot("", 0, label, reason), **details)
