import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from looped import every_case

from seal.core import Message, Request, Tool
from seal.models.fill import fill, spans
from seal.models.spec import build_model


def schema(required=(), **properties):
    return {"type": "object", "properties": properties, "required": list(required)}


TEXT, INTEGER, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}
DATE = {"type": "string", "format": "date"}
FLIGHT = schema(
    ["origin", "destination", "date"],
    origin=TEXT,
    destination=TEXT,
    date=DATE,
    passengers={"type": "integer", "minimum": 1},
    cabin={"type": "string", "enum": ["economy", "business"]},
)


@every_case(
    ("parameters", "text", "arguments"),
    [
        (
            FLIGHT,
            "Book a business flight from New York to San Francisco on May 3, 2024 for 2 passengers",
            {
                "origin": "New York",
                "destination": "San Francisco",
                "date": "2024-05-03",
                "passengers": 2,
                "cabin": "business",
            },
        ),
        (schema(["city"], city=TEXT), "What's the weather in Bern?", {"city": "Bern"}),
        (schema(["email"], email=TEXT), "Write to ann@x.org please", {"email": "ann@x.org"}),
        (schema(["url"], url=TEXT), "Open https://x.org/a now", {"url": "https://x.org/a"}),
        (schema(["title"], title=TEXT), "Note 'buy milk' for me", {"title": "buy milk"}),
        (schema(["n"], n=NUMBER), "Add 1,250.5 to it", {"n": 1250.5}),
        (schema(["n"], n=INTEGER), "for three people", {"n": 3}),
        (schema(["n"], n={**INTEGER, "default": 7}), "no number here", {"n": 7}),
        (schema([], n={**INTEGER, "default": 7}), "no number here", {}),
        (schema(["user_id"], user_id=TEXT), "Show user id 4711", {"user_id": "4711"}),
        (schema(["number"], number=TEXT), "Track PG-2209-44 for Ann", {"number": "PG-2209-44"}),
        (
            schema(["values"], values={"type": "array", "items": NUMBER}),
            "Mean of 3, 4.5 and 10",
            {"values": [3, 4.5, 10]},
        ),
        (
            schema(["units"], units={"type": "string", "enum": ["metric", "imperial"]}),
            "in Imperial units",
            {"units": "imperial"},
        ),
        (schema(["kind"], kind={"const": "a"}), "anything", {"kind": "a"}),
        (schema(["verbose"], verbose={"type": "boolean"}), "be verbose", {"verbose": True}),
        (schema(["verbose"], verbose={"type": "boolean"}), "not verbose", {"verbose": False}),
        (schema(["query"], query=TEXT), "Search for red shoes", {"query": "red shoes"}),
        (schema(["query"], query=TEXT), "latest gossip", {"query": "latest gossip"}),
        (
            schema(["to"], to=schema(["city"], city=TEXT)),
            "Send it to Rome",
            {"to": {"city": "Rome"}},
        ),
    ],
)
def test_arguments_come_from_the_text(parameters, text, arguments):
    filled = fill(parameters, text)
    assert (filled.arguments, filled.missing) == (arguments, ())


def test_what_the_words_around_a_value_decide_comes_first():
    filled = fill(FLIGHT, "Book a flight to Rome")
    assert filled.arguments == {"destination": "Rome"}
    assert filled.missing == ("origin", "date")


def test_a_missing_value_is_looked_for_in_the_whole_request():
    city = schema(["city"], city=TEXT)
    filled = fill(city, "what is the weather", "I am in Bern, what is the weather")
    assert (filled.arguments, filled.missing) == ({"city": "Bern"}, ())


def test_free_text_takes_its_clause_only_where_the_request_names_nothing():
    title = schema(["title"], title=TEXT)
    assert fill(title, "which cinema?", "'Dune' is on, which cinema?").arguments == {
        "title": "Dune"
    }
    assert fill(title, "which cinema?", "and which cinema?").arguments == {"title": "which cinema?"}


