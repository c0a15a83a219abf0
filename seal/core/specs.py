"""Names of parts: those that a user writes with options, and those that a record tells.

A user writes a plug-in's name with its options in one text, such as
`dense,model=all-MiniLM-L6-v2,index=hnsw`.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from math import isfinite
from typing import Any, NoReturn

from seal.core.canonical import digest, normalise
from seal.core.errors import UsageError


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


_JSON = json.JSONDecoder(parse_constant=_refuse)


@dataclass(frozen=True, slots=True)
class Notation:
    """How the specs of one kind of plug-in are written: `NAME[,KEY=VALUE...]`."""

    kind: str
    """What is named, for messages: "retriever"."""
    example: str
    structured: bool = False
    """True where JSON lists and objects are values; else they are texts."""

    def parse(self, text: str) -> tuple[str, dict[str, Any]]:
        """Return the name and the options that a text says.

        A value that is a JSON scalar (`3`, `0.5`, `true`, `null`, `"3"`) is that, any other its
        text. A comma within a JSON value (`"a,b"`, `["a","b"]`) ends nothing.

        Raises:
            UsageError: The name or a key is empty, or a key stands twice or has no `=`.
        """
        name, *words = _words(text)
        if not name:
            raise UsageError(
                f"{self.kind} {str(text)!r} has no name; write NAME[,KEY=VALUE...]: {self.example}"
            )
        options: dict[str, Any] = {}
        for word in words:
            key, equals, value = (part.strip() for part in word.partition("="))
            if not equals or not key:
                raise UsageError(
                    f"{self.kind} {name!r}: {word!r} is no KEY=VALUE; write {self.example}, and "
                    'put a value that holds a comma in quotes: KEY="VALUE"'
                )
            if key in options:
                raise UsageError(f"{self.kind} {name!r}: {key} stands twice; keep one of them")
            options[key] = self.value(value)
        return name, options

    def value(self, text: str) -> Any:
        """Return what the text of a value says."""
        try:
            value = _JSON.decode(text)
        except ValueError:
            return text
        nested = isinstance(value, (list, dict)) and not self.structured
        endless = isinstance(value, float) and not isfinite(value)
        return text if nested or endless else value

    def text(self, name: str, options: Mapping[str, Any]) -> str:
        """Return the spec as `parse` reads it, options in the order of their names.

        A value that is no JSON stands as its name.
        """
        return ",".join([name, *(f"{k}={self._text(v)}" for k, v in sorted(options.items()))])

    def _text(self, value: Any) -> str:
        if isinstance(value, str):
            plain = "," not in value and self.value(value.strip()) == value
            return value if plain else json.dumps(value, ensure_ascii=False)
        nested = self.structured and isinstance(value, (list, tuple, Mapping))
        if nested or value is None or isinstance(value, (bool, int, float)):
            return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return label_of(value)


def label_of(thing: Any) -> str:
    """Return a text that stands for an object: its identity, else its name, else its class's."""
    return str(
        getattr(thing, "identity", "") or getattr(thing, "__qualname__", type(thing).__name__)
    )


def _words(text: str) -> Iterator[str]:
    """Yield what stands between commas, without blanks around it."""
    start = 0
    while start <= len(text):
        end = _end(text, start)
        yield text[start:end].strip()
        start = end + 1


def _end(text: str, start: int) -> int:
    """Return where the word that begins at `start` ends: at a comma, or with the text."""
    comma = text.find(",", start)
    comma = len(text) if comma < 0 else comma
    equals = text.find("=", start, comma)
    value = text[equals + 1 :].lstrip() if equals >= 0 else ""
    if not value.startswith(('"', "[", "{")):
        return comma
    try:
        _, length = _JSON.raw_decode(value)
    except ValueError:
        return comma
    end = len(text) - len(value[length:].lstrip())
    return end if end == len(text) or text[end] == "," else comma


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


def settled(value: Any) -> Any:
    """Return a value; of an awaitable what it comes to, in an event loop of its own."""
    import asyncio

    async def awaited() -> Any:
        return await value

    return asyncio.run(awaited()) if inspect.isawaitable(value) else value


def source_of(function: Any) -> str:
    """Return the text of a function, by which it is told from others; else its name."""
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return str(name_of(function))


def _plain(value: Any) -> Any:
    """Return a value that JSON holds as it is, any other as the name of its class."""
    try:
        return normalise(value)
    except (TypeError, ValueError):
        return type(value).__name__
