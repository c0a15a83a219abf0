"""The kinds of tools that people have (`seal.pools.own_benchmark` reads them)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from seal.core import Tool

OwnTool = Tool | Mapping[str, Any] | Callable[..., Any]
"""A record, a schema (of OpenAI's chat completions or responses, of Anthropic's or MCP's tools), or
a function with types and a docstring of Google's style."""
FUNCTION = "function"
"""Key of a tool's `source` under which the dotted path of its function stands."""
FEW_TOOLS = 20
"""A benchmark with at most so many tools offers them all, where its tasks do not say otherwise."""


@dataclass(frozen=True, slots=True)
class OwnTools:
    """The tools of one benchmark."""

    by_id: Mapping[str, Tool] = field(default_factory=dict)
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    """Tool id to the function that runs; calls of all other tools are simulated."""

    def ids(self) -> dict[str, str]:
        """Return name to id, of the tools and of their ids themselves."""
        return {tool.name: tool.id for tool in self.by_id.values()} | {i: i for i in self.by_id}
