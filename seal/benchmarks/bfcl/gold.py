"""BFCL's gold: accepted values of single-turn calls, and Python calls of multi-turn ones.

Accepted values (`possible_answer`), by the rules of upstream's checker:

- An argument has a list of accepted values. `""` among them says that it may be left out, unless
  the function requires it; where the function takes `""` itself, it is right too.
- A map among the values has a list of accepted values for each member in turn, `""` for one that
  may be left out; so do maps that are items of a list. They are multiplied out here: each accepted
  value of an argument is a JSON value as a model would give it. What lies deeper is one value.
- An empty list where a list is wanted means the empty list: upstream's checker, taken by its word,
  would accept nothing there.

Unlike upstream's, texts are compared letter by letter: its checker folds case and ignores blanks
and most punctuation.

Multi-turn calls (`name(argument=value, ...)`) are read by `ast`, never evaluated: values are
literals, positional arguments get their names from the function's document.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any

from seal.core import JSON, DataError, Milestone, Plan, Tool, shortened
from seal.core.conditions import Argument, Called
from seal.pools.gold_calls import admits
from seal.pools.reading.calls import given_arguments, parsed_call
from seal.pools.reading.records import expect

MOST_VALUES = 4096
"""Accepted values of one argument, multiplied out; upstream has at most 128."""

_LEFT_OUT = object()
_OMITTED = ""
"""Upstream's mark among accepted values: may be left out."""


class UnusableGoldError(DataError):
    """Gold that is well-formed but cannot be met or written; `reason` is what it is counted as."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


def plan_of_answers(ground_truth: Any, offered: Mapping[str, Tool]) -> Plan:
    """Return the plan of a single-turn item: its calls in no order.

    Args:
        ground_truth: `[{function: {argument: [accepted values]}}]`.
        offered: Name to tool.

    Raises:
        DataError: It has another shape.
        UnusableGoldError: A function is not offered, or an argument has no value, or too many.
    """
    if not isinstance(ground_truth, list) or not ground_truth:
        raise DataError(f"ground_truth: expected a list of calls, got {shortened(ground_truth)}")
    return Plan(tuple(Milestone(_accepted_call(call, offered)) for call in ground_truth))


def _accepted_call(call: Any, offered: Mapping[str, Tool]) -> Called:
    if not isinstance(call, dict) or len(call) != 1:
        raise DataError(
            f"ground_truth: expected {{function: {{argument: [values]}}}}, got {shortened(call)}"
        )
    ((name, accepted),) = call.items()
    expect(accepted, dict, f"ground_truth of {name!r}")
    tool = _offered(name, offered)
    required = tool.parameters.get("required", [])
    properties: Mapping[str, Any] = tool.parameters["properties"]
    return Called(
        tool.id,
        {
            argument: _argument(
                f"{name}.{argument}", values, properties.get(argument), argument in required
            )
            for argument, values in accepted.items()
        },
    )


def _offered(name: str, offered: Mapping[str, Tool]) -> Tool:
    if name not in offered:
        raise UnusableGoldError(
            "gold_calls_what_is_not_offered", f"no function {name!r} is offered"
        )
    return offered[name]


def _kind(schema: Any) -> str | None:
    """Return the type that an argument is declared with; None where any value will do."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    return kind[0] if isinstance(kind, list) else kind


def _argument(place: str, accepted: Any, schema: Any, required: bool) -> Argument:
    """Return what a gold argument accepts; the first value has all members that may be given."""
    kind = _kind(schema)
    expect(accepted, list, place, "a list of accepted values")
    if not accepted and kind == "array":
        return Argument(([],))
    found = (item for value in accepted if value != _OMITTED for item in _multiplied(value))
    values = list(islice(found, MOST_VALUES + 1))
    if len(values) > MOST_VALUES:
        raise UnusableGoldError(
            "too_many_accepted_values", f"{place}: more than {MOST_VALUES} accepted values"
        )
    may_be_omitted = _OMITTED in accepted
    if may_be_omitted and kind in ("string", None) and admits(schema, _OMITTED):
        values.append(_OMITTED)
    optional = may_be_omitted and not required
    if not values and not optional:
        raise UnusableGoldError("no_accepted_value", f"{place}: no accepted value")
    return Argument(tuple(values), optional)


def _multiplied(value: JSON) -> Iterator[JSON]:
    """Yield the values that one accepted value stands for."""
    if isinstance(value, dict):
        choices = [_member_values(accepted) for accepted in value.values()]
        for chosen in product(*choices):
            members = zip(value, chosen, strict=True)
            yield {name: item for name, item in members if item is not _LEFT_OUT}
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        items = [islice(_item_values(item), MOST_VALUES + 1) for item in value]
        yield from map(list, product(*items))
    else:
        yield value


def _item_values(item: JSON) -> Iterator[JSON]:
    return _multiplied(item) if isinstance(item, dict) else iter((item,))


def _member_values(accepted: JSON) -> list[Any]:
    """Return what a member of a map may be, `_LEFT_OUT` last; a value that is no list is itself."""
    if not isinstance(accepted, list):
        return [accepted]
    given = [value for value in accepted if value != _OMITTED]
    return [*given, _LEFT_OUT] if _OMITTED in accepted else given


def plan_of_calls(calls: Sequence[Any], offered: Mapping[str, Tool]) -> Plan:
    """Return the plan of one turn: its calls one after the other.

    Args:
        calls: Python calls as texts.
        offered: Name to tool.

    Raises:
        DataError: A text is no call with literal arguments that the function has.
        UnusableGoldError: A function is not offered in this turn.
    """
    conditions = [python_call(call, offered) for call in calls]
    return Plan(
        tuple(
            Milestone(condition, (position - 1,) if position else ())
            for position, condition in enumerate(conditions)
        )
    )


def python_call(text: Any, offered: Mapping[str, Tool]) -> Called:
    """Return the call that a Python expression writes, with exactly its values.

    Args:
        text: Such as `move(source='a', destination='b')`.
        offered: Name to tool.

    Raises:
        DataError: It is no call, or an argument is no literal, unnamed beyond the function's
            arguments, or given twice.
        UnusableGoldError: The function is not offered.
    """
    call = parsed_call(text)
    tool = _offered(ast.unparse(call.func), offered)
    given = given_arguments(call, list(tool.parameters["properties"]))
    return Called(tool.id, {name: Argument((value,)) for name, value in given.items()})


def positional_arguments(text: str) -> int:
    """Return how many arguments of a call are given by their position."""
    return len(parsed_call(text).args)
