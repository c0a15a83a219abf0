"""The role that writes requests to APIs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from seal.agents.teams import EXECUTOR
from seal.benchmarks.dialogtool.roles.dialogue import dialogue, handed_on, instructions
from seal.benchmarks.dialogtool.tool_life import ACTOR, RESPONDER, TEACHER, TODAY
from seal.core.protocols import Chat, Reply
from seal.core.types import Tool

_APP = re.compile(r"\[\s*([^\[\]()]*?)\s*\]")


class Requester:
    """Calls APIs, unknown values as `?`.

    With `apps=hierarchical` it names an app first, from the apps' descriptions and the user's last
    words, and then sees the APIs of that app alone. With gold decisions its calls are recorded and
    not run.
    """

    def reply(self, chat: Chat) -> Reply:
        """Return calls, or words where none is needed."""
        if chat.steps[-1].result is not None:
            return handed_on(chat, RESPONDER, ACTOR)
        own = chat.options.get("decisions") == "own"
        opened, tools = "", list(chat.tools)
        if chat.options.get("apps") == "hierarchical":
            opened = _open_app(chat)
            tools = apis_of(opened, tools)
            if not tools:
                return handed_on(chat, TEACHER, RESPONDER, ACTOR, content=opened)
        asked = [instructions("requester", today=TODAY), *dialogue(chat.steps, calls=True)]
        answer = chat.complete(asked, tools)
        content = "\n".join(part for part in (opened, answer.content) if part)
        if answer.calls and own and EXECUTOR in chat.roles:
            return Reply(content, answer.calls)
        followers = (TEACHER, RESPONDER, ACTOR)
        return handed_on(chat, *followers, content=content, calls=answer.calls)


def _open_app(chat: Chat) -> str:
    """Return what the model says when it is asked for an app."""
    abouts = _apps(chat.tools)
    lines = "\n".join(f"- {name}: {about}" for name, about in abouts.items())
    asked = instructions("app_chooser", apps=lines, example=next(iter(abouts), "App"))
    heard = [message for message in dialogue(chat.steps) if message.role == "user"]
    return chat.complete([asked, *heard[-1:]]).content


def _apps(tools: Sequence[Tool]) -> dict[str, str]:
    """Return app to what it is, in the order of the offered APIs."""
    abouts: dict[str, str] = {}
    for tool in tools:
        about = tool.source.get("service") or tool.description
        abouts.setdefault(tool.category, str(about))
    return abouts


def apis_of(said: str, tools: Sequence[Tool]) -> list[Tool]:
    """Return the APIs of the app that a text names, in brackets or as all it says."""
    found = _APP.search(said)
    wanted = (found[1] if found else said).strip().casefold()
    return [tool for tool in tools if tool.category.casefold() == wanted]
