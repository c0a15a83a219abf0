"""Canonical JSON: one text, and so one digest, for values that mean the same."""

from __future__ import annotations

import hashlib
import json
import math
import unicodedata
from typing import Any

import orjson


def normalise(value: Any) -> Any:
    """Return the value with NFC strings, whole floats as integers, and tuples as lists.

    Raises:
        ValueError: A number is NaN or infinite: JSON has no such numbers.
        TypeError: A value that JSON cannot hold.
        RecursionError: Nested about as deep as Python's stack; `canonical_json` has no such limit.
    """
    if isinstance(value, dict):
        return {key: normalise(item) for key, item in _members(value)}
    if isinstance(value, (list, tuple)):
        return [normalise(item) for item in value]
    return _leaf(value)


def canonical_json(value: Any) -> bytes:
    """Return UTF-8 JSON with sorted keys, no blanks, NFC strings and normalised numbers.

    Equal JSON values (`equal`) give equal bytes: argument order never matters, 1 and 1.0 are one
    number, True and 1 are two. Integers may have any size up to Python's limit for digits (4,300),
    nesting any depth. Half of a surrogate pair, which UTF-8 lacks, is encoded as if it were a
    character, so that different texts stay different.

    Raises:
        ValueError: A number is NaN or infinite, or an integer is beyond Python's limit.
        TypeError: A value that JSON cannot hold.
    """
    try:
        return orjson.dumps(normalise(value), option=orjson.OPT_SORT_KEYS)
    except (TypeError, RecursionError):  # more than orjson holds, or not JSON at all
        return _write(value)


def digest(value: Any) -> str:
    """Return the SHA-256 of the value's canonical JSON as 64 hexadecimal digits."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def derive_seed(*parts: Any) -> int:
    """Return a seed in [0, 2**31) that depends on every part, on every machine alike."""
    return int(digest(list(parts))[:8], 16) & 0x7FFFFFFF


def equal(left: Any, right: Any) -> bool:
    """Tell whether two JSON values are the same, as their canonical texts are.

    1 is 1.0, True is no number; strings are the same where their NFC forms are, letter by letter.
    """
    try:
        return _equal(left, right)
    except RecursionError:
        return canonical_json(left) == canonical_json(right)


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return left == right
    if isinstance(left, str) and isinstance(right, str):
        return left == right or _nfc(left) == _nfc(right)
    if isinstance(left, dict) and isinstance(right, dict):
        left, right = dict(_members(left)), dict(_members(right))
        return left.keys() == right.keys() and all(_equal(left[k], right[k]) for k in left)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(_equal, left, right))
    return type(left) is type(right) and bool(left == right)


def _nfc(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _members(value: dict[Any, Any]) -> list[tuple[str, Any]]:
    """Return keys, as NFC texts, and items; of two keys that become one, the same one wins."""
    members = [(key if type(key) is str else str(key), item) for key, item in value.items()]
    if "".join([key for key, _ in members]).isascii():
        return members
    return [(_nfc(key), item) for key, item in sorted(members, key=lambda member: member[0])]


def _leaf(value: Any) -> Any:
    if isinstance(value, str):
        return _nfc(value)
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is no JSON number")
        return int(value) if value.is_integer() else value
    raise TypeError(f"JSON cannot hold {type(value).__name__}")


def _write(value: Any) -> bytes:
    """Return the canonical text of any value, with a stack of our own instead of Python's."""
    pieces: list[bytes] = []
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, _Text):
            pieces.append(item)
        elif isinstance(item, dict):
            members = sorted(dict(_members(item)).items())
            stack.append(_Text(b"}"))
            for number, (key, inner) in reversed(list(enumerate(members))):
                stack += [inner, _Text((b"," if number else b"") + _write_leaf(key) + b":")]
            stack.append(_Text(b"{"))
        elif isinstance(item, (list, tuple)):
            stack.append(_Text(b"]"))
            for number, inner in reversed(list(enumerate(item))):
                stack += [inner, _Text(b"," if number else b"")]
            stack.append(_Text(b"["))
        else:
            pieces.append(_write_leaf(_leaf(item)))
    return b"".join(pieces)


class _Text(bytes):
    """A piece of JSON that is written already."""


def _write_leaf(leaf: Any) -> bytes:
    try:
        return orjson.dumps(leaf)
    except TypeError:  # orjson holds integers of at most 64 bits, and no half surrogate pairs
        return json.dumps(leaf, ensure_ascii=False).encode("utf-8", "surrogatepass")
