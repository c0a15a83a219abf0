"""The role that tells what gold says of a turn, so that each task can be tried by itself."""

from __future__ import annotations

from seal.benchmarks.dialogtool.roles.dialogue import dialogue, handed_on, instructions
from seal.benchmarks.dialogtool.tool_life import ACTOR, ASK_CONTEXT, ASK_REPLY, RESPONDER
from seal.core.protocols import Chat, Message, Reply


class Teacher:
    """Tells the responder action, request and result, and the actor the reply."""

    def reply(self, chat: Chat) -> Reply:
        """Return the lesson for whoever is next to be tried."""
        answered = any(s.author == RESPONDER and s.goal == chat.goal for s in chat.steps)
        first = RESPONDER in chat.roles and not answered
        ask = Message("user", ASK_CONTEXT if first else ASK_REPLY)
        told = chat.complete([instructions("teacher"), *dialogue(chat.steps, calls=True), ask])
        return handed_on(chat, RESPONDER if first else ACTOR, content=told.content)
