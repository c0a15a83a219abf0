r"""Patterns of strangers, which schemas hold: asked without ever hanging.

A schema comes from a file, a page of OpenAPI or a server of MCP, and the text from a model. So a
pattern is read by RE2, in time linear in the text. RE2 has no look-around and no references back.
A pattern that needs them is read by the package `regex`, which gives up after `LONGEST_S` seconds.

JSON Schema (2020-12, section 6.4 of its core) wants the expressions of ECMA-262: `\d`, `\w` and
`\s` mean ASCII, `\p{L}` and `\u00e9` are known, and a pattern may match anywhere in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

LONGEST_S = 1.0
"""Seconds that a pattern beyond RE2 may take for one text; what takes longer does not match."""
_LONGEST = 10_000
"""Characters of a pattern; a longer one is none."""
_CODE = re.compile(r"\\(?:(\\)|u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4}))")
"""A character by its number as ECMA-262 writes it, and what only looks so: an escaped stroke."""


def is_pattern(value: Any) -> bool:
    """Tell whether a value is a regular expression that can be asked."""
    return isinstance(value, str) and matcher(value) is not None


def matches(pattern: str, text: str) -> bool:
    """Tell whether a pattern matches anywhere in a text.

    Args:
        pattern: What is no pattern matches everything: a broken part of a schema accepts anything.
        text: Of a model or a file.
    """
    found = matcher(pattern)
    return found is None or found(text)


@lru_cache(maxsize=1 << 12)
def matcher(pattern: str) -> Callable[[str], bool] | None:
    """Return what tells of a text whether the pattern matches in it; None: it is no pattern."""
    if len(pattern) > _LONGEST:
        return None
    import re2

    standard = _CODE.sub(lambda m: m[0] if m[1] else f"\\x{{{m[2] or m[3]}}}", pattern)
    options = re2.Options()
    options.log_errors = False
    try:
        linear = re2.compile(standard, options)
    except (re2.error, UnicodeEncodeError):
        return _bounded(pattern)
    return lambda text: linear.search(_encodable(text)) is not None


def _bounded(pattern: str) -> Callable[[str], bool] | None:
    import regex

    try:
        compiled = regex.compile(pattern, regex.ASCII if pattern.isascii() else 0)
    except (regex.error, RecursionError, OverflowError, ValueError):
        return None

    def found(text: str) -> bool:
        try:
            return compiled.search(text, timeout=LONGEST_S) is not None
        except TimeoutError:
            return False

    return found


def _encodable(text: str) -> str:
    """Return a text without lone surrogates, which RE2 cannot read."""
    return text.encode("utf-8", "replace").decode()
