"""Run by an interpreter that has pydantic: what tau-bench's own evaluator says of four courses.

    python taubench_child.py CHECKOUT DOMAIN OUT

Each task of the domain is played in upstream's environment: its gold calls, nothing, gold without
its last write, and gold with one write more. OUT gets a record for each, in the form of upstream's
conversations, with upstream's reward. It imports nothing of SEAL. Upstream's digest of the data is
replaced by one of their sorted JSON. It tells the same data apart, in a tenth of the time.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

COURSES = ("gold", "nothing", "the last write dropped", "one write more")
"""In the order of the records' trials."""
ADDRESS = {
    **{"address1": "1 Other Road", "address2": "", "city": "Salem", "state": "OR"},
    **{"country": "USA", "zip": "97301"},
}
MORE: dict[str, tuple[str, dict[str, Any]]] = {
    "airline": ("send_certificate", {"amount": 7}),
    "retail": ("modify_user_address", ADDRESS),
}
"""Domain to the write of the last course, for the task's user."""


class Quiet:
    """A user who ends the chat at the agent's first word."""

    def reset(self, instruction: str) -> str:
        """Say nothing first."""
        return ""

    def step(self, content: str) -> str:
        """End the chat."""
        return "###STOP###"

    def get_total_cost(self) -> float:
        """Cost nothing."""
        return 0.0


def environment(domain: str) -> Any:
    """Return upstream's environment of a domain, whose data are read once."""
    from tau_bench.envs import get_env

    env = get_env(domain, "human", "", "test", task_index=0)
    packed = pickle.dumps(env.data)
    env.data_load_func = lambda: pickle.loads(packed)
    env.get_data_hash = lambda: hashlib.sha256(
        json.dumps(env.data, sort_keys=True).encode()
    ).hexdigest()
    env.user = Quiet()
    return env


def courses(env: Any, number: int, domain: str) -> Iterator[list[tuple[str, dict[str, Any]]]]:
    """Yield the calls of each course of a task."""
    from tau_bench.types import Action

    env.reset(task_index=number)
    task = env.tasks[number].model_copy(deep=True)
    gold = [(one.name, one.kwargs) for one in task.actions if one.name not in env.terminate_tools]
    writes, before = [], env.data_load_func()
    for at, (name, given) in enumerate(gold):
        env.step(Action(name=name, kwargs=json.loads(json.dumps(given))))
        if env.data != before:
            writes.append(at)
            before = pickle.loads(pickle.dumps(env.data))
    last = writes[-1] if writes else None
    name, given = MORE[domain]
    yield gold
    yield []
    yield [call for at, call in enumerate(gold) if at != last]
    yield [*gold, (name, {"user_id": task.user_id, **given})]


def played(env: Any, number: int, calls: list[tuple[str, dict[str, Any]]], says: str) -> float:
    """Return upstream's reward of some calls and one message."""
    from tau_bench.types import Action

    env.reset(task_index=number)
    env.task = env.tasks[number].model_copy(deep=True)
    for name, given in calls:
        env.step(Action(name=name, kwargs=json.loads(json.dumps(given))))
    return float(env.step(Action(name="respond", kwargs={"content": says})).reward)


def record(
    number: int | str, trial: int, user: str, calls: list[tuple[str, dict[str, Any]]], says: str
) -> dict[str, Any]:
    """Return a course as a conversation; the results of its calls are left empty."""
    said: list[dict[str, Any]] = [{"role": "user", "content": "Hello."}]
    for name, given in calls:
        function = {"name": name, "arguments": json.dumps(given)}
        said.append({"role": "assistant", "content": None, "tool_calls": [{"function": function}]})
        said.append({"role": "tool", "name": name, "content": ""})
    said.append({"role": "assistant", "content": says})
    said.append({"role": "user", "content": "###STOP###"})
    info = {"task": {"user_id": user}}
    return {"task_id": number, "trial": trial, "info": info, "traj": said}


def main() -> None:
    """Write the records of a domain."""
    checkout, domain, out = sys.argv[1:]
    client = types.ModuleType("litellm")  # of models, of which none is asked
    client.completion = None  # type: ignore[attr-defined]
    sys.modules["litellm"] = client
    sys.path.insert(0, checkout)
    env, found = environment(domain), []
    for number, task in enumerate(env.tasks):
        for trial, calls in enumerate([*courses(env, number, domain)]):
            says = "It is: " + "; ".join(task.outputs) if COURSES[trial] != "nothing" else "No."
            told = record(number, trial, task.user_id, calls, says)
            found.append({**told, "reward": played(env, number, calls, says)})
    Path(out).write_text(json.dumps(found), "utf-8")


if __name__ == "__main__":
    main()
