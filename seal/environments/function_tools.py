"""Tools made of plain functions: the document from signature and docstring, calls bound to both.

A tool is a function whose first argument is the world. The others have types and are described in a
docstring of Google's style, whose first part is the tool's description. docs/own-benchmark.md shows
one.
"""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from seal.core import JSON, Tool, UsageError, shortened, told_names
from seal.core.registry import name_of
from seal.core.settings import checked
from seal.core.values import exact_json

Function = TypeVar("Function", bound=Callable[..., Any])
Tokens = Iterable[Hashable] | Callable[[Mapping[str, JSON]], Iterable[Hashable]]
"""Tokens, or how they follow from the arguments of a call, defaults filled in."""


_log = logging.getLogger(__name__)


class NotGiven:
    """The type of `NOT_GIVEN`, the default of an argument that may be absent or null."""

    def __repr__(self) -> str:
        return "NOT_GIVEN"


NOT_GIVEN: Final = NotGiven()
"""Stands for an argument that was not passed; a record leaves it out."""


@dataclass(frozen=True, slots=True)
class Effects:
    """How calls of a tool depend on each other (`seal.environments.chat_world`).

    Tokens name parts of the world and may be anything that hashes: "wifi", ("contact", "7").
    """

    checks: Tokens | None = None
    """Parts that decide whether a call fails; None: all."""
    changes: Tokens | None = None
    """Parts that a call changes; None: all."""


def effects(checks: Tokens = (), changes: Tokens = ()) -> Callable[[Function], Function]:
    """Say which parts of the world decide whether a tool fails, and which it changes.

    Of a tool that does not say so, both may be everything, which is right and slow.
    """

    def mark(function: Function) -> Function:
        setattr(function, "effects", Effects(checks, changes))  # noqa: B010
        return function

    return mark


def unchecked(function: Function) -> Function:
    """Let a tool judge the types of its arguments by itself."""
    setattr(function, "unchecked", True)  # noqa: B010
    return function


@checked
def writes(function: Function) -> Function:
    """Say that calls of a tool change something, such as an order.

    A call of it that gold does not have is an extra effect, where no table of a world shows what it
    changed.

    Args:
        function: The tool, which is marked; a schema says `"writes": true` itself.

    Raises:
        UsageError: It is no function.

    Example:
        >>> import seal
        >>> @seal.writes
        ... def cancel_order(order_id: str) -> str:
        ...     "Cancel an order."
        ...     return "cancelled"
        >>> task = seal.ask("Is order 7 open?", answer="open")
        >>> bench = seal.Benchmark("shop", tools=[cancel_order], tasks=[task])
        >>> [tool.writes for tool in bench.pool().tools()]
        [True]
    """
    if not inspect.isfunction(function):
        raise UsageError(
            f"writes: expected a function, got {shortened(function)}; a schema says "
            '"writes": true, a Tool record writes=True'
        )
    setattr(function, "writes", True)  # noqa: B010
    return function


@dataclass(frozen=True, slots=True)
class WorldTool:
    """A function as a tool."""

    document: Tool
    function: Callable[..., Any]
    types: Mapping[str, Any]
    """Argument to its annotation."""
    defaults: Mapping[str, Any]
    effects: Effects = Effects()
    checked: bool = True
    """False: the types of arguments are the function's own business."""
    strict: bool = False
    """True: 1.0 is no int, as of a published world that Python checks."""

    def bind(self, arguments: Mapping[str, JSON]) -> dict[str, Any]:
        """Return the arguments with defaults filled in, `NOT_GIVEN` among them.

        Raises:
            TypeError: An argument is missing, unknown or of another type. A whole number is a
                float, and True and False are numbers, as Python has it; 1.0 becomes the int 1,
                unless the tool is strict.
        """
        name = self.document.name
        for given in arguments:
            if given not in self.types:
                takes = told_names(self.types)
                raise TypeError(f"{name} takes no argument {shortened(given)}; it takes: {takes}")
        for wanted in self.types:
            if wanted not in arguments and wanted not in self.defaults:
                raise TypeError(f"{name} needs the argument {wanted!r}")
        if self.checked:
            if not self.strict:
                arguments = with_integers(arguments, self.types)
            for given, value in arguments.items():
                if not fits(value, self.types[given]):
                    expected = _spelled(self.types[given])
                    got = "null" if value is None else type(value).__name__
                    raise TypeError(f"argument {given!r} of {name}: expected {expected}, got {got}")
        return {
            wanted: arguments[wanted] if wanted in arguments else self.defaults[wanted]
            for wanted in self.types
        }


