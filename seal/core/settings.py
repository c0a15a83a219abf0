"""Settings and arguments held to what their signatures declare; help from docstrings."""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import re
import sys
import textwrap
import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass
from functools import cache, wraps
from importlib import import_module
from itertools import pairwise
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

from seal.core.errors import SealError, UnknownNameError, UsageError, nearest, shortened
from seal.core.files import check_path
from seal.core.secrets import is_secret
from seal.core.text import counted

# -- Functions and records that hold their arguments to their signatures.
#
# What is passed wrongly is named with what was expected; no `TypeError` reaches the user.

_P = ParamSpec("_P")
_R = TypeVar("_R")
_C = TypeVar("_C", bound=type)
_KEYWORDS = inspect.Parameter.VAR_KEYWORD
_FORMER = {
    "baselines_alike": "Rules judge floor and ceiling, and the template simulates",
    "cache_url": "Set the variable SEAL_CACHE_URL",
    "checker": 'Write roles={"checker": ...}',
    "errata": "Score a run of a copy of the pool whose gold is mended",
    "force_simulator": "Gold calls are answered by what was recorded",
    "history_policy": "A goal ends when its prompt does not fit",
    "hooks": "A tracker keeps what seal.run returns",
    "on": 'Write processes="ray"',
    "perturb": "seal.augment scrambles tools; a pool of your own asks in other words",
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


# -- Values held to annotated types: whether they fit, and in words what is wrong if they do not.

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
            told = _expected(one)
            if isinstance(wrong, float) and not math.isfinite(wrong):
                told = told.replace("a number", "a finite number")
            raise UsageError(f"--{flag.replace('_', '-')} {wrong}: expected {told}")


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
    if isinstance(kind, TypeVar):
        kind = kind.__bound__
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


# -- What the strings below the fields of a class say: the one description of each field.


@cache
def field_docs(kind: type) -> dict[str, str]:
    """Return the strings below the fields of a class and of its bases, by field."""
    found: dict[str, str] = {}
    for base in filter(is_dataclass, kind.__mro__):
        found = _docs_of(base.__module__).get(base.__name__, {}) | found
    return found


def with_field_docs(kind: _C) -> _C:
    """Let the docstring of a class describe its fields, which `help` shows.

    The source is read when the docstring is.
    """
    if kind.__doc__:
        setattr(kind, "__doc__", _Told(kind.__doc__))  # noqa: B010 - mypy refuses to assign it
    return kind


class _Told:
    def __init__(self, text: str) -> None:
        self._text = inspect.cleandoc(text)

    def __get__(self, record: object, kind: type) -> str:
        docs = field_docs(kind)
        told = [
            f"{name}:\n{textwrap.indent(docs[name], '    ')}"
            for name in getattr(kind, "__dataclass_fields__", ())
            if name in docs
        ]
        lines = textwrap.indent("\n".join(told), "    ")
        return f"{self._text}\n\nFields:\n{lines}" if told else self._text


@cache
def _docs_of(module: str) -> dict[str, dict[str, str]]:
    try:
        classes = ast.parse(inspect.getsource(sys.modules[module])).body
    except (OSError, TypeError, KeyError):  # it was typed into an interpreter
        return {}
    return {each.name: dict(_docs(each)) for each in classes if isinstance(each, ast.ClassDef)}


def _docs(body: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for one, following in pairwise(body.body):
        match one, following:
            case (
                ast.AnnAssign(target=ast.Name(name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, inspect.cleandoc(text)
