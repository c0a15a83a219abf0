"""What a mission can be about: acts whose tools are offered, and things for the slots of these.

A slot is filled with a new thing, or with one that earlier missions spoke of.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from seal.benchmarks.mmtb.generation.grammar.language import (
    THERE,
    Act,
    Gift,
    Slot,
    Talk,
    Theme,
    language,
)
from seal.benchmarks.mmtb.generation.grammar.things import Mention, Thing, Things
from seal.benchmarks.mmtb.generation.scenes import Scene

FIRST = "first"
"""Pick of a result's first entry."""
_PLURAL = ("city", "day", "company", "symbol", "food", "room", "district")
"""Sorts of which one asks for several at once."""
_PLACES = ("city", "harbour", "room", "district")


@dataclass(frozen=True, slots=True)
class FromCall:
    """A value that an earlier call of the mission brings."""

    calls: tuple[int, ...]
    """Positions of the calls; of several, one value each."""
    pick: str
    """`first`, or one of the gift's superlatives."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One call to be made."""

    act: Act
    fills: Mapping[str, Thing | FromCall]
    """By slot key; slots that are missing here were asked for, or are not spoken of."""


@dataclass(frozen=True, slots=True)
class Script:
    """One mission to be."""

    request: str
    calls: tuple[Planned, ...] = ()
    rounds: tuple[tuple[int, ...], ...] = ()
    """Positions of the calls that are made at once, in order."""
    missing: tuple[tuple[Slot, Thing], ...] = ()
    """What the request does not say, with what the user answers."""
    reply: str = ""
    """Of a chat."""
    leaves_more: bool = True
    """Something is left that a later mission can recall."""


