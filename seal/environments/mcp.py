"""The world `mcp`: tools of MCP servers, called live, and every answer kept.

Which server a tool is of stands in its document (`Origin`); how servers are reached only the user
says. A server that is a command is started anew for each chat; what is behind an address is not
reset between chats.

An answer of a tool is kept; a silence, and what came after one, is not. It is kept under the tool,
its arguments, and the earlier calls of the chat that may have changed the server: those of tools
that are not read-only. So a chat can be played again from the
store when the servers are gone. If a chat finds kept answers first and asks later, the server that
was started for it first gets the calls before, and so does one that is started again because it
died. If it answers otherwise than before, the chat fails: its agent was told of another world.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from seal.core import (
    JSON,
    NOT_RECORDED,
    CacheMissError,
    DataError,
    Execution,
    InfrastructureError,
    OptionError,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
    Unrecorded,
    UsageError,
    shortened,
)
from seal.core.environment import Environment, Stateless, Validated
from seal.core.store import Store
from seal.core.validation import CallValidator
from seal.core.values import digest, json_text
from seal.environments.mcp_messages import UNSAID, is_passed_on
from seal.environments.mcp_servers import (
    ACCEPTED,
    NO_ANSWER,
    TIMEOUT,
    Answer,
    McpServer,
    Session,
    SessionEndedError,
    Sessions,
    read_servers,
)
from seal.environments.world import WorldSetup, check_options

_log = logging.getLogger(__name__)

NAME = "mcp"
KIND = "mcp"
"""Kind of our entries in the store."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a tool is from, as its document's `source` says under "mcp"."""

    server: str
    tool: str
    """Name at the server."""
    spec: str
    """Of the server that it was imported from (`Server.spec`)."""
    is_reset: bool
    annotations: Mapping[str, JSON]
    schema: str = ""
    """Digest of its arguments' schema at the server (`schema_digest`); empty: an earlier version
    imported it."""

    @classmethod
    def of(cls, tool: Tool) -> Origin | None:
        """Return where a tool is from; None: from no MCP server.

        Raises:
            DataError: Its document says so in a way that cannot be.
        """
        told = tool.source.get("mcp")
        if told is None:
            return None
        kinds = {"server": str, "tool": str, "spec": str, "is_reset": bool, "annotations": dict}
        if isinstance(told, dict) and "schema" in told:
            kinds["schema"] = str
        named = isinstance(told, dict) and told.keys() == kinds.keys()
        if not named or not all(isinstance(told[name], kind) for name, kind in kinds.items()):
            raise DataError(
                f"tool {tool.id!r}: source.mcp: expected {', '.join(kinds)}, got "
                f"{shortened(told)}; import the pool again"
            )
        return cls(**told)

    @property
    def is_read_only(self) -> bool:
        """Whether the server says that calls change nothing."""
        return self.annotations.get("readOnlyHint") is True

    def told(self) -> dict[str, JSON]:
        """Return what stands in the document."""
        return {"mcp": asdict(self)}


@dataclass(frozen=True, slots=True)
class McpWorld:
    """Opens the live servers of a chat, or plays what they answered."""

    tools: Mapping[str, Tool]
    """By id."""
    servers: Mapping[str, McpServer]
    """By name, as far as they are given; none are needed to play from the store."""
    store: Store | None
    """None: nothing is looked up or kept."""
    asks: bool
    """False: what is not in the store fails the chat, or is an error of the kind `NOT_RECORDED`."""
    timeout: float = TIMEOUT
    unrecorded: Unrecorded = "error"
    """By `error` the chat fails; else something answers in its place."""

    def open(self, task: Task, trial: int, offered: Sequence[str] = ()) -> Environment:
        """Return the environment of one chat."""
        validator = CallValidator(self.tools)
        return Validated(McpChat(self, validator), validator, offered)

    def identity(self) -> dict[str, JSON]:
        """Return which servers answer, and which of them are reset between chats."""
        told = {}
        for origin in filter(None, map(Origin.of, self.tools.values())):
            server = self.server_of(origin)
            told[origin.server] = {"spec": server.spec, "reset": server.is_reset}
        return {"world": NAME, "servers": dict(sorted(told.items())), "timeout": self.timeout}

    def keys_of(self, trajectory: Trajectory) -> set[str]:
        """Return the keys of the stored answers that a finished chat was given."""
        past, keys = Past(self), set()
        for step in trajectory.steps:
            ran = step.result.executed if step.result else None
            if ran is not None and ran.tool in self.tools and self.store is not None:
                made = McpCall(self.tools[ran.tool], ran.arguments)
                keys.add(past.key(made))
                past.add(made)
        return keys

    def server_of(self, origin: Origin) -> McpServer | Origin:
        """Return what tells about a tool's server: the one that is given, else the document."""
        return self.servers.get(origin.server, origin)

    def origin(self, tool: Tool) -> Origin:
        """Return where a tool is from.

        Raises:
            UsageError: From no MCP server.
        """
        found = Origin.of(tool)
        if found is None:
            raise UsageError(
                f"the tool {tool.id!r} is of no MCP server, so that nothing answers its calls; "
                "leave it out, or play with --environment simulator"
            )
        return found


