"""What is said in a chat as messages of AutoGen, and such messages as what is said."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from seal.agents.teams import EXECUTOR, USER
from seal.core import Reply, Step, Tool, ToolCall, ToolResult, UsageError, shortened
from seal.core.call_formats import call_of, parse_call
from seal.core.conditions import SYSTEM
from seal.core.values import json_text, one_line

OWN = "autogen/own/"
"""Begins the id of a tool that somebody has registered on an agent."""

# -- Steps and replies as messages.


def said_together(steps: Iterable[Step]) -> list[list[Step]]:
    """Return the steps of each message, in order."""
    return [list(said) for _, said in groupby(steps, key=lambda step: (step.turn, step.author))]


def message_of(steps: Sequence[Step]) -> dict[str, Any]:
    """Return the steps of one message as a message of AutoGen; its content is never null."""
    calls = [step.call for step in steps if step.call is not None]
    results = [step.result for step in steps if step.result is not None]
    message: dict[str, Any] = {
        "content": "\n".join(
            one_line(step.content) if step.result else step.content
            for step in steps
            if step.content
        ),
        "role": "assistant" if calls else "tool" if results else "user",
        "name": steps[0].author,
    }
    if calls:
        message["tool_calls"] = [call_message(call, call.id) for call in calls]
    if results:
        message["tool_responses"] = [response(one.call_id, one.content) for one in results]
    return message


def message_said(reply: Reply, first: int) -> Any:
    """Return a reply as a message that AutoGen sends; `first` is the number of its first call."""
    if reply.results and not reply.calls:
        return answers([response(one.call_id, one.content) for one in reply.results])
    if not reply.calls:
        return reply.content
    calls = [call_message(call, f"call_{first + n}") for n, call in enumerate(reply.calls)]
    return {"content": reply.content, "tool_calls": calls}


def call_message(call: ToolCall, call_id: str) -> dict[str, Any]:
    """Return a call as a message carries it."""
    return call_of(call_id, call.name, arguments_text(call))


def response(call_id: Any, content: str) -> dict[str, Any]:
    """Return what a call brought, as a message carries it."""
    return {"tool_call_id": call_id, "role": "tool", "content": content}


def answers(responses: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the message with what calls brought."""
    content = "\n\n".join(one["content"] for one in responses)
    return {"role": "tool", "tool_responses": list(responses), "content": content}


def arguments_text(call: ToolCall) -> str:
    """Return the arguments of a call as OpenAI's messages carry them."""
    return call.raw or json_text(call.arguments)


def check_unchanged(function: Any, call_id: Any, pending: Iterable[ToolCall]) -> None:
    """Make sure that the function that an executor runs is what was called.

    Args:
        function: Name and arguments, as hooks of the executor have left them.
        call_id: Of the call.
        pending: The calls of the last message.

    Raises:
        UsageError: It is another one: the record would have a call that was not run.
    """
    for call in pending:
        made = call_message(call, call.id)["function"]
        if call.id == call_id and function != made:
            raise UsageError(
                f"a hook of {EXECUTOR} changed the call {shortened(made)} to {shortened(function)}"
                "; what was called is run. Change calls where they are sent: "
                "process_message_before_send on who calls"
            )


def called_text(call: Mapping[str, Any]) -> str:
    """Return a call of a message in words."""
    return f"{call['function'].get('name')}({call['function'].get('arguments')})"


def tool_of(function: Mapping[str, Any]) -> Tool:
    """Return the tool that OpenAI's schema of a function describes."""
    parameters = function.get("parameters") or {"type": "object", "properties": {}}
    name = function["name"]
    return Tool(OWN + name, name, function.get("description") or "", parameters)


def taken_name(name: str) -> str:
    """Return why a tool of somebody's own is refused, and what to do."""
    return (
        f"a tool named {name!r} is offered to the agent already; "
        f"register yours under another name, such as my_{name}"
    )