def world_tool(tool_id: str, function: Callable[..., Any], category: str = "") -> WorldTool:
    """Return a function as a tool of a world, which its first argument is.

    Raises:
        UsageError: It is a coroutine function; or as of `function_tool`.
    """
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise UsageError(
            f"{name_of(function)}: a world's tools are plain functions; write it with def"
        )
    types, defaults = _arguments(function, skipped=1)
    return WorldTool(
        _document(tool_id, function, category, types, defaults),
        function,
        types,
        defaults,
        getattr(function, "effects", Effects()),
        not getattr(function, "unchecked", False),
    )


def function_tool(tool_id: str, function: Callable[..., Any]) -> Tool:
    """Return the document of a plain function: what a model is told of it.

    Raises:
        UsageError: An argument has no type, or a type or default that JSON has no word for, or
            cannot be given by name; the docstring describes an argument that is none; or the
            first argument of a world's tool is none that a world could be.
    """
    return _document(tool_id, function, "", *_arguments(function, skipped=0))


def _arguments(function: Callable[..., Any], skipped: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return name to type, and name to default, of a function's arguments but for the first few."""
    try:
        hints = get_type_hints(function)
    except Exception as error:  # types that are texts are evaluated here
        raise UsageError(
            f"{name_of(function)}: a type cannot be found: {error}; import it in the same module"
        ) from error
    parameters = list(inspect.signature(function).parameters.values())
    if skipped and not (parameters and _may_be_world(hints.get(parameters[0].name, Any))):
        raise UsageError(
            f"{name_of(function)}: its first argument must be the world; "
            f"write `def {name_of(function).rpartition(':')[2]}(world, ...)`"
        )
    parameters = parameters[skipped:]
    for parameter in parameters:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise UsageError(
                f"{name_of(function)}: {str(parameter)!r} cannot be given by name, as calls of "
                "tools are; write each argument out"
            )
        if parameter.name not in hints:
            raise UsageError(
                f"{name_of(function)}: argument {parameter.name!r} has no type; "
                f"write one, such as `{parameter.name}: str`"
            )
    types = {p.name: hints[p.name] for p in parameters}
    return types, {p.name: p.default for p in parameters if p.default is not p.empty}


def _may_be_world(annotation: Any) -> bool:
    """Tell whether a type is none of those that arguments of calls have."""
    return annotation is Any or _schema(annotation) is None


def _document(
    tool_id: str,
    function: Callable[..., Any],
    category: str,
    types: Mapping[str, Any],
    defaults: Mapping[str, Any],
) -> Tool:
    described = _sections(inspect.getdoc(function) or "")
    texts = _items(described.get("Args", ""))
    for name in texts:
        if name not in types:
            raise UsageError(f"{name_of(function)}: its docstring describes {name!r}, no argument")
    properties = {}
    for name, annotation in types.items():
        # A default of null says that null is taken, and leaves the type as other programs write it.
        schema = _schema(annotation, null=defaults.get(name, NOT_GIVEN) is not None)
        if schema is None:
            raise UsageError(
                f"{name_of(function)}: argument {name!r} has the type {_spelled(annotation)}; "
                "expected str, int, float, bool, list[...], dict, Literal[...] or a union with None"
            )
        if name in texts:
            schema["description"] = texts[name]
        if name in defaults and defaults[name] is not NOT_GIVEN:
            schema["default"] = _default(function, name, defaults[name])
        properties[name] = schema
    required = [name for name in types if name not in defaults]
    schema = {"type": "object", "properties": properties, "required": required}
    text, returns = described.get("", ""), described.get("Returns")
    if not text:
        _warn_undescribed(name_of(function))
    says = bool(getattr(function, "writes", False))
    return Tool(tool_id, function.__name__, text, schema, category, returns, writes=says)


@cache
def _warn_undescribed(name: str) -> None:
    """Tell once of a function that no docstring describes: a benchmark may be made many times."""
    _log.warning("%s has no docstring: models read its name alone; say there what it does", name)


def _default(function: Callable[..., Any], name: str, value: Any) -> JSON:
    try:
        return exact_json(value)
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"{name_of(function)}: the default {shortened(value)} of the argument {name!r}: "
            f"{error}; write None, or a value that a call can have"
        ) from error


def fits(value: JSON, annotation: Any) -> bool:
    """Tell whether a JSON value is of a type, as Python counts: 1 is a float, True an int."""
    if annotation is Any:
        return True
    if isinstance(annotation, type):
        return isinstance(value, (int, float) if annotation is float else annotation)
    if annotation is None:
        return value is None
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return any(fits(value, choice) for choice in inner)
    if origin is Literal:
        return any(type(value) is type(choice) and value == choice for choice in inner)
    if origin is list:
        return isinstance(value, list) and all(fits(item, inner[0]) for item in value)
    if origin is dict:
        return isinstance(value, dict) and all(fits(item, inner[1]) for item in value.values())
    return isinstance(value, annotation)


