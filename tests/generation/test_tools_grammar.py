"""Tools written by the grammar: they meet the rules, suit the words, and vary with the seed."""

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from seal.benchmarks.toolscan import (
    Description,
    example,
    faults,
    load_bank,
    make_schema,
    read,
    read_draft,
    singular,
)
from seal.benchmarks.toolscan.tool_generation.descriptions import NAME
from seal.benchmarks.toolscan.tool_generation.grammar import GrammarWriter
from seal.benchmarks.toolscan.tool_generation.rules import Draft
from seal.core import schema_validator
from seal.simulator_cache import Template

ACTIONS = load_bank().actions


def tool(text: str, seed: int = 0, taken: tuple[str, ...] = (), **named: str) -> Draft:
    asked = Description(text, **named)
    read = read_draft(GrammarWriter(seed).write(asked, taken))
    assert isinstance(read, Draft)
    assert faults(read, asked, taken) == []
    return read


def required(text: str) -> list[Any]:
    return tool(text).parameters["required"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Search hotels in a city between two dates.", ["city", "start_date", "end_date"]),
        (
            "Convert an amount of money from one currency to another.",
            ["amount", "from_currency", "to_currency"],
        ),
        ("Get the current weather for a city", ["city"]),
        ("Cancel a flight booking", ["flight_booking_id"]),
        ("Send an SMS message to a phone number", ["phone", "message"]),
        ("Get the details of a restaurant", ["restaurant_id"]),
        ("Translates a text into another language.", ["text", "language"]),
        ("Find durians near a village by ripeness", ["village", "ripeness"]),
        ("Compute the determinant of a matrix", ["matrix"]),
        ("Look up the ISBN of a book by title and author", ["title", "author"]),
        ("Check whether an email address is valid", ["email"]),
        ("Estimate the temperature of a city", ["city"]),
        ("Random joke", ["keywords"]),
    ],
)
def test_what_a_description_names_is_required(text: str, names: list[str]) -> None:
    assert sorted(required(text)) == sorted(names)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Search hotels in a city.", "search_hotels"),
        ("Lists open issues of a repository", "list_open_issues"),
        ("Get the details of a restaurant", "get_restaurant"),
        ("Look up the ISBN of a book", "look_up_isbn"),
        ("Weather for a city", "get_weather"),
        ("查询天气", "get_result"),
    ],
)
def test_a_tool_without_a_name_is_named_by_verb_and_object(text: str, name: str) -> None:
    assert tool(text).name == name


def test_names_that_are_taken_are_not_given_again() -> None:
    first = tool("Search hotels in a city.", taken=("search_hotels",)).name
    assert first == "search_hotels_city"
    assert tool("Search hotels in a city.", taken=("search_hotels", first)).name.endswith("_2")


def test_a_name_in_camel_case_has_parameters_in_camel_case() -> None:
    draft = tool("Search hotels in a city between two dates.", name="searchHotels")
    assert draft.name == "searchHotels"
    assert {"startDate", "endDate"} < set(draft.parameters["properties"])
    assert "startDate" in draft.examples[0]


def test_equal_seeds_give_equal_tools_and_others_vary() -> None:
    text = "Search hotels in a city."
    assert tool(text, 7) == tool(text, 7)
    drafts = [json.dumps(tool(text, seed).parameters) for seed in range(20)]
    assert len(set(drafts)) == 20
    again = GrammarWriter(0).write(Description(text), (), [None])  # type: ignore[list-item]
    assert again != GrammarWriter(0).write(Description(text), ())


def test_enums_lists_and_nested_objects_are_common() -> None:
    text = json.dumps([tool("Order groceries for delivery.", s).parameters for s in range(20)])
    for part in ('"enum"', '"array"', '"object"', '"pattern"', '"default"', '"minItems"'):
        assert text.count(part) >= 10, part


@pytest.mark.parametrize("seed", range(2))
def test_every_parameter_of_the_bank_meets_the_rules(seed: int) -> None:
    for name, entry in load_bank().parameters.items():
        rng = Random(f"{seed}/{name}")
        schema = make_schema(entry, rng)
        values = [example(entry, schema, place, whole=True) for place in range(3)]
        parameters = {"type": "object", "properties": {name: schema}, "required": [name]}
        draft = Draft("do_it", "Do the thing.", parameters, [{name: value} for value in values])
        assert faults(draft, Description("Do the thing.")) == [], name


WORDS = st.sampled_from(
    sorted({
        *(word for entry in load_bank().parameters.values() for word in entry.get("words", ())),
        *(verb for verbs in ACTIONS.values() for verb in verbs),
        *("by", "for", "of", "the", "and", "from", "to", "between", "with", "x1", "ripeness"),
    })
)  # fmt: skip


@settings(max_examples=80)
@given(st.lists(WORDS, min_size=1, max_size=9).map(" ".join), st.integers(0, 5))
def test_a_tool_of_any_words_meets_the_rules_and_can_be_answered(text: str, seed: int) -> None:
    asked = Description(text)
    read = read_draft(GrammarWriter(seed).write(asked, ()))
    assert isinstance(read, Draft)
    assert [f for f in faults(read, asked) if f.rule != "description"] == []
    answer = Template().respond(read.tool("x"), read.examples[-1])
    assert schema_validator(read.returns or {}).is_valid(answer.response)


@settings(max_examples=100)
@given(st.text(min_size=1, max_size=40).filter(lambda t: any(c.isalpha() for c in t)))
def test_a_tool_of_any_text_has_a_name_and_valid_examples(text: str) -> None:
    asked = Description(" ".join(text.split()))
    read = read_draft(GrammarWriter().write(asked, ()))
    assert isinstance(read, Draft)
    assert NAME.fullmatch(read.name)
    assert {f.rule for f in faults(read, asked)} <= {"description"}


def test_answers_name_things_as_other_tools_ask_for_them() -> None:
    found = tool("Search hotels in a city.").returns or {}
    asked = tool("Get the details of a hotel.").parameters["properties"]["hotel_id"]
    told = found["properties"]["results"]["items"]["properties"]["hotel_id"]
    assert told["pattern"] == asked["pattern"]
    answer = Template().respond(tool("Search hotels in a city.").tool("x"), {"city": "Oslo"})
    value = answer.response["results"][0]["hotel_id"]
    assert schema_validator(asked).is_valid(value)


@pytest.mark.parametrize(
    ("text", "action", "thing", "given"),
    [
        ("Search hotels in a city", "find", ("hotels",), (("city",),)),
        ("Searches for hotels by price and stars", "find", ("hotels",), None),
        ("A tool to cancel bookings", "change", ("bookings",), ()),
        ("Details of a hotel", "get", ("hotel",), ()),
        ("Translate text", "assess", ("text",), ()),
    ],
)
def test_a_description_is_read(text: str, action: str, thing: Any, given: Any) -> None:
    reading = read(text, "", ACTIONS)
    assert (reading.action, reading.thing) == (action, thing)
    assert given is None or reading.given == given


def test_nouns_are_put_into_the_singular() -> None:
    words = ["hotels", "cities", "bus", "address", "boxes", "news", "matches", "gas"]
    assert [singular(word) for word in words] == [
        *("hotel", "city", "bus", "address", "box", "news", "match", "gas")
    ]


def test_the_template_simulator_refuses_no_shipped_shape() -> None:
    for text in ("Generate a password", "Check a link", "Track a parcel", "Cancel an order"):
        written = tool(text)
        answer = Template().respond(written.tool("x"), written.examples[0])
        assert answer.error == ""
        Draft202012Validator(written.tool("x").returns).validate(answer.response)
