"""An MCP client as the agent, and what becomes of its answers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import mcp_types as types
from mcp import MCPError

from seal.agents import PlayedAnew
from seal.agents.bridge_line import FINISHED, Line, OverError
from seal.agents.own import told_of
from seal.core import Chat, Reply, Tool, ToolCall, ToolResult, needing, shortened

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

# -- An MCP client as the agent: what a chat offers it gets from an MCP server of ours.
#
# The request is the prompt `task`. The chat's tools are the server's, so that a call is a call of
# the chat: checked, run, counted and recorded. The answer is given by the tool `submit`, which
# returns what the user says to it, or that the task is finished. `seal.runs.mcp_tasks` offers it to
# clients that come by themselves, `McpPosts` to agents that are bridged.

PROMPT = "task"
"""Name of the prompt that holds the request."""
SUBMIT = "submit"
"""Name of the tool that takes the answer; `submit_answer` where the chat has one of this name."""
_HOW = (
    f"Get the request by the prompt `{PROMPT}`. Solve it with the tools, and give the final answer "
    f"by the tool `{SUBMIT}`."
)


class McpClients(PlayedAnew):
    """MCP clients in the place of the role that calls tools, one for each task.

    Args:
        lines: Task id to its line.
        name: Of the agent that is tried, for the run's record.
        begin: Called before the first chat begins.
    """

    def __init__(
        self, lines: Mapping[str, Line], name: str, begin: Callable[[], None] = lambda: None
    ) -> None:
        self.identity = name
        self._lines = lines
        self._begin = begin
        self._lock = threading.Lock()

    def for_chat(self) -> McpSeat:
        """Return what plays the role in one chat."""
        with self._lock:
            begin, self._begin = self._begin, lambda: None
            begin()
        return McpSeat(self._lines)


@dataclass(slots=True)
class McpSeat:
    """The client of one chat."""

    lines: Mapping[str, Line]
    line: Line | None = None
    plays_own_code: bool = True

    def reply(self, chat: Chat) -> Reply:
        """Return the client's answer."""
        self.line = self.lines[chat.task_id]
        return self.line.reply(chat)

    def close(self) -> None:
        """End the line."""
        if self.line is not None:
            self.line.close()


def mcp_server(line_of: Callable[[Any], Line]) -> Server[Any]:
    """Return the MCP server of lines.

    The request and the tools are told after the end too, as they were last: the SDK's client lists
    the tools after a call of one that it does not know.

    Args:
        line_of: The context of a request to the line that it belongs to, or an `OverError`.

    Raises:
        MissingExtraError: The SDK is not installed.
    """
    with needing("mcp", "mcp"):
        from mcp.server.lowlevel import Server

        from seal.agents.mcp_bridge import Answers

    answers = Answers(line_of)
    return Server(
        "seal",
        version=version("seal-api-llms"),
        instructions=_HOW,
        on_list_tools=answers.list_tools,
        on_call_tool=answers.call_tool,
        on_list_prompts=answers.list_prompts,
        on_get_prompt=answers.get_prompt,
    )


class McpPosts:
    """Answers requests of MCP clients that an HTTP server of ours has got; keeps no sessions.

    Raises:
        MissingExtraError: The SDK is not installed.
    """

    def __init__(self) -> None:
        server = mcp_server(lambda context: context.request.scope["line"])
        from anyio.from_thread import start_blocking_portal
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

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


class Answers:
    """Answers the requests of MCP clients.

    The request and the tools are told after the end too, as they were last: the SDK's client lists
    the tools after a call of one that it does not know.

    Args:
        line_of: The context of a request to the line that it belongs to, or an `OverError`.
    """

    def __init__(self, line_of: Callable[[Any], Line]) -> None:
        self._line_of = line_of
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

    def _line(self, ctx: Any) -> Line:
        try:
            return self._line_of(ctx)
        except OverError as error:
            raise MCPError(types.INVALID_REQUEST, str(error)) from error

    async def _asked(self, ctx: Any, what: Any) -> Any:
        try:
            return await asyncio.wrap_future(self._line(ctx).ask(what))
        except OverError as error:
            raise MCPError(types.INVALID_REQUEST, str(error)) from error

    async def _last(self, ctx: Any, what: Callable[[Chat], Any], missing: Any) -> Any:
        line = self._line(ctx)
        known = self._told.setdefault(line, {})
        try:
            known[what] = await self._asked(ctx, what)
        except MCPError:
            if not line.is_over:
                raise
        return known.get(what, missing)


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
