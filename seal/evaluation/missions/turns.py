"""What a model did in a mission, turn by turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seal.core.errors import DataError, shortened


@dataclass(frozen=True, slots=True)
class Call:
    """One call as the model made it."""

    name: str
    arguments: Any
    """An object, its JSON text, or what the model wrote instead."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One output of the model."""

    calls: tuple[Call, ...] = ()
    text: str = ""
    """What it said; beside calls it has no meaning."""
    malformed: bool = False
    """True: it wrote something in place of calls that names no tool."""

    @property
    def empty(self) -> bool:
        """Neither calls nor text, or calls that are none."""
        return self.malformed or not (self.calls or self.text)


def read_turns(steps: Sequence[Mapping[str, Any]]) -> list[Turn]:
    """Return the turns of records `{"tool_calls": [{name, arguments}...]}`, `{"content": text}`.

    An empty record is a turn without calls and text. What a model may get wrong is an outcome, no
    error: calls that are no list of named ones make the turn malformed.

    Raises:
        DataError: A record is no object, or there is no list of them.
    """
    if not isinstance(steps, Sequence) or isinstance(steps, str):
        raise DataError(
            f"steps: expected a list of the model's outputs, got {shortened(steps)}; "
            "of a model that did nothing it is empty"
        )
    return [_turn(step, position) for position, step in enumerate(steps)]


def _turn(step: Any, position: int) -> Turn:
    if not isinstance(step, Mapping):
        raise DataError(f"step {position}: expected an object, got {shortened(step)}")
    calls, text = step.get("tool_calls"), step.get("content")
    if not calls:
        return Turn(text=text if isinstance(text, str) else "")
    if not isinstance(calls, Sequence) or not all(map(_is_call, calls)):
        return Turn(malformed=True)
    return Turn(tuple(Call(call["name"], call.get("arguments", {})) for call in calls))


def _is_call(call: Any) -> bool:
    return isinstance(call, Mapping) and isinstance(call.get("name"), str)
