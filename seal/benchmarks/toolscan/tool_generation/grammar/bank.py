"""The bank of parameters, and what the words of a description say: what is done, to what.

The bank says which words call for a parameter, and the schemas that it may have.

An entry of `bank.json` says what a parameter is (`says`), its JSON type, and what may be drawn:
`choices` of which some are kept, `least`, `most`, `shortest` and `longest` bounds of which one is
taken, a `default` (values, or which of the choices), `values` for examples, `members` and `items`
that are entries, or names of such.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any, NamedTuple

from seal.benchmarks.toolscan.tool_generation.constraints import worded
from seal.core.text import words
from seal.experiments.generation.writers import shipped_json

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

_GIVING = frozenset({
    "across", "against", "among", "around", "at", "based", "between", "by", "during", "for", "from",
    "given", "in", "inside", "into", "near", "of", "on", "over", "per", "to", "under", "using",
    "via", "with", "within",
})  # fmt: skip
"""Words after which a description says what a tool is given."""
_JOINING = frozenset({"and", "or", "plus"})
_ENDING = frozenset({
    "as", "before", "after", "because", "if", "so", "than", "that", "then", "through", "until",
    "when", "where", "whether", "which", "while", "who", "without", "whose", "is", "are", "was",
})  # fmt: skip
_EMPTY = frozenset({
    "a", "an", "the", "all", "another", "any", "available", "certain", "current", "detail",
    "details", "each", "every", "existing", "full", "his", "her", "info", "information", "its",
    "just", "kind", "latest", "list", "live", "my", "name", "named", "new", "number", "one", "own",
    "particular", "set", "several", "simple", "single", "some", "specific", "specified", "their",
    "this", "those", "three", "top", "two", "type", "up", "user", "users", "value", "values",
    "your",
})  # fmt: skip
"""Words within a phrase that do not tell what it is about."""
_EXISTING = frozenset({
    "detail", "details", "status", "existing", "info", "information", "id", "booking",
})  # fmt: skip
"""Words of a description whose object must be there already."""
_LONGEST = 24
"""Letters of a word that are kept."""
_ADDRESS = re.compile(r"\b(e-?mail|ip|web) address(?:es)?\b", re.IGNORECASE)


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
    return Bank(**shipped_json(__package__, "bank.json"))


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
        choices = what["choices"]
        count = rng.randint(min(_FEWEST, len(choices)), len(choices))
        kept = sorted(rng.sample(range(len(choices)), count))
        schema["enum"] = [choices[place] for place in kept]
    if what.get("different"):
        schema["uniqueItems"] = True
    if "default" in what and rng.random() < 0.8:
        told = what["default"]
        if isinstance(told, str):
            schema["default"] = schema["enum"][min(_PLACES[told], len(schema["enum"]) - 1)]
        else:
            schema["default"] = rng.choice(told)
    if kind == "array":
        schema["items"] = make_schema(what["items"], rng)
    elif kind == "object":
        members = what["members"]
        kept = [name for name in members if name in what["needs"] or rng.random() < 0.75]
        kept = kept or [rng.choice(list(members))]
        schema["properties"] = {name: make_schema(members[name], rng) for name in kept}
        schema["required"] = list(what["needs"])
    if "description" in schema:
        schema["description"] = " ".join([f"{schema['description']}.", *worded(schema, rng.choice)])
    elif "enum" in schema or "items" in schema or kind == "object":
        said = worded(schema, rng.choice)
        if said:
            schema["description"] = " ".join(said)
    return schema


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
        count = max(schema.get("minItems", 1), min(schema.get("maxItems", 2), 2))
        found: list[Any] = []
        for number in range(place, place + 20):
            value = example(what["items"], schema["items"], number, whole)
            if len(found) < count and not (schema.get("uniqueItems") and value in found):
                found.append(value)
        return found
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


@dataclass(frozen=True, slots=True)
class Reading:
    """A description, read."""

    action: str
    """find, make, change, compute, assess or get."""
    verb: str
    thing: tuple[str, ...]
    """The object: one to three words as they stand; the last is what it is."""
    words: tuple[str, ...]
    """All words but the verb, as they stand."""
    given: tuple[tuple[str, ...], ...]
    """Phrases that say what the tool is given, without their empty words."""
    existing: bool
    """True: the object must be there already, so that a call has to name it."""

    @property
    def one(self) -> str:
        """The object in the singular, in at most two words: `flight_booking`."""
        return "_".join((*self.thing[:-1], singular(self.thing[-1]))[-2:])


def read(text: str, name: str, actions: Mapping[str, Sequence[str]]) -> Reading:
    """Return what a description says.

    Args:
        text: One sentence.
        name: Function name; empty: none.
        actions: Kind of action to its verbs.
    """
    said = _plain(words(_ADDRESS.sub(r"\1", re.sub(r"['’]s\b", "", text))))
    verb, action, place = _verb(said, words(name), actions)
    rest = said[place + 1 :] if place is not None else said
    phrases = list(_phrases(rest))
    thing = next((phrase for _, phrase in phrases if phrase), ())
    if not thing:
        thing = tuple(word for word in _plain(words(name)) if word != verb and word not in _EMPTY)
    given = [phrase for giving, phrase in phrases if giving and phrase]
    return Reading(
        action,
        verb,
        thing[-3:] or ("result",),
        tuple(rest),
        tuple(given),
        action == "change" or (action == "get" and bool(_EXISTING & set(rest))) or verb == "track",
    )


def singular(word: str) -> str:
    """Return an English noun in the singular, as far as its ending tells."""
    if len(word) < 4 or word.endswith(("ss", "us", "is", "news")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses")):
        return word[:-2]
    return word[:-1] if word.endswith("s") else word


def _plain(said: Sequence[str]) -> list[str]:
    """Return the words of which identifiers can be made, without accents, at most 24 letters."""
    folded = (unicodedata.normalize("NFKD", word) for word in said)
    plain = (re.sub(r"[^a-z0-9]", "", word)[:_LONGEST] for word in folded)
    return [word for word in plain if word and word[0].isalpha()]


def _verb(
    said: Sequence[str], named: Sequence[str], actions: Mapping[str, Sequence[str]]
) -> tuple[str, str, int | None]:
    """Return the verb, its kind, and its place in the description, where it stands there."""
    known = {verb: action for action, verbs in actions.items() for verb in verbs}
    for places in (range(min(1, len(said))), range(len(said))):
        for place in places:
            for form in _forms(said[place]):
                if form in known:
                    return form, known[form], place
        for word in named[:1]:
            if word in known:
                return word, known[word], None
    return "get", "get", None


def _forms(word: str) -> tuple[str, ...]:
    """Return what a verb may be the third person of: "searches" of "search"."""
    return word, word.removesuffix("s"), word.removesuffix("es"), re.sub("ies$", "y", word)


def _phrases(said: Sequence[str]) -> Iterator[tuple[bool, tuple[str, ...]]]:
    """Yield the noun phrases in order, each with whether it says what the tool is given."""
    phrase: list[str] = []
    giving = False
    for word in said:
        if word in _GIVING or word in _ENDING:
            yield giving, tuple(phrase)
            # "details of a hotel": where nothing was named yet, "of" leads to the object
            phrase, giving = [], word in _GIVING and not (word == "of" and not (phrase or giving))
            if word in _ENDING:
                giving = False
        elif word in _JOINING:
            yield giving, tuple(phrase)
            phrase = []
        elif word not in _EMPTY and not word.isdigit():
            phrase.append(word)
    yield giving, tuple(phrase)
