"""Values of findings as words that people read, cut between names."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from seal.core import shortened

LENGTH = 200
"""Characters that a text of many entries has at most, but for the count of those left out."""
NOTHING = "nothing"

_PLAIN = re.compile(r"(?!(?:true|false|null)$)[^\W\d][\w./-]{0,99}")
"""Texts that need no quotes: none that could be a number, or several words."""


def expected_words(value: Any) -> str:
    """Return what was expected: one value, or the entries of a list or a map with commas.

    Entries that have no room are counted, as in `get_work and 12 more`; no name is cut.
    """
    if isinstance(value, dict):
        return _joined([f"{name}: {value_words(entry)}" for name, entry in value.items()])
    if isinstance(value, list | tuple):
        return _joined([value_words(entry) for entry in value])
    return value_words(value)


def value_words(value: Any) -> str:
    """Return one value: a name as it is, other texts in quotes, and the rest as JSON."""
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) else shortened(value)
    try:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    except (TypeError, ValueError, RecursionError):  # keys that are no texts; nested too deep
        return shortened(value)
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= LENGTH else f"{text[: LENGTH - 3]}..."


def _joined(entries: Sequence[str]) -> str:
    if not entries:
        return NOTHING
    shown = list(entries[:1])
    length = len(shown[0])
    for entry in entries[1:]:
        length += len(entry) + 2
        if length > LENGTH:
            break
        shown.append(entry)
    left = len(entries) - len(shown)
    return ", ".join(shown) + (f" and {left} more" if left else "")
