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
texts are nearly the same where they are equal but for blanks and case; else a gold text of less
than `SHORT` characters must be like the other letter by letter, and any must share its words. Words
are what stands between blanks; where one text is Chinese, what jieba cuts. Unlike the original,
what has no type may be anything, not a text alone, and 1.0 is an integer.

Source: Yu et al., Multi-Mission Tool Bench (2025), and WildToolBench, evaluation code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, Literal, get_args

from seal.core.canonical import equal
from seal.core.errors import DataError, UnknownNameError, shortened
from seal.core.plain import nested_deeper
from seal.core.schemas import MAX_DEPTH
from seal.evaluation.missions.values import (
    ALIKE,
    ArgumentError,
    Incomparable,
    mean,
    same_letters,
    score_default,
    score_value,
    words,
)

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


def match_arguments(
    prediction: Mapping[str, Any] | str | None,
    answer: Mapping[str, Any],
    schema: Mapping[str, Any],
    required: Sequence[str] = (),
    scorer: Scorer = "mmtb",
) -> ArgumentMatch:
    """Return how well the arguments of a call fit the gold call's.

    Args:
        prediction: The arguments, or their JSON text. What is no object is not accepted.
        answer: The gold arguments.
        schema: JSON Schema of the arguments, or its `properties` alone.
        required: Names that must be given, besides those that the schema requires.
        scorer: The rules.

    Raises:
        UnknownNameError: No such scorer.
        DataError: Gold arguments, schema or required names are not of that form, or the gold ones
            nest more than 50 levels deep.
        MissingExtraError: Two texts differ and jieba, which cuts them into words, is absent.
    """
    if scorer not in SCORERS:
        raise UnknownNameError("scorer", str(scorer), SCORERS)
    _check(answer, schema, required)
    predicted = parse_arguments(prediction)
    if predicted is None:
        return ArgumentMatch(0.0, errors=("malformed arguments",))
    properties, needed = _declared(schema, required)
    for name in needed:
        if name not in predicted and scorer != "exact":
            return ArgumentMatch(0.0, {name: 0.0}, ("miss required params",))
    if scorer == "mmtb":
        return _mmtb(predicted, answer, properties)
    if scorer == "strict":
        error = schema_error(predicted, properties)
        if error is not None:
            return ArgumentMatch(0.0, errors=(error,))
        return _whole(predicted, answer, properties, nearly, difference)
    return _whole(predicted, answer, properties, equal)


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


def _check(answer: Any, schema: Any, required: Any) -> None:
    """Refuse what a benchmark, not a model, got wrong."""
    if not isinstance(answer, Mapping):
        raise DataError(f"answer: expected the gold arguments, an object; got {shortened(answer)}")
    if nested_deeper(answer, MAX_DEPTH):
        raise DataError(f"answer: nested more than {MAX_DEPTH} levels deep; make it flatter")
    if not isinstance(schema, Mapping):
        raise DataError(
            f"schema: expected a JSON Schema, got {shortened(schema)}; {{}} declares no argument"
        )
    names = isinstance(required, Sequence) and not isinstance(required, str)
    if not names or not all(isinstance(name, str) for name in required):
        raise DataError(
            f"required: expected a list of names, got {shortened(required)}; "
            "write one name as a list of one"
        )


def _declared(
    schema: Mapping[str, Any], required: Sequence[str]
) -> tuple[Mapping[str, Any], list[str]]:
    """Return the schemas of the arguments, and the names of those that must be given."""
    if not isinstance(schema.get("type"), str):  # an argument named `type` has a schema there
        return schema, list(required)
    properties, more = schema.get("properties"), schema.get("required")
    names = [*required, *(more if isinstance(more, list) else [])]
    return properties if isinstance(properties, Mapping) else {}, list(dict.fromkeys(names))


def _mmtb(
    predicted: Mapping[str, Any], answer: Mapping[str, Any], properties: Mapping[str, Any]
) -> ArgumentMatch:
    if not predicted and not answer:
        return ArgumentMatch(1.0, accepted=True)
    if not predicted:  # the original divides by zero
        return ArgumentMatch(0.0, errors=("incomparable arguments",))
    scores: dict[str, float] = {}
    errors: list[ArgumentError] = []
    try:
        for name, value in predicted.items():
            if name not in properties:
                scores[name] = 0.0
                errors.append("param hallucination")
                continue
            scored = (
                score_value(value, answer[name], properties[name])
                if name in answer
                else score_default(value, properties[name])
            )
            scores[name] = scored.score
            errors += scored.errors
    except Incomparable:
        return ArgumentMatch(0.0, errors=("incomparable arguments",))
    score = mean(list(scores.values()))
    return ArgumentMatch(score, scores, tuple(errors), score >= ALIKE)


