"""Sequences of a scenario, played in its world: what would be said and done in a chat."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from seal.benchmarks.toolsandbox.scenarios.files import Move
from seal.core import JSON, DataError, Step, Tables, ToolCall, located, shortened
from seal.core.conditions.messages import EXECUTOR, USER
from seal.core.environment import Environment, Eventful, Timed
from seal.core.plain import json_text
from seal.pools.reading.upstream_files import named

MANAGER = "execution_manager"
_PART = re.compile(r"\{(\w+(?:\.\w+)*)\}")


def play_sequence(
    request: str, moves: Sequence[Move], world: Environment, tools: Mapping[str, str]
) -> tuple[Step, ...]:
    """Return a sequence as the direct team says it, each result as the world gives it.

    Args:
        request: The user's first message.
        moves: What follows.
        world: Fresh; it is changed.
        tools: Name of an offered tool to its id.

    Raises:
        DataError: A call names a tool that is not offered, or a text or argument names a part that
            no result has. The text names the move.
    """
    played = _Played(world, tools)
    played.say(USER, MANAGER, request)
    for number, move in enumerate(moves):
        with located(number):
            played.move(move)
    return tuple(played.steps)


class _Played:
    def __init__(self, world: Environment, tools: Mapping[str, str]) -> None:
        self.steps: list[Step] = []
        self._world = world
        self._tools = tools
        self._kept: dict[str, Any] = {}
        self._shown: Tables = {}
        self._calls = 0
        self._turn = 0

    def move(self, move: Move) -> None:
        if move.hear is not None:
            self.say(USER, MANAGER, self._text(move.hear))
            return
        self._hear_events()
        if move.say is not None:
            self.say(MANAGER, USER, self._text(move.say))
        elif move.do is not None:
            self._do(move.do, move.keep)

    def say(self, author: str, recipient: str, text: str) -> None:
        self._tick()
        state = None if self.steps else self._changed(self._world.states()[-1])
        self._add(author, recipient, text, state=state)
        self._turn += 1

    def _hear_events(self) -> None:
        """Tell the agent what has happened by itself, as the chat does before the agent speaks."""
        if isinstance(self._world, Eventful):
            for text in self._world.events():
                state = self._changed(self._world.states()[-1])
                self._add(EXECUTOR, MANAGER, text, state=state)
                self._turn += 1

    def _do(self, what: Any, keep: str) -> None:
        written = [
            (name, arguments)
            for call in (what if isinstance(what, list) else [what])
            for name, arguments in call.items()
        ]
        calls = [self._call(name, arguments) for name, arguments in written]
        self._tick()
        for call in calls:
            self._add(MANAGER, EXECUTOR, call=call)
        self._turn += 1
        results = self._world.call(calls)
        for result, tables in zip(results, self._world.states(), strict=True):
            state = self._changed(tables)
            self._add(EXECUTOR, MANAGER, result.content, result=result, state=state)
        self._turn += 1
        if keep:
            by_id = {result.call_id: result.value for result in results}
            values = [by_id[call.id] for call in calls]
            self._kept[keep] = values if isinstance(what, list) else values[0]

    def _call(self, name: str, arguments: Mapping[str, JSON]) -> ToolCall:
        tool = named(self._tools, name, "offered tool")
        call_id = f"call_{self._calls}"
        self._calls += 1
        filled = {key: self._filled(value) for key, value in arguments.items()}
        return ToolCall(call_id, name, filled, tool=tool)

    def _filled(self, value: JSON) -> JSON:
        if isinstance(value, list):
            return [self._filled(item) for item in value]
        if isinstance(value, dict):
            return {name: self._filled(item) for name, item in value.items()}
        if not isinstance(value, str):
            return value
        whole = _PART.fullmatch(value)
        return self._part(whole[1]) if whole else self._text(value)

    def _text(self, text: str) -> str:
        def spelled(found: re.Match[str]) -> str:
            part = self._part(found[1])
            return part if isinstance(part, str) else json_text(part)

        return _PART.sub(spelled, text)

    def _part(self, path: str) -> JSON:
        name, *keys = path.split(".")
        value = named(self._kept, name, "kept result")
        for key in keys:
            try:
                value = value[int(key)] if isinstance(value, list) else value[key]
            except (KeyError, IndexError, TypeError, ValueError) as error:
                raise DataError(f"{{{path}}}: no {key!r} in {shortened(value)}") from error
        return value

    def _add(self, author: str, recipient: str, content: str = "", **parts: Any) -> None:
        """Add a step of this turn; `parts` are the call, result and state that it has."""
        step = Step(len(self.steps), author, recipient, content, turn=self._turn, **parts)
        self.steps.append(step)

    def _tick(self) -> None:
        if isinstance(self._world, Timed):
            self._world.tick()

    def _changed(self, tables: Tables) -> Tables | None:
        """Return the tables that differ from those shown before."""
        changed = {name: rows for name, rows in tables.items() if rows != self._shown.get(name)}
        self._shown = tables
        return changed or None
