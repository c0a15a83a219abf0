"""The role that writes a tool: one Python function over the table of an app."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seal.benchmarks.dialogtool.roles.dialogue import instructions
from seal.benchmarks.dialogtool.tool_life import DOCUMENT_MARK
from seal.core.plain import json_text
from seal.core.protocols import Chat, Message, Reply
from seal.core.types import JSON, Tool
from seal.sandbox.functions import CONVENTION, example_text, signature


class Creator:
    """Writes the function of the offered API."""

    def reply(self, chat: Chat) -> Reply:
        """Return the function's source, as the model wrote it."""
        tool = chat.tools[0]
        asked = creation_messages(tool, chat.request, chat.options.get("example"))
        return Reply(chat.complete(asked).content, done=True)


def creation_messages(tool: Tool, request: str, example: JSON = None) -> list[Message]:
    """Return the prompt by which a function is asked for.

    Args:
        tool: The API.
        request: What the user says.
        example: `{"arguments": {...}, "rows": [...]}`: one call and what it brought; None: none.
    """
    base = list(tool.source.get("base_required") or ())
    schema = tool.parameters
    needed = [name for name in schema.get("required", ()) if name not in base]
    rest = [name for name in schema.get("properties", {}) if name not in (*base, *needed)]
    asked = instructions(
        "creator",
        name=str(tool.source.get("api") or tool.name),
        description=tool.description,
        base=_arguments(schema, base),
        required=_arguments(schema, needed),
        optional=_arguments(schema, rest),
        columns=_columns(tool),
        document=DOCUMENT_MARK + _document(tool),
        convention=CONVENTION,
        signature=signature(tool),
        example=_example(tool, example),
    )
    return [asked, Message("user", request)]


def _document(tool: Tool) -> str:
    api = {"name": str(tool.source.get("api") or tool.name), "description": tool.description}
    return json_text({**api, "parameters": tool.parameters, "returns": tool.returns})


def _arguments(schema: Mapping[str, Any], names: Sequence[str]) -> str:
    """Return a line for each argument: name, type, what it is."""
    properties = schema.get("properties", {})
    lines = [_argument(name, properties.get(name, {})) for name in names]
    return "\n".join(lines) or "(none)"


def _argument(name: str, schema: Mapping[str, Any]) -> str:
    values = schema.get("enum")
    allowed = f", one of {json_text(values)}" if values else ""
    return f"- {name} ({schema.get('type', 'string')}): {schema.get('description', '')}{allowed}"


def _columns(tool: Tool) -> str:
    returns = tool.returns if isinstance(tool.returns, dict) else {}
    row = returns.get("items", {})
    return _arguments(row if isinstance(row, dict) else {}, list(row.get("properties", {})))


def _example(tool: Tool, example: JSON) -> str:
    if not isinstance(example, dict):
        return ""
    return "For instance, " + example_text(tool, example["arguments"], example["rows"])
