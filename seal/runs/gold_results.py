"""Gold results injected: calls of gold tools bring what the gold calls bring.

A call of a gold tool is run with the arguments of the gold call of that tool which comes next, so
that a simulator answers what was recorded for it, and a world changes as the gold changes it,
however wrong the arguments were. Where the gold names tools and no calls, a call is run with
arguments filled from the request (`models.gold_calls`). All other calls run as they are. What was
run stands in `ToolResult.executed`; the call itself stays as the model made it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from seal.core.around import Around
from seal.core.conditions import Called
from seal.core.protocols import Environment
from seal.core.types import Goal, Task, Tool, ToolCall, ToolResult
from seal.models.gold_calls import gold_call, names_tools_alone
from seal.models.oracle import moves


class GoldResults(Around):
    """An environment of one chat, in which wrong arguments of gold tools do no harm.

    Args:
        environment: Runs the calls.
        task: With its gold.
        tools: The pool by id.
    """

    def __init__(self, environment: Environment, task: Task, tools: Mapping[str, Tool]) -> None:
        super().__init__(environment)
        self._left = [called for goal in task.goals for called in _gold(goal)]
        self._goals = [goal for goal in task.goals if names_tools_alone(goal)]
        self._tools = tools

    def call(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Return the results of all calls of one reply, in execution order."""
        return self.inner.call([self._meant(call) for call in calls])

    def _meant(self, call: ToolCall) -> ToolCall:
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


def _gold(goal: Goal) -> list[Called]:
    return [called for move in moves(goal) for called in move.calls]
