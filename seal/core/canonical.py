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
    """
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return value if value.isascii() else unicodedata.normalize("NFC", value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is no JSON number")
        return int(value) if value.is_integer() else value
    if isinstance(value, dict):
        return {normalise(str(key)): normalise(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [normalise(item) for item in value]
    raise TypeError(f"JSON cannot hold {type(value).__name__}")


def canonical_json(value: Any) -> bytes:
    """Return UTF-8 JSON with sorted keys, no blanks, NFC strings and normalised numbers.

    Equal JSON values give equal bytes: argument order never matters, 1 and 1.0 are one number,
    True and 1 are two.
    """
    plain = normalise(value)
    try:
        return orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # orjson holds integers of at most 64 bits
        text = json.dumps(plain, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "surrogatepass")


def digest(value: Any) -> str:
    """Return the SHA-256 of the value's canonical JSON as 64 hexadecimal digits."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def derive_seed(*parts: Any) -> int:
    """Return a seed in [0, 2**31) that depends on every part, on every machine alike."""
    return int(digest(list(parts))[:8], 16) & 0x7FFFFFFF


def equal(left: Any, right: Any) -> bool:
    """Tell whether two JSON values are the same: 1 is 1.0, True is no number, strings are exact."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return left == right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equal(left[k], right[k]) for k in left)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(equal, left, right))
    return type(left) is type(right) and bool(left == right)
