"""The stand-in's next act, API and slot values, by words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Any

import orjson

from seal.benchmarks.dialogtool.tool_life import TODAY, UNKNOWN, needs_tool, write_act
from seal.core import JSON, Completion, Message, Request, Tool, ToolCall
from seal.core.quantities import Time, days, read
from seal.core.text import words
from seal.core.values import json_value
from seal.models.fill import Span, spans
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
# Later words count before earlier ones. An argument takes one of its listed values if the user
# names it. Else it takes what its kind says: a date of the year 2019, a time, a number, yes or no.
# Else it takes what an earlier result or request has under the same name and the dialogue names.
# Last comes a name that answers a question about it, or stands after a preposition that goes with
# it.

_TODAY = date.fromisoformat(TODAY)
_PLACES = frozenset({"city", "location", "area", "destination", "place", "where"})
_FROM = frozenset({"from", "origin", "departure", "leaving", "source", "pickup", "start"})
_TO = frozenset({"to", "destination", "arrival", "going"})
_DONT_CARE = re.compile(
    r"\b(?:any(?:thing|where|time)?(?: is| will be| would be)? (?:fine|okay|ok|good|works)"
    r"|don'?t (?:care|mind)|doesn'?t matter|no preference|whatever)\b",
    re.IGNORECASE,
)


def told(tool: Tool, messages: Sequence[Message]) -> dict[str, JSON]:
    """Return the arguments of an API that a dialogue tells.

    Args:
        tool: The API.
        messages: The dialogue, with earlier requests and results.
    """
    dialogue = _Dialogue(messages)
    required = set(tool.parameters.get("required", ()))
    found: dict[str, JSON] = {}
    for name, schema in tool.parameters.get("properties", {}).items():
        named = frozenset(words(name))
        kind = _kind(named, schema)
        value = dialogue.value(name, named, kind, schema)
        if value is None and kind == "text" and name in required:
            value = dialogue.name(named, {str(value) for value in found.values()})
        if value is not None:
            found[name] = value
    return found


class _Dialogue:
    """What was said and found, the latest first."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._exchanges = list(_exchanges(messages))
        self._known = list(_known(messages))

    def value(self, name: str, named: frozenset[str], kind: str, schema: Mapping[str, Any]) -> JSON:
        """Return the value of an argument of some kind; None: nobody told it."""
        for before, said in self._exchanges:
            asked = bool(named & set(words(before))) and before.rstrip().endswith("?")
            value = _read(kind, named, schema, said, asked)
            if value is not None:
                return value
        return self._shown(name, named) if kind in ("text", "date", "time") else None

    def _shown(self, name: str, named: frozenset[str]) -> JSON:
        """Return what an earlier result or request has under this name, or one that ends so.

        The dialogue must name the value; the latest words come first.
        """
        rows = (value for row in self._known for value in _under(name, named, row))
        texts = [v for v in rows if isinstance(v, str) and len(v) > 2]
        for before, said in self._exchanges:
            text = f"{said}\n{before}".casefold()
            for value in texts:
                if value.casefold() in text:
                    return value
        return None

    def name(self, named: frozenset[str], taken: set[str]) -> str | None:
        """Return a name that answers a question about an argument, or stands where it would."""
        for before, said in self._exchanges:
            names = [span for span in _spans(said) if span.kind in ("name", "quoted")]
            free = [span for span in names if span.text not in taken]
            cued = next((span for span in free if _fits(named, span, said)), None)
            if cued is not None:
                return cued.text
            if free and before.rstrip().endswith("?") and named & set(words(before)):
                return free[0].text
        return None


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


def _kind(named: frozenset[str], schema: Mapping[str, Any]) -> str:
    declared = schema.get("type")
    if declared in ("boolean", "integer"):
        return str(declared)
    if schema.get("enum"):
        return "choice"
    return next((kind for kind in ("date", "time") if kind in named), "text")


def _read(
    kind: str, named: frozenset[str], schema: Mapping[str, Any], said: str, asked: bool
) -> JSON:
    if kind == "choice":
        return _choice(tuple(map(str, schema["enum"])), said)
    if kind == "date":
        return _date(said)
    if kind == "time":
        return _time(said)
    if kind == "integer":
        return _integer(named, schema, said, asked)
    return _yes_or_no(named, said, asked) if kind == "boolean" else None


def _choice(values: tuple[str, ...], said: str) -> str | None:
    """Return the listed value that a text names, whole or by the word that only it has."""
    folded = f" {' '.join(words(said))} "
    named = [value for value in values if f" {' '.join(words(value))} " in folded]
    if named:
        return max(named, key=len)
    spoken = set(folded.split())
    marks = _marks(values)
    return next((value for value in values if spoken & marks[value]), None)


@lru_cache(maxsize=1024)
def _marks(values: tuple[str, ...]) -> dict[str, frozenset[str]]:
    """Return each value's words of five letters or more that no other value has."""
    parts = {value: {word for word in words(value) if len(word) > 4} for value in values}
    return {
        value: frozenset(own.difference(*(w for other, w in parts.items() if other != value)))
        for value, own in parts.items()
    }


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


def _integer(
    named: frozenset[str], schema: Mapping[str, Any], said: str, asked: bool
) -> int | None:
    """Return the number that stands beside the argument's words, or answers a question for it."""
    allowed = schema.get("enum")
    people = bool(named & {"guests", "riders", "people", "passengers", "seats", "party", "size"})
    whole = read(said)
    for value, start, end, *_ in whole.tokens:
        if not isinstance(value, Decimal) or value != value.to_integral_value():
            continue
        if allowed and value not in allowed:
            continue
        after = set(words(whole.plain[end : end + 30])[:2])
        before = set(words(whole.plain[max(0, start - 20) : start])[-2:])
        beside = {word.rstrip("s") for word in after}
        fits = bool(beside & {word.rstrip("s") for word in named if len(word) > 2})
        of_people = people and bool(
            beside & {"people", "person", "guest", "passenger", "of", "ticket"} or "for" in before
        )
        if asked or fits or of_people:
            return int(value)
    if people and re.search(r"\b(?:just (?:me|myself)|by myself|alone|only me)\b", said, re.I):
        return 1
    return None


def _yes_or_no(named: frozenset[str], said: str, asked: bool) -> bool | None:
    wanted = {w for w in named if len(w) > 3 and w not in ("has", "with", "include", "allowed")}
    spoken = {word.rstrip("s") for word in words(said)}
    mentioned = bool({w.rstrip("s") for w in wanted} & spoken)
    if not mentioned and not asked:
        return None
    if asked and _DONT_CARE.search(said):
        return None
    negative = re.search(r"\b(?:no|nope|not|don'?t|without|doesn'?t)\b", said, re.IGNORECASE)
    return not negative


def _under(name: str, named: frozenset[str], row: Mapping[str, JSON]) -> Iterator[JSON]:
    if name in row:
        yield row[name]
        return
    last = name.rpartition("_")[2]
    for key, value in row.items():
        if key.rpartition("_")[2] == last or named & {"location", "city", "area"} & set(words(key)):
            yield value


@lru_cache(maxsize=4096)
def _spans(text: str) -> tuple[Span, ...]:
    return tuple(spans(text))


def _fits(named: frozenset[str], span: Span, said: str) -> bool:
    """Tell whether the words before a name go with the argument."""
    before = words(said[max(0, span.start - 30) : span.start])[-2:]
    if named & set(before):
        return True
    last = before[-1] if before else ""
    if named & _FROM:
        return last == "from"
    if named & _TO:
        return last in ("to", "for", "in")
    return bool(named & _PLACES) and last in ("in", "at", "near", "around")
