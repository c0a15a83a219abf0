"""Distraction tools: those that are most easily taken for a task's own."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Literal

from seal.core import Tool
from seal.core.arrays import Floats, np

_KEPT = 8_000_000
"""Likenesses that a category keeps: 64 MB."""


class Distractors:
    """Ranks a pool's tools by how easily they are taken for given ones.

    First the tools of the same categories, then the others; in each block by the greatest likeness
    of names (rapidfuzz's WRatio after its default processing). Equal ones keep the order of the
    pool. In a pool without categories the names alone decide.

    Source: ToolSandbox, section 3.3, and the ranking that its code gives, whose categories are its
    modules.

    Args:
        tools: The pool; its order decides ties.
    """

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._ids = [tool.id for tool in tools]
        self._own = {tool.id: (tool.category, tool.name) for tool in tools}
        by_category: dict[str, list[int]] = {}
        for place, tool in enumerate(tools):
            by_category.setdefault(tool.category, []).append(place)
        self._blocks = {
            category: _Block([tools[place].name for place in places], places)
            for category, places in by_category.items()
        }
        self._known: dict[tuple[frozenset[str], int | None], tuple[str, ...]] = {}

    def ranked(
        self, given: Collection[str], count: int | Literal["all"] = "all"
    ) -> tuple[str, ...]:
        """Return the ids of the tools most like the given ones, the most like first.

        Args:
            given: Ids of a task's tools, none of which is returned. One that the pool does not
                have counts by the last two parts of its id: category and name.
            count: At most so many, at least 0.
        """
        most = None if count == "all" else count
        key = frozenset(given), most
        if key not in self._known:
            others = (tool for tool in self._by_likeness(key[0]) if tool not in key[0])
            self._known[key] = tuple(islice(others, most))
        return self._known[key]

    def _by_likeness(self, given: frozenset[str]) -> Iterator[str]:
        """Yield all tools; those of other categories are compared only when they are reached."""
        own = [self._own.get(tool) or _last_parts(tool) for tool in sorted(given)]
        names = sorted({name for _, name in own})
        near = {category for category, _ in own if category}
        for alike in (True, False):
            blocks = [block for name, block in self._blocks.items() if (name in near) == alike]
            yield from (self._ids[place] for place in _sorted_places(blocks, names))


class _Block:
    """The tools of one category.

    Args:
        names: Of the tools.
        places: Their places in the pool.
    """

    def __init__(self, names: Sequence[str], places: Sequence[int]) -> None:
        from rapidfuzz.utils import default_process

        self._process = default_process
        processed = [default_process(name) for name in names]
        self._distinct = sorted(set(processed))
        numbers = {name: number for number, name in enumerate(self._distinct)}
        self._numbers = np.array([numbers[name] for name in processed])
        self.places = np.array(places)
        self._rows: dict[str, Floats] = {}

    def likeness(self, names: Sequence[str]) -> Floats:
        """Return how like each tool's name is to the most like of these, in [0, 100]."""
        rows = [self._row(name) for name in names]
        best = np.max(rows, axis=0) if rows else np.zeros(len(self._distinct))
        return np.asarray(best[self._numbers])

    def _row(self, name: str) -> Floats:
        from rapidfuzz import fuzz, process

        if name not in self._rows:
            if len(self._rows) * len(self._distinct) > _KEPT:
                self._rows.clear()
            query = [self._process(name)]
            table = process.cdist(query, self._distinct, scorer=fuzz.WRatio, dtype=np.float64)
            self._rows[name] = table[0]
        return self._rows[name]


def _sorted_places(blocks: Sequence[_Block], names: Sequence[str]) -> Iterator[int]:
    """Yield the places of these tools, the most like first; equally like ones as they stand."""
    if not blocks:
        return
    places = np.concatenate([block.places for block in blocks])
    likeness = np.concatenate([block.likeness(names) for block in blocks])
    yield from places[np.lexsort((places, -likeness))].tolist()


def _last_parts(tool: str) -> tuple[str, str]:
    """Return category and name as an id of the form benchmark/category/name has them."""
    owner, _, name = tool.rpartition("/")
    return owner.rpartition("/")[2], name