@pytest.mark.parametrize(
    "bad",
    [
        {"type": "object", "properties": {"a": {"type": "strnig"}}, "required": ["a"]},
        {"type": "object", "properties": [], "required": ["a"]},
        {"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"pattern": "("}}, "required": ["a"]},
    ],
)
def test_a_schema_that_is_none_gives_no_arguments(bad):
    assert fill(bad, "Call Ann about 'this'").missing


def test_an_undescribed_argument_may_be_anything():
    assert fill({"required": ["name"]}, "Call Ann").arguments == {"name": "Ann"}
    assert fill({}, "Call Ann") == fill({"type": "object"}, "Call Ann")


leaf = st.one_of(
    st.builds(lambda low: {"type": "integer", "minimum": low}, st.integers(-5, 50)),
    st.builds(lambda most: {"type": "string", "maxLength": most}, st.integers(0, 9)),
    st.sampled_from(
        [
            TEXT,
            DATE,
            NUMBER,
            {"type": "boolean"},
            {"enum": ["red", "blue", 3]},
            {"type": ["string", "null"]},
            {"anyOf": [INTEGER, TEXT]},
            {"type": "string", "pattern": "^[a-z]+$"},
            {"type": "string", "default": "x"},
            {},
            True,
        ]
    ),
)
properties = st.recursive(
    leaf,
    lambda inner: st.one_of(
        st.builds(lambda items: {"type": "array", "items": items, "minItems": 2}, inner),
        st.builds(
            lambda p: schema(list(p)[:1], **p), st.dictionaries(st.sampled_from("ab"), inner)
        ),
    ),
    max_leaves=4,
)
names = st.sampled_from(["city", "date", "query", "from", "count", "is_red", "emails", "x"])
places = st.sampled_from(["Book", "from", "Bern", "to", "New York", "for", "天气", ",", "no"])
values = st.sampled_from(
    ["3", "-2.5", "１２", "red", "'a b'", "a@b.ch", "2024-01-02", "May 5, 2024"]
)
request_words = places | values | names


@given(
    st.dictionaries(names, properties, max_size=4),
    st.lists(names, max_size=3),
    st.lists(request_words, max_size=10).map(" ".join) | st.text(max_size=40),
)
def test_a_filled_call_is_always_valid(given_properties, required, text):
    parameters = schema(required, **given_properties)
    filled = fill(parameters, text, text + " and more in Rome")
    if not filled.missing:
        Draft202012Validator(parameters).validate(filled.arguments)
    json.dumps(filled.arguments)


@given(st.lists(request_words, max_size=10).map(" ".join) | st.text(max_size=60))
def test_values_stand_where_they_say(text):
    for span in spans(text):
        assert text[span.start :].lstrip().startswith(span.text)


WEATHER = Tool("d/weather/now", "get_weather", "Weather of a city", schema(["city"], city=TEXT))
RATE = Tool(
    "d/money/rate",
    "exchange_rate",
    "Rate between two currencies",
    schema(["base"], base={"type": "string", "enum": ["EUR", "CHF"]}),
)


def ask(*messages, tools=(WEATHER, RATE), role="execution_manager"):
    return build_model("lexical").complete(Request(tuple(messages), tuple(tools), role))


def user(text):
    return Message("user", text)


def test_each_clause_calls_its_tool():
    answer = ask(user("What is the weather in Bern? Also give me the exchange rate of CHF."))
    assert [(call.name, call.arguments) for call in answer.calls] == [
        ("get_weather", {"city": "Bern"}),
        ("exchange_rate", {"base": "CHF"}),
    ]


def test_a_missing_argument_is_asked_for_and_its_answer_used():
    answer = ask(user("How is the weather?"))
    assert answer.content == "Could you tell me the city?" and not answer.calls
    answer = ask(
        user("How is the weather?"),
        Message("assistant", answer.content),
        user("[orchestrator] In Bern."),
    )
    assert answer.calls[0].arguments == {"city": "Bern"}


def test_calls_are_made_once_and_the_values_stated():
    call = ask(user("Weather in Bern?")).calls[0]
    content = '{"error": "", "response": {"sky_colour": "blue", "degrees": [21, 22.5]}}'
    answer = ask(
        user("Weather in Bern?"),
        Message("assistant", "", (call,)),
        Message("tool", content, call_id=""),
    )
    assert answer.content == "sky colour: blue, degrees: 21, degrees: 22.5"


def test_a_new_request_is_answered_anew():
    call = ask(user("Weather in Bern?")).calls[0]
    done = (user("Weather in Bern?"), Message("assistant", "", (call,)), Message("tool", "{}"))
    answer = ask(*done, Message("assistant", "Sunny."), user("And the weather in Rome?"))
    assert answer.calls[0].arguments == {"city": "Rome"}


def test_a_request_that_no_tool_fits_is_answered_in_words():
    answer = ask(user("Tell me a joke"))
    assert not answer.calls and answer.content


def test_tools_are_looked_for_first_where_that_can_be_done():
    find = Tool("seal/chat/find_tools", "look_up")
    asked = user("Weather in Bern?")
    first = ask(asked, tools=[find])
    assert [(c.name, c.arguments) for c in first.calls] == [("look_up", {"query": asked.content})]
    found = ask(
        asked, Message("assistant", "", first.calls), Message("tool"), tools=[find, WEATHER]
    )
    assert found.calls[0].name == "get_weather"


@pytest.mark.parametrize(
    ("role", "text"),
    [("orchestrator", "It is 5."), ("planner", "It is 5."), ("verifier", "accepted")],
)
def test_other_roles_speak_plainly(role, text):
    assert ask(user("[execution_manager] It is 5."), tools=(), role=role).content == text


def test_the_same_request_gets_the_same_answer():
    asked = user("What is the weather in Bern and the exchange rate of EUR")
    assert ask(asked) == ask(asked)


def test_a_description_of_100_kb_does_no_harm():
    big = Tool("d/big", "big", "weather " * 12_500)
    assert ask(user("Weather in Bern?"), tools=[big, WEATHER]).calls[0].name == "get_weather"
