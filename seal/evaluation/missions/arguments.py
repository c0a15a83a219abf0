"""The arguments of a call beside the gold call's, by one of three scorers.

- `mmtb`: Multi-Mission Tool Bench's. The mean over the predicted arguments; texts count by how many
  of their words they share; what the gold call leaves out is right where the description names it.
  A call is accepted from 0.7, so that one of four arguments may be wrong.
- `strict`: its successor's. The call obeys the tool's schema and has the gold call's arguments, no
  more and no fewer. A mission whose arguments fail is not optimal either.
- `exact`: the gold call's arguments, no more and no fewer, equal as JSON.

`strict` looks first at the call alone: required arguments, declared ones, types, choices, and the
same within objects and lists; nothing else of a schema counts. Then the call beside the gold call:
the same names at every level, lists in order, texts nearly the same, all else equal as JSON. Two
texts are nearly the same if they are equal but for blanks and case. Else they must share their
words, and a gold text of less than `SHORT` characters must also be like the other letter by letter.
Words are what stands between blanks; where one text is Chinese, what jieba cuts. Unlike the
original, what has no type may be anything, not a text alone, and 1.0 is an integer.

Source: Yu et al., Multi-Mission Tool Bench (2025), and WildToolBench, evaluation code.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from seal.core.canonical import equal
from seal.core.plain import nested_deeper
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

Scorer = Literal["mmtb", "strict", "exact"]
SCORERS: tuple[Scorer, ...] = get_args(Scorer)


@dataclass(frozen=True, slots=True)
class ArgumentMatch:
    """How well the arguments of a call fit."""

    score: float
    """In [0, 1]."""
    per_argument: dict[str, float] = field(default_factory=dict)
    """Score of each argument; of a missing one 0."""
    errors: tuple[ArgumentError, ...] = ()
    accepted: bool = False


def fit(
    predicted: Mapping[str, Any] | None,
    answer: Mapping[str, Any],
    schema: Mapping[str, Any],
    required: Sequence[str],
    scorer: Scorer,
) -> ArgumentMatch:
    """Return how well arguments fit the gold call's, as `match_arguments` does of what it checked.

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
        if name not in predicted and scorer != "exact":
            return ArgumentMatch(0.0, {name: 0.0}, ("miss required params",))
    if scorer == "exact":
        return whole(predicted, answer, properties, equal)
    # The scorers of missions alone: other benchmarks do not load them.
    from seal.evaluation.missions.value_likeness import mmtb_match, strict_match

    published = mmtb_match if scorer == "mmtb" else strict_match
    return published(predicted, answer, properties)


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
