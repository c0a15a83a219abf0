"""The tools that a chat offers: what the names in a model's calls mean, and the user's own tool.

The user may call `end_conversation` alone. The call goes to the executor like an agent's, so that
the trajectory shows it; it never reaches the environment, and it is none of the agent's calls. What
else a user's model calls is answered with an error of the kind `unknown_tool`, and the user
speaks again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from seal.agents.teams import EXECUTOR
from seal.core import END_CONVERSATION, Chat, Reply, Tool, ToolCall, ToolResult
from seal.core import FIND_TOOLS as FIND_TOOLS_ID
from seal.core.plain import json_text

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


END = Tool(
    id=END_CONVERSATION,
    name="end_conversation",
    description="End the conversation: the goal is reached, or the assistant keeps failing.",
)


def leave(chat: Chat, content: str = "") -> Reply:
    """Return the reply that ends the conversation, through the executor where one is seated."""
    if EXECUTOR in chat.roles:
        return Reply(content, (ToolCall("", END.name, {}),))
    return Reply(content, done=True)


def resolved(call: ToolCall, call_id: str) -> ToolCall:
    """Return a user's call under its place in the chat: whatever is offered to the agent."""
    return replace(call, id=call_id, tool=END.id if call.name == END.name else None)


def answered(call: ToolCall) -> ToolResult:
    """Return the result of a user's call."""
    if call.tool == END.id:
        return ToolResult(call.id, json_text({"error": "", "response": None}))
    message = f"The user has no tool {call.name!r}; it has: {END.name}."
    error = {"kind": "unknown_tool", "name": call.name, "message": message}
    return ToolResult(call.id, json_text({"error": message, "response": None}), error)
