"""Values held to annotated types, and functions that hold their arguments to their signatures.

What is passed wrongly is named with what was expected; no `TypeError` reaches the user.
"""

from __future__ import annotations

import builtins
import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from functools import cache, wraps
from pathlib import Path
from typing import (
    Any,
    Literal,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from seal.core.errors import UnknownNameError, UsageError, shortened
from seal.core.secrets import is_secret

_P = ParamSpec("_P")
_R = TypeVar("_R")
_PLAIN = (bool, int, float, complex, str, bytes, list, tuple, set, frozenset, Mapping)
"""Classes of data: none of them is a plug-in, whatever methods it has."""
_SAID: Mapping[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    str: "a text",
    Path: "a path",
    type(None): "None",
}


def checked(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return a function that refuses arguments which its signature does not have.

    Keyword arguments may be annotated as `Unpack` of a `TypedDict`: its keys are names then. Where
    they are annotated as `Any`, the function itself refuses those that it does not have.

    Raises:
        UnknownNameError: No such argument; names the closest.
        UsageError: Too few or too many arguments, or one of another type.
    """

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        hints, signature, takes_any = _hints_of(function)
        for name in kwargs:
            if name not in hints and not takes_any:
                raise UnknownNameError("setting", name, hints)
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            name = function.__name__
            raise UsageError(f"{name}: {error}; see help(seal.{name})") from error
        given = dict(bound.arguments)
        given |= given.pop(_keywords_of(signature), {})
        check_types({name: given[name] for name in given if name in hints}, hints)
        return function(*args, **kwargs)

    return call


def check_fields(record: Any) -> None:
    """Raise UsageError where a field of a dataclass is not of its type."""
    kind: type = type(record)
    hints = _fields_of(kind)
    check_types({name: getattr(record, name) for name in hints}, hints)


def check_types(values: Mapping[str, Any], hints: Mapping[str, Any]) -> None:
    """Raise UsageError where a value is not of its type; names what was expected."""
    for name, value in values.items():
        if not fits(value, hints[name]):
            raise UsageError(
                f"{name}: expected {expected(hints[name])}, got {_got(name, value)}; "
                f"give that, or leave {name} out"
            )


def fits(value: Any, kind: Any) -> bool:
    """Tell whether a value is of an annotated type.

    True and False are no numbers, a whole number counts as a number, a text as no sequence. Of a
    literal the type counts alone: whoever takes the value names those that there are. Of a
    protocol, a class or a function every object is taken but plain data.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return True
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


def expected(kind: Any) -> str:
    """Return a type in words: `a whole number or None`."""
    origin, inner = get_origin(kind), get_args(kind)
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


class _Names(dict[str, Any]):
    """The names of a module; what it imports for type checkers alone stands for anything."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, Any)


@cache
def _hints_of(function: Callable[..., Any]) -> tuple[dict[str, Any], inspect.Signature, bool]:
    """Return the type of each argument, the signature, and whether it takes any other keyword."""
    signature = inspect.signature(function)
    names = _Names(function.__globals__)
    hints = get_type_hints(function, localns=names)
    found = {name: hint for name, hint in hints.items() if name in signature.parameters}
    options = found.pop(_keywords_of(signature), None)
    for kind in get_args(options):
        if is_typeddict(kind):
            found |= get_type_hints(kind)
    return found, signature, options is Any


def _keywords_of(signature: inspect.Signature) -> str:
    """Return the name of the parameter that takes further keywords; empty: there is none."""
    kinds = signature.parameters.values()
    return next((one.name for one in kinds if one.kind is one.VAR_KEYWORD), "")


@cache
def _fields_of(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
