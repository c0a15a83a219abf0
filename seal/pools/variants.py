"""Variants of gold: what else is done and said, rightly or wrongly, for a goal of a world."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, permutations
from typing import Any, NamedTuple

from seal.core import (
    JSON,
    Goal,
    Milestone,
    Task,
    Tool,
    ToolResult,
)
from seal.core.conditions import Called, parts
from seal.core.slots import WORDS, Slot
from seal.core.state_conditions import Unconfirmed
from seal.core.text import counted, sentences
from seal.core.values import equal
from seal.evaluation.goals import asks_calls_alone, asks_of_world, unserved
from seal.pools.gold_scripts import (
    MORE,
    Changes,
    Deed,
    Link,
    Move,
    Played,
    Script,
    is_near,
    is_same,
    leaves_of,
    resolved,
    value_of,
    written,
)
from seal.pools.other_words import (
    REFUSED,
    Said,
    Texts,
    denied,
    holds,
    names_in,
    only_denied,
    other_dates,
    other_figures,
    other_times,
    told_wrong,
    wordings,
)

# -- A goal whose gold is altered, and the variants of it.


@dataclass(frozen=True, slots=True)
class Case:
    """A goal, and its gold as it was played."""

    task: Task
    goal: int
    before: Sequence[Script]
    """Of earlier goals."""
    script: Script
    base: Played
    wanted: Sequence[Changes]
    """What the world may have changed at the end."""
    ignore: Sequence[str]
    varies: Sequence[str]
    tools: Mapping[str, Tool]
    """Offered ones by id."""
    rows: Mapping[str, Sequence[Mapping[str, Any]]]
    """The world as it begins."""

    @property
    def gold(self) -> Goal:
        """The goal."""
        return self.task.goals[self.goal]

    @property
    def deeds(self) -> list[Deed]:
        """All calls of the script."""
        return [deed for move in self.script for deed in move.deeds]

    @property
    def texts(self) -> tuple[str, ...]:
        """All that the agent says."""
        return tuple(move.say for move in self.script if move.say)

    def otherwise(self, played: Played) -> bool:
        """Tell whether the world ends in none of the ways that gold leaves open."""
        return not any(self._same(played, one) for one in self.wanted)

    def as_well(self, played: Played) -> bool:
        """Tell whether the world ends as after gold."""
        return self._same(played, self.base.changes)

    def alike(self, played: Played) -> bool:
        """Tell whether each call of gold brought what it brings in gold, and the end is gold's."""
        pairs = [(one, played.results.get(n)) for n, one in self.base.results.items()]
        return self.as_well(played) and all(
            other is not None
            and (one.error is None) == (other.error is None)
            and (n in self.base.changing or _brings(other, one))
            for n, (one, other) in zip(self.base.results, pairs, strict=True)
        )

    def _same(self, played: Played, wanted: Changes) -> bool:
        return is_same(played.changes, wanted, self.ignore, self.varies)


