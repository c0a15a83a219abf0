"""MMTB's tool documents as tools, and its tool lists.

A line of a tools file is the list of tools of one dialogue. A document that stands in several lists
becomes one tool, whose source names the lists. Different documents of one name are different tools.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from seal.core import JSON, Tool
from seal.pools.importer import Notes
from seal.pools.reading.files import (
    expect,
    field_of,
    function_name,
    json_lines,
    numbered,
    refuse_deep,
    tool_id,
    usable,
)
from seal.pools.reading.records import ToolTable

BENCHMARK = "mmtb"

_TYPES = {
    "bool": "boolean",
    "complex_string": "string",
    "dict": "object",
    "float": "number",
    "int": "integer",
    "interger": "integer",
    "list": "array",
    "list of dictionaries": "object",
    "str": "string",
    "uuid": "string",
}
"""Upstream's words for types, in lower case, to JSON Schema's."""
_ENUM = re.compile(r"\s*enum\s*\[(.*)\]\s*", re.IGNORECASE | re.DOTALL)


class ToolLists:
    """The tool lists of an import, each document once.

    Args:
        table: Gets the tools.
        notes: Gets the counts.
    """

    def __init__(self, table: ToolTable, notes: Notes) -> None:
        self._table = table
        self._notes = notes
        self._lists: dict[str, list[int]] = {}
        self._counts: Counter[str] = Counter()

    def read(self, path: Path) -> None:
        """Take in a tools file.

        Raises:
            DataError: The file cannot be read, or none of its lists can be used.
        """

        def made(numbered_record: tuple[int, Any]) -> tuple[int, list[Tool]]:
            number, record = numbered_record
            return number, [read_tool(entry, path.name) for entry in entries(record)]

        for number, tools in usable(path, made, self._notes, numbered(json_lines)):
            ids = [self._table.add(tool) for tool in tools]
            repeated = len(ids) - len(set(ids))
            self._counts.update(lists=1, documents=len(ids), repeated_in_a_list=repeated)
            for own in dict.fromkeys(ids):
                self._lists.setdefault(own, []).append(number)

    def tools(self) -> Iterable[Tool]:
        """Yield the tools, each with the numbers of its lists, and count them."""
        for tool in self._table:
            lists = self._lists.get(tool.id)
            yield replace(tool, source={**tool.source, "lists": list(lists)}) if lists else tool
        self._counts["duplicates"] = self._table.duplicates
        self._counts["tool_variants"] = self._table.variants
        self._notes.facts["counts"] = dict(sorted(self._counts.items()))


def entries(record: Any) -> list[Any]:
    """Return the documents of a tool list.

    Raises:
        DataError: It is no list.
    """
    return expect(record, list, what="a list of tools")


def read_tool(entry: Any, file: str) -> Tool:
    """Return a document in the form of OpenAI's functions as a tool.

    Args:
        entry: The document.
        file: Name of the file that holds it.

    Raises:
        DataError: A field is missing or malformed.
    """
    refuse_deep(entry)
    function = field_of(entry, "function", dict)
    name = field_of(function, "name", str)
    parameters = field_of(function, "parameters", dict)
    field_of({"properties": {}, **parameters}, "properties", dict)
    return Tool(
        tool_id(BENCHMARK, name, name),
        function_name(name),
        field_of(function, "description", str),
        {"type": "object", "properties": {}, **_schema(parameters)},
        source={"tool": name, "api": name, "file": file},
    )


def _schema(schema: Any) -> JSON:
    """Return a schema with the types that JSON Schema knows."""
    if not isinstance(schema, dict):
        return schema
    found = dict(schema)
    if isinstance(schema.get("type"), str):
        found |= _type(schema["type"])
    if isinstance(schema.get("properties"), dict):
        found["properties"] = {name: _schema(value) for name, value in schema["properties"].items()}
    if "items" in schema:
        found["items"] = _schema(schema["items"])
    return found


def _type(word: str) -> dict[str, JSON]:
    """Return what JSON Schema says for a type; of alternatives `a|b` the first."""
    listed = _ENUM.fullmatch(word)
    if listed:
        values = [value.strip(" \t'\"") for value in re.split(r"[,|]", listed[1])]
        return {"type": "string", "enum": [value for value in values if value]}
    first = word.partition("|")[0].strip().lower()
    return {"type": _TYPES.get(first, first)}
