"""The best match of nodes to steps, and how well each step meets each node.

A match keeps an order that the graph allows, and never goes back in time. Each similarity is
measured once.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from seal.core import Milestone, Step
from seal.core.conditions import FIRST, LAST, Condition
from seal.core.state_conditions import AllOf, StateUnchanged


class Assigned(NamedTuple):
    """One node's step."""

    node: int
    place: int
    similarity: float


def best_match(after: Sequence[Collection[int]], similarities: Similarities) -> list[Assigned]:
    """Return the match of all nodes with the largest sum of similarities.

    A match assigns the nodes one after the other, each after all those in its `after`. Each gets
    the place of the one before or a later one, so several nodes may share a place. If several
    matches have the largest sum, the first assignment decides: the larger similarity, then the
    lower node, then the earlier place. Then the second assignment decides, and so on.

    That is what ToolSandbox's depth-first search finds. Each call tries all next assignments in the
    order (larger similarity, lower node, earlier place). It searches what remains under each, and
    keeps the first one with the largest sum. Here it is the same search, exact, but
    without its repetitions:

    - Parts. Nodes that neither precede nor refer to each other, directly or through other remaining
      nodes, do not hinder each other: matches of the parts merge into one of all, by place, and
      parts of a match are matches. So the largest sum is the sum of the parts' largest sums.
    - Memo. What a part gives depends on three things alone: its nodes, the least place, and the
      places of those assigned nodes that one of them refers to. It is searched once for each. Where
      the nodes are a chain and each refers to the one before, there are nodes x places such states;
      the original visits every sequence of places, which are exponentially many.
    - Bound. A next assignment of similarity s can give at most s, plus for each remaining node the
      largest similarity that it can still have, whatever it refers to.
      Those with the largest bound are searched first; none that cannot give more than the best sum
      so far is searched.

    Once the largest sums are known, the match follows: the first next assignment, in the original's
    order, with which the largest sum is reached.

    Args:
        after: For each node those that must come before it; without cycles.
        similarities: Of the nodes at the places.

    Returns:
        One entry for each node, in the order of assignment; none without a place.
    """
    search = _Search(after, similarities)
    return search.path() if similarities.places else []


_CLOSE = 1e-9
"""Sums that differ by less are equal: what the order of adding leaves."""


@dataclass(slots=True)
class _Part:
    """Remaining nodes that depend on each other."""

    nodes: frozenset[int]
    first: list[int]
    """Nodes that none of the others must come before, in order."""
    read: list[int] | None
    """Nodes before them on whose places their similarities depend; None: all."""
    bounds: list[float]
    """For each place what all nodes together cannot exceed from there on."""
    without: dict[int, list[_Part]] = field(default_factory=dict)
    """One of the first nodes to the parts of the others."""
    known: dict[tuple[Any, ...], float] = field(default_factory=dict)
    """Least place, and the places that are read, to the largest sum."""

    def state(self, least: int, mapped: Mapping[int, int]) -> tuple[Any, ...]:
        """Return what the largest sum depends on."""
        if self.read is None:
            return least, *sorted(mapped.items())
        return least, *[mapped.get(node) for node in self.read]


class _Search:
    def __init__(self, after: Sequence[Collection[int]], similarities: Similarities) -> None:
        self._after = [frozenset(before) for before in after]
        self._similarities = similarities
        self._references = [similarities.references(node) for node in range(len(after))]
        self._needed = [
            before.union(reads or ())
            for before, reads in zip(self._after, self._references, strict=True)
        ]
        self._bounds = [similarities.bound(node) for node in range(len(after))]
        self._parts: dict[frozenset[int], _Part] = {}

    def path(self) -> list[Assigned]:
        """Return the best match; what a cycle holds, which `check_plan` refuses, is left out."""
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
        largest = self._largest(self._parts_of(remaining), least, mapped)
        whole = self._part(remaining)
        for one in self._candidates(whole, least, mapped):
            most = one.similarity + whole.bounds[one.place] - self._bounds[one.node][one.place]
            if most < largest - _CLOSE:
                continue
            mapped[one.node] = one.place
            rest = self._largest(self._without(whole, one.node), one.place, mapped)
            del mapped[one.node]
            if one.similarity + rest >= largest - _CLOSE:
                return one
        return None

    def _candidates(self, whole: _Part, least: int, mapped: dict[int, int]) -> list[Assigned]:
        """Return all next assignments in the original's order."""
        found = []
        for node in whole.first:
            row = self._similarities.row(node, mapped)
            found += [(-row[place], node, place) for place in range(least, len(row))]
        return [Assigned(node, place, -lost) for lost, node, place in sorted(found)]

    def _largest(self, parts: Sequence[_Part], least: int, mapped: dict[int, int]) -> float:
        """Return the largest sum over nodes.

        Args:
            parts: The nodes.
            least: Place before which none may be.
            mapped: Places of the nodes before; changed and restored.
        """
        total = 0.0
        for part in parts:
            state = part.state(least, mapped)
            best = part.known.get(state)
            if best is None:
                best = part.known[state] = self._largest_of(part, least, mapped)
            total += best
        return total

    def _largest_of(self, part: _Part, least: int, mapped: dict[int, int]) -> float:
        """Return the largest sum over nodes that depend on each other."""
        bounded: list[tuple[float, float, int, int]] = []
        for node in part.first:
            row, own = self._similarities.row(node, mapped), self._bounds[node]
            bounded += [
                (part.bounds[place] - own[place] + row[place], row[place], place, node)
                for place in range(least, len(row))
            ]
        bounded.sort(reverse=True)
        best = 0.0
        for most, similarity, place, node in bounded:
            if most <= best:
                break
            mapped[node] = place
            rest = self._largest(self._without(part, node), place, mapped)
            del mapped[node]
            best = max(best, similarity + rest)
        return best

    def _without(self, part: _Part, node: int) -> list[_Part]:
        """Return the parts of the other nodes."""
        if node not in part.without:
            part.without[node] = self._parts_of(part.nodes - {node})
        return part.without[node]

    def _parts_of(self, remaining: frozenset[int]) -> list[_Part]:
        """Return the nodes in groups that depend on each other."""
        return [self._part(nodes) for nodes in self._split(remaining)]

    def _part(self, nodes: frozenset[int]) -> _Part:
        if nodes not in self._parts:
            read: set[int] | None = set()
            for node in nodes:
                reads = self._references[node]
                read = None if reads is None or read is None else read.union(reads)
            self._parts[nodes] = _Part(
                nodes,
                sorted(node for node in nodes if not self._after[node] & nodes),
                None if read is None else sorted(read - nodes),
                [sum(column) for column in zip(*(self._bounds[n] for n in nodes), strict=True)],
            )
        return self._parts[nodes]

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
                border = {
                    one
                    for one in left
                    if any(n in self._needed[one] or one in self._needed[n] for n in border)
                }
            yield frozenset(part)


