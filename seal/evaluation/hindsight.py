"""Which gold calls of a mission a model's calls can stand for, known after the chat."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from seal.evaluation.mission_gold import Graph, bits, mask_of

# -- Which gold calls the calls of all turns can stand for, with hindsight.
#
# After a chat it is known what the model called later. If a call may stand for two gold calls, the
# one that more calls wait for, or that must be over sooner, is tried first. The search goes turn by
# turn, takes back what leads nowhere, and ends: with a way, with the proof that there is none, or
# undecided after `MOST_TRIED` choices.
#
# The same calls may stand for two gold calls, and all that waits for the one may wait for the other
# too. Then they can be exchanged, so only the other is tried if both are ready.

MOST_TRIED = 2000
"""Choices of a gold call for a call that a search tries."""


class Placed(NamedTuple):
    """What a search found."""

    nodes: list[tuple[int, ...]]
    """For each turn the node of each call; empty: no way was found."""
    decided: bool
    """Whether there is a way is known."""


def place_all(graph: Graph, turns: Sequence[Sequence[int]], most: int = MOST_TRIED) -> Placed:
    """Return a way in which turns finish every node, none where there is no such way.

    Args:
        graph: The gold calls.
        turns: For each turn and each of its calls the nodes that it may stand for.
        most: Choices that are tried.
    """
    if sum(map(len, turns)) != len(graph):
        return Placed([], True)
    latest = _latest(graph, turns)
    idle = any(mask == 0 for masks in turns for mask in masks)
    few = any(len(when) < members.bit_count() for members, when in _calls(graph, turns))
    if idle or few or min(latest) < 0:
        return Placed([], True)
    return _Search(graph, turns, latest, most).run()


class _Search:
    """Takes turns one by one, and back.

    Args:
        graph: The gold calls.
        turns: For each turn and each of its calls the nodes that it may stand for.
        latest: For each node the last turn in which it may be finished.
        most: Choices that are tried.
    """

    def __init__(
        self, graph: Graph, turns: Sequence[Sequence[int]], latest: Sequence[int], most: int
    ) -> None:
        self._graph = graph
        self._turns = turns
        self._left = most
        self._due = [
            mask_of(node for node, last in enumerate(latest) if last <= turn)
            for turn in range(len(turns))
        ]
        self._order = sorted(
            range(len(graph)), key=lambda node: (latest[node], -graph.above[node].bit_count(), node)
        )
        self._before_it = _preferred(graph, turns)

    def run(self) -> Placed:
        """Return the first way that is found."""
        way: list[tuple[int, ...]] = []
        failed: set[tuple[int, int]] = set()
        stack = [(0, self._steps(0, 0, self._graph.ready(0)))] if self._turns else []
        while stack:
            done, steps = stack[-1]
            step = next(steps, None)
            if step is None:
                if self._left <= 0:
                    return Placed([], False)
                stack.pop()
                failed.add((len(stack), done))
                if way:
                    way.pop()
                continue
            nodes, after, ready = step
            if (len(stack), after) in failed:
                continue
            way.append(nodes)
            if len(way) == len(self._turns):
                return Placed(way, True)
            stack.append((after, self._steps(len(way), after, ready)))
        return Placed([], True)

    def _steps(
        self, turn: int, done: int, ready: int
    ) -> Iterator[tuple[tuple[int, ...], int, int]]:
        """Yield the ways to take a turn: its nodes, what is finished then and what is ready."""
        masks = self._turns[turn]
        for chosen in self._choices(masks, ready):
            taken = mask_of(chosen)
            after = done | taken
            if not self._due[turn] & ~after:
                yield chosen, after, self._graph.ready_after(ready, done, taken)

    def _choices(self, masks: Sequence[int], ready: int) -> Iterator[tuple[int, ...]]:
        """Yield for the calls of a turn a ready node each, the same nodes for like calls once.

        Args:
            masks: The nodes that each call may stand for.
            ready: What is ready.
        """
        order = sorted(range(len(masks)), key=lambda call: masks[call])
        chosen: list[int] = []
        stack = [self._open(masks[order[0]], ready, 0, -1)]
        while stack and self._left > 0:
            node = next(stack[-1], None)
            del chosen[len(stack) - 1 :]
            if node is None:
                stack.pop()
                continue
            self._left -= 1
            chosen.append(node)
            if len(chosen) == len(order):
                yield tuple(node for _, node in sorted(zip(order, chosen, strict=True)))
                continue
            last, mask = (masks[order[place]] for place in (len(chosen) - 1, len(chosen)))
            taken = mask_of(chosen)
            stack.append(self._open(mask, ready, taken, node if mask == last else -1))

    def _open(self, mask: int, ready: int, taken: int, last: int) -> Iterator[int]:
        """Yield the nodes that a call may get.

        Args:
            mask: Those that it may stand for.
            ready: What was ready before the turn.
            taken: What other calls of the turn got.
            last: The node of the call before it, if that is like it, else -1.
        """
        free = ready & ~taken
        for node in self._order[self._order.index(last) + 1 if last >= 0 else 0 :]:
            if (free & mask) >> node & 1 and not self._before_it[node] & free:
                yield node


def _classes(graph: Graph, turns: Sequence[Sequence[int]]) -> dict[tuple[int, ...], list[int]]:
    """Return the nodes by the kinds of calls that may stand for them."""
    masks = sorted({mask for turn in turns for mask in turn})
    found: dict[tuple[int, ...], list[int]] = {}
    for node in range(len(graph)):
        found.setdefault(tuple(mask for mask in masks if mask >> node & 1), []).append(node)
    return found


def _preferred(graph: Graph, turns: Sequence[Sequence[int]]) -> list[int]:
    """Return for each node those that can take its place in any way, where they are ready."""
    found = [0] * len(graph)
    for members in _classes(graph, turns).values():
        for node in members:
            above = graph.above[node]
            for other in members:
                more = graph.above[other]
                if other != node and above & more == above and (above != more or other < node):
                    found[node] |= 1 << other
    return found


def _latest(graph: Graph, turns: Sequence[Sequence[int]]) -> list[int]:
    """Return for each node the last turn that may finish it, where all nodes are to be finished.

    A call for it comes in that turn, and enough calls of every kind after it for what waits for it.
    -1: no turn may.
    """
    classes = _calls(graph, turns)
    found = [-1] * len(graph)
    for node in reversed(graph.order):
        above = graph.above[node]
        before = len(turns)
        for other in bits(graph.after[node]):
            before = min(before, found[other])
        own: list[int] = []
        for members, when in classes:
            waiting = (above & members).bit_count()
            if waiting:
                before = min(before, when[-waiting] if waiting <= len(when) else -1)
            if members >> node & 1:
                own = when
        place = bisect_left(own, before)
        found[node] = own[place - 1] if place else -1
    return found


def _calls(graph: Graph, turns: Sequence[Sequence[int]]) -> list[tuple[int, list[int]]]:
    """Return the nodes that the same calls may stand for, and the turns of those, ascending."""
    return [
        (
            mask_of(members),
            [turn for turn, masks in enumerate(turns) for mask in masks if mask >> members[0] & 1],
        )
        for members in _classes(graph, turns).values()
    ]
