"""The service desks of the shipped worlds, as tests use them: calls, states, and broken rules."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, Self

from seal.core import JSON, Step, Task, ToolCall, Trajectory
from seal.environments.policy import breaches
from seal.environments.tables import Row
from seal.environments.world import Worlds, WorldSetup, build_worlds

AGENT, USER, EXECUTOR = "execution_manager", "user_simulator", "executor"
CLOCK = {"start": 1_773_648_000.0, "zone": "UTC"}
"""2026-03-16T08:00Z."""


class Desk:
    """A world in which calls are made one after the other.

    Args:
        worlds: The kind of world.
        tables: Those that begin otherwise.
    """

    def __init__(self, worlds: Worlds, **tables: Any) -> None:
        self.worlds = worlds
        self.task = Task("t", "b", (), tables or None, metadata={"clock": CLOCK})
        self.world: Any = worlds.open(self.task, 0)
        self._ids = {tool.name: tool.id for tool in worlds.documents()}
        self._steps = [Step(0, USER, AGENT, "Hello.", state=self.world.states()[-1])]

    def rows(self, table: str) -> list[Row]:
        """Return a table as it is."""
        found: list[Row] = self.world.rows(table)
        return found

    def _call(self, name: str, arguments: dict[str, JSON]) -> Any:
        turn = len(self._steps)
        call = ToolCall(f"c{turn}", name, arguments, tool=self._ids[name])
        (result,) = self.world.call([call])
        state = self.world.states()[-1]
        self._steps.append(Step(turn, AGENT, EXECUTOR, call=call, turn=turn))
        self._steps.append(Step(turn, EXECUTOR, AGENT, result=result, turn=turn, state=state))
        return result

    def use(self, name: str, /, **arguments: Any) -> Any:
        """Make a call that works; return what it brings."""
        result = self._call(name, arguments)
        assert result.error is None, result.content
        return result.value

    def refused(self, name: str, /, **arguments: Any) -> str:
        """Make a call that must fail, and changes nothing; return what it says."""
        before = self.world.states()[-1]
        result = self._call(name, arguments)
        assert result.error is not None, result.content
        assert self.world.states()[-1] == before
        return str(result.content)

    def check(self, person_id: str) -> Self:
        """Check the identity of a customer."""
        (row,) = (row for row in self.rows("people") if row["person_id"] == person_id)
        self.use("check_identity", person_id=person_id, postcode=row["postcode"], born=row["born"])
        return self

    def agree(self, asked: str) -> Self:
        """Let the agent ask something, and the customer say yes."""
        for author, other, text in ((AGENT, USER, asked), (USER, AGENT, "Yes, go ahead.")):
            self._steps.append(Step(0, author, other, text, turn=len(self._steps)))
        return self

    def broken(self, name: str, /, **arguments: Any) -> list[str]:
        """Return the rules that a call breaks here, which is not made for good."""
        steps, world = list(self._steps), self.world
        self.world = copy.copy(world)  # its tables are never changed in place
        self.use(name, **arguments)
        chat = Trajectory("t", 0, tuple(replace(s, index=n) for n, s in enumerate(self._steps)))
        self._steps, self.world = steps, world
        told = breaches(self.worlds.policy, self.task, chat)
        return [str(one["rule"]) for one in told if one["step"] >= len(steps)]


def desk(name: str, **tables: Any) -> Desk:
    """Return a desk of installed worlds, `shop`, `bank` or both."""
    built = build_worlds(name, WorldSetup())
    assert isinstance(built, Worlds)
    return Desk(built, **tables)
