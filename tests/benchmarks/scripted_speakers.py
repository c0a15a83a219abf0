"""Speakers who say what a test wrote down, and the small studio that they play in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from seal.benchmarks.mmtb.generation_scene import (
    ASKED_TOOL,
    MISSING,
    Action,
    Assignment,
    Decision,
    Round,
    Scene,
    final_answer,
)
from seal.benchmarks.mmtb.generation_team import Studio
from seal.benchmarks.sample import SAMPLE
from seal.core import JSON, Chat, Response, Tool
from seal.core.validation import CallValidator
from seal.core.values import json_text
from seal.evaluation.mission_gold import ASK
from seal.pools.pool import load_pool
from seal.simulator_cache.simulators import SimulatedEnvironments, Template

WEATHER = "current_weather"
FORECAST = "daily_forecast"
TOOLS = {tool.name: tool for tool in load_pool(SAMPLE.folder).tools()}


def assignment(kind: str = "single", number: int = 0, **fields) -> Assignment:
    relation = "implicit" if number else None
    given = {"dialogue": "d0001", "date": "2024-05-15", "language": "en", "seed": 7}
    return Assignment(number=number, kind=kind, relation=relation, **{**given, **fields})


def call(name: str = WEATHER, **arguments: JSON) -> Action:
    return Action(name, arguments or {"location": "Turku"})


def question(tool: str, missing: Sequence[str]) -> Action:
    """Return the action that asks the user for parameters of a tool."""
    return Action(ASK, {ASKED_TOOL: tool, MISSING: list(missing)})


def write_decision(decision: Decision) -> str:
    """Return a decision as JSON text."""
    actions = [
        {"name": a.name, "arguments": a.arguments, "tool_call_purpose": a.purpose}
        for a in decision.actions
    ]
    finished = "yes" if decision.finished else "no"
    said = {"Mission_Finish": finished, "Thought": decision.thought, "Plan": decision.plan}
    return json_text({**said, "Action_List": actions})


def says(*actions: Action, plan: str = "Look it up.", thought: str = "Clear.") -> str:
    finished = any(action.name == "prepare_to_answer" for action in actions)
    return write_decision(Decision(finished, thought, plan, actions))


def end(kind: str = "tool") -> str:
    return says(final_answer(kind))


def asks(tool: str = WEATHER, *missing: str) -> str:
    return says(question(tool, missing or ["location"]))


PLANS = {
    "single": [says(call()), end()],
    "multi": [says(call(), call(location="Lisbon")), end()],
    "chat": [end("chat")],
    "clarify": [asks(), says(call()), end()],
}


@dataclass
class Script:
    """Speakers of a script; decisions by mission, each list from its beginning."""

    decisions: Callable[[Scene], Sequence[str]] = lambda scene: PLANS[scene.assignment.kind]
    wordings: Sequence[str] = ("How is it in Turku?", "Turku weather, please.")
    texts: dict[str, str] = field(default_factory=dict)
    identity: dict[str, str] = field(default_factory=lambda: {"speakers": "script"})

    def candidates(self, scene: Scene, chat: Chat) -> Sequence[str]:
        return self.wordings

    def decide(self, scene: Scene, chat: Chat) -> str:
        said = len(scene.events) + len(scene.rejections)
        return self.decisions(scene)[said]

    def ask(self, scene: Scene, action: Action, chat: Chat) -> str:
        return self.texts.get("ask", "Where?")

    def answer(self, scene: Scene, question: str, chat: Chat) -> str:
        return self.texts.get("answer", "In Turku.")

    def reply(self, scene: Scene, chat: Chat) -> str:
        rounds = [event for event in scene.events if isinstance(event, Round)]
        return self.texts.get("reply", f"Done after {len(rounds)} rounds.")


class Failing:
    """A simulator that says why it has no answer."""

    identity = "failing"

    def respond(self, tool: Tool, arguments: dict[str, JSON]) -> Response:
        return Response("", "The server is asleep.", cacheable=False, kind="simulator")


def no_model(role: str, assignment: Assignment):
    raise AssertionError(f"{role} needs no model")


def studio(speakers, simulator=None) -> Studio:
    by_id = {tool.id: tool for tool in TOOLS.values()}
    environments = SimulatedEnvironments(simulator or Template(), by_id)
    return Studio(speakers, environments, no_model, CallValidator(by_id))


def first(scene: Scene, candidates: Sequence[str]) -> str:
    return candidates[0] if candidates else ""


def make(speakers, *kinds: str, choose=first, simulator=None, kept=()):
    missions = [assignment(kind, number) for number, kind in enumerate(kinds)]
    offered = [TOOLS[WEATHER], TOOLS[FORECAST]]
    return studio(speakers, simulator).make(missions, offered, choose, kept)
