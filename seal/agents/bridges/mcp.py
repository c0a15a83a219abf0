"""An MCP client as the agent: what a chat offers it gets from an MCP server of ours.

The request is the prompt `task`. The chat's tools are the server's, so that a call is a call of the
chat: checked, run, counted and recorded. The answer is given by the tool `submit`, which returns
what the user says to it, or that the task is finished.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

from seal.agents.faults import OverdueError
from seal.agents.teams import USER
from seal.core.errors import MissingExtraError
from seal.core.protocols import Chat, Reply
from seal.core.types import Tool, ToolCall, ToolResult

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

PROMPT = "task"
"""Name of the prompt that holds the request."""
SUBMIT = "submit"
"""Name of the tool that takes the answer; `submit_answer` where the chat has one of this name."""
FINISHED = "The task is finished. End the session."
_HOW = (
    f"Get the request by the prompt `{PROMPT}`. Solve it with the tools, and give the final answer "
    f"by the tool `{SUBMIT}`."
)
_ANSWER = {
    "type": "object",
    "properties": {"answer": {"type": "string", "description": "What the user is told."}},
    "required": ["answer"],
}


class LeftError(Exception):
    """The client ended its session without an answer."""


class OverError(Exception):
    """Nothing can be asked of a chat: it has ended, or there is none."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a client wants of the chat."""

    what: Literal["call", "request", "submit", "tools"]
    given: Any = None
    answered: Future[Any] = field(default_factory=Future)


class Line:
    """Between the thread of one chat and the client that plays it.

    Args:
        holds: True: the answer to the last `submit` waits for `finish`, so that all files of the
            run are written when the client gets it.
    """

    def __init__(self, holds: bool = False) -> None:
        self._holds = holds
        self._inbox: queue.Queue[_Asked | None] = queue.Queue()
        self._next: deque[_Asked | None] = deque()
        self._submitted: Future[Any] | None = None
        self._over = False
        self._lock = threading.Lock()

    @property
    def is_over(self) -> bool:
        """Whether the chat has ended."""
        return self._over

    def ask(self, what: Literal["call", "request", "submit", "tools"], given: Any) -> Future[Any]:
        """Return what the chat will answer a client; it fails with `OverError` once it ended."""
        asked = _Asked(what, given)
        with self._lock:
            if self._over:
                asked.answered.set_exception(OverError(FINISHED))
            else:
                self._inbox.put(asked)
        return asked.answered

    def leave(self) -> None:
        """Take note that the client has ended its session."""
        self._inbox.put(None)

    def reply(self, chat: Chat) -> Reply:
        """Serve the client until it submits its answer, in the thread of the chat.

        Raises:
            LeftError: It left before.
            OverdueError: It takes longer than the chat may last.
        """
        if self._submitted is not None:
            self._submitted.set_result(_heard(chat))
            self._submitted = None
        while True:
            asked = self._taken(chat)
            if asked is None:
                raise LeftError("the MCP client ended its session without an answer")
            if asked.what == "submit":
                self._submitted = asked.answered
                return Reply(asked.given)
            if asked.what == "call":
                self._run(chat, asked)
            else:
                asked.answered.set_result(
                    list(chat.tools) if asked.what == "tools" else _heard(chat)
                )

    def close(self) -> None:
        """End the line with its chat: what is still asked fails."""
        with self._lock:
            self._over = True
        while not self._inbox.empty():
            self._next.append(self._inbox.get())
        for asked in self._next:
            if asked is not None and asked.answered.set_running_or_notify_cancel():
                asked.answered.set_exception(OverError(FINISHED))
        self._next.clear()
        if not self._holds:
            self.finish()

    def finish(self) -> None:
        """Answer the last `submit`."""
        submitted, self._submitted = self._submitted, None
        if submitted is not None:
            submitted.set_result(FINISHED)

    def _taken(self, chat: Chat) -> _Asked | None:
        """Return what is asked next; of what its client has given up nothing is left."""
        while True:
            asked = self._next.popleft() if self._next else self._waited(chat)
            if asked is None or asked.answered.set_running_or_notify_cancel():
                return asked

    def _waited(self, chat: Chat) -> _Asked | None:
        try:
            return self._inbox.get(timeout=chat.seconds_left)
        except queue.Empty as error:
            raise OverdueError("the MCP client takes longer than the chat may last") from error

    def _run(self, chat: Chat, first: _Asked) -> None:
        """Run a call, and at once with it the calls that came meanwhile."""
        batch = [first]
        while not self._inbox.empty():
            self._next.append(self._inbox.get())
        while self._next and self._next[0] is not None and self._next[0].what == "call":
            asked = self._next.popleft()
            if asked is not None and asked.answered.set_running_or_notify_cancel():
                batch.append(asked)
        try:
            results = chat.execute([asked.given for asked in batch])
        except BaseException as error:  # also that the budget of calls is spent
            for asked in batch:
                asked.answered.set_exception(OverError(str(error)))
            raise
        for asked, result in zip(batch, results, strict=True):
            asked.answered.set_result(result)


