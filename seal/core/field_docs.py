"""What the strings below the fields of a class say: the one description of each field."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import is_dataclass
from functools import cache
from itertools import pairwise
from typing import TypeVar

_C = TypeVar("_C", bound=type)


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
