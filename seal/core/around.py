"""An environment around another one, that hands on whatever is not about calls."""

from __future__ import annotations

from collections.abc import Sequence

from seal.core.protocols import Attentive, Environment, Eventful, Staged, Timed
from seal.core.types import Step, Tables


class Around:
    """Hands on whatever is not about calls.

    Args:
        inner: The environment around which it lies.
    """

    def __init__(self, inner: Environment) -> None:
        self.inner = inner

    def states(self) -> Sequence[Tables]:
        """Return the world after each result of the last call."""
        return self.inner.states()

    def tick(self) -> None:
        """Hand on that time moves, where the environment has a clock."""
        if isinstance(self.inner, Timed):
            self.inner.tick()

    def begin(self, goal: int) -> None:
        """Hand on which goal is played, where the environment must know."""
        if isinstance(self.inner, Staged):
            self.inner.begin(goal)

    def hear(self, step: Step) -> None:
        """Hand on what was said, where the environment must know."""
        if isinstance(self.inner, Attentive):
            self.inner.hear(step)

    def events(self) -> Sequence[str]:
        """Hand on what has happened, where something can."""
        return self.inner.events() if isinstance(self.inner, Eventful) else ()
