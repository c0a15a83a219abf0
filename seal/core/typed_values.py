"""Values held to annotated types: whether they fit, and in words what is wrong if they do not."""

from __future__ import annotations

import inspect
import math
import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from seal.core.errors import UnknownNameError, UsageError, shortened
from seal.core.folders import check_path
from seal.core.secrets import is_secret
from seal.core.text import counted

_PLAIN = (bool, int, float, complex, str, bytes, list, tuple, set, frozenset, Mapping)
"""Classes of data: none of them is a plug-in, whatever methods it has."""
_CLASSES: Mapping[Any, Any] = {None: type(None), float: (int, float)}
"""Types to the classes that stand for them."""
_SAID: Mapping[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    str: "a text",
    Path: "a path",
    type(None): "None",
}


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
            raise UsageError(f"--{flag.replace('_', '-')} {wrong}: expected {_expected(one)}")


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
        if found := _misfit(value, hints[name]):
            told = f"expected {_expected(found.kind)}, got {_got(name, found.value)}"
            repair = "give that" if name in needed else f"give that, or leave {name} out"
            if isinstance(found.value, str) and _may_be_path(found.kind):
                repair = "give a pathlib.Path of it"
            raise UsageError(f"{name}{found.place}: {told}; {repair}")
        if _may_be_path(hints[name]):
            for each in value if isinstance(value, list | tuple) else (value,):
                if isinstance(each, str | PathLike):
                    check_path(name, each)


class _Misfit(NamedTuple):
    """What is not of its type."""

    place: str
    """In the whole value, such as `['a'][0]`; empty: all of it."""
    value: Any
    kind: Any


def fits(value: Any, kind: Any) -> bool:
    """Tell whether a value is of an annotated type.

    True and False are no numbers, a whole number counts as a number, a text as no sequence. Of a
    literal the type counts alone: whoever takes the value names those that there are. Of a
    protocol every object is taken but plain data, and of a function whatever can be called with as
    many arguments.
    """
    return _misfit(value, kind) is None


def _misfit(value: Any, kind: Any) -> _Misfit | None:
    """Return the first part of a value that is not of its type; None: the value fits."""
    origin, inner = get_origin(kind), get_args(kind)
    whole = _Misfit("", value, kind)
    if origin in (Union, types.UnionType):
        found = whole
        for one in inner:
            part = _misfit(value, one)
            if part is None:
                return None
            found = part if part.place and not found.place else found
        return found
    if isinstance(origin, type) and issubclass(origin, (Mapping, Sequence)):
        return _misfit_within(value, whole)
    if origin is Annotated:
        fitting = fits(value, inner[0])
    elif origin is Literal:
        fitting = any(type(value) is type(one) for one in inner)
    elif origin is not None or getattr(kind, "_is_protocol", False):
        fitting = value is not None and not isinstance(value, _PLAIN)
        if origin in (Callable, PathLike, type):
            fitting = fitting and isinstance(value, origin)
        if origin is Callable and isinstance(inner[0], list):
            fitting = fitting and takes(value, len(inner[0]))
    elif kind in (int, float) and isinstance(value, bool):
        fitting = False
    else:
        fitting = kind is Any or isinstance(value, _CLASSES.get(kind, kind))
    return None if fitting else whole


def _misfit_within(value: Any, whole: _Misfit) -> _Misfit | None:
    """Return what of a mapping or sequence is not of its type."""
    origin, inner = get_origin(whole.kind), get_args(whole.kind)
    maps = issubclass(origin, Mapping)
    if not isinstance(value, Mapping if maps else Sequence) or isinstance(value, str | bytes):
        return whole
    items = value.items() if isinstance(value, Mapping) else enumerate(value)
    for key, item in items:
        if part := _misfit(item, inner[maps]):
            return part._replace(place=f"[{key!r}]{part.place}")
    return whole if maps and not all(fits(key, inner[0]) for key in value) else None


def takes(function: Any, count: int) -> bool:
    """Tell whether a function can take so many arguments without a name."""
    try:
        inspect.signature(function).bind(*(None,) * count)
    except TypeError:
        return False
    except ValueError:  # a built-in that tells no signature
        return True
    return True


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


def _expected(kind: Any) -> str:
    """Return a type in words: `a whole number or None`; of `Annotated` the words are its own."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        bounded = isinstance(inner[1], Within)
        return f"{_expected(inner[0])} {inner[1]}" if bounded else str(inner[1])
    if origin in (Union, types.UnionType):
        *others, last = dict.fromkeys(map(_expected, inner))
        return f"{', '.join(others)} or {last}" if others else last
    if origin is Literal:
        return "one of " + ", ".join(map(repr, inner))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return f"a mapping of {_expected(inner[0])} to {_expected(inner[1])}"
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return f"a list, each item {_expected(inner[0])}"
    if origin is PathLike:
        return "a path"
    if origin is type:
        return f"a class of {getattr(inner[0], '__name__', inner[0])}"
    if origin is Callable and isinstance(inner[0], list):
        return f"a class or function that takes {counted(len(inner[0]), 'argument')}"
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
