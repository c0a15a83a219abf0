"""What an agent asks a model in OpenAI's interface, and the answers to it: plain JSON.

Two forms are read and written: chat completions and responses. An answer that is asked for as a
stream comes whole, in one event for each of its items.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from seal.core import Completion, Message, Tool, ToolCall, UsageError
from seal.core.call_formats import call_of, function_of, parse_call, wire_names
from seal.core.values import json_text, well_formed

Form = Literal["chat/completions", "responses"]
"""Path of an interface below `/v1`."""
_ROLES: Mapping[Any, Literal["system", "user", "assistant"]]
_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
_NO_PARAMETERS = {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True)
class WireRequest:
    """What an agent asks a model."""

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...]
    names: Mapping[str, str]
    """Name of a tool to the name that the agent gave it."""
    json_object: bool
    stream: bool


def offered_functions(offered: Sequence[Tool]) -> list[dict[str, Any]]:
    """Return tools as the `tools` of a chat completion."""
    return [function_of(tool, name) for name, tool in by_wire_name(offered).items()]


def by_wire_name(offered: Sequence[Tool]) -> dict[str, Tool]:
    """Return tools under the names that agents know them by."""
    return dict(zip(wire_names([tool.name for tool in offered]), offered, strict=True))


def read_asked(form: Form, body: Any, offered: Sequence[Tool]) -> WireRequest:
    """Return what the body of a request asks.

    Tools that the chat offers are known by their names, with the description that the agent gives
    them. All others are the agent's own, and it runs them itself.

    Args:
        form: Interface of the request.
        body: Its JSON.
        offered: By the chat.

    Raises:
        UsageError: The body is no such request; the text names the field.
    """
    if not isinstance(body, dict):
        raise UsageError("the body is no JSON object")
    known = by_wire_name(offered)
    functions = [_function(each) for each in _items(body, "tools")]
    tools = tuple(_tool(function, known) for function in functions)
    names = {tool.name: str(f["name"]) for tool, f in zip(tools, functions, strict=True)}
    named = {wire: tool.name for wire, tool in known.items()}
    if form == "responses":
        told = body.get("instructions")
        instructions = [Message("system", told)] if isinstance(told, str) and told else []
        messages = [*instructions, *_input(body, named)]
        shape = body.get("text")
        shape = shape.get("format") if isinstance(shape, dict) else None
    else:
        messages = [_message(each, named) for each in _items(body, "messages")]
        shape = body.get("response_format")
    if not messages:
        raise UsageError("the request has no messages")
    kind = shape.get("type") if isinstance(shape, dict) else None
    wants_json = kind in ("json_object", "json_schema")
    return WireRequest(tuple(messages), tools, names, wants_json, body.get("stream") is True)


def written(form: Form, completion: Completion, asked: WireRequest, number: int) -> dict[str, Any]:
    """Return the JSON of an answer.

    Args:
        form: Interface of the request.
        completion: The answer.
        asked: The request.
        number: Of the answer in its chat, from 0; ids derive from it.
    """
    calls = [
        {
            "id": f"call_{number}_{place}",
            "name": asked.names.get(call.name, call.name),
            **_text(call),
        }
        for place, call in enumerate(completion.calls)
    ]
    if form == "responses":
        return _response(completion, calls, number)
    return _chat_completion(completion, calls, number)


def _response(
    completion: Completion, calls: Sequence[Mapping[str, str]], number: int
) -> dict[str, Any]:
    usage, cut = completion.usage, completion.truncated
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 0,
        "model": "seal",
        "status": "incomplete" if cut else "completed",
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "instructions": None,
        "metadata": {},
        "output": list(_output(completion.content, calls, number)),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": usage.tokens_in,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": usage.tokens_out,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage.tokens_in + usage.tokens_out,
        },
    }


def _chat_completion(
    completion: Completion, calls: Sequence[Mapping[str, str]], number: int
) -> dict[str, Any]:
    usage = completion.usage
    message: dict[str, Any] = {"role": "assistant", "content": completion.content or None}
    if calls:
        message["tool_calls"] = [call_of(**call) for call in calls]
    ended = "length" if completion.truncated else "tool_calls" if calls else "stop"
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": "seal",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": ended}],
        "usage": {
            "prompt_tokens": usage.tokens_in,
            "completion_tokens": usage.tokens_out,
            "total_tokens": usage.tokens_in + usage.tokens_out,
        },
    }


def events(form: Form, answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the server-sent events that bring an answer of `written`."""
    if form == "responses":
        for number, event in enumerate(_response_events(answer)):
            yield f"event: {event['type']}\n" + _data({**event, "sequence_number": number})
        return
    (choice,) = answer["choices"]
    message = dict(choice["message"])
    if "tool_calls" in message:
        message["tool_calls"] = [
            {**call, "index": place} for place, call in enumerate(message["tool_calls"])
        ]
    head = {**answer, "object": "chat.completion.chunk"}
    said = {"index": 0, "delta": message, "finish_reason": None}
    ended = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    yield _data({**head, "choices": [said], "usage": None})
    yield _data({**head, "choices": [ended]})
    yield "data: [DONE]\n\n"


