"""Retrieval within a number of tokens."""

import pytest

from seal.core import OptionError, Pool, Query, Tool
from seal.retrievers.build import build_retriever, rank
from seal.retrievers.wrappers import schema_tokens

TOOLS = tuple(Tool(f"b/t/{n}", f"tool_{n}", "weather " * n) for n in range(1, 30))
QUERIES = [Query("weather tool"), Query("weather 7")]


def ids(what: str) -> list[list[str]]:
    found = rank(build_retriever(what, Pool(TOOLS)), QUERIES, 20)
    return [[tool for tool, _ in ranking.hits] for ranking in found]


def test_the_first_tools_that_fit_are_the_head_of_the_ranking() -> None:
    cost = {tool.id: schema_tokens(tool) for tool in TOOLS}
    for whole, small in zip(ids("bm25"), ids("bm25,tokens=150"), strict=True):
        assert small == whole[: len(small)]
        assert 0 < sum(cost[tool] for tool in small) <= 150
        assert sum(cost[tool] for tool in whole[: len(small) + 1]) > 150


def test_a_budget_below_every_tool_offers_none() -> None:
    assert ids("tfidf,tokens=1") == [[], []]


@pytest.mark.parametrize("tokens", ["0", "-3", "1.5", "true", "many"])
def test_another_budget_than_a_whole_number_is_refused(tokens: str) -> None:
    with pytest.raises(OptionError, match=r"tokens = .*: expected a whole number of at least 1"):
        ids(f"tfidf,tokens={tokens}")
