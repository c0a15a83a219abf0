"""An API counts for more where its tool has another that suits the query."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seal.core import OptionError, Pool, Query, Tool, UnknownNameError, UsageError
from seal.retrievers.build import build_retriever, rank
from seal.retrievers.wrappers import DEPTH, SiblingWise

QUERY = [Query("x")]


def tools(*ids):
    return Pool([Tool(f"toy/{name}", name, "") for name in ids])


class Fixed:
    """Gives the scores that it was told, best first."""

    identity = "fixed"

    def __init__(self, **scores):
        self.hits = sorted(
            ((f"toy/{name.replace('_', '/')}", score) for name, score in scores.items()),
            key=lambda hit: (-hit[1], hit[0]),
        )

    def retrieve(self, queries, k):
        return [self.hits[:k] for _ in queries]


def test_each_api_gets_a_share_of_the_best_of_its_tool():
    inner = Fixed(a_1=0.8, b_1=0.5, a_2=0.3, c_1=0.2)
    retriever = SiblingWise(inner, tools("a/1", "a/2", "b/1", "c/1"), 0.5)

    [row] = retriever.retrieve(QUERY, 4)

    assert row == [("toy/a/1", 1.2), ("toy/b/1", 0.75), ("toy/a/2", 0.7), ("toy/c/1", 0.3)]
    assert retriever.identity == "fixed/siblings=0.5"


def test_a_sibling_is_found_that_shares_no_word_with_the_query():
    described = {"Weather/rain": "Rain in a city.", "Weather/key": "", "Bank/send": "Send money."}
    pool = Pool([Tool(f"toy/{name}", "x", text) for name, text in described.items()])

    def found(what):
        [ranking] = rank(build_retriever(what, pool), [Query("rain in the city")], 3)
        return [tool for tool, score in ranking.hits if score > 0]

    assert found("tfidf,template=name_description") == ["toy/Weather/rain"]
    assert found("tfidf,template=name_description,siblings=0.5") == [
        "toy/Weather/rain",
        "toy/Weather/key",
    ]


def test_no_score_becomes_less_and_alone_a_tool_keeps_its_place():
    inner = Fixed(a=0.8, b=-0.5, c_1=-0.6, c_2=-0.7)

    [row] = SiblingWise(inner, tools("a", "b", "c/1", "c/2"), 2).retrieve(QUERY, 4)

    assert row == [("toy/a", 2.4), ("toy/b", -0.5), ("toy/c/1", -0.6), ("toy/c/2", -0.7)]


@given(st.integers(1, DEPTH + 60), st.integers(1, DEPTH + 60))
def test_a_shorter_answer_is_the_head_of_a_longer_one(short, long):
    short, long = sorted((short, long))
    inner = Fixed(**{f"t{i % 7}_{i}": 1 - i / 400 for i in range(DEPTH + 50)})
    ids = [tool.removeprefix("toy/") for tool, _ in inner.hits]
    retriever = SiblingWise(inner, tools(*ids), 0.5)

    [head], [whole] = (retriever.retrieve(QUERY, k) for k in (short, long))

    assert head == whole[:short]
    assert [score for _, score in whole] == sorted((s for _, s in whole), reverse=True)


@pytest.mark.parametrize("value", ["-1", "true", "many"])
def test_a_share_that_is_none_is_refused(value, pool):
    with pytest.raises(OptionError, match=r"siblings = .*: expected a number of at least 0"):
        build_retriever(f"tfidf,siblings={value}", pool)


def test_what_reads_no_text_refuses_it_and_a_cutoff_below_one_is_refused(pool):
    with pytest.raises(UnknownNameError, match="no option -R of oracle 'siblings'"):
        build_retriever("oracle,siblings=1", pool)
    with pytest.raises(UsageError, match="--top-k"):
        build_retriever("tfidf,siblings=1", pool).retrieve(QUERY, 0)
