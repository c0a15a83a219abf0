"""When two calls ask for the same.

Texts are compared without case and blanks. An argument that is left out counts as its default. One
that is `dontcare` counts as left out, for so dialogues say that nothing is filtered by it.
Source: Schema-Guided Dialogue; DialogTool (2025), same input, same output.
"""

from __future__ import annotations

from collections.abc import Mapping

from seal.core import JSON, Tool
from seal.core.canonical import canonical_json

DONT_CARE = "dontcare"
"""Value of an argument by which nothing is filtered."""


def call_key(tool: Tool, arguments: Mapping[str, JSON]) -> bytes:
    """Return what calls of a tool have in common that ask for the same."""
    return canonical_json(asked(tool, arguments))


def asked(tool: Tool, arguments: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return what a call asks for: its arguments and the defaults, as they are compared."""
    properties = tool.parameters.get("properties", {})
    defaults = {name: slot["default"] for name, slot in properties.items() if "default" in slot}
    folded = {name: fold(value) for name, value in (defaults | dict(arguments)).items()}
    return {name: value for name, value in folded.items() if value != DONT_CARE}


def fold(value: JSON) -> JSON:
    """Return a value as it is compared: a text without case, and with single blanks."""
    return " ".join(value.casefold().split()) if isinstance(value, str) else value
