"""A small pool of two apps with recorded calls, in the form that an import writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from seal.core import Goal, Milestone, Plan, Step, Task, Tool, ToolCall, ToolResult
from seal.core.conditions import Argument, Called

TABLES = "dialogtool/Restaurants_1/FindRestaurants"
RESERVE = "dialogtool/Restaurants_1/ReserveRestaurant"
ALARMS = "dialogtool/Alarm_1/GetAlarms"
ADD = "dialogtool/Alarm_1/AddAlarm"
BALANCE = "dialogtool/Banks_1/CheckBalance"


def _tool(
    tool_id: str,
    required: dict[str, str],
    optional: dict[str, str] | None = None,
    results: tuple[str, ...] = (),
    transactional: bool = False,
    base: tuple[str, ...] = (),
    defaults: dict[str, Any] | None = None,
) -> Tool:
    service, api = tool_id.split("/")[1:]
    properties: dict[str, Any] = {
        name: {"type": kind} for name, kind in {**required, **(optional or {})}.items()
    }
    for name, value in (defaults or {}).items():
        properties[name] = {**properties[name], "default": value}
    return Tool(
        tool_id,
        f"{service}_{api}",
        api,
        {
            "type": "object",
            "properties": properties,
            "required": list(required),
            "additionalProperties": False,
        },
        service.rpartition("_")[0],
        {
            "type": "array",
            "items": {"type": "object", "properties": {slot: {} for slot in results}},
        },
        {
            "tool": service,
            "api": api,
            "app": service.rpartition("_")[0],
            "transactional": transactional,
            "base_required": list(base),
        },
    )


TOOLS = {
    tool.id: tool
    for tool in (
        _tool(
            TABLES,
            {"city": "string", "cuisine": "string"},
            {"live_music": "boolean"},
            ("restaurant_name", "city", "cuisine", "live_music"),
        ),
        _tool(
            RESERVE,
            {"restaurant_name": "string", "city": "string", "time": "string"},
            {"date": "string", "party_size": "integer"},
            ("restaurant_name", "city", "time", "date", "party_size"),
            transactional=True,
            defaults={"date": "2019-03-01", "party_size": 2},
        ),
        _tool(ALARMS, {}, {}, ("alarm_time", "alarm_name")),
        _tool(
            ADD,
            {"new_alarm_time": "string"},
            {"new_alarm_name": "string"},
            ("new_alarm_time", "new_alarm_name"),
            transactional=True,
            defaults={"new_alarm_name": "New alarm"},
        ),
        _tool(
            BALANCE,
            {"user": "string", "pin": "string", "account": "string"},
            {},
            ("account", "balance"),
            base=("user", "pin"),
        ),
    )
}
ROWS = [
    {"restaurant_name": "Lark", "city": "Oakville", "cuisine": "Thai", "live_music": True},
    {"restaurant_name": "Moss", "city": "Oakville", "cuisine": "Thai", "live_music": False},
    {"restaurant_name": "Pine", "city": "Ashford", "cuisine": "Greek", "live_music": False},
]
RECORDED = {
    "version": 1,
    "apis": {
        TABLES: {
            "rows": ROWS,
            "calls": [
                [{"city": "Oakville", "cuisine": "Thai"}, [1, 0], True],
                [{"city": "Ashford", "cuisine": "Greek"}, [2], False],
            ],
        },
        ALARMS: {
            "rows": [{"alarm_time": "07:00", "alarm_name": "Run"}],
            "calls": [[{}, [0], False]],
        },
        BALANCE: {
            "rows": [{"account": "savings", "balance": 120.5}],
            "calls": [[{"user": "kim", "pin": "4711", "account": "savings"}, [0], False]],
        },
    },
}


def write_recorded(folder: Path, content: Any = None) -> Path:
    """Write the recorded calls of a pool into its folder, and return the folder."""
    path = folder / "mobile.json"
    path.write_text(json.dumps(RECORDED if content is None else content), encoding="utf-8")
    return folder


def called_goal(
    text: str, tool: str, arguments: dict[str, Any], rows: list[Any], **labels: Any
) -> Goal:
    """Return a turn on which the recorded dialogue made a call."""
    call = ToolCall("call_0", TOOLS[tool].name, arguments, tool=tool)
    accepted = {name: Argument((value,)) for name, value in arguments.items()}
    return Goal(
        text,
        plans=(Plan((Milestone(Called(tool, accepted)),)),),
        reference=(
            Step(0, "execution_manager", "executor", call=call),
            Step(
                1,
                "executor",
                "execution_manager",
                json.dumps(rows),
                result=ToolResult("call_0", json.dumps(rows)),
                turn=1,
            ),
            Step(2, "execution_manager", "user_simulator", "Here you are.", turn=2),
        ),
        labels={"kind": "call", "service": tool.split("/")[1], **labels},
    )


def dialogue(*goals: Goal) -> Task:
    """Return a recorded dialogue."""
    return Task("dialogtool/test/1_00000", "dialogtool", goals, world="mobile")
