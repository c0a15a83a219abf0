"""The parts of a task's persona and their types; `seal.agents.personas` says what they mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seal.core.errors import UsageError, nearest, shortened
from seal.core.typed_values import check_types

PARTS: Mapping[str, Any] = {
    "goal": str,
    "boundary": str,
    "facts": Mapping[str, Any],
    "then": str | Sequence[str],
    "replies": Sequence[Sequence[str]],
    "demonstration": Sequence[Mapping[str, Any]],
}
_ALIKE, _SHORTEST = 65.0, 4
"""Similarity and length of a name from which on it counts as a part that is misspelt, if it begins
with the same letter."""


def check_persona(persona: Mapping[str, Any]) -> None:
    """Make sure that a persona's parts are of their types, and that none is misspelt.

    Raises:
        UsageError: One is not; or a further entry, which counts as a fact, is named like a part.
    """
    if not isinstance(persona, Mapping):
        raise UsageError(
            f"persona: expected a mapping such as {{'goal': TEXT}}, got {shortened(persona)}"
        )
    for name in persona.keys() - PARTS.keys():
        close = nearest(str(name), PARTS, _ALIKE) if len(str(name)) >= _SHORTEST else None
        if close is not None and str(name)[0].casefold() == close[0]:
            raise UsageError(
                f"persona: no part {name!r}; parts: {', '.join(PARTS)}. Did you mean {close!r}? "
                "A fact of this name stands in facts"
            )
    given = {f"persona.{name}": persona[name] for name in PARTS if name in persona}
    check_types(given, {f"persona.{name}": kind for name, kind in PARTS.items()})
