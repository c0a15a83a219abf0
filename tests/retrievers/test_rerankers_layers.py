"""Layers of retrievers: who reads gold."""

import pytest

from seal.core import Goal, Pool, Query, Task, Tool
from seal.retrievers.build import build_retriever, rank, reads_gold

TRIP = (
    Tool("toy/air/fly", "fly", "Find a flight."),
    Tool("toy/inn/sleep", "sleep", "Reserve a bed."),
    Tool("toy/zoo/feed", "feed", "Feed the animals."),
)
FLY, SLEEP, FEED = (tool.id for tool in TRIP)


def task(number, *tools, text="x"):
    return Task(f"t{number}", "toy", (Goal(text, relevant=tools),))


def test_only_what_says_so_is_given_gold():
    assert [name for name in ("tfidf", "oracle", "given") if reads_gold(name)] == [
        "oracle",
        "given",
    ]
    assert reads_gold('rerank,of="rerank,of=oracle"')
    assert not reads_gold("rerank,of=bm25")


@pytest.mark.parametrize(
    ("what", "options"),
    [
        ("hybrid,parts=bm25+oracle,fusion=rrf", {}),
        ("hybrid", {"parts": "bm25+oracle", "fusion": "rrf"}),
        ("hybrid,parts=bm25+rerank,fusion=rrf", {"2.of": "oracle"}),
        ("rerank", {"of": "oracle"}),
    ],
)
def test_gold_is_read_whoever_asks_for_it(what, options):
    assert reads_gold(what, options)
    pool = Pool(TRIP, tuple(task(n, FLY, SLEEP) for n in range(20)), options=options)
    [ranking] = rank(build_retriever(what, pool), [Query("a flight", "t1")], 1)
    assert ranking.hits[0][0] == FLY
