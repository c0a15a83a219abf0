"""How many paths a graph has, and the paths that Multi-Mission Tool Bench's code allows.

A path finishes one or more ready nodes a step until all are finished. Two sets of finished nodes
are one state however they were reached, so the sets are counted over, not the paths: n nodes have
at most 2 ** n sets, and about n! / (2 ln(2) ** (n + 1)) paths where none depends on another.

The original's paths are fewer than those of its definition. Of the ready nodes' subsets, by size
and then by position, only the first of each sequence of names stays. Neighbours of one name among
the ready nodes are a run, to be called all at once or one directly after the other: a subset that
begins with a part of a run and not with a whole one is dropped, and the single node that begins a
run stands for all of it, one a turn. The set of all ready nodes always stays, so the fewest steps
are those of the definition.

The first subset in order whose names are the turn's is taken, and there is no way back. A text that
asks takes none: the question is not marked as asked, and the paths through all subsets stay open.

Source: Yu et al., Multi-Mission Tool Bench (2025), evaluation code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from seal.evaluation.missions.graph import ANSWER, ASK, Graph, Turn, bits
from seal.evaluation.missions.pairs import OriginalError

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
    where whole steps would enter it in 2 ** m ways.

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


MOST_BRANCHES = 4096
"""Beginnings of paths that are followed at once; of more, the first."""


class _Branch(NamedTuple):
    done: int
    rest: tuple[int, ...] = ()
    """Of a run that was begun: what must follow."""


class OriginalWalk:
    """The turns of a model, taken one after the other, as long as they are right.

    Args:
        graph: The gold calls.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._branches = [_Branch(0)]
        self.finished = False
        """The mission is over, and all was right."""
        self.taken = 0
        """Turns that were right."""
        self.cut = False
        """There were more beginnings of paths than are followed."""

    def take(self, turn: Turn) -> bool:
        """Tell whether a turn is right; a wrong one changes nothing.

        Raises:
            OriginalError: The original raises.
        """
        if turn.empty:
            return False
        right = self._take_calls(turn) if turn.calls else self._take_text()
        self.taken += right
        return right

    @property
    def legal_next(self) -> tuple[str, ...]:
        """Names that may come next, sorted; a name as often as it may come at once."""
        most: Counter[str] = Counter()
        for branch in self._branches:
            ready = branch.rest[:1] or bits(self._graph.ready(branch.done))
            most |= Counter(self._graph.names[node] for node in ready)
        return tuple(sorted(most.elements()))

    def _take_calls(self, turn: Turn) -> bool:
        wanted = Counter(call.name for call in turn.calls)
        found = ((b, n, r) for b in self._branches for n, r in self._groups(b, wanted))
        first = next(found, None)
        if first is None:
            return False
        taken = first[1]
        again = ((b, self._rest(b, taken)) for b in self._branches)
        self._follow(self._after(b, taken, rest) for b, rest in again if rest is not None)
        return True

    def _rest(self, branch: _Branch, nodes: tuple[int, ...]) -> tuple[int, ...] | None:
        """Return the rest of a run that a subset begins; None: it may not come next."""
        names = Counter(self._graph.names[node] for node in nodes)
        found = self._groups(branch, names)
        return next((rest for other, rest in found if other == nodes), None)

    def _take_text(self) -> bool:
        if self.taken >= len(self._graph):
            raise OriginalError("KeyError")
        for branch in self._branches:
            for nodes, _ in self._groups(branch, None, most=1):
                name = self._graph.names[nodes[0]]
                if name == ANSWER:
                    self.finished = True
                    return True
                if name == ASK:
                    self._follow(
                        self._after(other, group, rest)
                        for other in self._branches
                        for group, rest in self._groups(other, None)
                    )
                    return True
        return False

    def _follow(self, branches: Iterator[_Branch]) -> None:
        """Follow these, each once and in order, for those that leave the same end the same."""
        found: dict[_Branch, None] = {}
        for branch in branches:
            found[branch] = None
            if len(found) > MOST_BRANCHES:
                self.cut = True
                del found[branch]
                break
        self._branches = list(found)

    @staticmethod
    def _after(branch: _Branch, nodes: Sequence[int], rest: tuple[int, ...]) -> _Branch:
        return _Branch(branch.done | sum(1 << node for node in nodes), rest)

    def _groups(
        self, branch: _Branch, wanted: Counter[str] | None, most: int | None = None
    ) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Yield the subsets that may come next, in order, with the rest of a run that they begin.

        Args:
            branch: The beginning of a path.
            wanted: Names that a subset must have; None: any.
            most: Nodes of a subset at most; None: any number.
        """
        if branch.rest:
            first = branch.rest[:1]
            if wanted is None or wanted == Counter({self._graph.names[first[0]]: 1}):
                yield first, branch.rest[1:]
            return
        yield from groups(self._graph, branch.done, wanted, most)


def groups(
    graph: Graph, done: int, wanted: Counter[str] | None = None, most: int | None = None
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield the subsets that may follow a set of finished nodes, with the rest of a run begun.

    Args:
        graph: The gold calls.
        done: Finished nodes.
        wanted: Names that a subset must have; None: any.
        most: Nodes of a subset at most; None: any number.
    """
    ready = list(bits(graph.ready(done)))
    starts = _starts(graph, ready)
    sizes = range(1, min(most or len(ready), len(ready)) + 1)
    for size in sizes if wanted is None else [wanted.total()]:
        for run in starts:
            first = run if size > 1 else run[:1]
            names = Counter(graph.names[node] for node in first)
            if len(first) > size or (wanted is not None and not names <= wanted):
                continue
            left = ready[ready.index(first[-1]) + 1 :]
            rest = None if wanted is None else wanted - names
            for others in _subsets(graph, left, size - len(first), rest):
                yield (*first, *others), run[1:] if size == 1 else ()


def moves(graph: Graph, done: int) -> Iterator[tuple[int, int]]:
    """Yield for a set of finished nodes each set that may come next, and the steps to it."""
    for nodes, rest in groups(graph, done):
        yield done | sum(1 << node for node in (*nodes, *rest)), 1 + len(rest)


def _starts(graph: Graph, ready: Sequence[int]) -> list[tuple[int, ...]]:
    """Return what a subset may begin with: of each name the first run, of one node or more."""
    runs: list[tuple[int, ...]] = []
    for node in ready:
        if runs and graph.names[runs[-1][-1]] == graph.names[node]:
            runs[-1] = (*runs[-1], node)
        else:
            runs.append((node,))
    first = {graph.names[run[0]]: run for run in reversed(runs)}
    return [run for run in runs if first[graph.names[run[0]]] == run]


def _subsets(
    graph: Graph, ready: Sequence[int], size: int, wanted: Counter[str] | None
) -> Iterator[tuple[int, ...]]:
    """Yield the subsets of a size in order of position, the first of each sequence of names.

    Args:
        graph: The gold calls.
        ready: The nodes.
        size: Nodes of a subset.
        wanted: Names that a subset must have; None: any.
    """
    if not size:
        yield ()
        return
    tried: set[str] = set()
    for place, node in enumerate(ready[: len(ready) - size + 1]):
        if wanted is not None and not wanted <= Counter(graph.names[n] for n in ready[place:]):
            return
        name = graph.names[node]
        if name in tried or (wanted is not None and not wanted[name]):
            continue
        tried.add(name)
        rest = None if wanted is None else wanted - Counter([name])
        for others in _subsets(graph, ready[place + 1 :], size - 1, rest):
            yield (node, *others)
