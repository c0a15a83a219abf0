"""What lint can find, one finding, and a pool read leniently.

What cannot be read of a pool is a finding, and the rest goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

from seal.core import JSON, DataError, Task, Tool
from seal.core.records import decode
from seal.pools.importer import TASKS, TOOLS

Severity = Literal["error", "warning", "info"]

KINDS: dict[str, tuple[Severity, str]] = {
    "malformed_line": ("error", "a line that is no record"),
    "duplicate_id": ("error", "an id that stands twice"),
    "no_goal": ("error", "a task without a goal"),
    "missing_tool": ("error", "a tool that a task names and the pool lacks"),
    "broken_schema": ("warning", "a schema that accepts anything in a place, as it is wrong there"),
    "invalid_call": ("error", "a gold call that its tool's schema refuses"),
    "unmeasurable_plan": ("error", "a plan by which nothing can be measured"),
    "refused_world": ("warning", "a world that is code and was not loaded; nothing of it is known"),
    "ungrounded_value": ("warning", "a gold value that nothing said before holds"),
    "conflicting_labels": ("warning", "one query text with different relevant tools"),
    "repeated_query": ("info", "a query text that stands several times"),
    "duplicate_tool": ("warning", "tools with one name and one description"),
    "near_duplicate_tool": ("warning", "two tools whose documents are nearly the same"),
    "empty_description": ("warning", "a tool without a description"),
    "placeholder_description": ("warning", "a description that only holds a place"),
    "name_description": ("warning", "a description that only says the name"),
    "short_description": ("info", "a description of at most 15 characters"),
}
"""Kind of finding to its severity and what it is, in the order of the table.

error: something that cannot be played or scored as it stands; warning: something that makes a
figure doubtful; info: something to know.
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or doubtful."""

    kind: str
    """One of `KINDS`."""
    message: str
    tasks: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    evidence: dict[str, JSON] = field(default_factory=dict)

    @property
    def severity(self) -> Severity:
        """error, warning or info."""
        return KINDS[self.kind][0]


Record = TypeVar("Record", Tool, Task)


@dataclass(frozen=True, slots=True)
class ReadPool:
    """What could be read; of two records of one id the first."""

    tools: dict[str, Tool]
    tasks: dict[str, Task]
    findings: tuple[Finding, ...]


def read_leniently(folder: Path) -> ReadPool:
    """Return a pool folder's tools and tasks, and what is wrong with its lines."""
    findings: list[Finding] = []
    tools = _by_id(folder / TOOLS, Tool, findings)
    tasks = _by_id(folder / TASKS, Task, findings)
    findings += [
        Finding("no_goal", f"task {task.id!r} has no goal", (task.id,))
        for task in tasks.values()
        if not task.goals
    ]
    return ReadPool(tools, tasks, tuple(findings))


def _by_id(path: Path, kind: type[Record], findings: list[Finding]) -> dict[str, Record]:
    found: dict[str, Record] = {}
    for number, record in _records(path, kind, findings):
        if record.id in found:
            where = {"file": path.name, "line": number}
            message = f"{path.name}, line {number}: the id {record.id!r} stands twice"
            ids = {"tools" if kind is Tool else "tasks": (record.id,)}
            findings.append(Finding("duplicate_id", message, evidence=where, **ids))
        else:
            found[record.id] = record
    return found


def _records(
    path: Path, kind: type[Record], findings: list[Finding]
) -> Iterator[tuple[int, Record]]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                yield number, decode(line, kind)
            except DataError as error:
                where = {"file": path.name, "line": number}
                message = f"{path.name}, line {number}: {error}"
                findings.append(Finding("malformed_line", message, evidence=where))
