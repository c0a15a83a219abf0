"""A model that makes missions about the weather: it reads prompts as a model would have to."""

from __future__ import annotations

import json
import re
from typing import Any

from scripted_speakers import PLANS, call, end, says
from servers import Answer, Received, text

_KINDS = {
    "exactly one call of one of the tools below, and states": "single",
    "needs several calls": "multi",
    "answers by talking": "chat",
    "forgets to say": "clarify",
}


def wordings(kind: str, count: int) -> str:
    return json.dumps(
        {f"Task {n}": f"{kind} request number {n}, please" for n in range(1, count + 1)}
    )


def said(request: Received) -> str:
    """Return what the model of a role answers; the kind of a mission stands in its request."""
    system, *rest = [message["content"] for message in request.body["messages"]]
    if system.startswith("You play a person who talks to an assistant that has tools"):
        kind = next(kind for words, kind in _KINDS.items() if words in system)
        count = int(re.search(r"with (\d) requests", system)[1])
        return wordings(kind, count)
    if system.startswith("You are the planner"):
        return decided(rest[0])
    if "Ask the user for just that" in system:
        return "Which town do you mean?"
    if "The assistant has asked you for something" in system:
        return "Somewhere north." if "Stay vague" in system else "In Turku."
    return "Here is what I found." if "results stand below" in system else "Let us talk."


def decided(talk: str) -> str:
    mission = talk[talk.rindex(" request number") :]
    kind = re.findall(r"(\w+) request number", talk)[-1]
    if kind == "clarify" and mission.endswith("Somewhere north."):
        return PLANS["clarify"][0]
    done = mission.count(" brought ") + mission.count("Which town do you mean?")
    if kind == "multi":
        return end() if done else says(call(), call(location="Lisbon"))
    if "Somewhere north." in mission:
        done -= 1
    return PLANS[kind][done]


def weather_model(request: Received) -> Answer:
    return text(said(request))


def prompts(received: list[Received], opening: str) -> list[Any]:
    """Return the messages of each request whose system message opens so."""
    bodies = [request.body["messages"] for request in received]
    return [messages for messages in bodies if messages[0]["content"].startswith(opening)]
