"""Chat templates rendered as transformers and llama.cpp render them, to see whether they refuse."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal, NoReturn

from jinja2 import Template, TemplateError, nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment

Server = Literal["transformers", "llama.cpp"]
"""Who renders: transformers, vLLM and SGLang in a sandbox that changes nothing; or llama.cpp."""


class RefusedError(Exception):
    """The template takes no such request; the text says why."""


class _Generation(Extension):
    """The block `{% generation %}` of transformers, which marks what the assistant says."""

    tags = frozenset({"generation"})

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _raise(text: str) -> NoReturn:
    raise TemplateError(text)


def _json(value: Any, ensure_ascii: bool = False, **how: Any) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, **how)


def _listing(value: Any, ensure_ascii: bool = False, **how: Any) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, default=list, **how)


@cache
def _environment(server: Server) -> SandboxedEnvironment:
    kind = ImmutableSandboxedEnvironment if server == "transformers" else SandboxedEnvironment
    environment = kind(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", _Generation]
    )
    environment.filters["tojson"] = _json if server == "transformers" else _listing
    environment.globals["raise_exception"] = _raise
    environment.globals["strftime_now"] = datetime(2026, 1, 31).strftime
    return environment


@cache
def _template(path: Path, server: Server) -> Template:
    return _environment(server).from_string(path.read_text(encoding="utf-8"))


def rendered(path: Path, body: Mapping[str, Any], server: Server, objects: bool = True) -> str:
    """Return the prompt that a server makes of a request.

    Args:
        path: The template.
        body: As it is sent: messages, tools.
        server: Who renders.
        objects: Whether the arguments of calls, which are sent as texts, are read before.

    Raises:
        RefusedError: The template raised an error.
    """
    messages = json.loads(json.dumps(body["messages"]))
    for call in (call for m in messages if objects for call in m.get("tool_calls", ())):
        call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    given: dict[str, Any] = {"messages": messages, "tools": body.get("tools")}
    if server == "llama.cpp":  # what is not there is not defined; firefunction has its own names
        given = {name: value for name, value in given.items() if value is not None}
        given["functions"], given["datetime"] = _json(body.get("tools", [])), "Jan 31 2026"
    tokens = {"bos_token": "<s>", "eos_token": "</s>"}
    try:
        return _template(path, server).render(**given, **tokens, add_generation_prompt=True)
    except (TemplateError, TypeError, ValueError, KeyError) as error:
        raise RefusedError(f"{type(error).__name__}: {error}") from error


_FUNCTION = {"name": "weather", "arguments": '{"city": "Bern"}'}
_PLAINEST = {
    "messages": [
        {"role": "user", "content": "Weather?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "abcdefghi", "type": "function", "function": _FUNCTION}],
        },
        {"role": "tool", "tool_call_id": "abcdefghi", "content": "sunny"},
    ],
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "weather",
                "description": "Weather of a city",
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
            },
        }
    ],
}


@cache
def ways(path: Path) -> tuple[tuple[Server, bool], ...]:
    """Return who can render a template at all, and whether with arguments as objects.

    A template that refuses the plainest exchange of one call is not served so. llama.cpp sends
    arguments as texts, unless the template shows none of them then.
    """
    found: list[tuple[Server, bool]] = []
    if _shows(path, "transformers", True):
        found.append(("transformers", True))
    objects = not _shows(path, "llama.cpp", False)
    if not objects or _shows(path, "llama.cpp", True):
        found.append(("llama.cpp", objects))
    return tuple(found) or (("transformers", True),)  # it shows no calls: it is given none


def _shows(path: Path, server: Server, objects: bool) -> bool:
    try:
        return "Bern" in rendered(path, _PLAINEST, server, objects)
    except RefusedError:
        return False


def refusals(path: Path, bodies: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return for each request that a template refuses why it does so.

    The template of a model with two, of which one is for requests with tools, gets those alone.
    """
    for_tools = path.stem.endswith("tool_use")
    found = []
    for body in bodies:
        if for_tools and "tools" not in body:
            continue
        try:
            for server, objects in ways(path):
                rendered(path, body, server, objects)
        except RefusedError as error:
            found.append(str(error))
    return found
