"""What else is known of tools: which are wanted together, and to which group each belongs."""

import pytest

from seal.core import DataError, Goal, OptionError, Pool, Query, Task, Tool, write_records
from seal.retrievers.base import RetrieverSpec
from seal.retrievers.build import build_retriever, models_of, rank, reads_gold

TRIP = (
    Tool("toy/air/fly", "fly", "Find a flight."),
    Tool("toy/inn/sleep", "sleep", "Reserve a bed."),
    Tool("toy/zoo/feed", "feed", "Feed the animals."),
)
FLY, SLEEP, FEED = (tool.id for tool in TRIP)


def task(number, *tools, text="x"):
    return Task(f"t{number}", "toy", (Goal(text, relevant=tools),))


def found(what, text, pool, k=2, task_id="", **options):
    retriever = build_retriever(RetrieverSpec(what, options), pool)
    [ranking] = rank(retriever, [Query(text, task_id)], k)
    return [tool for tool, score in ranking.hits if score > 0]


def test_a_tool_is_found_that_gold_wants_with_one_that_was_found():
    pool = Pool(TRIP, tuple(task(n, FLY, SLEEP) for n in range(20)))

    assert found("bm25", "a flight to Rome", pool) == [FLY]
    assert found("co_use", "a flight to Rome", pool, of="bm25") == [FLY, SLEEP]
    assert found("co_use", "feed them", pool, of="bm25") == [FEED]


def test_nothing_is_learnt_of_a_query_from_its_own_gold():
    pool = Pool(TRIP, (task(1, FLY, SLEEP),))

    assert found("co_use", "a flight", pool, of="bm25", task_id="t1") == [FLY]
    assert found("co_use", "a flight", pool, of="bm25", task_id="another", share=1) in (
        [FLY],
        [FLY, SLEEP],  # another part of the tasks
    )


@pytest.mark.parametrize("text", ["a flight", "find  A Flight"])
def test_nothing_is_learnt_from_the_same_request_under_another_id(text, tmp_path):
    own = Task("t", "toy", (Goal("Find a flight", relevant=(FLY, SLEEP)),))
    copies = [task(n, FLY, SLEEP, text="find a flight") for n in range(20)]
    write_records(tmp_path / "tasks.jsonl", copies)
    options = {"of": "bm25", "train": str(tmp_path)}

    assert found("co_use", text, Pool(TRIP, (own,)), task_id="t", **options) == [FLY]
    assert found("co_use", "a flight", Pool(TRIP), **options) == [FLY, SLEEP]


def test_what_is_often_wanted_together_counts_for_more():
    tasks = [
        *(task(n, FLY, SLEEP) for n in range(20)),
        *(task(n, FLY, FEED) for n in range(20, 24)),
    ]

    assert found("co_use", "a flight", Pool(TRIP, tuple(tasks)), 3, of="bm25") == [FLY, SLEEP, FEED]


def test_it_learns_from_the_tasks_of_a_folder(tmp_path):
    write_records(tmp_path / "tasks.jsonl", [task(n, FLY, SLEEP) for n in range(20)])

    assert found("co_use", "a flight", Pool(TRIP), of="bm25", train=str(tmp_path)) == [FLY, SLEEP]
    with pytest.raises(DataError, match=r"no tasks\.jsonl there"):
        found("co_use", "a flight", Pool(TRIP), of="bm25", train=str(tmp_path / "none"))


def test_without_tasks_there_is_nothing_to_learn():
    with pytest.raises(DataError, match="the pool has none: give train=FOLDER"):
        found("co_use", "a flight", Pool(TRIP), of="bm25")


def test_only_what_says_so_is_given_gold():
    assert [name for name in ("tfidf", "co_use", "oracle", "given") if reads_gold(name)] == [
        "co_use",
        "oracle",
        "given",
    ]
    assert reads_gold('rerank,of="rewrite,of=co_use"')
    assert not reads_gold("rerank,of=bm25")


@pytest.mark.parametrize(
    ("what", "options"),
    [
        ("hybrid,parts=bm25+co_use,fusion=rrf", {}),
        ("hybrid", {"parts": "bm25+co_use", "fusion": "rrf", "sentences": True}),
        ("hybrid,parts=bm25+rerank,fusion=rrf", {"2.of": "oracle"}),
        ("rerank", {"of": "co_use"}),
    ],
)
def test_gold_is_read_whoever_asks_for_it(what, options):
    assert reads_gold(what, options)
    pool = Pool(TRIP, tuple(task(n, FLY, SLEEP) for n in range(20)), options=options)
    [ranking] = rank(build_retriever(what, pool), [Query("a flight", "t1")], 1)
    assert ranking.hits[0][0] == FLY


@pytest.mark.parametrize(
    ("what", "options", "models"),
    [
        ("rerank", {"of": "listwise,model=openai/x"}, ["openai/x"]),
        ("hybrid,parts=listwise+bm25,fusion=rrf,model=openai/x", {}, ["openai/x"]),
        ("hybrid,parts=listwise+rewrite,fusion=rrf", {"2.model": "openai/y"}, ["openai/y"]),
        ("listwise,of=expand", {"model": "openai/x"}, ["openai/x"]),
        ("hybrid", {"1.template": "full"}, []),
    ],
)
def test_the_models_that_a_retriever_asks_are_known(what, options, models):
    assert models_of(what, options) == models


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

    whole = found("hierarchy", "merge a branch and find items", Pool(SERVERS), k=9, of=of, groups=1)

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
