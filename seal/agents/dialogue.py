"""A role's view of the chat as the messages of a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from seal.core.canonical import digest
from seal.core.protocols import Message
from seal.core.types import Step


@cache
def prompt(name: str) -> str:
    """Return the text of `prompts/NAME.txt`."""
    return (files(__package__) / "prompts" / f"{name}.txt").read_text(encoding="utf-8").strip()


def prompts_digest() -> str:
    """Return one digest of all prompts of the roles: part of what a run's system is."""
    folder = files(__package__) / "prompts"
    texts = {item.name: item.read_text(encoding="utf-8") for item in folder.iterdir()}
    return digest(texts)


def messages(steps: Sequence[Step], role: str, user: str = "user_simulator") -> list[Message]:
    """Return what a role said and heard as prompt messages, its own side being the assistant's.

    Texts of other roles than the user are prefixed by the author, so that a model can tell a
    planner's word from the user's. Calls of one turn are one assistant message; a result reaches
    its caller whoever heard it first.

    Args:
        steps: The chat so far.
        role: Whose view this is.
        user: Role whose texts go without a prefix.
    """
    out: list[Message] = []
    turn = -1
    called = set()
    for step in steps:
        if step.author == role:
            if step.call is not None:
                called.add(step.call.id)
            mine = Message("assistant", step.content, (step.call,) if step.call else ())
            if step.call is not None and step.turn == turn:
                last = out.pop()
                mine = Message("assistant", last.content, (*last.calls, step.call))
            out.append(mine)
            turn = step.turn
        elif step.result is not None and step.result.call_id in called:
            out.append(Message("tool", step.content, call_id=step.result.call_id))
        elif step.recipient == role and step.result is None:
            text = step.content if step.author == user else f"[{step.author}] {step.content}"
            out.append(Message("user", text))
    return out
