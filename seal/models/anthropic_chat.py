"""`anthropic/NAME`: Anthropic's models, by their SDK, which this module alone imports.

It comes with the extra `anthropic`. Functions on plain JSON convert requests and answers from and
to the form of chat completions. So profiles, outcomes and the reading of calls are shared.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any

from seal.core import Request
from seal.core.outcomes import finish_of
from seal.core.providers import HttpxServer
from seal.core.secrets import ANTHROPIC_URL
from seal.core.streams import BEGUN_ANEW, Streamed, joined, piece_of, text_of
from seal.models.profiles import Profile
from seal.models.server_model import ServerModel
from seal.models.wire import WireTools, object_of, objects_in, texts_in

_log = logging.getLogger(__name__)
_LONGEST = 4096
"""Tokens of an answer where nobody says how many; Anthropic wants a number."""
_CACHED = {"type": "ephemeral"}
_SILENT = "(nothing)"
"""Stands for an empty text, which Anthropic refuses."""
_NEITHER_WAY = {"seed", "response_format", "parallel_tool_calls"}
"""Fields of a chat completion that have no place in a message."""


_PIECES = {"text": "text", "thinking": "thinking", "signature": "thinking"} | {
    "partial_json": "tool_use"
}
"""Field of a piece to the kind of its block, where no event began it."""


_SO_FAR = " so far"
"""Ends the name under which a block holds the pieces of a field."""


def _message(chunks: list[dict[str, Any]]) -> tuple[dict[str, Any], bool]:
    """Return a message: its blocks come in parts, the arguments of a call as pieces of JSON.

    They stay the text that came: a call that was cut has no arguments, however much can be guessed.
    """
    answer: dict[str, Any] = {}
    blocks: list[dict[str, Any]] = []
    begun: dict[Any, dict[str, Any]] = {}
    ended: set[Any] = set()
    for chunk in chunks:
        index = chunk.get("index")
        if chunk.get("type") == "message_start" and blocks:
            return {"error": BEGUN_ANEW}, True
        if chunk.get("type") == "message_start":
            answer = dict(object_of(chunk.get("message")))
        elif chunk.get("type") == "content_block_start":
            block = dict(object_of(chunk.get("content_block")))
            known = begun.get(index, {})
            same = all(known.get(name) == block.get(name) for name in ("type", "id"))
            if index in ended or not same:  # some servers give one index to all blocks
                begun[index] = block
                blocks.append(block)
                ended.discard(index)
        elif chunk.get("type") == "content_block_stop":
            ended.add(index)
        elif chunk.get("type") == "content_block_delta":
            if index not in begun:
                begun[index] = {}
                blocks.append(begun[index])
            block = begun[index]
            for name, value in object_of(chunk.get("delta")).items():
                if name in _PIECES:
                    block.setdefault("type", _PIECES[name])
                    block.setdefault(name + _SO_FAR, []).append(piece_of(value))
        elif chunk.get("type") == "message_delta":
            told, usage = object_of(chunk.get("delta")), object_of(chunk.get("usage"))
            answer |= {name: value for name, value in told.items() if value is not None}
            usage = {name: value for name, value in usage.items() if value is not None}
            counts = object_of(answer.get("usage"))
            counts.pop("output_tokens", None)  # before the answer began
            answer["usage"] = counts | usage
    if any(map(_is_mixed, blocks)):
        return {"error": _MIXED}, True
    for block in blocks:
        for name in _PIECES:
            pieces = block.pop(name + _SO_FAR, ())
            if pieces and name == "partial_json":
                block["input"] = joined(pieces)
            elif name == "partial_json" and block.get("input") == {}:
                block["input"] = ""  # nothing came: a server may have lost it
            elif pieces:
                block[name] = str(block.get(name) or "") + text_of(pieces)
    said = answer.get("content")
    answer["content"] = said if isinstance(said, str) and not blocks else blocks
    return answer, answer.get("stop_reason") is not None


_MIXED = {"message": "pieces of one kind came in a block of another", "code": "server_error"}
"""The failure of a gateway that puts words into calls, or calls into words."""


def _is_mixed(block: Mapping[str, Any]) -> bool:
    """Tell whether a block holds pieces that nobody could read in a block of its kind."""
    own = {"text": "text", "tool_use": "input", "thinking": "thinking"}.get(str(block.get("type")))
    if own is None:
        return False
    came = {name for name in _PIECES if name + _SO_FAR in block}
    stray = {name for name in came & {"text", "partial_json"} if _PIECES[name] != block["type"]}
    if any("".join(block[name + _SO_FAR]) for name in stray):
        return True
    return bool(stray) and stray == came and not block.get(own)


_MESSAGES = Streamed(
    _message,
    lambda chunk: chunk.get("type") == "content_block_delta",
    re.compile(rb"event: ?message_stop\r?\n"),
)
"""Anthropic's messages."""


