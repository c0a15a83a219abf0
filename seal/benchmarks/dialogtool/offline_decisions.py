"""The stand-in's next act, API and slot values, by words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from functools import lru_cache
from typing import Any

import orjson

from seal.benchmarks.dialogtool.tool_life import TODAY, UNKNOWN, needs_tool, write_act
from seal.core import JSON, Completion, Message, Request, Tool, ToolCall
from seal.core.quantities import Time, days, read
from seal.core.text import words
from seal.core.values import json_value
from seal.models.fill import fill
from seal.models.lexical import ToolChooser

# -- What an assistant does next, and which API it asks, by the words of user and assistant.
#
# The API is the one that shares most words with what the user said last and names its wish. If the
# last words name none, what was said before decides. Its arguments are chosen as said below;
# required ones that nobody has told are `?`.


def _said(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_YES = _said(
    r"^\W*(?:yes|yeah|yep|yup|sure|correct|right|exactly|of course|please do|go ahead|ok|okay)\b",
    r"\b(?:that'?s|that is|it'?s|is|looks|sounds|all) (?:perfectly )?"
    r"(?:correct|right|good|great|fine|perfect|accurate)\b",
    r"\b(?:go ahead|that works|works for me|proceed|perfect|sounds good|got it right)\b",
)
_NO = _said(
    r"^\W*(?:no|nope|nah|not|never ?mind|hold)\b",
    r"\b(?:actually|instead|maybe later|not (?:now|yet|really|at the moment))\b",
    r"\b(?:hold (?:on|off)|don'?t)\b",
    r"\bchange\b",
)
_DONE = _said(
    r"\b(?:bye|good ?bye)\b",
    r"\bthat'?(?:s| is| was| will be|'?ll be|ll be) (?:all|it|everything)\b",
    r"\b(?:nothing|no) (?:else|more)\b",
    r"\ball i (?:need|want)",
    r"\bnothing\b|\bi'?m (?:all )?(?:set|good|done)\b|\bthat'?s about it\b|\bthat (?:is|was) all\b",
)
_OTHERS = _said(
    r"\b(?:any ?(?:thing|body|one|where)?|some ?(?:thing|one)|what|where|who) else\b",
    r"\b(?:another|any others?|any more|others?|different|alternatives?|next one|more options)\b",
)
_WISH = _said(
    r"\bi(?:'d| would) (?:like|love|want)|\bi (?:want|need|wish)",
    r"\bi'?m (?:looking|trying|planning)",
    r"\b(?:find|search|book|reserve|buy|get|look|looking|check|schedule|make|play|rent|show|give|"
    r"help|transfer|request|send|watch|add|set) "
    r"(?:me|up|out|for|a|an|some|the|any|it|one|another)\b",
    r"\b(?:can|could|would|will) you\b",
)
_ASKING = _said(
    r"\?", r"^\W*(?:and )?(?:what|where|when|which|who|how|is|are|does|do|did|may|can|tell me)\b"
)
_THANKS = _said(
    r"\bthank", r"\bthanks\b", r"\bappreciate", r"\bcool\b", r"^\W*(?:ok|okay|alright)\W*$"
)
_LIKED = _said(
    r"\b(?:good|great|perfect|nice|awesome|fine|like|love|works|wonderful|excellent|ideal|sweet)\b"
)
_CONFIRMING = _said(
    r"\bconfirm|\bshall i go ahead\b",
    r"\b(?:correct|right|okay|ok|is that so)\W*$",
    r"\b(?:is (?:that|this|it|everything) (?:all )?(?:correct|right|ok|okay|alright|fine))\b",
    r"\bdo i understand\b",
)
_MORE = _said(
    r"\b(?:anything|something|what|some thing|any thing) (?:else|more|further)\b",
    r"\b(?:further|any (?:more|other)|more) (?:help|assistance|requests?|questions?)\b",
    r"\b(?:help|assist|do for) (?:you )?(?:with )?(?:any|some|in any)",
)
_PROPOSING = _said(
    r"\b(?:would you like|do you want|do you wish|shall i|should i|may i|want me)\b"
    r"(?=.*\b(?:book|buy|reserve|reservation|purchase|schedule|make|get|play|watch|rent|tickets?|"
    r"appointment|secure|proceed|go ahead|hire|visit)\b)"
)
_MADE = _said(
    r"\b(?:booked|reserved|confirmed|purchased|bought|successful|successfully|on (?:its|the) way|"
    r"has been|have been|all set|done|was made|is made|is set|is playing|started|sent)\b"
)


def be_aware(request: Request) -> Completion:
    """Return the action that the words speak for; uses no tokens."""
    return Completion(write_act(*next_act(request.messages)))


def next_act(messages: Sequence[Message]) -> tuple[str, str]:
    """Return an action and why it is taken.

    Args:
        messages: The dialogue; the user spoke last.
    """
    said = next((m.content for m in reversed(messages) if m.role == "user"), "")
    words = (m.content for m in reversed(messages) if m.role == "assistant" and m.content)
    before = next(words, "")
    asked = before.rstrip().endswith("?")
    if not before:
        return "request", "the user begins with a wish"
    if _CONFIRMING.search(before) and not _MORE.search(before):
        if _NO.search(said) or not _YES.search(said):
            return "confirm", "the user changed what is to be confirmed"
        return "notify_success", "the user confirmed"
    if _DONE.search(said):
        return "goodbye", "the user is done"
    if _MORE.search(before) and (_NO.search(said) or _THANKS.search(said)):
        return "goodbye", "the user needs nothing else"
    if _PROPOSING.search(before) and not _WISH.search(said):
        if _NO.search(said):
            return "req_more", "the user declined"
        return ("request", "the user agreed") if _YES.search(said) else ("confirm", "values came")
    if not asked or _LIKED.search(said) or _OTHERS.search(said):
        return _after_offer(said, before)
    if _ASKING.search(said) and not _WISH.search(said):
        return "inform", "the user asks about what was found"
    return "offer", "the user gave what was asked for"


def _after_offer(said: str, before: str) -> tuple[str, str]:
    """Return what follows a statement, or a suggestion."""
    if _OTHERS.search(said) and not re.search(r"\b(?:also|another thing)\b", said, re.IGNORECASE):
        return "offer_alts", "the user wants to see another one"
    if _WISH.search(said) and not re.search(r"\b(?:tell|know)\b", said, re.IGNORECASE):
        return "request", "the user has a wish"
    if _ASKING.search(said):
        return "inform", "the user asks about what was found"
    if _MADE.search(before) or _THANKS.search(said):
        return "req_more", "the user was served"
    if _LIKED.search(said):
        return "offer_intent", "the user likes what was found"
    return "offer", "the user told more"


_APP = re.compile(r"^- ([^:\n]+): (.*)$", re.MULTILINE)
_BOOKING = re.compile(
    r"\b(?:book|reserv\w*|buy|purchas\w*|rent|schedul\w*|appointment|transfer|pay|send|play|"
    r"tickets?|make a|set (?:an?|the|up)|add|order|share|request)\b",
    re.IGNORECASE,
)
_NO_CALL = "[]"
_WITHOUT_CALL = frozenset({"confirm"})
"""Actions that have to do with an API and call none."""


def ask_api(request: Request) -> Completion:
    """Return a call, or `[]` where none is needed; uses no tokens."""
    if not request.tools:
        return _opened(request)
    act, _ = next_act(request.messages)
    if not needs_tool(act) or act in _WITHOUT_CALL:
        return Completion(_NO_CALL)
    tool = chosen(request.messages, request.tools, act)
    if tool is None:
        return Completion(_NO_CALL)
    arguments = told(tool, request.messages)
    required = [str(name) for name in tool.parameters.get("required", ())]
    missing = {name: UNKNOWN for name in required if name not in arguments}
    given: dict[str, JSON] = {**arguments, **missing}
    ordered = {name: given[name] for name in tool.parameters.get("properties", {}) if name in given}
    return Completion(calls=(ToolCall("", tool.name, ordered),))


def _opened(request: Request) -> Completion:
    """Return the app whose description shares most words with what the user said."""
    listed = request.messages[0].content
    apps = [Tool(name, name, about) for name, about in _APP.findall(listed)]
    app = ToolChooser(apps).choose(request.messages[-1].content)
    return Completion(f"[{app.name}]" if app is not None else _NO_CALL)


def chosen(messages: Sequence[Message], tools: Sequence[Tool], act: str) -> Tool | None:
    """Return the API that the dialogue asks for; None: none of them.

    The last words that tell a wish decide, then any. Words without one of the verbs of booking mean
    an API that changes nothing; an action that reports what was confirmed means one that does.
    """
    heard = [m.content for m in messages if m.role == "user"]
    wishes = [text for text in heard if _WISH.search(text)]
    by_name = {tool.name: tool for tool in tools}
    for text in (*reversed(wishes), *reversed(heard)):
        changing = act == "notify_success" or _BOOKING.search(text) is not None
        found = _found(text, tools, changing)
        if found is not None:
            return by_name[found.name]
    called = [call.name for m in messages for call in m.calls if call.name in by_name]
    return by_name[called[-1]] if called else None


def _found(text: str, tools: Sequence[Tool], changing: bool) -> Tool | None:
    """Return the API that a text means, of those that change something or of the others."""
    wanted = [tool for tool in tools if (tool.source.get("transactional") is True) == changing]
    return _chooser(
        tuple((tool.name, f"{tool.description} {tool.category}") for tool in wanted or tools)
    ).choose(text)


@lru_cache(maxsize=256)
def _chooser(documents: tuple[tuple[str, str], ...]) -> ToolChooser:
    return ToolChooser([Tool(name, name, about) for name, about in documents])


# -- Values of an API's arguments, as a dialogue tells them.
#
# Later words count before earlier ones. Dates and times are read as of the day of every dialogue.
# All other values are found as the model `lexical` finds them (`seal.models.fill`), first of all
# those that the assistant has just asked for. What nobody said is taken from an earlier result or
# request that has it under the same name, if the dialogue names it.

_TODAY = date.fromisoformat(TODAY)


def told(tool: Tool, messages: Sequence[Message]) -> dict[str, JSON]:
    """Return the arguments of an API that a dialogue tells.

    Args:
        tool: The API.
        messages: The dialogue.
    """
    properties = tool.parameters.get("properties", {})
    numbers = [
        name
        for name in tool.parameters.get("required", ())
        if properties.get(name, {}).get("type") in ("integer", "number")
    ]
    exchanges = list(_exchanges(messages))
    found: dict[str, JSON] = {}
    for before, said in exchanges:
        asked = set(words(before)) if before.rstrip().endswith("?") else set()
        left = {name: schema for name, schema in properties.items() if name not in found}
        for name in left.keys() - _others(left):
            moment = _date(said) if "date" in words(name) else _time(said)
            found |= {name: moment} if moment is not None else {}
        others = {name: left[name] for name in _others(left)}
        wanted = [name for name in others if name in numbers or asked & set(words(name))]
        schema = {"type": "object", "properties": others, "required": wanted}
        found |= fill(schema, said).arguments
    for name in properties.keys() - found.keys():
        shown = _shown(name, messages, "\n".join(map("\n".join, exchanges)).casefold())
        found |= {name: shown} if shown is not None else {}
    return found


def _others(properties: Mapping[str, Any]) -> list[str]:
    """Return the arguments that are neither dates nor times."""
    return [name for name in properties if {"date", "time"}.isdisjoint(words(name))]


def _exchanges(messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
    """Yield (what the assistant said before, what the user said), the latest first."""
    pairs = []
    before = ""
    for message in messages:
        if message.role == "user":
            pairs.append((before, message.content))
        elif message.role == "assistant" and message.content:
            before = message.content
    return reversed(pairs)


def _shown(name: str, messages: Sequence[Message], dialogue: str) -> JSON:
    """Return the latest text of a result or request under this name that the dialogue names."""
    texts = (row.get(name) for row in _known(messages))
    named = (v for v in texts if isinstance(v, str) and len(v) > 2 and v.casefold() in dialogue)
    return next(named, None)


def _known(messages: Sequence[Message]) -> Iterator[Mapping[str, JSON]]:
    """Yield rows of results and arguments of requests, the latest first."""
    for message in reversed(messages):
        if message.role == "tool":
            try:
                rows = json_value(message.content)
            except orjson.JSONDecodeError:
                continue
            if isinstance(rows, list):
                yield from (row for row in rows if isinstance(row, dict))
        for call in message.calls:
            yield call.arguments or {}


def _date(said: str) -> str | None:
    """Return the first day that a text names; a month or year that it does not tell is today's."""
    for day, *_ in days(read(said), _TODAY):
        with suppress(ValueError):
            return date(day.year or _TODAY.year, day.month or _TODAY.month, day.day).isoformat()
    return None


def _time(said: str) -> str | None:
    whole = read(said)
    times = (value for value in whole.values if isinstance(value, Time))
    named = (f"{time.hour:02d}:{time.minute:02d}" for time in times)
    return next(named, "10:00" if "morning" in whole.plain else None)
