"""APIGen and its published part, xlam-function-calling-60k: one request a record, with gold calls.

A source is the JSON file, a Parquet file, or a folder of both, such as a copy of the data set as
hubs serve it; a record that stands in two files counts once. Parquet files beside JSON are passed
over where pyarrow is not installed, and named. `tools` and `answers` are JSON texts within the
record. The tools of the record are what the chat offers. Upstream gives the calls no
order, so they are milestones without predecessors; the call of a milestone has exactly upstream's
arguments. An argument with a default may be left out or written out with that default. Both mean
the same, so both are right, whichever of them upstream has.

Tools carry names only, and one name has many documents across records: a tool is known by its
content (`seal.pools.reading.records.ToolTable`). How types become a schema, and which arguments
are required, stands in `seal.pools.reading.tool_schemas`. Gold calls are checked against that
schema, and those that it refuses are kept and counted as `invalid_gold_calls`.

Source: Liu et al., APIGen, 2024 (arXiv 2406.18518), section 3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from seal.core import JSON, Goal, Milestone, MissingExtraError, Plan, Task, Tool, located
from seal.core.conditions import Argument, Called
from seal.core.values import json_bytes
from seal.pools.importer import Notes
from seal.pools.own_benchmark import GoldCheck
from seal.pools.reading.files import (
    LeftOut,
    Placed,
    Torn,
    exact_json_of_text,
    expect,
    field_of,
    find,
    function_name,
    json_records,
    refuse_deep,
    refuse_others,
    tool_id,
    usable,
)
from seal.pools.reading.records import TaskIds, ToolTable
from seal.pools.reading.tables import parquet_records, split_readable, unread_columns
from seal.pools.reading.tool_schemas import parameters_schema

BENCHMARK = "apigen"
SPLIT = "train"
"""Upstream publishes no other."""
_FILES = ("*.json", "*.jsonl", "*.parquet")
_CARD = "dataset_info.json"
"""Of a hub's copy: says what the Parquet files hold, and holds no record itself."""
_COLUMNS = ("id", "query", "answers", "tools")


def import_apigen(source: Path, notes: Notes) -> Iterator[Tool | Task]:
    """Yield the tasks and tools of APIGen's files.

    A JSON array is parsed as a whole: 60,000 records take less than 0.4 GB of memory. Parquet
    is read in batches.

    Args:
        source: A JSON, JSON Lines or Parquet file, or a folder of such.
        notes: Gets the counts.

    Raises:
        DataError: A file is malformed, or all its records are; the text names file and place.
        MissingExtraError: Parquet files alone, without the extra `experiments`.
    """
    return _Import(source, notes).records()


class _Gold(NamedTuple):
    """The gold calls of a record."""

    calls: list[tuple[str, dict[str, JSON]]]
    """Tool id and arguments."""
    faults: list[str]
    """What the made schemas refuse in them, one kind a refused call."""


