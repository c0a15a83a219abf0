"""Chat completions on the wire, in the form that a profile allows."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from seal.core import JSON, Completion, Message, Request, Tool, ToolCall, Usage
from seal.core.call_formats import call_of, function_of, parse_call, wire_name, wire_names
from seal.core.dialects import called_name, is_amid_marks, is_unparsed, lacks_its_start
from seal.core.outcomes import (
    LATER,
    PARSER,
    error_in,
    fault_in,
    finish_of,
    is_known,
    noise_in,
    words_of,
)
from seal.core.text_formats import objects_in_a_row
from seal.core.validation import CallValidator
from seal.core.values import json_text, loss_of, one_line, well_formed
from seal.models.presentation import Presentation
from seal.models.profiles import HINTS, Profile
from seal.models.spec import ModelSettings

# -- Requests and answers as OpenAI's chat completions have them: pure functions on plain JSON.
#
# Servers take function names of `[A-Za-z0-9_-]{1,64}` only. So every tool gets a wire name that is
# unique within its request, and the answer's names are mapped back.

_PLAIN = Profile()
_OF_TOOLS = frozenset({"parallel_tool_calls", "tool_choice"})
"""Fields that servers refuse in a request without tools."""


_EXTRA = "extra_content"
"""What a server wants back with one call, such as Google's signature of a thought."""
_IN_ID = "__thought__"
"""Marks such a signature within the id of a call (LiteLLM)."""


class MalformedAnswerError(Exception):
    """The server's answer is no chat completion; the text says what is wrong with it."""


class FailedAnswerError(MalformedAnswerError):
    """The server failed, as its answer says or shows; the text says so with its words.

    Args:
        text: What is wrong.
        error: What the server says of it, where it says so by an error.
    """

    def __init__(self, text: str, error: Mapping[str, Any] | None = None) -> None:
        super().__init__(text)
        self.error = error


@dataclass(frozen=True, slots=True)
class WireTools:
    """The tools of a request as servers take them."""

    tools: tuple[Tool, ...]
    names: tuple[str, ...]
    """Wire name of each tool."""
    to_wire: Mapping[str, str]
    from_wire: Mapping[str, str]
    functions: list[dict[str, Any]]
    """The `tools` field of a request."""

    def wire(self, name: str) -> str:
        """Return the wire name of a tool; of a name that is not offered, a valid one like it."""
        return self.to_wire.get(name) or wire_name(name)


def wire_tools(tools: tuple[Tool, ...], leading_letter: bool = False) -> WireTools:
    """Return the wire form of a request's tools."""
    names = wire_names([tool.name for tool in tools], leading_letter)
    functions = [function_of(tool, name) for name, tool in zip(names, tools, strict=True)]
    pairs = list(zip(names, (tool.name for tool in tools), strict=True))
    to_wire = {name: wire for wire, name in reversed(pairs)}
    return WireTools(tools, tuple(names), to_wire, dict(pairs), functions)


def _wire_message(message: Message, tools: WireTools, profile: Profile) -> dict[str, Any]:
    wired: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.calls and not message.content and not profile.empty_content:
        wired["content"] = None
    if message.calls and profile.thinking_with_calls:
        wired["reasoning_content"] = message.reasoning
    if message.calls:
        wired["tool_calls"] = [
            call_of(call.id, tools.wire(call.name), json_text(_sent_arguments(call)))
            for call in message.calls
        ]
    elif message.role == "tool":
        wired["tool_call_id"] = message.call_id
    blocks = [one for one in message.signed if one.get("type") != _EXTRA]
    if blocks:
        wired["thinking_blocks"] = blocks
    for one in message.signed:
        place = one.get("call")
        if one.get("type") == _EXTRA and isinstance(place, int) and place < len(message.calls):
            known = {name: one[name] for name in (_EXTRA, "id") if one.get(name)}
            wired["tool_calls"][place] |= known
    return wired


