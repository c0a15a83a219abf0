"""Calls that are made at once: if any order of them fails, that order is what happens.

The rule is ToolSandbox's. The first of the k! orders, as `itertools.permutations` has them, in
which a call fails is played; if no order fails, the given one is. `exhaustive_order` tries all
orders. `failing_order` finds the same order by what calls depend on. A call can fail in another
order only if another call changes what it checks, so independent calls need not be tried in both
orders. If tools declare their effects truly, both find the same. But `failing_order` gives up after
`MAX_RUNS` runs, or `MANY_RUNS` if there are more calls than `exhaustive_order` tries. Then the
given order happens.
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
"""Runs of single calls that a search for a failing order may take: enough for all orders of
`MOST_EXHAUSTIVE` calls."""

MANY_RUNS = 1_000
"""Runs that it may take of more calls, of which no search could try all orders."""


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
    touches: Sequence[Touch],
    start: State,
    run: Run[State],
    max_runs: int | None = None,
    version: Callable[[State], Hashable] = id,
) -> tuple[int, ...]:
    """Return the first order in which a call fails, else the given one; tries few orders.

    Args:
        touches: Of each call. The calls must not fail in the given order.
        start: The world before the calls.
        run: How a call is run.
        max_runs: After so many runs the given order is returned; None: `MAX_RUNS`, or `MANY_RUNS`.
        version: Of a world: where it is equal, every call does the same. It need only be good
            while the worlds live.
    """
    if max_runs is None:
        max_runs = MAX_RUNS if len(touches) <= MOST_EXHAUSTIVE else MANY_RUNS
    search = _Search(touches, run, max_runs, version)
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
    def __init__(
        self,
        touches: Sequence[Touch],
        run: Run[State],
        max_runs: int,
        version: Callable[[State], Hashable],
    ) -> None:
        self._run = run
        self._left = max_runs
        self._version = version
        calls = range(len(touches))
        self._hindered = {
            call: {other for other in calls if touches[call].hinders(touches[other])} - {call}
            for call in calls
        }
        self._linked = {
            call: self._hindered[call] | {n for n in calls if call in self._hindered[n]}
            for call in calls
        }
        self._known: dict[tuple[Hashable, tuple[int, ...]], bool] = {}
        self._alive: list[State] = []

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
        return any(self._part_can_fail(state, part) for part in self.parts(calls))

    def _part_can_fail(self, state: State, part: tuple[int, ...]) -> bool:
        """Tell whether a call fails in any order of some that depend on each other.

        A call that leaves the world as it is, or hinders none of the others, need not come first:
        it fails here, or the others fail without it. What follows from a world is searched once.
        """
        key = self._version(state), part
        if key not in self._known:
            self._alive.append(state)  # else its version might become another's
            self._known[key] = self._searched(state, part)
        return self._known[key]

    def _searched(self, state: State, part: tuple[int, ...]) -> bool:
        before, moved = self._version(state), []
        for call in part:
            after, failed = self.run(state, call)
            if failed:
                return True
            if not self._hindered[call].isdisjoint(part) and self._version(after) != before:
                moved.append((call, after))
        return any(
            self.can_fail(after, tuple(c for c in part if c != call)) for call, after in moved
        )

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
