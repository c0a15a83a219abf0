"""Types and wrong values in words, for messages."""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from seal.core.errors import shortened
from seal.core.secrets import is_secret
from seal.core.typed_values import Within, choices, fits

_SAID: Mapping[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    str: "a text",
    Path: "a path",
    type(None): "None",
}


def misfit(name: str, value: Any, kind: Any) -> str:
    """Return where a value is not of its type, what was expected there, and what it is.

    Args:
        name: Of the value.
        value: One that does not fit.
        kind: The type that it should be of.
    """
    place, wrong, wanted = _innermost(name, value, kind)
    return f"{place}: expected {expected(wanted)}, got {_got(name, wrong)}"


def _innermost(place: str, value: Any, kind: Any) -> tuple[str, Any, Any]:
    """Return what is wrong in a value: its place, itself, and the type that it should be of."""
    for choice in choices(kind):
        origin, inner = get_origin(choice), get_args(choice)
        items: Iterable[tuple[Any, Any]] = ()
        if origin is Mapping and isinstance(value, Mapping):
            items = value.items()
        elif origin in (Sequence, tuple) and isinstance(value, list | tuple):
            items = enumerate(value)
        for key, item in items:
            wanted = inner[1] if origin is Mapping else inner[0]
            if not fits(item, wanted):
                return _innermost(f"{place}[{key!r}]", item, wanted)
    return place, value, kind


def expected(kind: Any) -> str:
    """Return a type in words: `a whole number or None`; of `Annotated` the words are its own."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        bounded = isinstance(inner[1], Within)
        return f"{expected(inner[0])} {inner[1]}" if bounded else str(inner[1])
    if origin in (Union, types.UnionType):
        *others, last = dict.fromkeys(map(expected, inner))
        return f"{', '.join(others)} or {last}" if others else last
    if origin is Literal:
        return "one of " + ", ".join(map(repr, inner))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return f"a mapping of {expected(inner[0])} to {expected(inner[1])}"
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return f"a list, each item {expected(inner[0])}"
    if origin is type:
        return f"a class of {getattr(inner[0], '__name__', inner[0])}"
    if origin is not None:
        return "a class or function"
    return _SAID.get(kind, "anything" if kind is Any else _one(getattr(kind, "__name__", kind)))


def _got(name: str, value: Any) -> str:
    """Return a value for a message: only its type where it may hold a service's key."""
    kind = type(value).__name__
    shown = value is None or isinstance(value, bool | int | float)
    if shown:
        return repr(value)
    harmless = isinstance(value, str) and "=" not in value and not is_secret(name, value)
    return f"{shortened(value)} ({kind})" if harmless else _one(kind)


def _one(noun: object) -> str:
    return f"{'an' if str(noun)[:1] in 'AEIOaeio' else 'a'} {noun}"
