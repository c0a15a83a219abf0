"""Similarities of nodes at steps, each measured once."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from seal.core.conditions import FIRST, LAST, AllOf, Condition, StateUnchanged
from seal.core.types import Milestone, Step

_ENDS = frozenset({FIRST, LAST})


class Similarities:
    """How well each step meets each of some nodes.

    A condition is measured once for everything that it looks at (`Condition.looks_at`), and a row
    once for what it reads and recalls: the same versions of tables, not the same steps, so that
    what nothing happened to costs nothing.

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
        self._reads = [[node.reads(step) for step in steps] for node in self._nodes]
        self._rows: list[dict[Hashable, tuple[int, list[float]]]] = [{} for _ in nodes]

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
        start = max(read.values(), default=0)
        reached = self._reached(read)
        key = self._nodes[node].recalls(reached)
        known = self._rows[node].get(key)
        if known is None or known[0] > start:
            known = self._rows[node][key] = start, self._measured(node, start, reached)
        return known[1]

    def _measured(self, node: int, start: int, reached: Mapping[int, Step]) -> list[float]:
        """Return a node's similarity at each step from one on, 0 before it."""
        values: dict[Hashable, float] = {}
        found = [0.0] * start
        for step, read in zip(self._steps[start:], self._reads[node][start:], strict=True):
            value = values.get(read)
            if value is None:
                value = self._nodes[node].similarity(step, reached)
                value = values[read] = value if value >= self._least else 0.0
            found.append(value)
        return found

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
        self._whole = condition if isinstance(condition, AllOf) else AllOf((condition,))
        self._parts = self._whole.conditions
        self._order = sorted(
            range(len(self._parts)), key=lambda n: not isinstance(self._parts[n], StateUnchanged)
        )
        self._free = [number for number in self._order if _is_free(self._parts[number])]
        self._known: list[dict[Hashable, float]] = [{} for _ in self._parts]
        reads = self._whole.references()
        self.references = None if reads is None else sorted(reads - _ENDS)

    def reads(self, step: Step) -> Hashable:
        return self._whole.reads(step)

    def recalls(self, reached: Mapping[int, Step]) -> Hashable:
        return self._whole.recalls(reached)

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
        return self._whole.combined(values)

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
