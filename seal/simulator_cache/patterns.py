"""A string that a simple regular expression accepts."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

_PARSER: Any = import_module("re._parser")  # as `re` itself reads expressions
_LETTERS = string.ascii_lowercase
_CATEGORIES = {
    "CATEGORY_DIGIT": string.digits,
    "CATEGORY_NOT_DIGIT": _LETTERS,
    "CATEGORY_WORD": _LETTERS + string.digits,
    "CATEGORY_NOT_WORD": "-",
    "CATEGORY_SPACE": " ",
    "CATEGORY_NOT_SPACE": _LETTERS + string.digits,
}
_FURTHER = 3
"""Most repetitions beyond the least."""
_MOST = 1000
"""Characters of an expression, and pieces of a string: more is refused."""


def string_of(pattern: str, draw: Callable[[int], int]) -> str:
    """Return a string that the expression finds itself in.

    Literals, classes, groups, alternatives and repeats are understood; anchors are passed over.

    Args:
        pattern: A regular expression.
        draw: Takes n, gives an integer in [0, n).

    Raises:
        ValueError: It is no expression, or has something else in it: a look-around, a
            back-reference.
    """
    if len(pattern) > _MOST // 2:
        raise ValueError(f"an expression of {len(pattern)} characters")
    try:
        parsed = _PARSER.parse(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{pattern!r}: {error}") from error
    found = []
    for piece in _pieces(parsed, draw):
        found.append(piece)
        if len(found) > _MOST:
            raise ValueError(f"{pattern!r} gives too long a string")
    return "".join(found)


def _pieces(parsed: Iterable[Any], draw: Callable[[int], int]) -> Iterator[str]:
    """Yield a string piece by piece; each repetition has one at least, so that all end."""
    for operation, value in parsed:
        match str(operation):
            case "AT":
                pass
            case "LITERAL":
                yield chr(value)
            case "ANY":
                yield _one_of(_LETTERS, draw)
            case "NOT_LITERAL":
                yield _one_of(_others(chr(value)), draw)
            case "IN":
                yield _one_of(_members(value), draw)
            case "BRANCH":
                yield from _pieces(value[1][draw(len(value[1]))], draw)
            case "SUBPATTERN":
                yield from _pieces(value[-1], draw)
            case "MAX_REPEAT" | "MIN_REPEAT":
                low, high, repeated = value
                for _ in range(low + draw(min(int(high) - low, _FURTHER) + 1)):
                    yield ""
                    yield from _pieces(repeated, draw)
            case other:
                raise ValueError(f"{other} is not understood")


def _members(listed: Iterable[Any]) -> str:
    """Return the characters of a class."""
    members, negated = "", False
    for operation, value in listed:
        match str(operation):
            case "NEGATE":
                negated = True
            case "LITERAL":
                members += chr(value)
            case "RANGE":
                members += "".join(map(chr, range(value[0], value[1] + 1)))
            case _:
                members += _CATEGORIES[str(value)]
    return _others(members) if negated else members


def _others(members: str) -> str:
    return "".join(c for c in string.ascii_letters + string.digits if c not in members)


def _one_of(characters: str, draw: Callable[[int], int]) -> str:
    return characters[draw(len(characters))] if characters else ""
