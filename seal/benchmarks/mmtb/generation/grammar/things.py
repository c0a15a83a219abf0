"""Things that a dialogue has spoken of, and how one may refer to them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

from seal.benchmarks.mmtb.dialogues import Mission, Node
from seal.benchmarks.mmtb.generation.evidence import day_forms, day_name, spoken_day, texts_of
from seal.benchmarks.mmtb.generation.grammar.language import THERE, Act, Slot, Sort, language
from seal.core import JSON

_ORDINALS = ("first", "second", "third", "fourth")
_AHEAD = range(1, 45)
_BEHIND = range(3, 60)
_DAYS = ("day", "past_day")
_SPANS = ("stay", "past_stay")


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that can be named: a city, a day, a hotel."""

    sort: Sort
    value: JSON
    """As an argument holds it; of a span its two days."""
    words: str
    """As a person names it today."""
    forms: frozenset[str]
    """Words by which a text names it."""

    def told(self, spoken: bool = False) -> str:
        """Return it as the agent names it.

        Args:
            spoken: A day goes by its weekday where the user may have said so.
        """
        if self.sort.name in _DAYS and not spoken:
            return day_name(date.fromisoformat(self.value))
        return re.sub(r"^my ", "your ", self.words)


@dataclass(frozen=True, slots=True)
class Mention:
    """A thing that was spoken of."""

    thing: Thing
    said: frozenset[int]
    """Missions whose texts name it."""
    origin: int
    """Mission that brought it up."""
    by_user: bool
    """It stands in the request there."""
    noun: str
    place: int | None = None
    """Position in the list that the agent gave."""
    of: int = 1
    """Length of that list."""

    @property
    def is_listed(self) -> bool:
        """It is one of several that the agent listed."""
        return self.place is not None and self.of > 1


class Things:
    """Names things, and knows what a dialogue has spoken of.

    Args:
        past: The dialogue's missions so far.
        today: Its date.
    """

    def __init__(self, past: Sequence[Mission], today: date) -> None:
        self.today = today
        self.number = len(past)
        self._texts = ["\n".join(texts_of(mission)).casefold() for mission in past]
        found: dict[tuple[str, str], Mention] = {}
        for number, mission in enumerate(past):
            for mention in self._brought(number, mission):
                found.setdefault((mention.thing.sort.name, str(mention.thing.value)), mention)
        self.mentions = [replace(m, said=self._said(m.thing)) for m in found.values()]

    def fresh(self, sort: Sort, rng: random.Random) -> Thing | None:
        """Return a thing that was not spoken of; None: there is none."""
        things = list(known_things(sort.name, self.today))
        rng.shuffle(things)
        return next((thing for thing in things if not self._names(thing)), None)

    def _names(self, thing: Thing) -> bool:
        return any(_is_in(thing.forms, text) for text in self._texts)

    def was_said(self, noun: str) -> bool:
        """Tell whether something of that noun was spoken of."""
        return any(mention.noun == noun and mention.said for mention in self.mentions)

    def recent(self, sort: Sort) -> list[Mention]:
        """Return the things of a sort that the last mission names and that can be referred to."""
        last = [mention for mention in self.mentions if self.number - 1 in mention.said]
        return [m for m in last if _is_of(m, sort) and (m.is_listed or _alone(m, last))]

    def remote(self, sort: Sort) -> list[Mention]:
        """Return those that earlier missions name, and the last one does not."""
        ago = [m for m in self.mentions if m.said and max(m.said) < self.number - 1]
        return [m for m in ago if _is_of(m, sort) and self.is_clear(m)]

    def is_clear(self, mention: Mention) -> bool:
        """Tell whether one can mean a thing by its noun and by who brought it up when."""
        brought = (mention.origin, mention.by_user)
        beside = [other for other in self.mentions if (other.origin, other.by_user) == brought]
        return mention.is_listed or _alone(mention, beside)

    def reference(self, mention: Mention, rng: random.Random, far: bool) -> str:
        """Return a phrase that refers to a thing without naming it."""
        sort, noun = mention.thing.sort, mention.noun
        if far:
            return self._far_reference(mention, rng)
        if mention.place is not None and mention.is_listed:
            ordinal = _ORDINALS[min(mention.place, 3)]
            said = (f"the {ordinal} {noun} you found", f"the {ordinal} {noun} on your list")
            return rng.choice(said)
        if sort.that:
            return rng.choice(sort.that)
        if sort.adverbial and sort.name not in _DAYS and rng.random() < 0.7:
            return THERE
        return rng.choice([f"that {noun}", f"the same {noun}"])

    def _far_reference(self, mention: Mention, rng: random.Random) -> str:
        noun, first = mention.noun, mention.origin == 0
        if mention.by_user:
            when = rng.choice(
                language().phrases["first_when"] if first else language().phrases["later_when"]
            )
            references = mention.thing.sort.start or (
                language().phrases["first_said"] if first else language().phrases["later_said"]
            )
            return rng.choice(references).format(noun=noun, when=when)
        answer = "in your first answer" if first else "before my last question"
        if mention.place is not None and mention.is_listed:
            return f"the {_ORDINALS[min(mention.place, 3)]} {noun} you listed {answer}"
        return f"the {noun} you mentioned {answer}"

    def _brought(self, number: int, mission: Mission) -> Iterator[Mention]:
        answers = [node.user_input for node in mission.nodes]
        request = "\n".join([mission.text, *answers]).casefold()
        for node in mission.nodes:
            act = language().acts.get(node.name)
            if act is not None:
                for slot in act.slots:
                    if slot.sort.noun and all(name in node.arguments for name in slot.parameters):
                        for value in values_of(slot, node.arguments):
                            thing = thing_of(slot.sort, value, self.today)
                            by_user = _is_in(thing.forms, request)
                            yield Mention(thing, frozenset(), number, by_user, thing.sort.noun)
                yield from self._results(act, node, number)
        for sort in language().sorts.values():
            named = _found(sort.name, self.today, self._texts[number]) if sort.noun else ()
            for thing in named:
                by_user = thing in _found(sort.name, self.today, request)
                yield Mention(thing, frozenset(), number, by_user, sort.noun)

    def _results(self, act: Act, node: Node, number: int) -> Iterator[Mention]:
        gift = act.gives
        entries = entries_of(act, node.observation) if gift is not None else ()
        for place, entry in enumerate(entries):
            value = entry.get(gift.id) if gift is not None else None
            if gift is not None and isinstance(value, str):
                thing = thing_of(gift.sort, value, self.today)
                alone = len(entries) == 1 or bool(gift.owner)
                at, of = None if alone else place, len(entries)
                yield Mention(thing, frozenset(), number, False, gift.noun, at, of)

    def _said(self, thing: Thing) -> frozenset[int]:
        return frozenset(n for n, text in enumerate(self._texts) if _is_in(thing.forms, text))


