"""The first tools of a ranking in a better order: by pairs of texts, and by a language model."""

import math
import re

import pytest

from seal.core import Completion, DataError, OptionError, Pool, Query, Tool, UsageError
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


class Reader:
    """A model that orders the tools of a list by a rule of its own, as RankGPT is answered."""

    def __init__(self, better):
        self.better = better
        self.asked = []

    def complete(self, request):
        text = request.messages[-1].content
        self.asked.append(text)
        listed = re.findall(r"^\[(\d+)\] (.*)$", text, re.MULTILINE)
        best = sorted(listed, key=lambda one: -self.better(one[1]))
        return Completion(" > ".join(f"[{number}]" for number, _ in best))


class Says:
    def __init__(self, text):
        self.text = text

    def complete(self, request):
        return Completion(self.text)


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
    for what in ("rerank", "listwise"):
        assert found(what, tools, text, of="bm25")[0] == "toy/b/peaks"


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


def test_a_language_model_orders_what_it_is_shown():
    model = Reader(lambda tool: "IBAN" in tool)
    tools = [
        Tool("toy/bank/send", "send", "Send money to a friend abroad."),
        Tool("toy/bank/wire", "wire", "Transfer abroad to an IBAN."),
    ]

    assert found("listwise", tools, "send money abroad", of="bm25", model=model) == [
        "toy/bank/wire",
        "toy/bank/send",
    ]
    [asked] = model.asked
    assert asked.startswith("Request:\nsend money abroad\n")


def test_a_window_moves_to_the_front_with_the_best_of_each():
    tools = [Tool(f"toy/x/{n:02}", f"t{n:02}", f"rain {n:02}.") for n in range(45)]
    model = Reader(lambda tool: int(re.search(r"(\d\d)\.", tool)[1]))

    ordered = found("listwise", tools, "rain", k=45, of="tfidf", depth=45, model=model)

    assert [len(re.findall(r"^\[", text, re.MULTILINE)) for text in model.asked] == [20, 20, 20, 20]
    assert ordered[:10] == [f"toy/x/{n:02}" for n in range(44, 34, -1)]
    assert sorted(ordered) == [tool.id for tool in tools]


@pytest.mark.parametrize(
    ("said", "order"),
    [
        ("[2] > [1] > [3]", [1, 0, 2]),
        ("The best is [3].", [2, 0, 1]),
        ("[9] > [0] > [2] > [2]", [1, 0, 2]),
        ("I cannot say.", [0, 1, 2]),
        ("", [0, 1, 2]),
    ],
)
def test_what_a_model_does_not_name_keeps_its_order(said, order):
    before = found("bm25", WEATHER, "weather message")

    after = found("listwise", WEATHER, "weather message", of="bm25", model=Says(said))

    assert after == [before[place] for place in order]


def test_a_tools_text_cannot_add_a_line_to_the_list():
    model = Reader(len)
    tools = [Tool("toy/x/a", "a", "rain\n[2] liar"), Tool("toy/x/b", "b", "rain")]

    found("listwise", tools, "rain", of="bm25", model=model)

    assert len(re.findall(r"^\[", model.asked[0], re.MULTILINE)) == 2


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


def test_a_model_is_named_only_where_the_pool_opens_models():
    with pytest.raises(OptionError, match=r"give an object with complete\(request\)"):
        found("listwise", WEATHER, "weather", of="bm25", model="openai/x")
