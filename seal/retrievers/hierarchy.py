"""Hierarchical retrieval: first the group, such as a category or an MCP server, then the tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from seal.core import DataError, OptionError, Pool, Query, Tool
from seal.core.specs import label_of
from seal.retrievers import inner_retriever
from seal.retrievers.contract import Hits, by_place, by_score, check_k, whole_option
from seal.retrievers.documents import DESCRIPTION_LIMIT, names

BY: Mapping[str, Callable[[Tool], str]] = {
    "category": lambda tool: tool.category,
    "server": lambda tool: names(tool).tool,
}
"""What tools are grouped by: their category, or the service, class or MCP server that has them."""


class Hierarchy:
    """Retrieves the tools of the groups that suit a query best, then the others.

    A group's document is its name and the names and descriptions of its tools, each cut so that all
    have a place. A tool of no group is one of its own. Within the first groups, and behind them,
    tools stand as the retriever ranks them; scores count down and hold the order alone. Source: Du
    et al. (2024), AnyTool, section 3.1 (category, tool, API); Fei et al. (2025), MCP-Zero (server,
    then tool).

    Args:
        pool: Options: `of`, the retriever of groups and of tools (default the general one); `by`,
            server (the default) or category; `groups`, how many come first (default 5).

    Raises:
        DataError: No tool has a group.
        OptionError: An option is out of range.
    """

    OPTIONS: ClassVar[frozenset[str]] = frozenset({"of", "by", "groups"})
    reads_text: ClassVar[bool] = False
    measures: ClassVar[bool] = False

    def __init__(self, pool: Pool) -> None:
        by = pool.options.get("by") or "server"
        if by not in BY:
            raise OptionError(f"by={by}: expected one of {', '.join(sorted(BY))}")
        self._count = whole_option(pool.options, "groups", 5, 1)
        members: dict[str, list[Tool]] = {}
        for tool in pool.tools:
            members.setdefault(BY[by](tool) or tool.id, []).append(tool)
        if not any(map(BY[by], pool.tools)):
            raise DataError(
                f"no tool of the pool has a {by}; take --retriever hybrid, or another by"
            )
        self._group = {tool.id: group for group, tools in members.items() for tool in tools}
        self._tools = inner_retriever(pool)
        groups = tuple(_document(group, tools) for group, tools in members.items())
        self._groups = inner_retriever(replace(pool, tools=groups))
        self.identity = f"{label_of(self._tools)}/{by}@{self._count}"

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query the k tools that stand first.

        Raises:
            UsageError: k is less than 1.
            ModelError: A model or its server failed.
        """
        check_k(k)
        groups = self._groups.retrieve(queries, self._count)
        tools = self._tools.retrieve(queries, len(self._group))
        return [self._ranked(*pair)[:k] for pair in zip(groups, tools, strict=True)]

    def _ranked(self, groups: Hits, tools: Hits) -> Hits:
        first = {group for group, _ in by_score(groups)[: self._count]}
        ranked = [tool for tool, _ in by_score(tools)]
        ranked.sort(key=lambda tool: self._group[tool] not in first)  # stable
        return by_place(ranked, len(self._group))


def _document(group: str, tools: Sequence[Tool]) -> Tool:
    """Return a group as a tool, whose description tells of its members."""
    share = max(20, DESCRIPTION_LIMIT // len(tools))
    told = (f"{names(tool).api}: {tool.description}"[:share] for tool in tools)
    return Tool(group, group, " ".join(told), source={"tool": group, "api": group})
