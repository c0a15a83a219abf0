"""A model's turns along the paths of a mission, in the order in which they came."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from seal.evaluation.mission_gold import ANSWER, ASK, PSEUDO, Call, Graph, Turn, bits, mask_of

if TYPE_CHECKING:
    from seal.evaluation.argument_pairs import Pairing

# -- A model's turns along the paths of a mission, without listing the paths.
#
# After some turns a model has finished a set of nodes. What it may do next depends on that set
# alone: any nodes whose dependencies are finished, one or several at once. A turn is right if its
# calls are such nodes. No such set is a dead end, so right turns are always the beginning of a
# path. If gold calls share a name, a turn may lead to several sets. All are followed, and the model
# is right if one of them is complete.

SMALL = 12
"""Nodes of a mission in which all sets are followed."""
MOST_BRANCHES = 64
"""Sets that are followed at once in a larger one. Of more, those whose arguments fit best."""


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

    Of the ways to one set the one is kept whose arguments fit best. In a large mission gold calls
    of one name that the same nodes wait for are one choice: a call gets the one that its arguments
    fit best. Sets that differ only in which of these are left are one set there.

    Args:
        graph: The gold calls, as of `Graph.closed`.
        pairing: Of calls with the gold calls; None: gold has none.
        known: For each of the first turns the nodes that its calls can stand for, where that is
            known beforehand. This way is followed whatever else is.
        alone: Nothing else is.
    """

    def __init__(
        self,
        graph: Graph,
        pairing: Pairing | None,
        known: Sequence[tuple[int, ...]] = (),
        alone: bool = False,
    ) -> None:
        self._graph = graph
        self._pairing = pairing
        self._branches = [_Branch(0, graph.ready(0))]
        self._known, self._alone = known, alone
        self._lead = self._branches[0]
        self._small = len(graph) <= SMALL
        self._most = 1 << SMALL if self._small else MOST_BRANCHES
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
        following: dict[Hashable, _Branch] = {}
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
        complete = [b for b in self._branches if b.done == self._graph.everything]
        branch: _Branch | None = max(complete or self._branches, key=lambda branch: branch.worth)
        while branch is not None and branch.before is not None:
            found.append(branch.nodes)
            branch = branch.before
        return found[::-1]

    def _led(self, turn: Turn) -> list[_Branch]:
        """Return where the known way leads, if it is known so far."""
        if self.taken >= len(self._known) or self._pairing is None:
            return []
        nodes = self._known[self.taken]
        pairs = zip(turn.calls, nodes, strict=False)  # a text is no call and has a node
        worth = sum(self._pairing.likely_worth(call, node) for call, node in pairs)
        self._lead = self._after(self._lead, nodes, worth)
        return [self._lead]

    @cached_property
    def _kinds(self) -> list[int]:
        """For each node those of its name that the same nodes wait for, directly or not.

        Which of them are finished makes no difference to the rest.
        """
        kinds: dict[tuple[str, int], int] = {}
        keys = list(zip(self._graph.names, self._graph.above, strict=True))
        for node, key in enumerate(keys):
            kinds[key] = kinds.get(key, 0) | 1 << node
        return [kinds[key] for key in keys]

    def _choices(self, branch: _Branch, turn: Turn) -> Iterator[tuple[tuple[int, ...], int]]:
        """Yield the nodes that a turn may finish, with what its arguments are worth."""
        if turn.empty:
            return
        if not turn.calls:
            for node in bits(branch.ready):
                if self._graph.names[node] in (ASK, ANSWER):
                    yield (node,), 0
            return
        share = self._most if self._small else max(1, 2 * self._most // len(self._branches))
        chosen: dict[int, tuple[tuple[int, ...], int]] = {0: ((), 0)}
        for call in turn.calls:
            following: dict[int, tuple[tuple[int, ...], int]] = {}
            for taken, (nodes, worth) in chosen.items():
                for node, more in self._candidates(call, branch.ready & ~taken):
                    key = taken | 1 << node
                    if key not in following or worth + more > following[key][1]:
                        following[key] = (*nodes, node), worth + more
            if len(following) > share:
                self.cut = True
                best = sorted(following, key=lambda key: -following[key][1])[:share]
                following = {key: following[key] for key in best}
            chosen = following
        yield from sorted(chosen.values(), key=lambda one: -one[1])

    def _candidates(self, call: Call, free: int) -> Iterable[tuple[int, int]]:
        """Return the nodes that a call may finish, with what its arguments are worth there.

        Args:
            call: Of a turn.
            free: Nodes that are ready, and that no other call of the turn has.
        """
        if call.name in PSEUDO or self._pairing is None:
            return ()
        nodes = [node for node in self._pairing.nodes(call.name) if free >> node & 1]
        worths = [(node, self._pairing.likely_worth(call, node)) for node in nodes]
        if self._small:
            return worths
        best: dict[int, tuple[int, int]] = {}
        for node, worth in worths:
            kind = self._kinds[node]
            if kind not in best or worth > best[kind][1]:
                best[kind] = node, worth
        return best.values()

    def _after(self, branch: _Branch, nodes: tuple[int, ...], worth: int) -> _Branch:
        taken = mask_of(nodes)
        ready = self._graph.ready_after(branch.ready, branch.done, taken)
        return _Branch(branch.done | taken, ready, branch.worth + worth, branch, nodes)

    def _key(self, branch: _Branch) -> Hashable:
        """Return the same for sets of which one is enough."""
        if self._small:
            return branch.done
        waiting = self._graph.everything & ~(branch.done | branch.ready)
        return waiting, tuple((branch.ready & kind).bit_count() for kind in self._kinds)

    def _kept(self, branches: list[_Branch]) -> list[_Branch]:
        """Return the branches to follow; of equal worth, those with the most ready nodes."""
        if len(branches) <= self._most:
            return branches
        self.cut = True
        branches.sort(key=lambda branch: (-branch.worth, -branch.ready.bit_count()))
        return branches[: self._most]
