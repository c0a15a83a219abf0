"""The best match of nodes to steps: in an order that the graph allows, and never back in time."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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

    - Memo. What remains depends on three things alone: which nodes are assigned, the place of the
      last one, and the places of those assigned nodes that a remaining one refers to. So do the
      similarities, hence the order in which next assignments are tried, hence the one that is kept.
      Matches that agree in the three are searched once. Where the nodes are a chain and each refers
      to the one before, there are nodes x places such states; the original visits every sequence of
      places, which are exponentially many.
    - Bound. A next assignment of similarity s cannot give more than s and, for every node that
      still remains, the largest similarity that it can have from there on whatever it refers to.
      Those with the largest bound are searched first. One that cannot give more than the best sum
      so far in this state is searched only where it stands before the one that gives it in the
      original's order, and only if it can give as much.

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
        self._bounds = [similarities.bound(node) for node in range(len(after))]
        self._sums: dict[frozenset[int], list[float]] = {}
        self._known: dict[_State, tuple[float, Assigned | None]] = {}

    def path(self) -> list[Assigned]:
        """Return the best match, from the choice that is kept in each state."""
        mapped: dict[int, int] = {}
        remaining = frozenset(range(len(self._after)))
        found: list[Assigned] = []
        while remaining:
            _, choice = self._best(remaining, found[-1].place if found else 0, mapped)
            if choice is None:  # a cycle, which `seal.evaluation.milestones.checks` refuses
                return found
            found.append(choice)
            mapped[choice.node] = choice.place
            remaining -= {choice.node}
        return found

    def _best(
        self, remaining: frozenset[int], least: int, mapped: dict[int, int]
    ) -> tuple[float, Assigned | None]:
        """Return the largest sum over the remaining nodes, and the assignment that it begins with.

        Args:
            remaining: Nodes.
            least: Place before which none may be.
            mapped: Places of the nodes before; changed and restored.
        """
        if not remaining:
            return 0.0, None
        state = remaining, least, self._referred(remaining, mapped)
        if state in self._known:
            return self._known[state]
        best, rank, kept = -1.0, 0, None
        for most, order, one in self._by_bound(remaining, least, mapped):
            if most < best - _CLOSE:
                break
            if most <= best + _CLOSE and order > rank:
                continue
            mapped[one.node] = one.place
            rest, _ = self._best(remaining - {one.node}, one.place, mapped)
            del mapped[one.node]
            found = one.similarity + rest
            if found > best + _CLOSE or (found >= best - _CLOSE and order < rank):
                best, rank, kept = max(best, found), order, one
        self._known[state] = best, kept
        return best, kept

    def _by_bound(
        self, remaining: frozenset[int], least: int, mapped: Mapping[int, int]
    ) -> list[tuple[float, int, Assigned]]:
        """Return what each next assignment can give at most, its place in the order, and itself."""
        bounds = self._bound_sums(remaining)
        found = [
            (bounds[place] - self._bounds[node][place] - lost, order, Assigned(node, place, -lost))
            for order, (lost, node, place) in enumerate(self._candidates(remaining, least, mapped))
        ]
        return sorted(found, key=lambda one: -one[0])

    def _candidates(
        self, remaining: frozenset[int], least: int, mapped: Mapping[int, int]
    ) -> list[tuple[float, int, int]]:
        """Return (-similarity, node, place) of all next assignments, in order."""
        found = []
        for node in remaining:
            if not self._after[node] & remaining:
                row = self._similarities.row(node, mapped)
                found += [(-row[place], node, place) for place in range(least, len(row))]
        return sorted(found)

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
