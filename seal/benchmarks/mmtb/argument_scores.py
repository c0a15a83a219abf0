"""The arguments of a call beside the gold call's, by the scorers `mmtb` and `strict`.

- `mmtb`: Multi-Mission Tool Bench's. The mean over the predicted arguments; texts count by how many
  of their words they share; what the gold call leaves out is right where the description names it.
  A call is accepted from 0.7, so that one of four arguments may be wrong. The original raises for a
  schema that is none, and for a value of another kind than the schema says. `Incomparable` is
  raised there, and the call is not accepted. Words are those that jieba cuts, in any language.
- `strict`: its successor's. The call obeys the tool's schema and has the gold call's arguments, no
  more and no fewer. A mission whose arguments fail is not optimal either.

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
import logging
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache, lru_cache
from typing import Any, NamedTuple, get_args

from seal.core import needing
from seal.core.values import equal
from seal.evaluation.argument_pairs import ArgumentError, ArgumentMatch, Scorer, whole

ALIKE = 0.7
"""Overlap of two texts that is not enough; the least score of a call that is accepted."""

_COORDINATES = re.compile(r"\d+\.\d+,\d+\.\d+$")
_SCALARS = frozenset({"integer", "boolean", "float", "number"})


class Incomparable(Exception):
    """No rule says how these values compare."""


class Scored(NamedTuple):
    """How well a value fits."""

    score: float
    """In [0, 1]."""
    errors: list[ArgumentError]


def score_value(predicted: Any, gold: Any, schema: Any) -> Scored:
    """Return how well a value fits the gold one.

    Args:
        predicted: A JSON value.
        gold: A JSON value.
        schema: JSON Schema of the value, or the properties of an object.

    Raises:
        Incomparable: No rule applies.
    """
    if _kind(predicted) is not _kind(gold):
        return Scored(0, ["type error"])
    if predicted == gold or (isinstance(predicted, str) and same_letters(predicted, gold)):
        return Scored(1, [])
    if not isinstance(schema, Mapping):
        raise Incomparable(f"the schema is no object: {schema!r}")
    if isinstance(predicted, dict):
        return _score_object(predicted, gold, schema)
    kind = schema.get("type")
    if isinstance(kind, str) and kind in _SCALARS:
        return Scored(0, ["param value error"])
    if kind == "string" and isinstance(predicted, str):
        return _score_text(predicted, gold)
    if kind == "array" and isinstance(predicted, list):
        return _score_array(predicted, gold, schema)
    raise Incomparable(f"a {type(predicted).__name__} for the type {kind!r}")


def score_default(value: Any, schema: Any) -> Scored:
    """Return whether a value that the gold call leaves out is a default, as its description tells.

    Raises:
        Incomparable: There is no description to look in.
    """
    description = schema.get("description", "") if isinstance(schema, Mapping) else None
    if not isinstance(description, str):
        raise Incomparable(f"no description in {schema!r}")
    try:
        told, text = description.lower(), str(value).lower()
    except ValueError as error:
        raise Incomparable("a number too long to be written") from error
    if text in told or (text == "none" and "null" in told):
        return Scored(1, [])
    return Scored(0, ["param value hallucination"])


def mean(scores: Sequence[float]) -> float:
    """Return the mean of at least one score."""
    return sum(scores) / len(scores)


def same_letters(left: str, right: str) -> bool:
    """Tell whether two texts are equal but for blanks and case."""
    return "".join(left.split()).lower() == "".join(right.split()).lower()


def _kind(value: Any) -> type:
    """Return the type of a value; whole numbers and others are of one."""
    return float if type(value) is int else type(value)


def _score_object(
    predicted: Mapping[str, Any], gold: Mapping[str, Any], schema: Mapping[str, Any]
) -> Scored:
    """Return the mean over the predicted members."""
    members = _members(schema)
    scores, errors = [], []
    for name, value in predicted.items():
        if name not in members:
            return Scored(0, ["param hallucination"])
        scored = _score_member(name, value, gold, members[name])
        scores.append(scored.score)
        errors += scored.errors
    if not scores:  # the gold one is not empty, else they would be equal
        return Scored(0, ["param value error"])
    return Scored(mean(scores), errors)


def _score_member(name: str, value: Any, gold: Mapping[str, Any], schema: Any) -> Scored:
    return score_value(value, gold[name], schema) if name in gold else score_default(value, schema)


def _members(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schemas of an object's members.

    Schemas as benchmarks write them: `items` may stand for `properties`, and properties may stand
    alone.
    """
    found = schema.get("items", schema.get("properties", schema))
    if isinstance(found, Mapping):
        found = found.get("properties", found)
    if not isinstance(found, Mapping):
        raise Incomparable(f"no members in {schema!r}")
    return found


