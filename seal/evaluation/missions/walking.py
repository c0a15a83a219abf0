"""A model's turns along the paths of a mission, without listing the paths.

After some turns a model has finished a set of nodes, and what it may do next depends on that set
alone: any of the nodes whose dependencies are finished, one or several at once. A turn is right
where its calls are such nodes, and no such set is a dead end; so turns that are right one after the
other are the beginning of a path. Where gold calls share a name, a turn may lead to several sets,
and all are followed: the model is right where one of them is reached.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from seal.evaluation.missions.graph import ANSWER, ASK, PSEUDO, Graph, bits
from seal.evaluation.missions.pairing import NEVER, Pairing, assign
from seal.evaluation.missions.turns import Call, Turn

MOST_BRANCHES = 200
"""Sets that are followed at once. Of more, those whose arguments fit best."""


class _Chosen(NamedTuple):
    """Nodes for some calls of a turn, and what they are worth."""

    nodes: tuple[tuple[int, int], ...]
    """(position of the call, node)."""
    worth: int


@dataclass(frozen=True, slots=True)
class _Branch:
    """What a model may have finished."""

    done: int
    ready: int
    worth: int = 0
    before: _Branch | None = None
    nodes: tuple[int, ...] = ()
    """Finished by the last turn: for each call its node, or the one that a text stands for."""


class Walk:
    """The turns of a model, taken one after the other, as long as they are right.

    - Calls finish as many ready nodes of their names. A text beside them has no meaning.
    - A text finishes a question that is ready, or the final answer.
    - The names of questions and of the final answer are no tools: they cannot be called.
    - Where gold has no final answer, the mission ends when a turn without calls follows the last.

    Gold calls of one name that the same nodes wait for are one choice, and of them the call gets
    the one that its arguments fit best. Of the ways to one set the one is kept whose arguments fit
    best.

    Args:
        graph: The gold calls, as of `Graph.closed`.
        pairing: Of calls with the gold calls.
    """

    def __init__(self, graph: Graph, pairing: Pairing) -> None:
        self._graph = graph
        self._pairing = pairing
        self._branches = [_Branch(0, graph.ready(0))]
        self._kinds = [_mask_where(graph, node) for node in range(len(graph))]
        self.finished = False
        """The mission is over, and all was right."""
        self.taken = 0
        """Turns that finished nodes."""
        self.cut = False
        """There were more sets than are followed, so that a right turn may be taken for wrong."""

    def take(self, turn: Turn) -> bool:
        """Tell whether a turn is right; a wrong one changes nothing."""
        if not turn.calls and ANSWER not in self._graph.names and self.complete:
            self.finished = True
            return True
        following: dict[tuple[int, int], _Branch] = {}
        for branch in self._branches:
            for nodes, worth in self._choices(branch, turn):
                after = self._after(branch, nodes, worth)
                key = self._key(after)
                if key not in following or after.worth > following[key].worth:
                    following[key] = after
        if not following:
            return False
        self._branches = self._kept(list(following.values()))
        self.taken += 1
        self.finished = self.complete and not turn.calls
        return True

    @property
    def complete(self) -> bool:
        """All nodes are finished."""
        return any(branch.done == self._graph.everything for branch in self._branches)

    @property
    def completed(self) -> int:
        """Number of finished nodes."""
        return max(branch.done.bit_count() for branch in self._branches)

    @property
    def legal_next(self) -> tuple[str, ...]:
        """Names that may come next, sorted; a name as often as it may come at once."""
        most: Counter[str] = Counter()
        for branch in self._branches:
            most |= Counter(self._graph.names[node] for node in bits(branch.ready))
        return tuple(sorted(most.elements()))

    @property
    def nodes(self) -> list[tuple[int, ...]]:
        """For each turn the nodes of its calls, or the one that its text stands for.

        Where several sets are followed, those of the one whose arguments fit best.
        """
        found = []
        branch: _Branch | None = self._best()
        while branch is not None and branch.before is not None:
            found.append(branch.nodes)
            branch = branch.before
        return found[::-1]

    def _best(self) -> _Branch:
        complete = [b for b in self._branches if b.done == self._graph.everything]
        return max(complete or self._branches, key=lambda branch: branch.worth)

    def _choices(self, branch: _Branch, turn: Turn) -> Iterator[tuple[tuple[int, ...], int]]:
        """Yield the nodes that a turn may finish, with what its arguments are worth."""
        if turn.empty:
            return
        if not turn.calls:
            for node in bits(branch.ready):
                if self._graph.names[node] in (ASK, ANSWER):
                    yield (node,), 0
            return
        by_name: dict[str, list[int]] = {}
        for position, call in enumerate(turn.calls):
            by_name.setdefault(call.name, []).append(position)
        parts = [self._of_name(branch, turn.calls, positions) for positions in by_name.values()]
        for tried, chosen in enumerate(product(*parts)):
            if tried == MOST_BRANCHES:
                self.cut = True
                return
            nodes = dict(pair for part in chosen for pair in part.nodes)
            worth = sum(part.worth for part in chosen)
            yield tuple(nodes[position] for position in range(len(nodes))), worth

    def _of_name(
        self, branch: _Branch, calls: Sequence[Call], positions: Sequence[int]
    ) -> list[_Chosen]:
        """Return the choices of ready nodes for calls of one name, those of one kind as one."""
        name = calls[positions[0]].name
        ready = [node for node in self._pairing.nodes(name) if branch.ready >> node & 1]
        if name in PSEUDO or len(ready) < len(positions):
            return []
        worths = [[self._pairing.likely_worth(calls[p], node) for node in ready] for p in positions]
        found = []
        for columns in self._columns(ready, worths):
            worth = sum(row[column] for row, column in zip(worths, columns, strict=True))
            pairs = zip(positions, (ready[column] for column in columns), strict=True)
            found.append(_Chosen(tuple(pairs), worth))
        return sorted(found, key=lambda chosen: -chosen.worth)

    def _columns(self, ready: Sequence[int], worths: Sequence[list[int]]) -> list[list[int]]:
        """Return ways to give each row a column of its own: of each share of the kinds the best.

        Args:
            ready: The node of each column.
            worths: Row by column.
        """
        kinds = list(dict.fromkeys(self._kinds[node] for node in ready))
        members = [[kind >> node & 1 for node in ready] for kind in kinds]
        best = assign(worths)
        if len(kinds) == 1 or len(worths) == len(ready):
            return [best]
        found = {tuple(sum(row[column] for column in best) for row in members): best}
        for counts in _shares(len(worths), [sum(row) for row in members]):
            if len(found) == MOST_BRANCHES:
                self.cut = True
                break
            if counts not in found:
                left = [
                    [0 if belongs else NEVER for belongs in row]
                    for row, count in zip(members, counts, strict=True)
                    for _ in range(sum(row) - count)
                ]
                found[counts] = assign([*worths, *left])[: len(worths)]
        return list(found.values())

    def _after(self, branch: _Branch, nodes: tuple[int, ...], worth: int) -> _Branch:
        taken = sum(1 << node for node in nodes)
        ready = self._graph.ready_after(branch.ready, branch.done, taken)
        return _Branch(branch.done | taken, ready, branch.worth + worth, branch, nodes)

    def _key(self, branch: _Branch) -> tuple[int, int]:
        """Return the same for sets that leave the same but for which nodes of a kind are ready."""
        waiting = self._graph.everything & ~(branch.done | branch.ready)
        ready = left = branch.ready
        while left:
            kind = self._kinds[(left & -left).bit_length() - 1]
            members = ready & kind
            left &= ~kind
            if members != kind:
                ready = ready & ~kind | _lowest(kind, members.bit_count())
        return waiting, ready

    def _kept(self, branches: list[_Branch]) -> list[_Branch]:
        if len(branches) <= MOST_BRANCHES:
            return branches
        self.cut = True
        branches.sort(key=lambda branch: (-branch.worth, -branch.ready.bit_count()))
        return branches[:MOST_BRANCHES]


def _mask_where(graph: Graph, node: int) -> int:
    """Return the nodes that, once ready, are as good as a node: named and waited for alike."""
    return sum(
        1 << other
        for other in range(len(graph))
        if graph.names[other] == graph.names[node] and graph.after[other] == graph.after[node]
    )


def _lowest(mask: int, count: int) -> int:
    """Return the lowest bits that are set."""
    found = 0
    for _ in range(count):
        found |= mask & -mask
        mask &= mask - 1
    return found


def _shares(total: int, most: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the ways to share a number among places that hold so many at most."""
    if not most:
        if not total:
            yield ()
        return
    for first in range(min(total, most[0]), -1, -1):
        for rest in _shares(total - first, most[1:]):
            yield (first, *rest)
