"""`gemini/NAME`: Google's models, by their SDK, google-genai.

It comes with the extra `gemini`. Functions on plain JSON convert requests and answers from and to
the form of chat completions. So profiles, outcomes and the reading of calls are those of all
others. Source of both forms: google-genai's types, and Gemini's REST interface for answers.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from seal.core import Request
from seal.core.outcomes import UNREADABLE, finish_of
from seal.core.providers import CLOUD, GeminiServer
from seal.core.text_formats import parse_object
from seal.models.profiles import Profile
from seal.models.server_model import ServerModel
from seal.models.wire import WHY, WireTools, object_of, objects_in, texts_in, wire_request

_SIGNS = re.compile(r"gemini-(?:[3-9]|\d\d)|-latest\b")
"""Within the name of a model that wants signatures, or may."""
_UNSIGNED = b"skip_thought_signature_validator"
"""Gemini 3 wants its own signature on calls in the history. Records hold none, and this is Google's
documented stand-in for calls that came from elsewhere."""


class GeminiModel(ServerModel):
    """A model of Google's.

    Its options are fields of Google's, in the spelling of their SDK; `vertexai`, `project` and
    `location` say that Vertex AI is asked, for whom and where.
    """

    provider = "gemini"
    _server: GeminiServer
    leading_letter = True

    def _served(self, who: str) -> GeminiServer:
        return GeminiServer(who, self.settings, self.settings.options)

    def _body(self, request: Request, tools: WireTools, profile: Profile) -> dict[str, Any]:
        # Its options are no fields of a chat completion.
        return wire_request(self.name, request, tools, replace(self.settings, options={}), profile)

    def _asked(self, body: dict[str, Any]) -> Any:
        options = {n: v for n, v in self.settings.options.items() if n not in CLOUD}
        sent = as_gemini(body, options, _UNSIGNED if _SIGNS.search(self.name) else None)
        return as_chat(self._server.post({"method": "generate_content", **sent}))


def as_gemini(
    body: Mapping[str, Any], options: Mapping[str, Any], signature: bytes | None = None
) -> dict[str, Any]:
    """Return the request of a chat completion as Google's SDK takes it.

    Args:
        body: Of the chat completion.
        options: Google's own fields, which win; None leaves one out.
        signature: Stands on the first call of each reply that has none of its own; None: none.
    """
    system = "\n\n".join(m["content"] for m in body["messages"] if m["role"] == "system")
    declared = [_declared(tool["function"]) for tool in body.get("tools", ())]
    config = {
        "system_instruction": {"parts": [{"text": system}]} if system else None,
        "temperature": body.get("temperature"),
        "seed": body.get("seed"),
        "max_output_tokens": body.get("max_tokens"),
        "response_mime_type": "application/json" if "response_format" in body else None,
        "tools": [{"function_declarations": declared}] if declared else None,
        "automatic_function_calling": {"disable": True},  # the SDK's own, of Python's functions
        **options,
    }
    given = {name: value for name, value in config.items() if value is not None}
    contents = _contents(body["messages"], signature)
    return {"model": body["model"], "contents": contents, "config": given}


def _declared(function: Mapping[str, Any]) -> dict[str, Any]:
    told = {name: function[name] for name in ("name", "description")}
    return told | {"parameters_json_schema": function["parameters"]}


def _contents(
    messages: Sequence[Mapping[str, Any]], signature: bytes | None
) -> list[dict[str, Any]]:
    """Return the contents of a request: neighbours of one role are one content."""
    calls = (call for message in messages for call in message.get("tool_calls", ()))
    names = {call["id"]: call["function"]["name"] for call in calls}
    contents: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "system":
            continue
        role = "model" if message["role"] == "assistant" else "user"
        parts = _parts(message, names, signature)
        if contents and contents[-1]["role"] == role:
            contents[-1]["parts"] += parts
        else:
            contents.append({"role": role, "parts": parts})
    return contents


def _parts(
    message: Mapping[str, Any], names: Mapping[str, str], signature: bytes | None
) -> list[dict[str, Any]]:
    content = message["content"]
    if message["role"] == "tool":
        response = parse_object(content)
        if response is None:
            response = {"result": content}
        name = names.get(message["tool_call_id"], "unknown")
        return [{"function_response": {"name": name, "response": response}}]
    calls = message.get("tool_calls", ())
    parts: list[dict[str, Any]] = [{"text": content}] if content or not calls else []
    signed = any(_signature_of(call) for call in calls)
    for number, call in enumerate(calls):
        function = call["function"]
        given = {"name": function["name"], "args": json.loads(function["arguments"])}
        part: dict[str, Any] = {"function_call": given}
        own = _signature_of(call) if signed else signature if number == 0 else None
        parts.append(part | ({"thought_signature": own} if own else {}))
    return parts


def _signature_of(call: Mapping[str, Any]) -> bytes:
    """Return the signature that came with a call, in the form of Google's compatible endpoint."""
    google = object_of(object_of(call.get("extra_content")).get("google"))
    sign = str(google.get("thought_signature") or "")
    text = sign.replace("-", "+").replace("_", "/") + "=" * (-len(sign) % 4)
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return sign.encode()


