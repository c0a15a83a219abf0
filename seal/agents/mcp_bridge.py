"""An MCP client as the agent."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from seal.agents import PlayedAnew
from seal.agents.bridge_line import Line
from seal.core import Chat, Reply, needing

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

        from seal.agents.mcp_answers import Answers

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
