"""What an MCP server sends, looked at before the SDK reads it, which loses what it refuses.

An answer that breaks the protocol is the server's fault, unless a good text or structure stands
beside what is wrong in it: then that is what a model reads. Lines that are no messages, such as a
banner or a log, are passed over.
"""

from __future__ import annotations

import math
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from seal.core import JSON, first_fault
from seal.core.outcomes import error_in, words_of
from seal.core.values import json_value

_GRACE_S = 5.0
"""Seconds that an answer may still take after one that is of no request: some servers answer
notifications."""


@dataclass(slots=True)
class Heard:
    """What a session has heard of its server since a call began."""

    statuses: list[int] = field(default_factory=list)
    """Of HTTP, of the answers to what was sent."""
    refusal: str = ""
    """What the server said of an error outside the protocol, last; empty: nothing."""
    fault: str = ""
    """What is wrong with an answer that nobody can read; empty: nothing."""
    result: Any = None
    """The last result, as the SDK reads it; None: none came."""
    asked: set[str] = field(default_factory=set)
    """Ids of all requests of the session."""
    errors: set[int] = field(default_factory=set)
    """Codes of errors that the server itself has sent."""
    scope: Any = None
    """Of the request that waits for an answer; None: none does."""
    is_call: bool = False
    """Whether that calls a tool; False: it asks for a list."""
    part: str = ""
    """What it asks for a list of; empty: it calls a tool."""
    odd: dict[str, list[str]] = field(default_factory=dict)
    """By what was listed, the entries that were left out, each with what is wrong with it."""

    def begin(self, scope: Any, part: str = "") -> None:
        """Forget what was heard before a request.

        Args:
            scope: Of it.
            part: What it asks for a list of; empty: it calls a tool.
        """
        self.statuses.clear()
        self.errors.clear()
        self.fault, self.result, self.scope, self.part = "", None, scope, part
        self.refusal = ""
        self.is_call = not part

    def doubt(self, why: str) -> None:
        """Let the request that waits end soon: what came may be of another message than it."""
        import anyio

        if self.scope is not None:
            self.fault = self.fault or why
            soon = anyio.current_time() + _GRACE_S
            self.scope.deadline = min(self.scope.deadline, soon)

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
            yield receiver, _Noted(outgoing, heard)
        finally:
            receiver.close()
            group.cancel_scope.cancel()


class _Noted:
    """The stream of what is sent, whose requests are noted.

    Args:
        stream: Of the SDK.
        heard: Gets their ids.
    """

    def __init__(self, stream: Any, heard: Heard) -> None:
        self._stream = stream
        self._heard = heard

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def __aenter__(self) -> _Noted:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> Any:
        return await self._stream.__aexit__(*raised)

    async def send(self, message: Any) -> None:
        """Send a message."""
        self._heard.asked.add(str(getattr(message.message, "id", None)))
        await self._stream.send(message)


def _kept(message: Any, heard: Heard) -> Any:
    """Return a message as the SDK is to read it; None: it reads nothing."""
    from mcp_types import JSONRPCError, JSONRPCResponse

    if isinstance(message, Exception):
        if why := _unread(message):
            heard.refuse(why)
        return None
    body = message.message
    if isinstance(body, JSONRPCError) and body.id is None:
        heard.doubt(_words_of_nobody({"message": body.error.message}))
    elif isinstance(body, (JSONRPCError, JSONRPCResponse)) and str(body.id) not in heard.asked:
        heard.doubt(f"it answers a request of id {body.id!r:.40}, which was not asked")
    elif isinstance(body, JSONRPCError):
        heard.errors.add(body.error.code)
    elif isinstance(body, JSONRPCResponse) and heard.scope is not None and heard.part:
        odd = without_odd(body.result, heard.part)
        heard.odd.setdefault(heard.part, []).extend(odd)
    elif (
        isinstance(body, JSONRPCResponse)
        and heard.scope is not None
        and heard.is_call
        and _is_of_a_call(body)
    ):
        is_asking = body.result.get("resultType") == "input_required"
        fault = _ASKS if is_asking else mend(body.result)
        if fault:
            heard.refuse(fault)
            return None
        heard.result = body.result
    return message


