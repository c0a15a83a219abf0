"""The first tools of a ranking in a better order: by pairs of texts."""

import math

import pytest

from seal.core import DataError, OptionError, Pool, Query, Tool, UsageError
from seal.retrievers.base import RetrieverSpec
from seal.retrievers.build import build_retriever, rank

WEATHER = (
    Tool("toy/a/note", "note", "Weather weather weather, all the weather."),
    Tool("toy/b/peaks", "peaks", "Forecast of the weather."),
    Tool("toy/c/mail", "mail", "Send a message."),
)


def found(what, tools, text, k=10, **options):
    pool = Pool(tuple(tools))
    [ranking] = rank(build_retriever(RetrieverSpec(what, options), pool), [Query(text)], k)
    return [tool for tool, _ in ranking.hits]


def cancels(pairs):
    return [float("cancel" in tool and "no longer" in query) for query, tool in pairs]


def test_a_function_of_pairs_puts_the_right_tool_first():
    tools = [Tool(f"toy/x/{verb}", verb, f"{verb} your table.") for verb in ("book", "cancel")]
    text = "I no longer want the table that I have a book for."

    assert found("bm25", tools, text)[0] == "toy/x/book"
    assert found("rerank", tools, text, of="bm25", model=cancels)[0] == "toy/x/cancel"


def test_without_a_model_each_word_counts_once_however_often_it_stands_there():
    sales = (Tool(f"toy/sales/{n}", f"s{n}", "Forecast of sales.") for n in range(4))
    tools, text = (*WEATHER, *sales), "weather forecast"

    assert found("bm25", tools, text)[0] == "toy/a/note"
    assert found("rerank", tools, text, of="bm25")[0] == "toy/b/peaks"


def test_only_the_first_tools_change_places():
    tools = [Tool(f"toy/x/{n}", f"t{n}", "rain " * (6 - n)) for n in range(6)]
    before = found("tfidf", tools, "rain")
    pairs = []

    def last_first(asked):
        pairs.extend(asked)
        return list(range(len(asked)))

    after = found("rerank", tools, "rain", of="tfidf", depth=3, model=last_first)

    assert after == [*before[2::-1], *before[3:]]
    assert len(pairs) == 3
    assert found("rerank", tools, "rain", k=1, of="tfidf", depth=3, model=last_first) == after[:1]


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (lambda pairs: [math.nan] * len(pairs), "not a finite number"),
        (lambda pairs: [None] * len(pairs), "no number"),
        (lambda pairs: [1.0], "1 score for 3 pairs"),
    ],
)
def test_scores_that_are_none_are_refused(scores, message):
    with pytest.raises(DataError, match=message):
        found("rerank", WEATHER, "weather message", of="bm25", model=scores)


class Shortest:
    """Scores short texts high; what it is called may differ."""

    identity = "shortest/1"

    def __init__(self, options=None):
        self.options = options

    def scores(self, pairs):
        return [-len(text) for _, text in pairs]


class Predicting(Shortest):
    scores = None

    def predict(self, pairs):
        return math.nan if not pairs else [-len(text) for _, text in pairs]

    def __call__(self, pairs):
        raise AssertionError("models of torch can be called, but not for this")


@pytest.mark.parametrize("model", [Shortest, Shortest(), Predicting, Predicting()])
def test_a_class_or_an_object_scores_pairs(model):
    options = {"of": "bm25", "model": model}
    retriever = build_retriever(RetrieverSpec("rerank", options), Pool(WEATHER))

    [ranking] = rank(retriever, [Query("weather message")], 3)

    assert [tool for tool, _ in ranking.hits] == ["toy/c/mail", "toy/b/peaks", "toy/a/note"]
    assert "(shortest/1)" in retriever.identity


def test_a_class_that_takes_no_options_is_told_what_it_must_take():
    class Bare:
        def __init__(self):
            pass

    with pytest.raises(OptionError, match="a class must take its options, one map"):
        found("rerank", WEATHER, "weather", of="bm25", model=Bare)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"depth": 0}, OptionError, "depth = 0: expected a whole number of at least 1"),
        ({"depth": 2.5}, OptionError, "depth = 2.5"),
        ({"model": 42}, UsageError, "no function of pairs"),
        ({"of": "tfdif"}, UsageError, "Did you mean 'tfidf'"),
        ({"of": "bm25,k3=1"}, UsageError, "k3"),
    ],
)
def test_an_option_that_cannot_be_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        found("rerank", WEATHER, "weather", **{"of": "bm25", **options})


@pytest.mark.parametrize("name", ["listwise", "rewrite", "expand", "hierarchy"])
def test_a_retriever_of_before_tells_what_replaces_it(name):
    with pytest.raises(UsageError, match=rf"'{name}' is gone: a class of your own"):
        found(name, WEATHER, "weather")
