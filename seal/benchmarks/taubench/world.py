"""The worlds `taubench` and `tau2`: an airline and a shop whose tools are upstream's own code.

They run in a child process.

A chat has the data as upstream loads it. Its tables hold the rows of the task's user, those that
gold changes, and every row that a call changed. So two chats end alike in these tables if and only
if they do in all data. A row has its key in the column `key`. One that a call removed, and that was
not there before, has `gone`. After a call of `transfer_to_human_agents` tau-bench ends the chat: no
later call is made.

A call that takes too long, or that ends its process, brings an error. The chat then goes on where
it was before the call.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.machinery import PathFinder
from pathlib import Path
from threading import Lock
from typing import Any

from seal.core import (
    JSON,
    DataError,
    Execution,
    InfrastructureError,
    Tables,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    UsageError,
)
from seal.core.environment import Environment, Storeless
from seal.core.validation import CallValidator, error_result
from seal.core.values import json_value
from seal.environments.world import WorldSetup, check_options
from seal.pools.declarations import NeededWorld
from seal.sandbox.peer import Peer, PeerError, PeerLostError

SECONDS = 30.0
"""What a call may take."""
TRANSFER = "transfer_to_human_agents"
_FAILED = "Error"
_COLUMN = "key"


@dataclass(frozen=True, slots=True)
class Upstream:
    """A repository whose tools are run."""

    name: str
    """Of the benchmark, and of its world."""
    package: str
    repository: str
    parts: str
    """Folder of the package that has a folder for each domain."""
    domains: tuple[str, ...]
    variable: str
    """Names the interpreter of the tools; without it they are run by this one."""
    needs: str
    """What that interpreter must have."""
    split: str
    """Of the tasks, unless another is named."""
    turns: int
    """Replies of the agent, as upstream's runs have them."""
    ends: str = ""
    """The tool after whose call upstream ends the chat; empty: there is none."""
    checkout: str = "."
    """Folder of a checkout that has the package."""

    @property
    def allow(self) -> str:
        """The option that allows its code."""
        return f"--allow-code {self.package}"

    def package_in(self, places: Iterable[str]) -> Path | None:
        """Return the folder of the package below one of some folders; nothing is imported."""
        spec = PathFinder.find_spec(self.package, list(places))
        for place in (spec and spec.submodule_search_locations) or ():
            if (Path(place) / self.parts).is_dir():
                return Path(place).resolve()
        return None


TAUBENCH = Upstream(
    "taubench",
    "tau_bench",
    "sierra-research/tau-bench",
    "envs",
    ("airline", "retail"),
    "SEAL_TAUBENCH_PYTHON",
    "3.9 or later",
    "test",
    30,
    TRANSFER,
)
TAU2 = Upstream(
    "tau2",
    "tau2",
    "sierra-research/tau2-bench",
    "domains",
    ("airline", "retail", "telecom"),
    "SEAL_TAU2_PYTHON",
    "3.10 or later, with pydantic, loguru, docstring-parser, addict, deepdiff, toml and pyyaml",
    "base",
    100,
    checkout="src",
)

Keyed = dict[str, dict[str, Any]]
"""Table to key to row; None: the row is gone."""


def needed(task: Task) -> NeededWorld:
    """Return that a task needs its world: how the data end is what is asked."""
    return NeededWorld(task.benchmark)


def domain_peer(of: Upstream, folder: Path, domain: str, seconds: float = SECONDS) -> Peer:
    """Return the process of a domain's tools, which is begun when it is first asked.

    Args:
        of: Whose tools.
        folder: The package in a checkout.
        domain: One of its domains.
        seconds: What an answer may take.
    """
    python = os.environ.get(of.variable) or sys.executable
    program = str(Path(__file__).with_name("upstream_child.py"))
    command = [str(Path(python).expanduser()), "-I", "-B", program, str(folder), domain]
    return Peer(command, seconds)


def asked(of: Upstream, peer: Peer, what: str, folder: Path, **further: Any) -> Any:
    """Return what a process says before any tool is called.

    Raises:
        UsageError: It cannot be started, or the tools cannot be loaded.
    """
    try:
        return peer.ask(what, **further)
    except (OSError, PeerError) as error:
        raise UsageError(
            f"the tools in {folder} cannot be used: {error}; name a Python, {of.needs}, that "
            f"can run them: export {of.variable}=PATH"
        ) from error


