"""A retriever with its options in one text: `dense,model=all-MiniLM-L6-v2,index=hnsw`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, NoReturn

from seal.core.errors import UsageError
from seal.core.secrets import refuse_secret

_EXAMPLE = "dense,model=all-MiniLM-L6-v2,index=hnsw"


@dataclass(frozen=True)
class RetrieverSpec:
    """Which retriever, with which options.

    Raises:
        UsageError: An option is a service's key.
    """

    what: Any
    """A name, a dotted path, a class or factory that takes the pool, or a ready retriever."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """They go before the options of the pool."""

    def __post_init__(self) -> None:
        refuse_secret("", self.options, f"the options of the retriever {self.what}")

    @property
    def identity(self) -> str:
        """The text of the spec, options in the order of their names."""
        name = self.what if isinstance(self.what, str) else _name_of(self.what)
        return ",".join([name, *(f"{k}={_text(v)}" for k, v in sorted(self.options.items()))])


def parse_spec(text: str) -> RetrieverSpec:
    """Return what `NAME[,KEY=VALUE...]` says.

    A value that is a JSON scalar (`3`, `0.5`, `true`, `null`, `"3"`) is that, any other its text.

    Raises:
        UsageError: The name or a key is empty, a key stands twice or has no `=`, or an option is a
            service's key.
    """
    name, *words = (part.strip() for part in text.split(","))
    if not name:
        raise UsageError(f"retriever {text!r} has no name; write NAME[,KEY=VALUE...]: {_EXAMPLE}")
    options: dict[str, Any] = {}
    for word in words:
        key, equals, value = (part.strip() for part in word.partition("="))
        if not equals or not key:
            raise UsageError(
                f"retriever {text!r}: {word!r} is no KEY=VALUE; write {_EXAMPLE}, and give a value "
                "that holds a comma by -R KEY=VALUE"
            )
        if key in options:
            raise UsageError(f"retriever {text!r}: {key} stands twice; keep one of them")
        options[key] = _value(value)
    return RetrieverSpec(name, options)


def spec_of(what: Any) -> RetrieverSpec:
    """Return the spec of whatever names or is a retriever.

    Raises:
        UsageError: A text that `parse_spec` refuses.
    """
    if isinstance(what, RetrieverSpec):
        return what
    return parse_spec(what) if isinstance(what, str) else RetrieverSpec(what)


def _value(text: str) -> Any:
    try:
        value = json.loads(text, parse_constant=_refuse)
    except ValueError:
        return text
    other = isinstance(value, (list, dict)) or (isinstance(value, float) and not isfinite(value))
    return text if other else value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def _text(value: Any) -> str:
    """Return a value as `parse_spec` reads it."""
    if isinstance(value, str):
        return value if _value(value) == value else json.dumps(value)
    if value is None or isinstance(value, (bool, int, float)):
        return json.dumps(value)
    return _name_of(value)


def _name_of(thing: Any) -> str:
    return str(
        getattr(thing, "identity", "") or getattr(thing, "__qualname__", type(thing).__name__)
    )
