"""Arguments from a text, by schema and without a model; slips of such calls.

A text names values: quoted strings, numbers, dates, names... each with its place. A value must be
valid under its property's schema, or it is not taken. Which value a property gets: enum values that
the text names; then what stands beside the property's words or after a preposition that goes with
it ("from", "to", "in"); then the schema's default; then the first value of a fitting kind that no
other property has.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

import orjson

from seal.core import JSON, Tool, ToolCall
from seal.core.quantities import MONTHS, NUMBER_WORDS, Day, read
from seal.core.schemas import is_sound, meets, required_names, validator_of
from seal.core.text import words
from seal.core.values import derive_seed, json_bytes, json_text, json_value

Kind = Literal["email", "url", "date", "time", "quoted", "code", "number", "name", "phrase"]

_DAY_WORD = (
    r"today|tomorrow|tonight|yesterday|(?:next |this )?"
    r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|week|weekend|month)"
)
_MONTH = "(?:" + "|".join([*MONTHS, *(month[:3] for month in MONTHS), "sept"]) + ")"
_NUMBER_WORD = "|".join(word for word, number in NUMBER_WORDS.items() if number > 1)
_CAPITAL = r"[A-ZÀ-ÖØ-Þ][\w'’&-]*"
_JOINT = "and|in|at|to|from|with"
_PATTERNS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("quoted", re.compile(r"\"([^\"]+)\"|“([^“”]+)”|`([^`]+)`|(?<!\w)['‘]([^'‘’]+)['’](?!\w)")),
    ("email", re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]+(?:\.[\w-]+)+")),
    ("url", re.compile(r"https?://[^\s<>\"]*[\w/]")),
    ("date", re.compile(r"\d{4}-\d{2}-\d{2}(?:T[\d:]+Z?)?|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}")),
    ("date", re.compile(rf"(?i)\b{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?\b")),
    ("date", re.compile(rf"(?i)\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}(?:,? \d{{4}})?\b")),
    ("date", re.compile(rf"(?i)\b(?:{_DAY_WORD})\b")),
    ("time", re.compile(r"(?i)\b\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]m)?\b|\b\d{1,2} ?[ap]m\b")),
    ("code", re.compile(r"\b[A-Z][A-Za-z]*-?\d[\w-]*\b|\b\d+(?:-\d+){2,}\b")),
    ("number", re.compile(r"(?<![\w.])[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?")),
    ("number", re.compile(rf"(?i)\b(?:{_NUMBER_WORD})\b")),
    ("name", re.compile(rf"{_CAPITAL}(?:(?: (?:of|de|la|the))? {_CAPITAL})*")),
    ("phrase", re.compile(rf"\b(?:for|of|on|about) ((?:(?!(?:{_JOINT})\b)\w+ ?){{1,4}})")),
)
_STARTERS = frozenset(
    words(
        "a an the there i we he she it they my our please what which who when where why how is are "
        "do does can could would will should find get give show tell list search fetch check book "
        "look suggest recommend convert calculate compute send set add create play order make "
        "need want also then and if in on at for from to with let help provide translate remind "
        "turn hi hello thanks call email schedule write read open close start stop delete remove "
        "update compare"
    )
)


@dataclass(frozen=True, slots=True)
class Span:
    """A value and where it stands."""

    kind: Kind
    text: str
    start: int
    end: int

    @property
    def number(self) -> int | float | None:
        """The value of a number's text; None for other texts."""
        if self.text.lower() in NUMBER_WORDS:
            return NUMBER_WORDS[self.text.lower()]
        try:
            value = float(self.text.replace(",", ""))
        except ValueError:
            return None
        if value.is_integer() and abs(value) < 2**53:
            return int(value)
        return value if abs(value) != float("inf") else None

    @property
    def iso_date(self) -> str | None:
        """The date as YYYY-MM-DD where the text gives day, month and year in a clear order."""
        days = [value for value in read(self.text).values if isinstance(value, Day)]
        return days[0].calendar.isoformat() if days and days[0].year else None


