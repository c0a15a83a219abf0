import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seal.core import DataError, Pool, Query, Tool, UnknownNameError, UsageError
from seal.core.text import sentences
from seal.retrievers import build_retriever, rank


@pytest.mark.parametrize("what", ["tfidf", "random", "hybrid,parts=tfidf+bm25"])
def test_any_retriever_of_comparable_scores_asks_the_query_and_its_sentences(what, pool):
    text = "Will it rain in Oslo? Play a station. Balance of my account!"
    plain = build_retriever(what, pool)
    retriever = build_retriever(f"{what},sentences=true", pool)

    [found] = rank(retriever, [Query(text, "t1")], 5)

    each = rank(plain, [Query(part, "t1") for part in [text, *sentences(text)]], 5)
    assert len(each) == 4
    assert dict(found.hits) == {
        tool.id: max(dict(ranking.hits)[tool.id] for ranking in each) for tool in pool.tools
    }
    assert retriever.identity == f"{plain.identity}/sentences"


def test_scores_that_grow_with_the_text_are_those_of_the_sentences_alone(pool):
    text = "Balance of my account! Will it rain in the city? Forecast of wind and rain."
    plain, wise = (build_retriever(what, pool) for what in ("bm25", "bm25,sentences=true"))

    [found] = rank(wise, [Query(text)], 5)

    each = rank(plain, [Query(part) for part in sentences(text)], 5)
    highest = {tool.id: max(dict(ranking.hits)[tool.id] for ranking in each) for tool in pool.tools}
    assert dict(found.hits) == highest
    assert found != rank(plain, [Query(text)], 5)[0]
    assert wise.identity == f"{plain.identity}/sentences"


def test_a_dense_retriever_asks_by_sentences(queries, embedder, with_options):
    plain = build_retriever("dense", with_options(model=embedder))
    retriever = build_retriever("dense", with_options(model=embedder, sentences=True))

    text = "Send money. Play a station."
    [found] = rank(retriever, [Query(text)], 1)

    each = rank(plain, [Query(part) for part in (text, *sentences(text))], 1)
    assert found.hits[0] == max((one.hits[0] for one in each), key=lambda hit: hit[1])


def test_an_object_that_is_ready_asks_by_sentences(pool, with_options):
    ready = build_retriever("tfidf", pool)

    assert build_retriever(ready, with_options(sentences=True)).identity.endswith("/sentences")
    assert build_retriever(ready, with_options(sentences=False)) is ready


@pytest.mark.parametrize("name", ["oracle", "given"])
def test_a_retriever_that_reads_no_text_refuses_it(name, pool):
    with pytest.raises(UnknownNameError, match=f"no option -R of {name} 'sentences'"):
        build_retriever(f"{name},sentences=true", pool)


@pytest.mark.parametrize("value", ["yes", "1", "null"])
def test_another_value_than_true_or_false_is_refused(value, pool):
    with pytest.raises(UsageError, match="expected true or false"):
        build_retriever(f"tfidf,sentences={value}", pool)


@pytest.mark.parametrize("name", ["tfidf", "bm25"])
@pytest.mark.parametrize("text", ["", "   ", "one sentence only"])
def test_a_query_of_at_most_one_sentence_is_asked_as_it_is(name, text, pool):
    plain, wise = (build_retriever(what, pool) for what in (name, f"{name},sentences=true"))

    assert rank(wise, [Query(text)], 3) == rank(plain, [Query(text)], 3)


def test_a_cutoff_below_one_is_a_usage_error_and_no_queries_give_no_rankings(pool):
    retriever = build_retriever("tfidf,sentences=true", pool)

    with pytest.raises(UsageError, match="--top-k"):
        retriever.retrieve([Query("x")], 0)
    assert retriever.retrieve([], 3) == []


def test_a_retriever_that_answers_too_little_is_told(with_options):
    class Silent:
        def retrieve(self, queries, k):
            return []

    retriever = build_retriever(Silent(), with_options(sentences=True))

    with pytest.raises(DataError, match="Silent/sentences: 0 rows for 3 queries"):
        retriever.retrieve([Query("One. Two.")], 3)


SENTENCES = st.lists(
    st.lists(st.sampled_from(["red", "green", "apple", "pear"]), min_size=1, max_size=3).map(
        lambda words: " ".join(words) + "."
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=40, deadline=None)
@given(documents=SENTENCES, query=SENTENCES, k=st.integers(1, 5))
def test_the_answer_is_the_head_of_that_over_all_tools(documents, query, k):
    tools = tuple(Tool(f"toy/t/{i}", f"t{i}", text) for i, text in enumerate(documents))
    pool = Pool(tools, options={"template": "name_description"})
    texts = [*query, " ".join(query)]
    everything = rank(build_retriever("tfidf", pool), [Query(text) for text in texts], len(tools))
    highest = {tool.id: max(dict(r.hits)[tool.id] for r in everything) for tool in tools}

    [found] = rank(build_retriever("tfidf,sentences=true", pool), [Query(" ".join(query))], k)

    assert list(found.hits) == sorted(highest.items(), key=lambda hit: (-hit[1], hit[0]))[:k]
