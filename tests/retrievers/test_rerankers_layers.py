"""Layers of retrievers: who reads gold, and groups of tools first."""

import pytest

from seal.core import DataError, Goal, OptionError, Pool, Query, Task, Tool
from seal.retrievers.base import RetrieverSpec
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


def found(what, text, pool, k=2, task_id="", **options):
    retriever = build_retriever(RetrieverSpec(what, options), pool)
    [ranking] = rank(retriever, [Query(text, task_id)], k)
    return [tool for tool, score in ranking.hits if score > 0]


SERVERS = (
    Tool("toy/alpha/search", "search_a", "Find items."),
    Tool("toy/alpha/inbox", "inbox", "Read the mails of an inbox."),
    Tool("toy/beta/search", "search_b", "Find items.", category="Code"),
    Tool("toy/beta/merge", "merge", "Merge the branch of a repository.", category="Code"),
)


@pytest.mark.parametrize("by", ["server", "category"])
def test_the_server_decides_between_tools_of_one_text(by):
    of = "bm25,template=name_description"
    text = "find items in my repository"

    assert found("bm25", text, Pool(SERVERS), k=1, template="name_description") != [SERVERS[2].id]
    first = found("hierarchy", text, Pool(SERVERS), k=2, of=of, by=by, groups=1)
    assert set(first) == {"toy/beta/search", "toy/beta/merge"}


def test_tools_of_other_groups_follow_in_their_order():
    of = "bm25,template=name_description"

    text = "merge a branch, find items, read mails"
    whole = found("hierarchy", text, Pool(SERVERS), k=9, of=of, groups=1)

    assert sorted(whole) == sorted(tool.id for tool in SERVERS)
    assert whole[0].startswith("toy/beta/")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"by": "size"}, OptionError, "by=size: expected one of category, server"),
        ({"groups": 0}, OptionError, "groups = 0"),
        ({"by": "category"}, DataError, "no tool of the pool has a category"),
    ],
)
def test_groups_that_cannot_be_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        found("hierarchy", "x", Pool(TRIP), of="bm25", **options)
