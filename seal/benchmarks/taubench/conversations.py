"""Conversations that upstream's `run.py` recorded, as runs.

A file has a record for each task and trial: what was said (`traj`), the reward, and the task as it
stood on that day. The calls are made again in upstream's tools, for a record does not tell how the
data end: so each step has the rows that changed, and the chat is scored as one that was played
here. A result keeps the recorded text; those that come out otherwise now are counted.

The gold is that of the checkout. Conversations are counted whose record has another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from seal.benchmarks.taubench.world import TAUBENCH, TRANSFER, Shops
from seal.core import (
    JSON,
    DataError,
    Step,
    Stop,
    Tables,
    Task,
    ToolCall,
    ToolResult,
    Trajectory,
    shortened,
)
from seal.core.environment import Environment, Held
from seal.core.state_conditions import GOLD_ENDS
from seal.environments.gold_play import gold_ends
from seal.pools.importer import Notes, Recorded
from seal.pools.reading.files import (
    CountedFault,
    LeftOut,
    expect,
    field_of,
    find,
    json_of_text,
    refuse_deep,
    usable,
)
from seal.pools.reading.records import EXECUTOR, MANAGER, USER

OVER = "###STOP###"
"""How the user of upstream ends a chat."""
_TRIALS = 1_000_000
"""Of one task, at most."""


def recorded(
    source: Path, tasks: Mapping[str, Task], shops: Shops, notes: Notes
) -> Iterator[Recorded]:
    """Yield the conversations of a file, or of the files of a folder, each a recording.

    Args:
        source: The file or folder.
        tasks: By id.
        shops: Opens the data in which calls are made again.
        notes: Gets the counts.

    Raises:
        DataError: There is no such file, or none of its conversations can be used.
    """
    numbered = {
        (task.id.rpartition("/")[2], task.metadata["user_id"]): task for task in tasks.values()
    }
    facts: dict[str, JSON] = {}
    notes.facts["conversations"] = facts
    trials = 0
    for path in find(source, ["*.json", "*.json.gz"], f"conversations of {TAUBENCH.name}"):
        name = path.name.partition(".json")[0]
        made = _Recording(name, numbered, shops)
        for chat in usable(path, made.chat, notes):
            trials = max(trials, chat.trajectory.trial + 1)
            yield chat
        facts[name] = dict(sorted(made.counts.items()))
    notes.facts["trials"] = trials


class _Recording:
    """The conversations of one file."""

    def __init__(self, name: str, tasks: Mapping[tuple[str, JSON], Task], shops: Shops) -> None:
        self._name, self._tasks, self._shops = name, tasks, shops
        self.counts: Counter[str] = Counter()
        self._seen: set[tuple[str, int]] = set()
        self._ends: dict[str, dict[str, JSON]] = {}

    def chat(self, record: Any) -> Recorded:
        """Return a conversation.

        Raises:
            LeftOut: It failed upstream, or no task is its own.
            CountedFault: Its task and trial stood before.
            DataError: It is malformed.
        """
        refuse_deep(record)
        asked = field_of(record, "info", dict).get("task")
        if asked is None:
            raise LeftOut("conversations_that_failed")
        user = field_of(asked, "user_id", str)
        number = record.get("task_id")
        number = number if isinstance(number, str) else str(field_of(record, "task_id", int))
        task = self._tasks.get((number, user))
        if task is None:
            raise LeftOut("conversations_without_task")
        trial = field_of(record, "trial", int)
        if not 0 <= trial < _TRIALS:
            raise DataError(f"trial: expected 0 to {_TRIALS - 1:,}, got {shortened(trial)}")
        if (task.id, trial) in self._seen:
            raise CountedFault("given_twice", f"trial {trial} of {task.id} stood before")
        world = self._shops.open(task, trial)
        try:
            steps = list(_Steps(world, self._shops, task, self.counts).of(record))
        finally:
            if isinstance(world, Held):
                world.close()
        self._seen.add((task.id, trial))
        self.counts["conversations"] += 1
        self.counts["other_instructions"] += asked.get("instruction") != task.goals[0].text
        self.counts["other_gold"] += not _same_gold(asked, task)
        told = [step.content for step in steps if step.recipient == USER]
        return Recorded(
            self._name,
            Trajectory(
                task.id,
                trial,
                tuple(steps),
                offered=(tuple(task.goals[0].offered or ()),),
                stops=(Stop(_stop(record["traj"])),),
                answers=(told[-1] if told else None,),
                provenance={
                    "recording": self._name,
                    "reward": record.get("reward"),
                    GOLD_ENDS: self._gold(task),
                },
            ),
        )

    def _gold(self, task: Task) -> dict[str, JSON]:
        """Return how the data of a task end after gold; it is played once."""
        if task.id not in self._ends:
            found = gold_ends(task, lambda: self._shops.open(task, 0), self._shops.tools)
            self._ends[task.id] = {
                goal: {key: [end.to_json() for end in ends] for key, ends in of.items()}
                for goal, of in found.items()
            }
        return self._ends[task.id]


class _Steps:
    """Makes the steps of one conversation, whose calls are made again."""

    def __init__(self, world: Environment, shops: Shops, task: Task, counts: Counter[str]) -> None:
        self._world, self._counts = world, counts
        offered = (shops.tools[tool] for tool in (*(task.goals[0].offered or ()), *task.user_tools))
        self._ids = {tool.name: tool.id for tool in offered}
        self._shown: Tables = {}
        self._open: list[ToolCall] = []

    def of(self, record: Any) -> Iterator[Step]:
        """Yield the steps, of which the first shows how the data begin.

        Raises:
            DataError: A message is malformed.
        """
        index, calls = 0, 0
        for turn, message in enumerate(field_of(record, "traj", list)):
            for step in self._said(message, calls):
                calls += step.call is not None
                yield replace(step, index=index, turn=turn, state=self._changed() or None)
                index += 1
        if not index:
            raise DataError("traj: expected what was said, got no message")

    def _changed(self) -> Tables:
        """Return the tables that differ from those shown before."""
        before, self._shown = self._shown, self._world.states()[-1]
        return {name: rows for name, rows in self._shown.items() if rows != before.get(name)}

    def _said(self, message: Any, calls: int) -> Iterator[Step]:
        role = field_of(message, "role", str)
        text = expect(message.get("content") or "", str, "content")
        if role == "user":
            if words := text.replace(OVER, "").strip():
                yield Step(0, USER, MANAGER, words)
        elif role == "assistant":
            made = expect(message.get("tool_calls") or [], list, what="tool_calls")
            for asked in made[:1]:  # upstream makes the first alone
                call = self._call(f"call_{calls}", field_of(asked, "function", dict))
                self._open.append(call)
                yield Step(0, MANAGER, EXECUTOR, text, call)
            if not made:
                yield Step(0, MANAGER, USER, text)
        elif role == "tool":
            if not self._open:
                raise DataError("a message of a tool without a call before it")
            yield Step(0, EXECUTOR, MANAGER, text, result=self._result(self._open.pop(0), text))
        elif role != "system":
            raise DataError(f"role: expected system, user, assistant or tool, got {role!r}")

    def _call(self, call_id: str, function: Any) -> ToolCall:
        name, raw = field_of(function, "name", str), field_of(function, "arguments", str)
        try:
            given = json_of_text(raw)
        except ValueError:
            given = None
        arguments = given if isinstance(given, dict) else None
        return ToolCall(
            call_id, name, arguments, "" if arguments is not None else raw, self._ids.get(name)
        )

    def _result(self, call: ToolCall, text: str) -> ToolResult:
        (result,) = self._world.call([call])
        self._counts["calls"] += 1
        self._counts["results_that_differ"] += result.content != text
        return replace(result, content=text)


def _stop(messages: list[Any]) -> Any:
    last = messages[-1]
    if last.get("role") == "user" and OVER in str(last.get("content")):
        return "user_ended"
    return "done" if last.get("name") == TRANSFER else "max_turns"


def _same_gold(asked: Mapping[str, Any], task: Task) -> bool:
    """Tell whether a record has the gold of the task."""
    (milestone,) = (task.goals[0].plans or ())[0].milestones
    told, outputs = asked.get("actions") or [], asked.get("outputs") or []
    if not isinstance(told, list) or not isinstance(outputs, list):
        return False
    actions = [one for one in told if not isinstance(one, dict) or one.get("name") != TRANSFER]
    gold = [
        {"name": call.tool.rpartition("/")[2], "kwargs": call.canonical_arguments()}
        for call in milestone.condition.gold_calls()
    ]
    return actions == gold and tuple(outputs) == task.goals[0].answers
