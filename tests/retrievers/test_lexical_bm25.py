import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seal.core import Pool, Query, Tool, UnknownNameError, UsageError
from seal.retrievers.build import build_retriever, rank


def pool_of(*descriptions, **options):
    tools = tuple(Tool(f"toy/t/{i:02}", f"t{i:02}", text) for i, text in enumerate(descriptions))
    return Pool(tools, options={"template": lambda tool: tool.description, **options})


def hits(pool, text, k):
    [ranking] = rank(build_retriever("bm25", pool), [Query(text)], k)
    return list(ranking.hits)


def ids(pool, text, k):
    return [tool for tool, _ in hits(pool, text, k)]


def test_the_tool_whose_words_the_query_holds_comes_first(pool, queries):
    rankings = rank(build_retriever("bm25", pool), queries[:2], 2)

    assert rankings[0].hits[0][0] == "toy/Weather/forecast"
    assert {tool for tool, _ in rankings[1].hits} == {"toy/Bank/send_money", "toy/Bank/balance"}


def test_the_score_is_lucenes_formula():
    pool = pool_of("red red apple", "green pear hangs high", "red pear")

    found = dict(hits(pool, "red red pear", 3))

    def part(frequency, length, holding):
        idf = math.log(1 + (3 - holding + 0.5) / (holding + 0.5))
        return idf * frequency / (frequency + 1.5 * (1 - 0.75 + 0.75 * length / 3))

    # The query says "red" twice, which counts twice.
    assert found == {
        "toy/t/00": pytest.approx(2 * part(2, 3, 2), abs=1e-6),
        "toy/t/01": pytest.approx(part(1, 4, 2), abs=1e-6),
        "toy/t/02": pytest.approx(2 * part(1, 2, 2) + part(1, 2, 2), abs=1e-6),
    }


def test_k1_and_b_shape_the_score():
    pool = pool_of("red red red", "red apple", "pear")

    assert ids(replace(pool, options={**pool.options, "k1": 0, "b": 0}), "red", 2) == [
        "toy/t/00",
        "toy/t/01",
    ]
    flat = dict(hits(replace(pool, options={**pool.options, "k1": 0, "b": 0}), "red", 2))
    assert flat["toy/t/00"] == flat["toy/t/01"]


@pytest.mark.parametrize(
    ("option", "value"),
    [("k1", -1), ("k1", "many"), ("k1", math.nan), ("b", 1.5), ("b", True), ("b", -0.1)],
)
def test_a_parameter_out_of_range_is_refused(option, value, with_options):
    with pytest.raises(UsageError, match=f"{option} = .*expected a number (from|of at least) 0"):
        build_retriever("bm25", with_options(**{option: value}))


def test_words_are_stemmed_identifiers_split_and_stop_words_left_out():
    pool = pool_of("getUserNames", "the of and", "running_shoes")

    assert ids(pool, "user name", 1) == ["toy/t/00"]
    assert ids(pool, "run a shoe", 1) == ["toy/t/02"]
    assert hits(pool, "the of and", 3) == []


def test_a_chinese_word_is_found_inside_a_text_without_blanks():
    pool = pool_of("查询城市空气质量指数", "查询城市天气预报信息", "weather")

    assert ids(pool, "我要天气", 1) == ["toy/t/01"]
    assert ids(pool, "空气", 1) == ["toy/t/00"]


@pytest.mark.parametrize("texts", [["", ""], ["the", "of"], ["!?", " "]])
def test_documents_without_any_word_are_not_found(texts):
    assert hits(pool_of(*texts), "anything", 2) == []


@pytest.mark.parametrize("text", ["", "zzz", "!?", " \n", "🎉"])
def test_a_query_without_a_known_word_finds_none(text, pool):
    assert hits(pool, text, 2) == []


def test_equal_documents_are_ranked_by_id_whatever_the_order_of_the_pool():
    pool = pool_of(*["same words"] * 12, "other")

    for tools in (pool.tools, pool.tools[::-1]):
        assert ids(replace(pool, tools=tools), "same words", 3) == [
            "toy/t/00",
            "toy/t/01",
            "toy/t/02",
        ]


@pytest.mark.parametrize("k", [0, -1])
def test_a_cutoff_below_one_is_a_usage_error(k, pool):
    with pytest.raises(UsageError, match="--top-k"):
        build_retriever("bm25", pool).retrieve([Query("x")], k)


def test_an_unknown_option_is_refused(with_options):
    with pytest.raises(UnknownNameError, match="no option -R of bm25 'k2'; known: b, k1"):
        build_retriever("bm25", with_options(k2=1))


WORDS = st.lists(
    st.sampled_from(["red", "greens", "apple", "pears", "getFruit", "the", "天气"]), max_size=5
)
TEXTS = st.lists(WORDS.map(" ".join), min_size=1, max_size=10)


@settings(max_examples=30, deadline=None)
@given(documents=TEXTS, texts=TEXTS, k=st.integers(1, 12), data=st.data())
def test_an_answer_depends_on_its_query_alone_and_begins_every_longer_one(
    documents, texts, k, data
):
    retriever = build_retriever("bm25", pool_of(*documents))
    order = data.draw(st.permutations(texts))

    for ranking in rank(retriever, [Query(text) for text in order], k):
        [longer] = rank(retriever, [Query(ranking.query)], k + 1)
        assert longer.hits[:k] == ranking.hits
        assert len(ranking.hits) <= min(k, len(documents))
        assert all(score > 0 for _, score in ranking.hits)


@settings(max_examples=20, deadline=None)
@given(documents=TEXTS, texts=TEXTS, k1=st.sampled_from([0, 0.9, 1.5]), b=st.sampled_from([0, 0.4]))
def test_the_scores_are_those_of_bm25s(documents, texts, k1, b):
    import bm25s

    retriever = build_retriever("bm25", pool_of(*documents, k1=k1, b=b))
    bags = [retriever._words(text)[1] for text in documents]
    number = {word: place for place, word in enumerate(sorted(set().union(*bags)))}
    if not number:  # it indexes no empty vocabulary
        return
    model = bm25s.BM25(k1=k1, b=b, method="lucene", dtype="float64")
    ids = [[number[word] for word in bag] for bag in bags]
    model.index((ids, dict(number)), create_empty_token=False, show_progress=False)
    for text in texts:
        asked = [number[word] for word in retriever._words(text)[1] if word in number]
        expected = model.get_scores_from_ids(asked) if asked else np.zeros(len(documents))
        assert np.allclose(retriever._scores(text), expected, rtol=0, atol=1e-12)
