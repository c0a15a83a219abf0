"""Values held to annotated types: whether they fit, and what is wrong where they do not."""

from __future__ import annotations

import math
import types
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from seal.core.errors import UnknownNameError, UsageError
from seal.core.folders import check_path

_PLAIN = (bool, int, float, complex, str, bytes, list, tuple, set, frozenset, Mapping)
"""Classes of data: none of them is a plug-in, whatever methods it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Within:
    """Bounds of a number, as `Annotated` has them; infinity and NaN lie in none."""

    least: float = -math.inf
    most: float = math.inf
    above: float = -math.inf
    below: float = math.inf

    def __contains__(self, number: float) -> bool:
        """Tell whether a number lies in them."""
        return self.least <= number <= self.most and self.above < number < self.below

    def __str__(self) -> str:
        """Return them in words: `of at least 1`."""
        words = {"least": "of at least", "most": "of at most"}
        told = {words.get(name, name): bound for name, bound in asdict(self).items()}
        return " and ".join(
            f"{word} {bound}" for word, bound in told.items() if abs(bound) < math.inf
        )


Count = Annotated[int, Within(least=1)]
"""How many of something there are."""


def check_fields(record: Any, **flags: str) -> None:
    """Make sure that the fields of a dataclass are what their types say.

    Args:
        record: Any number of it lies in its bounds (`Within`), any text is one of its literal's,
            and a list of bounded numbers has one at least.
        **flags: Field to how its flag is named, where that is not the field's name.

    Raises:
        UsageError: A field is of another type, or a number beyond its bounds.
        UnknownNameError: A text is none of those that there are.
    """
    kind: type = type(record)
    hints = fields_of(kind)
    values = {name: getattr(record, name) for name in hints}
    needed = {one.name for one in fields(record) if one.default is one.default_factory is MISSING}
    check_types(values, hints, needed)
    for name, value in values.items():
        for wrong, one in _beyond(value, hints[name]):
            flag = flags.get(name, name)
            if get_origin(one) is Literal:
                raise UnknownNameError(f"value of {flag}", str(wrong), get_args(one))
            from seal.core.type_words import expected

            named = flag.replace("_", "-")
            raise UsageError(f"--{named} {wrong}: expected {expected(one)}")


def _beyond(value: Any, kind: Any) -> Iterator[tuple[Any, Any]]:
    """Yield what of a value of the type lies beyond it, with the type that it should be of."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        yield from _beyond(value, next(one for one in inner if fits(value, one)))
    elif isinstance(origin, type) and issubclass(origin, Sequence):
        if not value and any(
            get_origin(one) is Annotated for one in (inner[0], *get_args(inner[0]))
        ):
            yield value, kind
        for item in value:
            yield from _beyond(item, inner[0])
    elif origin in (Annotated, Literal):
        allowed = inner if origin is Literal else inner[1]
        if value not in allowed:
            yield value, kind


def check_types(
    values: Mapping[str, Any], hints: Mapping[str, Any], needed: Collection[str] = ()
) -> None:
    """Raise UsageError where a value is not of its type, or a path that none can be.

    Args:
        values: By name.
        hints: Name to type.
        needed: Names of those that cannot be left out.
    """
    for name, value in values.items():
        if not fits(value, hints[name]):
            from seal.core.type_words import misfit

            repair = "give that" if name in needed else f"give that, or leave {name} out"
            raise UsageError(f"{misfit(name, value, hints[name])}; {repair}")
        if _may_be_path(hints[name]):
            for each in value if isinstance(value, list | tuple) else (value,):
                if isinstance(each, str | PathLike):
                    check_path(name, each)


def fits(value: Any, kind: Any) -> bool:
    """Tell whether a value is of an annotated type.

    True and False are no numbers, a whole number counts as a number, a text as no sequence. Of a
    literal the type counts alone: whoever takes the value names those that there are. Of a
    protocol, a class or a function every object is taken but plain data.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return True
    if origin is Annotated:
        return fits(value, inner[0])
    if origin in (Union, types.UnionType):
        return any(fits(value, one) for one in inner)
    if origin is Literal:
        return any(type(value) is type(one) for one in inner)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(
            fits(key, inner[0]) and fits(item, inner[1]) for key, item in value.items()
        )
    if isinstance(origin, type) and issubclass(origin, Sequence):
        several = isinstance(value, Sequence) and not isinstance(value, str | bytes)
        return several and all(fits(item, inner[0]) for item in value)
    if origin is not None or getattr(kind, "_is_protocol", False):
        return value is not None and not isinstance(value, _PLAIN)
    if kind is float:
        return fits(value, int) or isinstance(value, float)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, type(None) if kind is None else kind)


def _may_be_path(kind: Any) -> bool:
    if get_origin(kind) in (Union, types.UnionType, Sequence):
        return any(map(_may_be_path, get_args(kind)))
    return kind is Path or get_origin(kind) is PathLike


@cache
def fields_of(kind: type) -> dict[str, Any]:
    """Return the types of a dataclass's fields by name."""
    return get_type_hints(kind, include_extras=True)


def choices(kind: Any) -> tuple[Any, ...]:
    """Return the types of a union; of any other type itself."""
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
