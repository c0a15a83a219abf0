"""What gold says of a turn of the assistant, and what each role said in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from seal.core.conditions import Called
from seal.core.types import Goal, Step, ToolCall, Trajectory

Kind = Literal["call", "request", "action"]
"""Call: an API is to be called. Request: it is to be written with `?` for what is missing. Action:
no API is due."""
KINDS: frozenset[str] = frozenset(get_args(Kind))
DECIDING = ("awareness", "selection", "execution")
"""Metrics by which a turn is solved, where each that applies is 1."""
SEATED = "seated"
"""Under this name a trajectory's provenance may list the roles of its chat."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of the assistant: gold, and what was said."""

    goal: Goal
    steps: Sequence[Step]
    """Of this goal."""
    seated: frozenset[str] = frozenset()
    """Roles that took part in the dialogue."""

    @property
    def act(self) -> str:
        """The gold action."""
        return str(self.goal.labels["act"]).lower()

    @property
    def kind(self) -> str:
        """What is due (`Kind`)."""
        return str(self.goal.labels["kind"])

    @property
    def due(self) -> Called | None:
        """The gold request; None where no API is due."""
        if self.kind == "action" or not self.goal.plans:
            return None
        return next(iter(self.goal.plans[0].calls()), None)

    @property
    def missing(self) -> Sequence[str]:
        """Arguments that the user has to be asked for."""
        named = self.goal.labels.get("missing") or ()
        return [str(name) for name in named]

    @property
    def reply(self) -> str:
        """The gold utterance; empty where there is none."""
        return self.goal.reference[-1].content if self.goal.reference else ""

    def said(self, role: str) -> str | None:
        """Return what a role said last; None: nothing."""
        words = [s.content for s in self.steps if s.author == role and not (s.call or s.result)]
        return words[-1] if words else None

    def calls(self, role: str) -> list[ToolCall]:
        """Return the calls of a role in order."""
        return [s.call for s in self.steps if s.author == role and s.call is not None]


def is_turn(goal: Goal) -> bool:
    """Tell whether a goal is a turn of such a dialogue."""
    return goal.labels.get("kind") in KINDS and isinstance(goal.labels.get("act"), str)


def turns_of(goals: Sequence[Goal], trajectory: Trajectory) -> list[Turn]:
    """Return the turns of a dialogue, one for each goal."""
    steps: list[list[Step]] = [[] for _ in goals]
    for step in trajectory.steps:
        if step.goal < len(goals):
            steps[step.goal].append(step)
    named = trajectory.provenance.get(SEATED)
    told = named if isinstance(named, list) else ()
    seated = frozenset({*told, *(step.author for step in trajectory.steps)})
    return [Turn(goal, said, seated) for goal, said in zip(goals, steps, strict=True)]
