"""APIBench: requests for a model of HuggingFace, TensorFlow Hub or Torch Hub, and the hubs' APIs.

A source is upstream's data folder: `HUB_api.jsonl` documents the APIs, `HUB_SPLIT.json`, which is
JSON Lines, has the requests. An API is known by its `api_call`: of several documents for one call
the first counts. The API that a request's `api_call` names is relevant; what arguments a call of it
would need is not annotated. A request whose call no document has is left out.

Source: Patil et al., Gorilla, 2023 (arXiv 2305.15334), section 3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from seal.benchmarks.apibench.documents import BENCHMARK, instruction_of, tool_of_document
from seal.core.errors import DataError, UnknownNameError
from seal.core.types import JSON, Goal, Task, Tool
from seal.pools.importer import Notes
from seal.pools.reading.records import (
    TaskIds,
    ToolTable,
    field,
    json_lines,
    refuse_deep,
    wrong_source,
)
from seal.pools.reading.tolerance import numbered, usable

DOCUMENTS = {
    "huggingface": "huggingface_api.jsonl",
    "tensorflow": "tensorflowhub_api.jsonl",
    "torchhub": "torchhub_api.jsonl",
}
"""Hub to the file of its documents."""
SPLITS = ("eval", "train")


def import_apibench(
    source: Path, notes: Notes, *, hub: str = "all", split: str = "eval"
) -> Iterator[Tool | Task]:
    """Yield the tasks and tools of APIBench's files.

    Args:
        source: The folder with the files, or one above it.
        notes: Gets the counts.
        hub: One of `DOCUMENTS`, or "all": every hub that has documents, with what requests it has.
        split: "eval" or "train".

    Raises:
        DataError: A file is missing or malformed, or a record lacks a field.
        UnknownNameError: No such hub or split.
    """
    if hub != "all" and hub not in DOCUMENTS:
        raise UnknownNameError("hub of apibench", hub, ("all", *DOCUMENTS))
    if split not in SPLITS:
        raise UnknownNameError("split of apibench", split, SPLITS)
    return _Import(_hubs(source, hub, split, notes), split, notes).records()


class _Hub(NamedTuple):
    """The files of a hub."""

    name: str
    documents: Path
    requests: Path | None


def _hubs(source: Path, wanted: str, split: str, notes: Notes) -> list[_Hub]:
    """Return the hubs with their files; one hub that is asked for must have both."""
    hubs, absent = [], []
    for name, documents in DOCUMENTS.items():
        if wanted in ("all", name):
            requests = f"{name}_{split}.json"
            files = {file: _file(source, file) for file in (documents, requests)}
            absent += [file for file, path in files.items() if path is None]
            if (path := files[documents]) is not None:
                hubs.append(_Hub(name, path, files[requests]))
    if not any(hub.requests for hub in hubs):
        expected = " and ".join(absent[:2])
        raise wrong_source(source, f"{expected}, in it or below", BENCHMARK)
    notes.facts["absent_files"] = absent
    return hubs


def _file(source: Path, name: str) -> Path | None:
    """Return the one file of a name at or below a source; None where there is none.

    Raises:
        DataError: There are several.
    """
    found = sorted(path for path in source.rglob(name) if path.is_file())
    if len(found) > 1:
        raise DataError(f"{source} holds {name} twice: {found[0]} and {found[1]}; name one folder")
    return found[0] if found else None


class _Import:
    """One import: what was met so far."""

    def __init__(self, hubs: list[_Hub], split: str, notes: Notes) -> None:
        self._hubs = hubs
        self._split = split
        self._notes = notes
        self._tools = ToolTable()
        self._ids = TaskIds()
        self._counts: dict[str, Counter[str]] = {hub.name: Counter() for hub in hubs}

    def records(self) -> Iterator[Tool | Task]:
        for hub in self._hubs:
            by_call = self._documents(hub)
            if hub.requests is not None:
                yield from self._requests(hub, hub.requests, by_call)
        yield from self._tools
        self._report()

    def _documents(self, hub: _Hub) -> dict[str, str]:
        """Return a hub's calls with the ids of their tools."""
        by_call: dict[str, str] = {}
        counts = self._counts[hub.name]

        def read(document: Any) -> Tool:
            refuse_deep(document)
            return tool_of_document(document, hub.name, hub.documents.name)

        for tool in usable(hub.documents, read, self._notes, json_lines, "malformed_document"):
            call = tool.source["api_call"]
            counts["documents"] += 1
            if call in by_call:
                counts["duplicate_documents"] += 1
            else:
                by_call[call] = self._tools.add(tool)
        counts["tools"] = len(by_call)
        return by_call

    def _requests(self, hub: _Hub, path: Path, by_call: dict[str, str]) -> Iterator[Task]:
        def read(numbered_record: tuple[int, Any]) -> Task | None:
            number, record = numbered_record
            return self._task(record, hub.name, number, by_call)

        for task in usable(path, read, self._notes, numbered(json_lines), "malformed_request"):
            self._counts[hub.name]["requests"] += 1
            if task is not None:
                self._counts[hub.name]["tasks"] += 1
                yield task

    def _task(self, record: Any, hub: str, number: int, by_call: dict[str, str]) -> Task | None:
        """Return a record's task; None where it is left out."""
        call, code = field(record, "api_call", str), field(record, "code", str)
        text = instruction_of(code)
        if not text:
            self._notes.dropped["no_instruction"] += 1
            return None
        if call not in by_call:
            self._notes.dropped["api_call_absent_from_pool"] += 1
            return None
        task_id = self._ids.add(f"{hub}/{self._split}/{number}", text)
        goal = Goal(text, relevant=(by_call[call],))
        tags: dict[str, JSON] = {"group": hub, "multi_tool": False, "multi_step": False}
        return Task(str(task_id), BENCHMARK, (goal,), split=self._split, tags=tags)

    def _report(self) -> None:
        names = ("documents", "duplicate_documents", "requests", "tasks", "tools")
        self._notes.facts["hubs"] = {
            hub: {name: counts[name] for name in names} for hub, counts in self._counts.items()
        }
        self._notes.facts["repeated_queries"] = self._ids.repeated
        self._notes.lacks.update(("gold_calls", "response_shapes"))
