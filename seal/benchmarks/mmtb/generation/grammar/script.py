"""What one mission is going to be, as it was drawn (`scripts`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from seal.benchmarks.mmtb.generation.grammar.acts import Act, Slot
from seal.benchmarks.mmtb.generation.grammar.things import Thing

FIRST = "first"
"""Pick of a result's first entry."""


@dataclass(frozen=True, slots=True)
class FromCall:
    """A value that an earlier call of the mission brings."""

    calls: tuple[int, ...]
    """Positions of the calls; of several, one value each."""
    pick: str
    """`first`, or one of the gift's superlatives."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One call to be made."""

    act: Act
    fills: Mapping[str, Thing | FromCall]
    """By slot key; slots that are missing here were asked for, or are not spoken of."""


@dataclass(frozen=True, slots=True)
class Script:
    """One mission to be."""

    request: str
    calls: tuple[Planned, ...] = ()
    rounds: tuple[tuple[int, ...], ...] = ()
    """Positions of the calls that are made at once, in order."""
    missing: tuple[tuple[Slot, Thing], ...] = ()
    """What the request does not say, with what the user answers."""
    reply: str = ""
    """Of a chat."""
    leaves_more: bool = True
    """Something is left that a later mission can recall."""
