"""The world of a chat step by step: how it begins, and what each step changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from seal.core.conditions.messages import takes_turn
from seal.core.errors import DataError
from seal.core.types import JSON, Step, Tables, Task, Trajectory
from seal.environments.chat_world import clock_of
from seal.evaluation.milestones.faults import TableChange, table_change
from seal.report.gold import json_text


@dataclass(frozen=True, slots=True)
class WorldChange:
    """What one step did to the world."""

    changed: tuple[tuple[str, TableChange], ...]
    """Name of a table to what happened to it."""
    unchanged: tuple[tuple[str, int], ...]
    """Name of every other table to its number of rows."""


class WorldLog:
    """The world of one chat, followed step by step.

    Args:
        initial_state: Tables before the first step, where no step says so.
    """

    def __init__(self, initial_state: Tables | None = None) -> None:
        self._tables = dict(initial_state or {})
        self._begun = False

    def change(self, step: Step) -> WorldChange | None:
        """Return what a step did to the world; None: nothing, or the chat began with it.

        Args:
            step: The next one; the first of all says how the world begins.
        """
        before, began = self._tables, self._begun
        self._tables = {**before, **(step.state or {})}
        self._begun = True
        if not began or not step.state:
            return None
        found = [(name, table_change(before.get(name, []), rows))
                 for name, rows in step.state.items()]  # fmt: skip
        changed = tuple((name, change) for name, change in found if change)
        names = {name for name, _ in changed}
        others = ((name, len(rows)) for name, rows in self._tables.items() if name not in names)
        return WorldChange(changed, tuple(others)) if changed else None


def world_changes(trajectory: Trajectory, initial_state: Tables | None) -> dict[int, WorldChange]:
    """Return what each step did to the world, by `Step.index`; none of those that did nothing."""
    log = WorldLog(initial_state)
    found = ((step.index, log.change(step)) for step in trajectory.steps)
    return {index: change for index, change in found if change is not None}


def beginning(trajectory: Trajectory, initial_state: Tables | None) -> Tables:
    """Return the tables that a chat began with; empty where it has no world."""
    first = trajectory.steps[0].state if trajectory.steps else None
    return {**(initial_state or {}), **(first or {})}


def times(task: Task, steps: Iterable[Step]) -> dict[int, str]:
    """Return the simulated local time of each step, by `Step.index`.

    Args:
        task: Without a clock of its own, or with one that cannot be read, no step has a time.
        steps: All steps of the chat.
    """
    try:
        clock = clock_of(task) if "clock" in task.metadata else None
    except DataError:
        return {}
    if clock is None:
        return {}
    found = {}
    turn, reply = -1, None
    for step in steps:
        ends = (step.author, step.recipient, step.turn, step.goal)
        if ends != reply:
            reply = ends
            turn += takes_turn(step.author, step.recipient)
        local = clock.local(clock.at(turn))
        found[step.index] = f"{local:%Y-%m-%d %H:%M:%S} {local.tzname() or clock.zone}"
    return found


def change_lines(name: str, change: TableChange) -> list[str]:
    """Return one line for each row that came (+), went (-) or changed (~), under the table."""
    lines = [f"+ {_cells(row.items())}" for row in change.added]
    lines += [f"- {_cells(row.items())}" for row in change.removed]
    lines += [
        f"~ {_cells([row.name])}: "
        + ", ".join(
            f"{cell.column} {json_text(cell.before)} -> {json_text(cell.after)}"
            for cell in row.cells
        )
        for row in change.changed
    ]
    return [f"{name}:", *(lines or ["the same rows in another order"])]


def _cells(cells: Iterable[tuple[str, JSON]]) -> str:
    return ", ".join(f"{name}={json_text(value)}" for name, value in cells)


def unchanged_text(tables: Sequence[tuple[str, int]]) -> str:
    """Return the tables that a step left alone, with their numbers of rows."""
    return ", ".join(f"{name} ({rows})" for name, rows in tables)