LISTS = {
    "tools": ("tools", "tools/list"),
    "resources": ("resources", "resources/list"),
    "resource_templates": ("resourceTemplates", "resources/templates/list"),
    "prompts": ("prompts", "prompts/list"),
}
"""What is listed to the field of its list, and the method that asks for it."""
_WIDEST = "2025-11-25"
"""Version of the protocol whose lists hold those of all before it."""


def without_odd(result: dict[str, Any], part: str) -> list[str]:
    """Take the entries out of a list that break the protocol, for which the SDK refuses all of it.

    So are tools whose name is blank, which the protocol allows.

    Args:
        result: Of the request for a list; its list is changed.
        part: What is listed, a key of `LISTS`.

    Returns:
        The name of each such entry, and what is wrong with it.
    """
    from mcp_types.methods import parse_server_result
    from pydantic import ValidationError

    name, method = LISTS[part]
    entries, told = result.get(name), dict[int, str]()
    if not isinstance(entries, list):
        return []
    try:
        parse_server_result(method, _WIDEST, result)
    except ValidationError as error:
        for one in error.errors(include_url=False, include_input=False):
            where = one["loc"]
            at = where.index(name) + 1 if name in where else len(where)
            if at < len(where) and isinstance(place := where[at], int):
                inner = ".".join(map(str, where[at + 1 :])) or "it"
                told.setdefault(place, f"{inner}: {one['msg']}")
    for place, entry in enumerate(entries):
        if part == "tools" and isinstance(entry, dict) and not str(entry.get("name", 0)).strip():
            told.setdefault(place, "name: it is blank, and no model can call it")
    kept = [one for place, one in enumerate(entries) if place not in told]
    result[name] = kept
    return [f"{_entry_name(entries[place], place)}: {why}" for place, why in told.items()]


def _entry_name(entry: Any, place: int) -> str:
    name = entry.get("name") if isinstance(entry, Mapping) else None
    return name if isinstance(name, str) and name else f"entry {place + 1}"


