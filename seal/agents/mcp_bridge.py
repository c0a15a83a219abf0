"""An MCP client as the agent; it needs the SDK."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from importlib.metadata import version
from typing import Any
from weakref import WeakKeyDictionary

import mcp_types as types
from anyio.from_thread import start_blocking_portal
from mcp import MCPError
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from seal.agents.bridge import FINISHED, Line, OverError
from seal.agents.own import told_of
from seal.core import Chat, Tool, ToolCall, ToolResult, shortened

# -- An MCP client as the agent: what a chat offers it gets from an MCP server of ours.
#
# The request is the prompt `task`. The chat's tools are the server's, so that a call is a call of
# the chat: checked, run, counted and recorded. The answer is given by the tool `submit`, which
# returns what the user says to it, or that the task is finished.

PROMPT = "task"
"""Name of the prompt that holds the request."""
SUBMIT = "submit"
"""Name of the tool that takes the answer; `submit_answer` where the chat has one of this name."""
_HOW = (
    f"Get the request by the prompt `{PROMPT}`. Solve it with the tools, and give the final answer "
    f"by the tool `{SUBMIT}`."
)


class McpPosts:
    """Answers requests of MCP clients that an HTTP server of ours has got; keeps no sessions."""

    def __init__(self) -> None:
        answers = _Answers()
        server: Server[Any] = Server(
            "seal",
            version=version("seal-api-llms"),
            instructions=_HOW,
            on_list_tools=answers.list_tools,
            on_call_tool=answers.call_tool,
            on_list_prompts=answers.list_prompts,
            on_get_prompt=answers.get_prompt,
        )
        self._manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
        self._held = ExitStack()
        self._portal = self._held.enter_context(start_blocking_portal())
        self._held.enter_context(self._portal.wrap_async_context_manager(self._manager.run()))

    def answer(
        self, line: Line, headers: Iterable[tuple[str, str]], body: bytes
    ) -> tuple[bytes, int]:
        """Return the answer to a POST request: its body and status.

        Args:
            line: Of the chat that is asked.
            headers: Of the request.
            body: Of the request.
        """
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/",
            "query_string": b"",
            "headers": [(name.lower().encode(), value.encode()) for name, value in headers],
            "line": line,
        }
        answer: tuple[bytes, int] = self._portal.call(self._answer, scope, body)
        return answer

    def close(self) -> None:
        """Answer no more."""
        self._held.close()

    async def _answer(self, scope: dict[str, Any], body: bytes) -> tuple[bytes, int]:
        said: list[Mapping[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body}

        async def send(message: Mapping[str, Any]) -> None:
            said.append(message)

        await self._manager.handle_request(scope, receive, send)
        content = b"".join(one.get("body", b"") for one in said[1:])
        return content, said[0]["status"]


# -- What MCP clients ask of a chat, and the answers.

_ANSWER = {
    "type": "object",
    "properties": {"answer": {"type": "string", "description": "What the user is told."}},
    "required": ["answer"],
}


class _Answers:
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
