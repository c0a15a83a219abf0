"""Values that BFCL's models write as code: `5L`, `new int[]{1, 2}`, `{"a": [true]}`.

Where a function is in Java or JavaScript, the leaderboard expects each argument as a text of code,
and reads it by the declared type. A text that is no value of the type is taken for the name of a
variable, and stays a text. What it reads is simple: lists are divided at each comma, so that a
comma in a text divides it too, and a map ends at the first bracket that closes.

Source: the rules of bfcl-eval 2026.3.23, which are those of August 2024; none of its code is here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

JAVA: Mapping[str, type] = {
    **dict.fromkeys(("byte", "short", "integer", "long"), int),
    **dict.fromkeys(("float", "double"), float),
    **dict.fromkeys(("String", "char", "any"), str),
    **dict.fromkeys(("Array", "ArrayList", "Queue", "Stack"), list),
    **dict.fromkeys(("HashMap", "Hashtable"), dict),
    "boolean": bool,
}
"""Declared type in Java to the type of its values."""
JAVASCRIPT: Mapping[str, type] = {
    **dict.fromkeys(("String", "any"), str),
    **dict.fromkeys(("integer", "Bigint"), int),
    "float": float,
    "Boolean": bool,
    "array": list,
    "dict": dict,
}
"""Declared type in JavaScript to the type of its values."""

_DIGITS = r"-?\d{1,400}"
_FRACTION = r"(?:\.\d{1,400})?"
_POWER = r"(?:[eE][+-]?\d{1,9})?"
_NUMBERS: Mapping[str, tuple[re.Pattern[str], type, str]] = {
    kind: (re.compile(pattern, re.ASCII), made, suffix)
    for kinds, pattern, made, suffix in (
        ("byte short integer", _DIGITS, int, ""),
        ("long", f"{_DIGITS}[lL]", int, "lL"),
        ("float", f"{_DIGITS}{_FRACTION}{_POWER}[fF]", float, "fF"),
        ("double", f"{_DIGITS}{_FRACTION}{_POWER}", float, ""),
        ("js.integer", _DIGITS, int, ""),
        ("js.Bigint", f"{_DIGITS}n", int, "n"),
        ("js.float", f"{_DIGITS}{_FRACTION}", float, ""),
    )
    for kind in kinds.split()
}
"""Type to how its numbers are written, what they become, and the signs behind them."""


def _number(kind: str, text: str) -> Any:
    """Return the number that a text writes; else the text."""
    pattern, made, suffix = _NUMBERS[kind]
    return made(text.rstrip(suffix)) if pattern.fullmatch(text) else text


def _truth(text: str) -> Any:
    return {"true": True, "false": False}.get(text, text)


def _unquoted(text: str, quotes: str) -> str | None:
    """Return what stands between quotes; None: there are none."""
    quoted = text[:1] and text[:1] in quotes and text.endswith(text[:1])
    return text[1:-1] if quoted else None


def _plain(text: str, quotes: str) -> Any:
    """Return the value of a text whose type is not known."""
    unquoted = _unquoted(text, quotes)
    if unquoted is not None:
        return unquoted
    for made in (int, float):
        try:
            return made(text) if len(text) < 400 else text
        except ValueError:
            continue
    return _truth(text)


# -- Java.


def read_java(text: str, kind: str, inner: str = "") -> Any:
    """Return the value that a text writes in Java; the text where it is no such value.

    Args:
        text: The code.
        kind: Declared type, one of `JAVA`.
        inner: That of the items of a list.
    """
    if kind in ("byte", "short", "integer", "long", "float", "double"):
        return _number(kind, text)
    if kind == "boolean":
        return _truth(text)
    if kind == "ArrayList":
        return _array_list(text, inner)
    if kind == "Array":
        return _array(text, inner)
    return _hash_map(text) if kind == "HashMap" else text


_AS_LIST = re.compile(r"new\s+ArrayList<\w*>\(Arrays\.asList\(")
_EMPTY_LIST = re.compile(r"new\s+ArrayList<\w*>\(\)")
_ADDS = re.compile(r"\s*\{\{")
_ARRAY = re.compile(r"new\s+\w+\[\]\s*\{")
_MAP = re.compile(r"new\s+HashMap<")
_CALLED = re.compile(r">\s*\(\)")
_FILLED = re.compile(r"\s*\{\s*\{?")


def _until(text: str, start: int, end: str, least: int = 0) -> str | None:
    """Return what stands in one line up to a sign; None: it never comes."""
    found = text.find(end, start + least)
    inside = text[start:found]
    return None if found < 0 or "\n" in inside else inside


def _array_list(text: str, inner: str) -> Any:
    """`new ArrayList<>(Arrays.asList(1, 2))`, or `new ArrayList<>() {{ add(1); add(2); }}`."""

    def item(code: str) -> Any:
        return code[1:-1] if inner in ("char", "String") else read_java(code, inner)

    found = _AS_LIST.search(text)
    listed = _until(text, found.end(), "))", 1) if found else None
    if listed is not None:
        return [item(code.strip()) for code in listed.split(",")]
    found = _EMPTY_LIST.search(text)
    if found is None:
        return text
    filled = _ADDS.match(text, found.end())
    end = text.find("}}", filled.end()) if filled else -1
    if filled is None or end < 0 or not text[filled.end() : end].strip():
        return []
    return [item(code.strip()) for code in _arguments(text[filled.end() : end], "add(")]


def _arguments(text: str, opening: str) -> Iterator[str]:
    """Yield what stands in the brackets of each call of one name."""
    for part in text.split(opening)[1:]:
        inside = _until(part, 0, ")", 1)
        if inside is not None:
            yield inside


def _array(text: str, inner: str) -> Any:
    """`new int[]{1, 2}`; of an array of texts each item keeps its quotes."""
    found = _ARRAY.search(text)
    listed = _until(text, found.end(), "}") if found else None
    if listed is None:
        return text
    return [read_java(code, inner) for code in map(str.strip, listed.split(",")) if code]


_PUT = re.compile(r'"(?P<name>[^"\n]*)",\s*+(?P<value>[^)\n]*)\)')


def _hash_map(text: str) -> Any:
    """`new HashMap<>() {{ put("a", 1); }}`."""
    found = _MAP.search(text)
    called = _CALLED.search(text, found.end()) if found else None
    if called is None:
        return text
    filled = _FILLED.match(text, called.end())
    end = text.find("}", filled.end()) if filled else -1
    puts = text[filled.end() : end] if filled and end >= 0 else ""
    given = (_PUT.match(part) for part in puts.split("put(")[1:])
    return {one["name"]: _java_value(one["value"].strip()) for one in given if one}


def _java_value(text: str) -> Any:
    for kind in ("long", "float"):
        value = _number(kind, text)
        if not isinstance(value, str):
            return value
    return _plain(text, '"')


# -- JavaScript.


def read_javascript(text: str, kind: str, inner: str = "") -> Any:
    """Return the value that a text writes in JavaScript; the text where it is no such value.

    Args:
        text: The code.
        kind: Declared type, one of `JAVASCRIPT`.
        inner: That of the items of a list; empty: it is not known.
    """
    if f"js.{kind}" in _NUMBERS:
        return _number(f"js.{kind}", text)
    if kind == "String":
        unquoted = _unquoted(text, "'\"")
        return text if unquoted is None else unquoted
    if kind == "Boolean":
        return _truth(text)
    if kind == "array":
        return _list(text.strip(), inner)
    return _object(text.strip()) if kind == "dict" else text


_LIST = re.compile(r"\[|new\s+Array\(")
_LISTS = re.compile(r"(?:\[|new\s+Array\()\s*\[")


def _list(text: str, inner: str) -> Any:
    """`[1, 2]`, `new Array(1, 2)` or `[[1], [2]]`; a list ends at the first bracket that closes."""
    rows = _rows(text)
    if rows is not None:
        return [[_js_value(code) for code in row.split(",")] for row in rows]
    found = _LIST.match(text)
    listed = _until(text, found.end(), "]" if found[0] == "[" else ")") if found else None
    if listed is None:
        return text
    items = listed.split(",") if listed.strip() else []
    if not inner:
        return list(map(_js_value, items))
    return [read_javascript(code.strip(), inner) for code in items]


def _rows(text: str) -> list[str] | None:
    """Return the insides of the lists of a list of lists; None: it is none."""
    found = _LISTS.match(text)
    if found is None:
        return None
    rows: list[str] = []
    at = found.end()
    while (row := _until(text, at, "]")) is not None:
        rows.append(row)
        at += len(row) + 1
        rest = _COMMA.match(text, at)
        if rest is None:
            closing = "]" if text.startswith("[") else ")"
            return rows if text[at:].lstrip().startswith(closing) else None
        at = rest.end()
    return None


_COMMA = re.compile(r"\s*,\s*\[")


def _object(text: str) -> Any:
    """`{"a": 1, b: [2]}`, up to the first bracket that closes."""
    if text == "{}":
        return {}
    inside = _until(text, 1, "}") if text.startswith("{") else None
    if inside is None:
        return text
    members: dict[str, Any] = {}
    for pair in _pairs(inside):
        name, _, code = pair.partition(":")
        members[name.strip().strip("'\"")] = _member(code.strip())
    return members


def _pairs(text: str) -> Iterator[str]:
    """Yield `name: value` between commas; a part without a colon belongs to the one before it."""
    pair = ""
    for part in text.split(","):
        if ":" in part[1:] and ":" in pair:
            yield pair
            pair = part
        else:
            pair = f"{pair},{part}" if pair else part
    if ":" in pair:
        yield pair


def _member(code: str) -> Any:
    if code.startswith("[") and code.endswith("]"):
        return _list(code, "")
    if code.startswith("{") and code.endswith("}"):
        return _object(code)
    return _js_value(code.strip("'\""))


def _js_value(code: str) -> Any:
    return _plain(code.strip(), "'\"")


READERS: Mapping[str, Callable[[str, str, str], Any]] = {
    "java": read_java,
    "javascript": read_javascript,
}
"""Language to what reads its values."""
TYPES: Mapping[str, Mapping[str, type]] = {"java": JAVA, "javascript": JAVASCRIPT}
"""Language to its declared types."""
