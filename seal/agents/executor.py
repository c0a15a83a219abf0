"""The role that runs calls in the environment and answers whoever called."""

from __future__ import annotations

from seal.core.protocols import Chat, Reply
from seal.core.types import ToolCall


class Executor:
    """Runs all calls of the last reply together."""

    def reply(self, chat: Chat) -> Reply:
        """Return one result a call, in execution order."""
        return Reply(results=tuple(chat.execute(pending_calls(chat))))


def pending_calls(chat: Chat) -> list[ToolCall]:
    """Return the calls of the last reply."""
    turn = chat.steps[-1].turn
    return [step.call for step in chat.steps if step.turn == turn and step.call is not None]
