"""The role that sees the offered tools and calls them."""

from __future__ import annotations

from seal.agents.dialogue import messages, prompt
from seal.core.protocols import Chat, Message, Reply


class ExecutionManager:
    """Lets its model call tools until it reports in words."""

    def reply(self, chat: Chat) -> Reply:
        """Return calls, or a report of what was found."""
        view = [Message("system", prompt("execution_manager")), *messages(chat.steps, chat.role)]
        answer = chat.complete(view, chat.tools)
        return Reply(answer.content, answer.calls)