def _whole(
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
    score = mean(list(scores.values())) if scores else 1.0
    return ArgumentMatch(score, scores, tuple(errors), not errors)


SHORT = 10
"""Characters of a gold text from which its letters are not compared."""
_NEARLY = 0.8
"""Similarity (Ratcliff and Obershelp) of a shorter text that is enough."""

_CHINESE = re.compile(r"[\u4e00-\u9fa5]")
_ORDER: tuple[ArgumentError, ...] = get_args(ArgumentError)

_TYPES: dict[str, Callable[[Any], bool]] = {
    "array": lambda value: isinstance(value, list),
    "boolean": lambda value: isinstance(value, bool),
    "float": lambda value: _is_number(value),
    "integer": lambda value: _is_number(value) and value % 1 == 0,
    "null": lambda value: value is None,
    "number": lambda value: _is_number(value),
    "object": lambda value: isinstance(value, Mapping),
    "string": lambda value: isinstance(value, str),
}


def schema_error(
    arguments: Mapping[str, Any], properties: Mapping[str, Any]
) -> ArgumentError | None:
    """Return what is wrong with a call by its tool's schema, of several what tells most; or None.

    Args:
        arguments: Of the call.
        properties: Schemas of the arguments by name. Whether the required ones are there is not
            asked at this level.
    """
    found = set(_members(arguments, {"properties": properties}))
    return next((error for error in _ORDER if error in found), None)


def nearly(predicted: Any, gold: Any) -> bool:
    """Tell whether two values are the same but for how texts are worded."""
    if isinstance(predicted, Mapping) and isinstance(gold, Mapping):
        return predicted.keys() == gold.keys() and all(
            nearly(value, gold[name]) for name, value in predicted.items()
        )
    if isinstance(predicted, list) and isinstance(gold, list):
        return len(predicted) == len(gold) and all(map(nearly, predicted, gold))
    if isinstance(predicted, str) and isinstance(gold, str):
        return same_letters(predicted, gold) or _worded_alike(predicted, gold)
    return equal(predicted, gold)


def difference(predicted: Any, gold: Any) -> ArgumentError:
    """Return of what kind the difference of two values is."""
    kinds = [
        next((name for name in _KINDS if _TYPES[name](value)), "") for value in (predicted, gold)
    ]
    return "param value error" if kinds[0] == kinds[1] else "type error"


_KINDS = ("array", "boolean", "null", "number", "object", "string")


def _errors(value: Any, schema: Any) -> Iterator[ArgumentError]:
    """Yield what is wrong with a value; what is no schema accepts anything."""
    if not isinstance(schema, Mapping):
        return
    branches = schema.get("anyOf")
    if isinstance(branches, list) and branches:
        each = [list(_errors(value, branch)) for branch in branches]
        if all(each):
            yield from each[0]
        return
    if not _is_of_type(value, schema.get("type")):
        yield "type error"
        return
    choices = schema.get("enum")
    if isinstance(choices, list) and choices and not any(equal(value, one) for one in choices):
        yield "param value error"
    if isinstance(value, Mapping):
        yield from _members(value, schema)
    elif isinstance(value, list):
        for item in value:
            yield from _errors(item, schema.get("items"))


def _members(value: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[ArgumentError]:
    properties, required = schema.get("properties"), schema.get("required")
    for name in required if isinstance(required, list) else ():
        if name not in value:
            yield "miss required params"
    if not isinstance(properties, Mapping):
        return  # an object of which nothing is declared
    further = schema.get("additionalProperties")
    for name, inner in value.items():
        if name in properties:
            yield from _errors(inner, properties[name])
        elif further is not True and not isinstance(further, Mapping):
            yield "param hallucination"


def _is_of_type(value: Any, kind: Any) -> bool:
    """Tell whether a value is of a type, or of one of several; an unknown one is any."""
    kinds = kind if isinstance(kind, list) else [kind]
    known = [_TYPES.get(one) if isinstance(one, str) else None for one in kinds]
    return any(one is None or one(value) for one in known)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _worded_alike(predicted: str, gold: str) -> bool:
    if len(gold) < SHORT and SequenceMatcher(None, predicted, gold).ratio() < _NEARLY:
        return False
    cut = words if _CHINESE.search(predicted) or _CHINESE.search(gold) else str.split
    from seal.core.conditions.rouge import overlap

    return overlap(_written(cut(gold)), _written(cut(predicted))) >= ALIKE


def _written(parts: Any) -> list[str]:
    return [part for part in parts if not part.isspace()]
