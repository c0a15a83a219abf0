"""The fields that the words of a tool imply for its answer, if it has no response shape.

The words are those of its name, else of the first sentence about its answer. A verb of change
(`cancel_order`) implies a status. A thing (`get_order`) implies the fields of such things, and
several things (`list_prices`) imply a list.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seal.core import Tool
from seal.core.text import sentences, words
from seal.simulator_cache.field_values import singular, vocabulary

_BOOLEANS = {"boolean", "bool", "true", "false", "whether"}
_NUMBERS = {"number", "integer", "int", "float", "amount", "count", "balance"}
_QUESTIONS = ("is", "has", "can", "validate", "verify")
_COMPUTES = ("convert", "calculate", "compute", "estimate", "translate", "sum", "multiply")
"""Verbs of tools that compute their answer by a rule which the words do not tell."""
_MAKERS = ("created", "added", "booked", "scheduled", "reserved", "placed", "registered", "opened")
_READ = {"detail", "details", "info", "status", "search", "list", "history", "lookup", "statistics"}
"""Last words of a name whose first word is no verb: `order_status`."""
_BY = ("by", "for", "of", "from", "in", "at", "with")
_BARE = 2
"""A thing with at most so many fields, such as a price, belongs to a named thing in a list."""
_WHOLE = {"year", "humidity", "quantity", "count", "age", "volume", "duration", "population"}


def implied_fields(tool: Tool) -> dict[str, Any]:
    """Return field to JSON Schema of the answer of a tool without a shape.

    Empty: neither its name nor its description says what it returns.
    """
    prose = tool.returns if isinstance(tool.returns, str) else tool.description
    told = words(next(iter(sentences(prose)), ""))
    if isinstance(tool.returns, str) and _BOOLEANS & {*told}:
        return {"result": {"type": "boolean"}}
    verb, *nouns = words(tool.name) or [""]
    done = vocabulary()["changes"].get(verb)
    if done is not None and nouns and nouns[-1] not in _READ:
        made = {f"{nouns[-1]}_id": {"type": "string"}} if done in _MAKERS else {}
        return {**made, "status": {"const": done}}
    if verb in _QUESTIONS:
        return {"result": {"type": "boolean"}}
    if verb in _COMPUTES:
        return {}
    things = vocabulary()["things"]
    first = next((i for i, word in enumerate(nouns) if word in _BY), len(nouns))
    for said in ([verb, *nouns[:first]], nouns[first:]):
        fields = _of_nouns(said, things)
        if fields:
            return fields
    named = {"result": {"type": "number"}} if _NUMBERS & {*told} else {}
    return (
        _of_nouns(told, {name: things[name] for name in things if len(things[name]) > 1}) or named
    )


def _of_nouns(nouns: list[str], things: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return the fields of the last noun that is known."""
    for noun in reversed(nouns):
        one = singular(noun)
        if one not in things:
            continue
        fields = {name: {"type": _kind(name)} for name in things[one]}
        if one == noun:
            return fields
        label = "name" if len(fields) <= _BARE else f"{one}_id"
        named = {} if {"name", "title", label} & {*fields} else {label: {"type": "string"}}
        item = {"type": "object", "properties": {**named, **fields}}
        return {noun: {"type": "array", "minItems": 2, "items": item}}
    return {}


def _kind(name: str) -> str:
    if name in _WHOLE:
        return "integer"
    is_number = {words(name)[-1]} & (_NUMBERS | vocabulary()["ranges"].keys())
    return "number" if is_number else "string"