_PIECEMEAL = frozenset({"partialArgs", "willContinue"})
_IN_PIECES = (
    "the arguments of a call come in pieces; "
    "leave stream_function_call_arguments out of tool_config"
)


def as_chat(answer: Any) -> Any:
    """Return an answer of Google's as a chat completion; what is none, as it is.

    A prompt that Google's filters blocked is an empty text with their `finish_reason`.
    """
    if not isinstance(answer, dict) or answer.get("error"):
        return answer
    candidates = objects_in(answer.get("candidates"))
    if not candidates:
        if not object_of(answer.get("promptFeedback")).get("blockReason"):
            return answer
        candidates = [{"finishReason": "content_filter"}]
    contents = [one.get("content") or {} for one in candidates]
    parts = (part for c in contents for part in objects_in(object_of(c).get("parts")))
    if any(not object_of(part.get("functionCall")).keys().isdisjoint(_PIECEMEAL) for part in parts):
        return {"error": {"message": _IN_PIECES, "code": 400}}
    if not all(isinstance(c, dict) and isinstance(c.get("parts") or [], list) for c in contents):
        return answer
    usage = object_of(answer.get("usageMetadata"))
    counts = [usage.get(f"{name}TokenCount") for name in ("candidates", "thoughts")]
    spoke, thought = (count if isinstance(count, int) else 0 for count in counts)
    is_told = any(isinstance(count, int) for count in counts)
    return {
        "model": answer.get("modelVersion"),
        "choices": list(map(_choice, candidates)),
        "usage": {
            "prompt_tokens": usage.get("promptTokenCount"),
            "completion_tokens": spoke + thought if is_told else None,
            "completion_tokens_details": {"reasoning_tokens": thought},
        },
    }


_KNOWN_PARTS = frozenset({"text", "thought", "thoughtSignature", "functionCall", "executableCode"})


def _choice(candidate: dict[str, Any]) -> dict[str, Any]:
    """Return a candidate as a choice.

    Where Google could not read a call, what the model wrote stands in `finishMessage`. Code that a
    model writes in place of a call is one that nobody can read.
    """
    parts = objects_in(object_of(candidate.get("content")).get("parts"))
    spoken = [part for part in parts if not part.get("thought")]
    words, code = texts_in(spoken, "text"), [object_of(p.get("executableCode")) for p in spoken]
    finish, why = candidate.get("finishReason"), candidate.get("finishMessage")
    calls = _calls([part for part in spoken if "functionCall" in part])
    if not calls and any(code):
        words, finish = words + texts_in(code, "code"), UNREADABLE
    elif not words and not calls and finish_of(finish) == UNREADABLE:
        words = why if isinstance(why, str) else ""
    odd = [part for part in spoken if part and _KNOWN_PARTS.isdisjoint(part)]
    message = {
        "content": words or ([] if calls else odd),
        "reasoning_content": texts_in([part for part in parts if part.get("thought")], "text"),
        "tool_calls": calls,
    }
    return {"message": message, "finish_reason": finish, WHY: why}


def _calls(parts: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return calls; arguments without a name are those of the call before, if it has none."""
    calls: list[dict[str, Any]] = []
    for part in parts:
        given = object_of(part["functionCall"])
        before = object_of(calls[-1]["function"]) if calls else {}
        is_late = not given.get("name") and "args" in given
        if is_late and before.get("name") and not before["arguments"]:
            before["arguments"] = given["args"] or {}
        else:
            called = _called(part["functionCall"])
            calls.append({"id": given.get("id"), "function": called, **_signed(part)})
    return calls


def _signed(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return the signature of a part as the compatible endpoint has it beside a call."""
    sign = part.get("thoughtSignature")
    return {"extra_content": {"google": {"thought_signature": sign}}} if sign else {}


def _called(call: Any) -> Any:
    if not isinstance(call, dict):
        return call
    return {"name": call.get("name"), "arguments": call.get("args") or None}
