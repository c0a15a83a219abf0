"""What a model can do: make a call, make several at once, use results; in each format.

Three small requests a format, of which two ask for calls and one holds a result. What a model makes
up cannot pass: the values that it must state stand in the result alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from seal.core import (
    ChatModel,
    Completion,
    Message,
    Request,
    RequestError,
    Tool,
    ToolCall,
    UsageError,
    shortened,
)
from seal.core.formats import Format, ToolMessages, repairs_of
from seal.core.plain import json_text
from seal.models.presentation import MANAGER, Presentation, presented

Answer = Literal["yes", "no", "refused"]
"""refused: the server does not take such a request at all."""

_WAYS: Sequence[tuple[Format, ToolMessages]] = (
    ("native", "native"),
    ("native", "text"),
    ("action", "text"),
    ("json", "text"),
)
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
    Tool(
        "probe/population",
        "get_population",
        "Number of people who live in a city.",
        _CITY,
    ),
)
_RULES = Message(
    "system", "You answer by calling the tools that you are given, and by their results."
)
_ONE = "What is the air temperature in Bern now, and which station measured it?"
_TWO = "What are the air temperatures in Bern and in Oslo now? Look both up at once."
_RESULT = {"temperature": 17.4, "unit": "C", "station": "QUILL-83"}


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
    tool_messages: ToolMessages
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
        raise UsageError(f"{spec!r} plays tasks: it calls what they ask for, and cannot be probed")
    found: dict[Format, tuple[Ability, Ability]] = {}
    ways = []
    for format, results in _WAYS:
        asked = presented(model, spec, Presentation(format, results))
        if format not in found:
            found[format] = (
                _tried(asked, _asking(_ONE), partial(_calls_for, cities={"bern"})),
                _tried(asked, _asking(_TWO), partial(_calls_for, cities={"bern", "oslo"})),
            )
        told = _tried(asked, _with_result(), _uses_result)
        ways.append(Way(format, results, *found[format], told))
    return ways


def best(ways: Sequence[Way]) -> Way | None:
    """Return the first way that works; None where none does."""
    return next((way for way in ways if way.works), None)


def _asking(text: str) -> tuple[Message, ...]:
    return (_RULES, Message("user", text))


def _with_result() -> tuple[Message, ...]:
    call = ToolCall("call_0", _TOOLS[0].name, {"city": "Bern"})
    result = Message("tool", json_text(_RESULT), call_id="call_0")
    return (*_asking(_ONE), Message("assistant", "", (call,)), result)


def _tried(
    model: ChatModel, messages: tuple[Message, ...], check: Callable[[Completion], Ability]
) -> Ability:
    try:
        return check(model.complete(Request(messages, _TOOLS, MANAGER)))
    except RequestError as error:
        return Ability("refused", str(error))


def _calls_for(answer: Completion, cities: set[str]) -> Ability:
    if not _cities(answer.calls) >= cities:
        return Ability("no", _said(answer))
    return Ability("yes", _repairs(answer.calls))


def _uses_result(answer: Completion) -> Ability:
    stated = all(str(_RESULT[name]) in answer.content for name in ("temperature", "station"))
    return Ability("yes", "") if stated and not answer.calls else Ability("no", _said(answer))


def _cities(calls: Sequence[ToolCall]) -> set[str]:
    """Return the cities whose temperature is asked for, in lower case, without their country."""
    given = [call.arguments or {} for call in calls if call.name == _TOOLS[0].name]
    return {str(arguments.get("city")).partition(",")[0].casefold() for arguments in given}


def _repairs(calls: Sequence[ToolCall]) -> str:
    found = dict.fromkeys(repair for call in calls for repair in repairs_of(call))
    return f"repaired: {', '.join(found)}" if found else ""


def _said(answer: Completion) -> str:
    """Return what a model did instead of what was asked."""
    made = [f"{call.name}({call.raw or json_text(call.arguments)})" for call in answer.calls]
    if made:
        return f"called {', '.join(made)}"[:_LONGEST]
    return f"said {shortened(answer.content)}" if answer.content.strip() else "said nothing"
