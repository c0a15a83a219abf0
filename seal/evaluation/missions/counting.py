"""How many paths a graph has, in all and of the fewest steps, without listing them.

A path finishes one or more ready nodes a step until all are finished. Two sets of finished nodes
are one state however they were reached, so the sets are counted over, not the paths: n nodes have
at most 2 ** n sets, and about n! / (2 ln(2) ** (n + 1)) paths where none depends on another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import comb, prod

from seal.evaluation.missions.graph import Graph, bits

MOST_SETS = 1_000_000
"""Sets of finished nodes that are counted over."""
MOST_MOVES = 100_000
"""Steps from set to set that are counted over one by one."""


@dataclass(frozen=True, slots=True)
class PathCounts:
    """Numbers of paths."""

    paths: int | None
    optimal: int | None
    """Of those of the fewest steps."""
    reason: str = ""
    """Why there are no numbers."""


def count_paths(graph: Graph, most_sets: int = MOST_SETS) -> PathCounts:
    """Return the numbers of paths, exact.

    The nodes of a step are taken one after the other, from the last to the first of an order in
    which every node follows those it depends on. So none of them can depend on one taken in the
    same step, and every path is met once. A set of m nodes then has at most m ways to be entered,
    where whole steps would enter it in 2 ** m ways. Nodes that no order tells apart are taken
    together, a number of them at a time, and sets that differ by such nodes alone are one.

    Args:
        graph: The partial order.
        most_sets: Sets of finished nodes, beyond which there are no numbers but a reason.
    """
    sets = _Sets(graph)
    if sets.more_than(most_sets):
        return PathCounts(None, None, f"more than {most_sets:,} sets of finished nodes")
    return PathCounts(sets.count(), sets.count(graph.length))


_Layer = dict[int, dict[int, int]]
"""By set, then by the group that was taken last: the number of ways."""


class _Sets:
    """Sets of finished nodes, in the order of `Graph.alike`: of a group the first ones."""

    def __init__(self, graph: Graph) -> None:
        place = {node: i for i, node in enumerate(n for group in graph.alike for n in group)}
        self._graph = graph
        self._starts = [place[group[0]] for group in graph.alike]
        self._sizes = [len(group) for group in graph.alike]
        self._before = [
            sum(1 << place[dep] for dep in graph.deps[group[0]]) for group in graph.alike
        ]
        self._heights = [graph.heights[group[0]] for group in graph.alike]
        # n nodes have no more paths than n ** n, so that digits of this width do not run over.
        self._width = len(graph) * len(graph).bit_length() + 1

    def more_than(self, most: int) -> bool:
        """Tell whether there are more sets.

        Either none of a group is finished, and nothing above it; or all of it, and all below it; or
        some of it, and both. Each leaves fewer groups, until none of them comes before another.
        """
        above, below = self._above_and_below()
        found = 0
        stack = [((1 << len(self._sizes)) - 1, 1)]
        while stack and found <= most:
            left, times = stack.pop()
            group = max(
                bits(left), key=lambda g: ((above[g] | below[g]) & left).bit_count(), default=0
            )
            if not (above[group] | below[group]) & left:
                found += times * prod(self._sizes[free] + 1 for free in bits(left))
                continue
            none, whole = left & ~above[group], left & ~below[group]
            others = ~(1 << group)
            stack += [(none & others, times), (whole & others, times)]
            if self._sizes[group] > 1:
                stack.append((none & whole & others, times * (self._sizes[group] - 1)))
        return found > most

    def _above_and_below(self) -> tuple[list[int], list[int]]:
        """Return for each group those that depend on it, and those it depends on, as bits."""
        of_node = {node: group for group, nodes in enumerate(self._graph.alike) for node in nodes}
        above, below = ([0] * len(self._sizes) for _ in range(2))
        for group, nodes in enumerate(self._graph.alike):
            for node in bits(self._graph.above[nodes[0]]):
                above[group] |= 1 << of_node[node]
                below[of_node[node]] |= 1 << group
        return above, below

    def count(self, steps: int | None = None) -> int:
        """Return the number of paths of so many steps, the fewest there can be; None: of any.

        Numbers of ways by their steps are the digits of one integer, for it is added faster than
        its digits are.
        """
        layers: list[_Layer] = [{} for _ in range(len(self._graph) + 1)]
        layers[0][0] = {}
        for size in range(len(self._graph)):
            for done, entered in layers[size].items():
                self._extend(done, entered, layers, size, steps)
            layers[size] = {}
        (entered,) = layers[-1].values()
        return sum(entered.values()) >> (steps or 0) * self._width

    def _extend(
        self,
        done: int,
        entered: Mapping[int, int],
        layers: list[_Layer],
        size: int,
        steps: int | None,
    ) -> None:
        """Add the sets that have more of one group, and the ways into them.

        Args:
            done: A set of finished nodes; the last step may still go on.
            entered: The ways into it.
            layers: Sets by their sizes; changed.
            size: Number of finished nodes.
            steps: As of `count`.
        """
        ready = self._ready(done)
        new_step = sum(entered.values()) if entered else 1
        few = -1
        if steps is not None:
            new_step <<= self._width
            # A step that goes on may yet take the first of the longest chain that is left.
            left = max(self._heights[group] for group, _ in ready)
            few = (1 << (steps - left + 2) * self._width) - 1
        later = sorted(entered)
        ways = new_step
        for group, taken in reversed(ready):
            while later and later[-1] > group:
                ways += entered[later.pop()]
            if not ways & few:
                continue
            open_nodes = self._sizes[group] - taken
            for more in range(1, open_nodes + 1):
                added = ((1 << more) - 1) << self._starts[group] + taken
                into = layers[size + more].setdefault(done | added, {})
                into[group] = into.get(group, 0) + (ways & few) * comb(open_nodes, more)

    def _ready(self, done: int) -> list[tuple[int, int]]:
        """Return the groups of which a node may come next, and how many of each are finished."""
        found = []
        for group, before in enumerate(self._before):
            if before & done == before:
                members = done >> self._starts[group] & (1 << self._sizes[group]) - 1
                if members.bit_count() < self._sizes[group]:
                    found.append((group, members.bit_count()))
        return found


Moves = Callable[[int], Iterator[tuple[int, int]]]
"""Yields for a set of finished nodes each set that may come next, and the steps to it."""


def count_moves(graph: Graph, moves: Moves, most: int = MOST_MOVES) -> PathCounts:
    """Return the numbers of paths under any rule of what may come next.

    Args:
        graph: The partial order.
        moves: The rule: what comes next depends on what is finished alone.
        most: Moves, beyond which there are no numbers but a reason.
    """
    known: dict[int, dict[int, int]] = {graph.everything: {0: 1}}
    open_moves: dict[int, list[tuple[int, int]]] = {}
    tried = 0
    stack = [0]
    while stack:
        done = stack.pop()
        if done in open_moves:
            known[done] = _by_steps(open_moves.pop(done), known)
        elif done not in known:
            found = open_moves[done] = []
            for move in moves(done):
                found.append(move)
                tried += 1
                if tried > most:
                    return PathCounts(None, None, f"more than {most:,} steps from set to set")
            stack += [done, *(following for following, _ in found)]
    ways = known[0]
    return PathCounts(sum(ways.values()), ways[min(ways)])


def _by_steps(
    moves: list[tuple[int, int]], known: Mapping[int, Mapping[int, int]]
) -> dict[int, int]:
    """Return the numbers of ways to the end by their steps."""
    found: dict[int, int] = {}
    for following, steps in moves:
        for rest, ways in known[following].items():
            found[rest + steps] = found.get(rest + steps, 0) + ways
    return found
