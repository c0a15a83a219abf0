"""Scenarios in the format of ToolSandbox's file, written by hand."""

import gzip
import json
from pathlib import Path
from typing import Any

NOON = 1741789800.0
"""2025-03-12T14:30:00Z."""
STATE: dict[str, Any] = {
    "SETTING": [{"device_id": "d", "cellular": True, "wifi": False}],
    "CONTACT": [{"person_id": "p", "name": "Ada L", "phone_number": "+15550100"}],
    "MESSAGING": [],
    "REMINDER": [
        {
            "reminder_id": "r",
            "content": "Buy rope",
            "creation_timestamp": NOON - 60,
            "reminder_timestamp": NOON + 3600,
        }
    ],
}


def constraint(db: str = "SETTING", **fields: Any) -> dict[str, Any]:
    return {
        "db": db,
        "measure": "snapshot",
        "ref": None,
        "target": [{"wifi": True}],
        "columns": {"wifi": {"measure": "exact"}},
        **fields,
    }


def traced(tool: str, **arguments: Any) -> dict[str, Any]:
    return constraint(
        "SANDBOX",
        target=[{"tool_trace": [{"tool_name": tool, "arguments": arguments}]}],
        columns={"tool_trace": {"measure": "tool_trace"}},
    )


def graph(*constraints: dict[str, Any]) -> dict[str, Any]:
    """Return a chain of nodes, each with one constraint."""
    nodes = [{"constraints": [each], "guardrail_dbs": list(STATE)} for each in constraints]
    return {"nodes": nodes, "edges": [[n, n + 1] for n in range(len(nodes) - 1)]}


def scenario(name: str = "wifi_on", **fields: Any) -> dict[str, Any]:
    return {
        "id": name,
        "base": "wifi_on",
        "augmentation": "no_distraction_tools",
        "categories": ["SINGLE_TOOL_CALL", "SINGLE_USER_TURN", "NO_DISTRACTION_TOOLS"],
        "max_messages": 30,
        "tools": {
            "allow": ["set_wifi_status", "end_conversation"],
            "deny": None,
            "augmentations": [],
            "agent_tools": [["set_wifi_status", "set_wifi_status"]],
        },
        "initial_state": STATE,
        "first_user_index": 15,
        "messages": [{"index": 15, "sender": "USER", "content": "Turn on wifi"}],
        "milestones": graph(constraint()),
        "minefields": {"nodes": [], "edges": []},
        "time_dependent": {"/initial_state/REMINDER/0/creation_timestamp": {"now_offset_s": -60.0}},
        **fields,
    }


def scrambled(name: str, *kinds: str, seen: str, real: str, **fields: Any) -> dict[str, Any]:
    offer = {
        "allow": [real],
        "deny": None,
        "augmentations": list(kinds),
        "agent_tools": [[seen, real]],
    }
    return scenario(name, augmentation=name, tools=offer, **fields)


def write(folder: Path, *records: Any) -> Path:
    folder.mkdir(exist_ok=True)
    lines = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    path = folder / "scenarios_core.jsonl.gz"
    path.write_bytes(gzip.compress(lines))
    return path


def conversation(variant: str = "oracle", **fields: Any) -> dict[str, Any]:
    """Return a recorded conversation in which wifi is turned on."""
    executor = "EXECUTION_ENVIRONMENT"
    call = {"name": "set_wifi_status", "arguments": {"on": True}}
    said = [
        {"sender": "USER", "recipient": "AGENT", "content": "Turn on wifi"},
        {
            "sender": "AGENT",
            "recipient": executor,
            "content": "set_wifi_status(on=True)",
            "call_id": "c",
            "agent_tool_name": "set_wifi_status",
            "tool_call": call,
        },
        {"sender": executor, "recipient": "AGENT", "content": "None", "call_id": "c"},
        {"sender": "AGENT", "recipient": "USER", "content": "Wifi is on"},
        {
            "sender": "USER",
            "recipient": executor,
            "content": "end_conversation()",
            "tool_call": {"name": "end_conversation", "arguments": {}},
        },
        {"sender": executor, "recipient": "USER", "content": "None"},
    ]
    return {
        "id": f"wifi_on#{variant}.0",
        "base": "wifi_on",
        "variant": variant,
        "first_user_index": 15,
        "messages": [{**message, "index": 15 + n} for n, message in enumerate(said)],
        "snapshots": {},
        **fields,
    }


def write_conversations(folder: Path, *records: Any) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "vectors_public.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path