def in_words(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message with calls or what they brought as one that tells of them."""
    told = [text_of(message.get("content"))]
    told += [f"called {called_text(call)}" for call in message.get("tool_calls") or ()]
    dropped = ("tool_calls", "tool_responses")
    kept = {name: part for name, part in message.items() if name not in dropped}
    return {**kept, "role": "user", "content": "\n".join(filter(None, told))}


# -- Messages as what is said: whoever made them, and whatever hooks have done to them.


def as_message(said: Any, role: str) -> Any:
    """Return what an agent says: a text, or a message in which each call has an id of its own.

    A `function_call`, as OpenAI had it before `tool_calls`, is the message's one call.

    Args:
        said: What a reply function or a hook of the agent returned.
        role: Who says it.

    Raises:
        UsageError: It is neither a text nor a message, or one of its calls is no call.
    """
    if isinstance(said, str):
        return said
    if isinstance(said, Reply):
        made = message_said(said, 0)
        made = dict(made) if isinstance(made, dict) else {"content": made}
        said = {**made, "next": said.next, "done": said.done}
    said = said.model_dump() if hasattr(said, "model_dump") else said
    if not isinstance(said, Mapping):
        raise UsageError(
            f"role {role!r} sent {shortened(said)} ({type(said).__name__}); "
            'expected a text, or a message such as {"content": "..."}'
        )
    message, content = dict(said), said.get("content")
    if not (content is None or isinstance(content, str | list)):
        message["content"] = str(content)
    old = message.pop("function_call", None)
    calls = message.get("tool_calls") or ([{"type": "function", "function": old}] if old else [])
    if not calls:
        return message
    told: dict[str, Any] = {}
    for number, call in enumerate(calls if isinstance(calls, list | tuple) else [calls]):
        if not (isinstance(call, Mapping) and isinstance(call.get("function"), Mapping)):
            raise UsageError(
                f"role {role!r} sent the call {shortened(call)}; expected "
                '{"id": ..., "function": {"name": ..., "arguments": "{...}"}}'
            )
        call_id = call.get("id")
        if not isinstance(call_id, str) or not call_id or call_id in told:
            call_id = f"{role}_unnamed_{number}"
        told[call_id] = {**call, "id": call_id}
    return {**message, "tool_calls": [*told.values()]}


def parts_of(message: Any) -> tuple[str, list[dict[str, Any]]]:
    """Return text and calls of what `as_message` gives."""
    message = message if isinstance(message, dict) else {"content": message}
    return text_of(message.get("content")), list(message.get("tool_calls") or ())


_AT = re.compile(r"(?<![\w@])@(\w+)")
"""Takes `@planner`, `Then @planner: go on`, `(@planner)`; not `me@planner.org`."""


def next_in(message: Any, role: str, seated: Collection[str]) -> str | None:
    """Return whom a message hands on to: its `next`, or the first role that its text names.

    A text names a role by `@ROLE`; the user, the executor and its own author it cannot name.

    Args:
        message: As `as_message` gives it.
        role: Who sends it; the user hands nothing on.
        seated: Roles in the chat.

    Raises:
        UsageError: Nobody sits where `next` hands on to.
    """
    if role == USER:
        return None
    named = message.get("next") if isinstance(message, dict) else None
    if named is None:
        text, _ = parts_of(message)
        among = set(seated) - {USER, EXECUTOR, role}
        return next((found[1] for found in _AT.finditer(text) if found[1] in among), None)
    if named not in seated:
        raise UsageError(
            f"role {role!r} hands on to {named!r}, which is not seated; "
            f"seated: {', '.join(sorted(seated))}"
        )
    return str(named)


def is_end(message: Any) -> bool:
    """Tell whether who sends a message, as `as_message` gives it, ends the chat by it."""
    return isinstance(message, dict) and message.get("done") is True


def text_of(content: Any) -> str:
    """Return the text of a content, which may have parts; of a number or a map, its words."""
    if not isinstance(content, list):
        return "" if content is None else str(content)
    texts = (part.get("text") if isinstance(part, dict) else part for part in content)
    return "\n".join(text for text in texts if isinstance(text, str))


def call_in(call: Mapping[str, Any], made: Mapping[str, ToolCall]) -> ToolCall:
    """Return a call of a message as it was made, or as hooks have changed it.

    Args:
        call: Of the message.
        made: Id to each call that is known.
    """
    function, known = call["function"], made.get(call.get("id", ""))
    name, text = str(function.get("name") or ""), function.get("arguments")
    if known is not None and (known.name, arguments_text(known)) == (name, text):
        return replace(known, id="")
    return parse_call(name, text)


def results_in(
    message: Any, known: Sequence[ToolResult], pending: Sequence[ToolCall]
) -> tuple[ToolResult, ...]:
    """Return the results that a message of the executor brings; words answer every call.

    Args:
        message: As `as_message` gives it.
        known: What the calls brought before somebody changed it; none where nothing ran.
        pending: The calls.
    """
    text, _ = parts_of(message)
    of_tools = isinstance(message, dict) and message.get("role") == "tool"
    told = message.get("tool_responses") if of_tools else None
    if not told:
        return tuple(ToolResult(call.id, text, value=text) for call in pending)
    results = known or [ToolResult(call.id, "") for call in pending]
    contents = _contents(told, [one.call_id for one in results])
    if len(results) == 1 and contents == {one.call_id: one.content for one in known}:
        contents = dict.fromkeys(contents, text)  # a hook may change the content alone
    return tuple(replace(one, content=contents[one.call_id]) for one in results)


def _contents(told: Any, ids: Sequence[str]) -> dict[str, str]:
    """Return the id of each call with what it brought; one without an id answers the next call.

    Raises:
        UsageError: What is told is no list of results, or not one of each call.
    """
    listed = told if isinstance(told, list | tuple) else [told]
    if not all(isinstance(one, Mapping) for one in listed):
        raise UsageError(
            f"role {EXECUTOR!r} sent the tool_responses {shortened(told)}; expected a list of "
            '{"tool_call_id": "...", "role": "tool", "content": "..."}, one of each call'
        )
    named = {str(one["tool_call_id"]) for one in listed if one.get("tool_call_id")}
    free = iter([call_id for call_id in ids if call_id not in named])
    contents = {
        str(one.get("tool_call_id") or next(free, "")): text_of(one.get("content"))
        for one in listed
    }
    if contents.keys() != set(ids):
        raise UsageError(
            f"role {EXECUTOR!r} sent results of {', '.join(map(repr, contents))}; "
            f"expected one of each call of the last message: {', '.join(map(repr, ids))}"
        )
    return contents


def heard_steps(
    messages: Sequence[Mapping[str, Any]],
    seen: Sequence[Sequence[Step]],
    shown: Sequence[Mapping[str, Any]],
    role: str,
) -> list[Step]:
    """Return the steps that messages stand for, after hooks have changed, dropped or added some.

    Args:
        messages: As they are after hooks.
        seen: The steps of each message as it was.
        shown: These messages.
        role: Who hears them.
    """
    heard: list[Step] = []
    aligned = len(messages) == len(shown)
    next_place = 0
    for number, message in enumerate(messages):
        places = [number] if aligned else range(next_place, len(shown))
        place = next((n for n in places if shown[n] == message), None)
        if place is not None:
            next_place = place + 1
            heard += seen[place]
        elif aligned and message.get("role") == shown[number].get("role"):
            heard += _changed(seen[number], message, shown[number], role)
        else:
            heard += _added(message, role, -2 - number, seen[-1][-1].goal if seen else 0)
    return heard


def _author(message: Mapping[str, Any], role: str) -> str:
    """Return who says a message that a role hears, by the message's own kind and name."""
    kinds = {"system": SYSTEM, "assistant": role, "tool": EXECUTOR}
    return kinds.get(str(message.get("role"))) or str(message.get("name") or USER)


def _added(message: Mapping[str, Any], role: str, turn: int, goal: int) -> list[Step]:
    """Return the steps of a message that nobody in the chat has sent."""
    author, text = _author(message, role), text_of(message.get("content"))
    step = Step(0, author, EXECUTOR if author == role else role, text, turn=turn, goal=goal)
    if message.get("role") == "tool":
        results = [
            ToolResult(str(one.get("tool_call_id", "")), text_of(one.get("content")))
            for one in message.get("tool_responses") or (message,)
        ]
        return [replace(step, content=one.content, result=one) for one in results]
    calls = [replace(call_in(c, {}), id=c.get("id", "")) for c in message.get("tool_calls") or ()]
    if author != role or not calls:
        return [step]
    return [
        replace(step, content="" if number else text, call=call)
        for number, call in enumerate(calls)
    ]


def _changed(
    steps: Sequence[Step], message: Mapping[str, Any], was: Mapping[str, Any], role: str
) -> list[Step]:
    """Return the steps of a message with the text that it has now.

    Args:
        steps: Of the message as it was.
        message: As it is.
        was: As it was.
        role: Who hears it.
    """
    told = message.get("tool_responses") or ()
    contents = {str(one.get("tool_call_id")): text_of(one.get("content")) for one in told}
    text = text_of(message.get("content"))
    changed = []
    for number, step in enumerate(steps):
        content = text if number == 0 else ""
        if step.result is not None and len(steps) > 1:
            content = contents.get(step.result.call_id, step.content)
        changed.append(replace(step, content=content))
    if message.get("name") != was.get("name") and message.get("role") == "user":
        author = _author(message, role)  # it is from somebody else than before
        changed = [replace(step, author=author, recipient=role) for step in changed]
    return changed
