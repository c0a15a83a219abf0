"""What one mission is going to be: its request, its calls, and what is left out of it at first.

A script is drawn by the mission's own seed. It has acts whose tools are offered, in one of the
shapes of its type, and things to fill them with. At least one thing was spoken of before, as the
mission's relation wants it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

from seal.benchmarks.mmtb.generation.grammar.choices import (
    Choices,
    FromCall,
    Planned,
    Script,
    feeds,
)
from seal.benchmarks.mmtb.generation.grammar.language import (
    Act,
    Gift,
    Slot,
    Talk,
    Theme,
    filled,
    joined,
    language,
    preposition_of,
    tidy,
)
from seal.benchmarks.mmtb.generation.grammar.requests import worded
from seal.benchmarks.mmtb.generation.grammar.things import Thing, Things, thing_of, values_of
from seal.benchmarks.mmtb.generation.scenes import Scene
from seal.core import DataError

_TRIES = 80
_Spoken = TypeVar("_Spoken", Act, Talk)


def scripts(scene: Scene, today: date) -> Iterator[Script]:
    """Yield scripts of a mission, all of different words; the first is always the same.

    Raises:
        DataError: With these tools no such mission could be made.
    """
    things = Things(scene.past, today)
    offered = [sum(name in scene.tools for name in theme.tools) for theme in language().themes]
    theme = language().themes[offered.index(max(offered))]
    own = scene.assignment
    found: list[str] = []
    for number in range(5 if not own.number and own.kind != "multi" else 3):
        script = _best(scene, theme, things, random.Random(f"{own.seed}/{number}"))
        if script is not None and script.request not in found:
            found.append(script.request)
            yield script
    if not found:
        raise DataError(
            f"no {own.kind} mission by {own.relation or 'no relation'} can be worded with the "
            f"tools {', '.join(scene.tools)}"
        )


def _best(scene: Scene, theme: Theme, things: Things, rng: random.Random) -> Script | None:
    """Return the first script drawn that leaves something to recall; else the first at all."""
    spare = None
    for attempt in range(_TRIES):
        wide = attempt >= _TRIES // 2 and spare is None
        script = Draft(scene, theme, things, rng, wide).script()
        if script is not None and script.leaves_more:
            return script
        spare = spare or script
    return spare


@dataclass(slots=True)
class Draft(Choices):
    """One attempt at a script."""

    def script(self) -> Script | None:
        """Return a script of the mission's type; None: what was drawn does not make one."""
        kind = self.scene.assignment.kind
        if kind == "multi":
            chained = [self._serial, self._mixed]
            return self.rng.choice([self._parallel, self._alike, *chained, *chained])()
        return {"single": self._single, "chat": self._chat, "clarify": self._clarify}[kind]()

    def _single(self) -> Script | None:
        if self._elliptic and self.rng.random() < 0.35:
            again = self._again()
            if again is not None:
                return again
        act = self._act(self.acts())
        return None if act is None else self._calls([act], [(0,)], "")

    def _parallel(self) -> Script | None:
        """Two or three acts at once."""
        count = self.rng.choice([2, 2, 2, 3])
        acts = self.rng.sample(self.acts(), min(count, len(self.acts())))
        if len(acts) < 2 or any(feeds(a, b) for a in acts for b in acts):
            return None
        return self._calls(acts, [tuple(range(len(acts)))], "both")

    def _alike(self) -> Script | None:
        """One act about several things at once."""
        act = self._act([act for act in self.acts() if self.plurals(act)])
        if act is None:
            return None
        slot = self.rng.choice(self.plurals(act))
        return self._calls([act], [(0,)], "", (0, slot, self.rng.choice([2, 2, 3])))

    def _serial(self) -> Script | None:
        """An act, then one or two with what it brings."""
        chain = self.chain()
        if chain is None:
            return None
        fresh = chain[1].tool not in self.used()
        acts = self.acts()
        third = [c for c in acts if fresh and c not in chain and feeds(chain[1], c)]
        if third and self.rng.random() < 0.6:
            return self._calls([*chain, self.rng.choice(third)], [(0,), (1,), (2,)], "then")
        return self._calls(list(chain), [(0,), (1,)], "then")

    def _mixed(self) -> Script | None:
        """An act with another beside it and one after it, or several of one of the two."""
        chain = self.chain()
        if chain is None:
            return None
        first, second = chain
        gift = _gift(first)
        many = [slot for slot in self.plurals(second) if slot.sort != gift.sort]
        roll = self.rng.random()
        if gift.sort.name == "email" and roll < 0.5:
            owner = next(slot for slot in first.slots if slot.key == gift.owner)
            return self._calls([first, second], [(0,), (1,)], "then", (0, owner, 2))
        if many and roll < 0.6:
            return self._calls([first, second], [(0,), (1,)], "then", (1, self.rng.choice(many), 2))
        beside = [
            act
            for act in self.acts()
            if act not in chain and not any(feeds(act, o) or feeds(o, act) for o in chain)
        ]
        if not beside:
            return None
        return self._calls([self.rng.choice(beside), first, second], [(0, 1), (2,)], "then")

    def _clarify(self) -> Script | None:
        act = self._act([act for act in self.acts() if self.askable(act)])
        if act is None:
            return None
        askable = self.askable(act)
        count = 2 if len(askable) > 2 and self.rng.random() < 0.3 else 1
        gone = self.rng.sample(askable, count)
        phrases: dict[str, str] = {}
        fills = self.fill(act, phrases, {}, gone)
        if fills is None or not self.leans_enough():
            return None
        missing = []
        for slot in gone:
            thing = self.things.fresh(slot.sort, self.rng)
            if thing is None:
                return None
            missing.append((slot, thing))
            another = self.things.was_said(slot.sort.noun) and slot.sort.noun
            article = f"another {slot.sort.noun}"
            phrases[slot.name] = article if another and not slot.sort.whole else slot.bare
        text = worded(self.rng, [(act, phrases)], "", self._elliptic, bare=True)
        return self._finished(text, [Planned(act, fills)], [(0,)], tuple(missing), [act])

    def _chat(self) -> Script | None:
        if self.relation and self.rng.random() < 0.15:
            return self._repeat()
        talk = self._act([t for t in language().talks if self.is_near(t)])
        if talk is None:
            return self._repeat() if self.relation else None
        phrases: dict[str, str] = {}
        fills = self.fill(talk, phrases, {}, ())
        if fills is None or not self.leans_enough():
            return None
        brief = self._elliptic and bool(talk.brief)
        brief = brief and all(self.last in mention.said for mention in self.leaned)
        said = {
            slot.name: thing.told(spoken=True)
            for slot in talk.slots
            if isinstance(thing := fills[slot.key], Thing)
        }
        text = self.rng.choice(talk.brief) if brief else filled(self.rng.choice(talk.asks), phrases)
        reply = filled(_capitals(self.rng.choice(talk.replies)), said)
        if self.relation is None:
            text = f"{self._opening([talk])} {text}".strip()
        return Script(text, reply=reply, leaves_more=self.leaves_more())

    def _repeat(self) -> Script | None:
        """What was said before is wanted again."""
        past = self.scene.past
        if self.relation == "memory":
            text, reply = past[0].text, 'You wrote: "{}"'
        else:
            text, reply = str(past[-1].nodes[-1].observation), "In one line: {}"
        first = " ".join(line.strip() for line in text.splitlines()[:2])
        words = self.rng.choice(language().repeats[self.relation or "implicit"])
        return Script(words, reply=reply.format(first), leaves_more=self.leaves_more())

    def _again(self) -> Script | None:
        """Ask for what was just asked for, of another thing."""
        nodes = self.scene.past[-1].nodes
        calls = [node for node in nodes if node.name in language().acts]
        if len(calls) != 1 or calls[0].name not in self.scene.tools:
            return None
        act = language().acts[calls[0].name]
        arguments = calls[0].arguments
        slots = [slot for slot in act.slots if all(name in arguments for name in slot.parameters)]
        changed = [slot for slot in slots if slot.sort.adverbial and "." not in slot.key]
        if len(slots) < 2 or not changed:
            return None
        new = self.rng.choice(changed)
        thing = self.things.fresh(new.sort, self.rng)
        recent = {str(m.thing.value): m for m in self.things.mentions if self.last in m.said}
        fills: dict[str, Thing | FromCall] = {}
        for slot in slots:
            kept = thing_of(slot.sort, values_of(slot, arguments)[0], self.things.today)
            if slot.key != new.key:
                fills[slot.key] = kept
                if str(kept.value) in recent:
                    self.leaned.append(recent[str(kept.value)])
        if thing is None or not self.leaned:
            return None
        fills[new.key] = thing
        template = f"{{{preposition_of(act.it[0], new.name)} {new.name}}}"
        frames = ["And {}?", "What about {}?", "Same again, but {}.", "And {}, then?"]
        text = self.rng.choice(frames).format(filled(template, {new.name: thing.words}))
        return self._finished(text, [Planned(act, fills)], [(0,)], (), [act])

    def _calls(
        self,
        acts: Sequence[Act],
        rounds: Sequence[Sequence[int]],
        bond: str,
        plural: tuple[int, Slot, int] | None = None,
    ) -> Script | None:
        """Return a script of acts.

        Args:
            acts: In the order in which they are spoken of.
            rounds: Positions of the acts that are done at once.
            bond: `both`, `then`, or nothing, of one act alone.
            plural: An act's position, and the slot of which it is about so many things.
        """
        planned: list[Planned] = []
        places: list[list[int]] = []
        spoken: list[tuple[Act, dict[str, str]]] = []
        for number, act in enumerate(acts):
            phrases: dict[str, str] = {}
            given = self.given_before(acts, number, rounds, places, phrases)
            if given is None:
                return None
            many: list[Thing] = []
            if plural is not None and plural[0] == number:
                many = self.several(plural[1], plural[2])
                if not many:
                    return None
                phrases[plural[1].name] = joined([thing.words for thing in many])
                given[plural[1].key] = many[0]
            fills = self.fill(act, phrases, given, ())
            if fills is None:
                return None
            alike = [{**fills, plural[1].key: t} for t in many] if plural and many else [fills]
            places.append([len(planned) + n for n in range(len(alike))])
            planned += [Planned(act, one) for one in alike]
            spoken.append((act, phrases))
        if not self.leans_enough():
            return None
        text = worded(self.rng, spoken, bond, self._elliptic)
        made = [tuple(place for act in group for place in places[act]) for group in rounds]
        return self._finished(text, planned, made, (), acts)

    def _opening(self, acts: Sequence[Act | Talk]) -> str:
        """Return how a person opens a conversation: with things that later missions may recall."""
        nouns = {slot.sort.noun for act in acts for slot in act.slots}
        anchors = [language().sorts[name] for name in self.theme.anchors]
        sorts = [sort for sort in anchors if sort.noun not in nouns and self.is_useful(sort.name)]
        self.rng.shuffle(sorts)
        said = []
        for sort in sorts[:2]:
            thing = self.things.fresh(sort, self.rng)
            if thing is not None:
                template = self.rng.choice(language().openers[sort.name])
                said.append(filled(template, {sort.name: thing.words}))
        return " ".join(said)

    def _finished(
        self,
        text: str,
        planned: Sequence[Planned],
        rounds: Sequence[tuple[int, ...]],
        missing: tuple[tuple[Slot, Thing], ...],
        acts: Sequence[Act],
    ) -> Script | None:
        if len(planned) == 1 and not missing and self._was_done(planned[0]):
            return None
        if self.relation is None:
            text = f"{self._opening(acts)} {text}".strip()
        more = self.leaves_more()
        return Script(tidy(text), tuple(planned), tuple(rounds), missing, "", more)

    def _was_done(self, planned: Planned) -> bool:
        """Tell whether an earlier mission made the very call."""
        return any(
            node.name == planned.act.tool
            and all(
                isinstance(fill := planned.fills.get(slot.key), Thing)
                and fill.value in values_of(slot, node.arguments)
                for slot in planned.act.slots
                if all(name in node.arguments for name in slot.parameters)
            )
            for mission in self.scene.past
            for node in mission.nodes
        )

    def _act(self, acts: Sequence[_Spoken]) -> _Spoken | None:
        """Return one of some acts, one that can lean on what was said if it has to."""
        if self.relation is not None:
            acts = [act for act in acts if self.can_lean(act)]
        return self.rng.choice(acts) if acts else None

    @property
    def _elliptic(self) -> bool:
        return self.relation == "ellipsis"


def _gift(act: Act) -> Gift:
    if act.gives is None:
        raise DataError(f"{act.tool} brings nothing that another act takes")
    return act.gives


def _capitals(template: str) -> str:
    """Return a template whose first placeholder gives a capital where it begins a sentence."""
    starts = [0] if template.startswith("{") else []
    if ". {" in template:
        starts.append(template.index(". {") + 2)
    for start in starts:
        template = f"{template[: start + 1]}{template[start + 1].upper()}{template[start + 2 :]}"
    return template