def thing_of(sort: Sort, value: JSON, today: date) -> Thing:
    """Return the thing that a value means, in the words of a day."""
    if sort.name in _DAYS:
        day = date.fromisoformat(value)
        return Thing(sort, value, spoken_day(day, today), frozenset(day_forms(day, today)))
    if sort.name in _SPANS:
        first, last = (day_name(date.fromisoformat(day)) for day in value)
        words = f"from {first} to {last}"
        return Thing(sort, tuple(value), words, frozenset([words]))
    known = (words for words, v in sort.values if v == value and type(v) is type(value))
    return _named(sort, value, next(known, str(value)))


def _named(sort: Sort, value: JSON, name: str) -> Thing:
    words = sort.say.format(name)
    form = value if isinstance(value, str) and sort.say != "{}" else words
    return Thing(sort, value, words, frozenset([form]))


@lru_cache(maxsize=4096)
def known_things(name: str, today: date) -> tuple[Thing, ...]:
    """Return the things that the language has of a sort."""
    sort = language().sorts[name]
    if name in ("day", "past_day"):
        days = _AHEAD if name == "day" else [-back for back in _BEHIND]
        dates = [(today + timedelta(days=day)).isoformat() for day in days]
        return tuple(thing_of(sort, day, today) for day in dates)
    if name not in _SPANS:
        return tuple(_named(sort, value, words) for words, value in sort.values)
    behind = name == "past_stay"
    spans = []
    for start in range(8, 40, 3):
        for nights in (14, 7) if behind else (2, 3, 5):
            first = today + timedelta(days=-start - nights if behind else start)
            spans.append((first.isoformat(), (first + timedelta(days=nights)).isoformat()))
    return tuple(thing_of(sort, span, today) for span in spans)


@lru_cache(maxsize=4096)
def _found(name: str, today: date, text: str) -> tuple[Thing, ...]:
    """Return the things of a sort that a text in lower case names."""
    return tuple(thing for thing in known_things(name, today) if _is_in(thing.forms, text))


def _is_of(mention: Mention, sort: Sort) -> bool:
    return bool(sort.noun) and mention.thing.sort.name == sort.name


def _alone(mention: Mention, among: Sequence[Mention]) -> bool:
    """Tell whether `that city` can mean nothing else."""
    return all(
        other.noun != mention.noun or other.thing.value == mention.thing.value for other in among
    )


def values_of(slot: Slot, arguments: Mapping[str, JSON]) -> list[JSON]:
    """Return the values of a slot in a call's arguments."""
    found = [arguments[name] for name in slot.parameters]
    if len(found) > 1:
        return [tuple(found)]
    value: Any = found[0]
    if "." in slot.key:
        day, _, time = str(value).partition("T")
        return [day if slot.key.endswith(".day") else time]
    if slot.form == "travellers":
        return [f"{one['first_name']} {one['last_name']}" for one in value]
    if slot.form == "one_item":
        return [one["product_id"] for one in value]
    return list(value) if slot.form == "list" else [value]


def entries_of(act: Act, observation: JSON) -> list[dict[str, JSON]]:
    """Return the entries of a result that its gift is taken from; without a list the whole."""
    if not isinstance(observation, dict):
        return []
    found = observation.get(act.listed, []) if act.listed else [observation]
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def is_named(thing: Thing, text: str) -> bool:
    """Tell whether one of a thing's forms stands as words in a text, in whatever case."""
    return _is_in(thing.forms, text.casefold())


def _is_in(forms: Set[str], text: str) -> bool:
    """Tell whether one of the forms stands as words in a text in lower case."""
    return any(
        re.search(rf"(?<!\w){re.escape(low)}(?!\w)", text) is not None
        for low in map(str.casefold, forms)
        if low in text
    )
