"""What ToolSandbox tells the model that plays the user, as a persona.

Upstream writes it as messages that only the user sees. Conversations as examples come first, each
with an instruction of its own. The last instruction has the user's goal and what it knows. The
instruction's general part is left out: SEAL has its own (`seal.agents.users`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

_SPOKEN = {
    ("SYSTEM", "USER"): "goal",
    ("USER", "AGENT"): "user",
    ("AGENT", "USER"): "assistant",
    ("USER", "EXECUTION_ENVIRONMENT"): "end",
}
"""Sender and recipient of what only the user sees, to its role in a persona's demonstration."""
_SENTENCE = re.compile(r"(?<=[.?!])\s*(?=[A-Z])")


def is_heard(message: Mapping[str, Any]) -> bool:
    """Tell whether a message is the user's own to the agent, and no example."""
    ends = message["sender"], message["recipient"]
    return ends == ("USER", "AGENT") and not message.get("visible_to")


def persona_of(messages: Sequence[Mapping[str, Any]], instruction: str) -> dict[str, Any]:
    """Return what the user is told: its goal, what it knows, and conversations as examples.

    Args:
        messages: All of a scenario, as upstream has them.
        instruction: What a text to the user begins with, before its goal.

    Returns:
        A persona; empty where no message tells the user a goal.
    """
    told: list[tuple[str, str]] = []
    for message in messages:
        role = _SPOKEN.get((message["sender"], message["recipient"]))
        if role is not None and not is_heard(message):
            told.append((role, _spoken_to(message["content"].removeprefix(instruction))))
    goals = [place for place, (role, _) in enumerate(told) if role == "goal"]
    if not goals:
        return {}
    goal, boundary = _parted(told[goals[-1]][1])
    shown = [
        {"role": role, "content": "" if role == "end" else text} for role, text in told[: goals[-1]]
    ]
    persona: dict[str, Any] = {"goal": goal}
    if boundary:
        persona["boundary"] = boundary
    if shown:
        persona["demonstration"] = shown
    return persona


def _spoken_to(text: str) -> str:
    """Return a text with its reader as you and the other side as the assistant.

    Upstream names them User A and User B.
    """
    text = re.sub(r"\b(you|your) \(User A(?:'s)?\)", r"\1", text.replace("User B", "the assistant"))
    return text.replace("(User A's)", "your")


def _parted(text: str) -> tuple[str, str]:
    """Return a user's goal and what it knows besides, which upstream tells in one text.

    The second begins with the first sentence that says what the reader knows, or that is followed
    by the demand to keep it.
    """
    sentences = _SENTENCE.split(text)
    for place in range(1, len(sentences)):
        following = " ".join(sentences[place + 1 : place + 2])
        if sentences[place].startswith("You ") or following.startswith("Do not leak"):
            return " ".join(sentences[:place]), " ".join(sentences[place:])
    return text, ""
