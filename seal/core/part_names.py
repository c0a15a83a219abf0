"""The name by which a record tells which part was used: a model, a metric, an agent."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

from seal.core.canonical import digest, normalise


def name_of(what: Any) -> Any:
    """Return the name that identifies a part: the text it was asked by, else its class.

    An object may say itself what it is by a text `identity`; the arguments of a `partial` and the
    fields of a dataclass that JSON can hold count by their digest, for they may be secrets.
    """
    if what is None or isinstance(what, str):
        return what
    if isinstance(what, partial):
        given = [list(map(_plain, what.args)), {k: _plain(v) for k, v in what.keywords.items()}]
        return f"{name_of(what.func)}#{digest(given)[:8]}"
    if not isinstance(what, type) and isinstance(getattr(what, "identity", None), str):
        return what.identity
    kind = what if isinstance(what, type) or callable(what) else type(what)
    name = f"{kind.__module__}:{getattr(kind, '__qualname__', type(kind).__qualname__)}"
    if isinstance(what, type) or not is_dataclass(what):
        return name
    values = {field.name: _plain(getattr(what, field.name)) for field in fields(what)}
    return f"{name}#{digest(values)[:8]}" if values else name


def _plain(value: Any) -> Any:
    """Return a value that JSON holds as it is, any other as the name of its class."""
    try:
        return normalise(value)
    except (TypeError, ValueError):
        return type(value).__name__