class _Import:
    """One import: what was met so far."""

    def __init__(self, source: Path, notes: Notes) -> None:
        found = [path for path in find(source, _FILES, BENCHMARK) if path.name != _CARD]
        # Parquet last: a copy of the JSON's records then makes the pool that the JSON alone makes.
        found.sort(key=lambda path: path.suffix == ".parquet")
        self._files, skipped = split_readable(found)
        self._notes = notes
        if skipped:
            notes.facts["skipped_files"] = [path.name for path in skipped]
            notes.facts["skipped_because"] = str(MissingExtraError("pyarrow", "experiments"))
        self._tools = ToolTable()
        self._by_document: dict[bytes, str] = {}
        self._defaults: dict[str, dict[str, Argument]] = {}
        self._check = GoldCheck(self._tools.by_id())
        self._counts: Counter[str] = Counter()
        self._ids = TaskIds(self._counts)
        self._invalid: Counter[str] = Counter()
        self._unread: Counter[str] = Counter()

    def records(self) -> Iterator[Tool | Task]:
        for path in self._files:
            yield from self._file(path)
        yield from self._tools
        self._report()

    def _file(self, path: Path) -> Iterator[Task]:
        yield from usable(path, partial(self._task, file=path.name), self._notes, _records)
        if path.suffix == ".parquet":
            self._unread.update(unread_columns(path, _COLUMNS))

    def _task(self, record: Any, file: str) -> Task:
        text = field_of(record, "query", str)
        number = record["id"] if isinstance(record.get("id"), str) else field_of(record, "id", int)
        self._unread.update(record.keys() - set(_COLUMNS))
        tools, answers = _part(record, "tools"), _part(record, "answers")
        task_id = self._ids.add(str(number), text)
        offered = [self._tool(document, file) for document in tools]
        gold = self._gold(answers, [document["name"] for document in tools], offered)
        self._counts["gold_calls"] += len(gold.calls)
        self._counts["tasks_without_gold_call"] += not gold.calls
        self._counts["tasks_with_invalid_gold_call"] += bool(gold.faults)
        self._invalid.update(gold.faults)
        return self._made(task_id, text, tuple(dict.fromkeys(offered)), gold)

    def _tool(self, document: dict[str, Any], file: str) -> str:
        """Return the id of the tool that a document describes."""
        try:
            key = orjson.dumps(document)
        except TypeError:
            refuse_deep(document)
            key = json_bytes(document)
        known = self._by_document.get(key)
        if known is not None:
            return known
        made = self._made_tool(document, file)
        tool = self._tools.add(made)
        required = made.parameters.get("required")
        needed = required if isinstance(required, list) else []
        self._defaults[tool] = {
            name: Argument((schema["default"],), optional=True)
            for name, schema in made.parameters["properties"].items()
            if isinstance(schema, dict) and "default" in schema and name not in needed
        }
        self._by_document[key] = tool
        return tool

    def _made_tool(self, document: dict[str, Any], file: str) -> Tool:
        name = document["name"]
        with located(f"tool {name!r}"):
            parameters = parameters_schema(document.get("parameters"))
        self._counts.update(parameters.counts)
        description = document.get("description") or ""
        return Tool(
            tool_id(BENCHMARK, name, name),
            function_name(name),
            description if isinstance(description, str) else str(description),
            parameters.schema,
            source={"tool": name, "api": name, "file": file},
        )

    def _gold(self, answers: list[Any], names: Sequence[str], offered: Sequence[str]) -> _Gold:
        by_name: dict[str, set[str]] = {}
        for name, tool in zip(names, offered, strict=True):
            by_name.setdefault(name, set()).add(tool)
        gold = _Gold([], [])
        for position, answer in enumerate(answers):
            name, arguments = answer["name"], answer.get("arguments")
            refuse_others(answer, ("name", "arguments"), f"answers.{position}")
            expect(arguments, dict, f"answers.{position}.arguments")
            if name not in by_name:
                raise LeftOut("answer_names_unknown_tool")
            if len(by_name[name]) > 1:
                raise LeftOut("answer_names_two_tools")
            (tool,) = by_name[name]
            gold.calls.append((tool, arguments))
            fault = self._check.fault(tool, arguments)
            if fault is not None:
                gold.faults.append(fault)
        return gold

    def _made(self, task_id: str, text: str, offered: tuple[str, ...], gold: _Gold) -> Task:
        relevant = tuple(dict.fromkeys(tool for tool, _ in gold.calls))
        milestones = tuple(Milestone(self._called(*call)) for call in gold.calls)
        several = len(gold.calls) > 1
        return Task(
            task_id,
            BENCHMARK,
            (Goal(text, (Plan(milestones),), offered=offered, relevant=relevant),),
            split=SPLIT,
            tags={"multi_tool": len(relevant) > 1, "multi_step": several, "parallel": several},
            metadata={"invalid_gold_calls": gold.faults} if gold.faults else {},
        )

    def _called(self, tool: str, arguments: dict[str, JSON]) -> Called:
        """Return the gold call; arguments that are their defaults may be left out or written."""
        accepted = dict(self._defaults[tool])
        for name, value in arguments.items():
            optional = name in accepted and accepted[name].accepts(value)
            accepted[name] = Argument((value,), optional)
        return Called(tool, accepted)

    def _report(self) -> None:
        names = (
            "duplicates",
            "gold_calls",
            "tasks_with_invalid_gold_call",
            "tasks_without_gold_call",
            "unknown_types",
            "unusable_defaults",
        )
        counts: dict[str, JSON] = {name: self._counts[name] for name in names}
        counts["repeated_queries"] = self._ids.repeated
        counts["tool_variants"] = self._tools.variants
        self._notes.facts["counts"] = dict(sorted(counts.items()))
        self._notes.facts["files"] = dict(Counter(path.suffix[1:] for path in self._files))
        self._notes.facts["invalid_gold_calls"] = dict(sorted(self._invalid.items()))
        if self._unread:
            self._notes.facts["unread_fields"] = dict(sorted(self._unread.items()))
        self._notes.lacks.update(("categories", "response_shapes"))


def _records(path: Path, torn: Torn) -> Iterator[Placed]:
    if path.suffix == ".parquet":
        return parquet_records(path, _COLUMNS)
    return json_records(path, torn)


def _part(record: dict[str, Any], name: str) -> list[Any]:
    """Return a list that a record holds as a JSON text; a list itself is taken too.

    Raises:
        LeftOut: The text is no JSON, or of something else.
        DataError: The field is missing or no text.
    """
    value = record.get(name)
    if not isinstance(value, list):
        try:
            value = exact_json_of_text(field_of(record, name, str))
        except ValueError:
            raise LeftOut(f"unparsable_{name}") from None
    if not isinstance(value, list):
        raise LeftOut(f"unparsable_{name}")
    for item in value:
        if not isinstance(item, dict) or not isinstance(item.get("name"), str):
            raise LeftOut(f"unparsable_{name}")
    return value
