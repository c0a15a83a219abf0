"""The role that decides what the assistant does next."""

from __future__ import annotations

from seal.benchmarks.dialogtool.roles.dialogue import dialogue, handed_on, instructions, listed_acts
from seal.benchmarks.dialogtool.tool_life import (
    ACTOR,
    REQUESTER,
    RESPONDER,
    TEACHER,
    TODAY,
    needs_tool,
    read_act,
)
from seal.core.protocols import Chat, Reply


class Awareness:
    """Says one action, `[act(explanation)]`.

    Where decisions are the team's own, an action that needs no API passes the requester over.
    """

    def reply(self, chat: Chat) -> Reply:
        """Return the action."""
        asked = instructions("awareness", actions=listed_acts(), today=TODAY)
        said = chat.complete([asked, *dialogue(chat.steps)]).content
        own = chat.options.get("decisions") == "own"
        if own and not needs_tool(read_act(said)):
            return handed_on(chat, RESPONDER, ACTOR, content=said)
        return handed_on(chat, REQUESTER, TEACHER, RESPONDER, ACTOR, content=said)
