"""OpenAI's responses API (`openai/NAME,api=responses`), from and to the form of chat completions.

So profiles, outcomes and the reading of calls are the same for both. Nothing is stored at the
server: each request holds the whole chat.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from seal.models.wire import objects_in, texts_in

_RENAMED = {"max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens"}
_UNKNOWN = {"seed", "stop", "frequency_penalty", "presence_penalty", "logit_bias", "logprobs"}
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


def _format(given: Any) -> Any:
    """Return a format of answers, whose schema stands in it and not below it."""
    if not isinstance(given, Mapping):
        return given
    schema = given.get("json_schema")
    return {"type": given.get("type"), **(schema if isinstance(schema, Mapping) else {})}


def unfinished(answer: Any) -> str:
    """Return the status of a response that the server is still to make; empty: of no other."""
    status = answer.get("status") if isinstance(answer, dict) else None
    return status if status in ("queued", "in_progress") else ""


def as_chat(answer: Any) -> Any:
    """Return a response as a chat completion; what is none, as it is."""
    if isinstance(answer, dict) and answer.get("status") in ("failed", "cancelled"):
        unsaid = {"message": "it gives no reason", "code": answer["status"]}
        return {"error": answer.get("error") or unsaid}
    if not isinstance(answer, dict) or not isinstance(answer.get("output"), list):
        return answer
    by_kind: dict[Any, list[dict[str, Any]]] = {}
    for item in objects_in(answer["output"]):
        by_kind.setdefault(item.get("type"), []).append(item)
    said = (objects_in(item.get("content")) for item in by_kind.get("message", ()))
    parts = [part for one in said for part in one]
    thoughts = [
        part
        for item in by_kind.get("reasoning", ())
        for part in objects_in(item.get("summary")) or objects_in(item.get("content"))
    ]
    message = {
        "content": texts_in(parts, "text"),
        "refusal": texts_in(parts, "refusal"),
        "reasoning_content": texts_in(thoughts, "text", "\n\n"),
        "tool_calls": [{"function": call} for call in by_kind.get("function_call", ())],
    }
    why = answer.get("incomplete_details")
    ended = why.get("reason") if isinstance(why, dict) else None
    finish = ended or ("tool_calls" if message["tool_calls"] else "stop")
    counted = answer.get("usage")
    usage: dict[str, Any] = counted if isinstance(counted, dict) else {}
    return {
        "choices": [{"message": message, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": usage.get("input_tokens"),
            "completion_tokens": usage.get("output_tokens"),
            "completion_tokens_details": usage.get("output_tokens_details"),
        },
    }
