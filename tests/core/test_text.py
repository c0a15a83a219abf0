"""Words, sentences, plan steps and the sub-requests of a request."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from looped import every_case

from seal.core.text import (
    clauses,
    counted,
    deeds_of,
    only_looks,
    plan_steps,
    sentences,
    split_identifiers,
    terms,
    words,
)

WORDS = """
find me a hotel in Oslo Paris and also then additionally plus ; , , and . ! ? 。 ， 然后 ； book
it 3.5 Dr. e.g. 1. - 天气 机票 2) show_the getWeather 😀 as well as
"""
requests = st.lists(st.sampled_from([*WORDS.split(), "\n", "and book"]), max_size=25).map(" ".join)
"""Texts that look like requests, connectives and punctuation anywhere."""

JOINTS = {"and", "then", "also", "additionally", "furthermore", "moreover", "plus", "as", "well"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Get the weather", ["get", "the", "weather"]),
        ("getWeatherByCity", ["get", "weather", "by", "city"]),
        ("HTTPServer_url", ["http", "server", "url"]),
        ("get_3day-forecast (v2)", ["get", "3day", "forecast", "v2"]),
        ("Zürich's café", ["zürich", "s", "café"]),
        ("北京 天气", ["北京", "天气"]),
        ("C++, C# and C", ["c++", "c#", "and", "c"]),
        ("ＦＵＬＬ cafe\u0301", ["full", "café"]),
        ("दिन दीन", ["दिन", "दीन"]),
        ("น้ำ pro\u00adgramme", ["น้\u0e4d\u0e32", "programme"]),
        ("❤\ufe0f", []),
        ("😀 ... __", []),
        ("", []),
    ],
)
def test_words_are_lower_case_and_identifiers_fall_apart(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("YouTube video", (["you", "tube", "video"], ["youtube"])),
        ("IPv6Address", (["i", "pv6", "address"], ["ipv6address", "ipv6"])),
        ("get_name of XML", (["get", "name", "of", "xml"], [])),
        ("天气好 iPhone手", (["天气", "气好", "i", "phone", "手"], ["iphone手"])),
    ],
)
def test_search_looks_for_identifiers_whole_and_for_pairs_of_letters(text, expected):
    assert terms(text)[::2] == expected


def test_letters_without_blanks_stand_alone_where_neighbours_are_paired():
    assert terms("天气 กำ x").single == ["天", "气", "ก\u0e4d", "\u0e32", "x"]


def test_splitting_identifiers_keeps_the_letters():
    assert split_identifiers("findHotelByID_now") == "find Hotel By ID now"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("It costs 3.50 at api.example.com now.", ["It costs 3.50 at api.example.com now."]),
        ("Ask Dr. Smith and Mrs. Jones. Then go.", ["Ask Dr. Smith and Mrs. Jones.", "Then go."]),
        ("Fruit, e.g. apples. Done", ["Fruit, e.g. apples.", "Done"]),
        ("first line\n\nsecond line", ["first line", "second line"]),
        ("查天气。订机票！好吗？", ["查天气。", "订机票！", "好吗？"]),
        ("他说：“好。”然后走了。", ["他说：“好。”", "然后走了。"]),
        ("真的？！是的。", ["真的？！", "是的。"]),
        (" \n ", []),
    ],
)
def test_sentences_end_at_marks_and_line_breaks(text, expected):
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. Find a hotel\n2) Book it\n(3) Pay", ["Find a hotel", "Book it", "Pay"]),
        ("- Find a hotel\n* Book it\n• Pay\n\n", ["Find a hotel", "Book it", "Pay"]),
        ("Step 1: find it\nstep 2. book it\nSTEP 3 pay", ["find it", "book it", "pay"]),
        ("3.5 stars\n12:30 lunch\n-5 degrees", ["3.5 stars", "12:30 lunch", "-5 degrees"]),
        ("**Find** a hotel\n---\n...", ["**Find** a hotel"]),
        ("1.\n2.", []),
        ("  plain  ", ["plain"]),
        ("一、查天气", ["一、查天气"]),
    ],
)
def test_plan_steps_are_lines_without_bullets(text, expected):
    assert plan_steps(text) == expected


@every_case(
    ("text", "expected"),
    [
        (
            "Can you find flights from Oslo to Rome and also book a hotel there? "
            "Additionally, tell me the weather.",
            [
                "Can you find flights from Oslo to Rome",
                "book a hotel there?",
                "Additionally, tell me the weather.",
            ],
        ),
        (
            "I'm planning a party. Please fetch five cocktail recipes, and a playlist of jazz; "
            "then suggest some games as well as a venue near Dr. Lee's office.",
            [
                "I'm planning a party.",
                "Please fetch five cocktail recipes",
                "a playlist of jazz",
                "suggest some games",
                "a venue near Dr. Lee's office.",
            ],
        ),
        (
            "Convert 100 euros to dollars and tell me what a coffee costs in Boston",
            ["Convert 100 euros to dollars", "tell me what a coffee costs in Boston"],
        ),
        ("Find films with cats and dogs", ["Find films with cats and dogs"]),
        ("Play fish and then chips", ["Play fish and then chips"]),
        ("Hi! Find me a song.", ["Hi! Find me a song."]),
        ("Find me a song. Thanks!", ["Find me a song. Thanks!"]),
        ("Hello", ["Hello"]),
        (
            "My tasks:\n1. find a hotel in Rome\n2. book a table for two",
            ["My tasks: find a hotel in Rome", "book a table for two"],
        ),
        (
            "我想订一张去北京的机票。查一下那里的天气，并且推荐三家餐厅；谢谢！",
            ["我想订一张去北京的机票。", "查一下那里的天气", "推荐三家餐厅；谢谢！"],
        ),
        ("", []),
        (" ,; ... \n", []),
    ],
)
def test_clauses_are_the_sub_requests(text, expected):
    assert clauses(text) == expected


def test_the_least_size_of_a_part_can_be_chosen():
    text = "Book it and then pay. Leave."
    assert clauses(text, least=1) == ["Book it", "pay.", "Leave."]
    assert clauses(text, least=0) == ["Book it", "pay.", "Leave."]
    assert clauses(text, least=2) == ["Book it and then pay. Leave."]


def test_a_long_text_is_split_in_time():
    text = "Find a hotel in Rome and also book a table. " * 3000
    assert len(clauses(text + "a" * 100_000 + " ," * 50_000)) == 6000
    assert clauses("find it" + " " * 200_000 + "in Rome") == ["find it in Rome"]


@given(requests)
@example("and also")
@example("a ; b")
def test_clauses_cover_all_words_but_those_that_join(text):
    parts = clauses(text)
    left = iter(words(re.sub(r"\s+(?=\S)", " ", text.replace("然后", " "))))
    for word in words(" ".join(parts).replace("然后", " ")):
        skipped = _skip_to(word, left)
        assert all(w in JOINTS or w.isdigit() for w in skipped)
    assert all(w in JOINTS or w.isdigit() for w in left)


@given(st.one_of(requests, st.text(max_size=60)), st.integers(0, 5))
def test_no_clause_is_empty_or_has_a_line_break(text, least):
    parts = clauses(text, least)
    assert all(words(part) and part == part.strip() and "\n" not in part for part in parts)
    assert bool(parts) == bool(words(text)) or not plan_steps(text)


@given(st.one_of(requests, st.text(max_size=60)))
def test_no_sentence_or_step_is_empty(text):
    assert all(part and part == part.strip() for part in sentences(text) + plan_steps(text))
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@given(st.text(max_size=60))
def test_words_are_texts_of_letters_and_digits(text):
    for word in words(text):
        # A mark ends the names of a language, such as C# and C++.
        assert re.fullmatch(r"[^\W_]+(?:#|\+\+)?", word) or not word.isascii()


def _skip_to(word, rest):
    skipped = []
    for other in rest:
        if other == word:
            return skipped
        skipped.append(other)
    raise AssertionError(f"{word} is out of place")


def test_what_is_counted_is_one_thing_or_several() -> None:
    assert [counted(n, "query") for n in (0, 1, 2)] == ["0 queries", "1 query", "2 queries"]
    assert counted(1000, "gold call") == "1,000 gold calls"
    assert counted(2, "day") == "2 days"


@pytest.mark.parametrize(
    ("tool", "kinds"),
    [
        ("check_identity", {"read"}),
        ("verify_person", {"read"}),
        ("check_in", set()),
        ("checkout_cart", {"buy"}),
    ],
)
def test_a_tool_that_checks_only_looks(tool: str, kinds: set[str]) -> None:
    assert deeds_of(tool) == kinds


@pytest.mark.parametrize(
    ("tool", "description", "looks"),
    [
        ("get_weather", "", True),
        ("weather", "Look up the weather.", True),
        ("book_status", "Finds the state of a book.", True),
        ("order_list", "List orders.", True),
        ("book_hotel", "Find and book a hotel.", False),
        ("trip", "Finds flights and books them.", False),
        ("weather", "", False),
        ("note", "Write a note.", False),
    ],
)
def test_a_tool_only_looks_by_its_name_or_description(
    tool: str, description: str, looks: bool
) -> None:
    assert only_looks(tool, description) is looks


def test_only_a_tool_that_pays_back_refunds() -> None:
    assert "repay" in deeds_of("cancel_booking") & deeds_of("process_return")
    assert "repay" not in deeds_of("place_order") | deeds_of("book_flight")
