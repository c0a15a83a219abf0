from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from looped import every_case
from mobiles import ADD, ALARMS, RESERVE, TOOLS, called_goal, dialogue

from seal.benchmarks.dialogtool.metrics import GoalState
from seal.benchmarks.dialogtool.world import calls_of
from seal.core import (
    DataError,
    Execution,
    Score,
    Step,
    Stop,
    Task,
    ToolCall,
    ToolResult,
    Trajectory,
)

BOOK = {"restaurant_name": "Lark", "city": "Oakville", "time": "19:30"}
ALARM = {"new_alarm_time": "06:15", "new_alarm_name": "Train"}
TASK = dialogue(
    called_goal("Which alarms are there?", ALARMS, {}, []),
    called_goal("Book it", RESERVE, BOOK, []),
    called_goal("Try again", RESERVE, BOOK, [BOOK]),
    called_goal("Set it", ADD, ALARM, [ALARM]),
)


def played(
    *calls: tuple[str, dict[str, Any], list[Any] | None], stops: int = 4, reason: Any = "done"
) -> Trajectory:
    """Return a trajectory of calls; rows None: an error."""
    steps = []
    for number, (tool, arguments, rows) in enumerate(calls):
        call = ToolCall(f"call_{number}", TOOLS[tool].name, arguments, tool=tool)
        done = Execution(tool, arguments) if rows is not None else None
        error = None if rows is not None else {"kind": "not_confirmed", "message": "no"}
        result = ToolResult(call.id, json.dumps(rows), error, rows, done)
        steps += [
            Step(2 * number, "requester", "executor", call=call),
            Step(2 * number + 1, "executor", "responder", result=result),
        ]
    stop = Stop(reason, "server down" if reason == "error" else None)
    return Trajectory(TASK.id, 0, tuple(steps), stops=(stop,) * stops)


def scored(trajectory: Trajectory, task: Task = TASK) -> Score:
    return GoalState().score(task, trajectory, TOOLS)[0]


@every_case(
    ("calls", "value", "counts"),
    [
        ([(RESERVE, BOOK, [BOOK]), (ADD, ALARM, [ALARM])], 1.0, (2, 2, 0, 0)),
        ([(ADD, ALARM, [ALARM]), (RESERVE, BOOK, [BOOK])], 1.0, (2, 2, 0, 0)),
        ([(RESERVE, {**BOOK, "party_size": 2}, [BOOK]), (ADD, ALARM, [ALARM])], 1.0, (2, 2, 0, 0)),
        ([(RESERVE, {**BOOK, "city": " oakville"}, [BOOK]), (ADD, ALARM, [1])], 1.0, (2, 2, 0, 0)),
        ([(RESERVE, BOOK, [BOOK])], 0.0, (2, 1, 1, 0)),
        ([(RESERVE, BOOK, [BOOK]), (ADD, ALARM, None)], 0.0, (2, 1, 1, 0)),
        ([(RESERVE, BOOK, []), (ADD, ALARM, [ALARM])], 0.0, (2, 1, 1, 0)),
        ([(RESERVE, BOOK, [BOOK])] * 2 + [(ADD, ALARM, [ALARM])], 0.0, (2, 3, 0, 1)),
        ([(RESERVE, {**BOOK, "time": "20:00"}, [BOOK])], 0.0, (2, 1, 2, 1)),
        ([(ALARMS, {}, [])], 0.0, (2, 0, 2, 0)),
        ([], 0.0, (2, 0, 2, 0)),
    ],
)
def test_it_counts_what_was_booked_and_nothing_else(
    calls: list[Any], value: float, counts: tuple[int, ...]
) -> None:
    score = scored(played(*calls))
    assert score.value == value
    assert tuple(score.details.values()) == counts
    assert score.metric == "goal_state"


def test_goals_that_were_not_played_owe_nothing() -> None:
    assert scored(played((RESERVE, BOOK, [BOOK]), stops=3)).value == 1.0
    nothing = played(stops=2)
    assert scored(nothing).value == 1.0
    _, due = GoalState().score(TASK, nothing, TOOLS)
    assert (due.metric, due.value, due.reason) == (
        "goal_state_due",
        None,
        "nothing was to be booked",
    )
    assert GoalState().score(TASK, played(), TOOLS)[1].value == 0.0


def test_without_a_run_call_or_with_a_failed_server_there_is_no_value() -> None:
    whole = played((RESERVE, BOOK, [BOOK]))
    unrun = replace(whole, steps=whole.steps[:1])
    assert (scored(unrun).value, scored(unrun).weight) == (None, 0.0)
    assert "not run" in scored(unrun).reason
    taught = replace(played(), provenance={"seated": ["requester", "teacher"]})
    assert scored(taught).value is None
    assert "server down" in scored(played(stops=1, reason="error")).reason


def damaged(content: str) -> Task:
    """Return the dialogue, of which the result of the third turn is damaged."""
    goal = TASK.goals[2]
    steps = [replace(s, content=content) if s.result is not None else s for s in goal.reference]
    goals = (*TASK.goals[:2], replace(goal, reference=tuple(steps)), TASK.goals[3])
    return replace(TASK, goals=goals)


@pytest.mark.parametrize("content", ["", "[{", '{"city": "Oakville"}', "[1]", "[" * 100_000])
def test_a_damaged_recording_is_named_by_its_task(content: str) -> None:
    task = damaged(content)
    told = rf"task {TASK.id}: .*ReserveRestaurant \(call_0\).*; import the pool again"
    score = scored(played((RESERVE, BOOK, [BOOK])), task)
    assert score.value is None and re.match(told, score.reason)
    with pytest.raises(DataError, match=told):
        list(calls_of(task, TOOLS))


def test_tasks_of_other_worlds_have_no_score() -> None:
    assert GoalState().score(replace(TASK, world=""), played(), TOOLS) == []
