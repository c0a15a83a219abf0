"""The arguments of a call beside the gold call's, by a scorer that the task names.

`exact`: the gold call's arguments, no more and no fewer, equal as JSON. Packs have others, under
the entry point `seal.argument_scorers`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from seal.core import UnknownNameError
from seal.core.canonical import equal
from seal.core.plain import nested_deeper
from seal.core.registry import Registry
from seal.core.schemas import MAX_DEPTH

ArgumentError = Literal[
    "malformed arguments",
    "incomparable arguments",
    "miss required params",
    "param hallucination",
    "type error",
    "param value hallucination",
    "param value error",
]
"""What is wrong: the arguments are no object; cannot be compared; lack a required one, or one that
the gold call has; have one that the tool does not; a value of another type; a value for an argument
that the gold call leaves out; another value. Of several, the first tells most."""

SCORERS = Registry(
    "scorer",
    "seal.argument_scorers",
    {"exact": "seal.evaluation.missions.arguments:EXACT"},
)
"""Scorers of arguments by name: each a `Scorer`."""


@dataclass(frozen=True, slots=True)
class ArgumentMatch:
    """How well the arguments of a call fit."""

    score: float
    """In [0, 1]."""
    per_argument: dict[str, float] = field(default_factory=dict)
    """Score of each argument; of a missing one 0."""
    errors: tuple[ArgumentError, ...] = ()
    accepted: bool = False


@dataclass(frozen=True, slots=True)
class Scorer:
    """How the arguments of calls are compared."""

    compare: Callable[[Mapping[str, Any], Mapping[str, Any], Mapping[str, Any]], ArgumentMatch]
    """(arguments, gold arguments, schemas of the arguments by name) to how well they fit."""
    required_first: bool = True
    """Whether a call that lacks a required argument is not compared."""
    decides_optimal: bool = False
    """Whether a mission whose arguments fail is not optimal either."""


@cache
def scorer_named(name: str) -> Scorer:
    """Return a scorer by a name that data or a user gives.

    Raises:
        UnknownNameError: No such scorer.
    """
    if name not in SCORERS:  # a dotted path of data is no name, and is not imported
        raise UnknownNameError("scorer", name, SCORERS.names())
    scorer: Scorer = SCORERS.resolve(name)
    return scorer


def fit(
    predicted: Mapping[str, Any] | None,
    answer: Mapping[str, Any],
    schema: Mapping[str, Any],
    required: Sequence[str],
    scorer: Scorer,
) -> ArgumentMatch:
    """Return how well arguments fit the gold call's.

    Args:
        predicted: As `parse_arguments` gives them.
        answer: The gold arguments.
        schema: JSON Schema of the arguments, or its `properties` alone.
        required: Names that must be given, besides those that the schema requires.
        scorer: The rules.
    """
    if predicted is None:
        return ArgumentMatch(0.0, errors=("malformed arguments",))
    properties, needed = _declared(schema, required)
    for name in needed:
        if name not in predicted and scorer.required_first:
            return ArgumentMatch(0.0, {name: 0.0}, ("miss required params",))
    return scorer.compare(predicted, answer, properties)


def parse_arguments(arguments: Any) -> dict[str, Any] | None:
    """Return arguments as an object, from JSON text too; None: they are none, or nest too deep."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return None
    if not isinstance(arguments, Mapping) or nested_deeper(arguments, MAX_DEPTH):
        return None
    return dict(arguments)


def _declared(
    schema: Mapping[str, Any], required: Sequence[str]
) -> tuple[Mapping[str, Any], list[str]]:
    """Return the schemas of the arguments, and the names of those that must be given."""
    if not isinstance(schema.get("type"), str):  # an argument named `type` has a schema there
        return schema, list(required)
    properties, more = schema.get("properties"), schema.get("required")
    names = [*required, *(more if isinstance(more, list) else [])]
    return properties if isinstance(properties, Mapping) else {}, list(dict.fromkeys(names))


def whole(
    predicted: Mapping[str, Any],
    answer: Mapping[str, Any],
    properties: Mapping[str, Any],
    same: Callable[[Any, Any], bool],
    difference: Callable[[Any, Any], ArgumentError] = lambda predicted, gold: "param value error",
) -> ArgumentMatch:
    """Return the match that is accepted where all names and values are the same."""
    scores: dict[str, float] = {}
    errors: list[ArgumentError] = []
    for name in [*predicted, *(name for name in answer if name not in predicted)]:
        scores[name] = 0.0
        if name not in predicted:
            errors.append("miss required params")
        elif name not in answer:
            errors.append(
                "param value hallucination" if name in properties else "param hallucination"
            )
        elif same(predicted[name], answer[name]):
            scores[name] = 1.0
        else:
            errors.append(difference(predicted[name], answer[name]))
    score = sum(scores.values()) / len(scores) if scores else 1.0
    return ArgumentMatch(score, scores, tuple(errors), not errors)


def _exact(
    predicted: Mapping[str, Any], answer: Mapping[str, Any], properties: Mapping[str, Any]
) -> ArgumentMatch:
    return whole(predicted, answer, properties, equal)


EXACT = Scorer(_exact, required_first=False)
