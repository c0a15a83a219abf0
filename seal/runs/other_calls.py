"""Environments in which other calls run than those that were made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from seal.core import NOT_RECORDED, Execution, Task, Tool, ToolCall, ToolResult
from seal.core.environment import Around, Environment
from seal.core.plain import json_text
from seal.models.gold_calls import gold_call, names_tools_alone
from seal.models.oracle import moves


class Unscrambled(Around):
    """An environment in which a call of a scrambled tool runs the original.

    Arguments are checked by the original's rules, simulated answers are the original's, and what
    was executed bears its id: what a tool does is not changed by how it is presented.

    Args:
        environment: Knows the originals.
        originals: Id of a scrambled tool to its original (`seal.pools.originals.originals`).
    """

    def __init__(self, environment: Environment, originals: Mapping[str, Tool]) -> None:
        super().__init__(environment)
        self._originals = originals

    def meant(self, call: ToolCall) -> ToolCall:
        """Return the call of the original."""
        original = self._originals.get(call.tool or "")
        return call if original is None else replace(call, tool=original.id)


class StandIns(Around):
    """An environment in which something else answers what its recording does not hold.

    Args:
        environment: Gives errors of the kind `NOT_RECORDED`.
        simulated: What answers; None: nothing is known, as where a service brings nothing.
    """

    def __init__(self, environment: Environment, simulated: Environment | None) -> None:
        super().__init__(environment)
        self._simulated = simulated

    def told(self, result: ToolResult, made: Mapping[str, ToolCall]) -> ToolResult:
        """Return what answers instead where the recording does not."""
        if result.error is None or result.error.get("kind") != NOT_RECORDED:
            return result
        call = made[result.call_id]
        if self._simulated is not None:
            (simulated,) = self._simulated.call([call])
            return replace(simulated, unrecorded="simulate")
        executed = Execution(str(call.tool), dict(call.arguments or {}))
        content = json_text({"error": "", "response": None})
        return ToolResult(call.id, content, executed=executed, unrecorded="empty")


class GoldResults(Around):
    """An environment of one chat, in which wrong arguments of gold tools do no harm.

    Args:
        environment: Runs the calls.
        task: With its gold.
        tools: The pool by id.
    """

    def __init__(self, environment: Environment, task: Task, tools: Mapping[str, Tool]) -> None:
        super().__init__(environment)
        self._left = [called for goal in task.goals for m in moves(goal) for called in m.calls]
        self._goals = [goal for goal in task.goals if names_tools_alone(goal)]
        self._tools = tools

    def meant(self, call: ToolCall) -> ToolCall:
        """Return the call with the gold arguments, where a gold tool has wrong ones."""
        mine = [gold for gold in self._left if gold.tool == call.tool]
        if mine:
            gold = next((each for each in mine if each.accepts(call.arguments)), mine[0])
            self._left.remove(gold)
            if gold.accepts(call.arguments):
                return call
            return replace(call, arguments=gold.canonical_arguments(), raw="")
        for goal in self._goals:
            if call.tool in goal.relevant:
                filled = gold_call(self._tools[str(call.tool)], goal)
                return replace(call, arguments=filled.arguments, raw="")
        return call
