"""What a retriever reads of a tool: a text by a named template.

A template is a pure function of a tool. The index on disk is keyed by the texts themselves, so a
changed template never meets an old index.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from seal.core import Tool, UsageError
from seal.core.registry import Registry

Template: TypeAlias = Callable[[Tool], str]

DESCRIPTION_LIMIT = 2000
"""Characters of a description that are read; the rest of a longer one adds noise, no recall."""
DOCUMENT_LIMIT = 8000
"""Characters of a whole document."""
DEFAULT = "tool_api_description"

TEMPLATES = Registry(
    "document template",
    "seal.templates",
    {
        "full": "seal.retrievers.documents:full",
        "name": "seal.retrievers.documents:name",
        "name_description": "seal.retrievers.documents:name_description",
        "tool_api_description": "seal.retrievers.documents:tool_api_description",
    },
)

_DIGEST = re.compile(r"#[0-9a-f]{8}$")


class Names(NamedTuple):
    """What a tool is called where it comes from."""

    tool: str
    """The service or class that offers the API; empty where there is none."""
    api: str


def documents(tools: Sequence[Tool], template: Any = DEFAULT) -> list[str]:
    """Return one text for each tool, of at most `DOCUMENT_LIMIT` characters.

    Args:
        tools: The tools.
        template: A template's name, a dotted path, or a function of a tool.

    Raises:
        UnknownNameError: No template of that name.
        UsageError: The template is no function.
    """
    function = TEMPLATES.resolve(template)
    if not callable(function):
        raise UsageError(f"the document template {template!r} is no function of a tool")
    return [shortened(function(tool), DOCUMENT_LIMIT) for tool in tools]


def template_name(template: Any) -> str:
    """Return a template's name as it stands in identities."""
    return template if isinstance(template, str) else getattr(template, "__qualname__", "custom")


def shortened(text: str, limit: int) -> str:
    """Return the text, cut at the last blank before `limit` characters where it is longer."""
    if len(text) <= limit:
        return text
    head = text[: limit + 1]
    blank = max(head.rfind(" "), head.rfind("\n"))
    # Chinese and Japanese have no blanks: a cut far before the limit would lose the text.
    return head[:blank] if blank > limit // 2 else head[:limit]


def names(tool: Tool) -> Names:
    """Return `tool` and `api` of a tool's source, else what its id `benchmark/tool/api` says."""
    upstream = tool.source.get("tool"), tool.source.get("api")
    if all(isinstance(part, str) and part for part in upstream):
        return Names(str(upstream[0]), str(upstream[1]))
    parts = _DIGEST.sub("", tool.id).split("/", 2)
    if len(parts) == 3:
        return Names(parts[1], parts[2])
    return Names("", tool.name)


def tool_api_description(tool: Tool) -> str:
    """Return "tool api: description"; the tool's name is left out where it equals the api's."""
    title = " ".join(dict.fromkeys(part for part in names(tool) if part))
    return f"{title}: {shortened(tool.description, DESCRIPTION_LIMIT)}"


def name(tool: Tool) -> str:
    """Return the name that a model sees."""
    return tool.name


def name_description(tool: Tool) -> str:
    """Return "name: description" with the name that a model sees."""
    return f"{tool.name}: {shortened(tool.description, DESCRIPTION_LIMIT)}"


def full(tool: Tool) -> str:
    """Return "tool api: description" with the category and the parameters in words."""
    parts = [tool_api_description(tool)]
    if tool.category:
        parts.append(f"Category: {tool.category}.")
    described = [
        f"{parameter} {text_or_empty(schema.get('description'))}".strip()
        for parameter, schema in properties_of(tool).items()
    ]
    if described:
        parts.append(f"Parameters: {'; '.join(described)}.")
    return " ".join(parts)


def properties_of(tool: Tool) -> dict[str, Mapping[str, Any]]:
    """Return the schemas of a tool's parameters; what is no schema is an empty one."""
    properties = tool.parameters.get("properties")
    if not isinstance(properties, dict):
        return {}
    return {
        str(key): schema if isinstance(schema, dict) else {} for key, schema in properties.items()
    }


def text_or_empty(value: Any) -> str:
    """Return what should be a text; empty where it is none."""
    return value if isinstance(value, str) else ""
