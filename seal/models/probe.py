"""What a model can do: make a call, make several at once, use results; in each format.

Three small requests a format, of which two ask for calls and one holds a result. What a model makes
up cannot pass: the values that it must state stand in the result alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from seal.core import (
    ChatModel,
    Completion,
    Message,
    ModelError,
    Request,
    RequestError,
    Tool,
    ToolCall,
    UsageError,
    shortened,
)
from seal.core.call_formats import Format, in_text, repairs_of
from seal.core.values import json_text
from seal.models.presentation import MANAGER, Presentation, presented
from seal.models.profiles import Profile, save, saved_at
from seal.models.server_model import ServerModel

Answer = Literal["yes", "no", "refused"]
"""refused: the server does not take such a request at all."""

_WAYS: Sequence[Format] = ("native", "native-text", "action", "json")
"""The better ones first."""
_CITY = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "Name of the city."}},
    "required": ["city"],
}
_TOOLS = (
    Tool(
        "probe/temperature",
        "get_temperature",
        "Air temperature measured in a city now, and the station that measured it.",
        _CITY,
    ),
    Tool("probe/population", "get_population", "Number of people who live in a city.", _CITY),
)
_RULES = Message(
    "system", "You answer by calling the tools that you are given, and by their results."
)
_RESULT = {"temperature": 17.4, "unit": "C", "station": "QUILL-83"}
_CALLS = tuple(ToolCall(f"call_{n}", _TOOLS[0].name, {"city": "Bern"}) for n in range(2))
_BACK = tuple(Message("tool", json_text(_RESULT), call_id=call.id) for call in _CALLS)
_ONE = (
    _RULES,
    Message("user", "What is the air temperature in Bern now, and which station measured it?"),
)
_TWO = (
    _RULES,
    Message("user", "What are the air temperatures in Bern and in Oslo now? Look both up at once."),
)
_ANSWERED = (*_ONE, Message("assistant", "", _CALLS[:1]), _BACK[0])


_LONGEST = 200
"""Characters of what a model did that are told."""


@dataclass(frozen=True, slots=True)
class Ability:
    """Whether a model can do something."""

    answer: Answer
    said: str
    """What it did instead, or what the server said; for a yes, what was repaired."""


@dataclass(frozen=True, slots=True)
class Way:
    """What a model can do under one format."""

    format: Format
    tool_messages: Literal["native", "text"]
    calls: Ability
    parallel: Ability
    results: Ability

    @property
    def works(self) -> bool:
        """True where the model can be played so: it calls, and uses what comes back."""
        return self.calls.answer == self.results.answer == "yes"


def probe(model: Any, spec: Any) -> list[Way]:
    """Ask a model what it can do, ten requests in all.

    Args:
        model: As `build_model` gives it.
        spec: What it was asked for by.

    Raises:
        UsageError: The model plays tasks, of which there is none here.
        ModelError: The server cannot be reached, or takes no request at all.
    """
    if not hasattr(model, "complete"):
        raise UsageError(
            f"{str(spec)!r} plays tasks: it calls what they ask for, and cannot be probed"
        )
    found: dict[str, tuple[Ability, Ability]] = {}
    ways = []
    tried = partial(_tried, model if isinstance(model, ServerModel) else None)
    for format in _WAYS:
        asked = presented(model, spec, Presentation(format))
        calls = "native" if format == "native-text" else format
        if calls not in found:
            found[calls] = (
                tried(asked, _ONE, partial(_calls_for, cities={"bern"})),
                tried(asked, _TWO, partial(_calls_for, cities={"bern", "oslo"})),
            )
        told = tried(asked, _ANSWERED, _uses_result)
        ways.append(Way(format, "native" if format == "native" else "text", *found[calls], told))
    return ways


_GO = Message("user", "Say hello.")
_MORE = Message("user", "Now.")
_SAID = Message("assistant", "Hello.")
_NOTE = Message("system", "Be brief.")
_ONE_CALL = (_GO, Message("assistant", "", _CALLS[:1]), _BACK[0])
_SHAPES: Sequence[tuple[tuple[Message, ...], Mapping[str, Any]]] = (
    ((_NOTE, _GO), {"system": "none"}),
    ((_NOTE, _GO, _NOTE), {"system": "first"}),
    ((_GO, _MORE), {"alternates": True}),
    ((_SAID, _MORE), {"begins_with_user": True}),
    (_ONE_CALL, {"call_ids": "short"}),
    (_ONE_CALL, {"tool_messages": "text"}),
    ((_GO, Message("assistant", "", _CALLS), *_BACK), {"parallel_calls": False}),
    ((_GO, Message("assistant", "Look.", _CALLS[:1]), _BACK[0]), {"content_with_calls": False}),
    ((*_ONE_CALL, _MORE), {"alternates": True}),
)
"""Messages, and the rule that a server which refuses them may have; simpler ones first."""
_SHORT = 16
"""Tokens of an answer that only shows whether a request is taken."""


def rules_of(model: ServerModel, way: Way | None) -> Profile:
    """Return what a model takes: its profile, and what its server refuses, tried one by one.

    About a dozen small requests; the server's refusals are read, too, as in any run.

    Args:
        model: After `probe`.
        way: The best way of it; None: none works.

    Raises:
        ModelError: The server does not even take the shortest request.
    """
    profile = model.profile
    if way is not None and in_text(way.format):
        profile = replace(profile, tools=False)
    elif way is not None and way.tool_messages == "text":
        profile = replace(profile, tool_messages="text")
    model.profile = profile
    plain = Request((_GO,), max_tokens=_SHORT)
    fields = [("seed",), ("temperature",), ("seed", "temperature")]
    _require(model, plain, [{"without": (*profile.without, *names)} for names in fields])
    for messages, rule in _SHAPES:
        tools = _TOOLS if any(message.calls for message in messages) else ()
        if model.profile.tools or not tools:
            _require(model, replace(plain, messages=messages, tools=tools), [rule], False)
    no_mode = {"without": (*model.profile.without, "response_format")}
    modes: list[dict[str, Any]] = [{"json_mode": "schema"}, no_mode]
    _require(model, replace(plain, json_object=True), modes, False)
    context = model.context()
    return model.profile if context is None else replace(model.profile, context=context)


def saved(model: Any, way: Way | None) -> tuple[Path, str]:
    """Find out what a model takes, keep it for later runs, and return the file and its text.

    Args:
        model: After `probe`.
        way: The best way of it; None: none works.

    Raises:
        UsageError: No server plays the model.
        ModelError: The server does not even take the shortest request.
    """
    if not isinstance(model, ServerModel):
        raise UsageError(f"{model!r} has no profile; --save is for models that a server plays")
    rules = replace(rules_of(model, way), name=model.spec)
    path = saved_at(model.spec, model.place)
    save(rules, path)
    return path, rules.toml()


def _require(
    model: ServerModel, request: Request, rules: Sequence[Mapping[str, Any]], must: bool = True
) -> None:
    """Give a model's profile the first rule under which a request is taken, if it needs one.

    Raises:
        ModelError: It is taken under none, and must be.
    """
    before = model.profile
    failure: ModelError | None = None
    for rule in ({}, *rules):
        model.profile = before.with_learnt(**rule) if rule else before
        try:
            model.complete(request)
        except RequestError as error:
            failure = failure or error
        except ModelError as error:  # a fault of the server says nothing of the rule
            failure = error
            break
        else:
            return
    model.profile = before
    if must and failure is not None:
        raise failure


def best(ways: Sequence[Way]) -> Way | None:
    """Return the first way that works; None where none does."""
    return next((way for way in ways if way.works), None)


def _tried(
    served: ServerModel | None,
    asked: ChatModel,
    messages: tuple[Message, ...],
    check: Callable[[Completion], Ability],
) -> Ability:
    """Return what a model makes of a request.

    Args:
        served: The model, where its profile could put tools into words; here it must not.
        asked: The same model, as a format has it.
        messages: Of the request.
        check: What an answer shows.
    """
    if served is not None:
        served.profile = replace(served.profile, tools=True, tool_messages="native")
    try:
        answer = asked.complete(Request(messages, _TOOLS, MANAGER))
    except RequestError as error:
        return Ability("refused", str(error))
    if served is not None and not served.profile.tools:
        return Ability("refused", "the server takes no tools")
    return check(answer)


def _calls_for(answer: Completion, cities: set[str]) -> Ability:
    """Tell whether the temperature of cities is asked for, whatever their case and country."""
    given = [call.arguments or {} for call in answer.calls if call.name == _TOOLS[0].name]
    asked = {str(arguments.get("city")).partition(",")[0].casefold() for arguments in given}
    if not asked >= cities:
        return Ability("no", _said(answer))
    found = dict.fromkeys(repair for call in answer.calls for repair in repairs_of(call))
    return Ability("yes", f"repaired: {', '.join(found)}" if found else "")


def _uses_result(answer: Completion) -> Ability:
    stated = all(str(_RESULT[name]) in answer.content for name in ("temperature", "station"))
    return Ability("yes", "") if stated and not answer.calls else Ability("no", _said(answer))


def _said(answer: Completion) -> str:
    """Return what a model did instead of what was asked."""
    made = [f"{call.name}({call.raw or json_text(call.arguments)})" for call in answer.calls]
    if made:
        return f"called {', '.join(made)}"[:_LONGEST]
    return f"said {shortened(answer.content)}" if answer.content.strip() else "said nothing"
