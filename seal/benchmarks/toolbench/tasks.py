"""ToolBench's tasks: their index, by which runs join them, and their records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seal.benchmarks.toolbench.files import SourceFile
from seal.benchmarks.toolbench.gold import Gold
from seal.core.canonical import digest
from seal.core.errors import DataError, shortened
from seal.core.text import normalised
from seal.core.types import JSON, Goal, Task

BENCHMARK = "toolbench"


@dataclass(frozen=True, slots=True)
class TaskEntry:
    """What a run needs to know of its task."""

    id: str
    text: str
    """Normalised."""
    offered: tuple[str, ...]


class TaskIndex:
    """The tasks met so far, by group and query id."""

    def __init__(self) -> None:
        self._entries: defaultdict[tuple[str, str], list[TaskEntry]] = defaultdict(list)

    def find(self, group: str, query_id: str, text: str) -> TaskEntry | None:
        """Return the task of this id whose normalised text is the same."""
        wanted = normalised(text)
        entries = self._entries.get((group, query_id), ())
        return next((entry for entry in entries if entry.text == wanted), None)

    def add(self, group: str, query_id: str, text: str, offered: tuple[str, ...]) -> TaskEntry:
        """Keep a task that `find` does not know."""
        same_id = self._entries[group, query_id]
        plain = normalised(text)
        task_id = f"{group}/{query_id}" + (f"#{digest(plain)[:8]}" if same_id else "")
        entry = TaskEntry(task_id, plain, offered)
        same_id.append(entry)
        return entry

    def has(self, group: str, query_id: str) -> bool:
        """Tell whether any task has this id."""
        return (group, query_id) in self._entries

    def conflicts(self) -> int:
        """Count the tasks whose id was taken by another text."""
        return sum(len(entries) - 1 for entries in self._entries.values())


def relevant_tools(pairs: Any, offered: Mapping[tuple[str, str], str]) -> tuple[str, ...] | None:
    """Return the ids of the relevant tools; None where one is not among the offered."""
    if not isinstance(pairs, list) or not all(isinstance(p, list) and len(p) == 2 for p in pairs):
        raise DataError(f"relevant APIs: expected [tool, API] pairs, got {shortened(pairs)}")
    found = [offered.get((str(tool), str(api))) for tool, api in pairs]
    known = tuple(dict.fromkeys(tool for tool in found if tool is not None))
    return None if None in found else known


def make_task(
    task_id: str,
    text: str,
    group: str,
    offered: tuple[str, ...],
    relevant: tuple[str, ...] | None,
    gold: Gold | str | None,
    split: str,
) -> Task:
    """Return a task.

    Args:
        task_id: `group/query_id`.
        text: The query.
        group: Such as G1_category.
        offered: Tool ids of the record's list.
        relevant: None: not annotated.
        gold: Gold calls, or the reason why they were dropped; None: no training answer.
        split: "train", "test" or empty.
    """
    annotated = gold if isinstance(gold, Gold) else None
    goal = Goal(
        text,
        (annotated.plan,) if annotated else None,
        offered=offered,
        relevant=relevant or (),
        reference=annotated.reference if annotated else (),
    )
    return Task(
        task_id,
        BENCHMARK,
        (goal,),
        split=split,
        tags={"group": group, **_tags(relevant, annotated)},
        metadata={"gold_dropped": gold} if isinstance(gold, str) else {},
    )


def _tags(relevant: tuple[str, ...] | None, gold: Gold | None) -> dict[str, JSON]:
    """Return what is known of a task's shape; what is not annotated has no tag."""
    calls = gold.plan.calls() if gold else []
    tags: dict[str, JSON] = {}
    if relevant is not None or calls:
        distinct = len({*(relevant or ()), *(call.tool for call in calls)})
        tags["multi_tool"] = distinct > 1
        tags["multi_step"] = (len(calls) if calls else distinct) > 1
    if gold:
        tags |= {"dependent": gold.dependent, "parallel": gold.parallel}
    return tags


def split_of(file: SourceFile) -> str:
    """Return the split that a file's folder names; `instruction` holds the training queries."""
    if any(part.startswith("test") for part in file.name.split("/")[:-1]):
        return "test"
    return "train" if file.folders[1] == "instruction" or "answer" in file.folders else ""
