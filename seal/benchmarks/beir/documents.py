"""Documents of a retrieval benchmark as tools.

A document is a text with a title, or the JSON of a tool, as ToolRet has it; the tools that ToolRet
gathers come from dozens of sources, each with its own names for the same things, and the first name
below that a document has counts.
"""

from __future__ import annotations

from typing import Any

from seal.benchmarks.beir.files import identifier
from seal.core.errors import DataError, shortened
from seal.core.plain import json_text
from seal.core.types import JSON, Tool
from seal.pools.reading.records import function_name, tool_id
from seal.pools.reading.types import literal, parameters_schema

BENCHMARK = "beir"

_TEXTS = ("text", "documentation", "doc")
DOCUMENT_FIELDS = frozenset({"_id", "id", "title", *_TEXTS})
"""What is read of a record of the corpus."""
_NAMES = ("name", "api_name", "func_name", "tool_name", "title")
_DESCRIPTIONS = ("description", "api_description", "func_description", "functionality", "summary")
_PARAMETERS = ("parameters", "func_parameters", "api_parameters", "input_schema")
_CATEGORIES = ("category", "category_name", "domain")


def tool_of_record(record: Any, file: str) -> Tool:
    """Return the tool that a record of the corpus describes.

    Raises:
        DataError: It has no id, or its text is neither text nor map.
    """
    document_id = identifier(record)
    key = next((name for name in _TEXTS if name in record), None)
    if key is None:
        names = ", ".join(map(repr, list(record)[:10]))
        raise DataError(f"document {document_id!r} has no field 'text'; it has: {names}")
    value = record[key]
    if not isinstance(value, (str, dict)):
        raise DataError(f"{key}: expected a text, got {shortened(value)}")
    return tool_of_document(document_id, record.get("title"), value, file)


def tool_of_document(document_id: str, title: Any, value: str | dict[str, Any], file: str) -> Tool:
    """Return the tool that a document is.

    Args:
        document_id: As the benchmark has it.
        title: Of the document; anything but a text is none.
        value: Its text, or the map that describes a tool; a text may hold such a map.
        file: Where it stands.
    """
    described = value if isinstance(value, dict) else _map_of(value)
    named = title.strip() if isinstance(title, str) else ""
    if described is None:
        return _made(document_id, named, str(value), {}, file)
    name = named or _text(described, _NAMES)
    description = _text(described, _DESCRIPTIONS) or json_text(described)
    return _made(document_id, name, description, described, file)


def _map_of(text: str) -> dict[str, Any] | None:
    """Return the tool that a text writes as JSON or as a Python literal; None for prose."""
    if not text.lstrip().startswith("{"):
        return None
    value = literal(text)
    is_tool = isinstance(value, dict) and any(key in value for key in (*_NAMES, *_DESCRIPTIONS))
    return value if is_tool else None


def _text(described: dict[str, Any], names: tuple[str, ...]) -> str:
    """Return the first of several fields that has a text."""
    values = (described.get(name) for name in names)
    return next((v.strip() for v in values if isinstance(v, str) and v.strip()), "")


def _made(
    document_id: str, name: str, description: str, described: dict[str, Any], file: str
) -> Tool:
    title = name or document_id
    source: dict[str, JSON] = {"tool": title, "api": title, "id": document_id, "file": file}
    return Tool(
        tool_id(BENCHMARK, name or "document", document_id),
        function_name(title),
        description,
        _schema(described),
        _text(described, _CATEGORIES),
        source=source,
    )


def _schema(described: dict[str, Any]) -> dict[str, JSON]:
    """Return the schema of a tool's parameters; one of another form takes any arguments."""
    given = next((described[name] for name in _PARAMETERS if name in described), None)
    listed = _listed(described)
    try:
        return parameters_schema(listed if given is None else given).schema
    except DataError:
        return {"type": "object", "properties": {}, "additionalProperties": True}


def _listed(described: dict[str, Any]) -> dict[str, Any] | None:
    """Return ToolBench's two lists of parameters as one map."""
    found: dict[str, Any] = {}
    for key in ("required_parameters", "optional_parameters"):
        for parameter in described.get(key) or ():
            if isinstance(parameter, dict) and isinstance(parameter.get("name"), str):
                optional = ", optional" if key.startswith("optional") else ""
                kind = f"{parameter.get('type', '')}{optional}"
                default = parameter.get("default") if optional else None
                found[parameter["name"]] = {**parameter, "type": kind, "default": default}
    return found or None