@dataclass(slots=True)
class Choices:
    """What there is to choose from in a scene, and what one request is about so far."""

    scene: Scene
    theme: Theme
    things: Things
    rng: random.Random
    wide: bool = False
    """Tools beside the theme are used too."""
    leaned: list[Mention] = field(default_factory=list)
    """Things that the request takes from earlier missions."""
    known: dict[str, Thing] = field(default_factory=dict)
    """Sort to the thing that the request has named."""

    @property
    def relation(self) -> str | None:
        """How the mission leans on earlier ones."""
        return self.scene.assignment.relation

    @property
    def last(self) -> int:
        """Number of the mission before; -1: this one is the first."""
        return self.things.number - 1

    def acts(self) -> list[Act]:
        """Return the acts of the theme whose tools are offered, those not used before first."""
        used = self.used()
        names = self.scene.tools if self.wide else self.theme.tools
        acts = language().acts
        offered = [acts[name] for name in names if name in acts and name in self.scene.tools]
        new = [act for act in offered if act.tool not in used]
        return new if self.rng.random() < 0.85 and len(new) > 1 else offered

    def chain(self) -> tuple[Act, Act] | None:
        """Return two acts of which the second takes what the first brings, and nobody knew."""
        acts, used = self.acts(), self.used()
        pairs = [(a, b) for a in acts for b in acts if feeds(a, b) and a.tool not in used]
        return self.rng.choice(pairs) if pairs else None

    def used(self) -> set[str]:
        """Return the names of the tools that earlier missions called."""
        return {node.name for mission in self.scene.past for node in mission.nodes}

    def plurals(self, act: Act) -> list[Slot]:
        """Return the slots of which an act may be about several things at once."""
        return [
            slot
            for slot in act.slots
            if self.is_required(act, slot)
            and slot.sort.name in _PLURAL
            and not slot.form
            and "." not in slot.key
        ]

    def askable(self, act: Act) -> list[Slot]:
        """Return the slots that a request may leave out."""
        return [
            slot
            for slot in act.slots
            if slot.which
            and self.is_required(act, slot)
            and not slot.key.endswith(".day")
            and slot.key != act.needs
            and self.things.fresh(slot.sort, random.Random(0)) is not None
        ]

    def is_required(self, act: Act | Talk, slot: Slot) -> bool:
        """Tell whether a request must fill a slot."""
        if isinstance(act, Talk) or slot.key == act.needs:
            return True
        required = self.scene.tools[act.tool].parameters.get("required", [])
        return all(name in required for name in slot.parameters)

    def is_near(self, talk: Talk) -> bool:
        """Tell whether a talk is about something of the theme."""
        mine = {slot.sort.name for act in self._theme_acts() for slot in act.slots}
        return all(slot.sort.name in {*mine, *self.theme.anchors} for slot in talk.slots)

    def is_useful(self, sort: str) -> bool:
        """Tell whether later missions of any type could be about a thing of a sort."""
        needed = (
            [slot.sort.name for slot in act.slots if self.is_required(act, slot)]
            for act in self._theme_acts()
        )
        return any(sort in names and len(names) > 1 for names in needed)

    def _theme_acts(self) -> list[Act]:
        return [language().acts[name] for name in self.theme.tools if name in self.scene.tools]

    def fill(
        self,
        act: Act | Talk,
        phrases: dict[str, str],
        given: Mapping[str, Thing | FromCall],
        gone: Sequence[Slot],
    ) -> dict[str, Thing | FromCall] | None:
        """Return the things of an act's slots, and put them in words; None: one has no thing.

        Args:
            act: Tool act or talk.
            phrases: Words by slot name; those of `given` are there.
            given: What is already decided.
            gone: Slots that the request leaves out.
        """
        fills = dict(given)
        extra = 0
        for slot in act.slots:
            if slot.key in fills or slot in gone:
                continue
            mention = self._leanable(slot)
            if not self.is_required(act, slot):
                wanted = mention is not None and self.rng.random() < 0.5
                if not wanted and (extra or slot.sort.noun or self.rng.random() > 0.2):
                    continue
                extra += 1
            same = self.known.get(slot.sort.name)
            if same is not None:
                fills[slot.key] = same
                phrases[slot.name] = _same_again(slot, same.words)
            elif mention is not None and (not self.leaned or self.rng.random() < 0.7):
                self.leaned.append(mention)
                fills[slot.key] = self.known[slot.sort.name] = mention.thing
                phrases[slot.name] = self._referred(act, slot, mention)
            else:
                thing = self.things.fresh(slot.sort, self.rng)
                if thing is None:
                    return None
                fills[slot.key] = self.known[slot.sort.name] = thing
                phrases[slot.name] = thing.words
        return fills

    def given_before(
        self,
        acts: Sequence[Act],
        number: int,
        rounds: Sequence[Sequence[int]],
        places: Sequence[Sequence[int]],
        phrases: dict[str, str],
    ) -> dict[str, Thing | FromCall] | None:
        """Return what an act takes from acts of earlier rounds, and put it in words."""
        turn = next(n for n, group in enumerate(rounds) if number in group)
        given: dict[str, Thing | FromCall] = {}
        for other in (act for group in rounds[:turn] for act in group):
            gift = acts[other].gives
            slots = (s for s in acts[number].slots if gift and s.sort.name == gift.sort.name)
            slot = next(slots, None)
            if gift is None or slot is None or slot.key in given:
                continue
            pick, words = _picked(gift, acts[other], len(places[other]), self.rng)
            given[slot.key] = FromCall(tuple(places[other]), pick)
            phrases[slot.name] = words
        return given if given or turn == 0 else None

    def several(self, slot: Slot, count: int) -> list[Thing]:
        """Return different things for a slot; empty: there are not so many."""
        found: list[Thing] = []
        for _ in range(12):
            thing = self.things.fresh(slot.sort, self.rng)
            if thing is not None and thing not in found:
                found.append(thing)
            if len(found) == count:
                return found
        return []

    def _leanable(self, slot: Slot) -> Mention | None:
        """Return a thing of earlier missions that a slot may take."""
        if self.relation is None:
            return None
        found = self.things.remote(slot.sort)
        if self.relation != "memory":
            found = self.things.recent(slot.sort) or found
        return self.rng.choice(found) if found else None

    def _referred(self, act: Act | Talk, slot: Slot, mention: Mention) -> str:
        """Return a reference; of an ellipsis nothing, where one can do without."""
        far = self.last not in mention.said
        droppable = isinstance(act, Act) and act.can_drop(slot) and not slot.bare
        if self.relation == "ellipsis" and droppable and not (mention.is_listed or far):
            return ""
        return self.things.reference(mention, self.rng, far)

    def can_lean(self, act: Act | Talk) -> bool:
        """Tell whether a slot that must be filled can take a thing of earlier missions."""
        return any(
            self._leanable(slot) is not None for slot in act.slots if self.is_required(act, slot)
        )

    def leans_enough(self) -> bool:
        """Tell whether the request leans on earlier missions, where it is to."""
        return self.relation is None or bool(self.leaned)

    def leaves_more(self) -> bool:
        """Tell whether a later mission could recall something that this one leaves unsaid."""
        now = {str(mention.thing.value) for mention in self.leaned}
        now |= {str(thing.value) for thing in self.known.values()}
        return self.things.number == 0 or any(
            str(mention.thing.value) not in now
            and self.is_useful(mention.thing.sort.name)
            and self.things.is_clear(mention)
            for mention in self.things.mentions
        )


def feeds(first: Act, second: Act) -> bool:
    """Tell whether a result of the first may be what the second takes."""
    if first.gives is None or first.tool == second.tool or first.tool == "create_event":
        return False
    return any(slot.sort.name == first.gives.sort.name for slot in second.slots)


def _same_again(slot: Slot, words: str) -> str:
    if slot.sort.adverbial:
        return THERE if slot.sort.name in _PLACES else ""
    if slot.sort.whole:
        return ""
    return f"the same {slot.sort.noun}" if slot.sort.noun else words


def _picked(gift: Gift, act: Act, count: int, rng: random.Random) -> tuple[str, str]:
    """Return which entry of a result is taken, and how one says so."""
    people = gift.sort.name == "email"
    if count > 1:
        return FIRST, "both of them" if people else "all of them"
    if gift.owner:
        return FIRST, "them" if people else "it"
    if not act.listed:
        return FIRST, f"that {gift.noun}"
    pick = rng.choice([FIRST, *gift.best, *gift.best])
    return pick, f"the {pick} one"
