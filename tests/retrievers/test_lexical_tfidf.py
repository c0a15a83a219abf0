import json
import threading
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seal.core import Pool, Query, Tool
from seal.retrievers import postings as module
from seal.retrievers.build import build_retriever, rank
from seal.retrievers.lexical import Tfidf


def pool_of(*descriptions, **options):
    tools = tuple(Tool(f"toy/t/{i:02}", f"t{i:02}", text) for i, text in enumerate(descriptions))
    return Pool(tools, options={"template": lambda tool: tool.description, **options})


def ids(pool, text, k):
    [ranking] = rank(build_retriever("tfidf", pool), [Query(text)], k)
    return [tool for tool, _ in ranking.hits]


def test_the_tool_whose_words_the_query_holds_comes_first(pool, queries):
    rankings = rank(build_retriever("tfidf", pool), queries[:2], 2)

    assert rankings[0].hits[0][0] == "toy/Weather/forecast"
    assert {tool for tool, _ in rankings[1].hits} == {"toy/Bank/send_money", "toy/Bank/balance"}


def test_a_query_equal_to_a_document_scores_one_and_a_foreign_one_finds_none():
    pool = pool_of("red apples fall", "green pears hang")

    [same, foreign] = rank(
        build_retriever("tfidf", pool), [Query("red apples fall"), Query("zzz")], 2
    )

    assert same.hits == (("toy/t/00", 1.0),)
    assert foreign.hits == ()


def test_the_score_is_the_mean_of_the_two_cosines():
    # One word each, so one direction in the space of words; pieces: " ab", "ab ", " ab " of both.
    pool = pool_of("ab", "cd")

    [ranking] = rank(build_retriever("tfidf", pool), [Query("ab cd")], 1)

    # Query: both words alike, cosine 1/sqrt(2) in either space.
    assert ranking.hits[0] == ("toy/t/00", round(2**-0.5, 6))


def test_a_text_without_words_has_the_length_of_its_pieces():
    space = Tfidf.space(pool_of("rain in town", "the of and", ""))

    for rows in (space.documents(), space.queries(["rain", "the of", "zzz"])):
        assert np.linalg.norm(rows.toarray(), axis=1) == pytest.approx([1, 2**-0.5, 0])


def test_identifiers_are_split_and_stop_words_left_out():
    pool = pool_of("getUserName", "the of and")

    assert ids(pool, "user name", 1) == ["toy/t/00"]


@pytest.mark.parametrize("query", ["天气", "air.quality", "Ünïcode wörds", "with blank"])
def test_names_of_any_script_are_found(query):
    names = ["天气 预报", "air.quality.index", "ünïcode wörds", "name with blank"]
    tools = tuple(Tool(f"toy/t/{name}", name) for name in names)

    [ranking] = rank(build_retriever("tfidf", Pool(tools)), [Query(query)], 1)

    assert query.lower().split()[0][:2] in ranking.hits[0][0].lower()


def test_a_chinese_word_is_found_inside_a_text_without_blanks():
    pool = pool_of("查询城市空气质量指数", "查询城市天气预报信息", "weather")

    assert ids(pool, "我要天气", 1) == ["toy/t/01"]
    assert ids(pool, "空气", 1) == ["toy/t/00"]


@pytest.mark.parametrize("texts", [["", ""], ["the", "of"], ["!?", " "]])
def test_documents_without_any_term_are_not_found(texts):
    assert ids(pool_of(*texts), "anything", 2) == []


@pytest.mark.parametrize("text", ["", " \n", "🎉"])
def test_a_query_without_words_finds_none(text, pool):
    [ranking] = rank(build_retriever("tfidf", pool), [Query(text)], 2)

    assert ranking.hits == ()


def test_equal_documents_are_ranked_by_id_whatever_the_order_of_the_pool():
    pool = pool_of(*["same words"] * 12, "other")

    for tools in (pool.tools, pool.tools[::-1]):
        found = ids(replace(pool, tools=tools), "same words", 3)
        assert found == ["toy/t/00", "toy/t/01", "toy/t/02"]