def taubench(setup: WorldSetup) -> Shops:
    """Return what opens the world of tau-bench under the settings of a run; as `_shops`."""
    return _shops(TAUBENCH, setup)


def tau2(setup: WorldSetup) -> Shops:
    """Return what opens the world of tau2-bench under the settings of a run; as `_shops`."""
    return _shops(TAU2, setup)


def _shops(of: Upstream, setup: WorldSetup) -> Shops:
    """Return what opens a world under the settings of a run.

    Raises:
        OptionError: An option is given.
        UsageError: The code is not allowed, is not there, or cannot be run.
    """
    check_options(of.name, setup, ())
    inner = "" if of.checkout == "." else f"the folder {of.checkout} of "
    where = f"put {inner}a checkout of {of.repository} on PYTHONPATH, and give {of.allow}"
    if of.package not in setup.allow_code:
        raise UsageError(
            f"the world {of.name} runs tools that are the benchmark's own code; if you trust it, "
            f"{where} (docs/taubench.md)"
        )
    folder = of.package_in(["", *sys.path])
    if folder is None:
        raise UsageError(f"{of.allow}: there is no folder {of.package}/{of.parts}; {where}")
    shops = Shops(of, folder, setup.tools)
    shops.identity()
    return shops


@dataclass(frozen=True)
class Shops(Storeless):
    """Opens the data of each chat. Safe in threads. Processes whose chat has ended are used again.

    Args:
        upstream: Whose tools.
        folder: The package in a checkout.
        tools: By id.
        seconds: What a call may take.
    """

    upstream: Upstream
    folder: Path
    tools: Mapping[str, Tool]
    seconds: float = SECONDS
    _idle: list[tuple[str, Peer]] = field(default_factory=list, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)
    _versions: dict[str, str] = field(default_factory=dict, repr=False)

    def open(self, task: Task, trial: int, offered: Sequence[str] = ()) -> Environment:
        """Return the data of one chat.

        Raises:
            DataError: The task names no domain, or a row of its beginning has no key.
            UsageError: The tools cannot be run.
        """
        domain = task.tags.get("domain")
        if domain not in self.upstream.domains:
            raise DataError(
                f"task {task.id}: the tag domain is {domain!r}; expected one of "
                f"{', '.join(self.upstream.domains)}; import the benchmark again"
            )
        begun = {table: dict(map(_keyed, rows)) for table, rows in _beginning(task).items()}
        with self._lock:
            at = next((n for n, (name, _) in enumerate(self._idle) if name == domain), None)
            peer = None if at is None else self._idle.pop(at)[1]
        peer = peer or domain_peer(self.upstream, self.folder, domain, self.seconds)
        asked(self.upstream, peer, "open", self.folder, rows=begun)
        give_back = partial(self._given_back, domain, peer)
        return Shop(self.upstream, peer, begun, self.tools, offered, give_back)

    def _given_back(self, domain: str, peer: Peer) -> None:
        with self._lock:
            self._idle.append((domain, peer))

    def identity(self) -> dict[str, JSON]:
        """Return what shapes the answers: the digest of the files of each domain."""
        of = self.upstream
        known = {tool.split("/")[1] for tool in self.tools if tool.startswith(f"{of.name}/")}
        for domain in sorted(known & {*of.domains} - self._versions.keys()):
            peer = domain_peer(of, self.folder, domain, self.seconds)
            self._versions[domain] = asked(of, peer, "version", self.folder)
            self._given_back(domain, peer)
        return {"world": of.name, "files": dict(self._versions)}


def rows_of(keyed: Keyed) -> Tables:
    """Return rows as tables have them, each with its key."""
    return {table: [_row(key, row) for key, row in rows.items()] for table, rows in keyed.items()}


def _row(key: str, row: Mapping[str, JSON] | None) -> dict[str, JSON]:
    return {_COLUMN: key, **({"gone": True} if row is None else row)}


