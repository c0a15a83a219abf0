"""Values held to annotated types, and functions that hold their arguments to their signatures.

What is passed wrongly is named with what was expected; no `TypeError` reaches the user.
"""

from __future__ import annotations

import builtins
import inspect
import math
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from functools import cache, wraps
from os import PathLike
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from seal.core.errors import UnknownNameError, UsageError, shortened
from seal.core.folders import check_path
from seal.core.secrets import is_secret

_P = ParamSpec("_P")
_R = TypeVar("_R")
_C = TypeVar("_C", bound=type)
_KEYWORDS = inspect.Parameter.VAR_KEYWORD
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


def checked(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return a function that refuses arguments which its signature does not have.

    Keyword arguments may be annotated as `Unpack` of a `TypedDict`: its keys are names then. Any
    other keywords have free names, and they and `*args` are of any type.

    Raises:
        UnknownNameError: No such argument; names the closest.
        UsageError: Too few or too many arguments, or one of another type.
    """

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        form = _form_of(function)
        given = _bound(function, function.__qualname__, args, kwargs)
        check_types(given, form.hints, form.needed)
        return function(*args, **kwargs)

    return call


def checked_names(kind: _C) -> _C:
    """Let a class and its public methods refuse arguments that they do not have.

    They raise what `checked` raises; types are their own.
    """
    for name, made in list(vars(kind).items()):
        plain = made.__func__ if isinstance(made, classmethod | staticmethod) else made
        is_maker = name in ("__init__", "__new__")
        if isinstance(plain, types.FunctionType) and (is_maker or not name.startswith("_")):
            named = _named(plain, kind.__name__ if is_maker else f"{kind.__name__}.{name}")
            setattr(kind, name, named if plain is made else type(made)(named))
    return kind


def checked_fields(kind: _C) -> _C:
    """Let a dataclass refuse what `checked_names` refuses, and values that are of another type.

    Records that are read from a file do not pass here: their reader checks them.
    """
    make = getattr(checked_names(kind), "__init__")  # noqa: B009 - mypy refuses to read it

    @wraps(make)
    def init(record: Any, *args: Any, **kwargs: Any) -> None:
        make(record, *args, **kwargs)
        for name, sure, items in _quick_checks(kind):  # importers make records by the thousand
            value = getattr(record, name)
            whole = type(value) is tuple and items.issuperset(map(type, value))
            if not whole and type(value) not in sure:
                check_fields(record)

    setattr(kind, "__init__", init)  # noqa: B010 - mypy refuses to assign a method
    return kind


def _named(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError:  # looked into only now: records are made by the million
            _bound(function, name, args, kwargs)
            raise

    return call


def _bound(
    function: Callable[..., Any], name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments of a call that have types, by name.

    Raises:
        UnknownNameError: No such argument.
        UsageError: Too few or too many.
    """
    form = _form_of(function)
    unknown = [each for each in kwargs if each not in form.hints and not form.has_free_names]
    if unknown:
        raise UnknownNameError("setting", unknown[0], form.hints)
    try:
        given = dict(form.signature.bind(*args, **kwargs).arguments)
    except TypeError as error:
        raise UsageError(f"{name}: {error}; it takes {_names_of(form.signature)}") from error
    further = given.pop(form.keywords, {})
    return {each: value for each, value in given.items() if each in form.hints} | (
        {} if form.has_free_names else further
    )


def _names_of(signature: inspect.Signature) -> str:
    """Return the arguments as Python writes them, without types: `(bench, *, agent=None)`."""
    untyped = [one.replace(annotation=one.empty) for one in signature.parameters.values()]
    named = [one for one in untyped if one.name not in ("self", "cls")]
    return str(inspect.Signature(named))


def places_of(function: Callable[..., Any], *counts: int) -> int | None:
    """Return the first of the counts of arguments without a name that a function can take."""
    signature = inspect.signature(function)
    for count in counts:
        try:
            signature.bind(*(None,) * count)
        except TypeError:
            continue
        return count
    return None


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
    hints = _fields_of(kind)
    values = {name: getattr(record, name) for name in hints}
    needed = {one.name for one in fields(record) if one.default is one.default_factory is MISSING}
    check_types(values, hints, needed)
    for name, value in values.items():
        for wrong, one in _beyond(value, hints[name]):
            flag = flags.get(name, name)
            if get_origin(one) is Literal:
                raise UnknownNameError(f"value of {flag}", str(wrong), get_args(one))
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
            repair = "give that" if name in needed else f"give that, or leave {name} out"
            place, wrong, kind = _misfit(name, value, hints[name])
            raise UsageError(
                f"{place}: expected {expected(kind)}, got {_got(name, wrong)}; {repair}"
            )
        if _may_be_path(hints[name]):
            for each in value if isinstance(value, list | tuple) else (value,):
                if isinstance(each, str | PathLike):
                    check_path(name, each)


def _misfit(place: str, value: Any, kind: Any) -> tuple[str, Any, Any]:
    """Return what is wrong in a value: its place, itself, and the type that it should be of."""
    for choice in _choices(kind):
        origin, inner = get_origin(choice), get_args(choice)
        items: Iterable[tuple[Any, Any]] = ()
        if origin is Mapping and isinstance(value, Mapping):
            items = value.items()
        elif origin in (Sequence, tuple) and isinstance(value, list | tuple):
            items = enumerate(value)
        for key, item in items:
            wanted = inner[1] if origin is Mapping else inner[0]
            if not fits(item, wanted):
                return _misfit(f"{place}[{key!r}]", item, wanted)
    return place, value, kind


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


class _Names(dict[str, Any]):
    """The names of a module; what it imports for type checkers alone stands for anything."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, Any)


class _Form(NamedTuple):
    """What a function takes."""

    hints: dict[str, Any]
    """Argument to type, those of a `TypedDict` among them."""
    signature: inspect.Signature
    keywords: str
    """Name of the parameter that takes further keywords; empty: there is none."""
    has_free_names: bool
    """Whether these may have any name."""
    needed: frozenset[str]
    """Arguments without a default."""


@cache
def _form_of(function: Callable[..., Any]) -> _Form:
    signature = inspect.signature(function)
    kinds = {one.kind: one.name for one in signature.parameters.values()}
    keywords, several = kinds.get(_KEYWORDS, ""), kinds.get(inspect.Parameter.VAR_POSITIONAL)
    hints = get_type_hints(function, localns=_Names(function.__globals__), include_extras=True)
    found = {name: hints[name] for name in signature.parameters if name in hints}
    found.pop(several or "", None)
    dicts = [kind for kind in get_args(found.pop(keywords, None)) if is_typeddict(kind)]
    for kind in dicts:
        found |= get_type_hints(kind)
    needed = frozenset(n for n, one in signature.parameters.items() if one.default is one.empty)
    return _Form(found, signature, keywords, bool(keywords) and not dicts, needed)


@cache
def _fields_of(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


@cache
def _quick_checks(kind: type) -> list[tuple[str, frozenset[type], frozenset[type]]]:
    """Return fields, the types that surely fit, and those of the items of a tuple that does.

    What may be anything is left out.
    """
    choices_of = {name: _choices(hint) for name, hint in _fields_of(kind).items()}
    return [
        (
            name,
            frozenset(get_origin(one) or one for one in choices if get_origin(one) is not tuple),
            frozenset(get_args(one)[0] for one in choices if get_origin(one) is tuple),
        )
        for name, choices in choices_of.items()
        if Any not in choices
    ]


def _choices(kind: Any) -> tuple[Any, ...]:
    """Return the types of a union; of any other type itself."""
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
