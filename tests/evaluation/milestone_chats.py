"""Small chats in a world of two tables, for tests of milestones."""

from dataclasses import replace
from typing import Any

from seal.core import Execution, Step, ToolCall, ToolResult, Trajectory
from seal.core.conditions import MESSAGE
from seal.core.state_conditions import StateHas
from seal.core.table_matching import Column

USER, LEAD, MANAGER, EXECUTOR = "user_simulator", "orchestrator", "execution_manager", "executor"
A, B = {"id": 1, "text": "a"}, {"id": 2, "text": "b"}
START: dict[str, Any] = {"notes": [A], "lamps": [{"id": 1, "on": False}]}


def says(text: str, by: str = LEAD, to: str = USER) -> Step:
    return Step(0, by, to, text)


def asks(text: str = "Please") -> Step:
    return Step(0, USER, LEAD, text)


def does(tool: str, turn: int = 0, value: Any = None, **tables: Any) -> list[Step]:
    """A call and its result, which leaves some tables changed."""
    call = ToolCall("", tool, {}, tool=tool)
    result = ToolResult("", str(value), None, value, Execution(tool, {}))
    return [
        Step(0, MANAGER, EXECUTOR, call=call, turn=2 * turn),
        Step(0, EXECUTOR, MANAGER, str(value), result=result, turn=2 * turn + 1, state=tables),
    ]


def chat(*steps: Step, start: Any = START) -> Trajectory:
    """A trajectory of the steps in order, the first of which has the whole world."""
    numbered = [replace(step, index=number) for number, step in enumerate(steps)]
    return Trajectory("t", 0, (replace(numbered[0], state=start), *numbered[1:]))


def reply(text: str, measure: Any = "exact") -> StateHas:
    row = {"author": "agent", "recipient": USER, "content": text}
    return StateHas(MESSAGE, (row,), columns={"content": Column(measure)})
