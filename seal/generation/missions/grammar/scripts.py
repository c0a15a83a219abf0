"""What one mission is going to be: its request, its calls, and what is left out of it at first.

A script is drawn by the mission's own seed: acts whose tools are offered, things to fill them
with, and one of them at least taken from what was spoken of, as the mission's relation wants it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TypeVar

from seal.core.errors import DataError
from seal.generation.missions.grammar.acts import Act, Gift, Language, Slot, Talk, Theme
from seal.generation.missions.grammar.things import Mention, Thing, Things, values_of
from seal.generation.missions.grammar.wording import (
    THERE,
    capital,
    filled,
    joined,
    placeholders,
    preposition_of,
    tidy,
)
from seal.generation.missions.scenes import Scene

_Spoken = TypeVar("_Spoken", Act, Talk)

_TRIES = 80
_FIRST = "first"
_DO_FRAMES = (
    "Can you {}?",
    "Could you {}, please?",
    "Please {}.",
    "I'd like you to {}.",
    "I need you to {}.",
    "Would you {} for me?",
    "Quick one: {}, please.",
    "Be so kind and {}.",
)
_IT_FRAMES = ("And {}?", "What about {}?", "Now {}, please.", "And {}, please?")
_BOTH_DO = (
    "Can you {} and {}?",
    "Please {}. Also, {}.",
    "Two things, please: {}, and {}.",
    "Could you {}, and while you're at it {}?",
    "I'd like you to {} and to {}.",
)
_THEN_DO = (
    "Can you {} and then {}?",
    "First {}. After that, {}.",
    "Please {}, then {}.",
    "I need you to {} and, once you have that, {}.",
)
_BOTH_IT = ("And {}, plus {}?", "What about {} and {}?", "Now {} and {}, please.")
_NEXT_IT = ("And {}, then {}?", "Now {}, and with that {}, please.")


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


def scripts(scene: Scene, language: Language, today: date) -> Iterator[Script]:
    """Yield scripts of a mission, all of different words; the first is always the same.

    Raises:
        DataError: With these tools no such mission could be made.
    """
    things = Things(scene.past, today)
    theme = theme_of(language, scene.tools)
    found: list[str] = []
    count = 5 if not scene.assignment.number and scene.assignment.kind != "multi" else 3
    for number in range(count):
        rng = random.Random(f"{scene.assignment.seed}/{number}")
        script = _best(scene, language, theme, things, rng)
        if script is not None and script.request not in found:
            found.append(script.request)
            yield script
    if not found:
        a = scene.assignment
        raise DataError(
            f"no {a.kind} mission by {a.relation or 'no relation'} can be worded with the tools "
            f"{', '.join(scene.tools)}"
        )


def theme_of(language: Language, tools: Mapping[str, object]) -> Theme:
    """Return the theme of which most tools are offered."""
    return max(language.themes, key=lambda theme: sum(name in tools for name in theme.tools))


def _best(
    scene: Scene, language: Language, theme: Theme, things: Things, rng: random.Random
) -> Script | None:
    """Return the first script drawn that leaves something to recall; else the first at all."""
    spare = None
    for attempt in range(_TRIES):
        wide = attempt >= _TRIES // 2 and spare is None
        script = _Draft(scene, language, theme, things, rng, wide).script()
        if script is not None and script.leaves_more:
            return script
        spare = spare or script
    return spare


@dataclass(slots=True)
class _Draft:
    """One attempt at a script."""

    scene: Scene
    language: Language
    theme: Theme
    things: Things
    rng: random.Random
    wide: bool = False
    """Tools beside the theme are used too."""
    leaned: list[Mention] = field(default_factory=list)
    known: dict[str, Thing] = field(default_factory=dict)
    """Sort to the thing that this request has named."""

    def script(self) -> Script | None:
        kind = self.scene.assignment.kind
        if kind == "chat":
            return self._chat()
        if kind == "clarify":
            return self._clarify()
        return self._single() if kind == "single" else self._multi()

    # --- kinds of missions ---

    def _single(self) -> Script | None:
        if self._relation == "ellipsis" and self.rng.random() < 0.35:
            again = self._again()
            if again is not None:
                return again
        act = self._act(self._acts())
        return None if act is None else self._calls([act], [(0,)], "")

    def _multi(self) -> Script | None:
        shapes = [self._parallel, self._alike, self._serial, self._mixed, self._serial, self._mixed]
        return self.rng.choice(shapes)()

    def _parallel(self) -> Script | None:
        """Two or three acts at once."""
        count = self.rng.choice([2, 2, 2, 3])
        acts = self.rng.sample(self._acts(), min(count, len(self._acts())))
        if len(acts) < 2 or any(_feeds(a, b) for a in acts for b in acts):
            return None
        return self._calls(acts, [tuple(range(len(acts)))], "both")

    def _alike(self) -> Script | None:
        """One act about several things at once."""
        act = self._act([act for act in self._acts() if self._plurals(act)])
        if act is None:
            return None
        slot = self.rng.choice(self._plurals(act))
        return self._calls([act], [(0,)], "", (0, slot, self.rng.choice([2, 2, 3])))

    def _serial(self) -> Script | None:
        """An act, then one or two with what it brings."""
        chain = self._chain()
        if chain is None:
            return None
        fresh = chain[1].tool not in self._used()
        third = [c for c in self._acts() if fresh and c not in chain and _feeds(chain[1], c)]
        if third and self.rng.random() < 0.6:
            return self._calls([*chain, self.rng.choice(third)], [(0,), (1,), (2,)], "then")
        return self._calls(list(chain), [(0,), (1,)], "then")

    def _mixed(self) -> Script | None:
        """An act with another beside it and one after it, or several of one of the two."""
        chain = self._chain()
        if chain is None:
            return None
        first, second = chain
        many = [slot for slot in self._plurals(second) if slot.sort != _gift(first).sort]
        roll = self.rng.random()
        if _gift(first).sort.name == "email" and roll < 0.5:
            owner = next(slot for slot in first.slots if slot.key == _gift(first).owner)
            return self._calls([first, second], [(0,), (1,)], "then", (0, owner, 2))
        if many and roll < 0.6:
            return self._calls([first, second], [(0,), (1,)], "then", (1, self.rng.choice(many), 2))
        beside = [
            act
            for act in self._acts()
            if act not in chain and not any(_feeds(act, o) or _feeds(o, act) for o in chain)
        ]
        if not beside:
            return None
        return self._calls([self.rng.choice(beside), first, second], [(0, 1), (2,)], "then")

    def _clarify(self) -> Script | None:
        act = self._act([act for act in self._acts() if self._askable(act)])
        if act is None:
            return None
        askable = self._askable(act)
        count = 2 if len(askable) > 2 and self.rng.random() < 0.3 else 1
        gone = self.rng.sample(askable, count)
        phrases: dict[str, str] = {}
        fills = self._fill(act, phrases, {}, gone)
        if fills is None or not self._leans_enough():
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
        text = self._worded([(act, [phrases])], "", bare=True)
        return self._finished(text, [Planned(act, fills)], [(0,)], tuple(missing), [act])

    def _chat(self) -> Script | None:
        if self._relation and self.rng.random() < 0.15:
            return self._repeat()
        talk = self._act([t for t in self.language.talks if self._is_near(t)])
        if talk is None:
            return self._repeat() if self._relation else None
        phrases: dict[str, str] = {}
        fills = self._fill(talk, phrases, {}, ())
        if fills is None or not self._leans_enough():
            return None
        brief = self._relation == "ellipsis" and bool(talk.brief)
        brief = brief and all(self._last in mention.said for mention in self.leaned)
        said = {
            slot.name: self.things.told(thing, spoken=True)
            for slot in talk.slots
            if isinstance(thing := fills[slot.key], Thing)
        }
        text = self.rng.choice(talk.brief) if brief else filled(self.rng.choice(talk.asks), phrases)
        reply = filled(_capitals(self.rng.choice(talk.replies)), said)
        if self._relation is None:
            text = f"{self._opening([talk])} {text}".strip()
        return Script(text, reply=reply, leaves_more=self._leaves_more())

    def _repeat(self) -> Script | None:
        """What was said before is wanted again."""
        relation = self._relation
        past = self.scene.past
        if relation == "memory":
            text, reply = past[0].text, 'You wrote: "{}"'
        else:
            text, reply = str(past[-1].nodes[-1].observation), "In one line: {}"
        first = " ".join(line.strip() for line in text.splitlines()[:2])
        words = self.rng.choice(self.language.repeats[relation or "implicit"])
        return Script(words, reply=reply.format(first), leaves_more=self._leaves_more())

    def _again(self) -> Script | None:
        """Ask for what was just asked for, of another thing."""
        nodes = self.scene.past[-1].nodes
        calls = [node for node in nodes if node.name in self.language.acts]
        if len(calls) != 1 or calls[0].name not in self.scene.tools:
            return None
        act = self.language.acts[calls[0].name]
        arguments = calls[0].arguments
        slots = [slot for slot in act.slots if all(name in arguments for name in slot.parameters)]
        changed = [slot for slot in slots if slot.sort.adverbial and "." not in slot.key]
        if len(slots) < 2 or not changed:
            return None
        new = self.rng.choice(changed)
        thing = self.things.fresh(new.sort, self.rng)
        recent = {str(m.thing.value): m for m in self.things.mentions if self._last in m.said}
        fills: dict[str, Thing | FromCall] = {}
        for slot in slots:
            kept = _kept(self.things, slot, arguments)
            if slot.key != new.key:
                fills[slot.key] = kept
                if str(kept.value) in recent:
                    self.leaned.append(recent[str(kept.value)])
        if thing is None or not self.leaned:
            return None
        fills[new.key] = thing
        template = f"{{{preposition_of(act.it[0], new.name)} {new.name}}}"
        frame = self.rng.choice(
            ["And {}?", "What about {}?", "Same again, but {}.", "And {}, then?"]
        )
        text = frame.format(filled(template, {new.name: thing.words}))
        return self._finished(text, [Planned(act, fills)], [(0,)], (), [act])

    # --- putting calls together ---

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
        spoken: list[tuple[Act, list[dict[str, str]]]] = []
        for number, act in enumerate(acts):
            phrases: dict[str, str] = {}
            given = self._given(acts, number, rounds, places, phrases)
            if given is None:
                return None
            many: list[Thing] = []
            if plural is not None and plural[0] == number:
                many = self._several(plural[1], plural[2])
                if not many:
                    return None
                phrases[plural[1].name] = joined([thing.words for thing in many])
                given[plural[1].key] = many[0]
            fills = self._fill(act, phrases, given, ())
            if fills is None:
                return None
            alike = [{**fills, plural[1].key: t} for t in many] if plural and many else [fills]
            places.append([len(planned) + n for n in range(len(alike))])
            planned += [Planned(act, one) for one in alike]
            spoken.append((act, [phrases]))
        if not self._leans_enough():
            return None
        text = self._worded(spoken, bond)
        made = [tuple(place for act in group for place in places[act]) for group in rounds]
        return self._finished(text, planned, made, (), acts)

    def _given(
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

    def _fill(
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
            if not self._is_required(act, slot):
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
                thing = self.things.fresh(slot.sort, self.rng)
                if thing is None:
                    return None
                fills[slot.key] = self.known[slot.sort.name] = thing
                phrases[slot.name] = thing.words
        return fills

    def _leanable(self, slot: Slot) -> Mention | None:
        """Return a thing of earlier missions that a slot may take."""
        if self._relation is None:
            return None
        found = self.things.remote(slot.sort)
        if self._relation != "memory":
            found = self.things.recent(slot.sort) or found
        return self.rng.choice(found) if found else None

    def _referred(self, act: Act | Talk, slot: Slot, mention: Mention) -> str:
        """Return a reference; of an ellipsis nothing, where one can do without."""
        far = self._last not in mention.said
        droppable = isinstance(act, Act) and act.can_drop(slot) and not slot.bare
        if self._relation == "ellipsis" and droppable and not (mention.is_listed or far):
            return ""
        return self.things.reference(mention, self.rng, far)

    def _same_again(self, slot: Slot, words: str) -> str:
        if slot.sort.adverbial:
            return THERE if slot.sort.name in ("city", "harbour", "room", "district") else ""
        if slot.sort.whole:
            return ""
        return f"the same {slot.sort.noun}" if slot.sort.noun else words

    def _leans_enough(self) -> bool:
        return self._relation is None or bool(self.leaned)

    def _several(self, slot: Slot, count: int) -> list[Thing]:
        """Return different things for a slot; empty: there are not so many."""
        found: list[Thing] = []
        for _ in range(12):
            thing = self.things.fresh(slot.sort, self.rng)
            if thing is not None and thing not in found:
                found.append(thing)
            if len(found) == count:
                return found
        return []

    # --- words ---

    def _worded(
        self, spoken: Sequence[tuple[Act, list[dict[str, str]]]], bond: str, bare: bool = False
    ) -> str:
        """Return a request for acts."""
        elliptic = self._relation == "ellipsis"
        if len(spoken) == 1:
            act, [phrases] = spoken[0]
            return self._one(act, phrases, elliptic, bare)
        clauses = [
            filled(self.rng.choice(act.it if elliptic else act.do), phrases)
            for act, [phrases] in spoken
        ]
        if bond == "then":
            *firsts, last = clauses
            if len(firsts) == 2 and len({act.tool for act, _ in spoken}) == 3:
                firsts = [joined(firsts)]
            frame = self.rng.choice(_NEXT_IT if elliptic else _THEN_DO)
            return _sentence(frame.format(", ".join(firsts), last))
        if len(clauses) == 3:
            frame = self.rng.choice(_IT_FRAMES if elliptic else _DO_FRAMES)
            return _sentence(frame.format(joined(clauses)))
        return _sentence(self.rng.choice(_BOTH_IT if elliptic else _BOTH_DO).format(*clauses))

    def _one(self, act: Act, phrases: dict[str, str], elliptic: bool, bare: bool) -> str:
        asks = [] if bare else [ask for ask in act.asks if _speaks_of(ask, phrases)]
        if elliptic:
            return _sentence(
                self.rng.choice(_IT_FRAMES).format(filled(self.rng.choice(act.it), phrases))
            )
        if asks and self.rng.random() < 0.6:
            return _sentence(filled(self.rng.choice(asks), phrases))
        do = filled(self.rng.choice(act.do), phrases)
        return _sentence(self.rng.choice(_DO_FRAMES).format(do))

    def _opening(self, acts: Sequence[Act | Talk]) -> str:
        """Return how a person opens a conversation: with things that later missions may recall."""
        nouns = {slot.sort.noun for act in acts for slot in act.slots}
        sorts = [
            self.language.sorts[name]
            for name in self.theme.anchors
            if self.language.sorts[name].noun not in nouns and self._is_useful(name)
        ]
        self.rng.shuffle(sorts)
        said = []
        for sort in sorts[:2]:
            thing = self.things.fresh(sort, self.rng)
            if thing is not None:
                template = self.rng.choice(self.language.openers[sort.name])
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
        if self._relation is None:
            text = f"{self._opening(acts)} {text}".strip()
        return Script(tidy(text), tuple(planned), tuple(rounds), missing, "", self._leaves_more())

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

    # --- what there is to choose from ---

    @property
    def _relation(self) -> str | None:
        return self.scene.assignment.relation

    @property
    def _last(self) -> int:
        return self.things.number - 1

    def _acts(self) -> list[Act]:
        """Return the acts of the theme whose tools are offered, those not used before first."""
        used = self._used()
        names = self.scene.tools if self.wide else self.theme.tools
        acts = self.language.acts
        offered = [acts[name] for name in names if name in acts and name in self.scene.tools]
        new = [act for act in offered if act.tool not in used]
        return new if self.rng.random() < 0.85 and len(new) > 1 else offered

    def _act(self, acts: Sequence[_Spoken]) -> _Spoken | None:
        """Return one of some acts, one that can lean on what was said if it has to."""
        if self._relation is not None:
            acts = [act for act in acts if self._can_lean(act)]
        return self.rng.choice(acts) if acts else None

    def _can_lean(self, act: Act | Talk) -> bool:
        return any(
            self._leanable(slot) is not None for slot in act.slots if self._is_required(act, slot)
        )

    def _chain(self) -> tuple[Act, Act] | None:
        """Return two acts of which the second takes what the first brings, and nobody knew."""
        acts, used = self._acts(), self._used()
        pairs = [(a, b) for a in acts for b in acts if _feeds(a, b) and a.tool not in used]
        return self.rng.choice(pairs) if pairs else None

    def _used(self) -> set[str]:
        return {node.name for mission in self.scene.past for node in mission.nodes}

    def _plurals(self, act: Act) -> list[Slot]:
        """Return the slots of which an act may be about several things at once."""
        return [
            slot
            for slot in act.slots
            if self._is_required(act, slot)
            and slot.sort.name in ("city", "day", "company", "symbol", "food", "room", "district")
            and not slot.form
            and "." not in slot.key
        ]

    def _askable(self, act: Act) -> list[Slot]:
        """Return the slots that a request may leave out."""
        return [
            slot
            for slot in act.slots
            if slot.which
            and self._is_required(act, slot)
            and not slot.key.endswith(".day")
            and slot.key != act.needs
            and self.things.fresh(slot.sort, random.Random(0)) is not None
        ]

    def _is_required(self, act: Act | Talk, slot: Slot) -> bool:
        if isinstance(act, Talk) or slot.key == act.needs:
            return True
        required = self.scene.tools[act.tool].parameters.get("required", [])
        return all(name in required for name in slot.parameters)

    def _is_near(self, talk: Talk) -> bool:
        """Tell whether a talk is about something of the theme."""
        mine = {*self.theme.anchors}
        for name in self.theme.tools:
            act = self.language.acts[name]
            if name in self.scene.tools:
                mine.update(slot.sort.name for slot in act.slots)
        return all(slot.sort.name in mine for slot in talk.slots)

    def _is_useful(self, sort: str) -> bool:
        """Tell whether later missions of any type could be about a thing of a sort."""
        count = 0
        for name in self.theme.tools:
            if name in self.scene.tools:
                act = self.language.acts[name]
                needed = [slot.sort.name for slot in act.slots if self._is_required(act, slot)]
                count += sort in needed and len(needed) > 1
        return count > 0

    def _leaves_more(self) -> bool:
        """Tell whether a later mission could recall something that this one leaves unsaid."""
        now = {str(mention.thing.value) for mention in self.leaned}
        now |= {str(thing.value) for thing in self.known.values()}
        return self.things.number == 0 or any(
            str(mention.thing.value) not in now
            and self._is_useful(mention.thing.sort.name)
            and self.things.is_clear(mention)
            for mention in self.things.mentions
        )


def _gift(act: Act) -> Gift:
    if act.gives is None:
        raise DataError(f"{act.tool} brings nothing that another act takes")
    return act.gives


def _feeds(first: Act, second: Act) -> bool:
    """Tell whether a result of the first may be what the second takes."""
    if first.gives is None or first.tool == second.tool or first.tool == "create_event":
        return False
    return any(slot.sort.name == first.gives.sort.name for slot in second.slots)


def _picked(gift: Gift, act: Act, count: int, rng: random.Random) -> tuple[str, str]:
    """Return which entry of a result is taken, and how one says so."""
    people = gift.sort.name == "email"
    if count > 1:
        return _FIRST, "both of them" if people else "all of them"
    if gift.owner:
        return _FIRST, "them" if people else "it"
    if not act.listed:
        return _FIRST, f"that {gift.noun}"
    pick = rng.choice([_FIRST, *gift.best, *gift.best])
    return pick, f"the {pick} one"


def _kept(things: Things, slot: Slot, arguments: Mapping[str, object]) -> Thing:
    return things.of_value(slot.sort, values_of(slot, arguments)[0])


def _speaks_of(template: str, phrases: Mapping[str, str]) -> bool:
    """Tell whether a template has a place for every phrase."""
    names = placeholders(template)
    return all(name in names for name, phrase in phrases.items() if phrase)


def _sentence(text: str) -> str:
    return capital(tidy(text))


def _capitals(template: str) -> str:
    """Return a template whose first placeholder gives a capital where it begins a sentence."""
    for mark in ("", ". ", ": "):
        start = template.find(f"{mark}{{") if mark else (0 if template.startswith("{") else -1)
        if start >= 0 and mark != ": ":
            at = start + len(mark) + 1
            template = template[:at] + template[at].upper() + template[at + 1 :]
    return template
