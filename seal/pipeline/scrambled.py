"""Calls of scrambled tools, run by the tools that they stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from seal.core.protocols import Environment, Eventful, Staged, Timed
from seal.core.types import Tables, Tool, ToolCall, ToolResult


class Unscrambled:
    """An environment in which a call of a scrambled tool runs the original.

    Arguments are checked by the original's rules, simulated answers are the original's, and what
    was executed bears its id: what a tool does is not changed by how it is presented.

    Args:
        environment: Knows the originals.
        originals: Id of a scrambled tool to its original (`seal.benchmarks.augment.originals`).
    """

    def __init__(self, environment: Environment, originals: Mapping[str, Tool]) -> None:
        self._environment = environment
        self._originals = originals

    def call(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Return the results of all calls of one reply, in execution order."""
        return self._environment.call([self._meant(call) for call in calls])

    def states(self) -> Sequence[Tables]:
        """Return the world after each result of the last call."""
        return self._environment.states()

    def tick(self) -> None:
        """Hand on that time moves, where the environment has a clock."""
        if isinstance(self._environment, Timed):
            self._environment.tick()

    def begin(self, goal: int) -> None:
        """Hand on which goal is played, where the environment must know."""
        if isinstance(self._environment, Staged):
            self._environment.begin(goal)

    def events(self) -> Sequence[str]:
        """Hand on what has happened, where something can."""
        return self._environment.events() if isinstance(self._environment, Eventful) else ()

    def _meant(self, call: ToolCall) -> ToolCall:
        original = self._originals.get(call.tool or "")
        return call if original is None else replace(call, tool=original.id)
