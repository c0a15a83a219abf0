"""Values that suit a name or a format, and fields that the words of a tool imply."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from seal.core import Tool
from seal.core.text import sentences, shipped_json, singular, words

# -- Texts and ranges that suit a field's name or a JSON Schema format.


class SeededChoice(Protocol):
    """Chooses: the same count and salt give the same number."""

    def __call__(self, count: int, salt: str = "", /) -> int:
        """Return a number in [0, count)."""
        ...


def vocabulary() -> dict[str, Any]:
    """Return words, usual values and ranges."""
    found: dict[str, Any] = shipped_json("seal.simulator_cache", "words.json")
    return found


def named_range(name: str) -> tuple[float, float]:
    """Return the least and the greatest usual number of a field, such as 0 and 23 for `hour`."""
    ranges = vocabulary()["ranges"]
    found = next((ranges[word] for word in reversed(words(name)) if word in ranges), (1, 100))
    return found[0], found[1]


def named_text(name: str, draw: SeededChoice, about: Sequence[str] = ()) -> str:
    """Return a text that suits a field's name; its last telling word decides.

    Args:
        name: Of the field.
        draw: Chooses.
        about: Words of the tool, which tell whose status it is.
    """
    parts, known = words(name), vocabulary()
    if "status" in parts:
        for word in reversed([*about, *parts]):
            if singular(word) in known["statuses"]:
                return _one(known["statuses"][singular(word)], draw)
    for word in reversed(parts):
        if word in known["texts"]:
            return _one(known["texts"][word], draw)
        if word in _MADE:
            return _MADE[word](draw)
    for word in reversed(parts):
        if word in known["generic"]:
            return _one(known["generic"][word], draw)
    if parts and parts[-1] in known["things"]:
        return f"{parts[-1]} {1 + draw(999)}"
    plain = known["plain"]
    return f"{plain[draw(len(plain))]} {plain[draw(len(plain), 'second')]}"


def _one(options: Sequence[str], draw: SeededChoice) -> str:
    return str(options[draw(len(options))])


def _date(draw: SeededChoice) -> str:
    return f"2024-{1 + draw(12, 'month'):02d}-{1 + draw(28, 'day'):02d}"


def _time(draw: SeededChoice) -> str:
    return f"{draw(24, 'hour'):02d}:{draw(60, 'minute'):02d}:00"


def _hex(draw: SeededChoice, digits: int = 8) -> str:
    return f"{draw(16**digits, 'hex'):0{digits}x}"


def _url(draw: SeededChoice) -> str:
    return f"https://www.example.org/{_hex(draw)}"


def _email(draw: SeededChoice) -> str:
    return f"{vocabulary()['plain'][draw(8, 'user')]}@example.org"


def _uuid(draw: SeededChoice) -> str:
    return f"{_hex(draw)}-0000-4000-8000-{draw(16**12, 'tail'):012x}"


FORMATS: dict[str, Callable[[SeededChoice], str]] = {
    "date": _date,
    "time": lambda draw: _time(draw) + "Z",
    "date-time": lambda draw: f"{_date(draw)}T{_time(draw)}Z",
    "email": _email,
    "uri": _url,
    "url": _url,
    "uuid": _uuid,
    "hostname": lambda draw: f"{_hex(draw)}.example.org",
    "ipv4": lambda draw: f"192.0.2.{1 + draw(254)}",
    "ipv6": lambda draw: f"2001:db8::{_hex(draw, 4)}",
}

_MADE: dict[str, Callable[[SeededChoice], str]] = {
    **dict.fromkeys(("url", "link", "uri", "href", "image", "img", "thumbnail"), _url),
    **dict.fromkeys(("id", "uuid", "key", "token", "hash", "code", "sku"), _hex),
    **dict.fromkeys(("date", "created", "updated", "published"), _date),
    "time": _time,
    "timestamp": lambda draw: f"{_date(draw)}T{_time(draw)}Z",
    "email": _email,
    "phone": lambda draw: f"+1-555-01{draw(100):02d}",
    "year": lambda draw: str(1990 + draw(35)),
    "price": lambda draw: f"{5 + draw(49500, 'cents') / 100:.2f}",
    "rating": lambda draw: f"{1 + draw(41) / 10:.1f}",
    "ip": lambda draw: f"192.0.2.{1 + draw(254)}",
}


# -- The fields that the words of a tool imply for its answer, if it has no response shape.
#
# The words are those of its name, else of the first sentence about its answer. A verb of change
# (`cancel_order`) implies a status. A thing (`get_order`) implies the fields of such things, and
# several things (`list_prices`) imply a list.

_BOOLEANS = {"boolean", "bool", "true", "false", "whether"}
_NUMBERS = {"number", "integer", "int", "float", "amount", "count", "balance"}
_QUESTIONS = ("is", "has", "can", "validate", "verify")
_COMPUTES = ("convert", "calculate", "compute", "estimate", "translate", "sum", "multiply")
"""Verbs of tools that compute their answer by a rule which the words do not tell."""
_MAKERS = ("created", "added", "booked", "scheduled", "reserved", "placed", "registered", "opened")
_READ = {"detail", "details", "info", "status", "search", "list", "history", "lookup", "statistics"}
"""Last words of a name whose first word is no verb: `order_status`."""
_BY = ("by", "for", "of", "from", "in", "at", "with")
_BARE = 2
"""A thing with at most so many fields, such as a price, belongs to a named thing in a list."""
_WHOLE = {"year", "humidity", "quantity", "count", "age", "volume", "duration", "population"}


def implied_fields(tool: Tool) -> dict[str, Any]:
    """Return field to JSON Schema of the answer of a tool without a shape.

    Empty: neither its name nor its description says what it returns.
    """
    prose = tool.returns if isinstance(tool.returns, str) else tool.description
    told = words(next(iter(sentences(prose)), ""))
    if isinstance(tool.returns, str) and _BOOLEANS & {*told}:
        return {"result": {"type": "boolean"}}
    verb, *nouns = words(tool.name) or [""]
    done = vocabulary()["changes"].get(verb)
    if done is not None and nouns and nouns[-1] not in _READ:
        made = {f"{nouns[-1]}_id": {"type": "string"}} if done in _MAKERS else {}
        return {**made, "status": {"const": done}}
    if verb in _QUESTIONS:
        return {"result": {"type": "boolean"}}
    if verb in _COMPUTES:
        return {}
    things = vocabulary()["things"]
    first = next((i for i, word in enumerate(nouns) if word in _BY), len(nouns))
    for said in ([verb, *nouns[:first]], nouns[first:]):
        fields = _of_nouns(said, things)
        if fields:
            return fields
    named = {"result": {"type": "number"}} if _NUMBERS & {*told} else {}
    return (
        _of_nouns(told, {name: things[name] for name in things if len(things[name]) > 1}) or named
    )


def _of_nouns(nouns: list[str], things: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return the fields of the last noun that is known."""
    for noun in reversed(nouns):
        one = singular(noun)
        if one not in things:
            continue
        fields = {name: {"type": _kind(name)} for name in things[one]}
        if one == noun:
            return fields
        label = "name" if len(fields) <= _BARE else f"{one}_id"
        named = {} if {"name", "title", label} & {*fields} else {label: {"type": "string"}}
        item = {"type": "object", "properties": {**named, **fields}}
        return {noun: {"type": "array", "minItems": 2, "items": item}}
    return {}


def _kind(name: str) -> str:
    if name in _WHOLE:
        return "integer"
    is_number = {words(name)[-1]} & (_NUMBERS | vocabulary()["ranges"].keys())
    return "number" if is_number else "string"
