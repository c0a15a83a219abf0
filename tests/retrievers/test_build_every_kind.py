"""What holds of every kind of retriever, whatever it is asked."""

import numpy as np
import pytest

from seal.core import Goal, Pool, Query, Task, Tool, UsageError
from seal.retrievers.base import RetrieverSpec, parse_spec
from seal.retrievers.build import build_retriever, rank


class Letters:
    """A real if small embedder: how often each letter stands in a text."""

    identity = "letters"

    def embed(self, texts):
        counts = [[text.lower().count(letter) for letter in "abcdefghijklmnop"] for text in texts]
        return np.array(counts, dtype=np.float32) + 0.01


TOOLS = (
    *(Tool(f"toy/s{n % 3}/a{n}", f"a{n}", f"Rain and wind in the city {n}.") for n in range(9)),
    Tool("toy/twin/one", "one", "Send money."),
    Tool("toy/twin/two", "one", "Send money."),
)
TASKS = tuple(
    Task(f"t{n}", "toy", (Goal("x", relevant=(TOOLS[0].id, TOOLS[n % 9].id)),)) for n in range(9)
)
SPECS = (
    ("bm25", {}),
    ("tfidf", {}),
    ("dense", {"model": Letters()}),
    ("hybrid", {"model": Letters()}),
    ("hybrid,parts=bm25+tfidf,fusion=rrf", {}),
    ("bm25,sentences=true,siblings=0.5", {}),
    ("random", {}),
    ("rerank,of=bm25,depth=3", {}),
    ("rerank,of=bm25", {"model": lambda pairs: [len(tool) for _, tool in pairs]}),
    ('rerank,of="rerank,of=tfidf"', {}),
)


@pytest.fixture(params=SPECS, ids=lambda given: given[0] + "+" * len(given[1]))
def retriever(request):
    text, objects = request.param
    spec = parse_spec(text)
    return build_retriever(
        RetrieverSpec(spec.what, {**spec.options, **objects}), Pool(TOOLS, TASKS)
    )


WORDLESS = ["", " \n\t", "?!", "\u200b", "\x00\ufffd", "🎉", " 🌧️ 👩‍🚀 "]
ODD = [*WORDLESS, "漢字", "rain " * 20_000, "r" * 100_000]
"""Queries without a word, of another script, and of 100 KB."""


def test_any_text_has_a_ranking_of_what_it_matches(retriever):
    rankings = rank(retriever, [Query(text) for text in ODD], 5, {tool.id for tool in TOOLS})

    counts = [len(ranking.hits) for ranking in rankings]
    assert all(count <= 5 for count in counts)
    assert counts[ODD.index("rain " * 20_000)] == 5


FINDING = [given for given in SPECS if given[0] != "random"]
"""Retrievers that look for the query itself."""
INEXACT = ("hybrid,index=HNSW32", {"model": Letters()})


@pytest.mark.parametrize("given", [*FINDING, INEXACT], ids=lambda given: given[0])
def test_a_query_without_a_word_finds_nothing_and_takes_no_other_its_tools(given):
    spec = parse_spec(given[0])
    built = build_retriever(RetrieverSpec(spec.what, {**spec.options, **given[1]}), Pool(TOOLS))
    queries = ["rain in the city 3", *WORDLESS, "send money"]

    first, *none, last = rank(built, list(map(Query, queries)), 3)

    assert [ranking.hits for ranking in none] == [()] * len(WORDLESS)
    assert [first, last] == rank(built, [Query(queries[0]), Query(queries[-1])], 3)
    assert first.hits
    assert last.hits


ODD_POOLS = {
    "no texts": tuple(Tool(f"toy/{n}", "") for n in range(10)),
    "equal texts": tuple(Tool(f"toy/{n}", "rain", "Rain and wind.") for n in range(10)),
    "one endless word": tuple(Tool(f"toy/{n}", "rain", "r" * 300_000) for n in range(10)),
}


@pytest.mark.parametrize("tools", ODD_POOLS.values(), ids=ODD_POOLS.keys())
@pytest.mark.parametrize("given", SPECS[:6], ids=lambda given: given[0])
def test_of_equal_tools_those_of_the_first_ids_are_named_or_none(given, tools):
    spec = parse_spec(given[0])
    asked = RetrieverSpec(spec.what, {**spec.options, **given[1], "template": "name_description"})

    for ranking in rank(
        build_retriever(asked, Pool(tools)), [Query("rain"), Query(" "), Query("🎉")], 99
    ):
        found = [tool for tool, _ in ranking.hits]
        assert found in ([], sorted(tool.id for tool in tools))


@pytest.mark.parametrize("k", [11, 12, 1_000])
def test_beyond_the_pool_there_is_nothing(k, retriever):
    [ranking] = rank(retriever, [Query("rain in the city; send money")], k)

    assert len({tool for tool, _ in ranking.hits}) == len(ranking.hits) == len(TOOLS)


@pytest.mark.parametrize("k", [0, -1])
def test_a_cut_off_below_1_is_refused(k, retriever):
    with pytest.raises(UsageError, match="at least 1"):
        retriever.retrieve([Query("rain")], k)


def test_a_shorter_answer_is_the_head_of_a_longer_one(retriever):
    queries = [Query("Rain in the city 3. Send money to Ann."), Query("wind")]

    long, short = rank(retriever, queries, 9), rank(retriever, queries, 4)

    assert [row.hits for row in short] == [row.hits[:4] for row in long]


def test_of_two_tools_with_one_text_the_first_id_stands_first(retriever):
    [ranking] = rank(retriever, [Query("send money")], len(TOOLS))
    found = [tool for tool, _ in ranking.hits if tool.startswith("toy/twin")]

    assert found == ["toy/twin/one", "toy/twin/two"] or retriever.identity == "random"


def test_no_query_has_no_ranking(retriever):
    assert rank(retriever, [], 3) == []


def test_the_order_of_queries_does_not_matter(retriever):
    queries = [Query("rain in the city 2"), Query("send money"), Query("wind")]

    back = rank(retriever, queries[::-1], 5)[::-1]

    assert [row.hits for row in back] == [row.hits for row in rank(retriever, queries, 5)]
