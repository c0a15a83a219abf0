"""Which calls and events of a sequence become milestones, and which must come before which."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from seal.benchmarks.toolsandbox.drafts.flows import Flow, Made
from seal.core.conditions.messages import EXECUTOR
from seal.core.conditions.stated import states
from seal.core.types import Tables, ToolCall
from seal.evaluation.statements import leaves

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
    """Tell whether a text has a word of what an earlier call added."""
    came = [row for change in earlier.changes.values() for row in change.added]
    return any(isinstance(leaf, str) and states(text, leaf, {}) for leaf in leaves(came))
