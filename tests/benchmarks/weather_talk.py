"""Speakers whose missions are sound: each leans on a town of an earlier one where it is to."""

from __future__ import annotations

from collections.abc import Sequence

from scripted_speakers import FORECAST, WEATHER, Script, call, end, question, says

from seal.benchmarks.mmtb.generation_scene import Action, Assignment, Scene
from seal.core import Chat, Tool

TOWNS = ("Turku", "Lisbon", "Oslo", "Bergen", "Graz")


def town(assignment: Assignment) -> str:
    """Return the town that a mission brings up."""
    return TOWNS[assignment.number]


def meant(assignment: Assignment) -> str:
    """Return the town that a mission is about: an earlier one's, where there is one."""
    before = 0 if assignment.relation == "memory" else assignment.number - 1
    return town(assignment) if assignment.relation is None else TOWNS[before]


class WeatherTalk(Script):
    """Talk about the weather, in two wordings."""

    def choose_tools(
        self, assignments: Sequence[Assignment], tools: Sequence[Tool]
    ) -> Sequence[Tool]:
        return [tool for tool in tools if tool.name in (WEATHER, FORECAST)]

    def candidates(self, scene: Scene, chat: Chat) -> Sequence[str]:
        assignment = scene.assignment
        place = "there" if assignment.relation else f"in {town(assignment)}"
        wish = {
            "single": f"How is the weather {place}?",
            "multi": f"How is the weather {place}, and in {TOWNS[-1]}?",
            "chat": f"Is rain good for the people {place}?",
            "clarify": "How is the weather where my aunt lives?",
        }[assignment.kind]
        return [wish, f"Tell me: {wish}"]

    def decide(self, scene: Scene, chat: Chat) -> str:
        assignment, done = scene.assignment, len(scene.events)
        first, other = call(location=meant(assignment)), call(location=TOWNS[-1])
        return {
            "single": [says(first), end()],
            "multi": [says(first, other), end()],
            "chat": [end("chat")],
            "clarify": [
                says(question(WEATHER, ["location"])),
                says(call(location=f"{town(assignment)} Harbour")),
                end(),
            ],
        }[assignment.kind][done]

    def ask(self, scene: Scene, action: Action, chat: Chat) -> str:
        return "Which town does she live in?"

    def answer(self, scene: Scene, question: str, chat: Chat) -> str:
        return f"In {town(scene.assignment)} Harbour."

    def reply(self, scene: Scene, chat: Chat) -> str:
        assignment = scene.assignment
        talk = "" if assignment.kind in ("single", "multi") else f" as in {meant(assignment)}"
        return f"All is well{talk}. They say that {town(assignment)} is nice too."
