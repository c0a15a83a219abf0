"""The role that gives a verdict on the final response."""

from __future__ import annotations

from dataclasses import dataclass

from seal.core.protocols import Chat, Reply


@dataclass(frozen=True, slots=True)
class Checker:
    """Says solved, unsolved or unsure, with its reason."""

    returns: int = 0
    """How often an unsolved request is sent back to the orchestrator."""

    def reply(self, chat: Chat) -> Reply:
        """Return the verdict; it ends the chat unless the request is sent back."""
        verdict = chat.judge(chat.steps[-1].content)
        text = f"{verdict.label}: {verdict.reason}"
        spoken = sum(s.author == chat.role and s.goal == chat.goal for s in chat.steps)
        if verdict.label == "unsolved" and spoken < self.returns:
            return Reply(text, next=chat.steps[-1].author)
        return Reply(text, done=True)