_ENDS = frozenset({FIRST, LAST})


class Similarities:
    """How well each step meets each of some nodes.

    A condition is measured once for everything that it looks at (`Condition.looks_at`): the same
    versions of tables, not the same steps, so that what nothing happened to costs little.

    Args:
        nodes: Milestones or minefields.
        steps: At least one, with all tables.
        least: Similarity below which a node counts as not met at all.
    """

    def __init__(
        self, nodes: Sequence[Milestone], steps: Sequence[Step], least: float = 0.0
    ) -> None:
        self.places = len(steps)
        self._steps = steps
        self._least = least
        self._ends = {FIRST: steps[0], LAST: steps[-1]}
        self._nodes = [_Node(node.condition) for node in nodes]
        self._rows: dict[Hashable, list[float]] = {}

    def references(self, node: int) -> Sequence[int] | None:
        """Return the nodes on whose places a node's similarities depend; None: all before it."""
        return self._nodes[node].references

    def row(self, node: int, mapped: Mapping[int, int]) -> Sequence[float]:
        """Return a node's similarity at each step; before those that it refers to, any number.

        Args:
            node: Position of the node.
            mapped: Positions of the steps of the nodes before it, of its references at least.
        """
        reads = self._nodes[node].references
        read = mapped if reads is None else {earlier: mapped[earlier] for earlier in reads}
        key = node, *sorted(read.items())
        if key not in self._rows:
            start, reached = max(read.values(), default=0), self._reached(read)
            found = [self._nodes[node].similarity(step, reached) for step in self._steps[start:]]
            least = self._least
            self._rows[key] = [0.0] * start + [one if one >= least else 0.0 for one in found]
        return self._rows[key]

    def bound(self, node: int) -> Sequence[float]:
        """Return for each step the largest similarity there and later, whatever is referred to."""
        found = [self._nodes[node].most(step, self._ends) for step in self._steps]
        for place in reversed(range(len(found) - 1)):
            found[place] = max(found[place], found[place + 1])
        return found

    def conditions(self, node: int, place: int, mapped: Mapping[int, int]) -> list[float]:
        """Return the similarities of a node's conditions at a step, in their order."""
        return self._nodes[node].values(self._steps[place], self._reached(mapped))

    def _reached(self, mapped: Mapping[int, int]) -> dict[int, Step]:
        return self._ends | {node: self._steps[place] for node, place in mapped.items()}


class _Node:
    """One node: its conditions, guardrails first, for they are cheap and most often decide."""

    def __init__(self, condition: Condition) -> None:
        self.whole = condition if isinstance(condition, AllOf) else AllOf((condition,))
        self._parts = self.whole.conditions
        self._order = sorted(
            range(len(self._parts)), key=lambda n: not isinstance(self._parts[n], StateUnchanged)
        )
        self._free = [number for number in self._order if _is_free(self._parts[number])]
        self._known: list[dict[Hashable, float]] = [{} for _ in self._parts]
        reads = self.whole.references()
        self.references = None if reads is None else sorted(reads - _ENDS)

    def similarity(self, step: Step, reached: Mapping[int, Step]) -> float:
        return self._combined(self._order, step, reached)

    def most(self, step: Step, ends: Mapping[int, Step]) -> float:
        """Return the similarity if all conditions that refer to another node were met."""
        return self._combined(self._free, step, ends)

    def values(self, step: Step, reached: Mapping[int, Step]) -> list[float]:
        return [self._value(number, step, reached) for number in range(len(self._parts))]

    def _combined(self, numbers: list[int], step: Step, reached: Mapping[int, Step]) -> float:
        values = [1.0] * len(self._parts)
        for number in numbers:
            values[number] = self._value(number, step, reached)
            if not values[number]:
                return 0.0
        return self.whole.combined(values)

    def _value(self, number: int, step: Step, reached: Mapping[int, Step]) -> float:
        part, known = self._parts[number], self._known[number]
        key = part.looks_at(step, reached)
        value = known.get(key)
        if value is None:
            value = known[key] = part.similarity(step, reached)
        return value


def _is_free(part: Condition) -> bool:
    reads = part.references()
    return reads is not None and reads <= _ENDS
