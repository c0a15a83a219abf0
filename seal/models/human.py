"""`human`: a person plays the role in the terminal."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from typing import TextIO

from seal.core import END_CONVERSATION, Completion, Message, ModelError, Request, Tool, ToolCall
from seal.core.formats.forms import parse_object
from seal.core.plain import json_text
from seal.models.model_settings import ModelSettings

_HELP = 'Type a text, or /call NAME {"argument": value}; an empty line sends the calls so far.'
_NAMES_FOR_USER = {"assistant": "you", "user": "assistant", "system": "your part"}
"""A user's model has the sides swapped: what the person said are the assistant's messages."""
_HELP_OF_USER = "Type what you say to the assistant; /end ends the conversation."


class Human:
    """Shows the prompt and reads the reply. One person answers one request at a time.

    Several `/call` lines make parallel calls; an empty line, or a text, sends them. A person who
    plays the user ends the conversation by `/end`, which stands for the call of that tool.

    Args:
        lines: Where the person types; None: standard input.
        screen: Where prompts go; None: standard error, so that standard output stays clean.
    """

    def __init__(self, lines: TextIO | None = None, screen: TextIO | None = None) -> None:
        self._lines = lines
        self._screen = screen
        self._lock = threading.Lock()

    def complete(self, request: Request) -> Completion:
        """Return what the person typed; uses no tokens.

        Raises:
            ModelError: The input ended.
        """
        with self._lock:
            self._show(_prompt(request))
            calls: list[ToolCall] = []
            while True:
                line = self._read(request.role)
                end = _ending(request.tools)
                if line == "/end" and end is not None:
                    return Completion("", (ToolCall("", end.name, {}),))
                if line.startswith("/call"):
                    call = self._call(line, request.tools)
                    if call is not None:
                        calls.append(call)
                elif line or calls:
                    return Completion(line, tuple(calls))

    def _read(self, role: str) -> str:
        self._show(f"{role or 'you'}> ", end="")
        line = (self._lines or sys.stdin).readline()
        if not line:
            raise ModelError(
                f"the input ended while a person was to speak as {role or 'the model'}: "
                "run `human` in a terminal, or feed it one line a reply"
            )
        return line.strip()

    def _call(self, line: str, tools: Sequence[Tool]) -> ToolCall | None:
        name, _, raw = line.removeprefix("/call").strip().partition(" ")
        if not name:
            self._show(_HELP)
            return None
        arguments = parse_object(raw or "{}")
        if arguments is None:
            self._show(f"{raw!r} is no JSON object; {_HELP}")
            return None
        if name not in {tool.name for tool in tools}:
            self._show(f"(no tool named {name!r} is offered; called all the same)")
        return ToolCall("", name, arguments)

    def _show(self, text: str, end: str = "\n") -> None:
        print(text, end=end, file=self._screen or sys.stderr, flush=True)


def build(rest: str, settings: ModelSettings) -> Human:
    """Return the model `human`."""
    return Human()


def _prompt(request: Request) -> str:
    names = _NAMES_FOR_USER if _ending(request.tools) else {}
    heard = (_line(message, names.get(message.role, message.role)) for message in request.messages)
    lines = [f"--- {request.role or 'model'} ---", *heard]
    if request.tools:
        lines += ["Tools:", *(_tool_line(tool) for tool in request.tools)]
    return "\n".join([*lines, _HELP_OF_USER if _ending(request.tools) else _HELP])


def _ending(tools: Sequence[Tool]) -> Tool | None:
    """Return the tool by which a user ends the conversation; None for any other role."""
    return next((tool for tool in tools if tool.id == END_CONVERSATION), None)


def _line(message: Message, name: str) -> str:
    calls = [
        f"  /call {c.name} {c.raw if c.arguments is None else json_text(c.arguments)}"
        for c in message.calls
    ]
    return "\n".join([f"[{name}] {message.content}".rstrip(), *calls])


def _tool_line(tool: Tool) -> str:
    properties = tool.parameters.get("properties") or {}
    required = tool.parameters.get("required") or []
    names = ", ".join(name if name in required else f"[{name}]" for name in properties)
    return f"  {tool.name}({names}): {tool.description[:200]}"
