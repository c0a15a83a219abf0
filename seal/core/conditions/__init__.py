"""What a gold step asks of a message or of the world: plain data with a similarity.

An open set: a condition is a frozen dataclass that subclasses `Condition`; its field `kind`, by
which a record names it, is the class's name in snake_case. Its `similarity(step, reached)` is in
[0, 1]; `reached` maps the positions of earlier milestones to the steps that reached them, -1 to the
first step.

What is asked of a world is imported when it is first named: most pools have none.
"""

from typing import TYPE_CHECKING

from seal.core.conditions.condition import FIRST, LAST, Condition, Match
from seal.core.conditions.messages import (
    MESSAGE,
    Argument,
    Asked,
    Called,
    Replied,
    Told,
    message_row,
    parts,
    party,
)
from seal.lazy import loader

if TYPE_CHECKING:
    from seal.core.conditions.cells import Column
    from seal.core.conditions.state import EXTRACTORS, AllOf, DependsOn, StateHas, StateUnchanged
    from seal.core.conditions.unconfirmed import Unconfirmed

__all__ = [
    "EXTRACTORS",
    "FIRST",
    "LAST",
    "MESSAGE",
    "AllOf",
    "Argument",
    "Asked",
    "Called",
    "Column",
    "Condition",
    "DependsOn",
    "Match",
    "Replied",
    "StateHas",
    "StateUnchanged",
    "Told",
    "Unconfirmed",
    "message_row",
    "parts",
    "party",
]

__getattr__ = loader(
    __name__,
    {
        ".cells": ["Column"],
        ".state": ["EXTRACTORS", "AllOf", "DependsOn", "StateHas", "StateUnchanged"],
        ".unconfirmed": ["Unconfirmed"],
    },
)
