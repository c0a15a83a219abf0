"""A pool read leniently: what cannot be read is a finding, and the rest goes on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from seal.core.errors import DataError
from seal.core.records import decode
from seal.core.types import Task, Tool
from seal.pools.importer import TASKS, TOOLS
from seal.pools.lint.findings import Finding

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
