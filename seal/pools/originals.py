"""What calls of scrambled tools run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from seal.core import Tool

FUNCTION = "function"
ORIGINAL = "original"
"""Under these names a scrambled tool's `source` has the original's id and document."""


def is_scrambled(tool: Tool) -> bool:
    """Tell whether a tool is a scrambled one."""
    return FUNCTION in tool.source and isinstance(tool.source.get(ORIGINAL), Mapping)


def originals(tools: Iterable[Tool]) -> dict[str, Tool]:
    """Return for the id of each scrambled tool the tool that a call of it runs."""
    return {
        tool.id: replace(tool, id=str(tool.source[FUNCTION]), **tool.source[ORIGINAL])
        for tool in tools
        if is_scrambled(tool)
    }