def _response_events(answer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    begun = {**answer, "status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": begun}
    for place, item in enumerate(answer["output"]):
        at = {"output_index": place, "item_id": item["id"]}
        yield {"type": "response.output_item.added", "output_index": place, "item": item}
        if item["type"] == "message":
            text = {**at, "content_index": 0}
            (part,) = item["content"]
            yield {**text, "type": "response.content_part.added", "part": part}
            yield {**text, "type": "response.output_text.delta", "delta": part["text"]}
            yield {**text, "type": "response.output_text.done", "text": part["text"]}
            yield {**text, "type": "response.content_part.done", "part": part}
        else:
            arguments = item["arguments"]
            yield {**at, "type": "response.function_call_arguments.delta", "delta": arguments}
            yield {**at, "type": "response.function_call_arguments.done", "arguments": arguments}
        yield {"type": "response.output_item.done", "output_index": place, "item": item}
    yield {"type": f"response.{answer['status']}", "response": answer}


def _data(event: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(event)}\n\n"


def _output(content: str, calls: Iterable[Mapping[str, Any]], number: int) -> Iterator[Any]:
    if content:
        yield {
            "id": f"msg_{number}",
            "type": "message",
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": content, "annotations": []}],
        }
    for call in calls:
        yield {
            "id": f"fc_{call['id']}",
            "type": "function_call",
            "status": "completed",
            "call_id": call["id"],
            "name": call["name"],
            "arguments": call["arguments"],
        }


def _text(call: ToolCall) -> dict[str, str]:
    raw = call.arguments is None and call.raw
    return {"arguments": raw or json_text(call.arguments or {})}


def _function(given: Any) -> dict[str, Any]:
    """Return name, description and parameters, which chat completions keep in `function`."""
    inner = given.get("function", given) if isinstance(given, dict) else None
    if not isinstance(inner, dict) or not isinstance(inner.get("name"), str):
        raise UsageError(f"tools: expected functions with a name, got {_excerpt(given)}")
    return inner


def _tool(function: Mapping[str, Any], known: Mapping[str, Tool]) -> Tool:
    name = function["name"]
    description = function.get("description")
    parameters = function.get("parameters")
    if not isinstance(parameters, dict):
        parameters = _NO_PARAMETERS
    if name not in known:
        return Tool(f"agent/{name}", name, str(description or ""), parameters)
    tool = known[name]
    return replace(tool, description=str(description or tool.description), parameters=parameters)


def _message(given: Any, named: Mapping[str, str]) -> Message:
    role = given.get("role") if isinstance(given, dict) else None
    if role == "tool":
        return Message(
            "tool", _content(given.get("content")), call_id=str(given.get("tool_call_id"))
        )
    if role not in _ROLES:
        raise UsageError(f"messages: expected a role of {', '.join(_ROLES)}, tool, got {role!r}")
    calls = [
        _call(each.get("id"), each.get("function"), named)
        for each in _items(given, "tool_calls")
        if isinstance(each, dict)
    ]
    return Message(_ROLES[role], _content(given.get("content")), tuple(calls))


def _input(body: Mapping[str, Any], named: Mapping[str, str]) -> Iterator[Message]:
    """Yield the messages of a request for a response; neighbouring calls are one message."""
    if body.get("previous_response_id") is not None:
        raise UsageError("previous_response_id: nothing is kept here; send the whole input")
    given = body.get("input")
    if isinstance(given, str):
        yield Message("user", given)
        return
    said: Message | None = None
    for item in _items(body, "input"):
        if not isinstance(item, dict):
            raise UsageError(f"input: expected items, got {_excerpt(item)}")
        kind = item.get("type", "message")
        if kind == "function_call":
            before = said or Message("assistant")
            call = _call(item.get("call_id"), item, named)
            said = replace(before, calls=(*before.calls, call))
            continue
        if kind == "message" and item.get("role") == "assistant":
            if said is not None:
                yield said
            said = Message("assistant", _content(item.get("content")))
            continue
        if said is not None and kind != "reasoning":
            yield said
            said = None
        if kind == "function_call_output":
            yield Message("tool", _content(item.get("output")), call_id=str(item.get("call_id")))
        elif kind == "message":
            yield _message(item, named)
        elif kind != "reasoning":
            raise UsageError(f"input: items of type {kind!r} cannot be sent here")
    if said is not None:
        yield said


def _call(id: Any, function: Any, named: Mapping[str, str]) -> ToolCall:
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise UsageError(f"a call has no name: {_excerpt(function)}")
    name = function["name"]
    return replace(parse_call(named.get(name, name), function.get("arguments")), id=str(id))


def _content(given: Any) -> str:
    """Return the text of a content, which may be a list of parts."""
    if given is None:
        return ""
    if isinstance(given, str):
        return well_formed(given)
    if not isinstance(given, list):
        raise UsageError(f"content: expected a text or parts of text, got {_excerpt(given)}")
    texts = [part.get("text") if isinstance(part, dict) else part for part in given]
    words = [text for text in texts if isinstance(text, str)]
    if len(words) < len(texts):
        raise UsageError(f"content: parts other than text cannot be sent here: {_excerpt(given)}")
    return well_formed("".join(words))


def _items(body: Mapping[str, Any], field: str) -> list[Any]:
    given = body.get(field)
    if given is None:
        return []
    if not isinstance(given, list):
        raise UsageError(f"{field}: expected a list, got {_excerpt(given)}")
    return given


def _excerpt(value: Any) -> str:
    return repr(value)[:80]
