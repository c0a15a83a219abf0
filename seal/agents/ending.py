"""The user's own tool, and what the user's calls bring.

The user may call `end_conversation` alone. The call goes to the executor like an agent's, so that
the trajectory shows it; it never reaches the environment, and it is none of the agent's calls. What
else a user's model calls is answered with an error of the kind `unknown_tool`, and the user
speaks again.
"""

from __future__ import annotations

from dataclasses import replace

from seal.agents.teams import EXECUTOR
from seal.core.plain import json_text
from seal.core.protocols import Chat, Reply
from seal.core.types import END_CONVERSATION, Tool, ToolCall, ToolResult

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
