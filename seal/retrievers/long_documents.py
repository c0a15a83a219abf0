"""Document templates that also tell of a tool's parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from seal.core import Tool
from seal.retrievers.documents import DESCRIPTION_LIMIT, names, shortened, tool_api_description


def full(tool: Tool) -> str:
    """Return "tool api: description" with the category and the parameters in words."""
    parts = [tool_api_description(tool)]
    if tool.category:
        parts.append(f"Category: {tool.category}.")
    described = [
        f"{parameter} {_text(schema.get('description'))}".strip()
        for parameter, schema in _properties(tool).items()
    ]
    if described:
        parts.append(f"Parameters: {'; '.join(described)}.")
    return " ".join(parts)


def toolbench(tool: Tool) -> str:
    """Return the document that ToolBench's retriever was trained on.

    Source: ToolLLM, section 3.1; the fields in the order of its corpus: category, tool, api,
    description, required and optional parameters and the shape of the response as JSON.
    """
    title = names(tool)
    required = tool.parameters.get("required")
    required = required if isinstance(required, list) else []
    groups: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
    for parameter, schema in _properties(tool).items():
        groups[parameter in required].append(
            {
                "name": parameter,
                "type": _text(schema.get("type")).upper(),
                "description": _text(schema.get("description")),
                "default": schema.get("default", ""),
            }
        )
    return ", ".join(
        [
            tool.category,
            title.tool,
            title.api,
            shortened(tool.description, DESCRIPTION_LIMIT),
            f"required_params: {json.dumps(groups[True])}",
            f"optional_params: {json.dumps(groups[False])}",
            f"return_schema: {json.dumps(tool.returns if tool.returns is not None else '')}",
        ]
    )


def _properties(tool: Tool) -> dict[str, Mapping[str, Any]]:
    properties = tool.parameters.get("properties")
    if not isinstance(properties, dict):
        return {}
    return {
        str(key): schema if isinstance(schema, dict) else {} for key, schema in properties.items()
    }


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
