"""Of what a text speaks, phrase by phrase; its values are tested through those who ask."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from linear import linear
from looped import every_case

from seal.core import Step, ToolCall, ToolResult
from seal.core.facts import Record, phrases
from seal.core.quantities import read
from seal.core.text import stem
from seal.core.values import json_text


def spoken_of(text: str) -> list[str]:
    whole = read(text)
    return [whole.said(phrase.start, phrase.end) for phrase in phrases(whole)]


@every_case(
    ("text", "parts"),
    [
        ("It is 92.3 °F, with thunderstorms.", ["It is 92.3 °F", "with thunderstorms"]),
        ("Sofia, your dentist, called.", ["Sofia", "your dentist", "called"]),
        ("At 9 a.m. I did it! Shall I go on?", ["At 9 a.m", "I did it"]),
        ("Both know. Have a good trip!", ["Both know"]),
        ("Is it warm?", []),
        ("", []),
    ],
)
def test_a_text_is_read_in_phrases_but_for_questions_and_wishes(
    text: str, parts: list[str]
) -> None:
    assert [one.rstrip(".") for one in spoken_of(text)] == parts


@every_case(
    ("text", "deed"),
    [
        ("I've sent it.", "sent"),
        ("The invoice was forwarded.", "forwarded"),
        ("Your dinner on Friday is now moved.", "moved"),
        ("I have not sent it.", ""),
        ("I could have sent it.", ""),
        ("Then I'll set it.", ""),
        ("Closed at 1.27.", ""),
    ],
)
def test_a_phrase_may_claim_a_deed(text: str, deed: str) -> None:
    assert [phrase.deed for phrase in phrases(read(text))] == [deed]


def test_forms_of_a_word_are_one_and_small_words_name_nothing() -> None:
    assert {*map(stem, ("reserve", "reserved", "reservation"))} == {"reser"}
    assert stem("snowing") == stem("snow")
    assert next(iter(phrases(read("There it is, right now.")))).stems == frozenset()


def test_a_number_of_one_unit_is_none_of_another_because_a_call_repeats_it() -> None:

    record = Record(["20 cm high"])
    record.add_step(Step(0, "execution_manager", "executor", call=ToolCall("1", "x", {"h": 20})))
    assert record.unexplained("It takes 20 days.") == ["20"]
    assert record.unexplained("It is 20 cm.") == []


@every_case(
    ("said", "odd"),
    [
        ("17 are unread, 223 are read.", []),
        ("17 are unread, 257 are not.", ["257"]),  # no sum of what is not said
        ("223 are read.", ["223"]),
    ],
)
def test_what_is_reckoned_is_reckoned_with_a_value_that_is_said(said: str, odd: list[str]) -> None:
    assert Record(["unread 17, total 240"]).unexplained(said) == odd


@every_case(
    ("said", "odd"),
    [
        ("It was eight days overdue.", []),
        ("It was nine days overdue.", ["nine"]),
        ("It rings in nine hours, over a week later.", []),
        ("It rings in 540 minutes.", []),
        ("It rings in seven hours.", ["seven"]),
        ("Christmas is in five weeks.", []),
        ("Christmas is in about 1.2 months.", []),
        ("Christmas is in four months.", ["four"]),
    ],
)
def test_time_passes_between_moments_and_the_clock(said: str, odd: list[str]) -> None:
    now = datetime(2025, 11, 18, 10, 30, tzinfo=UTC)
    moments = [datetime(2025, 11, 10, 9, tzinfo=UTC), datetime(2025, 11, 18, 19, 30, tzinfo=UTC)]
    told = [*(str(int(one.timestamp())) for one in moments), "Christmas: 2025-12-25"]
    assert Record(told, now).unexplained(said) == odd


@every_case(
    ("said", "odd"),
    [
        ("She lives in Lisbon (1100-062).", []),
        ("She lives in Lisbon (1100-068).", ["1100-068"]),
    ],
)
def test_a_postcode_in_brackets_is_told_as_it_was_written(said: str, odd: list[str]) -> None:
    record = Record(["Rua da Palmeira Brava 18, 1100-062 Lisboa, Portugal"])
    assert record.unexplained(said) == odd


@every_case(
    ("said", "odd"),
    [
        ("It comes on the 26th, or on the 2nd.", []),
        ("It comes on the 27th.", ["27th"]),
        ("You owe 228 euros (192 pounds, at 1.19 euros to the pound).", []),
        ("You owe 228 euros (192 pounds, at 1.29 euros to the pound).", ["1.29"]),
        ("You owe 228 euros (192 pounds), and 1.19 euros of it are tax.", ["1.19"]),
        ("That is about 34.22 francs a share.", []),
        ("That is about 34.32 francs a share.", ["34.32"]),
        ("That is about 34.22 francs.", ["34.22"]),
        ("You are away for 16 days.", []),
        ("You are away for 17 days.", ["17"]),
    ],
)
def test_what_follows_from_two_values_or_names_a_day_is_explained(
    said: str, odd: list[str]
) -> None:
    told = ["2025-11-26, 228 EUR, 192 GBP, 80 pieces, 2737.5 francs, 1 2 3 4 5 6 7 8 9 11"]
    days = {"first": "2026-04-02", "last": "2026-04-17"}
    record = Record(told)
    record.add_step(Step(0, "execution_manager", "executor", call=ToolCall("1", "x", days)))
    assert record.unexplained(said) == odd


def test_a_rate_is_explained_by_what_is_told_and_a_place_by_its_stem() -> None:
    record = Record(["250 EUR are 40000 JPY in Lisboa"])
    assert record.unexplained("You get 40,000 yen, so 16,000 yen per 100 euros.") == []
    assert record.unexplained("You get 40,000 yen, so 17,000 yen per 100 euros.") == ["17,000"]
    assert record.unexplained("You get 40,000 yen in Lisbon.", names=True) == []
    assert record.unexplained("You get 40,000 yen in Porto.", names=True) == ["Porto"]


@given(st.text(max_size=200))
def test_any_text_has_phrases(text: str) -> None:
    whole = read(text)
    assert all(0 <= one.start <= one.end <= len(whole.plain) for one in phrases(whole))


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "piece", ["a", "a ", "I sent it, ", "9 a.m. ", "- ", "?", "and ", "\u201c"]
)
def test_no_text_takes_long_to_part(piece: str) -> None:
    linear(lambda length: list(phrases(read((piece * length)[:length]))), 200_000)


@pytest.mark.parametrize(
    ("text", "odd"),
    [
        ("21 330 9912", []),
        ("2133 09912", []),
        ("21-330-9912 at 11:20", []),
        ("21 331 9912", ["21", "331", "9912"]),
        ("It is set for 20/11 at 7h15.", []),
        ("It is set for 11/20.", []),
        ("It is set for 21/11.", ["21/11"]),
    ],
)
def test_known_numbers_and_days_are_known_however_they_are_written(
    text: str, odd: list[str]
) -> None:
    record = Record(["+351213309912", "2025-11-20 07:15", "at 11:20"])

    assert record.unexplained(text) == odd


@every_case(
    ("text", "odd"),
    [
        ("It holds three lamps.", ["three"]),
        ("It holds two lamps.", []),
        ("I looked at three pages, and at ten of them twice.", []),
    ],
)
def test_of_what_was_told_there_are_no_more_than_a_list_holds(text: str, odd: list[str]) -> None:
    value = {"items": ["lamp", "rug"]}
    record = Record([])
    result = ToolResult("c", json_text(value), None, value)
    record.add_step(Step(0, "executor", "agent", result.content, result=result))

    assert record.unexplained(text) == odd


@pytest.mark.parametrize(
    ("told", "text", "odd"),
    [
        ("+34612445901", "I had left out Spain's code.", []),
        ("the Spanish number", "I had left out Spain's code.", []),
        ("707 200 300", "I had left out Spain's code.", ["Spain"]),
        ("+351707200300", "That is a number of Portugal.", []),
        ("+351707200300", "That is a number of Spain.", ["Spain"]),
    ],
)
def test_a_country_is_known_by_its_adjective_and_by_its_code(
    told: str, text: str, odd: list[str]
) -> None:
    assert Record([told]).unexplained(text, names=True) == odd


@every_case(
    ("text", "odd"),
    [
        ("It comes at 7.30 pm instead of 6.", []),
        ("It comes at 7.30 pm instead of 4.", ["4"]),
        ("It comes at 7.30 pm to 6 people.", ["6"]),
        ("The high is 92.3 °F, the low 62.6.", []),
        ("The high is 92.3 °F, the low 60.2.", ["60.2"]),
    ],
)
def test_hours_and_degrees_may_leave_their_unit_to_the_value_beside_them(
    text: str, odd: list[str]
) -> None:
    assert Record(["from 18:00 to 19:30", "33.5", "17.0"]).unexplained(text) == odd


def test_days_beside_the_first_and_the_last_day_are_no_fault():
    record = Record(["valid from 0001-01-01 until 9999-12-31"])
    record.add_days_beside()
    assert record.unexplained("until 30 December 9999") == []


def test_control_characters_are_no_numbers():
    call = ToolCall("c", "find", {"code": "\x01" * 200_000 + "7 \x1f"}, tool="find")
    record = Record()
    record.add_step(Step(0, "execution_manager", "executor", call=call))
    assert [str(one.number) for one in read(json_text(call.arguments)).quantities] == ["7"]
    assert record.unexplained("It is 7.") == []
    assert record.unexplained("It is 1.") == ["1"]

    def read_marks(length):
        call = ToolCall("c", "find", {"code": "\x01" * length}, tool="find")
        Record().add_step(Step(0, "execution_manager", "executor", call=call))

    linear(read_marks, 200_000)


def test_what_is_left_of_a_time_is_explained() -> None:
    record = Record(["9780 seconds", '{"hours": 2, "minutes": 43}', "2 h 43 min"])
    assert record.unexplained("9,780 s are 2 hours, and 2,580 s are left.") == []
    assert record.unexplained("9,780 s are 2 hours, and 2,680 s are left.") == ["2,680"]
