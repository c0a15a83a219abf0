"""AnyToolBench: queries over ToolBench's APIs, with the names of the APIs that answer them.

The file names APIs and does not describe them. Their documents are taken from query files of
StableToolBench, or of ToolBench if only that lies beside the source. All APIs of those files make
the pool. Names are compared by ToolBench's rule, and of several documents that of the same category
counts. A gold API without a document joins the pool by its names alone, with `source["document"]`
false and open parameters.

Source: Du et al., "AnyTool" (ICML 2024), and the files of dyabel/AnyTool.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from seal.benchmarks.toolbench.tasks import SourceFile, find_files
from seal.benchmarks.toolbench.tools import ApiTable, api_name, tool_name
from seal.core import JSON, DataError, Goal, Step, Task, Tool, UsageError, shortened
from seal.pools.importer import Notes
from seal.pools.reading.files import (
    LeftOut,
    field_of,
    find,
    json_file,
    listed,
    usable,
    wrong_source,
)
from seal.pools.reading.records import LEAD, USER, TaskIds

BENCHMARK = "anytool"
SIBLINGS = ("stabletoolbench", "toolbench")
"""Folders beside the source, whatever their case, of which the first that exists has the
documents; the other is not read."""

_QUERIES = "anytoolbench.json"
_UNSOLVABLE = "unsolvable.json"
_PARTS = ("category", "tool", "api")
_NO_DOCUMENT: dict[str, JSON] = {"required_parameters": [], "optional_parameters": []}


def import_anytool(
    source: Path, notes: Notes, *, documents: str | list[str] = "beside"
) -> Iterator[Tool | Task]:
    """Yield the tasks and tools of AnyToolBench.

    Args:
        source: The file anytoolbench.json, or a folder above it, in which unsolvable.json says
            which queries upstream found unsolvable.
        notes: Gets the counts, and the folders of documents that were read.
        documents: A path, or several, to ToolBench's or StableToolBench's query files; "beside":
            the first folder of `SIBLINGS` beside the source, if any; "none": names alone.

    Raises:
        UsageError: No such path.
        DataError: A file is missing or malformed; the text names file and place.
    """
    folders = _folders(source, documents)
    return _Import(source, folders, notes).records()


def _folders(source: Path, documents: Any) -> list[Path]:
    if documents == "none":
        return []
    if documents == "beside":
        beside = {path.name.lower(): path for path in sorted(source.resolve().parent.iterdir())}
        return [beside[name] for name in SIBLINGS if name in beside][:1]
    paths = documents if isinstance(documents, list) else [documents]
    for path in paths:
        if not isinstance(path, str) or not Path(path).exists():
            raise UsageError(
                f"-T documents: no file or folder {shortened(path)}; expected query files of "
                "ToolBench or StableToolBench, or 'none' for a pool of names alone"
            )
    return [Path(path) for path in paths]


class _Import:
    """One import: what was met so far."""

    def __init__(self, source: Path, folders: list[Path], notes: Notes) -> None:
        self._source = source
        self._folders = folders
        self._notes = notes
        self._table = ApiTable()
        self._documents: defaultdict[tuple[str, str], dict[str, str]] = defaultdict(dict)
        self._by_name: dict[tuple[str, str], str] = {}
        self._gold_names: set[tuple[str, str, str]] = set()
        self._gold_tools: set[str] = set()
        self._counts: Counter[str] = Counter()
        self._ids = TaskIds(self._counts)

    def records(self) -> Iterator[Tool | Task]:
        for folder in self._folders:
            self._read_documents(folder)
        self._counts["documents"] = len(self._table)
        unsolvable = self._unsolvable()
        for path in find(self._source, [_QUERIES], BENCHMARK):
            yield from self._tasks(path, unsolvable)
        nameless = set(self._by_name.values())
        for tool in self._table:
            yield _undocumented(tool) if tool.id in nameless else tool
        self._report()

    def _read_documents(self, folder: Path) -> None:
        files = find_files(folder).files.get("queries", [])
        if not files:
            raise wrong_source(folder, "query files of ToolBench, with api_list", "-T documents")
        for file in files:
            self._read_file(file)

    def _read_file(self, file: SourceFile) -> None:
        def read(record: Any) -> None:
            self._add_documents(record, file.name)

        records = listed(file.read())
        for _ in usable(Path(file.path), read, self._notes, records, "malformed_document_record"):
            pass

    def _add_documents(self, record: Any, file: str) -> None:
        if not isinstance(record, dict) or "api_list" not in record:
            raise LeftOut("document_record_without_api_list")
        for api in field_of(record, "api_list", list):
            own = self._table.add_document(api, file)
            key = tool_name(api["tool_name"]), api_name(api["api_name"])
            self._documents[key].setdefault(tool_name(api["category_name"]), own)

    def _unsolvable(self) -> frozenset[str] | None:
        """Return the ids of the queries that have no solution; None where no file says so."""
        if self._source.is_file():
            return None
        ids: set[str] = set()
        paths = sorted(self._source.rglob(_UNSOLVABLE))
        for path in paths:
            content = json_file(path)
            if not isinstance(content, list) or not all(map(_is_id, content)):
                raise DataError(f"{path}: expected a list of query ids, got {shortened(content)}")
            ids.update(map(str, content))
        self._counts["unsolvable_ids"] = len(ids)
        return frozenset(ids) if paths else None

    def _tasks(self, path: Path, unsolvable: frozenset[str] | None) -> Iterator[Task]:
        read = partial(self._task, unsolvable=unsolvable, file=path.name)
        yield from usable(path, read, self._notes)
        if not self._counts["records"]:
            raise DataError(f"{path} holds no record; fetch it again")

    def _task(self, record: Any, unsolvable: frozenset[str] | None, file: str) -> Task:
        """Return a record's task, unless it is left out."""
        self._counts["records"] += 1
        text = field_of(record, "query", str)
        query_id = record.get("query_id")
        if not _is_id(query_id):
            raise DataError(f"query_id: expected a text or number, got {shortened(query_id)}")
        answer = field_of(record, "final_answer", str)
        apis = field_of(record, "gt_api_list", list)
        if not text.strip() or not apis:
            raise LeftOut("no_gold_api" if text.strip() else "empty_query")
        task_id = self._ids.add(str(query_id), text)
        relevant = tuple(dict.fromkeys(self._gold(api, file) for api in apis))
        self._counts["without_answer"] += not answer.strip()
        reference = (Step(0, LEAD, USER, answer),) if answer.strip() else ()
        tags: dict[str, JSON] = {"multi_tool": len(relevant) > 1, "multi_step": len(relevant) > 1}
        if unsolvable is not None:
            tags["solvable"] = str(query_id) not in unsolvable
            self._counts["unsolvable_tasks"] += not tags["solvable"]
        goal = Goal(text, relevant=relevant, reference=reference)
        return Task(task_id, BENCHMARK, (goal,), split="test", tags=tags)

    def _gold(self, api: Any, file: str) -> str:
        """Return the id of a gold API's tool, which joins the pool where it has no document."""
        category, tool, name = (field_of(api, f"{part}_name", str) for part in _PARTS)
        self._gold_names.add((category, tool, name))
        key = tool_name(tool), api_name(name)
        documents = self._documents.get(key)
        if documents:
            own = documents.get(tool_name(category)) or next(iter(documents.values()))
        else:
            own = self._by_name.get(key) or self._table.add_document({**api, **_NO_DOCUMENT}, file)
            self._by_name[key] = own
        self._gold_tools.add(own)
        return own

    def _report(self) -> None:
        named = set(self._by_name.values())
        self._counts["duplicates"] += 0
        self._counts.update(
            gold_names=len(self._gold_names),
            gold_tools=len(self._gold_tools),
            gold_tools_with_document=len(self._gold_tools - named),
            gold_tools_without_document=len(named),
            repeated_texts=self._ids.repeated,
        )
        facts = self._notes.facts
        facts["documents_from"] = [folder.resolve().name for folder in self._folders]
        facts["counts"] = dict(sorted(self._counts.items()))
        self._notes.lacks.add("gold_calls")
        if not self._folders:
            self._notes.lacks.update(("descriptions", "parameters", "response_shapes"))
        if "unsolvable_tasks" not in self._counts:
            self._notes.lacks.add("solvable")


def _is_id(value: Any) -> bool:
    return isinstance(value, (int, str)) and not isinstance(value, bool)


def _undocumented(tool: Tool) -> Tool:
    """Return a tool of which nothing but the names is known, so that any argument may be right."""
    return replace(
        tool,
        parameters={"type": "object", "properties": {}},
        source={**tool.source, "document": False},
    )