class _AnthropicServer(HttpxServer):
    """Anthropic's server, or another one that speaks its interface."""

    variables = ANTHROPIC_URL, "ANTHROPIC_API_KEY"
    package = module = extra = "anthropic"
    home, key_header = ".anthropic.com", "x-api-key"
    form = _MESSAGES

    def _ask(self, client: Any, body: Mapping[str, Any]) -> None:
        named = {name: body[name] for name in ("model", "max_tokens", "messages")}
        rest = {name: value for name, value in body.items() if name not in named}
        if self._settings.stream:
            rest["stream"] = True
        client.messages.create(**named, extra_body=rest)

    def _connect(self) -> Any:
        import anthropic

        client = anthropic.DefaultHttpxClient(event_hooks=self._hooks)
        no_token: Any = {"Authorization": anthropic.omit}
        return anthropic.Anthropic(
            api_key=self._key,
            base_url=self._base,
            max_retries=0,
            timeout=self._settings.timeout_s,
            default_headers=no_token,
            http_client=client,
        )


class AnthropicModel(ServerModel):
    """A model of Anthropic's.

    A prompt's beginning is kept at the server (`cache_control=null`: it is not). Thinking
    (`thinking={"type":"adaptive"}`) is handed back with the calls that it led to.
    """

    provider = "anthropic"
    _server: _AnthropicServer
    _is_told = False
    unusable = "answered what is no message"
    longest = _LONGEST

    def _served(self, who: str) -> _AnthropicServer:
        return _AnthropicServer(who, self.settings)

    def _body(self, request: Request, tools: WireTools, profile: Profile) -> dict[str, Any]:
        body = super()._body(request, tools, profile)
        if "cache_control" not in {*self.settings.options, *profile.without}:
            body["cache_control"] = _CACHED
        return body

    def _asked(self, body: dict[str, Any]) -> Any:
        sent = as_message(body)
        if "thinking" in body and "thinking" not in sent and not self._is_told:
            self._is_told = True
            _log.warning(
                "%s: requests of a turn whose calls came without thinking go without thinking, too",
                self.spec,
            )
        return as_chat(self._server.post(sent))


