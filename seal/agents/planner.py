"""The optional role that splits a request into sub-steps."""

from __future__ import annotations

from seal.agents.dialogue import prompt
from seal.core.protocols import Chat, Message, Reply


class Decompose:
    """Asks its model for one sub-step a line; offline models split by clause and sentence."""

    def reply(self, chat: Chat) -> Reply:
        """Return the sub-steps, one a line."""
        request = chat.steps[-1].content
        answer = chat.complete([Message("system", prompt("planner")), Message("user", request)])
        return Reply(answer.content)
