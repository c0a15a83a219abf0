"""Calls that are made at once: if any order of them fails, that order is what happens.

The rule is ToolSandbox's: of the k! orders, in the order of `itertools.permutations`, the first in
which a call fails is played, else the given one. `exhaustive_order` tries them so. `failing_order`
finds the same order by what calls depend on: a call can fail in another order only where another
call changes what it checks, so calls that do not depend on each other need not be tried in both
orders. The two differ in nothing else, if tools declare their effects truly; but after `MAX_RUNS`
runs `failing_order` gives up and lets the given order happen.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Generic, TypeVar

State = TypeVar("State")
Run = Callable[[State, int], tuple[State, bool]]
"""(world, position of a call) to the world after it, and whether it failed. Changes no world."""

MOST_EXHAUSTIVE = 7
"""Calls of which all orders are tried, 5,040 at most; of more, those that dependency leaves."""

MAX_RUNS = 20_000
"""Runs of single calls that a search for a failing order may take."""


@dataclass(frozen=True, slots=True)
class Touch:
    """What one call checks and changes; None: it may be everything."""

    checks: frozenset[Hashable] | None = None
    changes: frozenset[Hashable] | None = None

    def hinders(self, other: Touch) -> bool:
        """Tell whether this call changes something that the other checks."""
        if self.changes is None or other.checks is None:
            return self.changes != frozenset() and other.checks != frozenset()
        return not self.changes.isdisjoint(other.checks)


def exhaustive_order(count: int, start: State, run: Run[State]) -> tuple[int, ...]:
    """Return the first order in which a call fails, else the given one; tries up to count!."""
    for order in permutations(range(count)):
        state = start
        for call in order:
            state, failed = run(state, call)
            if failed:
                return order
    return tuple(range(count))


def failing_order(
    touches: Sequence[Touch], start: State, run: Run[State], max_runs: int = MAX_RUNS
) -> tuple[int, ...]:
    """Return the first order in which a call fails, else the given one; tries few orders.

    Args:
        touches: Of each call. The calls must not fail in the given order.
        start: The world before the calls.
        run: How a call is run.
        max_runs: After so many runs the given order is returned.
    """
    search = _Search(touches, run, max_runs)
    calls = tuple(range(len(touches)))
    dependent = [call for part in search.parts(calls) if len(part) > 1 for call in part]
    try:
        if not dependent or not search.can_fail(start, tuple(sorted(dependent))):
            return calls
        return search.first(start, calls)
    except _TooMany:
        return calls


class _TooMany(Exception):
    """The search took more runs than it may."""


class _Search(Generic[State]):
    def __init__(self, touches: Sequence[Touch], run: Run[State], max_runs: int) -> None:
        self._run = run
        self._left = max_runs
        self._linked = {
            call: frozenset(
                other
                for other, theirs in enumerate(touches)
                if other != call and (mine.hinders(theirs) or theirs.hinders(mine))
            )
            for call, mine in enumerate(touches)
        }

    def run(self, state: State, call: int) -> tuple[State, bool]:
        if not self._left:
            raise _TooMany
        self._left -= 1
        return self._run(state, call)

    def parts(self, calls: Sequence[int]) -> list[tuple[int, ...]]:
        """Return the calls in groups that do not depend on each other."""
        left, found = set(calls), []
        for call in calls:
            if call in left:
                group, border = set(), {call}
                while border:
                    group |= border
                    border = {n for c in border for n in self._linked[c] & left} - group
                left -= group
                found.append(tuple(sorted(group)))
        return found

    def can_fail(self, state: State, calls: Sequence[int]) -> bool:
        """Tell whether a call fails in any order of these."""
        for part in self.parts(calls):
            for call in part:
                after, failed = self.run(state, call)
                if failed or self.can_fail(after, tuple(c for c in part if c != call)):
                    return True
        return False

    def first(self, state: State, calls: Sequence[int]) -> tuple[int, ...]:
        """Return the first failing order, given that there is one: the least call that leads on."""
        for call in calls:
            rest = tuple(c for c in calls if c != call)
            after, failed = self.run(state, call)
            if failed:
                return call, *rest
            if self.can_fail(after, rest):
                return call, *self.first(after, rest)
        return tuple(calls)


__all__ = ["MAX_RUNS", "MOST_EXHAUSTIVE", "Touch", "exhaustive_order", "failing_order"]
