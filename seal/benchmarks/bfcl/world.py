"""Multi-turn classes as upstream's own code has them, in a child process."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from seal.core import (
    JSON,
    Execution,
    InfrastructureError,
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
from seal.pools.declarations import NeededWorld
from seal.sandbox import peer as child
from seal.simulator_cache.simulators import SimulatedEnvironments

# -- The world `bfcl`: a dialogue's classes, as the leaderboard's own code has them.
#
# `seal run POOL --environment bfcl`: each chat has a process of the peer (`Peer`), in which the
# classes of its item begin as the item says. A call brings what the leaderboard shows a model; the
# state after it is the classes with their public attributes, a table of one row each. Tasks that
# are no dialogues are played by the run's simulator: their verdict is on calls alone.

NAME = "bfcl"
PACKAGE = "bfcl_eval"
CLASSES = "eval_checker/multi_turn_eval/func_source_code"
"""Where the package has the files of its classes."""
_FAILED = "Error during execution: "
_SECONDS = 60.0


def needed(task: Task) -> NeededWorld | None:
    """Return that a dialogue needs its classes; all other tasks do without."""
    if task.tags.get("suite") != "multi_turn":
        return None
    return NeededWorld(NAME, "" if is_named() else HOW)


@dataclass(frozen=True, slots=True)
class Backends:
    """Opens the classes of each chat. Safe in threads."""

    tools: Mapping[str, Tool]
    """By id."""
    version: str
    """Of the peer, or the digest of the files of its classes."""
    source: Path | None
    """Folder of the package whose classes are run; None: the interpreter that is named has it."""
    others: SimulatedEnvironments
    """Play the tasks that are no dialogues."""

    def open(self, task: Task, trial: int, offered: Sequence[str] = ()) -> Environment:
        """Return the environment of one chat."""
        if needed(task) is None:
            return self.others.open(task, trial, offered)
        backend = Backend(Peer(_SECONDS, self.source), task, self.tools)
        return Validated(backend, CallValidator(self.tools), offered)

    def identity(self) -> dict[str, JSON]:
        """Return what shapes the answers besides the tasks."""
        return {"world": NAME, "bfcl-eval": self.version, **self.others.identity()}

    def keys_of(self, trajectory: Trajectory) -> set[str]:
        """Return the keys of the stored answers that a chat was given."""
        return self.others.keys_of(trajectory)


def bfcl(setup: WorldSetup) -> Backends:
    """Return what opens BFCL's classes under the settings of a run.

    Args:
        setup: Where it allows the code of `bfcl_eval`, the classes are loaded from there by this
            Python, in the child; else they are those of the interpreter that the user names.

    Raises:
        OptionError: An option is given.
        UsageError: The peer is not there, or what is allowed has no such classes.
    """
    check_options(NAME, setup, ())
    if setup.simulator is None:
        raise UsageError(f"the world {NAME} needs a run's simulator beside it")
    source = _found() if PACKAGE in setup.allow_code else None
    peer = Peer(_SECONDS, source)
    try:
        version = peer.ask("version")
    finally:
        peer.close()
    others = SimulatedEnvironments(setup.simulator(), setup.tools)
    return Backends(setup.tools, version, source, others)


def _found() -> Path:
    """Return the folder of the package `bfcl_eval` that Python finds here; nothing is imported.

    Raises:
        UsageError: It has no such classes.
    """
    spec = find_spec(PACKAGE)
    for place in (spec and spec.submodule_search_locations) or ():
        if Path(place, CLASSES).is_dir():
            return Path(place).resolve()
    raise UsageError(
        f"--allow-code {PACKAGE}: it has no folder {CLASSES}; put the folder "
        "berkeley-function-call-leaderboard of a checkout of ShishirPatil/gorilla on PYTHONPATH, "
        f"or install it: pip install --no-deps {RELEASE} mpmath"
    )


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
    return {name: [{"class": name, **attributes}] for name, attributes in state.items()}


def _result(call: ToolCall, text: str, executed: Execution) -> ToolResult:
    """Return what the leaderboard shows of a call; its classes tell a failure as `error`."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
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


# -- The peer: bfcl-eval, in an interpreter of its own that the user names.
#
# It is foreign code, and its pins would break ours. So it is no extra: it runs in a child process,
# only where `SEAL_BFCL_PYTHON` names the interpreter, and is asked in JSON lines
# (`upstream_child.py`). Of our environment the child gets what a program needs to start, and no
# keys.

VARIABLE = "SEAL_BFCL_PYTHON"
RELEASE = "bfcl-eval==2026.3.23"
HOW = (
    f"{VARIABLE} names no Python that has {RELEASE}; make one: python3.11 -m venv BFCL, "
    f"BFCL/bin/pip install --no-deps {RELEASE} mpmath, export {VARIABLE}=BFCL/bin/python; or run a "
    "checkout's classes: --allow-code bfcl_eval (docs/bfcl.md)"
)
CHECKERS = "its checkers of single calls take all its packages: pip install torch soundfile too"


def is_named() -> bool:
    """Tell whether the user names an interpreter for the peer."""
    return bool(os.environ.get(VARIABLE))


class Peer:
    """A child process, begun when it is first asked, and again after it failed. Safe in threads.

    Args:
        seconds: What an answer may take.
        source: Folder of the package, of which the classes alone are loaded, so that neither its
            other packages nor an interpreter of its own are needed; None: the interpreter that the
            user names has it.
    """

    program = Path(__file__).with_name("upstream_child.py")
    """What answers; `perf/verify` has one that asks the checkers, too."""

    def __init__(self, seconds: float = 300.0, source: Path | None = None) -> None:
        self._source = source
        self._child = child.Peer(_command(self.program, source), seconds)

    def ask(self, what: str, **of: Any) -> Any:
        """Return the peer's answer.

        Args:
            what: A method of `seal.benchmarks.bfcl.upstream_child.Peer`.
            of: Its arguments, as JSON.

        Raises:
            UsageError: No interpreter is named, it cannot be started, or has no bfcl-eval.
            InfrastructureError: The peer failed, ended, or took too long.
        """
        if self._source is None and not is_named():
            raise UsageError(HOW)
        try:
            return self._child.ask(what, **of)
        except OSError as error:
            raise UsageError(f"{VARIABLE} names what cannot be started: {error}") from error
        except child.PeerError as error:
            told = str(error)
        if told.startswith(("PackageNotFoundError", "ModuleNotFoundError")):
            if self._source is not None:
                raise UsageError(
                    f"the classes in {self._source} import what this Python lacks: {told}; "
                    "they take mpmath alone: pip install mpmath"
                )
            more = f"; {CHECKERS}" if told.startswith("Module") else ""
            raise UsageError(f"{HOW}. It says: {told}{more}")
        raise InfrastructureError(f"bfcl-eval, asked for {what!r}: {told}")

    def close(self) -> None:
        """End the process. Closing twice is fine."""
        self._child.close()


def _command(program: Path, source: Path | None) -> list[str]:
    if source is None:
        return [str(Path(os.environ.get(VARIABLE, "")).expanduser()), "-I", str(program)]
    return [sys.executable, "-I", str(program), str(source)]
