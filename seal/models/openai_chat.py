"""`openai/` and `litellm/`: chat completions and responses."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from seal.core import JSON, ModelError, Request, RequestError
from seal.core.outcomes import unread, was_cut
from seal.core.providers import OpenAIServer, SdkServer
from seal.core.servers import held_keys
from seal.models.profiles import Profile
from seal.models.server_model import ServerModel
from seal.models.spec import ModelSettings
from seal.models.wire import WireTools, object_of, objects_in, texts_in

# -- `openai/NAME`: OpenAI and every server that speaks its chat completions, or its responses.
#
# Of the responses API (`openai/NAME,api=responses`) requests and answers are converted from and to
# the form of chat completions. So profiles, outcomes and the reading of calls are the same for
# both. Nothing is stored at the server: each request holds the whole chat.

OUTPUT_CAP = 8192
"""Tokens that an answer may have where nobody says: a model that repeats itself ends. It is part of
no key: an answer that ended by itself before it is the same without it."""
_OUTPUT = re.compile(
    r"max_(?:\w{1,40}_)?tokens|(?:completion|output) tokens|(?:in|for) the completion"
)
_REFUSED = (
    "The server does not take this request as it is; a field that it names can be left "
    "out with -M FIELD=null."
)
_BACKGROUND = "Leave background out of the request, or let the answer be streamed."


class OpenAIModel(ServerModel):
    """A model behind an OpenAI-compatible server, built only where a key or a server is known."""

    provider = "openai"
    _server: OpenAIServer

    def __init__(self, name: str, settings: ModelSettings) -> None:
        if settings.api == "responses":
            self.lacks = _UNKNOWN
        super().__init__(name, settings)
        self.counted_as = name
        self._is_free = {"max_tokens", "max_completion_tokens"}.isdisjoint(settings.fields)
        """Whether nobody says how long an answer may be."""
        self._is_capped = self._is_free

    def _served(self, who: str) -> OpenAIServer:
        return OpenAIServer(who, self.settings, _REFUSED)

    def _body(self, request: Request, tools: WireTools, profile: Profile) -> dict[str, Any]:
        if request.max_tokens is None and self._is_capped:
            request = replace(request, max_tokens=OUTPUT_CAP)
        return super()._body(request, tools, profile)

    @property
    def identity(self) -> dict[str, JSON]:
        """What shapes this model's answers, besides the request; holds no secret."""
        return super().identity | ({"api": "responses"} if self._is_of_responses else {})

    @property
    def _is_of_responses(self) -> bool:
        return self.settings.api == "responses"

    def _asked(self, body: dict[str, Any]) -> Any:
        try:
            return self._sent(body)
        except RequestError as error:
            uncapped = {name: body[name] for name in body if body[name] != OUTPUT_CAP}
            if not (self._is_free and len(uncapped) < len(body) and _too_much(error.said)):
                raise
        answer = self._sent(uncapped)
        self._is_capped = False  # its window, or what it may write, is smaller
        return answer

    def _sent(self, body: dict[str, Any]) -> Any:
        if not self._is_of_responses:
            return self._server.post("/chat/completions", body)
        answer = self._server.post("/responses", as_response(body))
        if status := unfinished(answer):
            said = f"answered with a response that is only {status}"
            if not body.get("background"):  # nobody asked for that
                raise self._server.transient(said)
            raise RequestError(self._server.told(f"{said}. {_BACKGROUND}"))
        return as_chat(answer)


def _too_much(said: str) -> bool:
    """Tell whether a server refuses so long an output; a name that it lacks the profile learns."""
    other = was_cut(said) or re.search("unsupported|not supported", said, re.IGNORECASE)
    return bool(_OUTPUT.search(said)) and not other


_RENAMED = {"max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens"}
_UNKNOWN = frozenset(
    {"seed", "stop", "frequency_penalty", "presence_penalty", "logit_bias", "logprobs", "n"}
)
"""Fields of a chat completion that have no place in a response."""


