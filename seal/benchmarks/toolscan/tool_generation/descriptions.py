"""What tools are to do, one sentence each, as a person writes it down.

A file of plain text has a tool a line, with or without a name before a colon; a line that begins
with `#` names the category of those after it:

    # Travel
    search_hotels: Search hotels in a city between two dates.
    Convert an amount of money from one currency to another.

JSON Lines, or one JSON array, has objects with the fields `description`, and where wanted `name`
and `category`, or texts, each a line of plain text. What the file holds decides, not its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from seal.core.errors import DataError, UsageError, shortened
from seal.pools.reading.records import json_file, json_lines, utf8_text

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
"""A function name that every chat server takes."""
MOST_CHARACTERS = 500
"""Of a description."""

_FIELDS = ("name", "description", "category")
_NAMED = re.compile(r"(?P<name>[^\s:]+)\s*:(?!//)\s*(?P<text>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Description:
    """What one tool is to do."""

    text: str
    """One sentence."""
    name: str = ""
    """Function name; empty: whoever writes the tool finds one."""
    category: str = ""
    """Tools of one category make one list."""
    place: str = ""
    """File and line, or file and record from 0."""


class _Entry(NamedTuple):
    place: str
    record: dict[str, Any]


def read_descriptions(path: Path) -> list[Description]:
    """Return the descriptions of a file, in its order.

    Raises:
        UsageError: There is no such file.
        DataError: The file or an entry is malformed, or a name or description stands twice; the
            text names file, place and repair.
    """
    if not path.is_file():
        raise UsageError(f"no file {path}: name a file of descriptions, one tool a line")
    found = [_description(entry) for entry in _entries(path)]
    if not found:
        raise DataError(f"{path} describes no tool: write one a line, such as `name: sentence`")
    _refuse_repeated(found)
    return found


def _entries(path: Path) -> Iterator[_Entry]:
    start = utf8_text(path.read_bytes(), str(path)).lstrip()[:1]
    if start == "{":
        for place, value in json_lines(path):
            yield _entry(place, value, "")
    elif start == "[":
        for number, value in enumerate(json_file(path)):
            yield _entry(f"{path}, record {number}", value, "")
    else:
        yield from _lines(path)


def _lines(path: Path) -> Iterator[_Entry]:
    category = ""
    for number, line in enumerate(utf8_text(path.read_bytes(), str(path)).splitlines(), 1):
        text = line.strip()
        if text.startswith("#"):
            category = text.lstrip("#").strip()
        elif text:
            yield _entry(f"{path}, line {number}", text, category)


def _entry(place: str, value: Any, category: str) -> _Entry:
    """Return an entry with the fields that a text or an object gives."""
    if isinstance(value, str):
        named = _NAMED.fullmatch(value.strip())
        name, text = (named["name"], named["text"]) if named else ("", value)
        return _Entry(place, {"name": name, "description": text, "category": category})
    if not isinstance(value, dict):
        raise DataError(
            f'{place}: expected an object such as {{"name": ..., "description": ...}}, '
            f"or a text, got {shortened(value)}"
        )
    for name, given in value.items():
        if name not in _FIELDS:
            raise DataError(f"{place}: no field {name!r}; known: {', '.join(_FIELDS)}")
        if not isinstance(given, str):
            raise DataError(f"{place}: {name}: expected a text, got {shortened(given)}")
    if "description" not in value:
        raise DataError(f"{place}: the field 'description' is missing")
    return _Entry(place, value)


def _description(entry: _Entry) -> Description:
    place, record = entry
    text = " ".join(record["description"].split())
    name = record.get("name", "").strip()
    if not any(character.isalpha() for character in text):
        raise DataError(f"{place}: the description says nothing: {shortened(text)}")
    if len(text) > MOST_CHARACTERS:
        raise DataError(
            f"{place}: a description of {len(text)} characters; say in one sentence, of at most "
            f"{MOST_CHARACTERS}, what the tool does"
        )
    if name and not NAME.fullmatch(name):
        raise DataError(
            f"{place}: {shortened(name)} is no function name: it takes letters, digits, _ and -, "
            "at most 64, and no digit first"
        )
    return Description(text, name, " ".join(record.get("category", "").split()), place)


def _refuse_repeated(found: list[Description]) -> None:
    seen: dict[tuple[str, str], str] = {}
    for one in found:
        for what, value in (("name", one.name), ("description", one.text)):
            key = what, value.casefold()
            if value and key in seen:
                raise DataError(
                    f"{one.place}: the {what} {shortened(value)} stands at {seen[key]} already; "
                    "remove one"
                )
            seen[key] = one.place
