"""The world `taubench`: an airline and a shop whose tools are upstream's own, in a child process.

A chat has the data as upstream loads it. Its tables hold the rows of the task's user, those that
gold changes, and every row that a call changed, so that two chats end alike in these tables if and
only if they do in all data. A row has its key in the column `key`; one that a call removed, and
that was not there before, has `gone`. After a call of `transfer_to_human_agents` upstream ends the
chat, so that no later call is made.

A call that takes too long, or that ends its process, brings an error, and the chat goes on where it
was before the call.
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

NAME = "taubench"
PACKAGE = "tau_bench"
DOMAINS = ("airline", "retail")
TRANSFER = "transfer_to_human_agents"
VARIABLE = "SEAL_TAUBENCH_PYTHON"
"""Names the interpreter of the tools; without it they are run by this one."""
SECONDS = 30.0
"""What a call may take."""
ALLOW = f"--allow-code {PACKAGE}"
_FAILED = "Error"
_COLUMN = "key"

Keyed = dict[str, dict[str, Any]]
"""Table to key to row; None: the row is gone."""


def needed(task: Task) -> NeededWorld:
    """Return that a task needs its world: how the data end is what is asked."""
    return NeededWorld(NAME)


def domain_peer(folder: Path, domain: str, seconds: float = SECONDS) -> Peer:
    """Return the process of a domain's tools, which is begun when it is first asked.

    Args:
        folder: `tau_bench` of a checkout.
        domain: One of `DOMAINS`.
        seconds: What an answer may take.
    """
    python = os.environ.get(VARIABLE) or sys.executable
    program = str(Path(__file__).with_name("upstream_child.py"))
    command = [str(Path(python).expanduser()), "-I", "-B", program, str(folder), domain]
    return Peer(command, seconds)


def asked(peer: Peer, what: str, folder: Path, **of: Any) -> Any:
    """Return what a process says before any tool is called.

    Raises:
        UsageError: It cannot be started, or the tools cannot be loaded.
    """
    try:
        return peer.ask(what, **of)
    except (OSError, PeerError) as error:
        raise UsageError(
            f"the tools in {folder} cannot be used: {error}; name a Python, 3.9 or later, that "
            f"can run them: export {VARIABLE}=PATH"
        ) from error


def package_in(places: Iterable[str]) -> Path | None:
    """Return the folder of the package below one of some folders; nothing is imported."""
    spec = PathFinder.find_spec(PACKAGE, list(places))
    for place in (spec and spec.submodule_search_locations) or ():
        if (Path(place) / "envs").is_dir():
            return Path(place).resolve()
    return None


def taubench(setup: WorldSetup) -> Shops:
    """Return what opens the world under the settings of a run.

    Raises:
        OptionError: An option is given.
        UsageError: The code is not allowed, is not there, or cannot be run.
    """
    check_options(NAME, setup, ())
    where = f"put a checkout of sierra-research/tau-bench on PYTHONPATH, and give {ALLOW}"
    if PACKAGE not in setup.allow_code:
        raise UsageError(
            f"the world {NAME} runs tools that are the benchmark's own code; if you trust it, "
            f"{where} (docs/taubench.md)"
        )
    folder = package_in(["", *sys.path])
    if folder is None:
        raise UsageError(f"{ALLOW}: there is no folder {PACKAGE}/envs; {where}")
    shops = Shops(folder, setup.tools)
    shops.identity()
    return shops


@dataclass(frozen=True)
class Shops(Storeless):
    """Opens the data of each chat. Safe in threads. Processes whose chat has ended are used again.

    Args:
        folder: `tau_bench` of a checkout.
        tools: By id.
        seconds: What a call may take.
    """

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
        if domain not in DOMAINS:
            raise DataError(
                f"task {task.id}: the tag domain is {domain!r}; expected one of "
                f"{', '.join(DOMAINS)}; import the benchmark again"
            )
        begun = {table: dict(map(_keyed, rows)) for table, rows in _beginning(task).items()}
        with self._lock:
            at = next((n for n, (name, _) in enumerate(self._idle) if name == domain), None)
            peer = None if at is None else self._idle.pop(at)[1]
        peer = peer or domain_peer(self.folder, domain, self.seconds)
        asked(peer, "open", self.folder, rows=begun)
        return Shop(peer, begun, self.tools, offered, partial(self._given_back, domain, peer))

    def _given_back(self, domain: str, peer: Peer) -> None:
        with self._lock:
            self._idle.append((domain, peer))

    def identity(self) -> dict[str, JSON]:
        """Return what shapes the answers: the digest of the files of each domain."""
        known = {tool.split("/")[1] for tool in self.tools if tool.startswith(f"{NAME}/")}
        for domain in sorted(known & {*DOMAINS} - self._versions.keys()):
            peer = domain_peer(self.folder, domain, self.seconds)
            self._versions[domain] = asked(peer, "version", self.folder)
            self._given_back(domain, peer)
        return {"world": NAME, "files": dict(self._versions)}


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
        peer: Its process, where the data are open.
        begun: The rows that its tables show from the beginning.
        tools: By id.
        offered: Names of the tools that the chat offers, for messages.
        give_back: Takes the process when the chat has ended.
    """

    def __init__(
        self,
        peer: Peer,
        begun: Keyed,
        tools: Mapping[str, Tool],
        offered: Sequence[str],
        give_back: Any,
    ) -> None:
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
            raise InfrastructureError(f"the tools of {NAME}: {error}") from error
        if isinstance(said, str):
            return _failed(call, "exception", f"the tool did not return: {said}", executed)
        self._changed = said["rows"]
        text: str = said["text"]
        if said["raised"] or text.startswith(_FAILED):
            told = text.removeprefix(_FAILED).removeprefix(": ")
            return _failed(call, said["raised"] or "refused", told, executed, text)
        self._transferred = name == TRANSFER
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
