"""How many paths a graph has.

A path finishes one or more ready nodes a step until all are finished. A set of finished nodes is
one state, however it was reached. So sets are counted, not paths. If no node depends on another, n
nodes have 2 ** n sets and about n! / (2 ln(2) ** (n + 1)) paths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from seal.evaluation.mission_gold import Graph, bits

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

    The nodes of a step are taken one after the other. They go from the last to the first of an
    order in which every node follows those it depends on. So none of them can depend on one taken
    in the same step, and every path is met once. A set of m nodes then has at most m ways to be
    entered, where whole steps would enter it in 2 ** m ways.

    Args:
        graph: The partial order.
        most_sets: Sets of finished nodes, beyond which there are no numbers but a reason.
    """
    if _has_more_sets(graph, most_sets):
        return PathCounts(None, None, f"more than {most_sets:,} sets of finished nodes")
    return PathCounts(_count(graph), _count(graph, graph.length))


def _has_more_sets(graph: Graph, most: int) -> bool:
    """Tell whether there are more sets of finished nodes.

    Either a node is not finished, and nothing above it; or it is, and all below it. Both leave
    fewer nodes, until none of them comes before another.
    """
    related = list(graph.above)
    for node, above in enumerate(graph.above):
        for other in bits(above):
            related[other] |= 1 << node
    found = 0
    stack = [graph.everything]
    while stack and found <= most:
        left = stack.pop()
        node = max(bits(left), key=lambda n: (related[n] & left).bit_count(), default=0)
        if not related[node] & left:
            found += 1 << left.bit_count()
            continue
        others = left & ~(1 << node)
        stack += [others & ~graph.above[node], others & ~(related[node] & ~graph.above[node])]
    return found > most


def _count(graph: Graph, steps: int | None = None) -> int:
    """Return the number of paths of so many steps, the fewest there can be; None: of any.

    Numbers of ways by their steps are the digits of one integer, for it is added faster than its
    digits are.
    """
    # n nodes have no more paths than n ** n, so that digits of this width do not run over.
    width = len(graph) * len(graph).bit_length() + 1
    place = {node: i for i, node in enumerate(graph.order)}
    layer: dict[int, dict[int, int]] = {0: {}}
    for _ in range(len(graph)):
        following: dict[int, dict[int, int]] = {}
        for done, entered in layer.items():
            ready = list(bits(graph.ready(done)))
            ways, few = sum(entered.values()) if entered else 1, -1
            if steps is not None:
                ways <<= width
                # A step that goes on may yet take the first of the longest chain that is left.
                left = max(graph.heights[node] for node in ready)
                few = (1 << (steps - left + 2) * width) - 1
            later = sorted(entered)
            for node in sorted(ready, key=place.__getitem__, reverse=True):
                while later and later[-1] > place[node]:
                    ways += entered[later.pop()]
                if ways & few:
                    following.setdefault(done | 1 << node, {})[place[node]] = ways & few
        layer = following
    (entered,) = layer.values()
    return sum(entered.values()) >> (steps or 0) * width


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
