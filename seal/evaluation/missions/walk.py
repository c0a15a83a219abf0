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
from functools import cached_property, partial
from itertools import product
from typing import NamedTuple

from seal.core.canonical import equal
from seal.evaluation.missions.graph import ANSWER, ASK, PSEUDO, Call, Graph, Turn, bits
from seal.evaluation.missions.pairs import NEVER, Pairing, assign

SMALL = 12
"""Nodes of a mission in which all sets are followed."""
MOST_BRANCHES = 6
"""Sets that are followed at once in a larger one. Of more, those whose arguments fit best."""


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
        known: For each of the first turns the nodes that its calls can stand for, where that is
            known beforehand. This way is followed whatever else is.
        alone: Nothing else is.
    """

    def __init__(
        self,
        graph: Graph,
        pairing: Pairing,
        known: Sequence[tuple[int, ...]] = (),
        alone: bool = False,
    ) -> None:
        self._graph = graph
        self._pairing = pairing
        self._branches = [_Branch(0, graph.ready(0))]
        self._known, self._alone = known, alone
        self._lead = self._branches[0]
        self._most = 1 << SMALL if len(graph) <= SMALL else MOST_BRANCHES
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
        for branch in [] if self._alone else self._branches:
            for nodes, worth in self._choices(branch, turn):
                after = self._after(branch, nodes, worth)
                key = self._key(after)
                if key not in following or after.worth > following[key].worth:
                    following[key] = after
        lead = self._led(turn)
        if not following and not lead:
            return False
        self._branches = self._kept(list(following.values())) + lead
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

    def _led(self, turn: Turn) -> list[_Branch]:
        """Return where the known way leads, if it is known so far."""
        if self.taken >= len(self._known):
            return []
        nodes = self._known[self.taken]
        pairs = zip(turn.calls, nodes, strict=False)  # a text is no call and has a node
        worth = sum(self._pairing.likely_worth(call, node) for call, node in pairs)
        self._lead = self._after(self._lead, nodes, worth)
        return [self._lead]

    @cached_property
    def _compared(self) -> tuple[list[int], list[int]]:
        return _compared(self._graph)

    @property
    def _kinds(self) -> list[int]:
        return self._compared[0]

    @property
    def _better(self) -> list[int]:
        return self._compared[1]

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
            if tried == self._share:
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
        kinds: dict[int, list[int]] = {}
        for column, node in enumerate(ready):
            kinds.setdefault(self._kinds[node], []).append(column)
        if len(worths) == 1:
            found = [[max(columns, key=worths[0].__getitem__)] for columns in kinds.values()]
        else:
            found = self._shared(worths, list(kinds.values()))
        if not any(self._better[node] for node in ready):
            return found
        lifted = {frozenset(columns): columns for columns in map(partial(self._lift, ready), found)}
        return list(lifted.values())

    def _lift(self, ready: Sequence[int], columns: Sequence[int]) -> list[int]:
        """Return the columns with each node replaced by the best ready one that is not among them.

        Args:
            ready: The node of each column.
            columns: Distinct.
        """
        found = list(columns)
        row = 0
        while row < len(found):
            better = self._better[ready[found[row]]]
            free = (c for c, n in enumerate(ready) if better >> n & 1 and c not in found)
            other = next(free, None)
            if other is None:
                row += 1
            else:
                found[row], row = other, 0
        return found

    def _shared(self, worths: Sequence[list[int]], kinds: Sequence[list[int]]) -> list[list[int]]:
        """Return ways to give each row a column of its own: of each share of the kinds the best.

        Args:
            worths: Row by column, two rows or more.
            kinds: The columns of each kind.
        """
        best = assign(worths)
        if len(kinds) == 1 or len(worths) == len(worths[0]):
            return [best]
        found = {tuple(len({*best} & {*columns}) for columns in kinds): best}
        for counts in _shares(len(worths), [len(columns) for columns in kinds]):
            if len(found) == self._share:
                self.cut = True
                break
            if counts not in found:
                found[counts] = _best_of_share(worths, kinds, counts)
        return list(found.values())

    @property
    def _share(self) -> int:
        """Ways to take a turn that are tried from each set."""
        return max(1, 2 * self._most // len(self._branches))

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
        """Return the branches to follow; of equal worth, those with the most ready nodes."""
        if len(branches) <= self._most:
            return branches
        self.cut = True
        branches.sort(key=lambda branch: (-branch.worth, -branch.ready.bit_count()))
        return branches[: self._most]


def _best_of_share(
    worths: Sequence[list[int]], kinds: Sequence[list[int]], counts: Sequence[int]
) -> list[int]:
    """Return for each row a column of its own, so many of each kind and the sum the greatest.

    Args:
        worths: Row by column.
        kinds: The columns of each kind.
        counts: How many of each are taken; a row for each of them.
    """
    columns = [
        column for kind, count in zip(kinds, counts, strict=True) if count for column in kind
    ]
    rows = [[row[column] for column in columns] for row in worths]
    if len({worth for row in rows for worth in row}) == 1:
        chosen = (kind[:count] for kind, count in zip(kinds, counts, strict=True))
        return [column for part in chosen for column in part]
    for kind, count in zip(kinds, counts, strict=True):
        left = [0 if column in kind else NEVER for column in columns]
        rows += [left] * (len(kind) - count if count else 0)
    return [columns[place] for place in assign(rows)[: len(worths)]]


def _compared(graph: Graph) -> tuple[list[int], list[int]]:
    """Return for each node those of its kind, and those that are better to finish when ready.

    Of a kind are nodes of one name that the same nodes wait for, directly or not: which of them are
    finished makes no difference to the rest. A node is better than another one of its name and
    arguments if all wait for it that wait for the other, and more: the other can take its place in
    whatever follows.
    """
    kinds, better = [], []
    for node, above in enumerate(graph.above):
        named = [other for other, name in enumerate(graph.names) if name == graph.names[node]]
        kinds.append(sum(1 << n for n in named if graph.above[n] == above))
        better.append(
            sum(
                1 << n
                for n in named
                if above != graph.above[n]
                and above & graph.above[n] == above
                and equal(dict(graph.arguments[n]), dict(graph.arguments[node]))
            )
        )
    return kinds, better


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