def as_response(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request of a chat completion as one of a response.

    Reasoning that a model of theirs gave before is left out, as it may be where nothing is stored.
    """
    body = {name: value for name, value in body.items() if name not in _UNKNOWN}
    sent: dict[str, Any] = {
        "model": body.pop("model"),
        "input": [item for message in body.pop("messages") for item in _items(message)],
        "store": False,
    }
    if tools := body.pop("tools", None):
        sent["tools"] = [{"type": "function", "strict": False, **t["function"]} for t in tools]
    choice = object_of(body.get("tool_choice"))
    if isinstance(choice.get("function"), Mapping):
        sent["tool_choice"] = {"type": "function", "name": choice["function"].get("name")}
        del body["tool_choice"]
    if effort := body.pop("reasoning_effort", None):
        sent["reasoning"] = {"effort": effort}
    text = {"format": _format(body.pop("response_format", None))}
    text["verbosity"] = body.pop("verbosity", None)
    if told := {name: value for name, value in text.items() if value}:
        sent["text"] = told
    return sent | {_RENAMED.get(name, name): value for name, value in body.items()}


def _items(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if message["role"] == "tool":
        yield {
            "type": "function_call_output",
            "call_id": message["tool_call_id"],
            "output": message["content"],
        }
        return
    if message.get("content") or not message.get("tool_calls"):
        yield {"role": message["role"], "content": message["content"]}
    for call in message.get("tool_calls", ()):
        yield {"type": "function_call", "call_id": call["id"], **call["function"]}


def _summed_up(response: Mapping[str, Any]) -> str:
    """Return the words that SDKs sum up beside the items; some gateways send them alone."""
    said = response.get("output_text")
    return said if isinstance(said, str) else ""


_KNOWN_ITEMS = frozenset({"message", "function_call", "reasoning"})


def _listed(content: Any) -> list[Any]:
    """Return the parts of a content, which may be a text."""
    return content if isinstance(content, list) else [content] if content else []


def _format(given: Any) -> Any:
    """Return a format of answers, whose schema stands in it and not below it."""
    if not isinstance(given, Mapping):
        return given
    return {"type": given.get("type"), **object_of(given.get("json_schema"))}


def unfinished(answer: Any) -> str:
    """Return the status of a response that the server is still to make; empty: of no other."""
    status = object_of(answer).get("status")
    return status if status in ("queued", "in_progress") else ""


def as_chat(answer: Any) -> Any:
    """Return a response as a chat completion; what is none, as it is."""
    if isinstance(answer, dict) and answer.get("status") in ("failed", "cancelled"):
        unsaid = {"message": "it gives no reason", "code": answer["status"]}
        return {"error": answer.get("error") or unsaid}
    if isinstance(answer, dict) and answer.get("error"):
        return {"error": answer["error"]}
    if not isinstance(answer, dict) or not isinstance(answer.get("output"), list):
        return answer
    items = objects_in(answer["output"])
    calls = [one for one in items if one.get("type") == "function_call"]
    if answer.get("status") == "completed":
        for call in calls:
            if call.get("status") in ("incomplete", "in_progress"):
                why = f"a call is only {call['status']} in a response that is completed"
                return {"error": {"message": why, "code": "server_error"}}
    by_kind: dict[Any, list[dict[str, Any]]] = {}
    for item in items:
        by_kind.setdefault(item.get("type"), []).append(item)
    parts = [
        part if isinstance(part, dict) else {"text": part}
        for item in by_kind.get("message", ())
        for part in _listed(item.get("content"))
    ]
    thoughts = [
        part
        for item in by_kind.get("reasoning", ())
        for part in objects_in(item.get("summary")) or objects_in(item.get("content"))
    ]
    odd = [item for item in items if item.get("type") not in _KNOWN_ITEMS]
    made = [{"id": call.get("call_id"), "function": call} for call in calls]
    said = texts_in(parts, "text") or _summed_up(answer)
    # Of a tool that was not offered in this form: no call that can be read.
    made += [item for item in odd if item.get("type") == "custom_tool_call"]
    message = {
        "content": said or (parts or ([] if made else odd)),
        "refusal": texts_in(parts, "refusal"),
        "reasoning_content": texts_in(thoughts, "text", "\n\n"),
        "tool_calls": made,
    }
    ended = object_of(answer.get("incomplete_details")).get("reason")
    if not ended and answer.get("status") not in (None, "completed"):
        ended = answer["status"]
    finish = ended or ("tool_calls" if message["tool_calls"] else "stop")
    usage = object_of(answer.get("usage"))
    return {
        "model": answer.get("model"),
        "choices": [{"message": message, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": usage.get("input_tokens"),
            "completion_tokens": usage.get("output_tokens"),
            "completion_tokens_details": usage.get("output_tokens_details"),
        },
    }


# -- `litellm/NAME`: whatever LiteLLM knows (extra `litellm`), which this module alone imports.
#
# LiteLLM takes the key from the variable of its provider, and gives answers in the form of chat
# completions.


_TRACEBACK = "Traceback (most recent call last)"
"""LiteLLM's own, which it writes behind the words."""


class _LiteLLM(SdkServer):
    """LiteLLM, which finds the server by the model's name."""

    package = module = extra = "litellm"
    variables = "", ""
    needs_key = False

    def __init__(self, who: str, settings: ModelSettings) -> None:
        self._passed_on = {"tools", "tool_choice", *settings.options}
        super().__init__(who, settings, held_keys())

    def _sent(self, client: Any, body: Mapping[str, Any], text: bytearray) -> Any:
        told: dict[str, Any] = {"api_base": self.url, "api_key": self._key, "drop_params": True}
        told |= {"timeout": self._settings.timeout_s, "num_retries": 0, "max_retries": 0}
        # Of what its list does not hold for a model it drops all but these, without a word.
        told["allowed_openai_params"] = sorted(self._passed_on.intersection(body))
        answer = client(**body, **told).model_dump()
        for choice in objects_in(answer.get("choices")):  # LiteLLM says `stop` for unknown words
            word = object_of(choice.get("provider_specific_fields")).get("native_finish_reason")
            if word:
                choice["finish_reason"] = word
        return answer

    def _told(self, error: Exception) -> ModelError:
        status = getattr(error, "status_code", None)
        headers = getattr(getattr(error, "response", None), "headers", None) or {}
        said = str(getattr(error, "message", None) or error)
        said = said.partition(_TRACEBACK)[0].strip() or said
        codes, wrote = type(error).__name__, unread(said, {"message": said})
        # An answer of status 200 that it cannot read is the server's fault.
        told = status if isinstance(status, int) and status >= 400 else 500
        return self.failure(told, said, headers, codes=codes, wrote=wrote)

    def _connect(self) -> Any:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it asks GitHub
        import litellm

        litellm.suppress_debug_info = True
        return litellm.completion

    @property
    def _key_repair(self) -> str:
        return "Set the variable of the provider's key, or name one by key_env=VARIABLE."


class LiteLLMModel(ServerModel):
    """A model that LiteLLM asks, by the name that LiteLLM has for it: `PROVIDER/MODEL`.

    Fields of the request that its provider does not know are left out by LiteLLM.
    """

    provider = "litellm"
    _server: _LiteLLM

    def _served(self, who: str) -> _LiteLLM:
        return _LiteLLM(who, self.settings)

    def _asked(self, body: dict[str, Any]) -> Any:
        return self._server.post(body)
