"""The writer of tools that asks no model, and its bank of parameters.

From the words of a description it takes what is done and to what. Its parameters are those that the
bank has for these words. For each phrase that the bank does not know ("by ripeness") it makes one
of its own. Those that the description names are required. Seed and description decide everything
that is drawn.

The bank (`bank.json`) says which words call for a parameter, and the schemas that it may have. An
entry says what a parameter is (`says`), its JSON type, and what may be drawn: `choices` of which
some are kept, `least`, `most`, `shortest` and `longest` bounds of which one is taken, a `default`
(values, or which of the choices), `values` for examples, `members` and `items` that are entries, or
names of such.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from random import Random
from typing import Any, NamedTuple

from seal.benchmarks.toolscan.tool_generation.constraints import worded
from seal.benchmarks.toolscan.tool_generation.descriptions import Description
from seal.benchmarks.toolscan.tool_generation.writers import Rejected
from seal.core import JSON
from seal.core.canonical import derive_seed
from seal.core.package_data import shipped_json
from seal.core.plain import json_text
from seal.core.text import words

_BOUNDS = {
    "array": (("least", "minItems"), ("most", "maxItems")),
    "string": (("shortest", "minLength"), ("longest", "maxLength")),
    "integer": (("least", "minimum"), ("most", "maximum")),
    "number": (("least", "minimum"), ("most", "maximum")),
}
_PLACES = {"first": 0, "second": 1, "third": 2, "last": -1}
_FEWEST = 3
"""Choices that are kept at least, if there are as many."""

Entry = Mapping[str, Any]

_WORDS = {
    part: frozenset(text.split())
    for part, text in shipped_json(__package__, "bank.json")["words"].items()
}
"""Part in a description to the words that play it (`Bank.words`)."""
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
    words: dict[str, str]
    """`giving`: words after which a description says what a tool is given. `joining` and `ending`:
    words at which a phrase ends. `empty`: words within a phrase that do not tell what it is about.
    `existing`: words of a description whose object must be there already."""


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
        thing = tuple(
            word for word in _plain(words(name)) if word != verb and word not in _WORDS["empty"]
        )
    given = [phrase for giving, phrase in phrases if giving and phrase]
    return Reading(
        action,
        verb,
        thing[-3:] or ("result",),
        tuple(rest),
        tuple(given),
        action == "change"
        or (action == "get" and bool(_WORDS["existing"] & set(rest)))
        or verb == "track",
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
        if word in _WORDS["giving"] or word in _WORDS["ending"]:
            yield giving, tuple(phrase)
            # "details of a hotel": where nothing was named yet, "of" leads to the object
            phrase, giving = (
                [],
                word in _WORDS["giving"] and not (word == "of" and not (phrase or giving)),
            )
            if word in _WORDS["ending"]:
                giving = False
        elif word in _WORDS["joining"]:
            yield giving, tuple(phrase)
            phrase = []
        elif word not in _WORDS["empty"] and not word.isdigit():
            phrase.append(word)
    yield giving, tuple(phrase)


_MOST_REQUIRED = 4
_MOST_OWN = 2
"""Parameters for phrases that the bank does not know."""
_FALLBACK = {"make": "title", "compute": "value", "assess": "text"}
"""Action to what it needs where a description tells nothing."""
_TELLING = frozenset({"find", "get", "compute"})
_CAMEL = re.compile(r"[a-z][A-Z]")

_COMPOSING = frozenset({"generate", "write"})
"""Verbs of which a text comes out."""
_CHECKING = frozenset({"validate", "check", "verify"})
_STATES = {"make": ["confirmed", "pending"], "change": ["done", "pending", "refused"]}
_SAID = ("as asked", "of today", "number 7")


class _Choice(NamedTuple):
    name: str
    entry: Entry
    required: bool


class GrammarWriter:
    """Writes tools by rule.

    Args:
        seed: Another seed draws other parameters, bounds, choices and words.
    """

    def __init__(self, seed: int = 0) -> None:
        self.identity: dict[str, JSON] = {"writer": "grammar/1"}
        self._seed = seed

    def write(
        self, asked: Description, taken: Collection[str], rejected: Sequence[Rejected] = ()
    ) -> str:
        """Return a draft as JSON text; after rejections another one."""
        rng = Random(derive_seed(self._seed, asked.text, asked.name, asked.category, len(rejected)))
        reading = read(asked.text, asked.name, load_bank().actions)
        chosen = _chosen(reading, words(asked.category), rng)
        schemas = {choice.name: make_schema(choice.entry, rng) for choice in chosen}
        required = [choice.name for choice in chosen if choice.required]
        place = rng.randrange(6)
        examples = [
            {
                choice.name: example(choice.entry, schemas[choice.name], place + number, whole)
                for choice in chosen
                if whole or choice.required
            }
            for number, whole in enumerate((False, True))
        ]
        draft: dict[str, Any] = {
            "name": asked.name or _name(reading, taken),
            "description": f"{asked.text[0].upper()}{asked.text[1:].rstrip('.')}.",
            "parameters": {"type": "object", "properties": schemas, "required": required},
            "examples": examples,
            "returns": answer_schema(reading, make_schema(_number(reading), rng), rng),
        }
        return json_text(_camel(draft) if _CAMEL.search(draft["name"]) else draft)


def _chosen(reading: Reading, around: Collection[str], rng: Random) -> list[_Choice]:
    """Return the parameters, required ones first.

    Args:
        reading: The description.
        around: Words of the category, which call for optional parameters.
        rng: Draws.
    """
    named, hinted = _called(reading, around, rng)
    needed: list[_Choice] = []
    if reading.existing and f"{reading.one}_id" not in named:
        needed.append(_Choice(f"{reading.one}_id", _number(reading), True))
    for name in named:
        part = set(name.split("_"))
        if not any(part < set(other.split("_")) for other in named):
            needed.append(_Choice(name, entry(name), True))
    needed += [_Choice(name, one, True) for name, one in _own(reading)]
    if not needed and hinted:
        needed = [_Choice(name, entry(name), True) for name in hinted[: rng.randint(1, 2)]]
    if not needed:
        name = _FALLBACK.get(reading.action, "keywords")
        needed = [_Choice(name, entry(name), True)]
    needed = needed[:_MOST_REQUIRED]
    taken = {choice.name for choice in needed}
    further = [name for name in hinted if name not in taken]
    for name, one in load_bank().parameters.items():
        if reading.action in one.get("actions", ()) and name not in {*taken, *further}:
            further.append(name)
    count = min(len(further), rng.randint(1, 4))
    first = further[: max(count - 1, 1)]  # what the words call for before what the action does
    rest = [name for name in further if name not in first]
    kept = [*first, *rng.sample(rest, min(len(rest), count - len(first)))]
    return [*needed, *(_Choice(name, entry(name), False) for name in kept)]


def _called(reading: Reading, around: Collection[str], rng: Random) -> tuple[list[str], list[str]]:
    """Return the bank's parameters that a description names, and those that its words hint at."""
    said = {*reading.words, *map(singular, reading.words)}
    given = {word for phrase in reading.given for word in phrase}
    named, hinted, further = [], [], []
    for name, one in load_bank().parameters.items():
        calling = set(one.get("words", ()))
        if set(name.split("_")) <= said or calling & given:
            named.append(name)
        elif calling & {*said, *reading.thing}:
            hinted.append(name)
        elif calling & {*around}:
            further.append(name)
    rng.shuffle(hinted)
    rng.shuffle(further)

    def place(name: str) -> int:
        """Return where a description first calls for a parameter."""
        calling = {*name.split("_"), *load_bank().parameters[name].get("words", ())}
        places = (place for place, word in enumerate(reading.words) if word in calling)
        return next(places, len(reading.words))

    named.sort(key=place)
    kept = _needed(reading, named, [name for name in named if set(name.split("_")) <= said])
    return kept, [*(name for name in named if name not in kept), *hinted, *further]


