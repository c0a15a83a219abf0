"""A request to an API, found by words: the app, the API, a value for each of its arguments.

Which API: the one that shares most words with what the user said last and names its wish; what was
said before decides where the last words name none. Arguments: `seal.models.tool_life.slots`;
required ones that nobody has told are `?`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from seal.core.protocols import Completion, Message, Request
from seal.core.tool_life import UNKNOWN, needs_tool
from seal.core.types import JSON, Tool, ToolCall
from seal.models.choosing import ToolChooser
from seal.models.tool_life.awareness import next_act
from seal.models.tool_life.slots import told

_APP = re.compile(r"^- ([^:\n]+): (.*)$", re.MULTILINE)
_NO_CALL = "[]"
_WITHOUT_CALL = frozenset({"confirm"})
"""Actions that have to do with an API and call none."""


def ask_api(request: Request) -> Completion:
    """Return a call, or `[]` where none is needed; uses no tokens."""
    if not request.tools:
        return _opened(request)
    act, _ = next_act(request.messages)
    if not needs_tool(act) or act in _WITHOUT_CALL:
        return Completion(_NO_CALL)
    tool = chosen(request.messages, request.tools, act)
    if tool is None:
        return Completion(_NO_CALL)
    arguments = told(tool, request.messages)
    required = [str(name) for name in tool.parameters.get("required", ())]
    missing = {name: UNKNOWN for name in required if name not in arguments}
    given: dict[str, JSON] = {**arguments, **missing}
    ordered = {name: given[name] for name in tool.parameters.get("properties", {}) if name in given}
    return Completion(calls=(ToolCall("", tool.name, ordered),))


def _opened(request: Request) -> Completion:
    """Return the app whose description shares most words with what the user said."""
    listed = request.messages[0].content
    apps = [Tool(name, name, about) for name, about in _APP.findall(listed)]
    app = ToolChooser(apps).choose(request.messages[-1].content)
    return Completion(f"[{app.name}]" if app is not None else _NO_CALL)


def chosen(messages: Sequence[Message], tools: Sequence[Tool], act: str) -> Tool | None:
    """Return the API that the dialogue asks for; None: none of them.

    An action that reports what was confirmed is served by an API that changes something, where
    there is any.
    """
    if act == "notify_success":
        changing = [tool for tool in tools if tool.source.get("transactional") is True]
        tools = changing or tools
    chooser = _chooser(tuple((tool.name, _document(tool)) for tool in tools))
    by_name = {tool.name: tool for tool in tools}
    called = [call.name for m in messages for call in m.calls if call.name in by_name]
    heard = [m.content for m in messages if m.role == "user"]
    for text in reversed(heard):
        found = chooser.choose(text)
        if found is not None:
            return by_name[found.name]
    return by_name[called[-1]] if called else None


def _document(tool: Tool) -> str:
    return f"{tool.description} {tool.category}"


@lru_cache(maxsize=256)
def _chooser(documents: tuple[tuple[str, str], ...]) -> ToolChooser:
    return ToolChooser([Tool(name, name, about) for name, about in documents])
