"""Known values that an agent tells under another name than results and tables have them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from seal.core.facts import same_phone
from seal.core.quantities import Quantity, read
from seal.core.statements import is_same
from seal.core.telling import PHONE
from seal.core.text import words

Row = Mapping[str, Any]


def misplaced(text: str, rows: Sequence[Mapping[tuple[str, ...], Decimal]]) -> str:
    """Return what gives a number the name of another column of its row: "a high of 17", the low.

    Args:
        text: A sentence.
        rows: Of results the numbers, by the words of their columns.
    """
    if not any(_CALLED.keys() & {word for name in row for word in name} for row in rows):
        return ""
    for part in _PARTS.split(text):
        called = {_CALLED[word] for word in words(part) if word in _CALLED}
        if len(called) != 1 or len((whole := read(part)).quantities) != 1:
            continue
        said, (name,) = whole.quantities[0], called
        named = [(row, one) for row in rows for one in row if name in one]
        if any(_is_number(said, row[one]) for row, one in named):
            continue
        for row, one in named:
            alike = (o for o in row if o != one and (o[-1] == one[-1] or name == "previous"))
            if any(_is_number(said, row[other]) for other in alike):
                return part.strip()
    return ""


def _is_number(said: Quantity, number: Decimal) -> bool:
    """Tell whether a quantity is a number, in whatever unit a result may have it."""
    units = {"c", "f"} if said.dimension == "temperature" else {said.unit}
    return any(is_same(said, said._replace(number=number, unit=unit)) for unit in units)


_PARTS = re.compile(r"[,;()|\n]|\.(?=\s|$)|\b(?:and|with|but|while|from)\b")
_CALLED = {
    **dict.fromkeys(words("max maximum high highs highest"), "max"),
    **dict.fromkeys(words("min minimum low lows lowest"), "min"),
    **dict.fromkeys(words("current currently now moment"), "current"),
    **dict.fromkeys(words("average mean"), "average"),
    **dict.fromkeys(words("previous closed"), "previous"),
}
"""What people call a column that has a word in its name."""


def outdated(
    text: str, tables: Mapping[str, Sequence[Row]], lost: Mapping[str, Sequence[Row]]
) -> str:
    """Return a text that tells a replaced phone number as the new one; any other as empty.

    Args:
        text: A sentence.
        tables: Of the world, as they are.
        lost: By table the rows that were changed or removed, as they were.
    """
    gone = list[str]()
    for name, rows in lost.items():
        held = {cell for row in tables[name] for cell in row.values() if type(cell) is str}
        before = {cell for row in rows for cell in row.values() if type(cell) is str}
        gone += (cell for cell in before - held if PHONE.fullmatch(cell))
    for found in PHONE.finditer(text) if gone and _GONE.search(text) is None else ():
        told = [one[0].lower() for one in _WHICH.finditer(text[: found.start()][-_NEAR_PHONE:])]
        is_new = told[-1:] and told[-1] in ("to", "now", "new", "still")
        if is_new and any(same_phone(found[0], phone) for phone in gone):
            return text
    return ""


_NEAR_PHONE = 60
_WHICH = re.compile(
    r"\b(?:to|now|new|still|from|was|were|not|old|previous|instead|former|replac\w+)\b|[.;\n](?=\s)",
    re.IGNORECASE,
)
"""The last of them before a phone number tells whether it is the new one."""
_GONE = re.compile(r"\b(?:no longer|any ?more|gone|invalid|out of (?:use|date))\b")
