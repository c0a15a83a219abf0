"""The role that says it in the style of a character."""

from __future__ import annotations

from seal.benchmarks.dialogtool.roles.dialogue import instructions
from seal.benchmarks.dialogtool.tool_life import ROLE_MARK, read_lesson
from seal.core.plain import json_text
from seal.core.protocols import Chat, Message, Reply


class Actor:
    """Restyles the assistant's words; facts stay."""

    def reply(self, chat: Chat) -> Reply:
        """Return the restyled words."""
        said = chat.steps[-1].content
        said = read_lesson(said).reply or said
        role = ROLE_MARK + json_text(dict(chat.options.get("role") or {}))
        return Reply(
            chat.complete([instructions("actor", role=role), Message("user", said)]).content
        )
