"""Retrieval within a number of tokens: what a model's context has room for."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, takewhile

from seal.core import Query, Retriever, Tool
from seal.core.plain import json_text
from seal.core.text import count_by_bytes
from seal.retrievers.contract import Around, Hits, by_score, check_k


def schema_tokens(tool: Tool) -> int:
    """Return about how many tokens a tool takes as a model is offered it.

    That is a quarter of the bytes of its JSON schema, the same on every machine.
    """
    return count_by_bytes(
        json_text(
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            }
        )
    )


class TokenBudget(Around):
    """Retrieves the first tools whose schemas together take at most so many tokens.

    It stops at the first tool that does not fit. So the answer of a smaller budget is the head of a
    larger one's, and may be empty.

    Args:
        retriever: What answers the queries.
        tools: Of the pool.
        tokens: At least 1.
    """

    def __init__(self, retriever: Retriever, tools: Sequence[Tool], tokens: int) -> None:
        super().__init__(retriever, f"tokens={tokens}")
        self._cost = {tool.id: schema_tokens(tool) for tool in tools}
        self._tokens = tokens

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query at most k tools.

        Raises:
            UsageError: k is less than 1.
        """
        check_k(k)
        return [self._fitting(by_score(row)) for row in self._retriever.retrieve(queries, k)]

    def _fitting(self, row: Hits) -> Hits:
        filled = accumulate(self._cost.get(tool, 0) for tool, _ in row)
        return row[: sum(1 for _ in takewhile(lambda total: total <= self._tokens, filled))]
