"""The tools that a chat offers, and what the names in a model's calls mean."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from seal.core.types import FIND_TOOLS as FIND_TOOLS_ID
from seal.core.types import Tool, ToolCall

FIND_TOOLS = Tool(
    id=FIND_TOOLS_ID,
    name="find_tools",
    description="Look for tools that can do something. The tools found can be called from then on.",
    parameters={
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What a tool should do, in one sentence."}
        },
        "required": ["query"],
        "additionalProperties": False,
    },
)
"""Offered under `retrieve=on-demand`."""


class Offers:
    """Tools with names of their own: a name that is taken gets `_2`, `_3`..."""

    def __init__(self) -> None:
        self.tools: list[Tool] = []
        self.names: list[str] = []
        self._by_name: dict[str, Tool] = {}
        self._ids: set[str] = set()

    def add(self, tools: Iterable[Tool]) -> list[Tool]:
        """Offer tools that are not offered yet. Returns all given ones under their names here."""
        given = list(tools)
        for tool in given:
            if tool.id not in self._ids:
                self._add(tool)
        wanted = {tool.id for tool in given}
        return [tool for tool in self.tools if tool.id in wanted]

    def _add(self, tool: Tool) -> None:
        name, number = tool.name, 1
        while name in self._by_name:
            number += 1
            name = f"{tool.name}_{number}"
        named = tool if name == tool.name else replace(tool, name=name)
        self.tools.append(named)
        self.names.append(name)
        self._by_name[name] = named
        self._ids.add(tool.id)

    def resolve(self, call: ToolCall, call_id: str) -> ToolCall:
        """Return the call under its place in the chat and with the id of the tool that it names."""
        tool = self._by_name.get(call.name)
        return replace(call, id=call_id, tool=tool.id if tool else None)