def mcp(setup: WorldSetup) -> McpWorld:
    """Return what opens MCP servers under the settings of a run.

    Raises:
        OptionError: An option is unknown or has a value that it cannot have.
        UsageError: A server of the pool's tools is not given, and nothing is played from the store.
    """
    check_options(NAME, setup, ("timeout",))
    timeout = setup.options.get("timeout", TIMEOUT)
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0:
        raise OptionError(f"-T timeout={timeout!r}: expected seconds above 0")
    wanted = sorted({o.server for o in filter(None, map(Origin.of, setup.tools.values()))})
    servers = read_servers(setup.servers)
    if servers.keys() == {""} and len(wanted) == 1:
        servers = {wanted[0]: servers[""]}
    missing = [name for name in wanted if name not in servers]
    if missing and setup.cache != "replay":
        raise UsageError(
            f"the tools of this pool are of the MCP servers {', '.join(missing)}, which are not "
            "given; give --server NAME=COMMAND, NAME=URL or FILE; or play what was "
            "kept by --cache replay, or simulated answers by --environment simulator"
        )
    store = None if setup.cache == "off" else setup.store
    asks = setup.cache != "replay"
    return McpWorld(setup.tools, servers, store, asks, float(timeout), setup.unrecorded)


@dataclass(slots=True)
class McpCall:
    """A call, and what it brought."""

    tool: Tool
    whole: dict[str, JSON]
    """Arguments with defaults filled in."""
    sent: dict[str, JSON] = field(default_factory=dict)
    """Arguments as the model gave them."""
    answer: Answer | None = None


class Past:
    """The calls of one chat so far that may have changed a server, by server.

    Args:
        world: Where they ran.
    """

    def __init__(self, world: McpWorld) -> None:
        self._world = world
        self._calls: dict[str, list[McpCall]] = defaultdict(list)

    def key(self, call: McpCall) -> str:
        """Return the key of the answer to a call that is made now: 64 hexadecimal digits."""
        tool, origin = call.tool, self._world.origin(call.tool)
        before = [[earlier.tool.id, earlier.whole] for earlier in self._calls[origin.server]]
        document = [tool.id, tool.name, tool.description, tool.parameters, tool.returns]
        return digest([KIND, self._world.server_of(origin).spec, document, call.whole, before])

    def add(self, call: McpCall) -> None:
        """Take note of a call that was answered."""
        origin = self._world.origin(call.tool)
        if not origin.is_read_only:
            self._calls[origin.server].append(call)

    def of(self, server: str) -> Sequence[McpCall]:
        """Return the calls of one server's tools, in their order."""
        return self._calls[server]


def _is_a_fault(entry: Mapping[str, JSON]) -> bool:
    """Tell whether a kept answer is a failure of the server, as earlier versions kept them."""
    error = entry.get("error")
    if not isinstance(error, dict):
        return is_passed_on(str(entry.get("content") or ""), is_error=False)
    said = str(error.get("message"))
    of_the_sdk = said.startswith(UNSAID) or said == ACCEPTED
    of_the_sdk = of_the_sdk or bool(NO_ANSWER.match(said)) or is_passed_on(said)
    return not Answer("", None, error).is_the_tools or of_the_sdk