def types_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return name to annotation of a function's arguments; empty where they cannot be found."""
    try:
        return get_type_hints(function)
    except Exception:  # types that are texts are evaluated here
        return {}


def with_integers(arguments: Mapping[str, JSON], types: Mapping[str, Any]) -> dict[str, JSON]:
    """Return arguments in which whole floats are integers where their types ask for these.

    JSON has one kind of numbers, so a schema takes 1.0 for an integer.

    Args:
        arguments: Of a call.
        types: Name to annotation; of others than `function_tool` takes nothing is changed.
    """
    known = {name: types[name] for name in arguments if name in types and _schema(types[name])}
    return {
        name: _with_integer(value, known[name]) if name in known else value
        for name, value in arguments.items()
    }


def _with_integer(value: JSON, annotation: Any) -> JSON:
    origin, inner = get_origin(annotation), get_args(annotation)
    if isinstance(value, float):
        whole = value.is_integer() and not fits(value, annotation) and fits(int(value), annotation)
        return int(value) if whole else value
    if origin is list and isinstance(value, list):
        return [_with_integer(item, inner[0]) for item in value]
    if origin is dict and isinstance(value, dict):
        return {key: _with_integer(item, inner[1]) for key, item in value.items()}
    if origin in (Union, UnionType) and not fits(value, annotation):
        options = (_with_integer(value, choice) for choice in inner)
        return next((option for option in options if fits(option, annotation)), value)
    return value


_WORDS = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object"}


def _schema(annotation: Any, null: bool = True) -> dict[str, JSON] | None:
    """Return the JSON Schema of a type; what `NOT_GIVEN` stands for has that of its value.

    Args:
        annotation: The type.
        null: Whether the schema is to say that null is taken, where it is.
    """
    if annotation is Any:
        return {}
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        choices = {choice for choice in inner if choice not in (NoneType, NotGiven)}
        if choices == {int, float}:
            schema: dict[str, JSON] | None = {"type": "number"}
        else:
            schema = _schema(choices.pop()) if len(choices) == 1 else None
        says = null and NoneType in inner and NotGiven not in inner
        return _or_null(schema) if schema and says else schema
    if origin is Literal:
        return None if any(isinstance(one, bytes) for one in inner) else {"enum": list(inner)}
    if annotation is list or origin is list:
        items = _schema(inner[0]) if inner else {}
        return None if items is None else {"type": "array", "items": items}
    word = _WORDS.get(origin or annotation)
    return {"type": word} if word else None


def _or_null(schema: dict[str, JSON]) -> dict[str, JSON]:
    """Return a schema that takes null too."""
    listed, word = schema.get("enum"), schema.get("type")
    if isinstance(listed, list):
        return {"enum": listed if None in listed else [*listed, None]}
    return {**schema, "type": [word, "null"]} if isinstance(word, str) else schema


def _spelled(annotation: Any) -> str:
    """Return a type as a model reads it: `str or null`."""
    if annotation is NoneType:
        return "null"
    if get_origin(annotation) in (Union, UnionType):
        choices = (choice for choice in get_args(annotation) if choice is not NotGiven)
        return " or ".join(map(_spelled, choices))
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


_HEADING = re.compile(r"^(Args|Returns|Raises|Source|Example|Examples|Note):[ ]*(.*)$")


def _sections(text: str) -> dict[str, str]:
    """Return the parts of a docstring by heading; the description has the heading ""."""
    parts: dict[str, list[str]] = {"": []}
    heading = ""
    for line in text.splitlines():
        found = _HEADING.match(line)
        if found:
            heading, line = found[1], found[2]
        parts.setdefault(heading, []).append(line)
    return {
        name: "\n".join(lines).strip("\n") if name == "Args" else _paragraphs("\n".join(lines))
        for name, lines in parts.items()
    }


def _paragraphs(text: str) -> str:
    """Return the text with each paragraph on a line of its own."""
    paragraphs = re.split(r"\n\s*\n", text)
    return "\n\n".join(" ".join(part.split()) for part in paragraphs if part.strip())


def _items(text: str) -> dict[str, str]:
    """Return the arguments that a section describes, with their texts."""
    found: dict[str, str] = {}
    name = ""
    for line in inspect.cleandoc(f"\n{text}").splitlines():
        begun = re.match(r"(\w+):\s*(.*)", line)
        if begun:
            name, found[begun[1]] = begun[1], begun[2]
        elif name:
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found
