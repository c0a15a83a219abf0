"""`gemini/NAME`: Google's models through google-genai (extra `gemini`), imported only here.

Requests and answers are converted by pure functions on plain JSON in the form of Gemini's REST API.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson

from seal.core.errors import MissingExtraError, ModelError, UsageError
from seal.core.plain import well_formed
from seal.core.protocols import Completion, Message, Request
from seal.core.types import JSON, ToolCall, Usage
from seal.models.arguments import parse_call, parse_object
from seal.models.remote import (
    RETRIED,
    Redactor,
    TransientError,
    retry_after,
    sentences,
    with_tries,
)
from seal.models.settings import ModelSettings, check_url, public_url, read_key
from seal.models.tokens import estimate_usage
from seal.models.wire import MalformedAnswerError, WireTools, WireToolsCache

if TYPE_CHECKING:
    from google.genai import Client

KEY = "GOOGLE_API_KEY"
_UNSIGNED = b"skip_thought_signature_validator"
"""Gemini 3 wants its own signature on every call in the history. Records hold none, and this is
Google's documented stand-in for calls that came from elsewhere."""


class GeminiModel:
    """A model of Google's. Safe in threads, which share one client.

    Args:
        name: What Google calls the model.
        settings: Address, tries, further fields of the configuration.

    Raises:
        UsageError: No key; the text names the variable.
        MissingExtraError: google-genai is not installed.
    """

    cached = True

    def __init__(self, name: str, settings: ModelSettings) -> None:
        if not name:
            raise UsageError("gemini/: the model's name is missing; write gemini/NAME")
        self.name = name
        self.settings = settings
        self._key_variable = settings.api_key_env or KEY
        key = read_key(self._key_variable)
        if key is None:
            raise UsageError(f"gemini/{name}: no key; set {self._key_variable}")
        if settings.base_url:
            check_url(settings.base_url)
        _require_sdk()
        self._key = key
        self._redact = Redactor([key])
        self._tools = WireToolsCache(leading_letter=True)
        self._lock = threading.Lock()
        self._client: tuple[int, Client] | None = None

    @property
    def identity(self) -> dict[str, JSON]:
        """What shapes this model's answers, besides the request; holds no secret."""
        url = self.settings.base_url
        return {
            "model": f"gemini/{self.name}",
            "base_url": public_url(url) if url else None,
            "temperature": self.settings.temperature,
            "options": dict(self.settings.options),
        }

    def __repr__(self) -> str:
        return f"GeminiModel({self.name!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without key and connections: the other process reads its own environment."""
        return (GeminiModel, (self.name, replace(self.settings, recordings=None)))

    def complete(self, request: Request) -> Completion:
        """Return Google's answer.

        Raises:
            ModelError: The server refused, or failed as often as may be tried.
        """
        tools = self._tools.get(request.tools)
        unsigned = _UNSIGNED if self.name.startswith("gemini-3") else None
        contents = gemini_contents(request.messages, tools, unsigned)
        config = gemini_config(request, tools, self.settings.temperature, self.settings.options)

        def ask() -> Completion:
            answer = self._generate(contents, config)
            try:
                completion, counted = parse_gemini(answer, tools)
            except MalformedAnswerError as error:
                problem = str(error)
            else:
                return completion if counted else estimate_usage(request, completion)
            raise TransientError(self._told(f"gave an unusable answer: {problem}"))

        self._shared_client()  # importing the SDK takes seconds and is no silence of the server
        return with_tries(ask, self.settings)

    def _generate(self, contents: list[dict[str, Any]], config: dict[str, Any]) -> Any:
        """Return the answer as plain JSON. The SDK's errors end here: they may hold the key."""
        from google.genai import errors
        from pydantic import ValidationError

        failure: ModelError
        try:
            answer = self._shared_client().models.generate_content(
                model=self.name, contents=contents, config=config
            )
            return answer.model_dump(mode="json", by_alias=True, exclude_none=True)
        except errors.APIError as error:
            failure = self._status_failure(error)
        except ValidationError as error:
            field = ".".join(map(str, error.errors()[0]["loc"]))
            failure = ModelError(self._told(f"cannot be asked like this: {field} is not valid."))
        except _connection_errors() as error:
            failure = TransientError(
                self._told(f"could not be reached or broke off: {type(error).__name__}: {error}")
            )
        except ValueError as error:
            failure = TransientError(self._told(f"answered what is no JSON: {error}"))
        raise failure

    def _shared_client(self) -> Client:
        client = self._client
        if client is not None and client[0] == os.getpid():
            return client[1]
        with self._lock:
            client = self._client
            if client is None or client[0] != os.getpid():
                client = (os.getpid(), self._connect())
                self._client = client
        return client[1]

    def _connect(self) -> Client:
        from google.genai import Client

        options: dict[str, Any] = {
            "timeout": int(self.settings.timeout_s * 1000),
            "retry_options": {"attempts": 1},
        }
        if self.settings.base_url:
            options["base_url"] = self.settings.base_url
        return Client(api_key=self._key, vertexai=False, http_options=options)

    def _status_failure(self, error: Any) -> ModelError:
        status = int(error.code or 0)
        said = f"answered HTTP {status}: {error.message or error.status or ''}"
        if status in RETRIED or status >= 500:
            headers = getattr(error.response, "headers", None) or {}
            return TransientError(self._told(said), retry_after(headers))
        repair = "The server does not take this request as it is."
        if status in (401, 403) or "api key" in said.casefold():
            repair = f"Set {self._key_variable} to a valid key."
        elif status == 404:
            repair = "Check the model's name."
        return ModelError(sentences(self._told(said), repair))

    def _told(self, said: str) -> str:
        return f"gemini/{self.name} {self._redact(said)}".rstrip()


