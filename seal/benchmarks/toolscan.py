"""ToolScan: the API lists of its environments as one pool.

Upstream publishes the API lists and not the queries, so the pool has no tasks. The file read is the
neutral list `tools.json` (format toolscan-neutral/1), since upstream's lists are Python modules:

    {"format", "source", "tools": [{environment, tool, name, description, parameters, returns,
                                    source, pseudo}]}

`finish` and `check_valid_actions` are pseudo actions of ToolScan's chat and no APIs; they come in
by an option, with `source["pseudo"]` true.

Source: "ToolScan" (Kokane et al., 2024), and the lists of Shirley-Kokane/ToolScan.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seal.benchmarks.importer import Notes
from seal.benchmarks.upstream.records import (
    ToolTable,
    field,
    find,
    function_name,
    json_file,
    refuse_deep,
    tool_id,
)
from seal.benchmarks.upstream.tolerance import listed, usable
from seal.benchmarks.upstream.types import typed
from seal.core.errors import DataError, UsageError, shortened
from seal.core.types import JSON, Tool

BENCHMARK = "toolscan"
FORMAT = "toolscan-neutral/1"

_TYPES = frozenset({"array", "boolean", "integer", "number", "object", "string"})
_FLAT = "(flat)"
"""Stands for the toolset of an entry that upstream's list holds outside of any."""


def import_toolscan(source: Path, notes: Notes, *, pseudo: bool = False) -> Iterator[Tool]:
    """Yield the APIs of ToolScan's lists.

    Args:
        source: The file tools.json, or a folder above it.
        notes: Gets the counts.
        pseudo: True: the pseudo actions too.

    Raises:
        UsageError: `pseudo` is neither true nor false.
        DataError: The file is missing or malformed; the text names file and record.
    """
    if not isinstance(pseudo, bool):
        raise UsageError(f"-T pseudo={pseudo}: expected true or false")
    return _tools(find(source, ["tools.json"], BENCHMARK), pseudo, notes)


def _tools(paths: list[Path], pseudo: bool, notes: Notes) -> Iterator[Tool]:
    table = ToolTable()
    counts: Counter[str] = Counter()
    for path in paths:
        for tool in usable(path, _tool, notes, listed(_entries(path))):
            counts["pseudo_actions" if tool.source["pseudo"] else "apis"] += 1
            if pseudo or not tool.source["pseudo"]:
                table.add(tool)
    yield from table
    notes.facts["counts"] = {
        **dict(sorted(counts.items())),
        "duplicates": table.duplicates,
        "environments": len({tool.category for tool in table}),
        "parameters": sum(len(tool.parameters["properties"]) for tool in table),
        "tool_variants": table.variants,
        "without_description": sum(not tool.description for tool in table),
        "without_response_shape": sum(tool.returns is None for tool in table),
    }
    notes.lacks.add("tasks")


def _entries(path: Path) -> list[Any]:
    content = json_file(path)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        got = content.get("format") if isinstance(content, dict) else content
        raise DataError(f"{path}: expected format {FORMAT!r}, got {shortened(got)}")
    try:
        entries = field(content, "tools", list)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    return entries


def _tool(entry: Any) -> Tool:
    refuse_deep(entry)
    environment = field(entry, "environment", str)
    name = field(entry, "name", str)
    toolset = entry.get("tool")
    if toolset is not None and not isinstance(toolset, str):
        raise DataError(f"tool: expected a text or null, got {shortened(toolset)}")
    owner = environment if toolset in (None, _FLAT) else str(toolset)
    return Tool(
        tool_id(BENCHMARK, owner, name),
        function_name(name),
        field(entry, "description", str),
        _parameters(field(entry, "parameters", list)),
        environment,
        entry.get("returns"),
        {
            "tool": owner,
            "api": name,
            "pseudo": field(entry, "pseudo", bool),
            "upstream": field(entry, "source", str),
        },
    )


def _parameters(entries: list[Any]) -> dict[str, JSON]:
    properties: dict[str, JSON] = {}
    required: list[JSON] = []
    for position, entry in enumerate(entries):
        try:
            name, needed = field(entry, "name", str), field(entry, "required", bool)
            if name in properties:
                raise DataError(f"the parameter {name!r} stands twice")
            properties[name] = _property(entry, needed)
        except DataError as error:
            raise DataError(f"parameters.{position}: {error}") from error
        if needed:
            required.append(name)
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _property(entry: dict[str, Any], needed: bool) -> dict[str, JSON]:
    """Return a parameter's schema.

    The default of a needed parameter is but an example, and so is one that its type does not allow.
    """
    schema: dict[str, JSON] = {"type": _type(entry.get("type"))}
    description = field(entry, "description", str)
    if "raw_type" in entry:
        description = f"{description} ({field(entry, 'raw_type', str)})".strip()
    if description:
        schema["description"] = description
    if isinstance(entry.get("enum"), list) and entry["enum"]:
        schema["enum"] = entry["enum"]
    return schema | _default(schema["type"], entry.get("default"), needed)


def _default(kind: JSON, value: Any, needed: bool) -> dict[str, JSON]:
    """Return upstream's default, a text even of a number, as JSON Schema says it."""
    if value in (None, ""):
        return {}
    fitting = typed(kind, value) if isinstance(kind, str) else value
    if fitting is None or needed:
        return {"examples": [value if fitting is None else fitting]}
    return {"default": fitting}


def _type(value: Any) -> JSON:
    words = value if isinstance(value, list) else [value]
    if not words or not all(isinstance(word, str) and word in _TYPES for word in words):
        raise DataError(
            f"type: expected one of {', '.join(sorted(_TYPES))}, or a list of such, "
            f"got {shortened(value)}"
        )
    return value
