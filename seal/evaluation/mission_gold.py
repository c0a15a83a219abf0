"""The gold of a mission as a graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from seal.core import DataError, levels, shortened
from seal.core.conditions import Called
from seal.core.schemas import MAX_DEPTH
from seal.core.values import nested_deeper

# -- The gold calls of a mission, which of them must come before which, and a model's turns.

ASK = "ask_user_for_required_parameters"
"""Name of the node that stands for a question to the user."""
ANSWER = "prepare_to_answer"
"""Name of the node that stands for the final answer."""
PSEUDO = frozenset({ASK, ANSWER})
"""Nodes that are no tools: a model does them by what it says."""
TYPES = ("single", "multi", "chat", "clarify")
"""Types of missions."""


class Graph:
    """A partial order of calls. Sets of nodes are integers: bit i is node i.

    Args:
        names: Of the nodes.
        arguments: Of the nodes.
        deps: For each node the positions of those that must be finished before it.
        gold: What the scorer `exact` accepts of each node, where that is more than its arguments;
            empty: of none it is.

    Raises:
        DataError: No nodes; a dependency that is not there, stands twice, or is the node itself;
            a cycle.
    """

    def __init__(
        self,
        names: Sequence[str],
        arguments: Sequence[Mapping[str, Any]],
        deps: Sequence[Sequence[int]],
        gold: Sequence[Called | None] = (),
    ) -> None:
        if not names:
            raise DataError("a mission has no nodes; one that needs no tool has the final answer")
        self.names = tuple(names)
        self.arguments = tuple(arguments)
        self.deps = tuple(tuple(before) for before in deps)
        self.gold = tuple(gold) or (None,) * len(names)
        self.before = tuple(map(mask_of, self.deps))
        self.everything = (1 << len(names)) - 1
        self._levels = levels(self.deps)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def length(self) -> int:
        """Number of nodes in the longest chain: the fewest steps of any path (Mirsky)."""
        return len(self._levels)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The nodes, each after all those it depends on."""
        return tuple(node for level in self._levels for node in level)

    @cached_property
    def after(self) -> tuple[int, ...]:
        """For each node those that depend on it directly."""
        found = [0] * len(self)
        for node, deps in enumerate(self.deps):
            for dep in deps:
                found[dep] |= 1 << node
        return tuple(found)

    @cached_property
    def above(self) -> tuple[int, ...]:
        """For each node those that depend on it, directly or not."""
        found = [0] * len(self)
        for node in reversed(self.order):
            found[node] = self.after[node]
            for other in bits(self.after[node]):
                found[node] |= found[other]
        return tuple(found)

    @cached_property
    def heights(self) -> tuple[int, ...]:
        """For each node the length of the longest chain that begins with it."""
        found = [1] * len(self)
        for node in reversed(self.order):
            found[node] += max((found[other] for other in bits(self.after[node])), default=0)
        return tuple(found)

    def ready(self, done: int) -> int:
        """Return the nodes that are not finished while all that they depend on is."""
        found = 0
        for node, before in enumerate(self.before):
            if not done >> node & 1 and before & done == before:
                found |= 1 << node
        return found

    def ready_after(self, ready: int, done: int, taken: int) -> int:
        """Return what is ready when `taken`, some of `ready`, is finished beside `done`.

        Args:
            ready: What was ready before.
            done: What was finished before.
            taken: What has been finished since.
        """
        done |= taken
        found = ready & ~taken
        for node in bits(taken):
            for other in bits(self.after[node]):
                if self.before[other] & done == self.before[other]:
                    found |= 1 << other
        return found

    def closed(self) -> Graph:
        """Return the graph in which the final answer, where it is the last node, comes last.

        What the user is told ends the mission, so it depends on every other node whether the gold
        says so or not.
        """
        last = len(self) - 1
        if self.names[last] != ANSWER or self.after[last]:
            return self
        deps = (*self.deps[:last], tuple(range(last)))
        return Graph(self.names, self.arguments, deps, self.gold)


def checked_graph(
    names: Sequence[str],
    arguments: Sequence[Mapping[str, Any]],
    deps: Sequence[Sequence[int]],
    gold: Sequence[Called | None] = (),
) -> Graph:
    """Return the graph of nodes that calls can be compared with.

    Raises:
        DataError: As of `Graph`; or gold arguments nest too deep.
    """
    for position, before in enumerate(deps):
        if nested_deeper(arguments[position], MAX_DEPTH):
            raise DataError(
                f"node {position}: arguments: nested more than {MAX_DEPTH} levels deep, "
                "which no call can be compared with"
            )
        _check_deps(position, before, len(names))
    return Graph(names, arguments, deps, gold)


def _check_deps(position: int, deps: Sequence[Any], count: int) -> None:
    for dep in deps:
        if not isinstance(dep, int) or isinstance(dep, bool) or not 0 <= dep < count:
            raise DataError(
                f"node {position}: deps: expected positions of nodes, 0 to {count - 1}, "
                f"got {shortened(dep)}"
            )
        if dep == position:
            raise DataError(f"node {position}: deps: a node cannot depend on itself")
    if len(set(deps)) < len(deps):
        raise DataError(f"node {position}: deps: each position once, got {shortened(list(deps))}")


def bits(mask: int) -> Iterator[int]:
    """Yield the positions of the bits that are set, ascending."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def mask_of(positions: Iterable[int]) -> int:
    """Return a number whose bits at these positions, each named once, are set."""
    return sum(1 << position for position in positions)


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One call as the model made it; two calls are two, whatever they say."""

    name: str
    arguments: Any
    """An object, its JSON text, or what the model wrote instead."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One output of the model."""

    calls: tuple[Call, ...] = ()
    text: str = ""
    """What it said; beside calls it has no meaning."""
    malformed: bool = False
    """True: it wrote something in place of calls that names no tool."""

    @property
    def empty(self) -> bool:
        """Neither calls nor text, or calls that are none."""
        return self.malformed or not (self.calls or self.text)
