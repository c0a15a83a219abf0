import pytest
from hypothesis import given
from hypothesis import strategies as st

from seal.core import DataError, Query, UnknownNameError, UsageError
from seal.retrievers.build import build_retriever, rank
from seal.retrievers.hybrid import RankFusion, fused


def test_the_sum_of_reciprocal_places_orders_the_tools():
    # Worked by hand: b 1/62 + 1/61, a 1/61 + 1/63, c 1/62.
    rankings = [[("a", 9.0), ("b", 8.0)], [("b", 0.3), ("c", 0.2), ("a", 0.1)]]

    assert fused(rankings) == [
        ("b", round(1 / 62 + 1 / 61, 6)),
        ("a", round(1 / 61 + 1 / 63, 6)),
        ("c", round(1 / 62, 6)),
    ]


@given(
    st.lists(st.permutations(["a", "b", "c", "d"]).map(lambda ids: [(i, 0.0) for i in ids])),
    st.randoms(use_true_random=False),
)
def test_the_order_of_the_rankings_is_nothing_to_their_fusion(rankings, random):
    shuffled = list(rankings)
    random.shuffle(shuffled)

    assert fused(shuffled) == fused(rankings)


def test_any_retrievers_are_fused_by_rank(pool, queries):
    queries = queries[:2]
    parts = [rank(build_retriever(name, pool), queries, 5) for name in ("tfidf", "bm25", "oracle")]
    retriever = build_retriever("hybrid,fusion=rrf,parts=tfidf+bm25+oracle", pool)

    for row, ranking in enumerate(rank(retriever, queries, 2)):
        counting = [[hit for hit in part[row].hits if hit[1] > 0] for part in parts[:2]]
        assert list(ranking.hits) == fused([*counting, parts[2][row].hits])[:2]
    assert retriever.identity == (
        "rrf@100(tfidf/tool_api_description + bm25/k1=1.5/b=0.75/tool_api_description + oracle)"
    )


class Fixed:
    """Gives the same hits to every query."""

    def __init__(self, *hits, lexical=False):
        self.hits = list(hits)
        self.lexical = lexical

    def retrieve(self, queries, k):
        return [self.hits[:k] for _ in queries]


def test_places_beyond_the_depth_count_nothing_however_many_tools_are_asked_for():
    left, right = Fixed(("b", 3.0), ("a", 2.0), ("d", 1.0)), Fixed(("b", 9.0), ("d", 8.0))
    retriever = RankFusion([left, right], 2)

    [longest] = retriever.retrieve([Query("x")], 99)

    worth = round(1 / 62, 6)
    assert longest == [("b", round(2 / 61, 6)), ("a", worth), ("d", worth)]
    for k in range(1, 4):
        assert retriever.retrieve([Query("x")], k) == [longest[:k]]


def test_a_rank_without_a_shared_word_counts_nothing():
    hits = [("a", 1.0), ("b", 0.0)]

    [lexical] = RankFusion([Fixed(*hits, lexical=True)] * 2, 9).retrieve([Query("x")], 2)
    [other] = RankFusion([Fixed(*hits)] * 2, 9).retrieve([Query("x")], 2)

    assert lexical == [("a", round(2 / 61, 6))]
    assert other == [("a", round(2 / 61, 6)), ("b", round(2 / 62, 6))]


@pytest.mark.parametrize("parts", ["tfidf+bm25", "tfidf+bm25,sentences=true"])
def test_a_query_that_shares_no_word_with_any_tool_finds_none(parts, pool):
    retriever = build_retriever(f"hybrid,fusion=rrf,parts={parts}", pool)

    [ranking] = rank(retriever, [Query("Zzz. Qqq.")], 9)

    assert ranking.hits == ()


@pytest.mark.parametrize("depth", [1, 2, 100])
def test_a_shorter_answer_is_the_head_of_a_longer_one(depth, pool, queries):
    retriever = build_retriever(f"hybrid,fusion=rrf,parts=tfidf+random,depth={depth}", pool)

    whole = rank(retriever, queries, 99)

    for k in range(1, 6):
        found = rank(retriever, queries, k)
        assert [one.hits for one in found] == [one.hits[:k] for one in whole]
    assert depth < 5 or [len(one.hits) for one in whole] == [5, 5, 5]


def test_parts_take_the_options_that_they_know(pool, queries, with_options):
    retriever = build_retriever(
        "hybrid,fusion=rrf,parts=tfidf+bm25,k1=2,template=name,2.template=full,1.sentences=true",
        pool,
    )

    assert retriever.identity == "rrf@100(tfidf/name/sentences/levels=0.4 + bm25/k1=2/b=0.75/full)"


def test_parts_may_be_classes(pool, queries, with_options):
    class Nothing:
        identity = "nothing"

        def __init__(self, pool):
            pass

        def retrieve(self, queries, k):
            return [[] for _ in queries]

    retriever = build_retriever("hybrid", with_options(parts=["tfidf", Nothing], fusion="rrf"))

    [alone] = rank(build_retriever("tfidf", pool), queries[:1], 3)
    [found] = rank(retriever, queries[:1], 3)
    assert [tool for tool, _ in found.hits] == [tool for tool, _ in alone.hits]


def test_a_part_that_answers_too_little_is_told(with_options, queries):
    class Silent:
        def retrieve(self, queries, k):
            return []

    retriever = build_retriever("hybrid", with_options(parts=["tfidf", Silent()], fusion="rrf"))

    with pytest.raises(DataError, match="Silent: 0 rows for 3 queries"):
        retriever.retrieve(queries, 3)


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("hybrid,fusion=rrf,parts=tfidf", UsageError, "expected two or more retrievers"),
        ("hybrid,fusion=rrf,parts=tfidf+", UsageError, "expected two or more retrievers"),
        ("hybrid,fusion=rrf,parts=tfidf+bm52", UnknownNameError, "Did you mean 'bm25'"),
        ("hybrid,fusion=sum", UnknownNameError, "no fusion 'sum'; known: cosine, rrf"),
        ("hybrid,fusion=rrf,parts=tfidf+bm25,depth=0", UsageError, "depth = 0: expected a whole"),
        ("hybrid,fusion=rrf,parts=tfidf+bm25,weight=0.5", UsageError, "option of fusion=cosine"),
        ("hybrid,fusion=rrf,parts=tfidf+bm25,index=HNSW32", UnknownNameError, "hybrid 'index'"),
        ("hybrid,fusion=rrf,parts=tfidf+bm25,foo=1", UnknownNameError, "option -R of hybrid 'foo'"),
        ("hybrid,fusion=rrf,parts=tfidf+bm25,1.k1=1", UnknownNameError, "option -R of tfidf 'k1'"),
        ("hybrid,fusion=rrf,parts=tfidf+bm25,3.k1=1", UsageError, "has the parts 1 to 2"),
    ],
)
def test_what_cannot_be_joined_is_refused(spec, error, message, pool):
    with pytest.raises(error, match=message):
        build_retriever(spec, pool)


def test_a_cutoff_below_one_is_a_usage_error(pool):
    with pytest.raises(UsageError, match="--top-k"):
        build_retriever("hybrid,fusion=rrf,parts=tfidf+bm25", pool).retrieve([Query("x")], 0)
