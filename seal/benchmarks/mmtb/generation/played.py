"""A mission's chat, read back as the scene that its roles see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from seal.agents.teams import CHECKER, USER
from seal.benchmarks.mmtb.generation.decisions import read_decision
from seal.benchmarks.mmtb.generation.scenes import Decision, Exchange, Round, Scene
from seal.core.errors import DataError
from seal.core.types import JSON, Step
from seal.evaluation.missions.graph import ANSWER, ASK

PLANNER = "planner"
AGENT = "agent"
ACCEPTED = "correct"
"""What the checker says of what breaks no rule."""


@dataclass(frozen=True, slots=True)
class Played:
    """A mission as far as it was played."""

    scene: Scene
    decision: Decision | None = None
    """The planner's last one, where it could be read."""
    refused: tuple[str, ...] = ()
    """All that the checker sent back, whatever came of it."""
    reply: str = ""
    """The agent's last text; empty until it is spoken."""


def read_chat(scene: Scene, steps: Sequence[Step], goal: int) -> Played:
    """Return a mission as its chat tells it.

    Args:
        scene: As it was before anybody spoke.
        steps: Of the chat; those of other missions are passed over.
        goal: Number of the mission.
    """
    played, results = Played(scene), list[JSON]()
    for step in steps:
        if step.goal != goal:
            continue
        if step.result is not None:
            results.append(step.result.value)
        elif step.author == CHECKER:
            played, results = _checked(played, step.content, results), []
        elif step.call is None:
            played = _said(played, step)
    return played


def _said(played: Played, step: Step) -> Played:
    scene = played.scene
    if step.author == PLANNER:
        return replace(played, decision=_decision(step.content))
    if step.author == USER:
        asked = scene.events[-1] if scene.events else None
        if isinstance(asked, Exchange):
            return _happened(played, (*scene.events[:-1], replace(asked, answer=step.content)))
        return replace(played, scene=replace(scene, request=step.content))
    action = played.decision.actions[0] if played.decision else None
    if action is not None and action.name == ASK:
        return _happened(played, (*scene.events, Exchange(action, step.content, "")))
    return replace(played, reply=step.content if action and action.name == ANSWER else "")


def _checked(played: Played, verdict: str, results: Sequence[JSON]) -> Played:
    scene = played.scene
    if verdict != ACCEPTED:
        return replace(
            played,
            scene=replace(scene, rejections=(*scene.rejections, verdict)),
            refused=(*played.refused, verdict),
        )
    if not results or played.decision is None:
        return played
    return _happened(played, (*scene.events, Round(played.decision.actions, tuple(results))))


def _happened(played: Played, events: Sequence[Round | Exchange]) -> Played:
    return replace(played, scene=replace(played.scene, events=tuple(events), rejections=()))


def _decision(text: str) -> Decision | None:
    try:
        return read_decision(text)
    except DataError:
        return None
