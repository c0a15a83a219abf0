import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seal.core import DataError, Pool, Query, Tool, UnknownNameError, UsageError
from seal.core.text import sentences
from seal.retrievers.build import build_retriever, rank


@pytest.mark.parametrize("what", ["tfidf", "random", "hybrid,parts=tfidf+bm25"])
def test_any_retriever_of_comparable_scores_asks_the_query_and_its_sentences(what, pool):
    text = "Will it rain in Oslo? Play a station. Balance of my account!"
    plain = build_retriever(what, pool)
    retriever = build_retriever(f"{what},sentences=true", pool)

    [found] = rank(retriever, [Query(text, "t1")], 5)

    each = rank(plain, [Query(part, "t1") for part in [text, *sentences(text)]], 5)
    assert len(each) == 4
    highest = {
        tool.id: max(dict(ranking.hits).get(tool.id, 0.0) for ranking in each)
        for tool in pool.tools
    }
    assert dict(found.hits) == {tool: score for tool, score in highest.items() if score}
    assert retriever.identity == f"{plain.identity}/sentences/levels=0.4"


def test_scores_that_grow_with_the_text_are_those_of_the_sentences_alone(pool):
    text = "Balance of my account! Will it rain in the city? Forecast of wind and rain."
    plain, wise = (build_retriever(what, pool) for what in ("bm25", "bm25,sentences=true"))

    [found] = rank(wise, [Query(text)], 5)

    each = rank(plain, [Query(part) for part in sentences(text)], 5)
    highest = {
        tool.id: max(dict(ranking.hits).get(tool.id, 0.0) for ranking in each)
        for tool in pool.tools
    }
    assert dict(found.hits) == {tool: score for tool, score in highest.items() if score}
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

    assert build_retriever(ready, with_options(sentences=True)).identity.endswith(
        "/sentences/levels=0.4"
    )
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

    with pytest.raises(DataError, match=r"Silent/sentences/levels=0\.4: 0 rows for 3 queries"):
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
    scored = {tool for ranking in everything for tool, _ in ranking.hits}
    highest = {tool: max(dict(r.hits).get(tool, 0.0) for r in everything) for tool in scored}

    [found] = rank(build_retriever("tfidf,sentences=true", pool), [Query(" ".join(query))], k)

    assert list(found.hits) == sorted(highest.items(), key=lambda hit: (-hit[1], hit[0]))[:k]


class Known:
    """Gives each text the scores that are planned for it."""

    identity = "known"

    def __init__(self, scores):
        self._scores = scores

    def retrieve(self, queries, k):
        rows = [self._scores[query.text].items() for query in queries]
        return [sorted(row, key=lambda hit: (-hit[1], hit[0]))[:k] for row in rows]


def by_sentence(scores):
    """Return a retriever by sentences over the tools t00 ... that the scores name."""
    ids = sorted({tool for row in scores.values() for tool in row})
    pool = Pool(tuple(Tool(i, i) for i in ids), options={"sentences": True})
    return build_retriever(Known(scores), pool)


def alike(score, count=12, **others):
    return {**{f"t{i:02}": score for i in range(count)}, **others}


CHATTER, WANT = "Please help me with this.", "Find a flight."
BOTH = f"{CHATTER} {WANT}"


def test_a_sentence_that_is_like_everything_does_not_outshout_one_that_names_a_tool():
    scores = {
        BOTH: alike(0.3),
        CHATTER: alike(0.5, t03=0.6),
        WANT: alike(0.1, t07=0.55),
    }

    [hits] = by_sentence(scores).retrieve([Query(BOTH)], 3)

    assert hits == [("t07", 0.63), ("t03", 0.52), ("t00", 0.42)]


def test_the_whole_query_keeps_its_scores_and_equal_ones_stand_by_id():
    scores = {BOTH: alike(0.4, t05=0.9, t02=0.9), CHATTER: alike(0.2), WANT: alike(0.2)}

    [hits] = by_sentence(scores).retrieve([Query(BOTH)], 4)

    assert hits == [("t02", 0.9), ("t05", 0.9), ("t00", 0.4), ("t01", 0.4)]


@pytest.mark.parametrize("count", [1, 5, 9])
def test_fewer_than_ten_tools_are_not_levelled(count):
    scores = {BOTH: alike(0.3, count), CHATTER: alike(0.5, count), WANT: alike(0.1, count, t00=0.6)}

    [hits] = by_sentence(scores).retrieve([Query(BOTH)], 20)

    assert hits == [("t00", 0.6), *((f"t{i:02}", 0.5) for i in range(1, count))]


def test_a_sentence_that_finds_fewer_than_ten_tools_has_the_level_0():
    scores = {BOTH: alike(0.5), CHATTER: alike(0.5), WANT: {"t09": 0.4}}

    [hits] = by_sentence(scores).retrieve([Query(BOTH)], 2)

    assert hits == [("t09", 0.6), ("t00", 0.5)]


def test_levels_may_be_negative_as_cosines_are():
    scores = {BOTH: alike(-0.1), CHATTER: alike(-0.6), WANT: alike(-0.2, t11=0.1)}

    [hits] = by_sentence(scores).retrieve([Query(BOTH)], 2)

    assert hits == [("t11", 0.14), ("t00", -0.1)]


NAMES = (
    *("amber", "birch", "cedar", "daisy", "elder", "fern"),
    *("ginger", "hazel", "iris", "juniper", "kelp", "lilac"),
)
GARDEN = Pool(
    tuple(Tool(f"toy/g/{name}", name, f"Please help me with the {name}.") for name in NAMES),
    options={"template": "name_description"},
)


@pytest.mark.parametrize("what", ["tfidf", "hybrid,parts=tfidf+bm25"])
@pytest.mark.parametrize("text", ["", "Please help me with the iris.", "kelp", "zzz"])
def test_a_query_of_one_sentence_has_the_ranking_of_the_plain_retriever(what, text):
    plain, wise = (build_retriever(spec, GARDEN) for spec in (what, f"{what},sentences=true"))

    for k in (1, 10, 50):
        assert rank(wise, [Query(text)], k) == rank(plain, [Query(text)], k)


def test_a_tool_that_shares_no_term_with_the_query_is_not_found():
    tools = (*GARDEN.tools, Tool("toy/a", "qxv", "qxv"))
    retriever = build_retriever("tfidf,sentences=true", Pool(tools, options=GARDEN.options))

    [found] = rank(retriever, [Query("Please help me with the iris. Jjj kkk.")], 50)

    assert found.hits[0][0] == "toy/g/iris"
    assert "toy/a" not in dict(found.hits)
