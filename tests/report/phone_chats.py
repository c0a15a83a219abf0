"""A chat in a small world with milestones, made by hand and measured for real."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from seal.core import (
    Execution,
    Goal,
    Milestone,
    Plan,
    Score,
    Step,
    Stop,
    Task,
    ToolCall,
    ToolResult,
    Trajectory,
)
from seal.core.conditions import MESSAGE
from seal.core.state_conditions import AllOf, StateHas, StateUnchanged
from seal.core.table_matching import Column
from seal.evaluation.scoring import Milestones

USER, AGENT, EXECUTOR = "user_simulator", "orchestrator", "executor"
ANN = {"id": "p-1", "name": "Ann", "phone": "+1"}
BOB = {"id": "p-2", "name": "Bob", "phone": "+2"}
START: dict[str, Any] = {"contacts": [ANN], "settings": [{"device": "d", "wifi": False}]}
REPLY = {"author": "agent", "recipient": USER, "content": "Bob is saved now"}

ADDED = Milestone(
    AllOf(
        (
            StateHas("contacts", ({"name": "Bob", "phone": "+2"},), "addition", since=-1),
            StateUnchanged("settings", since=-1),
        )
    )
)
TOLD = Milestone(StateHas(MESSAGE, (REPLY,), columns={"content": Column("rouge_l")}), (0,))
MINE = Milestone(
    StateHas(MESSAGE, ({"content": "secret"},), columns={"content": Column("contains")})
)
CLOCK = {"start": 0.0, "zone": "UTC", "first": 10, "step": 5}


def phone_task(task_id: str = "own/phone", **fields: Any) -> Task:
    goal = Goal("Save Bob, +2", (Plan((ADDED, TOLD), (MINE,)),))
    told = {"initial_state": START, "metadata": {"clock": CLOCK}, "world": "phone"}
    return Task(task_id, "own", **{"goals": (goal,), **told, **fields})


def phone_chat(
    task_id: str = "own/phone",
    phone: str = "+2",
    wifi: bool = False,
    said: str = "Bob is saved now",
) -> Trajectory:
    """A chat that saves Bob, maybe turns the wifi on beside, says something, and is ended."""
    call = ToolCall("call_0", "add", {"phone": phone}, tool="phone/add")
    tables: dict[str, Any] = {"contacts": [ANN, {**BOB, "phone": phone}]}
    if wifi:
        tables["settings"] = [{"device": "d", "wifi": True}]
    result = ToolResult("call_0", "p-2", executed=Execution("phone/add", {"phone": phone}))
    end = ToolCall("call_1", "end_conversation", {}, tool="phone/user/end_conversation")
    steps = (
        Step(0, USER, AGENT, "Save Bob, +2", state=START),
        Step(1, AGENT, EXECUTOR, call=call, turn=1),
        Step(2, EXECUTOR, AGENT, "p-2", result=result, turn=2, state=tables),
        Step(3, AGENT, USER, said, turn=3),
        Step(4, USER, EXECUTOR, call=end, turn=4),
        Step(5, EXECUTOR, USER, "null", result=ToolResult("call_1", "null"), turn=5),
    )
    return Trajectory(task_id, 0, steps, stops=(Stop("user_ended"),), answers=(said,))


def scores_of(task: Task, chat: Trajectory) -> list[Score]:
    return Milestones().score(task, chat, {})


def flag(task_id: str, step: int, name: str, *facts: str) -> Score:
    told = {"flag": name, "step": step, "said": "", "facts": list(facts)}
    return Score(task_id, 0, 0, "user_hallucination", 1.0, details={"flags": [told]})


def moved(chat: Trajectory, by: int) -> Trajectory:
    """The same chat with steps numbered from `by`, as of an imported recording."""
    return replace(chat, steps=tuple(replace(step, index=step.index + by) for step in chat.steps))
