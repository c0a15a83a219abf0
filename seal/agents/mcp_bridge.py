"""An MCP client as the agent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from importlib.metadata import version
from typing import Any

from seal.agents.bridge_line import Line
from seal.core import needing

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
    """Answers requests of MCP clients that an HTTP server of ours has got; keeps no sessions.

    Raises:
        MissingExtraError: The SDK is not installed.
    """

    def __init__(self) -> None:
        with needing("mcp", "mcp"):
            from mcp.server.lowlevel import Server

            from seal.agents.mcp_answers import Answers

        answers = Answers()
        server: Server[Any] = Server(
            "seal",
            version=version("seal-api-llms"),
            instructions=_HOW,
            on_list_tools=answers.list_tools,
            on_call_tool=answers.call_tool,
            on_list_prompts=answers.list_prompts,
            on_get_prompt=answers.get_prompt,
        )
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
