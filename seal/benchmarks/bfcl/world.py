"""The world `bfcl`: a dialogue's classes, as the leaderboard's own code has them.

`seal run bfcl --environment bfcl`: each chat has a process of the peer (`peer`), in which the
classes of its item begin as the item says. A call brings what the leaderboard shows a model; the
state after it is the public attributes of the classes, a table of one row each. Tasks that are no
dialogues are played by the run's simulator: their verdict is on calls alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seal.benchmarks.bfcl.peer import Peer
from seal.core import (
    JSON,
    Execution,
    Tables,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
    UsageError,
)
from seal.core.environment import Environment, Validated
from seal.core.validation import CallValidator
from seal.environments.world import WorldSetup, check_options
from seal.simulator_cache.simulator_environments import SimulatedEnvironments

NAME = "bfcl"
_FAILED = "Error during execution: "
_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Backends:
    """Opens the classes of each chat. Safe in threads."""

    tools: Mapping[str, Tool]
    """By id."""
    version: str
    """Of the peer."""
    others: SimulatedEnvironments
    """Play the tasks that are no dialogues."""

    def open(self, task: Task, trial: int, offered: Sequence[str] = ()) -> Environment:
        """Return the environment of one chat."""
        if task.tags.get("suite") != "multi_turn":
            return self.others.open(task, trial, offered)
        backend = Backend(Peer(_SECONDS), task, self.tools)
        return Validated(backend, CallValidator(self.tools), offered)

    def identity(self) -> dict[str, JSON]:
        """Return what shapes the answers besides the tasks."""
        return {"world": NAME, "bfcl-eval": self.version, **self.others.identity()}

    def keys_of(self, trajectory: Trajectory) -> set[str]:
        """Return the keys of the stored answers that a chat was given."""
        return self.others.keys_of(trajectory)


def bfcl(setup: WorldSetup) -> Backends:
    """Return what opens BFCL's classes under the settings of a run.

    Raises:
        OptionError: An option is given.
        UsageError: The peer is not there.
    """
    check_options(NAME, setup, ())
    if setup.simulator is None:
        raise UsageError(f"the world {NAME} needs a run's simulator beside it")
    peer = Peer(_SECONDS)
    try:
        version = peer.ask("version")
    finally:
        peer.close()
    others = SimulatedEnvironments(setup.simulator(), setup.tools)
    return Backends(setup.tools, version, others)


class Backend:
    """The classes of one chat.

    Args:
        peer: Of this chat alone.
        task: The dialogue.
        tools: By id.
    """

    def __init__(self, peer: Peer, task: Task, tools: Mapping[str, Tool]) -> None:
        self._peer, self._task, self._tools = peer, task, tools
        self._begun = False
        self._states = [_tables(peer.ask("open", item=task.id))]

    def begin(self, goal: int) -> None:
        """Take note of the goal; a chat that begins with a later one finds what gold did before."""
        for earlier in () if self._begun else self._task.goals[:goal]:
            for called in earlier.plans[0].calls() if earlier.plans else ():
                self._states = [self._run(called.tool, called.canonical_arguments())[1]]
        self._begun = True

    def call(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Return the results of valid calls, in their order.

        Raises:
            InfrastructureError: The peer failed, or took too long.
        """
        results, states = [], []
        for call in calls:
            tool, arguments = str(call.tool), call.arguments or {}
            text, state = self._run(tool, arguments)
            results.append(_result(call, text, Execution(tool, arguments)))
            states.append(state)
        self._states = states or self._states[-1:]
        return results

    def states(self) -> Sequence[Tables]:
        """Return the state after each result of the last `call`; before any, the first one."""
        return self._states

    def _run(self, tool: str, arguments: dict[str, JSON]) -> tuple[str, Tables]:
        """Return what a call brings, and the state after it."""
        said = self._peer.ask("call", name=self._tools[tool].name, arguments=arguments)
        return said["text"], _tables(said["state"])

    def close(self) -> None:
        """End the peer's process."""
        self._peer.close()


def _tables(state: Mapping[str, Any]) -> Tables:
    return {name: [attributes] for name, attributes in state.items()}


def _result(call: ToolCall, text: str, executed: Execution) -> ToolResult:
    """Return what the leaderboard shows of a call; its classes tell a failure as `error`."""
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    message = None
    if text.startswith(_FAILED):
        message = text.removeprefix(_FAILED)
    elif isinstance(value, dict) and "error" in value:
        message = str(value["error"])
    error: dict[str, JSON] | None = None
    if message is not None:
        error = {"kind": "exception", "message": message}
    return ToolResult(call.id, text, error, value, executed)
