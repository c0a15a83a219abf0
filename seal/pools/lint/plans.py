"""Plans that cannot be measured."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from seal.core.errors import CodeRefusedError, DataError, SealError
from seal.core.types import Tables, Task
from seal.environments import REGISTRY as WORLDS
from seal.environments.world import Worlds, WorldSetup, build_worlds
from seal.evaluation.milestones import check_plan
from seal.evaluation.milestones.metrics import match_of
from seal.pools.lint.findings import Finding


def refused_worlds(tasks: Iterable[Task], allow_code: Collection[str]) -> Iterator[Finding]:
    """Yield a finding for each world that is code of a module that is not allowed."""
    played: dict[str, list[str]] = {}
    for task in tasks:
        played.setdefault(task.world, []).append(task.id)
    for world, ids in played.items():
        try:
            WORLDS.check_named(world, f"task {ids[0]!r}", allow_code)
        except CodeRefusedError as error:
            yield Finding("refused_world", str(error), tuple(ids), evidence={"world": world})


class PlanCheck:
    """Finds the plans that have no score, in the worlds of their tasks.

    Args:
        allow_code: Modules into which tasks may name their worlds by a dotted path.
        own: Worlds of the pool's benchmark, by name.
    """

    def __init__(self, allow_code: Collection[str], own: Mapping[str, Any]) -> None:
        self.allow_code = allow_code
        self._setup = WorldSetup(allow_code=allow_code, own=own)
        self._worlds: dict[str, Worlds | None] = {}

    def findings(self, task: Task) -> Iterator[Finding]:
        """Yield a finding for rules that there are not, and for each plan that has a fault.

        Which tables and columns there are, the task's world says; where it does not, none is known.
        """
        planned = [(n, goal.plans) for n, goal in enumerate(task.goals) if goal.plans]
        if not planned:
            return
        try:
            match_of(task)
        except DataError as error:
            yield Finding("unmeasurable_plan", str(error), (task.id,))
        state = self._state(task)
        for goal, plans in planned:
            for number, plan in enumerate(plans):
                try:
                    check_plan(plan, state, measured=True)
                except DataError as error:
                    message = f"task {task.id!r}, goal {goal}, plan {number}: {error}"
                    evidence = {"goal": goal, "plan": number, "fault": str(error)}
                    yield Finding("unmeasurable_plan", message, (task.id,), evidence=evidence)

    def _state(self, task: Task) -> Tables | None:
        """Return the tables that a task begins with, an empty one by a row of its columns."""
        if not task.world:
            return task.initial_state
        world = self._world(task.world)
        if world is None:
            return None
        try:
            tables = world.beginning(task)
        except SealError:
            return None
        columns = {name: dict.fromkeys(world.columns.get(name, {})) for name in tables}
        return {name: rows or _rows(columns[name]) for name, rows in tables.items()}

    def _world(self, name: str) -> Worlds | None:
        if name not in self._worlds:
            try:
                built = build_worlds(name, self._setup)
            except SealError:
                built = None
            self._worlds[name] = built if isinstance(built, Worlds) else None
        return self._worlds[name]


def _rows(row: dict[str, Any]) -> list[dict[str, Any]]:
    return [row] if row else []
