"""Servers that refuse what Mistral's, Gemma's and Llama's servers refuse, in their words.

A model that answers by chance plays behind each: see `request_shapes`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import orjson
from request_shapes import wild
from servers import Answer, Received, calls, failure, text

from seal.core import Message, Request, Tool, ToolCall

Wired = Mapping[str, Any]


def _mistral(messages: Sequence[Wired]) -> Iterator[str]:
    """Yield what Mistral's interface and templates refuse."""
    if "system" in [m["role"] for m in messages[1:]]:
        yield (
            "Only user and assistant roles are supported, with the exception of an initial "
            "optional system message!"
        )
    ids = [call["id"] for m in messages for call in m.get("tool_calls", ())]
    for one in ids:
        if not re.fullmatch("[a-zA-Z0-9]{9}", one):
            yield f"Tool call id was {one} but must be a-z, A-Z, 0-9, with a length of 9."
    for before, after in pairwise(messages):
        if (before["role"], after["role"]) == ("tool", "user"):
            yield "Unexpected role 'user' after role 'tool'"
    words = [m for m in messages if m["role"] != "tool" and "tool_calls" not in m]
    spoken = [m["role"] for m in words if m["role"] != "system"]
    if spoken != ["user", "assistant"] * (len(spoken) // 2) + ["user"] * (len(spoken) % 2):
        yield (
            "After the optional system message, conversation roles must alternate "
            "user/assistant/user/assistant/..."
        )
    if any(m["role"] == "assistant" and not m["content"] for m in words):
        yield "Assistant message must have either content or tool_calls, but not none."
    if messages[-1]["role"] not in ("user", "tool"):
        yield "Expected last role User or Tool for serving but got assistant"
    yield from _unanswered(messages, "Not the same number of function calls and responses")


def _gemma(messages: Sequence[Wired]) -> Iterator[str]:
    """Yield what the templates of Gemma 2 refuse."""
    if messages[0]["role"] == "system":
        yield "System role not supported"
    roles = [m["role"] for m in messages]
    if roles != ["user", "assistant"] * (len(roles) // 2) + ["user"]:
        yield "Conversation roles must alternate user/assistant/user/assistant/..."


def _llama(messages: Sequence[Wired]) -> Iterator[str]:
    """Yield what the templates of Llama 3.1 to 3.3 refuse."""
    if any(len(m.get("tool_calls", "x")) != 1 for m in messages):
        yield "This model only supports single tool-calls at once!"
    if next((m["role"] for m in messages if m["role"] != "system"), "") != "user":
        yield "Cannot put tools in the first user message when there's no first user message!"
    yield from _unanswered(messages, "tool_call_ids did not have response messages")


def _unanswered(messages: Sequence[Wired], said: str) -> Iterator[str]:
    """Yield a refusal where calls are not directly followed by their results."""
    waiting: list[str] = []
    for message in [*messages, {"role": "end"}]:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                yield "a tool message has no call"
                return
            waiting.remove(message["tool_call_id"])
        elif waiting:
            yield said
            return
        waiting += [call["id"] for call in message.get("tool_calls", ())]


RULES: Mapping[str, Callable[[Sequence[Wired]], Iterator[str]]] = {
    "mistral": _mistral,
    "gemma": _gemma,
    "llama": _llama,
}
"""Family to what its servers say of messages that they refuse."""
_REFUSED_FIELDS = {
    "mistral": ("seed", '{"msg":"Extra inputs are not permitted","loc":["body","seed"]}'),
    "gemma": ("tools", "registry.ollama.ai/library/gemma2:2b does not support tools"),
}
"""Family to a field that its servers refuse, and what they say."""


class Strict:
    """A script that enforces a family's rules, and counts what it refuses."""

    def __init__(self, family: str) -> None:
        self.family = family
        self.refused: list[str] = []

    def __call__(self, request: Received) -> Answer:
        """Return a refusal, or what a model says by chance."""
        body = request.body
        said = next(RULES[self.family](body["messages"]), "")
        field, words = _REFUSED_FIELDS.get(self.family, ("", ""))
        if field in body:
            said = words
        if said:
            self.refused.append(said)
            return failure(400, said)
        answered = wild(_asked(body), "native" if "tools" in body else "json")
        if not answered.calls:
            return text(answered.content)
        made = [(call.name, call.arguments or {}) for call in answered.calls]
        return calls(*made, content=answered.content)


def _asked(body: Mapping[str, Any]) -> Request:
    """Return a request as it was before it was sent."""
    messages = []
    for wired in body["messages"]:
        called = [(call["id"], call["function"]) for call in wired.get("tool_calls", ())]
        made = tuple(ToolCall(i, f["name"], orjson.loads(f["arguments"])) for i, f in called)
        answered = wired.get("tool_call_id", "")
        messages.append(Message(wired["role"], wired["content"], made, answered))
    offered = [one["function"] for one in body.get("tools", ())]
    tools = tuple(Tool(f["name"], f["name"], f["description"], f["parameters"]) for f in offered)
    as_json = "response_format" in body
    return Request(tuple(messages), tools, seed=body.get("seed", 0), json_object=as_json)