def as_message(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request of a chat completion as one of a message.

    A call of the turn in progress may lack the thinking before it, as in a chat that another model
    began. Then this request is sent without thinking, but where the model itself says when it
    thinks (`adaptive`).
    """
    sent = {name: value for name, value in body.items() if name not in _NEITHER_WAY}
    given: Sequence[Mapping[str, Any]] = sent.pop("messages")
    if system := "\n\n".join(m["content"] for m in given if m["role"] == "system"):
        sent["system"] = system
    talk = [message for message in given if message["role"] != "system"]
    if (how := sent.get("thinking", {}).get("type", "disabled")) != "disabled":
        turn = next((n for n, m in enumerate(reversed(talk)) if m["role"] == "user"), len(talk))
        asked = [m for m in talk[len(talk) - turn :] if m.get("tool_calls")]
        if how == "adaptive" or all(message.get("thinking_blocks") for message in asked):
            sent.pop("temperature", None)
        else:
            del sent["thinking"]
    sent["messages"] = _merged(talk, "thinking" in sent)
    sent.setdefault("max_tokens", _LONGEST)
    if stop := sent.pop("stop", None):
        sent["stop_sequences"] = [stop] if isinstance(stop, str) else stop
    if tools := sent.pop("tools", None):
        sent["tools"] = [
            {
                "name": function["name"],
                "description": function["description"],
                "input_schema": {"type": "object", **function["parameters"]},
            }
            for function in (tool["function"] for tool in tools)
        ]
    return sent


def _merged(talk: Sequence[Mapping[str, Any]], thinks: bool) -> list[dict[str, Any]]:
    """Return messages that begin with the user and take turns; results are the user's."""
    messages: list[dict[str, Any]] = []
    if not talk or talk[0]["role"] == "assistant":
        messages.append({"role": "user", "content": [{"type": "text", "text": _SILENT}]})
    for message in talk:
        role = "assistant" if message["role"] == "assistant" else "user"
        blocks = _blocks(message)
        if thinks and message.get("thinking_blocks"):
            blocks = _in_order(message["thinking_blocks"], blocks)
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += blocks
        else:
            messages.append({"role": role, "content": blocks})
    return messages


def _in_order(said: Sequence[Mapping[str, Any]], blocks: list[dict[str, Any]]) -> list[Any]:
    """Return thinking, words and calls in the order in which they came: servers hold it.

    Args:
        said: All blocks of the answer, of calls their kind alone, or its thinking alone.
        blocks: Words and calls as they are sent.
    """
    calls = [block for block in blocks if block["type"] == "tool_use"]
    if sum(block.get("type") == "tool_use" for block in said) != len(calls):
        return [*(b for b in said if "thinking" in str(b.get("type"))), *blocks]
    rest = iter(calls)
    return [next(rest) if block.get("type") == "tool_use" else block for block in said]


def _blocks(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    if message["role"] == "tool":
        id, content = message["tool_call_id"], message["content"] or _SILENT
        return [{"type": "tool_result", "tool_use_id": id, "content": content}]
    calls = message.get("tool_calls", ())
    words = message.get("content") or ""
    said: list[dict[str, Any]] = [{"type": "text", "text": words}] if words.strip() else []
    if not said and not calls:
        said = [{"type": "text", "text": _SILENT}]
    for call in calls:
        name, given = call["function"]["name"], json.loads(call["function"]["arguments"])
        said.append({"type": "tool_use", "id": call["id"], "name": name, "input": given})
    return said


def _ordered(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what a server wants back with calls: nothing where there was no thinking."""
    if not any("thinking" in str(block.get("type")) for block in blocks):
        return []
    kept = (b for b in blocks if b.get("type") != "text" or str(b.get("text") or "").strip())
    return [{"type": "tool_use"} if b.get("type") == "tool_use" else b for b in kept]


_KNOWN_BLOCKS = frozenset({"text", "tool_use", "thinking", "redacted_thinking"})


def as_chat(answer: Any) -> Any:
    """Return a message as a chat completion; what is none, as it is."""
    if not isinstance(answer, dict) or answer.get("error"):
        return answer
    content = answer.get("content")
    if isinstance(content, str):  # as some gateways send it
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return answer
    blocks = objects_in(content)
    used = [block for block in blocks if block.get("type") == "tool_use"]
    calls: list[dict[str, Any]] = [
        {
            "id": block.get("id"),
            "function": {"name": block.get("name"), "arguments": block.get("input")},
        }
        for block in used
    ]
    is_cut = finish_of(answer.get("stop_reason")) == "length" and bool(used)
    if is_cut and blocks[-1] is used[-1] and not isinstance(used[-1].get("input"), str):
        # Servers close what the limit cut before they send it whole: nobody knows what is missing.
        calls[-1]["function"]["arguments"] = json.dumps(used[-1].get("input") or {})[:-1]
    said = texts_in([b for b in blocks if b.get("type") == "text"], "text")
    odd = [block for block in blocks if block.get("type") not in _KNOWN_BLOCKS]
    message = {
        "content": said or ([] if calls else odd),
        "reasoning_content": texts_in(blocks, "thinking"),
        "thinking_blocks": _ordered(blocks),
        "tool_calls": calls,
    }
    usage = object_of(answer.get("usage"))
    parts = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    taken = [usage.get(part) for part in parts]
    thought = object_of(usage.get("output_tokens_details")).get("thinking_tokens")
    return {
        "model": answer.get("model"),
        "choices": [{"message": message, "finish_reason": answer.get("stop_reason")}],
        "usage": {
            "prompt_tokens": None if taken[0] is None else sum(n or 0 for n in taken),
            "completion_tokens": usage.get("output_tokens"),
            "completion_tokens_details": {"reasoning_tokens": thought},
        },
    }
