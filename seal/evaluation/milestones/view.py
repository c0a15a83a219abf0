"""A trajectory as milestones see it: who says what to whom, and the whole world after each step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

import orjson

from seal.core.conditions import Match, party
from seal.core.conditions.messages import AGENT, EXECUTOR, USER
from seal.core.conditions.rows import Keys, Version
from seal.core.types import Step, Tables, Trajectory


def view(
    trajectory: Trajectory, goal: int, initial_state: Tables | None, match: Match
) -> tuple[Step, ...]:
    """Return what was said and done for one goal, each step with all tables after it.

    The agent's roles are one party: what they say to each other is left out. Equal versions of a
    table are one object, so that `is` tells whether a table changed, and so are equal rows.

    Args:
        trajectory: Of which each step holds the tables that changed in it.
        goal: Position of the goal.
        initial_state: Tables before the first step, where no step says so.
        match: `toolsandbox`: calls of one batch bring their changes all at once, as in the
            original, which stamps them with the batch's first answer.
    """
    steps = [step for step in _with_tables(trajectory.steps, initial_state) if step.goal == goal]
    if match == "toolsandbox":
        steps = list(_batched(steps))
    return tuple(step for step in steps if not _within_agent(step))


def turn_count(steps: Sequence[Step]) -> int:
    """Return the number of messages after the first one, without those that end the chat.

    The user calls its own tools, such as the one that ends the chat; these calls and their answers
    are none of the conversation. Source: ToolSandbox, which leaves out the request that the
    scenario itself makes.
    """
    return sum({step.author, step.recipient} != {USER, EXECUTOR} for step in steps[1:])


def _with_tables(steps: Iterable[Step], initial_state: Tables | None) -> Iterator[Step]:
    versions: dict[tuple[str, bytes], Version] = {}
    known: dict[bytes, dict[str, object]] = {}
    keys: Keys = {}

    def shared(name: str, rows: Sequence[dict[str, object]]) -> Version:
        spelled = [orjson.dumps(row) for row in rows]
        key = name, b"\n".join(spelled)
        if key not in versions:
            shared_rows = (known.setdefault(s, r) for s, r in zip(spelled, rows, strict=True))
            versions[key] = Version(shared_rows, keys)
        return versions[key]

    tables: Tables = {name: shared(name, rows) for name, rows in (initial_state or {}).items()}
    for step in steps:
        if step.state:
            tables = {**tables, **{name: shared(name, rows) for name, rows in step.state.items()}}
        yield replace(step, state=tables)


def _batched(steps: Iterable[Step]) -> Iterator[Step]:
    """Yield the steps, each result with the world after the last result of its batch."""
    for (is_result, _), group in groupby(steps, lambda s: (s.result is not None, s.turn)):
        batch = list(group)
        if not is_result or len(batch) == 1:
            yield from batch
        else:
            yield from (replace(step, state=batch[-1].state) for step in batch)


def _within_agent(step: Step) -> bool:
    return party(step.author) == party(step.recipient) == AGENT
