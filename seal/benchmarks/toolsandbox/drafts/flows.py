"""What a finished sequence did, call by call, and which later call or text used what.

A value of a result is used if an argument of a later call holds it, or if a message to the user
states it. It must come from nowhere else: the user did not say it before, and the call was not
itself given it. Words with a digit within a text count too, and so does what a message rounds a
fraction to. Truth values, None, 0, 1 and single letters never count. Where several calls brought a
value, it comes from the first. From this follows which calls and events become milestones, and
which must come before which.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from seal.core import JSON, Step, Tables, ToolCall
from seal.core.conditions import party
from seal.core.conditions.messages import AGENT, EXECUTOR, USER, calls_of
from seal.core.statements import states
from seal.evaluation.milestones.shortfalls import TableChange, table_change
from seal.experiments.generation.sources import Heard, Leaf, leaves

_DECIMALS = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.(\d+))?(?!\w)")


@dataclass(frozen=True, slots=True)
class Made:
    """A call that succeeded, or an event, which nobody called for."""

    call: ToolCall | None
    """None: an event."""
    asked: int
    """Place of the call among the steps."""
    answered: int
    """Place of its result."""
    tool: str
    """Id of the tool that ran; empty for an event."""
    arguments: Mapping[str, JSON]
    """As they ran, those that the call itself gave."""
    result: JSON
    """Of an event its text."""
    before: Tables
    after: Tables
    changes: Mapping[str, TableChange]
    """What changed, by table; the mere order of rows is no change."""


@dataclass(frozen=True, slots=True)
class Flow:
    """A sequence: what each call and event brought, and where it was used."""

    steps: Sequence[Step]
    made: Sequence[Made]
    sources: Sequence[Mapping[str, int]]
    """For each call: the arguments that come from earlier calls, with the positions of these."""
    told: Mapping[int, Mapping[str, int]]
    """Place of each message to the user, in order, to what it tells (`told`)."""


def flow_of(steps: Sequence[Step]) -> Flow:
    """Return the flow of a sequence.

    Args:
        steps: As `seal.evaluation.milestones.plans` gives them, with all tables.
    """
    made = made_calls(steps)
    tellings = {place: told(made, steps, place) for place in messages(steps)}
    return Flow(steps, made, argument_sources(made, steps), tellings)


def made_calls(steps: Sequence[Step]) -> list[Made]:
    """Return the agent's calls that succeeded, and events, in the order in which they came.

    Args:
        steps: As `seal.evaluation.milestones.plans` gives them, with all tables.
    """
    asked = {step.call.id: place for place, step in enumerate(steps) if step.call is not None}
    found = []
    for place, step in enumerate(steps):
        if step.author != EXECUTOR or party(step.recipient) != AGENT:
            continue
        before, after = steps[place - 1].state or {}, step.state or {}
        changes = dict(_changes(before, after))
        ran = calls_of(step)
        if step.result is None:
            found.append(Made(None, place, place, "", {}, step.content, before, after, changes))
        elif ran and step.result.call_id in asked:
            at = asked[step.result.call_id]
            call = steps[at].call
            given = (call.arguments if call else None) or {}
            arguments = {n: v for n, v in ran[0]["arguments"].items() if n in given}
            tool, value = ran[0]["tool"], ran[0]["result"]
            found.append(Made(call, at, place, tool, arguments, value, before, after, changes))
    return found


def _changes(before: Tables, after: Tables) -> Iterator[tuple[str, TableChange]]:
    for table, rows in after.items():
        change = table_change(before.get(table, []), rows)
        if change.added or change.removed or change.changed:
            yield table, change


def argument_sources(made: Sequence[Made], steps: Sequence[Step]) -> list[dict[str, int]]:
    """Return for each call the arguments that come from earlier calls, with their positions."""
    found = []
    for later in made:
        news = _News(steps, later.asked)
        earlier = [(n, one) for n, one in enumerate(made) if one.answered < later.asked]
        sources = {}
        for name, value in later.arguments.items():
            held = set(leaves(value))
            brought = (n for n, one in earlier if held & news.of(one))
            source = next(brought, None)
            if source is not None:
                sources[name] = source
        found.append(sources)
    return found


def told(made: Sequence[Made], steps: Sequence[Step], place: int) -> dict[str, int]:
    """Return the values of results that a message states, in its words, and who brought each first.

    Args:
        made: The calls.
        steps: All steps.
        place: Of the message.

    Returns:
        Text to the position of a call; a value that is part of another one is left out.
    """
    text, news = steps[place].content, _News(steps, place)
    found: dict[str, int] = {}
    for number, one in enumerate(made):
        if one.answered < place:
            for leaf in sorted(news.of(one), key=repr):
                words = _stated(text, leaf)
                if words is not None:
                    found.setdefault(words, number)
    return {w: n for w, n in found.items() if not any(w != o and w in o for o in found)}


def _stated(text: str, leaf: Leaf) -> str | None:
    """Return how a message states a value, a fraction perhaps rounded; None where it does not."""
    if isinstance(leaf, str):
        return leaf if states(text, leaf) else None
    for found in _DECIMALS.finditer(text):
        decimals = len(found[1] or "")
        if float(found[0].replace(",", "")) == (
            leaf if leaf.is_integer() else round(leaf, decimals)
        ):
            return found[0]
    return None


class _News:
    """Values of results that the user had not said before a place.

    Args:
        steps: All steps.
        place: Before which one.
    """

    def __init__(self, steps: Sequence[Step], place: int) -> None:
        said = (s.content for s in steps[:place] if s.author == USER and s.call is None)
        self._heard = Heard(said)

    def of(self, one: Made) -> set[Leaf]:
        """Return those that a call brought and was not given."""
        return {leaf for leaf in leaves(one.result) if not self._heard.has(leaf)} - set(
            leaves(one.arguments)
        )


def messages(steps: Sequence[Step]) -> list[int]:
    """Return the places of what the agent says to the user."""
    return [
        place
        for place, step in enumerate(steps)
        if party(step.author) == AGENT
        and step.recipient == USER
        and step.call is None
        and step.content.strip()
    ]


Fails = Callable[[Tables, int, ToolCall], bool]
"""(tables, turns before it, call) to whether the call fails in a world with these tables."""


@dataclass(frozen=True, slots=True)
class Order:
    """Positions of the calls and events that become milestones, as a partial order."""

    kept: tuple[int, ...]
    """In the order in which they came."""
    before: Mapping[int, frozenset[int]]
    """Each to all those that must come before it."""

    def after(self, number: int) -> set[int]:
        """Return those that one must come before."""
        return {later for later in self.kept if number in self.before[later]}

    def right_before(self, before: Iterable[int]) -> list[int]:
        """Return those of some that must come before none of the others."""
        found = set(before)
        return sorted(found - set().union(*(self.before[earlier] for earlier in found)))


def order_of(flow: Flow, fails: Fails | None = None) -> Order:
    """Return what becomes a milestone, and the order that the sequence gives evidence of.

    Args:
        flow: The sequence.
        fails: Tries calls in the task's world; None: no edge follows from what changed.
    """
    kept = _kept(flow)
    before: dict[int, frozenset[int]] = {}
    for number in kept:
        direct = set(flow.sources[number].values())
        direct |= {earlier for earlier in before if _follows(flow, number, earlier, fails)}
        before[number] = frozenset(direct).union(*(before[earlier] for earlier in direct))
    return Order(tuple(kept), before)


def _kept(flow: Flow) -> list[int]:
    kept = {n for n, one in enumerate(flow.made) if one.changes or one.call is None}
    kept |= _values_of(flow.sources) | _values_of(flow.told.values())
    begin = -1
    for place in flow.told:
        here = [n for n, one in enumerate(flow.made) if one.call and begin < one.asked < place]
        if here and not any(flow.made[number].changes for number in here):
            kept.add(here[-1])
        begin = place
    return sorted(kept)


def _values_of(maps: Iterable[Mapping[str, int]]) -> set[int]:
    return {number for numbers in maps for number in numbers.values()}


def _follows(flow: Flow, number: int, earlier: int, fails: Fails | None) -> bool:
    """Tell whether a call or event follows from what an earlier one changed."""
    later, other = flow.made[number], flow.made[earlier]
    if other.answered >= later.answered:
        return False
    return bool(other.changes.keys() & later.changes.keys()) or _needs(flow, later, other, fails)


def _needs(flow: Flow, later: Made, earlier: Made, fails: Fails | None) -> bool:
    """Tell whether a call fails where an earlier one has changed nothing.

    An event needs what it has a word of: the timer that it names. What changes after an event is
    taken for an answer to it.
    """
    if earlier.call is None:
        return bool(later.changes)
    if later.call is None:
        return _names(str(later.result), earlier)
    if fails is None or not earlier.changes or earlier.answered > later.asked:
        return False
    until = flow.steps[: later.asked + 1]
    turns = len({step.turn for step in until if step.author != EXECUTOR})
    now = flow.steps[later.asked].state or {}
    without = {**now, **{table: earlier.before[table] for table in earlier.changes}}
    return fails(without, turns, later.call) and not fails(now, turns, later.call)


def _names(text: str, earlier: Made) -> bool:
    """Tell whether a text states something that an earlier call added."""
    came = [row for change in earlier.changes.values() for row in change.added]
    return any(isinstance(leaf, str) and states(text, leaf) for leaf in leaves(came))
