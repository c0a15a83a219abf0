"""Functions and records that hold their arguments to their signatures.

What is passed wrongly is named with what was expected; no `TypeError` reaches the user.
"""

from __future__ import annotations

import builtins
import inspect
import re
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, wraps
from importlib import import_module
from typing import (
    Any,
    NamedTuple,
    ParamSpec,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from seal.core.errors import SealError, UnknownNameError, UsageError, nearest
from seal.core.field_docs import with_field_docs
from seal.core.typed_values import check_fields, check_types, choices, fields_of, takes

_P = ParamSpec("_P")
_R = TypeVar("_R")
_C = TypeVar("_C", bound=type)
_KEYWORDS = inspect.Parameter.VAR_KEYWORD
_FORMER = {
    "baselines_alike": "Rules judge floor and ceiling, and the template simulates",
    "cache_url": "Set the variable SEAL_CACHE_URL",
    "checker": 'Write roles={"checker": ...}',
    "force_simulator": "Gold calls are answered by what was recorded",
    "history_policy": "A goal ends when its prompt does not fit",
    "on": 'Write processes="ray"',
    "planner": 'Write roles={"planner": ...}',
    "speaker_selection": 'Write world_options={"selection": "auto"}',
    "style": 'Write roles={"execution_manager": "react"}',
    "tool_messages": 'Write format="native-text"',
    "user": 'Write roles={"user_simulator": ...}',
    "verifier": 'Write roles={"verifier": ...}',
}
"""What is no setting, or no more, to what says it now."""


def checked(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return a function that refuses arguments which its signature does not have.

    Keyword arguments may be annotated as `Unpack` of a `TypedDict`: its keys are names then. Any
    other keywords have free names, and they and `*args` are of any type. An error that names
    options of the command line gets a note with those that are arguments here.

    Raises:
        UnknownNameError: No such argument; names the closest.
        UsageError: Too few or too many arguments, or one of another type.
    """

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        form = _form_of(function)
        given = _bound(function, function.__qualname__, args, kwargs)
        check_types(given, form.hints, form.needed)
        try:
            return function(*args, **kwargs)
        except SealError as error:
            _note_arguments(error, form.hints)
            raise

    return call


def _note_arguments(error: SealError, arguments: Collection[str]) -> None:
    """Add how Python names the options that an error tells before any command with its own."""
    text = re.split(r"\bseal [a-z]", str(error))[0]
    options = dict.fromkeys(re.findall(r"(?<!\S)--([a-z-]+)", text))
    told = [
        f"--{option} is {name}=..."
        for option in options
        if (name := option.replace("-", "_")) in arguments
    ]
    if told:
        error.add_note(f"In Python, {' and '.join(told)}")


def checked_names(kind: _C) -> _C:
    """Let a class and its public methods refuse arguments that they do not have.

    They raise what `checked` raises; types are their own. Their docstrings describe their fields.
    """
    for name, made in list(vars(kind).items()):
        plain = made.__func__ if isinstance(made, classmethod | staticmethod) else made
        is_maker = name in ("__init__", "__new__")
        if isinstance(plain, types.FunctionType) and (is_maker or not name.startswith("_")):
            named = _named(plain, kind.__name__ if is_maker else f"{kind.__name__}.{name}")
            setattr(kind, name, named if plain is made else type(made)(named))
    return with_field_docs(kind)


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
        if unknown[0] in _FORMER and "cache_dir" in form.hints:
            raise UnknownNameError("setting", unknown[0], (), cure=f"{_FORMER[unknown[0]]}.")
        takers = _takers_of(unknown[0])
        cure = f"It belongs to {' and '.join(takers)}: give it there." if takers else ""
        is_elsewhere = takers and not nearest(unknown[0], form.hints, 75)
        raise UnknownNameError("setting", unknown[0], () if is_elsewhere else form.hints, cure=cure)
    try:
        given = dict(form.signature.bind(*args, **kwargs).arguments)
    except TypeError as error:
        raise UsageError(f"{name}: {error}; it takes {_names_of(form.signature)}") from error
    further = given.pop(form.keywords, {})
    return {each: value for each, value in given.items() if each in form.hints} | (
        {} if form.has_free_names else further
    )


def _takers_of(setting: str) -> list[str]:
    """Return the public functions that have a setting, and `seal.Benchmark` where it is a field."""
    seal = import_module("seal")
    public = [getattr(seal, name) for name in seal.__all__]
    functions = [inspect.unwrap(one) for one in public if inspect.isfunction(one)]
    found = [one.__name__ for one in functions if setting in _form_of(one).hints]
    if setting in inspect.signature(seal.Benchmark).parameters:
        found.append("Benchmark")
    return [f"seal.{name}" for name in found]


def _names_of(signature: inspect.Signature) -> str:
    """Return the arguments as Python writes them, without types: `(bench, *, agent=None)`."""
    untyped = [one.replace(annotation=one.empty) for one in signature.parameters.values()]
    named = [one for one in untyped if one.name not in ("self", "cls")]
    return str(inspect.Signature(named))


def places_of(function: Callable[..., Any], *counts: int) -> int | None:
    """Return the first of the counts of arguments without a name that a function can take."""
    return next((count for count in counts if takes(function, count)), None)


def check_plain(function: Callable[..., Any], what: str) -> None:
    """Make sure that a function is no coroutine function, for which nobody would wait.

    Raises:
        UsageError: It is one; names `what`.
    """
    if inspect.iscoroutinefunction(function):
        raise UsageError(f"{what} is a coroutine function; write it as a plain function")


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
def _quick_checks(kind: type) -> list[tuple[str, frozenset[type], frozenset[type]]]:
    """Return fields, the types that surely fit, and those of the items of a tuple that does.

    What may be anything is left out.
    """
    choices_of = {name: choices(hint) for name, hint in fields_of(kind).items()}
    return [
        (
            name,
            frozenset(get_origin(one) or one for one in choices if get_origin(one) is not tuple),
            frozenset(get_args(one)[0] for one in choices if get_origin(one) is tuple),
        )
        for name, choices in choices_of.items()
        if Any not in choices
    ]