def build(name: str, settings: ModelSettings) -> GeminiModel:
    """Return the model `gemini/NAME`."""
    return GeminiModel(name, settings)


def _require_sdk() -> None:
    try:
        import google.genai  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name not in ("google", "google.genai"):
            raise
        raise MissingExtraError("google-genai", "gemini") from None


def _connection_errors() -> tuple[type[Exception], ...]:
    """Return the errors of the HTTP library that the SDK uses: httpx2, or httpx before it."""
    found: list[type[Exception]] = []
    for name in ("httpx2", "httpx"):
        try:
            found.append(__import__(name).TransportError)
        except ModuleNotFoundError:
            continue
    return tuple(found)


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
            "function_call": {"name": tools.wire(call.name), "args": _arguments(call)}
        }
        if signature is not None and number == 0:
            part["thought_signature"] = signature
        parts.append(part)
    return parts


def _arguments(call: ToolCall) -> dict[str, JSON]:
    return {"unparsable_arguments": call.raw} if call.arguments is None else call.arguments


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

    A prompt or answer that Google's filters blocked is an empty text: the model's failure.

    Raises:
        MalformedAnswerError: There is neither a candidate nor a reason for it.
    """
    if not isinstance(answer, dict):
        raise MalformedAnswerError("no JSON object")
    usage = _usage(answer.get("usageMetadata"))
    candidates = answer.get("candidates")
    if not candidates:
        if (answer.get("promptFeedback") or {}).get("blockReason"):
            return Completion(usage=usage or Usage()), usage is not None
        raise MalformedAnswerError("it has no candidates")
    candidate = candidates[0]
    parts = (candidate.get("content") or {}).get("parts") or []
    spoken = [part for part in parts if not part.get("thought")]
    text = "".join(part.get("text") or "" for part in spoken)
    calls = tuple(_call(part["functionCall"], tools) for part in spoken if "functionCall" in part)
    truncated = candidate.get("finishReason") == "MAX_TOKENS"
    completion = Completion(well_formed(text), calls, usage or Usage(), truncated)
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
    return Usage(usage["promptTokenCount"], spoken + thought)