def spans(text: str) -> list[Span]:
    """Return the values of a text; no two of them overlap, but phrases may hold others.

    A word that begins a sentence and is no name ("Find", "What") is none.
    """
    found: list[Span] = []
    taken = bytearray(len(text))
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            for span in _found(kind, match, text):
                free = kind == "phrase" or not any(taken[span.start : span.end])
                if span.text and free:
                    found.append(span)
                    if kind != "phrase":
                        taken[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    return sorted(found, key=lambda span: (span.start, span.kind))


def _found(kind: Kind, match: re.Match[str], text: str) -> Iterator[Span]:
    if match.lastindex is not None:
        group = match.lastindex
        yield Span(kind, match[group].strip(), match.start(group), match.end(group))
    elif kind == "name":
        yield _without_starter(match, text)
    else:
        value = match.group().strip()
        yield Span(kind, value, match.start(), match.start() + len(value))


def _without_starter(match: re.Match[str], text: str) -> Span:
    """Return the name without the words before it that are capital for another reason."""
    start = match.start()
    value = match.group()
    while value:
        first, _, rest = value.partition(" ")
        if re.split("['’]", first.lower())[0] not in _STARTERS:
            break
        start += len(first) + (1 if rest else 0)
        value = rest
    return Span("name", value, start, start + len(value))


def as_json(span: Span, schema_type: str) -> JSON:
    """Return the span's value as a JSON type; None where it has none of that type."""
    if schema_type == "integer":
        number = span.number
        return number if isinstance(number, int) else None
    if schema_type == "number":
        return span.number
    return span.text


_PREPOSITIONS: Mapping[str, frozenset[str]] = {
    "from": frozenset(words("from origin source departure start sender base")),
    "to": frozenset(words("to destination target arrival end recipient receiver until")),
    "in": frozenset(words("city location place country region state town area language")),
    "at": frozenset(words("time place hotel restaurant venue location address")),
    "on": frozenset(words("date day")),
    "by": frozenset(words("author artist writer director creator")),
    "with": frozenset(words("name contact person")),
}
_KINDS: Mapping[Kind, frozenset[str]] = {
    "email": frozenset(words("email mail")),
    "url": frozenset(words("url link website uri")),
    "date": frozenset(words("date day birthday checkin checkout")),
    "time": frozenset(words("time hour")),
}
_CODES = frozenset(words("id code number zip zipcode postal phone isbn year version"))
_FREE_TEXT = frozenset(
    words(
        "query q text keyword keywords search term question prompt message content topic input "
        "expression sentence phrase body note title"
    )
)
_NEGATIONS = re.compile(r"\b(?:no|not|without|don't|never|exclude|excluding)\W+(?:\w+\W+){0,2}$")
_CUED, _NEAR = 3.0, 2.0
_CUE_SPAN = 300
"""Characters around a value in which its cue may stand."""


@dataclass(frozen=True, slots=True)
class FilledArguments:
    """Arguments that a text gives."""

    arguments: dict[str, JSON]
    missing: tuple[str, ...]
    """Required names for which the text has no value; then the arguments are no valid call."""


@dataclass(slots=True)
class _Source:
    """A text with the values in it, and which of them are taken."""

    text: str
    spans: list[Span]
    taken: set[int] = field(default_factory=set)

    def free(self) -> list[tuple[int, Span]]:
        return [(n, span) for n, span in enumerate(self.spans) if n not in self.taken]


def fill(schema: Mapping[str, Any], text: str, context: str = "") -> FilledArguments:
    """Return the arguments that a text gives for a tool's parameters.

    Args:
        schema: JSON Schema of the argument map.
        text: Where values are looked for first: one clause.
        context: Where the values of required names are looked for next: the whole request.
    """
    if not is_sound(schema) and not _is_schema(json_bytes(schema)):
        return FilledArguments({}, ("arguments",))
    arguments, missing = _fill_object(schema, _Source(text, spans(text)))
    if context and context != text:
        _complete(arguments, schema, _Source(context, spans(context)))
    for name, inner in _properties(schema).items():  # free text takes the clause as it stands
        free = name in missing and _type(inner) == "string" and _FREE_TEXT & set(words(name))
        if free and name not in arguments and text.strip() and _valid(text.strip(), inner):
            arguments[name] = text.strip()
    missing = [name for name in missing if name not in arguments]
    if missing:
        return FilledArguments(arguments, tuple(missing))
    if not _valid(arguments, schema):
        required = required_names(schema)
        arguments = {name: value for name, value in arguments.items() if name in required}
        if not _valid(arguments, schema):
            return FilledArguments({}, tuple(required) or ("arguments",))
    return FilledArguments(arguments, ())


def _complete(arguments: dict[str, JSON], schema: Mapping[str, Any], source: _Source) -> None:
    """Add the required arguments that are missing, as far as a further text gives them."""
    given = {str(value) for value in arguments.values()}
    source.taken = {n for n, span in enumerate(source.spans) if span.text in given}
    properties = _properties(schema)
    for name in required_names(schema):
        if name not in arguments:
            value = _value(name, properties[name], source, required=True)
            if value is not None:
                arguments[name] = value


def _fill_object(schema: Mapping[str, Any], source: _Source) -> tuple[dict[str, JSON], list[str]]:
    properties, required = _properties(schema), required_names(schema)
    order = sorted(properties, key=lambda name: (name not in required, _rank(properties[name])))
    found = {}
    for certain in (True, False):  # what the words around a value decide comes first
        for name in order:
            if name not in found and (certain or name in required):
                value = _value(name, properties[name], source, required=not certain)
                if value is not None:
                    found[name] = value
    arguments = {name: found[name] for name in properties if name in found}
    return arguments, [name for name in required if name not in found]


def _properties(schema: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    given = schema.get("properties")
    named = given if isinstance(given, dict) else {}
    properties: dict[str, Mapping[str, Any]] = {name: {} for name in required_names(schema)}
    return properties | {name: p if isinstance(p, dict) else {} for name, p in named.items()}


def _rank(schema: Mapping[str, Any]) -> int:
    """Return when a property chooses: those that take few values first."""
    if "enum" in schema or "const" in schema:
        return 0
    return {"boolean": 0, "integer": 1, "number": 1, "string": 2}.get(_type(schema), 3)


def _type(schema: Mapping[str, Any]) -> str:
    given = schema.get("type")
    if isinstance(given, list):
        given = next((t for t in given if t != "null"), None)
    if isinstance(given, str):
        return given
    for key in ("anyOf", "oneOf"):
        choices = schema.get(key)
        if isinstance(choices, list) and choices and isinstance(choices[0], dict):
            return _type(choices[0])
    return "string"


def _value(name: str, schema: Mapping[str, Any], source: _Source, required: bool) -> JSON:
    """Return a valid value, or None where there is none."""
    value = _wanted(name, schema, source, required)
    return value if value is not None and _valid(value, schema) else None


def _wanted(name: str, schema: Mapping[str, Any], source: _Source, required: bool) -> JSON:
    if "const" in schema:
        return schema["const"] if required else None
    if isinstance(schema.get("enum"), list):
        return _named_choice(schema["enum"], source, schema.get("default") if required else None)
    kind = _type(schema)
    if kind == "boolean":
        said = _said_boolean(name, source.text)
        return schema.get("default") if said is None and required else said
    if kind == "object":
        inner, missing = _fill_object(schema, source)
        return inner if (inner or required) and not missing else None
    if kind == "array":
        return _several(name, schema, source, required)
    return _single(name, schema, kind, source, required)


def _named_choice(choices: Sequence[JSON], source: _Source, default: JSON) -> JSON:
    """Return the choice that the text names first, longer ones before their parts."""
    folded = " ".join(words(source.text))
    places = []
    for choice in choices:
        named = " ".join(words(str(choice)))
        found = re.search(rf"(?<!\w){re.escape(named)}(?!\w)", folded) if named else None
        if found:
            places.append((found.start(), -len(named), choice))
    if places:
        return min(places, key=lambda place: place[:2])[2]
    return choices[0] if len(choices) == 1 and default is None else default


def _said_boolean(name: str, text: str) -> bool | None:
    wanted = [w for w in words(name) if w not in ("is", "has", "include", "use", "enable", "only")]
    folded = text.casefold()
    places = [found.start() for w in wanted if (found := re.search(rf"\b{re.escape(w)}", folded))]
    if not wanted or len(places) < len(wanted):
        return None
    return _NEGATIONS.search(folded[: min(places)]) is None


def _several(name: str, schema: Mapping[str, Any], source: _Source, required: bool) -> JSON:
    items = schema.get("items")
    inner = items if isinstance(items, dict) else {}
    if isinstance(inner.get("enum"), list):
        folded = words(source.text)
        return [c for c in inner["enum"] if set(words(str(c))) <= set(folded)] or None
    kind = _type(inner)
    if kind in ("object", "array", "boolean"):
        return schema.get("default") if required else None
    ranked = _ranked(name, inner, kind, source)
    if not required:
        ranked = [choice for choice in ranked if choice[0] >= _NEAR]
    if not ranked:
        return schema.get("default") if required else None
    kinds = {source.spans[ranked[0][1]].kind}
    chosen = sorted((c for c in ranked if source.spans[c[1]].kind in kinds), key=lambda c: c[1])
    most = schema.get("maxItems")
    chosen = chosen[:most] if isinstance(most, int) else chosen
    source.taken.update(position for _, position, _ in chosen)
    return [value for _, _, value in chosen]


def _single(
    name: str, schema: Mapping[str, Any], kind: str, source: _Source, required: bool
) -> JSON:
    ranked = _ranked(name, schema, kind, source)
    cued = [choice for choice in ranked if choice[0] >= _NEAR]
    if not cued and not required:
        return None
    if not cued and schema.get("default") is not None:
        return schema["default"]
    for _, position, value in cued or ranked:
        source.taken.add(position)
        return value
    return None


def _ranked(
    name: str, schema: Mapping[str, Any], kind: str, source: _Source
) -> list[tuple[float, int, JSON]]:
    """Return (score, position of the span, value), best first, of the free spans that fit."""
    found = []
    for position, span in source.free():
        value: JSON
        if kind == "string" and schema.get("format") == "date":
            value = span.iso_date if span.kind == "date" else None
        else:
            value = as_json(span, kind)
        cue = _cue(name, schema, span, source.text)
        fit = _fit(name, schema, kind, span, cue)
        if fit is not None and value is not None and _valid(value, schema):
            found.append((cue + fit, position, value))
    return sorted(found, key=lambda choice: (-choice[0], choice[1]))


def _fit(name: str, schema: Mapping[str, Any], kind: str, span: Span, cue: float) -> float | None:
    """Return how well a kind of value suits a property, in [0, 1]; None: not at all."""
    if kind in ("integer", "number"):
        return 1.0 if span.kind == "number" else None
    named = set(words(name))
    special = next((k for k, hints in _KINDS.items() if hints & named), None)
    if schema.get("format") in ("date", "date-time", "email", "uri", "time"):
        special = {"date-time": "date", "uri": "url"}.get(schema["format"], schema["format"])
    if special is not None:
        return 1.0 if span.kind == special else None
    if span.kind == "number":
        return 0.5 if named & _CODES or cue >= _NEAR else None
    if span.kind == "phrase":
        return 0.3 if named & _FREE_TEXT else None
    if span.kind == "code":
        return 1.0 if named & _CODES else 0.7
    return {"quoted": 0.9, "name": 0.8}.get(span.kind)


def _cue(name: str, schema: Mapping[str, Any], span: Span, text: str) -> float:
    """Return how much the words around a value speak for a property."""
    before = words(text[max(0, span.start - _CUE_SPAN) : span.start])[-4:]
    after = words(text[span.end : span.end + _CUE_SPAN])[:1]
    named = set(words(name))
    singular = {name.rstrip("s") for name in named}
    counted = any(word in named or word.rstrip("s") in singular for word in after)
    if named & set(before[-3:]) or (span.kind == "number" and counted):
        return _CUED
    if before and named & _PREPOSITIONS.get(before[-1], frozenset()):
        return _NEAR
    described = {w for w in words(str(schema.get("description", ""))) if len(w) > 3}
    return 0.5 if described & {*before[-2:], *after} else 0.0


def _valid(value: JSON, schema: Mapping[str, Any]) -> bool:
    """Tell whether a value is valid; where `$ref` hides that, it is not."""
    if meets(schema, value):
        return True
    from referencing.exceptions import Unresolvable

    try:
        return validator_of(dict(schema)).is_valid(value)
    except Unresolvable:
        return False


@lru_cache(maxsize=4096)
def _is_schema(text: bytes) -> bool:
    from seal.core.schema_faults import meta_validator

    return meta_validator().is_valid(json_value(text))


# -- Slips: right calls made wrong by chance, and answers that say what is wrong with them.

_MARK = "_value"
"""Ends a name that there is not."""


_TEXTS = {"integer", "number", "boolean", "object", "array"}
"""Types instead of which a slip gives a text."""


Slip = Callable[[], ToolCall]


def slipped(
    calls: Sequence[ToolCall], tools: Sequence[Tool], rate: float, seed: int, position: int
) -> tuple[ToolCall, ...]:
    """Return the calls, some of them with a fault.

    Args:
        calls: Right calls of offered tools.
        tools: Those that are offered.
        rate: How likely a call slips, in [0, 1].
        seed: Of the request.
        position: Of the reply in the chat.
    """
    by_name = {tool.name: tool for tool in tools}
    made = []
    for place, call in enumerate(calls):
        draw = random.Random(derive_seed(seed, "slip", position, place))
        slips = list(_slips(call, by_name[call.name], by_name.keys(), draw))
        made.append(draw.choice(slips)() if draw.random() < rate else call)
    return tuple(made)


def _slips(
    call: ToolCall, tool: Tool, offered: AbstractSet[str], draw: random.Random
) -> list[Slip]:
    """Return the faults that a call allows; `function` always is one."""
    properties = tool.parameters.get("properties") or {}
    given = call.arguments or {}
    required = [name for name in required_names(tool.parameters) if name in given]
    typed = [name for name in given if _mistyped(given[name], properties.get(name)) is not None]

    def argument() -> ToolCall:
        name = draw.choice(sorted(given))
        renamed = {_beside(key, properties) if key == name else key: given[key] for key in given}
        return replace(call, arguments=renamed)

    def kind() -> ToolCall:
        name = draw.choice(sorted(typed))
        return replace(call, arguments={**given, name: _mistyped(given[name], properties[name])})

    def missing() -> ToolCall:
        name = draw.choice(sorted(required))
        return replace(call, arguments={key: given[key] for key in given if key != name})

    def function() -> ToolCall:
        return replace(call, name=_beside(call.name, offered))

    found: list[Slip] = [function]
    found += [argument] if given else []
    found += [kind] if typed else []
    found += [missing] if required else []
    return found


def _beside(name: str, taken: AbstractSet[str] | dict[str, JSON]) -> str:
    """Return a name that is not taken, made of one that is."""
    while name in taken:
        name += _MARK
    return name


def _mistyped(value: JSON, schema: JSON) -> JSON:
    """Return a value of a type that the schema does not have; None: it has no plain type."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    if kind == "string":
        return [value]
    return json_text(value) if isinstance(kind, str) and kind in _TEXTS else None


def is_told(made: ToolCall, meant: ToolCall, answer: str) -> bool:
    """Tell whether the answer to a call is an error that names what is wrong with it.

    Args:
        made: The call as it was made.
        meant: The right one.
        answer: What the tool gave back, as the model reads it.
    """
    return any(
        re.search(rf"(?<!\w){re.escape(name)}(?!\w)", _error(answer))
        for name in _wrong(made, meant)
    )


def _error(answer: str) -> str:
    """Return the error that an answer reports; all of it where it is no JSON."""
    try:
        content = json_value(answer)
    except orjson.JSONDecodeError:
        return answer
    return str(content.get("error", "")) if isinstance(content, dict) else ""


def _wrong(made: ToolCall, meant: ToolCall) -> list[str]:
    """Return the names that a message about a faulty call can hold: the first is the best."""
    if made.name != meant.name:
        return [made.name]
    given, right = made.arguments or {}, meant.arguments or {}
    unknown = sorted(given.keys() - right.keys())
    return unknown or [name for name in right if given.get(name) != right[name]]
