"""Calls that are written as Python, `name(argument=value, ...)`: read, never evaluated."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from typing import Any

from seal.core import JSON, DataError, shortened
from seal.core.plain import literal_value, parse_expression
from seal.core.text import counted


def parsed_call(text: Any) -> ast.Call:
    """Return the tree of a call.

    Raises:
        DataError: The text is none.
    """
    problem = f"{shortened(text)} is no call; expected function(argument=value, ...)"
    if not isinstance(text, str):
        raise DataError(problem)
    try:
        parsed = parse_expression(text)
    except ValueError as error:
        raise DataError(problem) from error
    if not isinstance(parsed, ast.Call) or not isinstance(parsed.func, (ast.Name, ast.Attribute)):
        raise DataError(problem)
    return parsed


def given_arguments(call: ast.Call, names: Sequence[str]) -> dict[str, JSON]:
    """Return the values of a call by argument.

    Args:
        call: As `parsed_call` gives it.
        names: Of the function's arguments, in their order.

    Raises:
        DataError: An argument is no literal, unnamed beyond `names`, or given twice.
    """
    text, name = ast.unparse(call), ast.unparse(call.func)
    if len(call.args) > len(names):
        raise DataError(
            f"{shortened(text)}: {name} has {counted(len(names), 'argument')}, not so many"
        )
    found: dict[str, JSON] = {}
    given = [*zip(names, call.args, strict=False), *((k.arg, k.value) for k in call.keywords)]
    for argument, node in given:
        if argument is None or argument in found:
            raise DataError(f"{shortened(text)}: expected each argument once, by its name")
        found[argument] = _literal(node, text)
    return found


def _literal(node: ast.expr, text: str) -> JSON:
    try:
        return _as_json(literal_value(node))
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{shortened(text)}: {shortened(ast.unparse(node))} is no literal that JSON can hold"
        ) from error


def _as_json(value: Any) -> JSON:
    if isinstance(value, (list, tuple)):
        return [_as_json(item) for item in value]
    if isinstance(value, dict):
        return {_key(key): _as_json(item) for key, item in value.items()}
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise ValueError(f"JSON cannot hold {type(value).__name__}")


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise ValueError("a key that is no text")
    return key
