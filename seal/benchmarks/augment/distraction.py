"""Distraction tools: those that are most easily taken for a task's own."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Literal

from seal.core.types import Tool


class Distractors:
    """Ranks a pool's tools by how easily they are taken for given ones.

    First the tools of the same categories, then the others; in each block by the greatest
    likeness of names, rapidfuzz's WRatio after its default processing, and where that is equal in
    the order of the pool. In a pool without categories the names alone decide.

    Source: ToolSandbox, section 3.3, and the ranking that its code gives, whose categories are its
    modules.

    Args:
        tools: The pool; its order decides ties.
    """

    def __init__(self, tools: Sequence[Tool]) -> None:
        from rapidfuzz.utils import default_process

        self._tools = tools
        self._process = default_process
        self._names = {tool.id: default_process(tool.name) for tool in tools}
        self._categories = {tool.id: tool.category for tool in tools}
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
            self._known[key] = tuple(islice(self._by_likeness(key[0]), most))
        return self._known[key]

    def _by_likeness(self, given: frozenset[str]) -> Iterator[str]:
        others = [tool.id for tool in self._tools if tool.id not in given]
        categories = {self._categories.get(tool) or _last_parts(tool)[0] for tool in given}
        near = [tool for tool in others if self._categories[tool] in categories - {""}]
        likeness = _Likeness(
            self._names, [self._names.get(t) or self._process(_last_parts(t)[1]) for t in given]
        )
        yield from likeness.sorted(near)
        alike = set(near)
        yield from likeness.sorted([tool for tool in others if tool not in alike])


class _Likeness:
    """How like the names of tools are to given names."""

    def __init__(self, names: Mapping[str, str], given: Sequence[str]) -> None:
        self._names = names
        self._given = given

    def sorted(self, tools: Sequence[str]) -> list[str]:
        """Return the tools, the most like first; the sort is stable."""
        if not tools or not self._given:
            return list(tools)
        import numpy as np
        from rapidfuzz import fuzz, process

        names = [self._names[tool] for tool in tools]
        table = process.cdist(self._given, names, scorer=fuzz.WRatio, dtype=np.float64)
        order = np.argsort(-table.max(axis=0), kind="stable")
        return [tools[position] for position in order]


def _last_parts(tool: str) -> tuple[str, str]:
    """Return category and name as an id of the form benchmark/category/name has them."""
    owner, _, name = tool.rpartition("/")
    return owner.rpartition("/")[2], name