def test_a_description_of_100_kb_is_handled():
    pool = Pool((Tool("toy/t/a", "a", "weather " * 13_000), Tool("toy/t/b", "b", "bank")))

    [ranking] = rank(build_retriever("tfidf", pool), [Query("bank")], 1)

    assert ranking.hits[0][0] == "toy/t/b"


def test_the_template_is_part_of_the_identity(pool):
    named = replace(pool, options={"template": "name"})

    assert build_retriever("tfidf", named).identity != build_retriever("tfidf", pool).identity


def test_threads_share_one_retriever(pool, queries):
    retriever = build_retriever("tfidf", pool)
    expected = rank(retriever, queries, 3)
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(rank(retriever, queries, 3))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [expected] * 8


WORDS = st.lists(
    st.sampled_from(["red", "green", "apple", "pear", "getFruit", "eat_now", "天气"]), max_size=5
)
TEXTS = st.lists(WORDS.map(" ".join), min_size=1, max_size=12)


@settings(max_examples=40, deadline=None)
@given(documents=TEXTS, texts=TEXTS, entries=st.integers(1, 50), data=st.data())
def test_no_answer_depends_on_the_other_queries_or_on_what_is_held_at_once(
    documents, texts, entries, data
):
    retriever = build_retriever("tfidf", pool_of(*documents))
    alone = [rank(retriever, [Query(text)], 3)[0] for text in texts]
    order = data.draw(st.permutations(range(len(texts))))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_ENTRIES", entries)
        same = build_retriever("tfidf", pool_of(*documents))
        together = rank(same, [Query(texts[i]) for i in order], 3)

    assert together == [alone[i] for i in order]


@settings(max_examples=40, deadline=None)
@given(documents=TEXTS, query=WORDS.map(" ".join), k=st.integers(1, 12))
def test_a_shorter_answer_is_the_head_of_a_longer_one(documents, query, k):
    retriever = build_retriever("tfidf", pool_of(*documents))
    [[*short], [*long]] = (rank(retriever, [Query(query)], n)[0].hits for n in (k, k + 1))

    assert short == long[:k]
    assert len({tool for tool, _ in long}) == len(long) <= min(k + 1, len(documents))
    scores = [score for _, score in long]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


@pytest.mark.slow
def test_stabletoolbench_reaches_its_numbers(seal_data):
    folder = seal_data / "stabletoolbench" / "solvable_queries" / "test_instruction"
    if not folder.is_dir():
        pytest.skip(f"no StableToolBench queries at {folder}")
    tools, queries, gold = {}, [], []
    for path in sorted(folder.glob("*.json")):
        for record in json.loads(path.read_text("utf-8")):
            for api in record["api_list"]:
                names = {"tool": api["tool_name"], "api": api["api_name"]}
                tool_id = f"toolbench/{api['tool_name']}/{api['api_name']}"
                tool = Tool(tool_id, api["api_name"], api["api_description"], source=names)
                tools.setdefault(tool_id, tool)
            queries.append(Query(str(record["query"]), f"{path.stem}/{record['query_id']}"))
            gold.append({f"toolbench/{tool}/{api}" for tool, api in record["relevant APIs"]})

    rankings = rank(build_retriever("tfidf", Pool(tuple(tools.values()))), queries, 10)

    assert len(rankings) == 762
    recalls, reciprocals = [], []
    for relevant, ranking in zip(gold, rankings, strict=True):
        places = [i for i, (tool, _) in enumerate(ranking.hits, 1) if tool in relevant]
        recalls.append(len(places) / len(relevant))
        reciprocals.append(1 / places[0] if places else 0.0)
    assert sum(recalls) / 762 >= 0.81
    assert sum(reciprocals) / 762 >= 0.79