def watched(stream: Any, id: Any, is_stream: bool, heard: Heard) -> Any:
    """Return the bytes of an answer over HTTP, which are looked at before the SDK reads them.

    The SDK takes an event as the answer to the request that it came for, whatever its id.

    Args:
        stream: The bytes, as the client has them.
        id: Of the request.
        is_stream: Whether they are events.
        heard: Gets what is wrong with them.
    """
    import httpx2

    class Watched(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            text = bytearray()
            async for piece in stream:
                text += piece
                if is_stream and b"\n" in piece:
                    *lines, rest = text.split(b"\n")
                    if _refused(lines, id, heard):
                        return
                    text = bytearray(rest)
                yield piece
            if not is_stream:
                _refused([text], id, heard)

        async def aclose(self) -> None:
            await stream.aclose()

    return Watched()


_LONGEST_REFUSAL = 2**16
"""Bytes of the body of a refusal that are read."""


async def words_of_refusal(response: Any) -> str:
    """Return what the body of a status of an error says, of which the SDK tells nothing.

    Args:
        response: Of HTTP; the SDK may read its body after this, as far as it was read here.
    """
    import anyio
    import httpx2

    text = bytearray()
    with anyio.move_on_after(_GRACE_S):
        async for piece in response.stream:
            text += piece
            if len(text) > _LONGEST_REFUSAL:
                break
    await response.stream.aclose()
    response.stream = httpx2.ByteStream(bytes(text))
    try:
        body = json_value(bytes(text))
    except ValueError:
        return text.decode(errors="replace")
    return words_of(error_in(body) or body)


def _refused(lines: Sequence[bytes | bytearray], id: Any, heard: Heard) -> bool:
    for line in lines:
        try:
            message = json_value(bytes(line).strip().removeprefix(b"data:"))
        except ValueError:
            continue
        if isinstance(message, dict) and "jsonrpc" not in message and error_in(message):
            heard.refusal = words_of(error_in(message))
        if why := _contradiction(message, id):
            heard.refuse(why)
            return True
    return False


def _contradiction(message: Any, id: Any) -> str:
    """Return why a message is no answer to the request that it came for; empty: it may be one."""
    if isinstance(message, list) and any(map(_is_an_answer, message)):
        return "it is a list of messages, which the protocol does not have"
    if not _is_an_answer(message) or "method" in message:
        return ""
    failed = message.get("error") is not None
    if failed and message["id"] is None:
        return _words_of_nobody(message["error"])
    if str(message["id"]) != str(id):
        return f"it answers a request of id {message['id']!r:.40}, and was asked by id {id!r:.40}"
    if failed and message.get("result") is not None:
        return "it has a result and an error"
    return "" if failed or message.get("result") is not None else "its result is null"


def _words_of_nobody(error: Any) -> str:
    """Return what an error says that names no request, as of one that a server could not read."""
    said = error.get("message") if isinstance(error, Mapping) else error
    return f"it answers no request by id, and says: {said!s:.300}"


def _is_of_a_call(body: Any) -> bool:
    """Tell whether a result is not that of another request, which the SDK may make of its own."""
    return not {"tools", "serverInfo"} & body.result.keys()


_ASKS = (
    "it asks who calls for more (input_required), though a run has nobody to answer; let it ask "
    "nothing, or leave the tool out"
)


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
    if result.get("isError", True) is None:
        del result["isError"]
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


# -- Errors that servers send, and texts of tools that pass them on.

_INNER = frozenset({0, -32603, -32600, -32800, *range(-32099, -31999)})
"""Codes of JSON-RPC for errors of the server itself, those that servers give meanings of their own,
of requests that are none, which no model writes, and of requests that were cancelled."""
SIGN_IN = -32042
"""Code of JSON-RPC: a person must sign in first, at addresses that stand beside it."""
_NEVER_THE_TOOLS = frozenset({SIGN_IN, 429, 502, 503, 504})
"""Codes of what no call can mend: a person must sign in first, or a status of a gateway."""
_UPSTREAM = re.compile(
    r"\bupstream\b|\bECONN[A-Z]+\b|\bETIMEDOUT\b|\bEAI_AGAIN\b|socket hang up"
    r"|connect(?:ion)? (?:error|refused|reset|aborted|closed|timed? ?out)"
    r"|all connection attempts failed|failed to unmarshal response"
    r"|bad gateway|gateway time-?out|service (?:temporarily )?unavailable|too many requests"
    r"|\brate.?limit(?:ed)?\b|\bthrottled\b|\b(?:request|operation|call) timed? ?-?out\b"
    r"|\Arequest (?:was )?cancell?ed\b|deadline exceeded|\boverloaded\b"
    r"|\b(?:HTTP|status|error|code)\b\W{0,3}(?:code\W{0,3})?(?:429|50[234])\b",
    re.IGNORECASE,
)
"""Words of such errors that tell of what is behind the server, and not of the call."""
_OF_THE_WAY = re.compile(
    r"\A.{0,80}?\bError POSTing to endpoint\b|\A\W*(?:Streamable HTTP error|SSE error): "
    r"|\A\W*SSE stream disconnected\b|\A\W*Not connected\W*\Z",
    re.IGNORECASE | re.DOTALL,
)
"""Words of SDKs about the way to a server, as proxies tell them as a tool's."""
_AGAINST_ITS_SCHEMA = re.compile(
    r"\A(?:MCP error -?\d+: )?Output validation error: "
    r"|\A.{0,60}?\btool .{1,100} has an output schema but (?:no structured|did not return)",
    re.IGNORECASE | re.DOTALL,
)
"""Words of SDKs about what a tool gave against the schema that its server lists."""
_PASSED_ON = re.compile(r"\A\W*(?:error\W{1,5})?MCP error (-?\d{1,6}): (.*)", re.DOTALL)
"""How a proxy passes on an error of the protocol as one of the tool: its code and its words."""
TOLD = 500
"""Characters of a server's words that a message repeats."""


def breaks_its_schema(said: str) -> bool:
    """Tell whether a server refuses what its own tool gave: the tool has run, and would again."""
    return _AGAINST_ITS_SCHEMA.match(said[:TOLD]) is not None


def is_upstream_error(code: int, said: str) -> bool:
    """Tell whether an error of the protocol is of what is behind a server, and not of a call."""
    if code in _NEVER_THE_TOOLS or _OF_THE_WAY.match(said) or breaks_its_schema(said):
        return True
    return code in _INNER and _UPSTREAM.search(said) is not None


def is_passed_on(said: str, is_error: bool = True) -> bool:
    """Tell whether what a tool said is an error of the way to it: of a proxy, or of its own server.

    Args:
        said: Its text.
        is_error: Whether it came as an error; some proxies pass errors on as if all went well.
    """
    if is_error and (_OF_THE_WAY.match(said[:TOLD]) or breaks_its_schema(said)):
        return True
    found = _PASSED_ON.match(said)
    return found is not None and is_upstream_error(int(found[1]), found[2][:TOLD])


def first_cause(error: BaseException) -> BaseException:
    """Return the first error of a group, and of groups within it; another error itself."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def to_sign_in(failed: BaseException | str) -> str:
    """Return where a person must sign in, by an error or the text of a tool; empty: nowhere."""
    from mcp import MCPError

    if isinstance(failed, str):
        found = _PASSED_ON.match(failed)
        return "sign in first, and play again" if found and int(found[1]) == SIGN_IN else ""
    failed = first_cause(failed)
    if not isinstance(failed, MCPError) or failed.code != SIGN_IN:
        return ""
    asked = failed.data.get("elicitations") if isinstance(failed.data, Mapping) else None
    asked = asked if isinstance(asked, list) else []
    urls = [str(one["url"])[:TOLD] for one in asked if isinstance(one, Mapping) and "url" in one]
    return f"sign in first{f' at {urls[0]}' if urls else ''}, and play again"


def text_of_block(block: Any) -> str:
    """Return the text of a part of an answer; of what is no text what it is."""
    if block.type == "text":
        return str(block.text)
    if block.type == "resource":
        held = block.resource
        return str(getattr(held, "text", "") or f"[resource {held.uri}]")
    if block.type == "resource_link":
        about = ": ".join(filter(None, (block.name, getattr(block, "description", None))))
        return f"[resource {block.uri} {about}]" if about else f"[resource {block.uri}]"
    return f"[{block.type} {getattr(block, 'mime_type', '')}]"


UNSAID = "Server returned an error response"
"""What the SDK says of a status whose body is no message of the protocol."""
UNPARSED = "Failed to parse"
"""How the SDK begins to tell of a message that is none of the protocol."""


def repair_of_status(statuses: Sequence[int]) -> str:
    """Return what to do about a server behind an address that refuses by a status."""
    status = max(statuses, default=0)
    if status in (401, 403):
        return (
            f"it answers HTTP {status}: give `headers` with its key in a file such as mcp.json, "
            'such as {"Authorization": "Bearer ${NAME}"}'
        )
    if status in (404, 405):
        return (
            f"it answers HTTP {status}: check its address; SEAL speaks streamable HTTP, and not "
            "the older transport of events (SSE)"
        )
    if status in (429, *range(500, 600)):
        return f"it answers HTTP {status}: run again when it is well"
    if status == 400:
        return "it answers HTTP 400: check its address, its version and its `headers`"
    if 300 <= status < 400:
        return f"it answers HTTP {status}: give the address to which it leads"
    return "check its address"


def words_of_error(error: BaseException, heard: Heard | None = None) -> str:
    """Return what the first of an error's causes says.

    Args:
        error: Of the SDK, maybe a group.
        heard: What the server said, of which the SDK may tell nothing.
    """
    from pydantic import ValidationError

    error = first_cause(error)
    if isinstance(error, ValidationError):
        return f"it breaks the protocol: {first_fault(error)}"
    said = str(error) or type(error).__name__
    is_untold = UNSAID in said or UNPARSED in said
    told = " ".join(heard.refusal.split()) if heard and is_untold else ""
    return told or said
