"""Makes the fields of an answer agree: amounts add up, and later dates are later.

Only fields whose schema leaves the value open are changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seal.core.text import words

_SAYS_NOTHING = {"type", "title", "description", "default"}
_EACH = ("unit_price", "price")
_MANY = ("quantity", "qty")
_LINE = ("subtotal", "line_total", "amount", "total")
_SUM = ("subtotal", "total", "total_price", "total_amount", "sum")
_MORE = ("tax", "shipping", "shipping_cost", "fee")
_COUNT = ("count", "total_count", "total_results", "num_results", "total")
_EARLIER = {
    "created",
    "ordered",
    "order",
    "placed",
    "issued",
    "start",
    "departure",
    "begin",
    "from",
}
_LATER = {"updated", "shipped", "delivered", "delivery", "due", "end", "arrival", "until", "to"}


def agree(properties: Mapping[str, Any], value: dict[str, Any], given: Mapping[str, Any]) -> None:
    """Make the fields of one object agree, in place.

    Args:
        properties: Field to its schema.
        value: The object.
        given: The call's arguments; fields of these names stay as they are.
    """
    free = [
        name
        for name, schema in properties.items()
        if name in value and isinstance(schema, dict) and schema.keys() <= _SAYS_NOTHING
        if name not in given
    ]
    numbers = {name: value[name] for name in free if type(value[name]) in (int, float)}
    _multiply(numbers, value)
    _add_up(numbers, value)
    _order(free, value)


def _multiply(numbers: Mapping[str, float], value: dict[str, Any]) -> None:
    """Set a line's amount to its price times its quantity."""
    each, line = _first(_EACH, value), _first(_LINE, numbers)
    many = _first(_MANY, value)
    if each and many and line:
        _put(value, line, value[each] * value[many])


def _add_up(numbers: Mapping[str, float], value: dict[str, Any]) -> None:
    """Set a sum to that of the lines and extra costs; if lines have no prices, set their count."""
    lists = [one for one in value.values() if isinstance(one, list) and one]
    lines = lists[0] if len(lists) == 1 and all(isinstance(o, dict) for o in lists[0]) else []
    amounts = [_amount(one) for one in lines]
    sums = [name for name in _SUM if name in numbers]
    if amounts and None not in amounts:
        total = sum(amount for amount in amounts if amount is not None)
        for name in sums:
            more = 0 if name == "subtotal" else sum(value[m] for m in _MORE if m in numbers)
            _put(value, name, total + more)
    elif lines:
        for name in _COUNT:
            if name in numbers:
                value[name] = len(lines)


def _amount(line: Mapping[str, Any]) -> float | None:
    each, many = _first(_EACH, line), _first(_MANY, line)
    whole = _first(_LINE, line)
    if whole:
        return float(line[whole])
    return None if each is None else line[each] * (line[many] if many else 1)


def _order(free: list[str], value: dict[str, Any]) -> None:
    """Exchange dates and times so that no end lies before its beginning."""
    for early in free:
        for late in free:
            said, then = words(early), words(late)
            pair = {*said} & _EARLIER and {*then} & _LATER and said[-1:] == then[-1:]
            both = value[early], value[late]
            if pair and all(isinstance(one, str) for one in both) and both[0] > both[1]:
                value[early], value[late] = both[1], both[0]


def _first(names: tuple[str, ...], value: Mapping[str, Any]) -> str | None:
    return next((name for name in names if type(value.get(name)) in (int, float)), None)


def _put(value: dict[str, Any], name: str, amount: float) -> None:
    value[name] = round(amount) if type(value[name]) is int else round(amount, 2)
