"""The slots of acts filled with things: new ones, or such as earlier missions spoke of."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from seal.benchmarks.mmtb.generation.grammar.acts import Act, Gift, Slot, Talk
from seal.benchmarks.mmtb.generation.grammar.choices import Choices
from seal.benchmarks.mmtb.generation.grammar.script import FIRST, FromCall
from seal.benchmarks.mmtb.generation.grammar.things import Mention, Thing
from seal.benchmarks.mmtb.generation.grammar.wording import THERE


@dataclass(slots=True)
class Filling:
    """What one request is about; grows with each slot that is filled."""

    choices: Choices
    rng: random.Random
    leaned: list[Mention] = field(default_factory=list)
    """Things that it takes from earlier missions."""
    known: dict[str, Thing] = field(default_factory=dict)
    """Sort to the thing that it has named."""

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
            if not self.choices.is_required(act, slot):
                wanted = mention is not None and self.rng.random() < 0.5
                if not wanted and (extra or slot.sort.noun or self.rng.random() > 0.2):
                    continue
                extra += 1
            same = self.known.get(slot.sort.name)
            if same is not None:
                fills[slot.key] = same
                phrases[slot.name] = self._same_again(slot, same.words)
            elif mention is not None and (not self.leaned or self.rng.random() < 0.7):
                self.leaned.append(mention)
                fills[slot.key] = self.known[slot.sort.name] = mention.thing
                phrases[slot.name] = self._referred(act, slot, mention)
            else:
                thing = self.choices.things.fresh(slot.sort, self.rng)
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
        before = [act for group in rounds[:turn] for act in group]
        given: dict[str, Thing | FromCall] = {}
        for other in before:
            gift = acts[other].gives
            slot = next(
                (s for s in acts[number].slots if gift and s.sort.name == gift.sort.name), None
            )
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
            thing = self.choices.things.fresh(slot.sort, self.rng)
            if thing is not None and thing not in found:
                found.append(thing)
            if len(found) == count:
                return found
        return []

    def _leanable(self, slot: Slot) -> Mention | None:
        """Return a thing of earlier missions that a slot may take."""
        if self._relation is None:
            return None
        found = self.choices.things.remote(slot.sort)
        if self._relation != "memory":
            found = self.choices.things.recent(slot.sort) or found
        return self.rng.choice(found) if found else None

    def _referred(self, act: Act | Talk, slot: Slot, mention: Mention) -> str:
        """Return a reference; of an ellipsis nothing, where one can do without."""
        far = self.last not in mention.said
        droppable = isinstance(act, Act) and act.can_drop(slot) and not slot.bare
        if self._relation == "ellipsis" and droppable and not (mention.is_listed or far):
            return ""
        return self.choices.things.reference(mention, self.rng, far)

    def _same_again(self, slot: Slot, words: str) -> str:
        if slot.sort.adverbial:
            return THERE if slot.sort.name in ("city", "harbour", "room", "district") else ""
        if slot.sort.whole:
            return ""
        return f"the same {slot.sort.noun}" if slot.sort.noun else words

    def can_lean(self, act: Act | Talk) -> bool:
        """Tell whether a slot that must be filled can take a thing of earlier missions."""
        return any(
            self._leanable(slot) is not None
            for slot in act.slots
            if self.choices.is_required(act, slot)
        )

    def leans_enough(self) -> bool:
        """Tell whether the request leans on earlier missions, where it is to."""
        return self._relation is None or bool(self.leaned)

    def leaves_more(self) -> bool:
        """Tell whether a later mission could recall something that this one leaves unsaid."""
        now = {str(mention.thing.value) for mention in self.leaned}
        now |= {str(thing.value) for thing in self.known.values()}
        return self.choices.things.number == 0 or any(
            str(mention.thing.value) not in now
            and self.choices.is_useful(mention.thing.sort.name)
            and self.choices.things.is_clear(mention)
            for mention in self.choices.things.mentions
        )

    @property
    def _relation(self) -> str | None:
        return self.choices.scene.assignment.relation

    @property
    def last(self) -> int:
        """Number of the mission before; -1: this one is the first."""
        return self.choices.things.number - 1


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
