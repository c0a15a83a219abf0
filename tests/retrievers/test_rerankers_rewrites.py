"""Queries and tools in other words: by a language model, or by rule."""

import pytest

from seal.core import Completion, Pool, Query, Tool
from seal.retrievers.base import RetrieverSpec
from seal.retrievers.build import build_retriever, rank

TOOLS = (
    Tool("toy/sky/forecast", "forecast", "Weather of the next days: rain, wind, sun."),
    Tool("toy/bank/send", "send_money", "Transfer an amount to an account."),
    Tool("toy/food/order", "order", "Have a meal brought to where you like to be."),
)


def found(what, text, tools=TOOLS, k=1, **options):
    pool = Pool(tuple(tools))
    [ranking] = rank(build_retriever(RetrieverSpec(what, options), pool), [Query(text)], k)
    return [tool for tool, score in ranking.hits if score > 0]


class Told:
    """A model that answers by the first key that stands in what it is asked."""

    def __init__(self, **answers):
        self.answers = answers
        self.asked = []

    def complete(self, request):
        text = request.messages[-1].content
        self.asked.append(text)
        return Completion(next((a for key, a in self.answers.items() if key in text), ""))


@pytest.mark.parametrize("of", ["bm25", "tfidf"])
def test_a_model_says_what_a_query_is_about(of):
    model = Told(umbrella="1. weather forecast\n2. rain")
    text = "Would you like to be out without an umbrella?"

    assert found("rewrite", text, of=of) != ["toy/sky/forecast"]
    assert found("rewrite", text, of=of, model=model) == ["toy/sky/forecast"]


@pytest.mark.parametrize("of", ["bm25", "tfidf"])
def test_what_the_request_itself_says_is_asked_too(of):
    model = Told(send="weather forecast")
    tools = found("rewrite", "send an amount", of=of, model=model, k=3)

    assert {"toy/bank/send", "toy/sky/forecast"} <= set(tools)


def test_without_a_model_each_clause_is_asked_for_itself():
    hotels = [
        Tool(f"toy/hotel/{n}", f"h{n}", f"Hotel room by the beach with {what}.")
        for n, what in enumerate(("breakfast and a gym", "a pool for children", "a car park"))
    ]
    tools = (*hotels, Tool("toy/bank/pay", "pay", "Pay."))
    text = "Find a hotel room on a beach with a view of the sea and then please pay me"

    assert "toy/bank/pay" not in found("tfidf", text, tools, k=3)
    assert "toy/bank/pay" in found("rewrite", text, tools, k=3, of="tfidf")


def test_a_model_that_says_nothing_leaves_the_query_as_it_is():
    assert found("rewrite", "send an amount", of="bm25", model=Told()) == ["toy/bank/send"]


def test_an_empty_query_is_put_to_no_model():
    model = Told()

    assert found("rewrite", " \n", of="bm25", model=model) == []
    assert model.asked == []


def test_a_profile_finds_a_tool_by_words_that_its_description_lacks():
    model = Told(forecast="When to use: should I take an umbrella? Is there a thunderstorm?")

    assert found("expand", "umbrella in a thunderstorm", of="bm25") == []
    assert found("expand", "umbrella in a thunderstorm", of="bm25", model=model) == [
        "toy/sky/forecast"
    ]
    assert len(model.asked) == len(TOOLS)


def test_a_profile_by_rule_tells_of_parameters_and_their_values():
    schema = {"properties": {"measure": {"enum": ["pollenCount", "humidity"]}, "zip_code": {}}}
    tools = (*TOOLS, Tool("toy/data/get", "get", "Read.", {"type": "object", **schema}))

    assert found("bm25", "pollen count", tools) == []
    assert found("expand", "pollen count", tools, of="bm25") == ["toy/data/get"]
    assert found("expand", "by zip code", tools, of="bm25") == ["toy/data/get"]


def test_a_long_description_leaves_room_for_the_profile():
    long = Tool("toy/x/long", "long", "word " * 1000)

    assert found("expand", "umbrella", [long], of="bm25", model=Told(word="umbrella")) == [long.id]
