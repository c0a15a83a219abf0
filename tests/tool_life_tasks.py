"""A small pool of dialogues in the form that `seal import dialogtool` writes, with a task of
creation, and the script of a server that plays the roles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from servers import Answer, Received, text

from seal.core import Goal, Milestone, Plan, Step, Task, Tool, ToolCall, ToolResult, write_records
from seal.core.conditions import Argument, Called

FIND = Tool(
    "dialogtool/Restaurants_1/FindRestaurants",
    "Restaurants_1_FindRestaurants",
    "Find restaurants by cuisine in a city",
    {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "City of the restaurant"},
            "cuisine": {"type": "string", "enum": ["Thai", "Greek"], "description": "Cuisine"},
            "outdoor_seats": {"type": "boolean", "description": "Whether there are seats outside"},
        },
        "required": ["city", "cuisine"],
        "additionalProperties": False,
    },
    "Restaurants",
    {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {name: {"type": "string"} for name in ("name", "city", "cuisine")},
        },
    },
    {
        "tool": "Restaurants_1",
        "api": "FindRestaurants",
        "app": "Restaurants",
        "service": "Restaurants: find one and reserve a table",
        "transactional": False,
        "base_required": [],
    },
)
ADD = Tool(
    "dialogtool/Alarm_1/AddAlarm",
    "Alarm_1_AddAlarm",
    "Set a new alarm",
    {
        "type": "object",
        "properties": {"alarm_time": {"type": "string", "description": "Time (hh:mm)"}},
        "required": ["alarm_time"],
        "additionalProperties": False,
    },
    "Alarm",
    {"type": "array", "items": {"type": "object", "properties": {"alarm_time": {}}}},
    {
        "tool": "Alarm_1",
        "api": "AddAlarm",
        "app": "Alarm",
        "service": "Manage alarms by getting and setting them",
        "transactional": True,
        "base_required": [],
    },
)
TOOLS = (FIND, ADD)
ROWS = [
    {"name": "Nopa", "city": "Oakland", "cuisine": "Thai"},
    {"name": "Zaya", "city": "Oakland", "cuisine": "Thai"},
    {"name": "Milos", "city": "Oakland", "cuisine": "Greek"},
]


def turn(said: str, act: str, reply: str, **labels: Any) -> Goal:
    """Return a turn on which no API is due."""
    given = {"act": act, "kind": "action", "state": {"slot_values": {}}, **labels}
    reference = (Step(0, "execution_manager", "user_simulator", reply),)
    return Goal(said, (Plan(),), offered=(), reference=reference, labels=given)


def asked(said: str, tool: Tool, reply: str, missing: list[str], **given: Any) -> Goal:
    """Return a turn on which the assistant asks for what an API lacks."""
    wanted = {name: Argument((value,)) for name, value in given.items()}
    wanted |= {name: Argument(("?",)) for name in missing}
    labels = {"kind": "request", "missing": missing, "state": {}}
    goal = turn(said, "request", reply, **labels, **_named(tool))
    plan = Plan((Milestone(Called(tool.id, wanted)),))
    return _with(goal, plan, goal.reference, tool)


def called(
    said: str, act: str, tool: Tool, arguments: dict[str, Any], rows: Any, reply: str, **labels: Any
) -> Goal:
    """Return a turn on which an API is called."""
    goal = turn(said, act, reply, kind="call", **_named(tool), **labels)
    gold = Called(tool.id, {name: Argument((value,)) for name, value in arguments.items()})
    content = json.dumps(rows)
    reference = (
        Step(
            0,
            "execution_manager",
            "executor",
            call=ToolCall("call_0", tool.name, arguments, tool=tool.id),
        ),
        Step(
            1,
            "executor",
            "execution_manager",
            content,
            result=ToolResult("call_0", content),
            turn=1,
        ),
        Step(2, "execution_manager", "user_simulator", reply, turn=2),
    )
    return _with(goal, Plan((Milestone(gold),)), reference, tool)


def _named(tool: Tool) -> dict[str, str]:
    return {"service": str(tool.source["tool"]), "api": str(tool.source["api"])}


def _with(goal: Goal, plan: Plan, reference: tuple[Step, ...], tool: Tool) -> Goal:
    return Goal(
        goal.text,
        (plan,),
        offered=(),
        relevant=(tool.id,),
        reference=reference,
        labels=goal.labels,
    )


def dialogue(number: int = 0) -> Task:
    """Return a dialogue of six turns: a search, a question about it, an alarm that is confirmed."""
    ring = {"alarm_time": "18:30"}
    goals = [
        asked(
            "I want to find a Thai restaurant.",
            FIND,
            "In which city?",
            ["city"],
            cuisine="Thai",
        ),
        called(
            "In Oakland please.",
            "offer",
            FIND,
            {"city": "Oakland", "cuisine": "Thai"},
            ROWS[:2],
            "Nopa in Oakland serves Thai food.",
        ),
        turn("Is there anything else?", "offer_alts", "There is Zaya too."),
        turn("Great. Set an alarm at 6:30 pm.", "confirm", "An alarm at 6:30 pm, correct?"),
        called(
            "Yes, that is correct.",
            "notify_success",
            ADD,
            ring,
            [ring],
            "It's set.",
            confirmed=ring,
        ),
        turn("No, that's all. Bye.", "goodbye", "Have a good day!"),
    ]
    goals[0] = Goal(**{**_fields(goals[0]), "offered": (FIND.id, ADD.id)})
    tags = {"group": "multi_app"}
    return Task(f"dialogtool/test/{number}", "dialogtool", tuple(goals), tags=tags, world="mobile")


def _fields(goal: Goal) -> dict[str, Any]:
    return {name: getattr(goal, name) for name in Goal.__dataclass_fields__}


def creation() -> Task:
    """Return the task of creating the restaurant search."""
    cases: list[Any] = [
        [{"city": "Oakland", "cuisine": "Thai"}, [0, 1]],
        [{"city": "Oakland", "cuisine": "Greek"}, [2]],
        [{"city": "Berkeley", "cuisine": "Greek"}, []],
    ]
    goal = Goal(
        "Write the function of FindRestaurants.",
        offered=(FIND.id,),
        labels={"task": "creation", "tool": FIND.id},
    )
    return Task(
        "dialogtool/create/Restaurants_1/FindRestaurants",
        "dialogtool",
        (goal,),
        tags={"group": "creation"},
        metadata={"table": ROWS, "cases": cases, "example": 0},
    )


def write_life_pool(folder: Path, dialogues: int = 1, play: object = None) -> Path:
    """Write a pool that says how it is played; return its folder."""
    write_records(folder / "tools.jsonl", TOOLS)
    write_records(folder / "tasks.jsonl", [*map(dialogue, range(dialogues)), creation()])
    apis = {
        FIND.id: {
            "rows": ROWS,
            "calls": [[{"city": "Oakland", "cuisine": "Thai"}, [0, 1], False]],
        },
        ADD.id: {"rows": [{"alarm_time": "18:30"}], "calls": []},
    }
    (folder / "mobile.json").write_text(json.dumps({"version": 1, "apis": apis}))
    how = {"team": "tool_life", "history": "gold", "format": "bracket"} if play is None else play
    (folder / "import.json").write_text(json.dumps({"benchmark": "dialogtool", "play": how}))
    return folder


def by_server(request: Received) -> Answer:
    """Answer as a model that knows what each prompt asks for, and always says the same."""
    system = request.body["messages"][0]["content"]
    if "choose exactly one action" in system:
        return text("[offer(it was searched for)]")
    if "opens the app" in system:
        return text("[Restaurants]")
    if "writes requests" in system:
        return text("[Restaurants: findrestaurants(#city='Oakland', #cuisine='?')]")
    if "good at Python" in system:
        return text("```python\ndef findrestaurants(table, **given):\n    return table\n```")
    if "restyle" in system:
        return text("Aye. Nopa.")
    return text("How about Nopa?")
