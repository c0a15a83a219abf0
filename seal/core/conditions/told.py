"""What the agent tells its user, by words that must occur."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from seal.core.conditions.base import OfTheStepAlone
from seal.core.conditions.parties import AGENT, USER, party

if TYPE_CHECKING:
    from seal.core.types import Step

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


@dataclass(frozen=True, slots=True)
class Told(OfTheStepAlone):
    """A message of the agent to its user that states something.

    A text occurs where it stands as whole words, whatever the case of its letters; 40,000 is 40000.
    """

    all_of: tuple[str, ...] = ()
    """Texts that must all occur."""
    any_of: tuple[str, ...] = ()
    """Texts of which one must occur; empty: none need."""
    kind: str = field(default="told", init=False)

    def similarity(self, step: Step, reached: Mapping[int, Step]) -> float:
        """Return the share of `all_of` that the message has, 0 where it has none of `any_of`.

        0 for what is no message of the agent to the user, or has no word; without texts 1.
        """
        if party(step.author) != AGENT or step.recipient != USER or not step.content.strip():
            return 0.0
        said = _plain(step.content)
        if self.any_of and not any(_occurs(text, said) for text in self.any_of):
            return 0.0
        if not self.all_of:
            return 1.0
        return sum(_occurs(text, said) for text in self.all_of) / len(self.all_of)


def _plain(text: str) -> str:
    return " ".join(_THOUSANDS.sub("", text).casefold().split())


def _occurs(text: str, said: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(_plain(text))}(?!\w)", said) is not None
