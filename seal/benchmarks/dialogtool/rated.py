"""Turns of a dialogue that people rate: what the actor said, else the responder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from seal.benchmarks.dialogtool.tool_life import ACTOR, RESPONDER
from seal.core.types import JSON, Task, Trajectory


def rated(task: Task, trajectory: Trajectory) -> Iterator[tuple[int, str, str]]:
    """Yield (goal, character, words) of each turn in which one of both said something.

    The character is described where the actor played one; else it is empty.
    """
    said: dict[int, dict[str, str]] = {}
    for step in trajectory.steps:
        if step.author in (ACTOR, RESPONDER) and step.call is None and step.content.strip():
            said.setdefault(step.goal, {})[step.author] = step.content
    for goal, words in said.items():
        if goal < len(task.goals):
            acted = ACTOR in words
            character = _described(trajectory.provenance.get("role")) if acted else ""
            yield goal, character, words[ACTOR] if acted else words[RESPONDER]


def _described(played: JSON) -> str:
    """Return a character in words."""
    if not isinstance(played, Mapping):
        return ""
    told = ("name", "gender", "mbti", "language", "emotion", "interaction")
    return "; ".join(str(played[name]) for name in told if played.get(name))


__all__ = ["rated"]
