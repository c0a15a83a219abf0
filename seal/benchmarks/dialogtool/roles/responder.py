"""The role that tells the user what was decided and what came of it."""

from __future__ import annotations

from seal.benchmarks.dialogtool.roles.dialogue import decided, dialogue, instructions, listed_acts
from seal.benchmarks.dialogtool.tool_life import TEACHER
from seal.core.protocols import Chat, Message, Reply


class Responder:
    """Puts action, request and result into words: the teacher's, else those of the roles before."""

    def reply(self, chat: Chat) -> Reply:
        """Return the assistant's words."""
        last = chat.steps[-1]
        told = last.content if last.author == TEACHER else decided(chat).write()
        asked = instructions("responder", actions=listed_acts())
        view = [
            asked,
            *dialogue(chat.steps, calls=True),
            Message("user", f"[{last.author}] {told}"),
        ]
        return Reply(chat.complete(view).content)
