"""Arguments beside the gold ones by the rules of Multi-Mission Tool Bench's successor.

First the call alone: required arguments, declared ones, types, choices, and the same within objects
and lists; nothing else of a schema counts. Then the call beside the gold call: the same names at
every level, lists in order, texts nearly the same, all else equal as JSON.

Two texts are nearly the same where they are equal but for blanks and case; else a gold text of less
than `SHORT` characters must be like the other letter by letter, and any must share its words. Words
are what stands between blanks; where one text is Chinese, what jieba cuts.

Unlike the original, what has no type may be anything, not a text alone, and 1.0 is an integer.

Source: WildToolBench, evaluation code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any, get_args

from seal.core.canonical import equal
from seal.core.conditions.rouge import overlap
from seal.evaluation.missions.values import ALIKE, ArgumentError, same_letters
from seal.evaluation.missions.words import words

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
    return overlap(_written(cut(gold)), _written(cut(predicted))) >= ALIKE


def _written(parts: Any) -> list[str]:
    return [part for part in parts if not part.isspace()]
