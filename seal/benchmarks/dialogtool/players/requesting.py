"""A request to an API, found by words: the app, the API, a value for each of its arguments.

Which API: the one that shares most words with what the user said last and names its wish; what was
said before decides where the last words name none. Arguments:
`seal.benchmarks.dialogtool.players.slots`; required ones that nobody has told are `?`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from seal.benchmarks.dialogtool.players.awareness import next_act, tells_wish
from seal.benchmarks.dialogtool.players.slots import told
from seal.benchmarks.dialogtool.tool_life import UNKNOWN, needs_tool
from seal.core.protocols import Completion, Message, Request
from seal.core.types import JSON, Tool, ToolCall
from seal.models.lexical import ToolChooser

_APP = re.compile(r"^- ([^:\n]+): (.*)$", re.MULTILINE)
_BOOKING = re.compile(
    r"\b(?:book|reserv\w*|buy|purchas\w*|rent|schedul\w*|appointment|transfer|pay|send|play|"
    r"tickets?|make a|set (?:an?|the|up)|add|order|share|request)\b",
    re.IGNORECASE,
)
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

    The last words that tell a wish decide, then any. Words without one of the verbs of booking mean
    an API that changes nothing; an action that reports what was confirmed means one that does.
    """
    heard = [m.content for m in messages if m.role == "user"]
    wishes = [text for text in heard if tells_wish(text)]
    by_name = {tool.name: tool for tool in tools}
    for text in (*reversed(wishes), *reversed(heard)):
        changing = act == "notify_success" or _BOOKING.search(text) is not None
        found = _found(text, tools, changing)
        if found is not None:
            return by_name[found.name]
    called = [call.name for m in messages for call in m.calls if call.name in by_name]
    return by_name[called[-1]] if called else None


def _found(text: str, tools: Sequence[Tool], changing: bool) -> Tool | None:
    """Return the API that a text means, of those that change something or of the others."""
    wanted = [tool for tool in tools if (tool.source.get("transactional") is True) == changing]
    documents = tuple((tool.name, _document(tool)) for tool in wanted or tools)
    return _chooser(documents).choose(text)


def _document(tool: Tool) -> str:
    return f"{tool.description} {tool.category}"


@lru_cache(maxsize=256)
def _chooser(documents: tuple[tuple[str, str], ...]) -> ToolChooser:
    return ToolChooser([Tool(name, name, about) for name, about in documents])
