"""Values that suit a name, a format, a pattern."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from seal.core import Tool
from seal.core.text import sentences, shipped_json, words

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


def singular(noun: str) -> str:
    """Return the singular of a plural by its ending; any other word as it is."""
    return noun[:-1] if noun.endswith("s") and not noun.endswith(("ss", "us", "news")) else noun


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


# -- A string that a simple regular expression accepts.

_SETS = {
    "d": string.digits,
    "w": string.ascii_lowercase + string.digits,
    "s": " ",
    "D": string.ascii_lowercase,
    "W": "-",
    "S": string.ascii_lowercase + string.digits,
}
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r"}
_REPEATS = {"*": (0, 3), "+": (1, 3), "?": (0, 1)}
_MOST = 1000
"""Characters of an expression, of a string, and repeats: more is refused."""


def string_of(pattern: str, draw: Callable[[int], int]) -> str:
    """Return a string that the expression finds itself in.

    Literals, classes, groups, alternatives and repeats are understood; anchors are passed over.

    Args:
        pattern: A regular expression.
        draw: Takes n, gives an integer in [0, n).

    Raises:
        ValueError: The expression has something else in it: a look-around, a back-reference.
    """
    if len(pattern) > _MOST // 2:
        raise ValueError(f"an expression of {len(pattern)} characters")
    sampler = _Sampler(pattern, draw)
    text = sampler.alternatives()
    if sampler.rest():
        raise ValueError(f"{pattern!r}: unexpected {sampler.rest()!r}")
    return text


class _Sampler:
    """Recursive descent over the expression; each rule returns the text that it chose."""

    def __init__(self, pattern: str, draw: Callable[[int], int]) -> None:
        self._pattern = pattern
        self._at = 0
        self._size = 0
        self._draw = draw

    def rest(self) -> str:
        return self._pattern[self._at :]

    def alternatives(self) -> str:
        choices = [self._sequence()]
        while self._skip("|"):
            choices.append(self._sequence())
        return choices[self._draw(len(choices))]

    def _sequence(self) -> str:
        parts = []
        while self.rest() and self.rest()[0] not in "|)":
            start = self._at
            piece = self._atom()
            end = self._at
            low, high = self._repeat()
            after = self._at
            for _ in range(low + self._draw(high - low + 1)):
                self._at = start
                piece = self._atom()
                if self._at != end:
                    raise ValueError(f"{self._pattern!r}: cannot be read twice")
                parts.append(piece)
                self._size += 1 + len(piece)
                if self._size > 10 * _MOST:
                    raise ValueError(f"{self._pattern!r} gives too long a string")
            self._at = after
        return "".join(parts)

    def _atom(self) -> str:
        character = self._take()
        if character in "^$":
            return ""
        if character == "(":
            return self._group()
        if character == "[":
            return self._one_of(self._class())
        if character == "\\":
            return self._one_of(self._escape())
        return self._one_of(string.ascii_lowercase) if character == "." else character

    def _group(self) -> str:
        if self._skip("?") and not self._skip(":"):
            raise ValueError(f"{self._pattern!r}: only plain groups are understood")
        text = self.alternatives()
        if not self._skip(")"):
            raise ValueError(f"{self._pattern!r}: a group is not closed")
        return text

    def _class(self) -> str:
        negated = self._skip("^")
        members = "]" if self._skip("]") else ""
        while not self._skip("]"):
            first = self._take()
            if first == "\\":
                members += self._escape()
            elif self.rest()[:1] == "-" and self.rest()[1:2] not in ("]", ""):
                self._take()
                members += "".join(map(chr, range(ord(first), ord(self._take()) + 1)))
            else:
                members += first
        if not negated:
            return members
        return "".join(c for c in string.ascii_letters + string.digits if c not in members)

    def _escape(self) -> str:
        character = self._take()
        if character in "bB":
            return ""
        if character in _SETS:
            return _SETS[character]
        if character.isalnum() and character not in _CONTROLS:
            raise ValueError(f"{self._pattern!r}: \\{character} is not understood")
        return _CONTROLS.get(character, character)

    def _repeat(self) -> tuple[int, int]:
        low, high = 1, 1
        if self.rest()[:1] in _REPEATS:
            low, high = _REPEATS[self._take()]
        elif self.rest()[:1] == "{":
            low, high = self._counts()
        else:
            return low, high
        self._skip("?")
        if not low <= high <= _MOST:
            raise ValueError(f"{self._pattern!r}: repeats {low} to {high} times")
        return low, high

    def _counts(self) -> tuple[int, int]:
        inside, closed, _ = self.rest()[1:].partition("}")
        low, comma, high = inside.partition(",")
        if not closed or not low.isdecimal() or (high and not high.isdecimal()):
            raise ValueError(f"{self._pattern!r}: {{{inside}}} is no repeat")
        self._at += len(inside) + 2
        least = int(low)
        return least, int(high) if high else least + 3 * bool(comma)

    def _one_of(self, characters: str) -> str:
        return characters[self._draw(len(characters))] if characters else ""

    def _skip(self, token: str) -> bool:
        found = self.rest().startswith(token)
        self._at += len(token) * found
        return found

    def _take(self) -> str:
        if not self.rest():
            raise ValueError(f"{self._pattern!r} ends too early")
        self._at += 1
        return self._pattern[self._at - 1]