class McpClients:
    """MCP clients in the place of the role that calls tools, one for each task.

    Args:
        lines: Task id to its line.
        name: Of the agent that is tried, for the run's record.
        begin: Called before the first chat begins.
    """

    plays_own_code = True

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

    def reply(self, chat: Chat) -> Reply:
        """Return the client's answer."""
        return self._lines[chat.task_id].reply(chat)

    def close(self) -> None:
        """Do nothing: each chat closes its line."""


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

    Args:
        line_of: The context of a request to the line that it belongs to, or an `OverError`.

    Raises:
        MissingExtraError: The SDK is not installed.
    """
    try:
        import mcp_types as types
        from mcp import MCPError
        from mcp.server.lowlevel import Server
    except ModuleNotFoundError as error:
        raise MissingExtraError("mcp", "mcp") from error

    async def asked(ctx: Any, what: Any, given: Any = None) -> Any:
        try:
            return await asyncio.wrap_future(line_of(ctx).ask(what, given))
        except OverError as error:
            raise MCPError(types.INVALID_REQUEST, str(error)) from error

    async def list_tools(ctx: Any, params: Any) -> Any:
        offered: list[Tool] = await asked(ctx, "tools")
        submit = types.Tool(
            name=_submit(offered), description="Give the final answer.", input_schema=_ANSWER
        )
        tools = [
            types.Tool(name=tool.name, description=tool.description, input_schema=tool.parameters)
            for tool in offered
        ]
        return types.ListToolsResult(tools=[*tools, submit])

    async def call_tool(ctx: Any, params: Any) -> Any:
        arguments = params.arguments or {}
        if params.name in (SUBMIT, f"{SUBMIT}_answer") and params.name == _submit(
            await asked(ctx, "tools")
        ):
            said = await asked(ctx, "submit", str(arguments.get("answer", "")))
            return types.CallToolResult(content=[types.TextContent(type="text", text=said)])
        result: ToolResult = await asked(ctx, "call", ToolCall("", params.name, arguments))
        brought = types.CallToolResult(
            content=[types.TextContent(type="text", text=result.content)],
            is_error=result.error is not None,
        )
        if isinstance(result.value, dict):  # what earlier versions of the protocol take
            brought.structured_content = result.value
        return brought

    async def list_prompts(ctx: Any, params: Any) -> Any:
        prompt = types.Prompt(name=PROMPT, description="What the user asks for.")
        return types.ListPromptsResult(prompts=[prompt])

    async def get_prompt(ctx: Any, params: Any) -> Any:
        if params.name != PROMPT:
            raise MCPError(types.INVALID_PARAMS, f"no prompt {params.name!r}; known: {PROMPT}")
        text = types.TextContent(type="text", text=await asked(ctx, "request"))
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=text)])

    return Server(
        "seal",
        version=version("seal-api-llms"),
        instructions=_HOW,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


def _submit(offered: list[Tool]) -> str:
    """Return the name of the tool that takes the answer."""
    taken = any(tool.name == SUBMIT for tool in offered)
    return f"{SUBMIT}_answer" if taken else SUBMIT


def _heard(chat: Chat) -> str:
    """Return what the user said last."""
    said = (s for s in reversed(chat.steps) if s.author == USER and s.call is None)
    return next((step.content for step in said), chat.request)


__all__ = ["FINISHED", "PROMPT", "SUBMIT", "Line", "McpClients", "OverError", "mcp_server"]
