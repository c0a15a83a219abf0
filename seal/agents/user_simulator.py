"""The role that speaks the goal and, in a conversation, answers from its brief."""

from __future__ import annotations

import json

from seal.agents.dialogue import messages, prompt
from seal.core.protocols import Chat, Message, Reply
from seal.core.types import Tool

END = Tool(
    id="seal/user/end_conversation",
    name="end_conversation",
    description="End the conversation: the goal is reached, or the assistant keeps failing.",
)


class UserSimulator:
    """Speaks the goal's text first; then, where there is a brief or a person, its model answers."""

    def reply(self, chat: Chat) -> Reply:
        """Return the goal, an answer, or the end."""
        spoken = [s for s in chat.steps if s.author == chat.role and s.goal == chat.goal]
        if not spoken:
            return Reply(chat.request)
        answer = chat.complete(
            [Message("system", self._brief(chat)), *messages(chat.steps, chat.role)], [END]
        )
        ended = any(call.name == END.name for call in answer.calls)
        return Reply(answer.content, done=ended or not answer.content.strip())

    def _brief(self, chat: Chat) -> str:
        known = json.dumps(dict(chat.persona or {}), ensure_ascii=False, indent=1)
        return f"{prompt('user_simulator')}\n\nGoal: {chat.request}\nWhat you know: {known}"
