"""Test records in Multi-Mission Tool Bench's format, with texts of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ASK = "ask_user_for_required_parameters"
ANSWER = "prepare_to_answer"


def function(name: str, required: tuple[str, ...] = ("at",), **properties: Any) -> dict[str, Any]:
    properties = properties or {
        "at": {"type": "string", "description": "The place."},
        "unit": {"type": "string", "description": "metric or imperial, by default metric"},
    }
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": f"{name} of a place",
            "parameters": {"type": "object", "properties": properties, "required": list(required)},
        },
    }


def node(
    idx: int, name: str, after: tuple[int, ...] = (), observation: Any = None, **arguments: Any
) -> dict[str, Any]:
    return {
        "idx": idx,
        "action": {"name": name, "arguments": arguments},
        "observation": {"height": idx} if observation is None else observation,
        "dependency_list": list(after),
    }


def answer(idx: int, *after: int, text: str = "That is all.", kind: str = "tool") -> dict[str, Any]:
    return node(idx, ANSWER, after, text, answer_type=kind)


def ask(idx: int, *after: int, told: str = "In Brest.", wanted: str = "at") -> dict[str, Any]:
    asked = node(
        idx, ASK, after, "Where is it?", tool_name="getTide", missing_required_parameters=[wanted]
    )
    return {**asked, "user_input": told}


SINGLE = ("How high is the tide in Brest?", "单", [node(0, "getTide", at="Brest"), answer(1, 0)])
CHAT = ("Why are there tides?", "拒", [answer(0, text="Because of the moon.", kind="chat")])
CLARIFY = (
    "How high is the tide?",
    "反",
    [ask(0), node(1, "getTide", (0,), at="Brest"), answer(2, 1)],
)
PARALLEL = (
    "Tide in Brest and in Vigo, please.",
    "多",
    [node(0, "getTide", at="Brest"), node(1, "getTide", at="Vigo"), answer(2, 0, 1)],
)
SERIAL = (
    "Find the harbour next to me, and its tide.",
    "多",
    [
        node(0, "getHarbour", (), {"harbour": "Vigo"}, at="here"),
        node(1, "getTide", (0,), at="Vigo"),
        answer(2, 0, 1),
    ],
)
MIXED = (
    "Harbour and wind here, then the tide at the harbour.",
    "多",
    [
        node(0, "getHarbour", (), {"harbour": "Vigo"}, at="here"),
        node(1, "getWind", (), {"knots": 12}, at="here", unit="metric"),
        node(2, "getTide", (0,), at="Vigo"),
        answer(3, 0, 1, 2),
    ],
)
TOOLS = [function("getTide"), function("getHarbour"), function("getWind")]

Given = tuple[str, str, list[dict[str, Any]]]


def messages(missions: tuple[Given, ...]) -> list[Any]:
    """Return the flat list: request, questions and answers, reply, and the marks between."""
    said: list[Any] = []
    for number, (text, _, nodes) in enumerate(missions):
        if number:
            said.append(f"===== mission {number + 1} =====")
        said.append({"role": "user", "content": f"User: {text}"})
        for one in nodes:
            name = one.get("action", {}).get("name")
            if name in (ASK, ANSWER):
                said.append({"role": "assistant", "content": one["observation"]})
            if name == ASK:
                said.append({"role": "user", "content": one["user_input"]})
    return said


def record(*missions: Given, tools: Any = None, prefix: str = "english_", **more: Any) -> Any:
    missions = missions or (SINGLE,)
    count = len(missions)
    return {
        "id": "d1",
        f"{prefix}task": [text for text, _, _ in missions],
        f"{prefix}answer_list": [nodes for _, _, nodes in missions],
        f"{prefix}messages": messages(missions),
        f"{prefix}tools": TOOLS if tools is None else tools,
        "env_info": "2024-03-05 14:22:00 星期二",
        "type": [kind for _, kind, _ in missions],
        "task_ids": [0] * count,
        "turn_type": [False] + [True] * (count - 1),
        "turn_subtypes": ["", *["省略成分"] * (count - 1)],
        **more,
    }


def write_records(path: Path, *records: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(one) for one in records), encoding="utf-8")
    return path