def _needed(reading: Reading, named: Sequence[str], exact: Sequence[str]) -> list[str]:
    """Return which of the parameters that a description names are required.

    Args:
        reading: The description.
        named: The parameters that its words call for.
        exact: Those of them that it calls by their names.
    """
    if reading.action in _TELLING and len(exact) > 1:  # what is asked for is not given
        exact = [name for name in exact if name != reading.one]
    kept = list(exact or named[:1])
    for phrase in reading.given:  # each calls for one; what else it calls for is optional
        if not any(_calls(name, phrase) for name in kept):
            kept += [name for name in named if _calls(name, phrase)][:1]
        if "dates" in phrase:
            kept += [name for name in ("start_date", "end_date") if name not in kept]
    return kept


def _calls(name: str, phrase: Sequence[str]) -> bool:
    one = load_bank().parameters[name]
    return bool({*one.get("words", ()), *name.split("_")} & {*phrase, *map(singular, phrase)})


def _own(reading: Reading) -> Iterator[tuple[str, Entry]]:
    """Yield parameters for what is given and the bank does not know."""
    known = list(load_bank().parameters)
    unknown = (
        phrase
        for phrase in reading.given
        if phrase[-1] not in reading.thing and not any(_calls(one, phrase) for one in known)
    )
    for phrase in islice(unknown, _MOST_OWN):
        parts = (*phrase[:-1], singular(phrase[-1]))
        said = " ".join(parts)
        entry: Entry = {
            "type": "string",
            "says": [f"The {said}", f"Which {said}", f"What {said} it is"],
            "longest": [60, 80, 100],
            "values": [said, f"first {said}", f"{said} 2"],
        }
        yield "_".join(parts)[-40:].strip("_"), entry


