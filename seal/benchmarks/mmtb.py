"""Multi-Mission Tool Bench (MMTB): its tool lists as one pool.

Upstream publishes the tool lists and not the missions, so the pool has no tasks. A line of
`mmtb_tools_en.jsonl` or `mmtb_tools_zh.jsonl` is the list of tools of one dialogue; the same
document stands in several lists and becomes one tool, whose source names the lists. Different
documents of one name are different tools.

Source: "Multi-Mission Tool Bench" (2025), and the files of yupeijei1997/MMTB; the file of
WildToolBench is the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from seal.benchmarks.importer import Notes
from seal.benchmarks.upstream.records import (
    ToolTable,
    field,
    find,
    function_name,
    json_lines,
    refuse_deep,
    tool_id,
)
from seal.benchmarks.upstream.tolerance import numbered, usable
from seal.core.errors import DataError, UnknownNameError, shortened
from seal.core.types import JSON, Tool

BENCHMARK = "mmtb"
LANGUAGES = ("en", "zh")

_TYPES = {
    "bool": "boolean",
    "complex_string": "string",
    "dict": "object",
    "float": "number",
    "int": "integer",
    "interger": "integer",
    "list": "array",
    "str": "string",
    "uuid": "string",
}
"""Upstream's words for types, in lower case, to JSON Schema's."""


def import_mmtb(source: Path, notes: Notes, *, language: str = "en") -> Iterator[Tool]:
    """Yield the tools of MMTB's lists.

    Args:
        source: A tools file, or a folder above upstream's `mmtb_tools_en.jsonl`.
        notes: Gets the counts.
        language: "en" or "zh": which of a folder's files is read.

    Raises:
        UnknownNameError: No such language.
        DataError: A file is missing or malformed; the text names file and line.
    """
    if language not in LANGUAGES:
        raise UnknownNameError("language of mmtb", str(language), LANGUAGES)
    return _tools(find(source, [f"{BENCHMARK}_tools_{language}.jsonl"], BENCHMARK), notes)


class _List(NamedTuple):
    number: int
    """Of its line that holds something, from 0."""
    tools: list[Tool]


def _tools(paths: list[Path], notes: Notes) -> Iterator[Tool]:
    table = ToolTable()
    lists: dict[str, list[int]] = {}
    counts: Counter[str] = Counter()
    for path in paths:

        def read(numbered_record: tuple[int, Any], file: str = path.name) -> _List:
            number, record = numbered_record
            return _List(number, [_tool(entry, file) for entry in _entries(record)])

        for number, tools in usable(path, read, notes, numbered(json_lines)):
            ids = [table.add(tool) for tool in tools]
            counts.update(lists=1, documents=len(ids), repeated_in_a_list=len(ids) - len(set(ids)))
            for own in dict.fromkeys(ids):
                lists.setdefault(own, []).append(number)
    for tool in table:
        yield replace(tool, source={**tool.source, "lists": list(lists[tool.id])})
    counts["duplicates"] = table.duplicates
    counts["tool_variants"] = table.variants
    notes.facts["counts"] = dict(sorted(counts.items()))
    notes.lacks.update(("categories", "response_shapes", "tasks"))


def _entries(record: Any) -> list[Any]:
    if not isinstance(record, list):
        raise DataError(f"expected a list of tools, got {shortened(record)}")
    return record


def _tool(entry: Any, file: str) -> Tool:
    refuse_deep(entry)
    function = field(entry, "function", dict)
    name = field(function, "name", str)
    parameters = field(function, "parameters", dict)
    field({"properties": {}, **parameters}, "properties", dict)
    return Tool(
        tool_id(BENCHMARK, name, name),
        function_name(name),
        field(function, "description", str),
        {"type": "object", "properties": {}, **_schema(parameters)},
        source={"tool": name, "api": name, "file": file},
    )


def _schema(schema: Any) -> JSON:
    """Return a schema with the types that JSON Schema knows."""
    if not isinstance(schema, dict):
        return schema
    found = dict(schema)
    if isinstance(schema.get("type"), str):
        found["type"] = _type(schema["type"])
    if isinstance(schema.get("properties"), dict):
        found["properties"] = {name: _schema(value) for name, value in schema["properties"].items()}
    if "items" in schema:
        found["items"] = _schema(schema["items"])
    return found


def _type(word: str) -> str:
    """Return JSON Schema's word for a type; of alternatives `a|b` the first."""
    first = word.partition("|")[0].strip().lower()
    return _TYPES.get(first, first)