def _with_own_ids(messages: Sequence[Message], wired: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return messages whose results name the ids that calls have on the wire."""
    ids: dict[str, str] = {}
    for message, sent in zip(messages, wired, strict=True):
        made = sent.get("tool_calls", ())
        ids |= {call.id: own["id"] for call, own in zip(message.calls, made, strict=True)}
        if message.role == "tool":
            sent["tool_call_id"] = ids.get(message.call_id, message.call_id)
    return wired


def _sent_arguments(call: ToolCall) -> dict[str, JSON]:
    """Return a JSON object in any case: servers parse the history and fail on anything else.

    Arguments that did not parse stand as {"unparsable_arguments": TEXT}.
    """
    return {"unparsable_arguments": call.raw} if call.arguments is None else call.arguments


def _json_mode(mode: str, schema: Mapping[str, JSON] | None) -> dict[str, JSON]:
    """Return the `response_format` that asks for a JSON object."""
    if mode == "object":
        return {"type": "json_object"}
    described = {"name": "answer", "schema": schema or {"type": "object"}}
    return {"type": "json_schema", "json_schema": described}


def wire_request(
    model: str,
    request: Request,
    tools: WireTools,
    settings: ModelSettings,
    profile: Profile = _PLAIN,
) -> dict[str, Any]:
    """Return the JSON body of a chat completion.

    Content is null only where a profile says so: some servers print it.

    Args:
        model: Name that the server knows.
        request: What is asked.
        tools: The request's tools.
        settings: Their temperature goes before the request's, and so do further fields, of which a
            value of None leaves one out.
        profile: What the model takes.
    """
    temperature = settings.temperature
    messages = normalised(request.messages, profile)
    body: dict[str, Any] = {
        "model": model,
        "messages": _with_own_ids(
            messages, [_wire_message(one, tools, profile) for one in messages]
        ),
        "temperature": request.temperature if temperature is None else temperature,
        "seed": request.seed,
    }
    if tools.functions:
        body["tools"] = (
            tools.functions if profile.open_objects else _closed_functions(tools.functions)
        )
    if request.max_tokens is not None:
        body["max_tokens"] = request.max_tokens
    if request.json_object:
        body["response_format"] = _json_mode(profile.json_mode, request.json_schema)
    body = {name: value for name, value in body.items() if name not in profile.without}
    body |= settings.fields
    left_out = HINTS & {*profile.without} if tools.functions else _OF_TOOLS
    for name in left_out:
        body.pop(name, None)
    if "max_tokens" in body:
        body.setdefault(profile.output_limit, body.pop("max_tokens"))
    return {name: value for name, value in body.items() if value is not None}


def _closed_functions(functions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the `tools` of a request whose schemas leave nothing open."""
    return [
        {**one, "function": one["function"] | {"parameters": closed(one["function"]["parameters"])}}
        for one in functions
    ]


def parse_completion(
    answer: Any,
    tools: WireTools,
    several: bool = False,
    limit: JSON = None,
    counts: bool = False,
) -> tuple[Completion, bool]:
    """Return the completion in a server's answer, and whether the server counted the tokens.

    Ids are dropped, the chat numbers calls by position; a call that came again under its id is one.
    One answer was asked for, so several choices are its parts: gateways put words in the first and
    calls in others. Where they are answers of their own, the first counts.

    Args:
        answer: Of the server.
        tools: The request's tools.
        several: Whether the user asked for several answers, of which the first counts.
        limit: Tokens that the answer might have; None: nobody said.
        counts: Whether the server counts the tokens of other answers' words.

    Raises:
        MalformedAnswerError: It is no chat completion.
        FailedAnswerError: It is the server's fault: it tells of a failure, in whatever form, broke
            off, or contradicts itself (`seal.core.outcomes`).
    """
    if error := error_in(answer):
        raise FailedAnswerError(f"failed: {words_of(error)}", error)
    if not isinstance(answer, dict):
        raise MalformedAnswerError(f"no JSON object but {_excerpt(answer)}")
    choices = objects_in(answer.get("choices"))[: 1 if several else None]
    if not choices and answer.get("choices") == []:
        raise FailedAnswerError(f"says nothing: its `choices` are an empty list; {LATER}")
    if not choices:
        raise MalformedAnswerError(f"it has no choices: {_excerpt(answer, 240)}")
    choices = choices[: 1 if are_several(choices) else None]
    usage = _usage(answer.get("usage"))
    # Some servers say of what was cut at the limit that it was made, or that it ended.
    is_full = isinstance(limit, int) and usage is not None and usage.tokens_out >= limit
    parts = [_part(choice, answer, tools, is_full) for choice in choices]
    finish = max((part.finish_reason for part in parts), key=_weight)
    if (error := _error_beside(choices)) and finish != "content_filter":
        raise FailedAnswerError(f"failed: {words_of(error)}", object_of(error))
    calls = tuple(call for part in parts for call in part.calls)
    content = "\n\n".join(filter(None, (part.content for part in parts)))
    if finish == "length" and calls and calls[-1].arguments == {} and _is_cut(choices[-1]):
        calls = (*calls[:-1], replace(calls[-1], arguments=None, raw=""))
    readable = all(call.arguments is not None for call in calls)
    if is_full and (not readable or (finish == "stop" and not calls)):
        finish = "length"
    named = all(c.name.strip() and not is_amid_marks(c.name, tools.from_wire) for c in calls)
    reasoning = "\n\n".join(filter(None, (part.reasoning for part in parts)))
    tokens, said = usage.tokens_out if usage else None, bool(content.strip())
    fault = fault_in(finish, said, len(calls), readable, named, tokens, bool(reasoning), counts)
    if fault := fault or noise_in(content if said or calls else reasoning):
        why = next(filter(None, map(_why, choices)), "")
        raise FailedAnswerError(f"{fault}: {words_of(why)}" if why else fault)
    completion = Completion(
        content,
        calls,
        usage or Usage(),
        finish == "length",
        finish_reason=finish,
        reasoning=reasoning,
        signed=tuple(one for part in parts for one in part.signed) if calls else (),
    )
    return completion, usage is not None


WHY = "finish_message"
"""Field of a choice in which a server says in words how it ended (Google)."""


def _why(choice: Mapping[str, Any]) -> Any:
    """Return how a choice ended in the server's words; SGLang says it within the finish."""
    return choice.get(WHY) or object_of(choice.get("finish_reason")).get("message")


def are_several(choices: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether choices are answers of their own, and not parts of one.

    Parts are words and then calls. So answers are what has words after a choice that had any, or
    had calls, and what calls the same once more.
    """
    spoken = False
    calls: list[list[dict[str, Any]]] = []
    for message in (object_of(choice.get("message")) for choice in choices):
        made = [object_of(one.get("function")) for one in objects_in(message.get("tool_calls"))]
        speaks = bool(_joined(message.get("content"), "text").strip())
        if (speaks and (spoken or calls)) or (made and made in calls):
            return True
        spoken |= speaks
        calls += [made] * bool(made)
    return False


def _error_beside(choices: Sequence[Mapping[str, Any]]) -> Any:
    """Return the error that stands beside what a choice says; None: there is none."""
    holders = [one for choice in choices for one in (choice, object_of(choice.get("message")))]
    return next((one["error"] for one in holders if one.get("error")), None)


def _part(choice: dict[str, Any], answer: Any, tools: WireTools, is_full: bool) -> Completion:
    """Return what a choice says and calls.

    Raises:
        MalformedAnswerError: It has no message.
        FailedAnswerError: Its content or its calls have a form that nobody can read.
    """
    message = choice.get("message")
    if not isinstance(message, dict):
        raise MalformedAnswerError(f"its first choice has no message: {_excerpt(answer)}")
    message = {**message, "tool_calls": _once(message.get("tool_calls"))}
    finish = finish_of(choice.get("finish_reason"), choice.get("native_finish_reason"))
    content = message.get("content")
    calls = message["tool_calls"] or message.get("function_call")
    if not calls and not _is_content(content):
        raise FailedAnswerError(
            f"answered, and its content has no part that can be read: {_excerpt(content)}; {LATER}"
        )
    refused = _joined(content, "refusal") or _joined(message.get("refusal"), "text")
    made = list(_calls(message, tools, is_full or finish in ("", "length")))
    known = {*tools.from_wire, *tools.from_wire.values()}
    instead = [one for one in made if one.name in _NO_TOOL and one.name not in known]
    told = [(one.arguments or {}).get(_NO_TOOL[one.name]) for one in instead]
    words = "".join(_joined(text, "text") for text in told)
    if instead and finish == "tool_calls" and len(instead) == len(made):
        finish = "stop"
    return Completion(
        _joined(content, "text") or refused or words,
        tuple(one for one in made if one not in instead),
        finish_reason=finish,
        reasoning=next(filter(None, _thoughts(message)), ""),
        signed=(*objects_in(message.get("thinking_blocks")), *_extras(message)),
    )


_NO_TOOL = {"no_tool": "content", "notify_error": "error"}
"""Calls by which TGI has a model say that it calls nothing, to the argument with its words."""


def _extras(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what is to go back with each call that came with more than a call."""
    for place, call in enumerate(objects_in(message.get("tool_calls"))):
        extra, id = object_of(call.get(_EXTRA)), call.get("id")
        told: dict[str, Any] = {_EXTRA: extra} if extra else {}
        if isinstance(id, str) and _IN_ID in id:
            told["id"] = id
        if told:
            yield {"type": _EXTRA, "call": place, **told}


def _weight(finish: str) -> int:
    """Return how much the end of a choice says about the whole answer."""
    order = ("", "stop", "tool_calls", "length", "content_filter")
    return order.index(finish) if finish in order else len(order) + (not is_known(finish))


def _is_cut(choice: dict[str, Any]) -> bool:
    """Tell whether the limit cut a choice's last call before the first letter of its arguments."""
    calls = objects_in(object_of(choice.get("message")).get("tool_calls"))
    return bool(calls) and object_of(calls[-1].get("function")).get("arguments") in (None, "")


def _thoughts(message: dict[str, Any]) -> Iterator[str]:
    """Yield the thinking that servers give beside the content, each in its own field."""
    for name in ("reasoning_content", "reasoning", "thinking"):
        yield _joined(message.get(name), "text").strip()
    yield _joined(message.get("content"), "thinking").strip()


def _joined(content: Any, kind: str) -> str:
    """Return a text, which some servers send in parts; a text without parts is of kind `text`."""
    if isinstance(content, list):
        parts = ({"text": part} if isinstance(part, str) else part for part in content)
        found = (part.get(kind) for part in parts if isinstance(part, dict))
        content, kind = "".join(_joined(part, "text") for part in found), "text"
    return well_formed(content) if isinstance(content, str) and kind == "text" else ""


_PARTS = frozenset({"text", "refusal", "thinking"})
"""Names under which a part of a content has what can be read."""


def _is_content(content: Any) -> bool:
    """Tell whether a content is a text, nothing, or parts of which one can be read."""
    if not isinstance(content, list):
        return content is None or isinstance(content, str)
    known = (isinstance(p, str) or not _PARTS.isdisjoint(object_of(p)) for p in content)
    return not content or any(known)


def _once(entries: Any) -> Any:
    """Return calls of which each came once; one that came again has its arguments as often.

    So its record tells it. A call came again where its id, its name and its arguments are the same.
    LocalAI begins one at an index, and tells it at the next: then the first has no arguments.
    """
    if not isinstance(entries, list):
        return entries
    told: dict[tuple[str, str, str], dict[str, Any]] = {}
    kept: list[Any] = []
    made = [object_of(object_of(entry).get("function")) for entry in entries]
    named = [
        (str(object_of(entry).get("id") or ""), str(function.get("name")))
        for entry, function in zip(entries, made, strict=True)
    ]
    given = [function.get("arguments") for function in made]
    whole = {one for one, text in zip(named, given, strict=True) if text not in (None, "")}
    begun = {one for one, text in zip(named, given, strict=True) if text in (None, "")} & whole
    for entry, function, one, value in zip(entries, made, named, given, strict=True):
        if not one[0] or not function or loss_of(value):
            kept.append(entry)
            continue
        if one in begun and value in (None, ""):
            continue
        text = value if isinstance(value, str) and value else json_text(value or {})
        if (key := (*one, text)) not in told:
            told[key] = dict(function)
            kept.append({**entry, "function": told[key]})
            if one not in begun:
                continue
        told[key]["arguments"] = text + text
    return kept


def _calls(message: dict[str, Any], tools: WireTools, cut: bool) -> Iterator[ToolCall]:
    entries, legacy = message.get("tool_calls"), message.get("function_call")
    if not entries:  # some servers send an empty list beside it
        entries = [{"function": legacy}] if legacy else []
    if isinstance(entries, dict):  # TGI sends one alone
        entries = [entries]
    if not isinstance(entries, list):
        raise FailedAnswerError(f"gives calls that are no list, {_excerpt(entries)}; {PARSER}")
    for entry in entries:
        function = entry.get("function") if isinstance(entry, dict) else None
        if not isinstance(function, dict):
            raise FailedAnswerError(f"gives a call of no function, {_excerpt(entry)}; {PARSER}")
        name = called_name(well_formed(str(function.get("name") or "")), tools.from_wire)
        given = function.get("arguments")
        given = function.get("parameters") if given is None else given
        call = parse_call(tools.from_wire.get(name, name), given, cut)
        if call.arguments is None and not cut and is_unparsed(call.raw):
            raise FailedAnswerError(
                f"gives arguments with marks of a call in them, {_excerpt(call.raw)}; {PARSER}"
            )
        if call.arguments is None and not cut and lacks_its_start(call.raw):
            raise FailedAnswerError(
                f"gives arguments without their first letters, {_excerpt(call.raw)}; "
                "take -M stream=false, or take --format json"
            )
        if given in (None, "") and _wants_more(call.name, tools):
            call = replace(call, raw=_LOST)
        yield from [call] if call.arguments is not None else _apart(call, tools)


_LOST = "null"
"""Stands for arguments of which nothing came though the tool needs some: counted as repaired, for
the server may have lost them."""


def _wants_more(name: str, tools: WireTools) -> bool:
    return any(tool.name == name and tool.parameters.get("required") for tool in tools.tools)


def _apart(call: ToolCall, tools: WireTools) -> list[ToolCall]:
    """Return the calls whose arguments a server has written into one text, object after object.

    Raises:
        FailedAnswerError: They are no valid calls of this one tool: nobody knows which they are of.
    """
    objects = objects_in_a_row(call.raw)
    while len(objects) > 1 and not objects[0] and any(objects):
        objects = objects[1:]  # a server's placeholder, before the arguments came
    found = [ToolCall("", call.name, one) for one in objects]
    if len(found) < 2:
        return found or [call]
    check = CallValidator({tool.name: tool for tool in tools.tools}).check
    if any(check(replace(one, tool=one.name)) for one in found):
        raise FailedAnswerError(
            f"gives the arguments of {len(found)} calls as those of one, {_excerpt(call.name)}; "
            "take -M stream=false or --format json"
        )
    return found


def _usage(usage: Any) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    counts = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not Usage.admits(*counts):
        return None
    told = object_of(usage.get("completion_tokens_details")).get("reasoning_tokens")
    thought = cast("int", told) if Usage.admits(told) else 0
    asked, said = cast("tuple[int, int]", counts)
    if usage.get("total_tokens") == asked + said + thought:  # xAI counts thinking apart
        said += thought
    return Usage(asked, said, reasoning=min(thought, said))


def objects_in(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list; none where it is no list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def object_of(value: Any) -> dict[str, Any]:
    """Return an object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def texts_in(parts: Sequence[Mapping[str, Any]], field: str, between: str = "") -> str:
    """Return the texts that parts of an answer have in a field, as one."""
    texts = (part.get(field) for part in parts)
    return between.join(text for text in texts if isinstance(text, str))


def _excerpt(value: Any, most: int = 80) -> str:
    text = value if isinstance(value, str) else repr(value)
    return repr(text[:most]) if text else "nothing"


# -- A request in the form that a profile allows. What was recorded stays as it is.
#
# Every rule leaves a request alone that keeps it.

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

    Other ids of calls are nothing else, nor is another name of a field. Calls that are read in an
    answer's text make another answer.
    """
    schemas = [tool.parameters for tool in request.tools]
    same_ids = replace(profile, call_ids="any")
    return (
        presentation_of(request, profile) is not None
        or (request.json_object and profile.json_mode != "object")
        or not {"temperature", "seed"}.isdisjoint(profile.without)
        or (request.json_object and "response_format" in profile.without)
        or (profile.thinking_with_calls and any(one.reasoning for one in request.messages))
        or bool(profile.calls_in_text and request.tools)
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
