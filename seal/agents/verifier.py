"""The optional role that accepts or sends back each executed step."""

from __future__ import annotations

from seal.agents.dialogue import prompt
from seal.core.protocols import Chat, Message, Reply
from seal.core.types import Step

ACCEPTED = "accepted"


class Verifier:
    """Asks its model whether the last results serve the request."""

    def reply(self, chat: Chat) -> Reply:
        """Return `accepted`, or what to do otherwise."""
        lines = [f"Request: {chat.request}", *map(_line, _executed(chat))]
        view = [Message("system", prompt("verifier")), Message("user", "\n".join(lines))]
        return Reply(chat.complete(view).content.strip() or ACCEPTED)


class RuleVerifier:
    """Sends back results that are errors, accepts all others; needs no model."""

    def reply(self, chat: Chat) -> Reply:
        """Return `accepted`, or the errors."""
        errors = [s.result.error for s in _executed(chat) if s.result and s.result.error]
        said = [str(error.get("message", error)) for error in errors]
        return Reply("rejected: " + " ".join(said) if said else ACCEPTED)


def _executed(chat: Chat) -> list[Step]:
    """Return the steps of the last calls and their results."""
    turns = [s.turn for s in chat.steps if s.result is not None]
    ids = {s.result.call_id for s in chat.steps if s.result and s.turn == turns[-1]}
    return [
        s
        for s in chat.steps
        if (s.call and s.call.id in ids) or (s.result and s.result.call_id in ids)
    ]


def _line(step: Step) -> str:
    if step.call is not None:
        return f"Call {step.call.id}: {step.call.name} {step.call.arguments or step.call.raw}"
    return f"Result of {step.result.call_id if step.result else ''}: {step.content}"
