"""A small repository in the form of tau-bench: an airline of two bookings, and a shop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_TOOL = """
import json, os, socket, sys, time


class {title}:
    @staticmethod
    def invoke(data, {given}):
        {body}

    @staticmethod
    def get_info():
        names = {names}
        kinds = dict.fromkeys(names, {{"type": "string"}})
        schema = {{"type": "object", "properties": kinds, "required": names}}
        told = {{"name": "{name}", "description": "{name}.", "parameters": schema}}
        return {{"type": "function", "function": told}}
"""
_FIND = 'rows = data["{table}"]\n        if key not in rows:\n            return "Error: not found"'
AIRLINE = {
    "get_booking": (["key"], f"{_FIND}\n        return json.dumps(rows[key])"),
    "cancel_booking": (
        ["key"],
        f'{_FIND}\n        rows[key]["status"] = "cancelled"\n'
        '        data["users"][rows[key]["user_id"]]["paid"] -= 5\n'
        "        return json.dumps(rows[key])",
    ),
    "book": (
        ["key"],
        'data["bookings"][key] = {"user_id": "ann", "status": "new"}\n        return "booked"',
    ),
    "forget": (["key"], 'del data["bookings"][key]\n        return "gone"'),
    "spoil": (
        ["how"],
        'data["users"]["ann"]["paid"] = 0\n        {spoil}\n        return "spoilt"',
    ),
    "transfer_to_human_agents": (["summary"], 'return "Transfer successful"'),
}
RETAIL = {
    "get_order": (["key"], 'return json.dumps(data["orders"][key])'),
    "return_order": (["key"], 'data["orders"][key]["status"] = "returned"\n        return "done"'),
}
_SPOIL = """if how == "raise":
            raise LookupError("no such thing")
        elif how == "exit":
            sys.exit("left")
        elif how == "die":
            os._exit(3)
        elif how == "hang":
            time.sleep(60)
        elif how == "write":
            open("spoilt", "w").write("x")
        elif how == "delete":
            os.remove(__file__)
        elif how == "run":
            os.system("touch spoilt")
        elif how == "connect":
            socket.create_connection(("localhost", 9))
        elif how == "print":
            print("no answer")"""
_RAISING = "raise RuntimeError('a package was imported as a whole')\n"
DATA: dict[str, dict[str, Any]] = {
    "airline": {
        "bookings": {
            "B1": {"user_id": "ann", "status": "open"},
            "B2": {"user_id": "bob", "status": "open"},
        },
        "users": {"ann": {"paid": 100}, "bob": {"paid": 50}},
        "planes": {"P1": {"seats": 3}},
    },
    "retail": {"orders": {"#1": {"user_id": "cleo", "status": "delivered"}}},
}
POLICY = "Serve people well."


def action(name: str, **kwargs: Any) -> dict[str, Any]:
    """Return a gold call."""
    return {"name": name, "kwargs": kwargs}


def task(user: str, wants: str, *actions: dict[str, Any], outputs: tuple[str, ...] = ()) -> Any:
    """Return a task."""
    return {"user_id": user, "instruction": wants, "actions": actions, "outputs": [*outputs]}


TASKS = {
    "airline": [
        task(
            "ann", "Cancel B1.", action("get_booking", key="B1"), action("cancel_booking", key="B1")
        ),
        task("ann", "What is paid?", outputs=("1000 Dollars", "x")),
        task(
            "bob",
            "Cancel B9, else talk to somebody.",
            action("cancel_booking", key="B9"),
            action("transfer_to_human_agents", summary="B9"),
        ),
    ],
    "retail": [task("cleo", "Return #1.", action("return_order", key="#1"))],
}


def write_checkout(folder: Path) -> Path:
    """Write the repository; return the folder, which is to be on PYTHONPATH."""
    package = folder / "tau_bench"
    for domain, tools in (("airline", AIRLINE), ("retail", RETAIL)):
        home = package / "envs" / domain
        (home / "tools").mkdir(parents=True)
        (home / "data").mkdir()
        for place in (package, package / "envs", home):
            (place / "__init__.py").write_text(_RAISING, "utf-8")
        lines = []
        for name, (names, body) in tools.items():
            title = name.title().replace("_", "")
            body = body.replace("{table}", "bookings").replace("{spoil}", _SPOIL)
            text = _TOOL.format(
                title=title, name=name, names=names, given=", ".join(names), body=body
            )
            (home / "tools" / f"{name}.py").write_text(text, "utf-8")
            lines.append((f"from .{name} import {title}", title))
        listed = ", ".join(title for _, title in lines)
        text = "\n".join(line for line, _ in lines) + f"\nALL_TOOLS = [{listed}]\n"
        (home / "tools" / "__init__.py").write_text(text, "utf-8")
        (home / "data" / "all.json").write_text(json.dumps(DATA[domain]), "utf-8")
        (home / "data" / "__init__.py").write_text(
            "import json, pathlib\n\n\ndef load_data():\n"
            "    return json.loads(pathlib.Path(__file__).with_name('all.json').read_text())\n",
            "utf-8",
        )
        (home / "wiki.py").write_text(f"WIKI = {POLICY!r}\n", "utf-8")
        made = [
            # Upstream has a field that the class of its tasks does not know.
            f"Task(annotator='0', user_id={one['user_id']!r}, instruction={one['instruction']!r}, "
            f"outputs={one['outputs']!r}, actions=["
            + ", ".join(f"Action(**{each!r})" for each in one["actions"])
            + "])"
            for one in TASKS[domain]
        ]
        (home / "tasks_test.py").write_text(
            "from tau_bench.types import Action, Task\n\n"
            f"TASKS{'_TEST' * (domain == 'retail')} = [{', '.join(made)}]\n",
            "utf-8",
        )
    return folder


def said(role: str, content: str | None, *calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """Return a message of a recorded conversation."""
    made = [
        {
            "id": f"id{number}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for number, (name, arguments) in enumerate(calls)
    ]
    return {"role": role, "content": content, **({"tool_calls": made} if made else {})}


def brought(name: str, content: str) -> dict[str, Any]:
    """Return the message of a tool."""
    return {"role": "tool", "tool_call_id": "id0", "name": name, "content": content}


def conversation(number: int, trial: int, reward: float, *messages: Any) -> dict[str, Any]:
    """Return a record of a conversation about a task of the airline."""
    info = {"task": TASKS["airline"][number], "reward_info": {"reward": reward}}
    traj = [said("system", POLICY), *messages]
    return {"task_id": number, "trial": trial, "reward": reward, "info": info, "traj": traj}
