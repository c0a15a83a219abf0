"""Rankings of another system: what a run file may call a query and a tool, and what is refused."""

import logging
from dataclasses import replace

import pytest
import pytrec_eval

from seal.core import DataError, Goal, OptionError, Pool, Query, SealError, Task, Tool, UsageError
from seal.retrievers.base import RetrieverSpec
from seal.retrievers.build import build_retriever, rank

TOOLS = (
    Tool("toy/a b/one", "one"),
    Tool("toy/c/two", "two", source={"id": "doc 2"}),
    Tool("toy/c/three", "three", source={"id": "doc3"}),
)
TASKS = (Task("t 1", "toy", (Goal("x"), Goal("y"))), Task("q2", "toy", (Goal("z"),)))
POOL = Pool(TOOLS, TASKS)


def ranked(path, lines, queries=(("t 1", 0), ("q2", 0)), k=5):
    path.write_text("\n".join(lines), encoding="utf-8")
    retriever = build_retriever(RetrieverSpec("trec", {"file": str(path)}), POOL)
    rows = rank(retriever, [Query("?", *query) for query in queries], k, {t.id for t in TOOLS})
    return [[tool for tool, _ in row.hits] for row in rows]


RUN = [
    "t%201:0 Q0 toy/a%20b/one 1 0.5 theirs",
    "t%201:0 Q0 doc3 2 2e1 theirs",
    "q2\tQ0\tdoc%202\t1\t-1\ttheirs",
]


def test_a_query_is_a_goal_or_a_task_and_a_tool_is_called_by_its_id_or_its_documents(tmp_path):
    assert ranked(tmp_path / "run", RUN) == [["toy/c/three", "toy/a b/one"], ["toy/c/two"]]
    assert ranked(tmp_path / "run", RUN, k=1) == [["toy/c/three"], ["toy/c/two"]]


def test_equal_scores_stand_as_trec_eval_has_them_whatever_the_ranks_say(tmp_path):
    lines = [f"q2 Q0 {name} {n} 1 x" for n, name in enumerate(["doc3", "toy/c/two"])]

    assert ranked(tmp_path / "run", lines, [("q2", 0)]) == [["toy/c/two", "toy/c/three"]]


def test_a_byte_order_mark_is_no_part_of_a_query(tmp_path):
    assert ranked(tmp_path / "run", ["\ufeff" + RUN[2]], [("q2", 0)]) == [["toy/c/two"]]


def test_queries_that_the_pool_lacks_are_told_with_their_number(tmp_path, caplog):
    lines = [*RUN, *(f"other{n} Q0 doc3 1 1 x" for n in range(3))]

    with caplog.at_level(logging.WARNING):
        ranked(tmp_path / "run", lines)

    assert "ranks 3 of 5 queries that the pool lacks, such as other0: unread" in caplog.text


@pytest.mark.parametrize("scores", [(1, 1 + 1e-9), (1e39, 1e38 * 9), (16777216, 16777217)])
def test_scores_that_float32_holds_for_one_are_equal_as_trec_eval_has_them(tmp_path, scores):
    names = ["toy/c/three", "toy/c/two"]
    lines = [f"q2 Q0 {name} 1 {score} x" for name, score in zip(names, scores, strict=True)]
    run = {"q2": dict(zip(names, map(float, scores), strict=True))}
    judge = pytrec_eval.RelevanceEvaluator({"q2": {"toy/c/two": 1}}, {"recip_rank"})

    [found] = ranked(tmp_path / "run", lines, [("q2", 0)])

    place = 1 / (found.index("toy/c/two") + 1)
    assert judge.evaluate(run)["q2"]["recip_rank"] == place


def test_a_query_that_is_not_ranked_finds_nothing_and_is_told(tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        assert ranked(tmp_path / "run", RUN, [("t 1", 1)]) == [[]]

    assert "nothing for 1 of 3 queries, such as t%201:1" in caplog.text


def test_a_document_id_that_two_tools_had_names_neither(tmp_path):
    twins = tuple(replace(tool, source={"id": "doc3"}) for tool in TOOLS)
    (tmp_path / "run").write_text("\n".join(RUN[:2]))

    with pytest.raises(DataError, match="'doc3', which is no tool of the pool"):
        build_retriever(f"trec,file={tmp_path / 'run'}", Pool(twins, TASKS))


@pytest.mark.parametrize(
    ("lines", "error", "told"),
    [
        ([], DataError, "holds no ranking"),
        (["q2 Q0 doc3 1 theirs"], DataError, "line 1: expected query, .* got 5 fields"),
        (["", "q2 Q0 doc3 1 high x"], DataError, "line 2: the score 'high' is no finite number"),
        (["q2 Q0 doc3 1 nan x"], DataError, "the score 'nan' is no finite number"),
        (["q2 Q0 doc3 1 2 x"] * 2, DataError, "line 2: .*'doc3' stands twice for the query 'q2'"),
        (["q2 Q0 gone 1 2 x"], DataError, "'gone', which is no tool of the pool .* whole pool"),
        (["q9 Q0 doc3 1 2 x"], DataError, "the query 'q9' and others, but none of the pool"),
        (["q2 Q0 doc3 1 2 x", "\udcff"], DataError, "not UTF-8"),
    ],
)
def test_what_is_no_run_of_this_pool_is_refused_with_its_place(tmp_path, lines, error, told):
    path = tmp_path / "run"
    path.write_bytes("\n".join(lines).encode(errors="surrogateescape"))

    with pytest.raises(error, match=told):
        build_retriever(f"trec,file={path}", POOL)


@pytest.mark.parametrize(
    ("spec", "error", "told"),
    [
        ("trec", OptionError, "trec,file=PATH"),
        ("trec,file=/nowhere/run", UsageError, "/nowhere/run cannot be read: No such file"),
        ("trec,file=/", UsageError, "cannot be read"),
    ],
)
def test_a_run_that_is_not_there_is_told(spec, error, told):
    with pytest.raises(error, match=told) as refused:
        build_retriever(spec, POOL)
    assert isinstance(refused.value, SealError)
