"""`gemini/NAME`: Google's models.

Requests and answers are converted by pure functions on plain JSON in the form of Gemini's REST API.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from seal.core import Completion, Message, Request, ToolCall, Usage
from seal.core.formats.forms import parse_object
from seal.core.function_calls import parse_call
from seal.core.outcomes import finish_of
from seal.core.plain import well_formed
from seal.core.providers import GeminiServer
from seal.models.profiles import Profile
from seal.models.settings import ModelSettings
from seal.models.wire import (
    MalformedAnswerError,
    ServerModel,
    WireTools,
    sent_arguments,
)

if TYPE_CHECKING:
    from google.genai import Client

_UNSIGNED = b"skip_thought_signature_validator"
"""Gemini 3 wants its own signature on every call in the history. Records hold none, and this is
Google's documented stand-in for calls that came from elsewhere."""


class GeminiModel(ServerModel):
    """A model of Google's. Safe in threads, which share one client.

    Args:
        name: What Google calls the model.
        settings: Address, tries, further fields of the configuration.

    Raises:
        UsageError: No key; the text names the variable.
        MissingExtraError: google-genai is not installed.
    """

    provider = "gemini"
    _server: GeminiServer
    unusable = "gave an unusable answer"
    leading_letter = True

    def __init__(self, name: str, settings: ModelSettings) -> None:
        super().__init__(name, settings)
        self._server = GeminiServer(f"gemini/{name}", settings)

    def _body(self, request: Request, tools: WireTools, profile: Profile) -> dict[str, Any]:
        unsigned = _UNSIGNED if self.name.startswith("gemini-3") else None
        settings = self.settings
        return {
            "contents": gemini_contents(request.messages, tools, unsigned),
            "config": gemini_config(request, tools, settings.temperature, settings.options),
        }

    def _ask(self, body: dict[str, Any]) -> Any:
        def generate(client: Client) -> Any:
            answer = client.models.generate_content(model=self.name, **body)
            return answer.model_dump(mode="json", by_alias=True, exclude_none=True)

        return self._server.ask(generate)

    def _read(self, answer: Any, tools: WireTools) -> tuple[Completion, bool]:
        return parse_gemini(answer, tools)


def build(name: str, settings: ModelSettings) -> GeminiModel:
    """Return the model `gemini/NAME`."""
    return GeminiModel(name, settings)


def gemini_contents(
    messages: Sequence[Message], tools: WireTools, signature: bytes | None = None
) -> list[dict[str, Any]]:
    """Return the `contents` of a request: neighbours of one role are one content.

    Args:
        messages: The prompt; system messages go into the configuration instead.
        tools: The request's tools.
        signature: Stands on the first call of each reply; None: none.
    """
    names = {call.id: tools.wire(call.name) for m in messages for call in m.calls}
    contents: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            continue
        role = "model" if message.role == "assistant" else "user"
        parts = _parts(message, tools, names, signature)
        if contents and contents[-1]["role"] == role:
            contents[-1]["parts"] += parts
        else:
            contents.append({"role": role, "parts": parts})
    return contents


def _parts(
    message: Message, tools: WireTools, names: Mapping[str, str], signature: bytes | None
) -> list[dict[str, Any]]:
    if message.role == "tool":
        name = names.get(message.call_id, "unknown")
        response = parse_object(message.content)
        if response is None:
            response = {"result": message.content}
        return [{"function_response": {"name": name, "response": response}}]
    parts: list[dict[str, Any]] = []
    if message.content or not message.calls:
        parts.append({"text": message.content})
    for number, call in enumerate(message.calls):
        part: dict[str, Any] = {
            "function_call": {"name": tools.wire(call.name), "args": sent_arguments(call)}
        }
        if signature is not None and number == 0:
            part["thought_signature"] = signature
        parts.append(part)
    return parts


def gemini_config(
    request: Request,
    tools: WireTools,
    temperature: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the configuration of a request; options win, and None leaves a field out."""
    system = "\n\n".join(m.content for m in request.messages if m.role == "system")
    config: dict[str, Any] = {
        "system_instruction": system or None,
        "temperature": request.temperature if temperature is None else temperature,
        "seed": request.seed,
        "max_output_tokens": request.max_tokens,
        "response_mime_type": "application/json" if request.json_object else None,
        "automatic_function_calling": {"disable": True},
    }
    if tools.tools:
        declarations = [
            {
                "name": name,
                "description": tool.description,
                "parameters_json_schema": tool.parameters,
            }
            for name, tool in zip(tools.names, tools.tools, strict=True)
        ]
        config["tools"] = [{"function_declarations": declarations}]
    config.update(options or {})
    return {name: value for name, value in config.items() if value is not None}


def parse_gemini(answer: Any, tools: WireTools) -> tuple[Completion, bool]:
    """Return the completion in an answer, and whether the server counted the tokens.

    A prompt that Google's filters blocked is an empty text with their `finish_reason`.

    Raises:
        MalformedAnswerError: There is neither a candidate nor a reason for it.
    """
    if not isinstance(answer, dict):
        raise MalformedAnswerError("no JSON object")
    usage = _usage(answer.get("usageMetadata"))
    candidates = answer.get("candidates")
    if not candidates:
        if (answer.get("promptFeedback") or {}).get("blockReason"):
            blocked = Completion(usage=usage or Usage(), finish_reason="content_filter")
            return blocked, usage is not None
        raise MalformedAnswerError("it has no candidates")
    candidate = candidates[0]
    parts = (candidate.get("content") or {}).get("parts") or []
    spoken = [part for part in parts if not part.get("thought")]
    text, thought = (
        well_formed("".join(part.get("text") or "" for part in some))
        for some in (spoken, [part for part in parts if part.get("thought")])
    )
    calls = tuple(_call(part["functionCall"], tools) for part in spoken if "functionCall" in part)
    finish = finish_of(candidate.get("finishReason"))
    cut = finish == "length"
    completion = Completion(
        text, calls, usage or Usage(), cut, finish_reason=finish, reasoning=thought
    )
    return completion, usage is not None


def _call(call: Mapping[str, Any], tools: WireTools) -> ToolCall:
    name = well_formed(str(call.get("name") or ""))
    arguments = orjson.dumps(call.get("args") or {}).decode()
    return parse_call(tools.from_wire.get(name, name), arguments)


def _usage(usage: Any) -> Usage | None:
    if not isinstance(usage, dict) or not isinstance(usage.get("promptTokenCount"), int):
        return None
    spoken = usage.get("candidatesTokenCount") or 0
    thought = usage.get("thoughtsTokenCount") or 0
    return Usage(usage["promptTokenCount"], spoken + thought, reasoning=thought)
