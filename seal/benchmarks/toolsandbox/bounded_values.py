"""What values `static_python` makes of a file, and what it does with them, within bounds."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import combinations, islice
from typing import Any

_LONGEST = 100_000
"""Characters of a text, values of a container, or of containers within one another."""
_CHARACTERS = 100
"""Of a text that weigh as much as a value."""
SCALARS = (str, int, float, type(None))
_NUMBERS = (int, float)
_SUMS: Mapping[type[ast.operator], tuple[Callable[[Any, Any], Any], tuple[type, ...]]] = {
    ast.Add: (operator.add, (str, list, datetime, timedelta, *_NUMBERS)),
    ast.Sub: (operator.sub, (datetime, timedelta, *_NUMBERS)),
    ast.Mod: (operator.mod, _NUMBERS),
    ast.BitAnd: (operator.and_, (set,)),
}
COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.In: lambda item, held: item in held,
    ast.NotIn: lambda item, held: item not in held,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}


class Open:
    """Base of values given by name whose public attributes and items the files may use."""


def weight(value: Any) -> int:
    """Return the number of values in a value, itself included, each as often as it is written out.

    Raises:
        ValueError: There are more than `_LONGEST`, as where it holds itself.
    """
    waiting, count = [value], 0
    while waiting:
        item = waiting.pop()
        count += 1 + (len(item) // _CHARACTERS if isinstance(item, str) else 0)
        waiting += item.values() if isinstance(item, dict) else ()
        waiting += item if isinstance(item, (list, tuple, set)) else ()
        if count + len(waiting) > _LONGEST:
            raise ValueError(f"more than {_LONGEST} values within one another")
    return count


def sized(value: Any) -> int:
    """Return how long a value is; 0: it has no length.

    Raises:
        ValueError: It is too long, or an integer of more than 64 bits.
    """
    size = len(value) if isinstance(value, (str, list, tuple, dict, set)) else 0
    if size > _LONGEST:
        raise ValueError(f"a {type(value).__name__} of more than {_LONGEST}")
    if isinstance(value, int) and abs(value) >> 64:
        raise ValueError("an integer of more than 64 bits")
    return size


def scalar(value: Any) -> Any:
    """Return a value that is a text, a number or None; raise TypeError where it is another."""
    if not isinstance(value, SCALARS):
        raise TypeError(f"expected a text or a number, got a {type(value).__name__}")
    return value


def listed(values: Any) -> list[Any]:
    """Return values as a list; raise ValueError where they are too many."""
    made = list(islice(values, _LONGEST + 1))
    sized(made)
    return made


def joined(between: str, texts: Any) -> str:
    """Return texts as one; raise ValueError where it would be too long."""
    parts = list(map(scalar, texts))
    if sum(map(len, parts)) + len(between) * len(parts) > _LONGEST:
        raise ValueError(f"a text of more than {_LONGEST}")
    return between.join(parts)


def summed(by: ast.operator, left: Any, right: Any) -> Any:
    """Return a sum, difference, remainder or intersection; raise TypeError where it is none."""
    function, kinds = _SUMS.get(type(by), (operator.add, ()))
    if not isinstance(left, kinds) or not isinstance(right, kinds):
        pair = f"a {type(left).__name__} and a {type(right).__name__}"
        raise TypeError(f"{type(by).__name__} of {pair} is not understood")
    return function(left, right)


def attribute(owner: Any, name: str) -> Any:
    """Return an attribute of a value; raise AttributeError where it is not one of those known."""
    if name in _ATTRIBUTES.get(type(owner), ()):
        return getattr(owner, name)
    if isinstance(owner, Open) and not name.startswith("_"):
        return getattr(owner, name)
    if (type(owner), name) in _METHODS:
        return partial(_METHODS[type(owner), name], owner)
    raise AttributeError(f"the attribute {name} of a {type(owner).__name__} is not known")


def _update(held: dict[Any, Any], more: dict[Any, Any]) -> None:
    if not isinstance(more, dict):  # keys of other containers would be hashed, however large
        raise TypeError(f"expected a dict, got a {type(more).__name__}")
    held.update(more)
    sized(held)


_ATTRIBUTES: Mapping[type, Sequence[str]] = {
    dict: ("items", "keys", "values"),
    list: ("append", "extend"),
    str: ("lstrip",),
    datetime: ("day", "isoweekday", "month", "timestamp", "year"),
}
_METHODS: Mapping[tuple[type, str], Callable[..., Any]] = {
    (dict, "update"): _update,
    (str, "join"): joined,
}
BUILTINS: Mapping[str, Any] = {
    "dict": lambda: {},
    "float": float,
    "int": int,
    "list": listed,
    "range": lambda *bounds: listed(range(*bounds)),
    "set": lambda values=(): set(map(scalar, values)),
    "str": lambda value: str(scalar(value)),
    "itertools.combinations": lambda values, count: listed(combinations(listed(values), count)),
}
"""Functions of Python that files may call."""