class McpChat(Stateless):
    """The servers of one chat.

    Args:
        world: Which servers there are.
        validator: Fills in defaults.
    """

    def __init__(self, world: McpWorld, validator: CallValidator) -> None:
        self._world = world
        self._validator = validator
        self._past = Past(world)
        self._sessions = Sessions(world.servers, world.timeout)
        self._unsure: set[str] = set()
        """Servers of which nobody knows what they did: no later answer of theirs is kept."""

    def close(self) -> None:
        """End the servers that were started for this chat."""
        self._sessions.close()

    def call(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Return the results of all calls of one reply, one after the other.

        Raises:
            InfrastructureError: A server cannot be begun, or is not as it was when it was recorded.
            CacheMissError: Nothing is stored, under replay.
        """
        return [self._result(call) for call in calls]

    def _result(self, call: ToolCall) -> ToolResult:
        tool, sent = self._world.tools[str(call.tool)], dict(call.arguments or {})
        made = McpCall(tool, self._validator.with_defaults(call), sent)
        answer = made.answer = self._answer(made)
        self._past.add(made)
        executed = Execution(tool.id, made.whole)
        return ToolResult(call.id, answer.content, answer.error, answer.value, executed, live=True)

    def _answer(self, call: McpCall) -> Answer:
        """Return the answer that is kept, else the server's."""
        store = self._world.store
        if store is None:
            return self._asked(call)
        key = self._past.key(call)
        entry = store.get(key)
        if entry is not None and _is_a_fault(entry):
            if store.is_new("faults of MCP servers"):
                _log.warning(
                    "an earlier version kept failures of MCP servers as answers; they are asked "
                    "for again, and stay where they are. The first: %s",
                    call.tool.id,
                )
            key = digest([key, {"instead_of": "a fault"}])
            entry = store.get(key)
        if entry is None:
            if not self._world.asks:
                missing = (
                    f"no kept answer to {call.tool.name}({json_text(call.whole)[:500]}) of "
                    f"{call.tool.id} after the calls before it, in {store.location}: play it once "
                    "with --cache record"
                )
                if self._world.unrecorded == "error":
                    raise CacheMissError(missing)
                return Answer("", None, {"kind": NOT_RECORDED, "message": missing})
            named, answer = {"tool": call.tool.id, "arguments": call.whole}, self._asked(call)
            server = self._world.origin(call.tool).server
            if not answer.is_the_tools:
                self._unsure.add(server)
            # A tool's own words may be those of a fault: of a session of its own, say.
            if server in self._unsure or _is_a_fault({"error": answer.error}):
                return answer
            entry = store.put(key, {**named, **asdict(answer)}, KIND)
        return Answer(entry["content"], entry["value"], entry["error"])

    def _asked(self, call: McpCall) -> Answer:
        """Return the server's answer, of a second session where the first one ended.

        Raises:
            InfrastructureError: That ended, too, or is not as it was.
        """
        origin = self._world.origin(call.tool)
        try:
            return self._begun(origin).call(origin.tool, call.sent)
        except SessionEndedError:
            self._unsure.add(origin.server)
            self._sessions.drop(origin.server)
        return self._begun(origin).call(origin.tool, call.sent)

    def _begun(self, origin: Origin) -> Session:
        """Return the session with a tool's server; where one starts anew, with the calls before."""
        begins = origin.server not in self._sessions
        session = self._sessions.of(origin.server)
        session.check(origin.tool, origin.schema)
        earlier = self._past.of(origin.server) if self._world.server_of(origin).is_reset else ()
        for made in earlier if begins else ():
            if session.call(self._world.origin(made.tool).tool, made.sent) != made.answer:
                raise InfrastructureError(
                    f"MCP server {origin.server!r} answers {made.tool.name} otherwise than before, "
                    "so this chat cannot go on where kept answers, or the server, ended; play "
                    "with --cache off, or with another --cache-dir"
                )
        return session
