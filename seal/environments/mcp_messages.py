"""What an MCP server sends, looked at before the SDK reads it, which loses what it refuses.

An answer that breaks the protocol is the server's fault, unless a good text or structure stands
beside what is wrong in it: then that is what a model reads. Lines that are no messages, such as a
banner or a log, are passed over.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from seal.core import JSON, first_fault


@dataclass(slots=True)
class Heard:
    """What a session has heard of its server since a call began."""

    statuses: list[int] = field(default_factory=list)
    """Of HTTP, of the answers to what was sent."""
    fault: str = ""
    """What is wrong with an answer that nobody can read; empty: nothing."""
    result: Any = None
    """The last result, as the SDK reads it; None: none came."""
    errors: set[int] = field(default_factory=set)
    """Codes of errors that the server itself has sent."""
    scope: Any = None
    """Of the request that waits for an answer; None: none does."""
    is_call: bool = False
    """Whether that calls a tool; False: it asks for a list."""

    def begin(self, scope: Any, is_call: bool = True) -> None:
        """Forget what was heard before a request."""
        self.statuses.clear()
        self.errors.clear()
        self.fault, self.result, self.scope, self.is_call = "", None, scope, is_call

    def refuse(self, why: str) -> None:
        """Let the request that waits end: its answer has come, and nobody can read it."""
        if self.scope is not None:
            self.fault = self.fault or why
            self.scope.cancel()


@asynccontextmanager
async def looked_at(transport: Any, heard: Heard) -> AsyncIterator[Any]:
    """Yield the streams of a transport, of which the incoming one is looked at.

    Args:
        transport: Of the SDK.
        heard: Gets what is heard.
    """
    import anyio

    async with transport as (incoming, outgoing), anyio.create_task_group() as group:
        sender, receiver = anyio.create_memory_object_stream[Any](0)

        async def relay() -> None:
            async with sender:
                async for message in incoming:
                    if (kept := _kept(message, heard)) is not None:
                        try:
                            await sender.send(kept)
                        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                            return  # the session is over

        group.start_soon(relay)
        try:
            yield receiver, outgoing
        finally:
            receiver.close()
            group.cancel_scope.cancel()


def _kept(message: Any, heard: Heard) -> Any:
    """Return a message as the SDK is to read it; None: it reads nothing."""
    from mcp_types import JSONRPCError, JSONRPCResponse

    if isinstance(message, Exception):
        if why := _unread(message):
            heard.refuse(why)
        return None
    body = message.message
    if isinstance(body, JSONRPCError):
        heard.errors.add(body.error.code)
    elif (
        isinstance(body, JSONRPCResponse)
        and heard.scope is not None
        and heard.is_call
        and _is_of_a_call(body)
    ):
        fault = mend(body.result)
        if fault:
            heard.refuse(fault)
            return None
        heard.result = body.result
    return message


def _is_of_a_call(body: Any) -> bool:
    """Tell whether a result is not that of another request, which the SDK may make of its own."""
    is_asking = body.result.get("resultType") == "input_required"
    return not is_asking and not {"tools", "serverInfo"} & body.result.keys()


def _unread(error: Exception) -> str:
    """Return what is wrong with a line that was to be an answer; empty: it is a mere line."""
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        return ""
    for one in error.errors(include_url=False):
        given, place = one["input"], {str(part) for part in one["loc"][1:]}
        text = isinstance(given, str) and not place
        if text and '"id"' in given and ('"result"' in given or '"error"' in given):
            return str(one["msg"])
        if isinstance(given, list) and any(map(_is_an_answer, given)):
            return "it is a list of messages, which the protocol does not have"
        if _is_an_answer(given) and one["type"] == "missing" and "jsonrpc" in place:
            return f"it breaks the protocol: {first_fault(error)}"
        if one["type"] != "missing" and not place.isdisjoint({"result", "error"}):
            return f"it breaks the protocol: {'.'.join(map(str, one['loc'][1:]))}: {one['msg']}"
    return ""


def _is_an_answer(value: Any) -> bool:
    return isinstance(value, Mapping) and "id" in value and not value.keys().isdisjoint(_ANSWERS)


_ANSWERS = frozenset({"result", "error"})


def mend(result: dict[str, Any]) -> str:
    """Make a result of a call one that the SDK reads; return why it cannot be, empty: it is one.

    Parts of the content that no version of the protocol has become words that name them. What the
    structure has that JSON has not is null.
    """
    from mcp_types import CallToolResult
    from pydantic import ValidationError

    content, structure = result.get("content"), result.get("structuredContent")
    if "structuredContent" in result:
        result["structuredContent"] = structure = _as_json(structure)
    if content is None and isinstance(structure, dict):
        content = []
    if not isinstance(content, list):
        got = "is missing" if "content" not in result else f"expected a list, got {content!r:.80}"
        return f"it breaks the protocol: content: {got}"
    known = [_is_part(part) for part in content]
    if content and not any(known) and not isinstance(structure, dict):
        return f"it breaks the protocol: content: no part of it can be read: {content[0]!r:.80}"
    parts = zip(content, known, strict=True)
    result["content"] = [part if good else _named(part) for part, good in parts]
    try:
        CallToolResult.model_validate(result)
    except ValidationError as error:
        for name in result.keys() - {"content", "isError", "resultType"}:
            del result[name]
        try:
            CallToolResult.model_validate(result)
        except ValidationError:
            return f"it breaks the protocol: {first_fault(error)}"
        if not content:
            return f"it breaks the protocol: {first_fault(error)}"
    return ""


def _is_part(part: Any) -> bool:
    from mcp_types import CallToolResult
    from pydantic import ValidationError

    try:
        CallToolResult.model_validate({"content": [part]})
    except ValidationError:
        return False
    return True


def _named(part: Any) -> dict[str, str]:
    kind = part.get("type") if isinstance(part, Mapping) else None
    return {"type": "text", "text": f"[{kind if isinstance(kind, str) else 'unknown'}]"}


def _as_json(value: Any) -> JSON:
    """Return a structure in which null stands for numbers that JSON has not."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _as_json(inner) for name, inner in value.items()}
    return [_as_json(inner) for inner in value] if isinstance(value, list) else value
