"""One value beside the gold one: the rules of Multi-Mission Tool Bench's scorer.

Where the original raises, for a schema that is none or a value of another kind than the schema
says, `Incomparable` is raised, and the call is not accepted. Words are those that jieba cuts, in
any language.

Source: Yu et al., Multi-Mission Tool Bench (2025), evaluation code.
"""

from __future__ import annotations

import json
import logging
import re
import warnings
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple

from seal.core.errors import MissingExtraError

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
        scored = (
            score_value(value, gold[name], members[name])
            if name in gold
            else score_default(value, members[name])
        )
        scores.append(scored.score)
        errors += scored.errors
    if not scores:  # the gold one is not empty, else they would be equal
        return Scored(0, ["param value error"])
    return Scored(mean(scores), errors)


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
    from seal.core.conditions.rouge import overlap

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
    try:
        with warnings.catch_warnings():  # older setuptools, which it looks for, warn of themselves
            warnings.simplefilter("ignore")
            import jieba
    except ModuleNotFoundError as error:
        raise MissingExtraError("jieba", "missions") from error
    jieba.setLogLevel(logging.WARNING)  # else it tells on stderr that it reads its words
    return jieba.Tokenizer()
