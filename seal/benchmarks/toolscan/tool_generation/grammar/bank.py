"""The bank of parameters: which words call for one, and the schemas that it may have.

An entry of `bank.json` says what a parameter is (`says`), its JSON type, and what may be drawn:
`choices` of which some are kept, `least`, `most`, `shortest` and `longest` bounds of which one is
taken, a `default` (values, or which of the choices), `values` for examples, `members` and `items`
that are entries, or names of such.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any, NamedTuple

from seal.benchmarks.toolscan.tool_generation.constraints import worded

_BOUNDS = {
    "array": (("least", "minItems"), ("most", "maxItems")),
    "string": (("shortest", "minLength"), ("longest", "maxLength")),
    "integer": (("least", "minimum"), ("most", "maximum")),
    "number": (("least", "minimum"), ("most", "maximum")),
}
_PLACES = {"first": 0, "second": 1, "third": 2, "last": -1}
_FEWEST = 3
"""Choices that are kept at least, where there are so many."""

Entry = Mapping[str, Any]


class Bank(NamedTuple):
    """What the grammar knows."""

    parameters: dict[str, Entry]
    actions: dict[str, list[str]]
    """Kind of action to its verbs."""
    results: dict[str, Entry]
    """Name of a field of answers to the words that call for it, and its schema."""


@cache
def load_bank() -> Bank:
    """Return the shipped bank; it must not be changed."""
    return Bank(**json.loads(files(__package__).joinpath("bank.json").read_text("utf-8")))


def entry(given: str | Entry) -> Entry:
    """Return an entry that is given by its name, or as it stands."""
    return load_bank().parameters[given] if isinstance(given, str) else given


def make_schema(given: str | Entry, rng: Random) -> dict[str, Any]:
    """Return one of the schemas that an entry may have, constraints stated in its description."""
    what = entry(given)
    kind = what["type"]
    schema: dict[str, Any] = {"type": kind}
    if "says" in what:
        schema["description"] = rng.choice(what["says"])
    schema |= {name: what[name] for name in ("format", "pattern") if name in what}
    for ours, keyword in _BOUNDS.get(kind, ()):
        if ours in what:
            schema[keyword] = rng.choice(what[ours])
    if "choices" in what:
        schema["enum"] = _some(what["choices"], rng)
    if what.get("different"):
        schema["uniqueItems"] = True
    if "default" in what and rng.random() < 0.8:
        schema["default"] = _default(what["default"], schema, rng)
    if kind == "array":
        schema["items"] = make_schema(what["items"], rng)
    elif kind == "object":
        schema |= _members(what, rng)
    return _told(schema, rng)


def example(given: str | Entry, schema: Mapping[str, Any], place: int, whole: bool) -> Any:
    """Return a value of a schema that an entry has.

    Args:
        given: The entry.
        schema: One of its schemas.
        place: Which of its values is taken; equal places go together.
        whole: True: optional members too.
    """
    what = entry(given)
    if schema["type"] == "array":
        return _items(what, schema, place, whole)
    if schema["type"] == "object":
        return {
            name: example(what["members"][name], inner, place, whole)
            for name, inner in schema["properties"].items()
            if whole or name in schema["required"]
        }
    values = schema.get("enum") or what["values"]
    least, most = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    fitting = [v for v in values if isinstance(v, str) or least <= v <= most]
    return fitting[place % len(fitting)] if fitting else schema["minimum"]


def _items(what: Entry, schema: Mapping[str, Any], place: int, whole: bool) -> list[Any]:
    count = max(schema.get("minItems", 1), min(schema.get("maxItems", 2), 2))
    found: list[Any] = []
    for number in range(place, place + 20):
        value = example(what["items"], schema["items"], number, whole)
        if len(found) < count and not (schema.get("uniqueItems") and value in found):
            found.append(value)
    return found


def _members(what: Entry, rng: Random) -> dict[str, Any]:
    """Return properties and required; members that are not needed may be left out."""
    needed = list(what["needs"])
    members = what["members"]
    kept = [name for name in members if name in needed or rng.random() < 0.75]
    if not kept:
        kept = [rng.choice(list(members))]
    properties = {name: make_schema(members[name], rng) for name in kept}
    return {"properties": properties, "required": needed}


def _some(choices: Sequence[Any], rng: Random) -> list[Any]:
    """Return some of the choices in their order."""
    count = rng.randint(min(_FEWEST, len(choices)), len(choices))
    kept = set(rng.sample(range(len(choices)), count))
    return [choice for place, choice in enumerate(choices) if place in kept]


def _default(told: Any, schema: Mapping[str, Any], rng: Random) -> Any:
    if isinstance(told, str):
        place = _PLACES[told]
        return schema["enum"][min(place, len(schema["enum"]) - 1)]
    return rng.choice(told)


def _told(schema: dict[str, Any], rng: Random) -> dict[str, Any]:
    """Return the schema whose description states its constraints."""
    if "description" in schema:
        said = [f"{schema['description']}.", *worded(schema, rng.choice)]
        schema["description"] = " ".join(said)
    elif "enum" in schema or "items" in schema or schema["type"] == "object":
        said = worded(schema, rng.choice)
        if said:
            schema["description"] = " ".join(said)
    return schema
