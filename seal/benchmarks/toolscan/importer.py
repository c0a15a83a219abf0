"""ToolScan (SpecTool): importer.

Read are the API lists (`seal.benchmarks.toolscan.tools`) and, where they lie beside, queries in
upstream's input format (`seal.benchmarks.toolscan.queries`), which upstream does not publish: then
the pool has no tasks. Tool id: `toolscan/TOOLSET/API`, and the environment where it has no
toolsets; an environment is a tool's category.

Source: "ToolScan" (Kokane et al., 2024), and the lists and loader of Shirley-Kokane/ToolScan.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from seal.benchmarks.toolscan.queries import Queries
from seal.benchmarks.toolscan.tools import ApiLists
from seal.core.errors import UsageError
from seal.core.types import Task, Tool
from seal.pools.categories import PSEUDO_ACTIONS
from seal.pools.importer import Notes
from seal.pools.reading.records import find

BENCHMARK = "toolscan"


def import_toolscan(source: Path, notes: Notes, *, pseudo: bool = False) -> Iterator[Tool | Task]:
    """Yield the tasks of ToolScan's queries, if there are any, then the APIs of its lists.

    Args:
        source: The file tools.json, or a folder above it and above any `*.jsonl` of queries.
        notes: Gets the counts.
        pseudo: True: the pseudo actions are tools of the pool too, which no task offers.

    Raises:
        UsageError: `pseudo` is neither true nor false.
        DataError: The list is missing or malformed, or a file has no usable record; the text names
            file and record.
    """
    if not isinstance(pseudo, bool):
        raise UsageError(f"-T pseudo={pseudo}: expected true or false")
    return _records(source, notes, pseudo)


def _records(source: Path, notes: Notes, pseudo: bool) -> Iterator[Tool | Task]:
    lists = ApiLists(BENCHMARK, pseudo, notes)
    for path in find(source, ["tools.json"], BENCHMARK):
        lists.read(path)
    queries = Queries(lists.environments(), BENCHMARK, notes)
    for path in query_files(source):
        yield from queries.read(path)
    yield from lists
    notes.facts["counts"] = {**lists.counts(), **queries.counts()}
    notes.facts[PSEUDO_ACTIONS] = dict(sorted(lists.pseudo_actions.items()))
    if not queries.tasks:
        notes.lacks.add("tasks")
    else:
        notes.facts["gold_violations"] = queries.violations()


def query_files(source: Path) -> list[Path]:
    """Return the files of queries in a source, sorted; a single file has none beside it."""
    return sorted(path for path in source.rglob("*.jsonl") if path.is_file())
