"""Models that request APIs in brackets: what they are shown, and what comes of their answer."""

import json

from seal.core import Completion, Message, Request, Tool
from seal.models.presentation import Presentation, presented

FIND = Tool(
    "d/Restaurants_2/FindRestaurants",
    "Restaurants_2_FindRestaurants",
    "Find a place to eat",
    {"type": "object", "properties": {"city": {"type": "string"}, "seats": {"type": "integer"}}},
    "Restaurants",
    source={"tool": "Restaurants_2", "api": "FindRestaurants"},
)


class Says:
    """A model that gives one answer and keeps what it was asked."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = None

    def complete(self, request):
        self.asked = request
        return Completion(self.answer)


def test_apis_are_shown_by_app_and_requests_are_calls_of_their_tools():
    model = Says("[Restaurants: findrestaurants(#city='Bern', #seats='2')]")
    ask = Request((Message("user", "A table for two in Bern?"),), (FIND,), "requester")
    answer = presented(model, model, Presentation("bracket")).complete(ask)
    system = model.asked.messages[0].content
    assert system.startswith("You request APIs in writing.") and model.asked.tools == ()
    assert json.loads(system.splitlines()[-1])["name"] == "Restaurants: findrestaurants"
    (call,) = answer.calls
    assert (call.name, call.arguments) == (FIND.name, {"city": "Bern", "seats": 2})


def test_an_empty_bracket_requests_nothing():
    model = Says("[]")
    ask = Request((Message("user", "Thanks."),), (FIND,), "requester")
    answer = presented(model, model, Presentation("bracket")).complete(ask)
    assert (answer.content, answer.calls) == ("[]", ())