def _score_text(predicted: str, gold: str) -> Scored:
    if _COORDINATES.match(predicted) and _COORDINATES.match(gold):
        return Scored(1, [])
    from seal.core.rouge import overlap

    score = overlap(words(predicted), words(gold))
    return Scored(score, [] if score > ALIKE else ["param value error"])


def _score_array(predicted: list[Any], gold: list[Any], schema: Mapping[str, Any]) -> Scored:
    """Return the mean over the pairs of items when both lists are sorted by their JSON text."""
    if len(predicted) != len(gold):
        return Scored(0, ["param value error"])
    items = schema.get("items", {"type": "string"})
    if isinstance(items, Mapping) and "properties" in items:
        items = items["properties"]
    try:
        pairs = zip(sorted(predicted, key=_text), sorted(gold, key=_text), strict=True)
    except ValueError as error:
        raise Incomparable("a number too long to be written") from error
    scored = [score_value(ours, theirs, items) for ours, theirs in pairs]
    return Scored(mean([s.score for s in scored]), [e for s in scored for e in s.errors])


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """Return the words, punctuation marks and blanks of a text in order, none left out.

    Raises:
        MissingExtraError: jieba is not installed.
    """
    return tuple(_cutter().cut(text))


@cache
def _cutter() -> Any:
    # Older setuptools, which it looks for, warn of themselves.
    with needing("jieba", "missions"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba
    jieba.setLogLevel(logging.WARNING)  # else it tells on stderr that it reads its words
    return jieba.Tokenizer()


def mmtb_match(
    predicted: Mapping[str, Any], answer: Mapping[str, Any], properties: Mapping[str, Any]
) -> ArgumentMatch:
    """Return how well the arguments of a call fit by the rules of `mmtb`."""
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
            scored = _score_member(name, value, answer, properties[name])
            scores[name] = scored.score
            errors += scored.errors
    except Incomparable:
        return ArgumentMatch(0.0, errors=("incomparable arguments",))
    score = mean(list(scores.values()))
    return ArgumentMatch(score, scores, tuple(errors), score >= ALIKE)


def strict_match(
    predicted: Mapping[str, Any], answer: Mapping[str, Any], properties: Mapping[str, Any]
) -> ArgumentMatch:
    """Return how well the arguments of a call fit by the rules of `strict`."""
    error = schema_error(predicted, properties)
    if error is not None:
        return ArgumentMatch(0.0, errors=(error,))
    return whole(predicted, answer, properties, nearly, difference)


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
    found = set(_member_errors(arguments, {"properties": properties}))
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
        yield from _member_errors(value, schema)
    elif isinstance(value, list):
        for item in value:
            yield from _errors(item, schema.get("items"))


def _member_errors(value: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[ArgumentError]:
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
    from seal.core.rouge import overlap

    return overlap(_written(cut(gold)), _written(cut(predicted))) >= ALIKE


def _written(parts: Any) -> list[str]:
    return [part for part in parts if not part.isspace()]


MMTB = Scorer(mmtb_match)
STRICT = Scorer(strict_match, decides_optimal=True)
