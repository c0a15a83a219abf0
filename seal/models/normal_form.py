"""A request in the form that a profile allows. What was recorded stays as it is.

Every rule leaves a request alone that keeps it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from seal.core import JSON, Message, Request
from seal.core.plain import one_line
from seal.models.presentation import Presentation
from seal.models.profiles import Profile

NOT_RUN = "This call was not run."
"""Result of a call that has none: servers refuse a call without a result."""
_GO_ON = "Continue."
"""Words of the user where the chat would begin with the assistant."""
_SEEN = "I have read the results."
"""Words of the assistant where the user would speak after a result."""


def normalised(messages: Sequence[Message], profile: Profile) -> tuple[Message, ...]:
    """Return messages as a profile allows them.

    Args:
        messages: As a role made them.
        profile: What the model takes.
    """
    kept = list(_paired(messages))
    if profile.system != "any":
        kept = _system_first(kept, profile.system == "none")
    if not profile.parallel_calls:
        kept = list(_one_call_each(kept))
    if profile.alternates:
        kept = list(_in_turns(kept))
    elif not profile.content_with_calls:
        kept = list(_words_apart(kept))
    if profile.begins_with_user:
        first = next((n for n, m in enumerate(kept) if m.role != "system"), len(kept))
        if first == len(kept) or kept[first].role != "user":
            kept.insert(first, Message("user", _GO_ON))
    return tuple(_renumbered(kept) if profile.call_ids == "short" else kept)


def presentation_of(request: Request, profile: Profile) -> Presentation | None:
    """Return how a request is put into words; None where the server takes tools and results."""
    if profile.tools and profile.tool_messages == "native":
        return None
    if not request.tools and not any(m.calls or m.role == "tool" for m in request.messages):
        return None
    return Presentation("native-text" if profile.tools else "json")


def changes(request: Request, profile: Profile) -> bool:
    """Tell whether a profile asks a model something else than the request says.

    Other ids of calls are nothing else, nor is another name of a field.
    """
    schemas = [tool.parameters for tool in request.tools]
    same_ids = replace(profile, call_ids="any")
    return (
        presentation_of(request, profile) is not None
        or (request.json_object and profile.json_mode != "object")
        or not {"temperature", "seed"}.isdisjoint(profile.without)
        or (request.json_object and "response_format" in profile.without)
        or (profile.thinking_with_calls and any(one.reasoning for one in request.messages))
        or (not profile.open_objects and any(closed(one) != one for one in schemas))
        or normalised(request.messages, same_ids) != normalised(request.messages, Profile())
    )


def _paired(messages: Sequence[Message]) -> Iterator[Message]:
    """Yield messages in which each call is followed by its result, and a result has its call."""
    results: dict[str, list[Message]] = {}
    for message in messages:
        if message.role == "tool":
            results.setdefault(message.call_id, []).append(message)
    called: set[str] = set()
    for message in messages:
        if message.role != "tool":
            yield message
            for call in message.calls:
                called.add(call.id)
                found = results.get(call.id)
                yield found.pop(0) if found else Message("tool", NOT_RUN, call_id=call.id)
        elif message.call_id not in called:
            yield Message("user", f"Result: {one_line(message.content)}")


def _system_first(messages: Sequence[Message], folded: bool) -> list[Message]:
    """Return messages with one system message, the first; later ones are the user's.

    Args:
        messages: With results after their calls.
        folded: True: the first one, too, is part of the user's first message.
    """
    count = next((n for n, m in enumerate(messages) if m.role != "system"), len(messages))
    rest = [replace(m, role="user") if m.role == "system" else m for m in messages[count:]]
    if not count:
        return rest
    told = "\n\n".join(message.content for message in messages[:count])
    if not folded:
        return [Message("system", told), *rest]
    if rest and rest[0].role == "user":
        return [Message("user", f"{told}\n\n{rest[0].content}"), *rest[1:]]
    return [Message("user", told), *rest]


def _one_call_each(messages: Sequence[Message]) -> Iterator[Message]:
    """Yield messages of one call each, every one followed by its result.

    Args:
        messages: With results after their calls, in the order of the calls.
    """
    waiting = deque(messages)
    while waiting:
        message = waiting.popleft()
        if len(message.calls) < 2:
            yield message
            continue
        results = [waiting.popleft() for _ in message.calls]
        for number, (call, result) in enumerate(zip(message.calls, results, strict=True)):
            yield replace(message, content="" if number else message.content, calls=(call,))
            yield result


def _words_apart(messages: Sequence[Message]) -> Iterator[Message]:
    """Yield messages that hold words or calls."""
    for message in messages:
        if message.calls and message.content:
            yield Message(message.role, message.content)
            message = replace(message, content="")
        yield message


def _in_turns(messages: Sequence[Message]) -> Iterator[Message]:
    """Yield messages in which user and assistant take turns."""
    last: Message | None = None
    for message in messages:
        role = message.role
        if role == "assistant" and not message.calls and not message.content.strip():
            continue
        if last is not None and last.role == role and role in ("user", "assistant"):
            words = "\n\n".join(text for text in (last.content, message.content) if text)
            last = replace(message, content=words)
            continue
        if last is not None:
            yield last
            if last.role == "tool" and role == "user":
                yield Message("assistant", _SEEN)
        last = message
    if last is not None:
        yield last


def _renumbered(messages: Sequence[Message]) -> Iterator[Message]:
    """Yield messages whose calls have ids of nine letters and digits, by their position."""
    ids: dict[str, str] = {}
    count = 0
    for message in messages:
        if message.role == "tool":
            yield replace(message, call_id=ids[message.call_id])
            continue
        for call in message.calls:
            ids[call.id] = f"call{count:05}"
            count += 1
        calls = tuple(replace(call, id=ids[call.id]) for call in message.calls)
        yield replace(message, calls=calls) if calls else message


def closed(schema: Mapping[str, Any]) -> dict[str, JSON]:
    """Return a JSON Schema whose inner objects all say what further properties hold."""
    return {key: _closed(value) if key == "properties" else value for key, value in schema.items()}


def _closed(value: Any) -> Any:
    if isinstance(value, list):
        return [_closed(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    inner = {key: _closed(one) for key, one in value.items()}
    if value.get("type") == "object" and not isinstance(value.get("additionalProperties"), dict):
        inner["additionalProperties"] = {"type": "string"}
    return inner
