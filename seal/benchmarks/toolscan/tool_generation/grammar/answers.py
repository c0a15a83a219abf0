"""What a written tool answers: a schema by what the tool does and what it is about."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

from seal.benchmarks.toolscan.tool_generation.grammar.bank import load_bank
from seal.benchmarks.toolscan.tool_generation.grammar.reading import Reading, singular

_COMPOSING = frozenset({"generate", "write"})
"""Verbs of which a text comes out."""
_CHECKING = frozenset({"validate", "check", "verify"})
_STATES = {"make": ["confirmed", "pending"], "change": ["done", "pending", "refused"]}


def answer_schema(reading: Reading, number: dict[str, Any], rng: Random) -> dict[str, Any]:
    """Return the schema of a tool's answer.

    Args:
        reading: Its description.
        number: Schema of the numbers by which the thing is named.
        rng: Draws the fields.
    """
    thing = reading.one
    identity = {f"{thing}_id": {k: number[k] for k in ("type", "pattern")}}
    if reading.action == "find":
        found = _object({**identity, "name": {"type": "string"}, **_fields(reading, rng)})
        results = {"type": "array", "minItems": 1, "items": found}
        return _object({"results": results, "total": {"type": "integer", "minimum": 1}})
    if reading.verb in _COMPOSING:
        return _object({thing: _text(thing)})
    if reading.action in _STATES:
        when = "created_at" if reading.action == "make" else "updated_at"
        state = {"type": "string", "enum": _STATES[reading.action]}
        return _object(
            {**identity, "status": state, when: {"type": "string", "format": "date-time"}}
        )
    if reading.action in ("compute", "assess"):
        return _object({**_result(reading), **_fields(reading, rng)})
    fields = _fields(reading, rng)
    known = identity if reading.existing else {}
    return _object({**known, **(fields or {thing: _text(thing)})})


def _result(reading: Reading) -> dict[str, Any]:
    if reading.verb in _CHECKING:
        return {"valid": {"type": "boolean"}, "message": {"type": "string"}}
    if reading.action == "assess":
        return {"result": {"type": "string"}}
    return {"result": {"type": "number", "minimum": 0, "maximum": 5000}}


def _fields(reading: Reading, rng: Random) -> dict[str, Any]:
    """Return the fields that the words of a description call for, or some of them."""
    said = {singular(word) for word in (*reading.words, *reading.thing)}
    called = [
        name for name, one in load_bank().results.items() if said & set(map(singular, one["words"]))
    ]
    kept = rng.sample(called, min(len(called), rng.randint(2, 4)))
    return {name: dict(load_bank().results[name]["schema"]) for name in called if name in kept}


def _text(thing: str) -> dict[str, Any]:
    return {"type": "string", "examples": [f"{thing.replace('_', ' ')} {word}" for word in _SAID]}


_SAID = ("as asked", "of today", "number 7")


def _object(properties: dict[str, Any], required: Iterable[str] = ()) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required) or list(properties),
    }
