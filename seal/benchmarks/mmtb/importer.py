"""Multi-Mission Tool Bench (MMTB): importer of its tool lists and of its test records.

Upstream publishes `mmtb_tools_en.jsonl` and `mmtb_tools_zh.jsonl`; its test records, which become
tasks, are told apart by their field `answer_list` or `english_answer_list`, whatever their file is
called. A folder may hold both. A record with a fault is left out whole, for each mission leans on
those before it, and counted by the kind of fault.

Task id: upstream's. Tool id: `mmtb/NAME/NAME`. What becomes of a record: `tasks`.

Source: "Multi-Mission Tool Bench" (2025), and the files of yupeijei1997/MMTB; the tools file of
WildToolBench is the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from seal.benchmarks.mmtb.dialogues import Dialogue, check_language, read_dialogue
from seal.benchmarks.mmtb.tasks import Tally, make_task, unknown_arguments
from seal.benchmarks.mmtb.tools import BENCHMARK, ToolLists, read_tool
from seal.core import Task, Tool, located
from seal.pools.importer import Notes
from seal.pools.reading.tolerance import usable
from seal.pools.reading.tool_table import TaskIds, ToolTable
from seal.pools.reading.upstream_files import find, wrong_source

_RECORD = b'answer_list"'
_HEAD = 1 << 20
"""Bytes of a file that are looked at to tell test records from tool lists."""


def import_mmtb(source: Path, notes: Notes, *, language: str = "en") -> Iterator[Tool | Task]:
    """Yield the tasks of MMTB's test records, then the tools of its lists and records.

    Args:
        source: A tools file, a file of test records (JSON Lines or one array), or a folder above
            such files.
        notes: Gets the counts.
        language: "en" or "zh": which of a folder's tools files is read, and which half of a record.

    Raises:
        UnknownNameError: No such language.
        DataError: A file is missing or malformed; the text names file and line.
    """
    check_language(language)
    lists, records = _files(source, language)
    return _records(lists, records, notes, language)


def _records(
    lists: list[Path], records: list[Path], notes: Notes, language: str
) -> Iterator[Tool | Task]:
    table, ids, tally = ToolTable(), TaskIds(), Tally()
    tool_lists = ToolLists(table, notes)
    for path in lists:
        tool_lists.read(path)
    for path in records:
        read = partial(_read, table=table, ids=ids, file=path.name, language=language)
        for dialogue, tools, task in usable(path, read, notes):
            tally.add(dialogue, task, unknown_arguments(dialogue, tools))
            yield task
    yield from tool_lists.tools()
    notes.lacks.update(("categories", "response_shapes"))
    if records:
        notes.facts["missions"] = tally.facts()
    else:
        notes.lacks.add("tasks")


def _read(
    record: Any, table: ToolTable, ids: TaskIds, file: str, language: str
) -> tuple[Dialogue, dict[str, Tool], Task]:
    """Return a record as a dialogue, its tools by upstream's names, and its task.

    If several tools have one name, the first counts.
    """
    dialogue = read_dialogue(record, language)
    tools: dict[str, Tool] = {}
    for position, entry in enumerate(dialogue.tools):
        with located(f"tools.{position}"):
            tool = read_tool(entry, file)
        if tool.source["tool"] not in tools:
            tools[tool.source["tool"]] = table[table.add(tool)]
    task = make_task(dialogue, tools, language)
    own = ids.add(task.id, "\n".join(goal.text for goal in task.goals))
    return dialogue, tools, replace(task, id=own)


def _files(source: Path, language: str) -> tuple[list[Path], list[Path]]:
    """Return the files of tool lists, and those of test records."""
    if source.is_file():
        return ([], [source]) if _holds_records(source) else ([source], [])
    name = f"{BENCHMARK}_tools_{language}.jsonl"
    lists = sorted(path for path in source.rglob(name) if path.is_file())
    found = find(source, ["*.jsonl", "*.json"], BENCHMARK) if any(source.rglob("*.json*")) else []
    records = [path for path in found if path not in lists and _holds_records(path)]
    if not lists and not records:
        raise wrong_source(source, f"{name} or a file of test records", BENCHMARK)
    return lists, records


def _holds_records(path: Path) -> bool:
    with path.open("rb") as file:
        return _RECORD in file.read(_HEAD)
