"""What tools are to do, one sentence each, as a person writes it down.

A file of plain text has a tool a line, with or without a name before a colon. A line that begins
with `#` names the category of those after it:

    # Travel
    search_hotels: Search hotels in a city between two dates.
    Convert an amount of money from one currency to another.

JSON Lines, or one JSON array, has texts, each a line of plain text, or objects. An object has the
field `description`, and where wanted `name` and `category`. What the file holds decides, not its
name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seal.core import DataError, UsageError, shortened
from seal.pools.reading.upstream_files import expect, json_file, json_lines, utf8_text

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


def read_descriptions(path: Path) -> list[Description]:
    """Return the descriptions of a file, in its order.

    Raises:
        UsageError: There is no such file.
        DataError: The file or an entry is malformed, or a name or description stands twice; the
            text names file, place and repair.
    """
    if not path.is_file():
        raise UsageError(f"no file {path}: name a file of descriptions, one tool a line")
    found = [_description(place, record) for place, record in _entries(path)]
    if not found:
        raise DataError(f"{path} describes no tool: write one a line, such as `name: sentence`")
    _refuse_repeated(found)
    return found


def _entries(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the place of each entry, and its fields."""
    text = utf8_text(path.read_bytes(), str(path))
    start = text.lstrip()[:1]
    if start == "{":
        yield from ((place, _fields(place, value, "")) for place, value in json_lines(path))
    elif start == "[":
        for number, value in enumerate(json_file(path)):
            place = f"{path}, record {number}"
            yield place, _fields(place, value, "")
    else:
        category = ""
        for number, line in enumerate(map(str.strip, text.splitlines()), 1):
            place = f"{path}, line {number}"
            if line.startswith("#"):
                category = line.lstrip("#").strip()
            elif line:
                yield place, _fields(place, line, category)


def _fields(place: str, value: Any, category: str) -> dict[str, str]:
    """Return the fields that a text or an object gives."""
    if isinstance(value, str):
        named = _NAMED.fullmatch(value.strip())
        name, text = (named["name"], named["text"]) if named else ("", value)
        return {"name": name, "description": text, "category": category}
    what = 'an object such as {"name": ..., "description": ...}, or a text'
    fields: dict[str, str] = expect(value, dict, place, what)
    for name, given in fields.items():
        if name not in _FIELDS:
            raise DataError(f"{place}: no field {name!r}; known: {', '.join(_FIELDS)}")
        expect(given, str, f"{place}: {name}")
    if "description" not in fields:
        raise DataError(f"{place}: the field 'description' is missing")
    return fields


def _description(place: str, record: Mapping[str, str]) -> Description:
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
