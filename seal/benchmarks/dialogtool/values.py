"""SGD's texts as values of their slots' types, where that loses nothing.

True and False become booleans, digits a number: whole where the text is exactly what the whole
number is written as, and for slots of type number any decimal. Whatever else stands in a typed slot
(`dontcare`, `two`) stays the text that it is.
"""

from __future__ import annotations

import re

from seal.core.types import JSON

_DECIMAL = re.compile(r"-?\d+\.\d+", re.ASCII)
_WHOLE = re.compile(r"0|-?[1-9]\d*", re.ASCII)
_BOOLEANS = {"True": True, "False": False}
_DIGITS = 15
"""Digits that a float surely keeps."""


class TypedValues(dict[str, JSON]):
    """Texts of one slot to their values, filled as texts are met.

    Args:
        kind: Type of the slot's JSON Schema: "string", "boolean", "integer" or "number".
    """

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def __missing__(self, text: str) -> JSON:
        """Return and keep the value of a text."""
        self[text] = value = typed(self.kind, text)
        return value


def typed(kind: str, text: str) -> JSON:
    """Return a text as a value of a JSON Schema type; the text itself where it is none."""
    if kind == "boolean":
        return _BOOLEANS.get(text, text)
    if kind in ("integer", "number") and len(text) <= _DIGITS:
        if _WHOLE.fullmatch(text):
            return int(text)
        if kind == "number" and _DECIMAL.fullmatch(text):
            return float(text)
    return text
