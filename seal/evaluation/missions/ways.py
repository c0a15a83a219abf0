"""The ways in which a mission's turns can be right: by names, by arguments, to the letter."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from seal.evaluation.missions.graph import ANSWER, ASK, PSEUDO, Graph
from seal.evaluation.missions.pairing import Pairing
from seal.evaluation.missions.placing import Placed, place_all, place_most
from seal.evaluation.missions.turns import Call, Turn

_ONE = Placed([], True)


class Ways:
    """Ways to take turns. Where all names differ there is one at most, and nothing to seek.

    Args:
        graph: The gold calls, as of `Graph.closed`.
        pairing: Of calls with the gold calls.
        turns: All of them.
    """

    def __init__(self, graph: Graph, pairing: Pairing, turns: Sequence[Turn]) -> None:
        self._graph = graph
        self._pairing = pairing
        self._turns: list[Turn] = []
        left = len(graph)
        for turn in turns:
            if left <= 0:
                break
            self._turns.append(turn)
            left -= len(turn.calls) or 1
        self._several = len(set(graph.names)) < len(graph)

    def meant(self) -> Placed:
        """Return a way to the end in which each call has exactly the gold call's arguments."""
        return self._all(self._pairing.meant)

    def accepted(self) -> Placed:
        """Return a way to the end in which each call's arguments are accepted."""
        return self._all(
            lambda call: [
                node
                for node in self._pairing.nodes(call.name)
                if self._pairing.match(call, node).accepted
            ]
        )

    def named(self) -> Placed:
        """Return the longest way in which each call has the gold call's name."""
        return place_most(self._graph, self._masks(self._named)) if self._several else _ONE

    def named_all(self) -> Placed:
        """Return a way to the end in which each call has the gold call's name."""
        return self._all(self._named)

    def _named(self, call: Call) -> Sequence[int]:
        return self._pairing.nodes(call.name)

    def _all(self, nodes: Callable[[Call], Sequence[int]]) -> Placed:
        return place_all(self._graph, self._masks(nodes)) if self._several else _ONE

    def _masks(self, nodes: Callable[[Call], Sequence[int]]) -> list[list[int]]:
        """Return for each turn and each of its calls what it may stand for; a text is one call."""
        return [
            [_mask(() if call.name in PSEUDO else nodes(call)) for call in turn.calls]
            or [0 if turn.empty else _mask(self._said)]
            for turn in self._turns
        ]

    @property
    def _said(self) -> list[int]:
        return [node for node, name in enumerate(self._graph.names) if name in (ASK, ANSWER)]


def _mask(nodes: Sequence[int]) -> int:
    return sum(1 << node for node in nodes)
