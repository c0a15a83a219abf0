"""What ToolBench's retriever reads of a tool: the document template `toolbench`."""

from __future__ import annotations

import json
from typing import Any

from seal.core import Tool
from seal.retrievers.documents import (
    DESCRIPTION_LIMIT,
    names,
    properties_of,
    shortened,
    text_or_empty,
)


def document(tool: Tool) -> str:
    """Return the document that ToolBench's retriever was trained on.

    Source: ToolLLM, section 3.1; the fields in the order of its corpus: category, tool, api,
    description, required and optional parameters and the shape of the response as JSON.
    """
    title = names(tool)
    required = tool.parameters.get("required")
    required = required if isinstance(required, list) else []
    groups: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
    for parameter, schema in properties_of(tool).items():
        groups[parameter in required].append(
            {
                "name": parameter,
                "type": text_or_empty(schema.get("type")).upper(),
                "description": text_or_empty(schema.get("description")),
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
