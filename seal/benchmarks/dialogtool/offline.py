"""The stand-ins: who plays which role offline (words, gold, chance), what is decided and said."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from functools import lru_cache
from random import Random
from typing import Any

import orjson

from seal.benchmarks.dialogtool import tool_life as life
from seal.benchmarks.dialogtool.api_code import ApiCase, oracle_written, rule_written, signature
from seal.benchmarks.dialogtool.tool_life import (
    ROLE_MARK,
    TODAY,
    UNKNOWN,
    Lesson,
    needs_tool,
    read_lesson,
    write_act,
)
from seal.core import JSON, Completion, Goal, Message, Request, Task, Tool, ToolCall
from seal.core.bracket_form import BracketForm
from seal.core.quantities import Time, days, read
from seal.core.text import shipped_json, words
from seal.core.values import derive_seed, json_text, json_value
from seal.models.fill import fill
from seal.models.lexical import DONE, ToolChooser, without_author

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
    """Return the app that the dialogue asks for; `[]` where none is needed.

    The last words that tell a wish decide, then any, as for an API (`chosen`).
    """
    act, _ = next_act(request.messages)
    if not needs_tool(act) or act in _WITHOUT_CALL:
        return Completion(_NO_CALL)
    listed = request.messages[0].content
    chooser = ToolChooser([Tool(name, name, about) for name, about in _APP.findall(listed)])
    found = filter(None, map(chooser.choose, _latest_wishes(request.messages)))
    app = next(found, None)
    return Completion(f"[{app.name}]" if app is not None else _NO_CALL)


def _latest_wishes(messages: Sequence[Message]) -> Iterator[str]:
    """Yield what the user said, the latest first: before all else what tells a wish."""
    heard = [m.content for m in reversed(messages) if m.role == "user"]
    yield from filter(_WISH.search, heard)
    yield from heard


def chosen(messages: Sequence[Message], tools: Sequence[Tool], act: str) -> Tool | None:
    """Return the API that the dialogue asks for; None: none of them.

    The last words that tell a wish decide, then any. Words without one of the verbs of booking mean
    an API that changes nothing; an action that reports what was confirmed means one that does.
    """
    by_name = {tool.name: tool for tool in tools}
    for text in _latest_wishes(messages):
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
        yield from _rows(message.content) if message.role == "tool" else ()
        yield from (call.arguments or {} for call in message.calls)


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


# -- What an assistant says without a model: templates of words, restyled for a character.
#
# The words follow from action, request, result and state; the style from the features of a role's
# configuration alone.

_WORDS: Mapping[str, Mapping[str, str]] = shipped_json(__package__, "contractions.json")
_SHORT = _WORDS["both ways"]
_LONG = {short.lower(): long for words in _WORDS.values() for long, short in words.items()}
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_I = re.compile(r"\bi\b(?!\.)")


def act(request: Request) -> Completion:
    """Return the last message in the style of the role that the system message tells."""
    said = request.messages[-1].content
    system = next((m.content for m in request.messages if m.role == "system"), "")
    role = marked(system, ROLE_MARK)
    if role is None:
        return Completion(said)
    features = role.get("features")
    return Completion(restyled(said, features if isinstance(features, dict) else {}))


def marked(text: str, mark: str) -> dict[str, Any] | None:
    """Return the JSON object on the first line of a text that begins with a mark; None: none."""
    told = next((line for line in text.splitlines() if line.startswith(mark)), "")
    value = _json(told.removeprefix(mark))
    return value if isinstance(value, dict) else None


def _json(text: str) -> Any:
    """Return the value of a text; None where it is no JSON."""
    try:
        return json_value(text)
    except orjson.JSONDecodeError:
        return None


def restyled(text: str, features: Mapping[str, Any]) -> str:
    """Return a text that has the features of a role, its facts being the same.

    Args:
        text: What is to be said.
        features: As `seal.benchmarks.dialogtool.tool_life` lists them.
    """
    text = _with_contractions(text.strip(), features.get("contractions"))
    for word in features.get("avoid") or ():
        text = re.sub(
            rf"(?:(?<!\s)\s++)?\b{re.escape(word)}\b(?!')", "", text, flags=re.IGNORECASE
        ).strip(" ,")
    parts = [part[0].upper() + part[1:] for part in _SENTENCE.split(text) if part]
    sentences = [part if part[-1] in ".!?" else f"{part}." for part in parts]
    most = features.get("max_words")
    if most:
        sentences = [short for sentence in sentences for short in _cut(sentence, most)]
    text = _framed(" ".join(sentences), features)
    return _exclaimed(text, features.get("exclamations"))


def _with_contractions(text: str, wanted: bool | None) -> str:
    if wanted is None:
        return text
    table = _SHORT if wanted else _LONG
    text = text.replace("\u2019", "'")
    found = "|".join(map(re.escape, sorted(table, key=len, reverse=True)))

    def other(match: re.Match[str]) -> str:
        new = table[match[0].lower()]
        return new[0].upper() + new[1:] if match[0][0].isupper() else new

    return _I.sub("I", re.sub(rf"\b(?:{found})\b", other, text, flags=re.IGNORECASE))


def _cut(sentence: str, most: int) -> list[str]:
    """Return a sentence in parts of at most so many words, cut after a comma where there is one."""
    words = sentence.split()
    parts: list[str] = []
    while len(words) > most:
        commas = [n for n in range(1, most + 1) if words[n - 1].endswith((",", ";", ":"))]
        end = commas[-1] if commas else most
        parts.append(" ".join(words[:end]).rstrip(",;:") + ".")
        words = words[end:]
    return [*parts, " ".join(words)]


def _framed(text: str, features: Mapping[str, Any]) -> str:
    opening: Sequence[str] = features.get("opening") or ()
    closing: Sequence[str] = features.get("closing") or ()
    if opening and not text.startswith(tuple(opening)):
        text = f"{opening[0]} {text}"
    if closing and not text.endswith(tuple(closing)):
        text = f"{text} {closing[0]}"
    if features.get("question") and not text.endswith("?"):
        text = f"{text} Is that right?"
    return text


def _exclaimed(text: str, wanted: bool | None) -> str:
    if wanted is False:
        return text.replace("!", ".")
    if wanted and "!" not in text:
        return re.sub(r"\.(?=\s|$)", "!", text, count=1) if "." in text else f"{text}!"
    return text


_Row = Mapping[str, JSON]
_MOST_VALUES = 3


def respond(request: Request) -> Completion:
    """Return the words for what was decided; uses no tokens."""
    lesson = read_lesson(without_author(request.messages[-1].content))
    return Completion(in_words(lesson, request.messages[:-1]))


def in_words(lesson: Lesson, before: Sequence[Message]) -> str:
    """Return what is said to the user.

    Args:
        lesson: What was decided.
        before: The dialogue, for what was found earlier.
    """
    rows = _rows(lesson.result)
    found = rows or _found_before(before)
    said = _heard(before)
    match _called_for(lesson):
        case "request":
            named = " and ".join(f"the {' '.join(words(name))}" for name in _missing(lesson)[:2])
            return f"What is {named}?" if named else "Could you tell me more about what you want?"
        case "confirm":
            given = (_given(lesson) or _asked_before(before)).items()
            wanted = ", ".join(f"{' '.join(words(name))} {_text(value)}" for name, value in given)
            return f"I would go on with {wanted or 'what you said'}. Shall I go ahead?"
        case "inform_count":
            return f"I found {len(rows)} which you may like. {_suggested(rows)}"
        case "offer":
            return _suggested(rows)
        case "offer_alts":
            return _suggested(found[1:] or found)
        case "notify_success":
            return f"It is done. {_answered(rows, said)}".strip()
        case "notify_failure":
            return "I am sorry, that could not be done. Would you like to try something else?"
        case "inform":
            return _answered(found, said) or "I do not know that."
        case "offer_intent":
            return "Would you like me to book it?"
        case "goodbye":
            return "Have a great day."
    return "Is there anything else I can help you with?"


def _called_for(lesson: Lesson) -> str:
    """Return the action, or what an API that was not run asks for instead."""
    error = _object(lesson.result).get("error")
    if not error:
        return lesson.action
    if _missing(lesson):
        return "request"
    return "confirm" if "confirm" in str(error) else "notify_failure"


def _rows(text: str) -> list[_Row]:
    value = _json(text)
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _found_before(messages: Sequence[Message]) -> list[_Row]:
    found = (_rows(m.content) for m in reversed(messages) if m.role == "tool")
    return next((rows for rows in found if rows), [])


def _heard(messages: Sequence[Message]) -> str:
    return next((m.content for m in reversed(messages) if m.role == "user"), "")


def _given(lesson: Lesson) -> dict[str, JSON]:
    """Return the arguments of the request, else the values of the state."""
    calls = BracketForm().read(lesson.request).calls
    given = {k: v for call in calls for k, v in (call.arguments or {}).items()}
    if given:
        return given
    state = _object(lesson.state)
    return {k: v[0] if isinstance(v, list) and v else v for k, v in state.items()}


def _asked_before(messages: Sequence[Message]) -> dict[str, JSON]:
    """Return the arguments of the last request."""
    calls = (call for m in reversed(messages) for call in reversed(m.calls))
    return next((dict(call.arguments or {}) for call in calls), {})


def _object(text: str) -> dict[str, JSON]:
    value = _json(text)
    return value if isinstance(value, dict) else {}


def _missing(lesson: Lesson) -> list[str]:
    return [name for name, value in _given(lesson).items() if value == UNKNOWN]


def _suggested(rows: Sequence[_Row]) -> str:
    if not rows:
        return "I am sorry, I did not find any."
    first = next(iter(rows[0].values()), "")
    return f"How about {_text(first)}? {_sentences(dict(list(rows[0].items())[1:]))}".strip()


def _answered(rows: Sequence[_Row], asked: str) -> str:
    """Return the values of the first row that a question names."""
    if not rows:
        return ""
    wanted = set(words(asked))
    named = {k: v for k, v in rows[0].items() if wanted & set(words(k))}
    return _sentences(named)


def _sentences(values: Mapping[str, JSON]) -> str:
    told = list(values.items())[:_MOST_VALUES]
    return " ".join(f"The {' '.join(words(name))} is {_text(value)}." for name, value in told)


def _text(value: JSON) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else json_text(value)


# -- Which rule plays a role of the team without a model: by words, by gold, or by chance.

_USERS = ("user_simulator", "user", "executor")


def by_words(request: Request, task: Task) -> Completion | None:
    """Return what a role of the team says by rule; None for a role of another team."""
    play = _BY_WORDS.get(request.role)
    return None if play is None else play(request)


def by_gold(request: Request, task: Task) -> Completion | None:
    """Return what gold lets a role of the team say; None for a role of another team."""
    goal = task.goals[request.goal]
    match request.role:
        case "awareness":
            return Completion(life.write_act(str(goal.labels.get("act", "")), "as recorded"))
        case "requester":
            return _gold_request(goal, request) if request.tools else _gold_app(goal, request)
        case "responder":
            return Completion(_gold_reply(goal) or DONE)
        case "teacher":
            return Completion(_gold_lesson(goal, request.messages[-1].content).write())
        case "creator":
            return create_knowingly(request, task.metadata)
    return by_words(request, task)


def by_chance(request: Request, task: Task) -> Completion | None:
    """Return what a role says by chance; None for a role of another team, or where it is to call.

    The requester names an app, or says in half of the turns that it needs no API.
    """
    if request.role not in _BY_WORDS:
        return None
    draw = Random(derive_seed(request.seed, request.role, [m.content for m in request.messages]))
    if request.role == life.AWARENESS:
        return Completion(life.write_act(draw.choice(list(life.ACTS)), "by chance"))
    if request.role == life.REQUESTER and request.tools:
        return Completion("[]") if draw.random() < 0.5 else None
    if request.role == life.REQUESTER:
        apps = _apps(request)
        return Completion(f"[{draw.choice(apps)}]" if apps else "[]")
    if request.role == life.CREATOR:
        tool = _tool(request)
        return Completion(f"{signature(tool)}\n    return table\n" if tool is not None else "")
    return Completion(request.messages[-1].content if request.role == life.ACTOR else "Okay.")


def _apps(request: Request) -> list[str]:
    """Return the apps that a prompt lists, each in a line of its own, `- NAME: description`."""
    lines = request.messages[0].content.splitlines()
    return [line[2:].partition(":")[0] for line in lines if line.startswith("- ")]


def _gold_request(goal: Goal, request: Request) -> Completion:
    """Return the calls of the first plan, unknown values as `?`; `[]` where none is due."""
    named = {tool.id: tool.name for tool in request.tools}
    calls = tuple(
        ToolCall("", named.get(gold.tool, gold.tool), gold.canonical_arguments())
        for gold in (goal.plans[0].calls() if goal.plans else ())
    )
    return Completion(calls=calls) if calls else Completion("[]")


def _gold_app(goal: Goal, request: Request) -> Completion:
    """Return the app of the first gold call, of those that a prompt lists."""
    service = str(goal.labels.get("service", ""))
    wanted = [name for name in _apps(request) if name and service.startswith(name)]
    due = goal.plans and goal.plans[0].calls()
    return Completion(f"[{max(wanted, key=len)}]" if wanted and due else "[]")


def _gold_reply(goal: Goal) -> str:
    """Return what the assistant said in the end; empty where no reference says it."""
    said = [
        step.content
        for step in goal.reference
        if step.author not in _USERS
        and step.result is None
        and step.call is None
        and step.content.strip()
    ]
    return said[-1] if said else ""


def _gold_lesson(goal: Goal, asked: str) -> life.Lesson:
    """Return what a teacher is asked for: the reply, or all that was decided before it."""
    if asked == life.ASK_REPLY:
        return life.Lesson(reply=_gold_reply(goal))
    state: dict[str, Any] = goal.labels.get("state") or {}
    calls = (
        ToolCall("", gold.tool.rpartition("/")[2], gold.canonical_arguments())
        for gold in (goal.plans[0].calls() if goal.plans else ())
    )
    return life.Lesson(
        action=str(goal.labels.get("act", "")),
        request=" ".join(map(BracketForm().write, calls)),
        result=" ".join(step.content for step in goal.reference if step.result is not None),
        state=json_text(state.get("slot_values") or {}),
    )


def create(request: Request) -> Completion:
    """Return a function that filters the table by the arguments which are columns of it."""
    tool = _tool(request)
    return Completion(rule_written(tool) if tool is not None else "")


def create_knowingly(request: Request, metadata: Mapping[str, JSON]) -> Completion:
    """Return the function that reproduces most recorded calls.

    Args:
        request: The prompt.
        metadata: Of a task of creation; where it records nothing, the function is by rule.
    """
    tool, table, cases = _tool(request), metadata.get("table"), metadata.get("cases")
    if tool is None or not isinstance(table, list) or not isinstance(cases, list):
        return create(request)
    example = metadata.get("example")
    recorded = [ApiCase(case[0], case[1]) for n, case in enumerate(cases) if n != example]
    return Completion(oracle_written(tool, table, recorded))


def _tool(request: Request) -> Tool | None:
    """Return the API whose document the prompt holds; None where there is none."""
    text = "\n".join(message.content for message in request.messages)
    document = marked(text, life.DOCUMENT_MARK) or {}
    parameters, returns = document.get("parameters"), document.get("returns")
    if not isinstance(parameters, dict):
        return None
    return Tool("", str(document.get("name", "")), parameters=parameters, returns=returns)


def _say_nothing(request: Request) -> Completion:
    return Completion()


_BY_WORDS: Mapping[str, Callable[[Request], Completion]] = {
    life.AWARENESS: be_aware,
    life.REQUESTER: ask_api,
    life.RESPONDER: respond,
    life.ACTOR: act,
    life.CREATOR: create,
    life.TEACHER: _say_nothing,
}
