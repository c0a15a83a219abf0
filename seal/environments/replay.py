"""The world `replay`: what the gold calls of a goal once brought comes back.

A call is matched to one of the goal's gold calls of the same tool (`Called` milestones of its first
plan). Each gold call is used once. Calls go to the free gold calls of their tool that agree best.
Whole argument maps count first, then single values, then gold calls whose turn it is, then names,
then the order of the gold. All calls of a reply are matched together, and each result has its
call's id. So results of calls made at once are never exchanged.

A call with wrong arguments is matched too and gets the gold observation. Multi-Mission Tool Bench
plays it so, for its chats only end if names are wrong. With `-T strict=true` it gets an error of
the kind `not_recorded`. A call of a tool beyond the gold's calls of it always gets that error,
unless it repeats the arguments of a used gold call: then that observation comes again. An unknown
tool, and arguments that are no JSON object, are rejected by rule. The chat goes on after an error;
what a mission is worth is decided at its first wrong turn, whatever follows.
"""

from __future__ import annotations

from collections.abc import Sequence

from seal.core import JSON, Execution, OptionError, Task, ToolCall, ToolResult
from seal.core.earlier_results import recorded_gold
from seal.core.environment import Environment, Stateless, Storeless
from seal.core.table_matching import cheapest
from seal.core.validation import CallValidator, error_result
from seal.core.values import json_text
from seal.environments.world import WorldSetup, check_options

NAME = "replay"
_RULES = CallValidator({})


class Replays(Storeless):
    """Opens the replay of a task for each chat.

    Args:
        strict: Calls whose arguments the gold does not accept bring an error.
    """

    def __init__(self, strict: bool = False) -> None:
        self._strict = strict

    def open(self, task: Task, trial: int, offered: Sequence[str] = ()) -> Environment:
        """Return the environment of one chat."""
        return Replay(task, self._strict, offered)

    def identity(self) -> dict[str, JSON]:
        """Return what shapes the answers besides the tasks."""
        return {"world": NAME, "strict": self._strict}


def replay(setup: WorldSetup) -> Replays:
    """Return what opens replays under the settings of a run.

    Raises:
        OptionError: An option is unknown or has a value that it cannot have.
    """
    check_options(NAME, setup, ("strict",))
    strict = setup.options.get("strict", False)
    if not isinstance(strict, bool):
        raise OptionError(f"-T strict={strict!r}: expected true or false")
    return Replays(strict)


class Replay(Stateless):
    """The replay of one chat.

    Args:
        task: With its gold.
        strict: As of `Replays`.
        offered: Names of the offered tools, for messages.
    """

    def __init__(self, task: Task, strict: bool = False, offered: Sequence[str] = ()) -> None:
        self._task = task
        self._strict = strict
        self._offered = offered
        self.begin(0)

    def begin(self, goal: int) -> None:
        """Play another goal, of which no gold call is used."""
        plans = self._task.goals[goal].plans
        self._gold = plans[0].milestones if plans else ()
        self._called = {place: call for place, (call, _) in recorded_gold(self._gold).items()}
        self._used: set[int] = set()

    def call(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Return the results of all calls of one reply, in their order."""
        good = [call for call in calls if call.tool is not None and call.arguments is not None]
        places: dict[str, int] = {}
        for tool in dict.fromkeys(call.tool for call in good):
            places |= self._matched([call for call in good if call.tool == tool])
        self._used.update(places.values())
        return [self._result(call, places.get(call.id)) for call in calls]

    def _matched(self, calls: Sequence[ToolCall]) -> dict[str, int]:
        """Return call id to the place of its gold call, of calls of one tool; those without: none.

        Args:
            calls: Of one reply.
        """
        free = [place for place in self._of_tool(calls[0]) if place not in self._used]
        size = max(len(calls), len(free))
        costs = [[0.0] * size for _ in range(size)]
        for row, call in enumerate(calls):
            for column, place in enumerate(free):
                costs[row][column] = -self._likeness(call, place)
        columns = cheapest(costs) or []
        pairs = enumerate(columns[: len(calls)])
        return {calls[row].id: free[column] for row, column in pairs if costs[row][column] < 0}

    def _of_tool(self, call: ToolCall) -> list[int]:
        return [place for place, called in self._called.items() if called.tool == call.tool]

    def _likeness(self, call: ToolCall, place: int) -> float:
        """Return how well a call fits a free gold call of its tool: above 0, or 0 where it may not.

        The parts weigh in their order: the next one counts where those before are equal.
        """
        called = self._called[place]
        accepted = called.accepts(call.arguments)
        if self._strict and not accepted:
            return 0.0
        given, gold = call.arguments or {}, called.arguments or {}
        common = [name for name in given if name in gold]
        right = sum(gold[name].accepts(given[name]) for name in common)
        before = [other for other in self._gold[place].after if other in self._called]
        ready = self._used.issuperset(before)
        weight = 0.0
        for part in (accepted, right, ready, len(common)):
            weight = weight * 100 + min(part, 99)
        return weight * 1000 + len(self._gold) - place

    def _result(self, call: ToolCall, place: int | None) -> ToolResult:
        if call.tool is None or call.arguments is None:
            wrong = _RULES.check(call, self._offered)
            if wrong is not None:
                return error_result(call, wrong)
        if place is None:
            place = self._repeated(call)
        if place is None:
            message = f"No further answer of {call.name} to these arguments was recorded."
            error = {"kind": "not_recorded", "message": message}
            return ToolResult(call.id, json_text({"error": message, "response": ""}), error)
        value = self._gold[place].result
        content = value if isinstance(value, str) else json_text(value)
        executed = Execution(str(call.tool), dict(call.arguments or {}))
        return ToolResult(call.id, content, value=value, executed=executed)

    def _repeated(self, call: ToolCall) -> int | None:
        """Return the used gold call whose arguments a call gives again."""
        return next(
            (
                place
                for place in self._of_tool(call)
                if place in self._used and self._called[place].accepts(call.arguments)
            ),
            None,
        )
