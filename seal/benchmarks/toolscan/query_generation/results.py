"""The one field of a result that a request asks for, and the answers that it gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seal.core.canonical import canonical_json
from seal.core.plain import json_text
from seal.core.text import words
from seal.core.types import JSON

MOST_ROWS = 5
"""Rows whose field may be asked for."""
_LONGEST = 60
"""Characters of a value that is asked for."""
_NAMES = ("name", "title")


def askable(result: JSON, arguments: Mapping[str, JSON]) -> list[str]:
    """Return the fields that can be asked for: names first, values that no argument states.

    Args:
        result: A map, or one with a single list of maps, or such a list.
        arguments: Of the call.
    """
    rows = rows_of(result)
    if not 1 <= len(rows) <= MOST_ROWS:
        return []
    given = {canonical_json(value) for value in arguments.values()}
    fields = [name for name in rows[0] if _can_be_asked(name, rows, given)]
    return sorted(fields, key=lambda name: not set(words(name)) & set(_NAMES))


def answers(result: JSON, ask: str) -> tuple[str, ...]:
    """Return the values of a field that is asked for, each once; none where nothing is."""
    if not ask:
        return ()
    values = [row[ask] for row in rows_of(result) if ask in row]
    return tuple(
        dict.fromkeys(value if isinstance(value, str) else json_text(value) for value in values)
    )


def rows_of(result: JSON) -> Sequence[Mapping[str, Any]]:
    """Return the maps that a result is about: those of its one list of maps, else itself."""
    if isinstance(result, list):
        return result if all(isinstance(row, dict) for row in result) else []
    if not isinstance(result, dict):
        return []
    lists = [v for v in result.values() if isinstance(v, list) and v and isinstance(v[0], dict)]
    if len(lists) == 1 and all(isinstance(row, dict) for row in lists[0]):
        return lists[0]
    return [] if lists else [result]


def _can_be_asked(name: str, rows: Sequence[Mapping[str, Any]], given: set[bytes]) -> bool:
    values = [row.get(name) for row in rows]
    if not words(name) or any(isinstance(v, (bool, dict, list)) or v is None for v in values):
        return False
    texts = [str(value) for value in values]
    if any(not words(text) or len(text) > _LONGEST for text in texts):
        return False
    return not any(canonical_json(value) in given for value in values)
