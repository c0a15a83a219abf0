"""Messages that nothing bears out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from seal.core.conditions.condition import AtSteps, OfTheStepAlone
from seal.core.untruths import untruths

if TYPE_CHECKING:
    from seal.core.types import Step


@dataclass(frozen=True, slots=True)
class Untrue(OfTheStepAlone):
    """A message of the agent to its user that tells an untruth: made for minefields.

    It claims an action that no result shows, or states a fact that neither the user nor a result
    gave (`seal.core.untruths`).
    """

    kind: str = field(default="untrue", init=False)

    def similarity(self, step: Step, reached: Mapping[int, Step]) -> float:
        """Return 1 for a message that tells an untruth if nothing came before it, else 0."""
        return float(any(untruths([step])))

    def among(self, steps: Sequence[Step]) -> AtSteps:
        """Return the condition for a chat: 1 for each message in it that tells an untruth."""
        return AtSteps(frozenset(untruth.step for untruth in untruths(steps)))