def _beginning(task: Task) -> Tables:
    for table, rows in (task.initial_state or {}).items():
        for row in rows:
            if not isinstance(row.get(_COLUMN), str):
                raise DataError(
                    f"task {task.id}: initial_state: a row of {table} has no text in the column "
                    f"{_COLUMN!r}; import the benchmark again"
                )
    return task.initial_state or {}


def _keyed(row: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    return row[_COLUMN], {name: cell for name, cell in row.items() if name != _COLUMN}


class Shop:
    """The data of one chat.

    Args:
        upstream: Whose tools.
        peer: Its process, where the data are open.
        begun: The rows that its tables show from the beginning.
        tools: By id.
        offered: Names of the tools that the chat offers, for messages.
        give_back: Takes the process when the chat has ended.
    """

    def __init__(
        self,
        upstream: Upstream,
        peer: Peer,
        begun: Keyed,
        tools: Mapping[str, Tool],
        offered: Sequence[str],
        give_back: Any,
    ) -> None:
        self._upstream = upstream
        self._peer, self._begun, self._tools = peer, begun, tools
        self._offered, self._give_back = offered, give_back
        self._validator = CallValidator(tools)
        self._changed: Keyed = {}
        self._transferred = False
        self._states: list[Tables] = [rows_of(begun)]

    def call(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Return the results of calls, in their order.

        Whatever arguments a tool is given, it is called, as upstream does.
        """
        results, states = [], []
        for call in calls:
            results.append(self._run(call))
            states.append(self._tables())
        self._states = states or self._states[-1:]
        return results

    def states(self) -> Sequence[Tables]:
        """Return the tables after each result of the last `call`; before any, as they begin."""
        return self._states

    def close(self) -> None:
        """Give the process back. Closing twice is fine."""
        give_back, self._give_back = self._give_back, None
        if give_back is not None:
            give_back()

    def _run(self, call: ToolCall) -> ToolResult:
        tool, arguments = self._tools.get(str(call.tool)), call.arguments
        if tool is None or arguments is None:
            wrong = self._validator.check(call, self._offered)
            assert wrong is not None  # an unknown tool, or arguments that are no map
            return error_result(call, wrong)
        if self._transferred:
            return _failed(
                call, "ended", "the user was handed to a human agent, and the chat ended"
            )
        name, executed = str(tool.source["name"]), Execution(tool.id, arguments)
        try:
            said = self._called(name, arguments)
        except (OSError, PeerError) as error:
            raise InfrastructureError(f"the tools of {self._upstream.name}: {error}") from error
        if isinstance(said, str):
            return _failed(call, "exception", f"the tool did not return: {said}", executed)
        self._changed = said["rows"]
        text: str = said["text"]
        if said["raised"] or text.startswith(_FAILED):
            told = text.removeprefix(_FAILED).removeprefix(": ")
            return _failed(call, said["raised"] or "refused", told, executed, text)
        self._transferred = name == self._upstream.ends
        return ToolResult(call.id, text, None, _value(text), executed, live=True)

    def _called(self, name: str, arguments: Mapping[str, JSON]) -> Any:
        """Return what a call brings; why it brings nothing, as a text, where its process is lost.

        Then another process goes on where this one was before the call.
        """
        try:
            return self._peer.ask("call", name=name, arguments=arguments)
        except PeerLostError as error:
            self._peer.ask("open", rows=self._since())
            return str(error)

    def _since(self) -> Keyed:
        """Return the rows that a process begun anew needs, to be as before the lost call."""
        tables = {**self._begun, **self._changed}
        return {
            name: {**self._begun.get(name, {}), **self._changed.get(name, {})} for name in tables
        }

    def _tables(self) -> Tables:
        """Return the tables, in which rows of the beginning that are gone do not stand."""
        return rows_of(
            {
                table: {
                    key: row
                    for key, row in rows.items()
                    if row is not None or key not in self._begun.get(table, {})
                }
                for table, rows in self._since().items()
            }
        )


def _failed(
    call: ToolCall, kind: str, message: str, executed: Execution | None = None, text: str = ""
) -> ToolResult:
    told = text or f"{_FAILED}: {message}"
    return ToolResult(call.id, told, {"kind": kind, "message": message}, None, executed, live=True)


def _value(text: str) -> JSON:
    try:
        return json_value(text)
    except (ValueError, RecursionError):
        return text
