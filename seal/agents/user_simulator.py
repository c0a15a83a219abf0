"""The role that speaks the goal and, in a conversation, answers from its brief."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from seal.agents.briefs import facts_of, replies_of, requests_of
from seal.agents.dialogue import prompt
from seal.agents.ending import END, leave
from seal.agents.teams import EXECUTOR
from seal.core.protocols import Chat, Message, Reply
from seal.core.types import JSON, Step


class UserSimulator:
    """Speaks the goal's text first; then, where there is a brief or a person, its model answers.

    For the model the sides are swapped: what the user said are the assistant's messages. Calls and
    results of the user are hidden from it.
    """

    def reply(self, chat: Chat) -> Reply:
        """Return the goal, an answer, or the end: a call of `end_conversation`, or no word."""
        if not any(s.author == chat.role and s.goal == chat.goal for s in chat.steps):
            return Reply(chat.request)
        view = [Message("system", brief(chat)), *swapped(chat.steps, chat.role)]
        answer = chat.complete(view, [END])
        if not answer.calls:
            return Reply(answer.content, done=not answer.content.strip())
        if EXECUTOR not in chat.roles:
            return leave(chat, answer.content)
        return Reply(answer.content, answer.calls)


def swapped(steps: Iterable[Step], role: str) -> list[Message]:
    """Return what the user said and heard in words, its own side being the assistant's."""
    return [
        Message("assistant" if step.author == role else "user", step.content)
        for step in steps
        if step.call is None and step.result is None and role in (step.author, step.recipient)
    ]


def brief(chat: Chat) -> str:
    """Return the system message: the role, then the parts of the brief that there are."""
    persona = chat.persona or {}
    goal = persona.get("goal")
    parts = [prompt("user_simulator"), f"Your goal: {goal if _is_text(goal) else chat.request}"]
    following = requests_of(persona)
    if following:
        parts.append("\n".join(["After that you ask, one by one:", *(f"- {t}" for t in following)]))
    known = _known(persona, chat.goal)
    if known:
        parts.append("\n".join(["What you know:", *known]))
    examples = _examples(persona.get("demonstration"))
    if examples:
        parts.append(f"Such conversations went like this, about other matters:\n\n{examples}")
    return "\n\n".join(parts)


def _known(persona: Mapping[str, JSON], goal: int) -> list[str]:
    boundary = persona.get("boundary")
    lines = [str(boundary)] if _is_text(boundary) else []
    lines += [f"- {text}" for text in replies_of(persona, goal) or () if text.strip()]
    return lines + [f"- {fact.slot}: {fact.value}" for fact in facts_of(persona)]


def _examples(demonstration: Any) -> str:
    """Return example dialogues in words, one empty line between two of them."""
    if not isinstance(demonstration, Sequence) or isinstance(demonstration, str):
        return ""
    lines = []
    for message in demonstration:
        if not isinstance(message, Mapping):
            continue
        role, content = message.get("role"), message.get("content") or ""
        if role == "end":
            lines += [f"You: {content}".rstrip(), ""] if content else []
            lines += [f"(You call {END.name}.)", ""]
        else:
            lines.append(f"{'You' if role == 'user' else 'Assistant'}: {content}")
    return "\n".join(lines).strip()


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())
