"""Run by an interpreter that has pydantic: what tau2-bench's own evaluator says of four courses.

    python tau2_child.py FOLDER DOMAIN OUT

FOLDER is `tau2` of a checkout. The courses of each task are those of `taubench_child`. OUT gets a
record for each, in the form of tau-bench's conversations, with upstream's reward. It imports
nothing of SEAL. Modules that only ask models or draw tables are replaced by empty ones. The data
are read once and unpacked for each environment.
"""

from __future__ import annotations

import gc
import json
import os
import pickle
import sys
import types
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from taubench_child import COURSES, MORE, record

Calls = list[tuple[str, dict[str, Any]]]


def load(folder: Path, domain: str) -> Any:
    """Return the module of a domain's environment; no `__init__` of the package is run."""
    os.environ.setdefault("LOGURU_LEVEL", "ERROR")
    inner = ("data_model", "domains", f"domains.{domain}", "environment", "evaluator")
    for name in ("tau2", *(f"tau2.{one}" for one in inner)):
        package = types.ModuleType(name)
        package.__path__ = [str(folder.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package
    for name, has in (
        ("dotenv", {"load_dotenv": lambda *given, **named: False}),
        ("pandas", {"DataFrame": None}),
        ("tau2.registry", {"registry": None}),
        ("tau2.utils.llm_utils", {"generate": None}),
    ):
        module = types.ModuleType(name)
        vars(module).update(has)
        sys.modules[name] = module
    return import_module(f"tau2.domains.{domain}.environment")


def hashes(env: Any) -> tuple[Any, Any]:
    """Return the digests of all data."""
    return env.get_db_hash(), env.get_user_db_hash()


class Judge:
    """Plays and rewards the courses of a domain.

    Args:
        folder: `tau2` of a checkout.
        domain: `airline` or `retail`.
    """

    def __init__(self, folder: Path, domain: str) -> None:
        self.home, self.domain = load(folder, domain), domain
        env = self.home.get_environment()
        phone = None if env.user_tools is None else env.user_tools.db
        self.packed = pickle.dumps((env.tools.db, phone))
        evaluator: Any = import_module("tau2.evaluator.evaluator")
        evaluator.registry = self  # which finds the environment of a domain
        self.evaluator = evaluator
        self.said: Any = import_module("tau2.data_model.message")
        self.runs: Any = import_module("tau2.data_model.simulation")

    def get_env_constructor(self, domain: str) -> Any:
        """Return what opens upstream's environment, whose data are read once."""

        def opened(solo_mode: bool = False) -> Any:
            db, phone = pickle.loads(self.packed)
            also = {} if phone is None else {"user_db": phone}
            return self.home.get_environment(db=db, **also)

        return opened

    def courses(self, task: Any) -> Iterator[Calls]:
        """Yield the calls of each course of a task."""
        env = self.begun(task)
        users = getattr(env.tools.db, "users", {})
        gold = [(one.name, one.arguments) for one in task.evaluation_criteria.actions or []]
        writes, named, before = [], "", hashes(env)
        for at, (name, given) in enumerate(gold):
            text = self.called(env, str(at), name, given)[1].content
            found = [one for one in (text, *map(str, given.values())) if one in users]
            named = named or next(iter(found), "")
            is_write = env.user_tools is not None or env.tools.tool_type(name).value == "write"
            if is_write and (now := hashes(env)) != before:
                writes.append(at)
                before = now
        last = writes[-1] if writes else None
        yield gold
        yield []
        yield [call for at, call in enumerate(gold) if at != last]
        if self.domain == "telecom":
            yield [*gold, ("toggle_airplane_mode", {})]
        else:
            name, given = MORE[self.domain]
            yield [*gold, (name, {"user_id": named or next(iter(users)), **given})]

    def begun(self, task: Any) -> Any:
        """Return upstream's environment as a task begins."""
        env, begins = self.get_env_constructor(self.domain)(), task.initial_state
        if begins is not None:
            env.set_state(None, begins.initialization_actions, [])
        return env

    def called(self, env: Any, call_id: str, name: str, given: dict[str, Any]) -> list[Any]:
        """Return the messages of a call and of its result."""
        is_users = env.user_tools is not None and env.user_tools.has_tool(name)
        who = "user" if is_users else "assistant"
        call = self.said.ToolCall(id=call_id, name=name, arguments=given, requestor=who)
        kind = self.said.UserMessage if is_users else self.said.AssistantMessage
        return [kind(role=who, content=None, tool_calls=[call]), env.get_response(call)]

    def reward(self, task: Any, calls: Calls, says: str) -> float:
        """Return upstream's reward of some calls and one message."""
        env = self.begun(task)
        messages = [self.said.UserMessage(role="user", content="Hello.")]
        for at, (name, given) in enumerate(calls):
            messages += self.called(env, str(at), name, json.loads(json.dumps(given)))
        messages.append(self.said.AssistantMessage(role="assistant", content=says))
        run = self.runs.SimulationRun(
            id="run",
            task_id=task.id,
            timestamp="",
            start_time="",
            end_time="",
            duration=0.0,
            termination_reason=self.runs.TerminationReason.USER_STOP,
            messages=messages,
        )
        kind = self.evaluator.EvaluationType.ALL
        info = self.evaluator.evaluate_simulation(run, task, kind, False, self.domain)
        return float(info.reward)


def main() -> None:
    """Write the records of a domain."""
    folder, domain, out = sys.argv[1:]
    gc.disable()  # unpacking makes no cycles, and takes half the time so
    judge, found = Judge(Path(folder), domain), []
    for task in judge.home.get_tasks():
        facts = task.evaluation_criteria.communicate_info or []
        for trial, calls in enumerate(judge.courses(task)):
            says = "It is: " + "; ".join(facts) if COURSES[trial] != "nothing" else "No."
            told = record(task.id, trial, "", calls, says)
            found.append({**told, "reward": judge.reward(task, calls, says)})
    Path(out).write_text(json.dumps(found), "utf-8")


if __name__ == "__main__":
    main()
