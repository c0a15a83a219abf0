"""The best match of nodes to steps: in an order that the graph allows, and never back in time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol


class Assigned(NamedTuple):
    """One node's step."""

    node: int
    place: int
    similarity: float


class Rows(Protocol):
    """Similarities of nodes at places, each in [0, 1]."""

    places: int
    """Number of places."""

    def references(self, node: int) -> Collection[int] | None:
        """Return the nodes on whose places a node's similarities depend; None: all before it."""
        ...

    def row(self, node: int, mapped: Mapping[int, int]) -> Sequence[float]:
        """Return a node's similarity at each place; those before `mapped`'s are not read.

        Args:
            node: Position of the node.
            mapped: Places of the nodes before it, of its references at least.
        """
        ...

    def bound(self, node: int) -> Sequence[float]:
        """Return for each place the largest similarity there and later, or more than that."""
        ...


def best_match(after: Sequence[Collection[int]], similarities: Rows) -> list[Assigned]:
    """Return the match of all nodes with the largest sum of similarities.

    A match assigns the nodes one after the other, each after all those in its `after`, and each to
    the place of the one before or a later one: several nodes may share a place. Of matches with
    equal sums the one is taken whose first assignment has the larger similarity, then the lower
    node, then the earlier place; then the second assignment decides, and so on.

    That is what ToolSandbox's depth-first search finds. It tries, in each call, all next
    assignments in the order (larger similarity, lower node, earlier place), searches what remains
    under each, and keeps the first one with the largest sum. Here it is the same search, exact, but
    without its repetitions:

    - Parts. Nodes that neither precede nor refer to each other, directly or through other remaining
      nodes, do not hinder each other: matches of the parts merge into one of all, by place, and
      parts of a match are matches. So the largest sum is the sum of the parts' largest sums.
    - Memo. What a part gives depends on three things alone: its nodes, the least place, and the
      places of those assigned nodes that one of them refers to. It is searched once for each. Where
      the nodes are a chain and each refers to the one before, there are nodes x places such states;
      the original visits every sequence of places, which are exponentially many.
    - Bound. A next assignment of similarity s cannot give more than s and, for every node that
      still remains, the largest similarity that it can have from there on whatever it refers to.
      Those with the largest bound are searched first; none that cannot give more than the best sum
      so far is searched.

    The largest sums once known, the kept match follows: of the next assignments in the original's
    order the first is taken with which the largest sum is reached.

    Args:
        after: For each node those that must come before it; without cycles.
        similarities: Of the nodes at the places.

    Returns:
        One entry for each node, in the order of assignment; none without a place.
    """
    search = _Search(after, similarities)
    return search.path() if similarities.places else []


_State = tuple[frozenset[int], int, tuple[tuple[int, int], ...]]
"""Remaining nodes, least place, and the places that remaining nodes refer to."""
_CLOSE = 1e-9
"""Sums that differ by less are equal: what the order of adding leaves."""


