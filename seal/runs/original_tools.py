"""Calls of scrambled tools, run by the tools that they stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from seal.core.around import Around
from seal.core.protocols import Environment
from seal.core.types import Tool, ToolCall, ToolResult


class Unscrambled(Around):
    """An environment in which a call of a scrambled tool runs the original.

    Arguments are checked by the original's rules, simulated answers are the original's, and what
    was executed bears its id: what a tool does is not changed by how it is presented.

    Args:
        environment: Knows the originals.
        originals: Id of a scrambled tool to its original (`seal.pools.augment.originals`).
    """

    def __init__(self, environment: Environment, originals: Mapping[str, Tool]) -> None:
        super().__init__(environment)
        self._originals = originals

    def call(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Return the results of all calls of one reply, in execution order."""
        return self.inner.call([self._meant(call) for call in calls])

    def _meant(self, call: ToolCall) -> ToolCall:
        original = self._originals.get(call.tool or "")
        return call if original is None else replace(call, tool=original.id)
