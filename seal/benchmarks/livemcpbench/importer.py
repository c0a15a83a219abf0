"""LiveMCPBench: tasks over the tools of 70 MCP servers, and recorded runs.

| -T queries= | a task is | relevant is |
|---|---|---|
| tasks | a request | the tools that the annotators' steps name |
| route | a query that a recorded agent searched with | of what it found, what it called then |

Task id: `livemcpbench/TASK`, of a query `livemcpbench/TASK/NUMBER`. The pool `tasks` has the runs
as recordings. The goal of a query offers what was found: the retriever `given` is upstream's.

Source: Mo et al., "LiveMCPBench" (2025), and the files of icip-cas/LiveMCPBench.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seal.benchmarks.livemcpbench.trajectories import BENCHMARK, Run, Search, ServerTools
from seal.core import DataError, Goal, Task, Tool, check_name
from seal.pools.importer import Notes, Recorded
from seal.pools.reading.files import (
    LeftOut,
    expect,
    field_of,
    find,
    refuse_deep,
    usable,
    wrong_source,
)

QUERIES = ("tasks", "route")
_TOOLS, _TASKS = "tools.json", "all_annotations.json"
_RUNS = ("baseline/annotation", ".")
"""Folders of the source of which the first that has runs counts."""
_NUMBER = re.compile(r"^\s*\d+\s*[.)]\s*")
_TURNS = 50
"""Replies for each task: upstream sets no limit, and its recorded runs take up to 43."""
_MADE = ("file ", "edit ")
"""How an annotated answer begins that names a file to make; any other is what an answer states."""


def import_livemcpbench(
    source: Path, notes: Notes, *, queries: str = "tasks"
) -> Iterator[Tool | Task | Recorded]:
    """Yield the servers' tools, and tasks with recorded runs, or the queries of these runs.

    Args:
        source: Upstream's repository, or a folder with tools.json, all_annotations.json and, where
            there are any, files of runs (.json, .json.gz).
        notes: Gets the counts.
        queries: "tasks", or "route": what the recorded agent searched with.

    Raises:
        UnknownNameError: No such queries.
        DataError: A file is missing, or no record of it can be used; the text names file and place.
    """
    check_name("value of -T queries", queries, QUERIES)
    if source.is_file():
        raise wrong_source(source, f"a folder with {_TOOLS} and {_TASKS}", BENCHMARK)
    return _Import(source, notes, queries == "route").records()


class _Import:
    """One import: what was met so far."""

    def __init__(self, source: Path, notes: Notes, by_query: bool) -> None:
        self._source = source
        self._notes = notes
        self._by_query = by_query
        self._tools = ServerTools(find(source, [_TOOLS], BENCHMARK)[0], notes)
        self._tasks: set[str] = set()
        self._counts: Counter[str] = Counter()
        self._unknown: set[str] = set()
        self._queries: Counter[str] = Counter()

    def records(self) -> Iterator[Tool | Task | Recorded]:
        yield from self._tools
        tasks = list(usable(find(self._source, [_TASKS], BENCHMARK)[0], self._task, self._notes))
        runs = _runs(self._source)
        if self._by_query and not runs:
            raise wrong_source(self._source, "files of runs beside its tasks", BENCHMARK)
        if not self._by_query:
            yield from tasks
        for path in runs:
            yield from self._recorded(path)
        self._notes.facts["counts"] = dict(sorted(self._counts.items()))
        self._notes.facts["unknown_tools"] = sorted(self._unknown)
        self._notes.lacks |= {"gold_calls", "gold_arguments"}

    def _task(self, record: Any) -> Task:
        refuse_deep(record)
        task_id = f"{BENCHMARK}/{field_of(record, 'task_id', str)}"
        if task_id in self._tasks:
            raise DataError(f"the task_id {record['task_id']!r} stood before; give each its own")
        text, category = field_of(record, "Question", str), field_of(record, "category", str)
        annotated = field_of(record, "Annotator Metadata", dict)
        lines = field_of(annotated, "Tools", str).splitlines()
        names = [name for line in lines if (name := _NUMBER.sub("", line).strip())]
        meant = self._tools.meant(names)
        self._tasks.add(task_id)
        self._unknown.update(meant.unknown)
        self._counts["named_tools"] += len(names)
        self._counts["named_tools_unknown"] += len(meant.unknown)
        self._counts["named_tools_of_several_servers"] += len(meant.several)
        answer = expect(record.get("answers", ""), str, "answers").strip()
        stated = (answer,) if answer and not answer.startswith(_MADE) else ()
        return Task(
            task_id,
            BENCHMARK,
            (Goal(text, answers=stated, relevant=meant.tools),),
            tags={
                "group": category,
                "multi_tool": len(names) > 1,
                "multi_step": len(names) > 1,
                "tools_known": not meant.unknown,
                "servers_told": not meant.several,
            },
            metadata={
                "max_turns": _TURNS,
                "answers": answer,
                "file_name": str(record.get("file_name", "")),
                "steps": str(annotated.get("Steps", "")),
                "unknown_tools": list(meant.unknown),
            },
        )

    def _recorded(self, path: Path) -> Iterator[Task | Recorded]:
        name = path.name.partition(".json")[0]
        trials: Counter[str] = Counter()

        def read(record: Any) -> list[Task | Recorded]:
            refuse_deep(record)
            run = Run(record, self._tools)
            task_id = f"{BENCHMARK}/{run.task}"
            if task_id not in self._tasks:
                raise LeftOut("runs_without_task")
            self._counts.update(run.counts())
            if self._by_query:
                return [self._query(search, task_id) for search in run.searches()]
            told = {"recorded": name, "file": path.name}
            trajectory = run.trajectory(task_id, trials[task_id], told)
            trials[task_id] += 1
            return [Recorded(name, trajectory)]

        for made in usable(path, read, self._notes):
            yield from made

    def _query(self, search: Search, task_id: str) -> Task:
        """Return a query of a run as a task."""
        number = self._queries[task_id]
        self._queries[task_id] += 1
        goal = Goal(search.query, offered=search.hits, relevant=search.called)
        tags = {"led_to_call": bool(search.called), "multi_tool": len(search.called) > 1}
        return Task(f"{task_id}/{number}", BENCHMARK, (goal,), tags=tags)


def _runs(source: Path) -> list[Path]:
    """Return the files of runs; empty where there are none."""
    for folder in _RUNS:
        files = sorted((source / folder).glob("*.json*"))
        runs = [file for file in files if file.name not in (_TOOLS, _TASKS)]
        if runs:
            return runs
    return []