class _Search:
    def __init__(self, after: Sequence[Collection[int]], similarities: Rows) -> None:
        self._after = [frozenset(before) for before in after]
        self._similarities = similarities
        self._references = [similarities.references(node) for node in range(len(after))]
        self._needed = [
            before.union(reads or ())
            for before, reads in zip(self._after, self._references, strict=True)
        ]
        self._bounds = [similarities.bound(node) for node in range(len(after))]
        self._sums: dict[frozenset[int], list[float]] = {}
        self._parts: dict[frozenset[int], list[frozenset[int]]] = {}
        self._known: dict[_State, float] = {}

    def path(self) -> list[Assigned]:
        """Return the best match; what a cycle holds, which `checks` refuses, is left out."""
        mapped: dict[int, int] = {}
        remaining = frozenset(range(len(self._after)))
        found: list[Assigned] = []
        while remaining:
            choice = self._first(remaining, found[-1].place if found else 0, mapped)
            if choice is None:
                return found
            found.append(choice)
            mapped[choice.node] = choice.place
            remaining -= {choice.node}
        return found

    def _first(
        self, remaining: frozenset[int], least: int, mapped: dict[int, int]
    ) -> Assigned | None:
        """Return the first assignment with which the remaining nodes reach their largest sum."""
        largest = self._largest(remaining, least, mapped)
        bounds = self._bound_sums(remaining)
        for one in self._candidates(remaining, least, mapped):
            most = one.similarity + bounds[one.place] - self._bounds[one.node][one.place]
            if most >= largest - _CLOSE and self._given(one, remaining, mapped) >= largest - _CLOSE:
                return one
        return None

    def _largest(self, remaining: frozenset[int], least: int, mapped: dict[int, int]) -> float:
        """Return the largest sum over the remaining nodes.

        Args:
            remaining: Nodes.
            least: Place before which none may be.
            mapped: Places of the nodes before; changed and restored.
        """
        return sum(self._largest_of(part, least, mapped) for part in self._parts_of(remaining))

    def _largest_of(self, part: frozenset[int], least: int, mapped: dict[int, int]) -> float:
        """Return the largest sum over nodes that depend on each other."""
        state = part, least, self._referred(part, mapped)
        if state not in self._known:
            bounds = self._bound_sums(part)
            best = 0.0
            for most, one in sorted(
                (
                    (bounds[one.place] - self._bounds[one.node][one.place] + one.similarity, one)
                    for one in self._candidates(part, least, mapped)
                ),
                key=lambda bounded: -bounded[0],
            ):
                if most <= best:
                    break
                best = max(best, self._given(one, part, mapped))
            self._known[state] = best
        return self._known[state]

    def _given(self, one: Assigned, nodes: frozenset[int], mapped: dict[int, int]) -> float:
        """Return the largest sum over nodes of which one is assigned next."""
        mapped[one.node] = one.place
        rest = self._largest(nodes - {one.node}, one.place, mapped)
        del mapped[one.node]
        return one.similarity + rest

    def _candidates(
        self, remaining: frozenset[int], least: int, mapped: Mapping[int, int]
    ) -> list[Assigned]:
        """Return all next assignments in the original's order."""
        found = []
        for node in remaining:
            if not self._after[node] & remaining:
                row = self._similarities.row(node, mapped)
                found += [(-row[place], node, place) for place in range(least, len(row))]
        return [Assigned(node, place, -lost) for lost, node, place in sorted(found)]

    def _parts_of(self, remaining: frozenset[int]) -> list[frozenset[int]]:
        """Return the nodes in groups that depend on each other."""
        if remaining not in self._parts:
            self._parts[remaining] = list(self._split(remaining))
        return self._parts[remaining]

    def _split(self, remaining: frozenset[int]) -> Iterator[frozenset[int]]:
        if any(self._references[node] is None for node in remaining):
            yield remaining
            return
        left = set(remaining)
        while left:
            part: set[int] = set()
            border = {min(left)}
            while border:
                part |= border
                left -= border
                border = {other for other in left if any(self._linked(other, n) for n in border)}
            yield frozenset(part)

    def _linked(self, one: int, other: int) -> bool:
        """Tell whether one of two nodes precedes or refers to the other."""
        before, after = self._needed[one], self._needed[other]
        return other in before or one in after

    def _bound_sums(self, remaining: frozenset[int]) -> list[float]:
        """Return for each place what all remaining nodes cannot exceed from there on."""
        if remaining not in self._sums:
            bounds = [self._bounds[node] for node in remaining]
            self._sums[remaining] = [sum(column) for column in zip(*bounds, strict=True)]
        return self._sums[remaining]

    def _referred(
        self, remaining: frozenset[int], mapped: Mapping[int, int]
    ) -> tuple[tuple[int, int], ...]:
        wanted: set[int] = set()
        for node in remaining:
            reads = self._references[node]
            if reads is None:
                return tuple(sorted(mapped.items()))
            wanted.update(reads)
        return tuple((node, mapped[node]) for node in sorted(wanted) if node in mapped)
