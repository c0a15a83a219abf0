"""Calls of one name that change gold calls among them, where they fit others better."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from seal.core.conditions.assignment import cheapest
from seal.evaluation.missions.graph import Call, Graph, bits
from seal.evaluation.missions.pairs import Pairing

_NEVER = 10**15
"""Cost of a pair that cannot be: it outweighs what the calls of any mission are worth."""


def reassigned(
    graph: Graph,
    pairing: Pairing,
    calls: Sequence[tuple[int, int, Call]],
    nodes: Sequence[int],
    when: dict[int, int],
) -> list[int]:
    """Return the node of each call, changed where more are accepted, or with higher scores.

    The order of the graph still holds.

    Args:
        graph: The gold calls.
        pairing: Of calls with the gold calls.
        calls: (turn, position, call).
        nodes: The node of each.
        when: The turn of each node, also of those that are no calls; changed.
    """
    of_call = list(nodes)
    counts = Counter(call.name for *_, call in calls)
    for name in (name for name, count in counts.items() if count > 1):
        rows = [row for row, (*_, call) in enumerate(calls) if call.name == name]
        given = [of_call[row] for row in rows]
        changed = _cheapest(graph, pairing, [calls[row] for row in rows], given, when)
        moved = {n: calls[row][0] for row, n in zip(rows, changed, strict=True)}
        if _in_order(graph, {**when, **moved}):
            when.update(moved)
            for row, node in zip(rows, changed, strict=True):
                of_call[row] = node
    return of_call


def _cheapest(
    graph: Graph,
    pairing: Pairing,
    calls: Sequence[tuple[int, int, Call]],
    nodes: Sequence[int],
    when: Mapping[int, int],
) -> list[int]:
    """Return the nodes in the order in which they fit the calls best, each at a time it can be.

    Args:
        graph: The gold calls.
        pairing: Of calls with the gold calls.
        calls: (turn, position, call) of one name.
        nodes: The node of each.
        when: The turn of each node.
    """
    first = [max((when[n] for n in bits(graph.before[node])), default=-1) for node in nodes]
    last = [min((when[n] for n in bits(graph.after[node])), default=10**9) for node in nodes]
    rows = [
        [
            -pairing.worth(call, node) if first[i] < turn < last[i] else _NEVER
            for i, node in enumerate(nodes)
        ]
        for turn, _, call in calls
    ]
    return [nodes[column] for column in cheapest(rows) or ()]


def _in_order(graph: Graph, when: Mapping[int, int]) -> bool:
    return all(when[dep] < when[node] for node in when for dep in graph.deps[node])