def _brings(other: ToolResult, one: ToolResult) -> bool:
    """Tell whether a result has what another has, but for numbers that time moves."""
    values = [leaves_of(value_of(each)) for each in (one, other)]
    pairs = zip(*values, strict=False)
    return len(values[0]) == len(values[1]) and all(
        equal(a, b) or (_is_number(a) and is_near(a, b)) for a, b in pairs
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class Variant(NamedTuple):
    """Something else that is done or said."""

    altered: str
    """What, in words."""
    script: Script
    counts: Callable[[Played], bool] = lambda played: True
    """Tells whether it is what it is meant to be, by how the world ends."""


Make = Callable[[Case, "Lent"], Iterator[Variant]]


@dataclass(frozen=True, slots=True)
class Lent:
    """What the other tasks of the pool lend."""

    looks: Sequence[Deed] = ()
    """Calls that changed nothing."""
    deeds: Sequence[Deed] = ()
    """Calls that changed the world."""
    names: Sequence[Sequence[str]] = ()
    """Of each column of the worlds that has names, these."""


def _changed(script: Script, number: int, to: Deed | None) -> list[Move]:
    """Return a script with another call in the place of one; None: without it."""
    found = []
    for move in script:
        deeds = tuple(to if one.number == number else one for one in move.deeds)
        left = tuple(one for one in deeds if one is not None)
        found += [Move(left, move.say, move.hear)] if left or move.say or move.hear else []
    return found


def _saying(script: Script, texts: Sequence[str]) -> list[Move]:
    """Return a script in which other texts are said."""
    left = iter(texts)
    return [move._replace(say=next(left)) if move.say else move for move in script]


def _before_reply(script: Script, *more: Move) -> list[Move]:
    return [*script[:-1], *more, script[-1]]


def _acting(case: Case) -> list[Deed]:
    return [deed for deed in case.deeds if deed.number in case.base.changing]


def _left_out(case: Case, lent: Lent) -> Iterator[Variant]:
    for deed in _acting(case):
        script = _changed(case.script, deed.number, None)
        yield Variant(f"without {written(deed)}", script, case.otherwise)


def _with_values(
    case: Case, others: Callable[[Case, str, str, JSON], Iterable[JSON]]
) -> Iterator[Variant]:
    """Yield each changing call with another value of one argument."""
    for deed in _acting(case):
        known = {n: value_of(one) for n, one in case.base.results.items() if one.error is None}
        for name, given in deed.arguments.items():
            for value in others(case, deed.tool, name, resolved(given, known)):
                new = deed._replace(arguments={**deed.arguments, name: value})
                text = f"{written(new)} for {written(deed)}"
                yield Variant(text, _changed(case.script, deed.number, new), case.otherwise)


_DAY = 86_400
_MOMENT = 1e8
"""Numbers from here on are POSIX seconds."""


def _other_values(case: Case, tool: str, name: str, value: JSON) -> Iterable[JSON]:
    schema: Any = case.tools[tool].parameters.get("properties") if tool in case.tools else None
    choices = (schema or {}).get(name, {}).get("enum") or ()
    yield from [one for one in choices if one != value][:2]
    if choices:
        return
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        yield from (value + _DAY, value - 3600) if value >= _MOMENT else (value + 1, value * 10)
    elif isinstance(value, str):
        digits = [place for place, one in enumerate(value) if one.isdigit()]
        if digits:
            at = digits[-1]
            yield value[:at] + str((int(value[at]) + 3) % 10) + value[at + 1 :]
        elif value:
            yield "Buy a green umbrella"
    elif isinstance(value, list) and value:
        yield value[:-1]


def _other_rows(case: Case, tool: str, name: str, value: JSON) -> Iterable[JSON]:
    """Yield the values that other rows have in the column in which one stands."""
    if isinstance(value, bool) or value in (None, "", 0, 1):
        return
    for rows in case.rows.values():
        for column in {column for row in rows for column, cell in row.items() if cell == value}:
            others = [row.get(column) for row in rows if row.get(column) not in (None, "", value)]
            yield from list(dict.fromkeys(one for one in others if isinstance(one, str | int)))[:3]


def _entities(case: Case, lent: Lent) -> Iterator[Variant]:
    return _with_values(case, _other_rows)


def _values(case: Case, lent: Lent) -> Iterator[Variant]:
    return _with_values(case, _other_values)


def _runs(script: Script) -> Iterator[tuple[int, int]]:
    """Yield where calls follow each other without a word: from, and up to."""
    start = 0
    for place, move in enumerate([*script, Move(say="end")]):
        if move.say or move.hear:
            if place > start:
                yield start, place
            start = place + 1


def _orders(case: Case) -> Iterator[tuple[str, list[Deed], list[Move]]]:
    """Yield other orders of the calls between two words, each as text, calls and script."""
    for start, stop in _runs(case.script):
        deeds = [deed for move in case.script[start:stop] for deed in move.deeds]
        for order in islice(permutations(deeds), 1, _MOST_ORDERS):
            text = ", ".join(deed.tool.rpartition("/")[2] for deed in order)
            calls = [Move((deed,)) for deed in order]
            yield (
                f"in the order {text}",
                [*order],
                [*case.script[:start], *calls, *case.script[stop:]],
            )


_MOST_ORDERS = 121


def _links(value: Any) -> Iterator[Link]:
    if isinstance(value, Link):
        yield value
    elif isinstance(value, Mapping):
        yield from chain.from_iterable(map(_links, value.values()))
    elif isinstance(value, list):
        yield from chain.from_iterable(map(_links, value))


def _is_knowable(order: Sequence[Deed]) -> bool:
    """Tell whether each call of an order comes after those whose results it takes."""
    places = {deed.number: place for place, deed in enumerate(order)}
    return all(
        places.get(link.call, -1) < place
        for place, deed in enumerate(order)
        for link in _links(deed.arguments)
    )


def _breaks_order(case: Case, order: Sequence[Deed]) -> bool:
    """Tell whether calls come in an order that the milestones of every plan forbid."""
    plans = case.gold.plans or ()
    return bool(plans) and all(_breaks(plan.milestones, order) for plan in plans)


def _breaks(nodes: Sequence[Milestone], order: Sequence[Deed]) -> bool:
    places: dict[int, int] = {}
    for number, node in enumerate(nodes):
        gold = node.condition
        fits = (
            place
            for place, deed in enumerate(order)
            if place not in places.values()
            and isinstance(gold, Called)
            and gold.tool == deed.tool
            and gold.accepts(_usual(deed))
        )
        place = next(fits, None)
        if place is not None:
            places[number] = place
    return any(
        before in places and number in places and places[before] > places[number]
        for number, node in enumerate(nodes)
        for before in node.after
    )


def _usual(deed: Deed) -> dict[str, JSON]:
    return {name: resolved(value, {}) for name, value in deed.arguments.items()}


def _swapped(case: Case, lent: Lent) -> Iterator[Variant]:
    for text, order, script in _orders(case):
        if not _breaks_order(case, order):
            yield Variant(text, script, case.otherwise)


def _forbidden(case: Case, lent: Lent) -> Iterator[Variant]:
    goal = case.gold
    if asks_calls_alone(goal) or any(map(asks_of_world, goal.plans or ())):
        for text, order, script in _orders(case):
            if _is_knowable(order) and _breaks_order(case, order):
                yield Variant(text, script)


def _allowed(case: Case, lent: Lent) -> Iterator[Variant]:
    single = [Move((deed,)) for deed in case.deeds]
    if any(len(move.deeds) > 1 for move in case.script) and len(case.script) - 1 < len(single) + 1:
        apart = [
            one
            for move in case.script
            for one in ([Move((deed,)) for deed in move.deeds] if move.deeds else [move])
        ]
        yield Variant("each call in a reply of its own", apart, case.alike)
    for text, order, script in _orders(case):
        if _is_knowable(order) and not _breaks_order(case, order):
            yield Variant(text, script, case.alike)


def _again(deed: Deed, number: int = MORE) -> Move:
    return Move((deed._replace(number=number),))


def _is_gold(case: Case, deed: Deed) -> bool:
    return any(deed.tool == own.tool and equal(_usual(deed), _usual(own)) for own in case.deeds)


def _effects(case: Case, lent: Lent) -> Iterator[Variant]:
    for deed in _acting(case):
        twice = _before_reply(case.script, _again(deed))
        yield Variant(f"{written(deed)} a second time", twice, case.otherwise)
    for deed in lent.deeds:
        if deed.tool in case.tools and not _is_gold(case, deed):
            text = f"{written(deed)} besides"
            yield Variant(text, _before_reply(case.script, _again(deed)), case.otherwise)


def _early(case: Case, lent: Lent) -> Iterator[Variant]:
    acts = [place for place, move in enumerate(case.script) if move.deeds]
    for kept, place in enumerate(acts):
        script = [*case.script[:place], case.script[-1]]
        text = f"ends after {counted(kept, 'reply')} with calls, and says so"
        yield Variant(text.replace("replys", "replies"), script, case.otherwise)
    told = [slot for slot in case.gold.tells if not slot.optional]
    if told or case.gold.answers:
        silent = [move for move in case.script if not move.say and not move.hear]
        yield Variant("ends without a word", silent)


def _mined(case: Case) -> set[str]:
    """Return the tools whose calls gold forbids, or forbids without consent."""
    plans = case.gold.plans or ()
    mines = [part for plan in plans for node in plan.minefields for part in parts(node.condition)]
    asking = (tool for part in mines if isinstance(part, Unconfirmed) for tool in part.tools)
    return {*asking, *(part.tool for part in mines if isinstance(part, Called))}


def _consent(case: Case, lent: Lent) -> Iterator[Variant]:
    tools = _mined(case)
    for place, move in enumerate(case.script):
        rest = case.script[place + 1 :]
        acts = [deed for one in rest for deed in one.deeds if deed.tool in tools]
        if not move.hear or not acts or not place or not case.script[place - 1].say:
            continue
        before, asked = case.script[: place - 1], case.script[place - 1]
        yield Variant("nobody is asked before", [*before, *rest])
        no = Move(hear="No, leave it as it is.")
        yield Variant("the user says no, and it is done", [*before, asked, no, *rest])
        other = Move(hear="What time is it, by the way?")
        yield Variant("the user does not agree, and it is done", [*before, asked, other, *rest])
        yield Variant(
            "it is done, and asked for afterwards", [*before, *rest[:-1], asked, move, rest[-1]]
        )


def _by_lies(*lies: Callable[[Said], Iterator[Texts]]) -> Make:
    def made(case: Case, lent: Lent) -> Iterator[Variant]:
        said = Said(case.texts, bool(case.base.changing), ())
        told = case.texts and not asks_calls_alone(case.gold)
        for texts in chain.from_iterable(lie(said) for lie in lies) if told else ():
            if texts != case.texts:
                yield Variant(f"says {texts[-1]!r}", _saying(case.script, texts))

    return made


def _names(case: Case, lent: Lent) -> Iterator[Variant]:
    """Yield words in which a name is exchanged for another of the same column of the world."""
    told = case.texts and not asks_calls_alone(case.gold)
    for old in names_in(case.texts[-1]) if told else ():
        for others in lent.names:
            full = next((one for one in others if one == old or old in one.split()), None)
            if full is None:
                continue
            at = full.split().index(old) if old != full else slice(None)
            alike = [one for one in others if one.count(" ") == full.count(" ")]
            parts_of = (one if isinstance(at, slice) else one.split()[at] for one in alike)
            said = (*case.texts, case.gold.text)
            free = dict.fromkeys(one for one in parts_of if not any(one in text for text in said))
            for new in islice(free, 2):
                texts = [re.sub(rf"\b{re.escape(old)}\b", new, text) for text in case.texts]
                yield Variant(f"says {texts[-1]!r}", _saying(case.script, texts))


def _told(case: Case, of: Callable[[Slot], Sequence[str]]) -> Iterator[Variant]:
    """Yield the script with other sentences in the place of the last one that tells a slot.

    Whatever else that sentence tells is told after it. An earlier one may be corrected by it.
    """
    texts = case.texts
    spoken = [(number, one) for number, text in enumerate(texts) for one in sentences(text)]
    for slot in case.gold.tells:
        found = [place for place in spoken if holds(place[1], slot)]
        for instead in of(slot):
            if slot.type == "lack":
                number, new = len(texts) - 1, instead
            elif found:
                number, sentence = found[-1]
                others = [one for one in case.gold.tells if one != slot and holds(sentence, one)]
                ended = instead if instead[-1] in ".!?" else f"{instead}."
                more = [f"{one.texts[0]}." for one in others if not holds(instead, one)]
                new = texts[number].replace(sentence, " ".join([ended, *more]), 1)
            elif len(texts) == 1:
                others = [one for one in case.gold.tells if one != slot and not one.optional]
                number, new = 0, " ".join([instead, *(f"{one.texts[0]}." for one in others)])
            else:
                continue
            said = [*texts[:number], new, *texts[number + 1 :]]
            yield Variant(f"says {new!r}", _saying(case.script, said))


def _slots_wrong(case: Case, lent: Lent) -> Iterator[Variant]:
    def wrong(slot: Slot) -> Sequence[str]:
        alike = [names for names in lent.names if set(slot.texts) & set(names)]
        return told_wrong(slot, chain.from_iterable(alike))

    return _told(case, wrong)


def _slots_right(case: Case, lent: Lent) -> Iterator[Variant]:
    return _told(case, wordings)


def _refusals(case: Case, lent: Lent) -> Iterator[Variant]:
    told = [slot for slot in case.gold.tells if not slot.optional]
    lacks = unserved(case.gold) or any(slot.type in WORDS for slot in told)
    if lacks or not (case.base.changing or told or case.gold.answers):
        return
    for text in REFUSED:
        yield Variant(
            f"does nothing and says {text!r}",
            [Move(say=text)],
            case.otherwise if not told else lambda played: True,
        )


def _looks(case: Case, lent: Lent) -> Iterator[Variant]:
    mined = _mined(case)
    bare = [
        Deed(MORE, tool.id, {})
        for tool in case.tools.values()
        if not tool.parameters.get("required")
    ]
    own = [deed for deed in case.deeds if deed.number not in case.base.changing]
    for deed in (*own, *lent.looks, *bare) if not asks_calls_alone(case.gold) else ():
        if deed.tool in mined or deed.tool not in case.tools:
            continue
        for text, script in (
            ("at the beginning", [_again(deed), *case.script]),
            ("at the end", _before_reply(case.script, _again(deed))),
        ):
            if deed in own and text == "at the beginning":
                continue
            yield Variant(f"{written(deed)} besides, {text}", script, _idle(case))


def _idle(case: Case) -> Callable[[Played], bool]:
    def counts(played: Played) -> bool:
        one = played.results.get(MORE)
        return (
            one is not None
            and one.error is None
            and MORE not in played.changing
            and case.alike(played)
        )

    return counts


def _paths(case: Case, lent: Lent) -> Iterator[Variant]:
    """Yield other look-ups that find the same: by what else is known of it, or of more."""
    named = {call.tool for plan in case.gold.plans or () for call in _asked_calls(plan.milestones)}
    for deed in case.deeds:
        result = case.base.results.get(deed.number)
        if deed.number in case.base.changing or deed.tool in named or deed.tool not in case.tools:
            continue
        if result is None or result.error is not None:
            continue
        value = value_of(result)
        rows = value if isinstance(value, list) else [value]
        borrowed = (dict(one.arguments) for one in lent.looks if one.tool == deed.tool)
        others = [given for given in borrowed if _is_knowable_here(case, deed, given)]
        for given in [*_known_of(case, deed, rows), {}, *others]:
            new = deed._replace(arguments=given)
            if not equal(_usual(new), _usual(deed)):
                text = f"{written(new)} for {written(deed)}"
                script = _changed(case.script, deed.number, new)
                yield Variant(text, script, _finding(case, deed, rows))


def _known_of(case: Case, deed: Deed, rows: Sequence[JSON]) -> Iterator[dict[str, JSON]]:
    """Yield what the request and earlier results tell of the rows that a look-up finds."""
    properties: Any = case.tools[deed.tool].parameters.get("properties") or {}
    said, known = _heard(case, deed)
    for row in [one for one in rows if isinstance(one, dict)][:2]:
        for name in sorted(properties.keys() & row.keys()):
            cell = row[name]
            if isinstance(cell, str) and any(cell in text for text in said):
                yield {name: cell}
            elif isinstance(cell, str):
                yield from ({name: word} for word in cell.split() if _is_said(word, said))
            if isinstance(cell, str) and cell in known:
                yield {name: cell}


def _heard(case: Case, deed: Deed) -> tuple[list[str], list[JSON]]:
    """Return what the user says, and what the results before a call hold."""
    said = [case.gold.text, *(move.hear for move in case.script if move.hear)]
    earlier = [one for number, one in case.base.results.items() if number < deed.number]
    return said, [leaf for one in earlier for leaf in leaves_of(value_of(one))]


def _is_knowable_here(case: Case, deed: Deed, given: Mapping[str, JSON]) -> bool:
    """Tell whether the user or earlier results give all texts of some arguments."""
    said, known = _heard(case, deed)
    texts = [leaf for leaf in leaves_of(dict(given)) if isinstance(leaf, str)]
    return all(text in known or any(text in one for one in said) for text in texts)


def _is_said(word: str, said: Iterable[str]) -> bool:
    return len(word) > 3 and any(word in text.split() for text in said)


def _asked_calls(nodes: Sequence[Milestone]) -> Iterator[Called]:
    for node in nodes:
        yield from (part for part in parts(node.condition) if isinstance(part, Called))


def _finding(case: Case, deed: Deed, rows: Sequence[JSON]) -> Callable[[Played], bool]:
    """Return what tells whether a look-up found what gold's finds, and the world ends alike."""

    def counts(played: Played) -> bool:
        result = played.results.get(deed.number)
        if result is None or result.error is not None or not case.as_well(played):
            return False
        value = value_of(result)
        found = value if isinstance(value, list) else [value]
        return all(any(equal(row, one) for one in found) for row in rows)

    return counts


def _corrected(case: Case, lent: Lent) -> Iterator[Variant]:
    mined = _mined(case)
    for deed in case.deeds if not asks_calls_alone(case.gold) else ():
        if deed.tool in mined:
            continue
        required = (
            case.tools[deed.tool].parameters.get("required") if deed.tool in case.tools else ()
        )
        odd: list[tuple[str, dict[str, Any]]] = [
            (f"without {name}", {n: v for n, v in deed.arguments.items() if n != name})
            for name in (required or ())
            if name in deed.arguments
        ]
        odd += [("with an unknown argument", {**deed.arguments, "remark": "please"})]
        odd += [
            (f"with {name} of no such thing", {**deed.arguments, name: "no-such-thing"})
            for name, value in deed.arguments.items()
            if isinstance(value, Link) and isinstance(value.usual, str)
        ]
        for text, given in odd:
            failing = Move((Deed(MORE, deed.tool, given),))
            at = next(n for n, move in enumerate(case.script) if deed in move.deeds)
            script = [*case.script[:at], failing, *case.script[at:]]
            yield Variant(
                f"{deed.tool.rpartition('/')[2]} {text}, then rightly", script, _failing(case)
            )


def _failing(case: Case) -> Callable[[Played], bool]:
    def counts(played: Played) -> bool:
        one = played.results.get(MORE)
        failed = one is not None and one.error is not None and MORE not in played.changing
        return failed and case.alike(played)

    return counts


WRONG: Mapping[str, Make] = {
    "a changing call is left out": _left_out,
    "a changing call has another value": _values,
    "another entity": _entities,
    "an order that the state forbids": _swapped,
    "an order that gold forbids": _forbidden,
    "an effect that nobody asked for": _effects,
    "the end comes early": _early,
    "acting before consent": _consent,
    "a slot is told wrong": _slots_wrong,
    "a number, time or date is told wrong": _by_lies(other_figures, other_times, other_dates),
    "a name is told wrong": _names,
    "a deed is denied that was done": _by_lies(denied, only_denied),
    "a refusal of what can be done": _refusals,
}
"""Kind of wrong variant to what makes it."""
RIGHT: Mapping[str, Make] = {
    "another order that the state allows": _allowed,
    "a look more": _looks,
    "another look-up that finds the same": _paths,
    "a value in other words": _slots_right,
    "an error that is corrected": _corrected,
}
"""Kind of right variant to what makes it."""
