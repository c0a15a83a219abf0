"""What MCP clients ask of a chat, and the answers; it needs the SDK."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import mcp_types as types
from mcp import MCPError

from seal.agents.bridge_line import FINISHED, Line, OverError
from seal.agents.mcp_bridge import PROMPT, SUBMIT
from seal.agents.own import told_of
from seal.core import Chat, Tool, ToolCall, ToolResult, shortened

# -- What MCP clients ask of a chat, and the answers.

_ANSWER = {
    "type": "object",
    "properties": {"answer": {"type": "string", "description": "What the user is told."}},
    "required": ["answer"],
}


class Answers:
    """Answers the requests of MCP clients.

    The request and the tools are told after the end too, as they were last: the SDK's client lists
    the tools after a call of one that it does not know. The scope of a request has the `line` of
    its chat.
    """

    def __init__(self) -> None:
        self._told: WeakKeyDictionary[Line, dict[Any, Any]] = WeakKeyDictionary()

    async def list_tools(self, ctx: Any, params: Any) -> Any:
        """Return the tools of the chat, and the one that takes the answer."""
        offered: list[Tool] = await self._last(ctx, _offered, [])
        submit = types.Tool(
            name=_submit(offered), description="Give the final answer.", input_schema=_ANSWER
        )
        tools = [
            types.Tool(name=tool.name, description=tool.description, input_schema=tool.parameters)
            for tool in offered
        ]
        return types.ListToolsResult(tools=[*tools, submit])

    async def call_tool(self, ctx: Any, params: Any) -> Any:
        """Return what a call brings, or what the user says to the answer."""
        arguments = params.arguments or {}
        if params.name in (SUBMIT, f"{SUBMIT}_answer") and params.name == _submit(
            await self._last(ctx, _offered, [])
        ):
            answer = arguments.get("answer")
            if not isinstance(answer, str):
                got = shortened(answer) if "answer" in arguments else "nothing"
                return _told(f"the argument 'answer' must be a text, got {got}; submit again", True)
            return _told(await self._asked(ctx, answer) or FINISHED)
        result: ToolResult = await self._asked(ctx, ToolCall("", params.name, arguments))
        brought = _told(result.content, result.error is not None)
        if isinstance(result.value, dict):  # what earlier versions of the protocol take
            brought.structured_content = result.value
        return brought

    async def list_prompts(self, ctx: Any, params: Any) -> Any:
        """Return the one prompt."""
        prompt = types.Prompt(name=PROMPT, description="What the user asks for.")
        return types.ListPromptsResult(prompts=[prompt])

    async def get_prompt(self, ctx: Any, params: Any) -> Any:
        """Return the request, behind what the system told the agent."""
        if params.name != PROMPT:
            raise MCPError(types.INVALID_PARAMS, f"no prompt {params.name!r}; known: {PROMPT}")
        text = types.TextContent(type="text", text=await self._last(ctx, told_of, FINISHED))
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=text)])

    async def _asked(self, ctx: Any, what: Any) -> Any:
        try:
            return await asyncio.wrap_future(_line(ctx).ask(what))
        except OverError as error:
            raise MCPError(types.INVALID_REQUEST, str(error)) from error

    async def _last(self, ctx: Any, what: Callable[[Chat], Any], missing: Any) -> Any:
        line = _line(ctx)
        known = self._told.setdefault(line, {})
        try:
            known[what] = await self._asked(ctx, what)
        except MCPError:
            if not line.is_over:
                raise
        return known.get(what, missing)


def _line(ctx: Any) -> Line:
    line: Line = ctx.request.scope["line"]
    return line


def _told(text: str, is_error: bool = False) -> Any:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], is_error=is_error
    )


def _submit(offered: list[Tool]) -> str:
    """Return the name of the tool that takes the answer."""
    taken = any(tool.name == SUBMIT for tool in offered)
    return f"{SUBMIT}_answer" if taken else SUBMIT


def _offered(chat: Chat) -> list[Tool]:
    return list(chat.tools)