def _number(reading: Reading) -> Entry:
    """Return an entry for the number by which the thing is named."""
    thing = reading.one.replace("_", " ")
    own = f"Id of the {thing}", f"The {thing}'s id"
    head = re.sub("[^A-Z]", "", thing.upper())[:3].ljust(3, "X")
    return {
        "type": "string",
        "says": [f"{said}, such as {head}-1042" for said in own],
        "pattern": f"^{head}-[0-9]{{4}}$",
        "values": [f"{head}-1042", f"{head}-2210", f"{head}-0387"],
    }


def _name(reading: Reading, taken: Collection[str]) -> str:
    """Return a function name that no other tool has."""
    used = {name.casefold() for name in taken}
    verb = {"look": "look_up"}.get(reading.verb, reading.verb)
    parts = [word for word in (verb, *reading.thing) if re.fullmatch(r"[a-z0-9_]+", word)]
    more = [w for phrase in reading.given for w in phrase if re.fullmatch(r"[a-z0-9]+", w)]
    parts = parts if len(parts) > 1 else [*parts, *(more[:1] or ["result"])]
    name = "_".join(parts)[:48].strip("_")
    for word in (w for w in more if w not in parts):
        if name not in used:
            break
        name = f"{name}_{word}"[:60]
    number, own = 2, name
    while own in used:
        own, number = f"{name}_{number}", number + 1
    return own


def _camel(draft: dict[str, Any]) -> dict[str, Any]:
    """Return a draft whose parameters are named like the tool: startDate."""
    schemas = {name: _renamed(draft[name]) for name in ("parameters", "returns")}
    return {**draft, **schemas, "examples": _keys(draft["examples"])}


def _renamed(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    found = dict(schema)
    if "properties" in schema:
        found["properties"] = {_hump(n): _renamed(v) for n, v in schema["properties"].items()}
        found["required"] = [_hump(name) for name in schema["required"]]
    if "items" in schema:
        found["items"] = _renamed(schema["items"])
    return found


def _keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {_hump(name): _keys(inner) for name, inner in value.items()}
    return [_keys(inner) for inner in value] if isinstance(value, list) else value


def _hump(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


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
        moment = {"type": "string", "format": "date-time"}
        return _object({**identity, "status": state, when: moment})
    if reading.action in ("compute", "assess"):
        return _object({**_result(reading), **_fields(reading, rng)})
    known = identity if reading.existing else {}
    return _object({**known, **(_fields(reading, rng) or {thing: _text(thing)})})


def _result(reading: Reading) -> dict[str, Any]:
    if reading.verb in _CHECKING:
        return {"valid": {"type": "boolean"}, "message": {"type": "string"}}
    number = {"type": "number", "minimum": 0, "maximum": 5000}
    return {"result": {"type": "string"} if reading.action == "assess" else number}


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


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}
