"""The dialogue as a role of the team reads it, and who of the team follows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from seal.agents.roles import prompt
from seal.agents.teams import EXECUTOR, USER
from seal.benchmarks.dialogtool.tool_life import (
    ACTOR,
    ACTS,
    AWARENESS,
    REQUESTER,
    RESPONDER,
    Lesson,
    read_act,
)
from seal.core.formats.bracket import BracketForm
from seal.core.protocols import Chat, Message, Reply
from seal.core.types import Step, ToolCall

_SPEAKING = frozenset({REQUESTER, RESPONDER, ACTOR})
"""Roles whose words to the user are the assistant's; the requester tells what was said before."""


def dialogue(steps: Sequence[Step], calls: bool = False) -> list[Message]:
    """Return what user and assistant said as prompt messages.

    Args:
        steps: The chat so far.
        calls: True: with the calls that brought a result, and the results.
    """
    answered = {step.result.call_id for step in steps if step.result is not None}
    out: list[Message] = []
    turn = -1
    for step in steps:
        if step.call is not None:
            if calls and step.call.id in answered:
                together = step.turn == turn and out[-1].calls
                made = (*(out.pop().calls if together else ()), step.call)
                out.append(Message("assistant", calls=made))
                turn = step.turn
        elif step.result is not None:
            if calls:
                out.append(Message("tool", step.content, call_id=step.result.call_id))
        elif step.author == USER:
            out.append(Message("user", step.content))
        elif step.recipient == USER and step.author in _SPEAKING:
            out.append(Message("assistant", step.content))
    return out


def instructions(name: str, /, **values: str) -> Message:
    """Return a role's system message: its prompt with the values filled in."""
    text = prompt(name)
    for key, value in values.items():
        text = text.replace(f"{{{key}}}", value)
    return Message("system", text)


def listed_acts() -> str:
    """Return the list of actions, a line each."""
    return "\n".join(f"- {name}: {act.about}" for name, act in ACTS.items())


def handed_on(chat: Chat, *roles: str, content: str = "", calls: Sequence[ToolCall] = ()) -> Reply:
    """Return a reply to the first of some roles that is seated; it ends the goal if none is."""
    follower = next((role for role in roles if role in chat.roles), None)
    return Reply(content, tuple(calls), next=follower, done=follower is None)


def decided(chat: Chat) -> Lesson:
    """Return what the roles before decided in this goal: the action, the last calls, the results.

    Since the user spoke last; what a role said that is not seated is empty.
    """
    steps = list(_since_user(chat))
    acts = [step.content for step in steps if step.author == AWARENESS and step.call is None]
    calls = [step.call for step in steps if step.call is not None]
    form = BracketForm(tuple(chat.tools))
    results = [step.content for step in steps if step.author == EXECUTOR and step.result]
    return Lesson(
        action=read_act(acts[-1]) or acts[-1] if acts else "",
        request=" ".join(map(form.write, calls)),
        result=" ".join(results),
    )


def _since_user(chat: Chat) -> Iterator[Step]:
    spoken = [step.index for step in chat.steps if step.author == USER]
    return (step for step in chat.steps if not spoken or step.index > spoken[-1])
