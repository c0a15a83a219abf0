"""Whether a cell of a table that people write tells what gold's cell does."""

from __future__ import annotations

from typing import Any

import pytest
from linear import linear
from looped import every_case

from seal.core.cells import is_alike, misquotes, reworded, with_meanings


@every_case(
    ("kind", "wanted", "found", "expected"),
    [
        ("text", "Dinner is at eight", "Dinner is at 8", True),
        ("text", "Dinner is at eight", "dinner's at 8 pm", True),
        ("text", "Dinner is at eight", "Dinner is at 9", False),
        ("text", "Dinner is at eight", "Dinner is not at 8", False),
        ("text", "Dinner is at eight", "I love you", False),
        ("text", "I'll be ten minutes late", "I will be 10 min late", True),
        ("text", "I'll be ten minutes late", "I'll be late", False),
        ("text", "Lunch with Bo on Monday", "Lunch with Cleo on Monday", False),
        ("text", "I'll be ten minutes late", "I'll be ten hours late", False),
        ("text", "Call on Monday evening", "Call on Monday morning", False),
        ("text", "Dinner is at eight", "Dinner is at nine", False),
        ("text", "Dinner is at eight", "Dinner is at eight o'clock", True),
        ("text", "Dinner is at eight", "Hi Bo, dinner is at 8 pm", True),
        ("text", "Train to Porto", "Train from Porto", False),
        ("text", "Train to Porto", "Train to Porto at eight", False),
        ("text", "I'll be late", "You'll be late", False),
        ("text", "Collect parcel 88213", "Collect parcel no. 88213", True),
        ("text", "It is +351947681372 now", "It is +351 947 681 372 now", True),
        ("text", "It is +351947681372 now", "It is +351 947 681 373 now", False),
        ("text", "It is +351947681372 now", "It is now", False),
        ("time", 1764925200.0, 1764925230.0, True),
        ("time", 1764925200.0, 1764928800.0, False),
        ("time", "17:30", "5.30 pm", True),
        ("phone", "+351 936 118 240", "+351936118240", True),
        ("place", "1420 Larkspur Street", "1420 Larkspur St.", True),
        ("money", "36.50 EUR", "€36.5", True),
        ("money", "36.50 EUR", "€36.05", False),
        ("name", "Sofia Lacerda", 5, False),
    ],
)
def test_cells_that_people_write_are_compared_by_what_they_say(
    kind: str, wanted: Any, found: Any, expected: bool
) -> None:
    assert is_alike(kind, wanted, found) is expected


@every_case(
    ("found", "expected"),
    [
        ("Hand in your tax papers", False),
        ("Handing in the tax papers", False),
        ("Reminder: hand in the tax papers", False),
        ("Submit the tax papers", False),
        ("Photocopy the tax papers", True),
        ("Hand in the rent papers", True),
        ("Hand in the tax papers to Sofia", True),
    ],
)
def test_a_text_is_in_other_words_where_one_is_of_its_own(found: str, expected: bool) -> None:
    request = "Set a reminder for me, please: hand in the tax papers"
    assert reworded("Hand in the tax papers", found, request) is expected


@every_case(
    ("wanted", "found", "expected"),
    [
        ("Collect parcel 88213", "Pick up parcel 88213", True),
        ("Collect parcel 88213", "Parcel 88213 pickup", True),
        ("Collect parcel 88213", "Fetch package #88213", True),
        ("Collect parcel 88213", "Parcel 88213", True),
        ("Collect parcel 88213", "Return parcel 88213", False),
        ("Collect parcel 88213", "Pick up the cake 88213", False),
        ("Collect parcel 88213", "Parcel 88213 was collected", False),
        ("Hand in the tax papers", "Submit tax documents", True),
        ("Hand in the tax papers", "Fill in the tax papers", False),
        ("Hand in the tax papers", "Hand in the exam papers", False),
        ("Dinner is at eight", "Supper is at 8 pm", True),
        ("Dinner is at eight", "Dinner is at my place at eight", False),
        ("Transfer 760 euros", "Wire 760 EUR", True),
        ("Defrost the soup", "Defrost the meat", False),
    ],
)
def test_a_deed_may_be_in_another_verb_of_one_meaning(
    wanted: str, found: str, expected: bool
) -> None:
    assert is_alike("text", wanted, found) is expected


def test_words_of_results_may_stand_beside_all_that_is_wanted() -> None:
    found = "Collect parcel 88213 from the pick-up point"
    assert reworded("Collect parcel 88213", found)
    told = "Your parcel 88213 waits at the pick-up point"
    assert not reworded("Collect parcel 88213", found, known=told)


@every_case(
    ("told", "expected"),
    [
        ("you're running 20 minutes late", False),
        ("you are late", False),
        ("you are 30 minutes late", True),
        ("you are running 20 minutes early", True),
    ],
)
def test_what_is_told_of_a_text_is_in_it(told: str, expected: bool) -> None:
    assert misquotes("I'm running 20 minutes late", told) is expected


@every_case(
    ("sent", "told", "expected"),
    [
        ("I'm late", "Ann is late", False),
        ("I will bring my bag", "Bo will bring the bag", False),
        ("I'm meeting Bob at the station.", "you're meeting Carl at the station", True),
        ("I will be in Paris", "you will be in London", True),
    ],
)
def test_who_speaks_is_no_name_of_a_text_and_others_are(
    sent: str, told: str, expected: bool
) -> None:
    assert misquotes(sent, told) is expected


def test_words_of_one_meaning_are_known_by_each_other() -> None:
    assert "colle" in with_meanings({"cowor"})


@pytest.mark.no_cover
@pytest.mark.parametrize("piece", ["pick up ", "at my place ", "88213 ", "your "])
def test_long_texts_are_compared_in_linear_time(piece: str) -> None:
    def compared(times: int) -> None:
        is_alike("text", "Collect parcel 88213", piece * times)
        reworded("Collect parcel 88213", piece * times)

    linear(compared, 100_000 // len(piece))
