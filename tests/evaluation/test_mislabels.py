"""What is told otherwise than results, tables and calls have it."""

from __future__ import annotations

from datetime import datetime

import pytest
from linear import linear
from looped import every_case

from seal.core.facts import Record
from seal.core.text import stem
from seal.evaluation.mislabels import (
    elsewhere,
    empties,
    is_another,
    lacks_row,
    misnames,
    misrated,
    moved_otherwise,
    on_other_market,
    quoted_otherwise,
    retitled,
    street_of,
    tells_several,
)

SIX, HALF_PAST_SEVEN = datetime(2025, 11, 18, 18), datetime(2025, 11, 18, 19, 30)


@every_case(
    ("text", "wrong"),
    [
        ("I moved it an hour and a half later, to 19:30.", False),
        ("It was moved from 18:00 to 19:30.", False),
        ("I pushed it back by 90 minutes.", False),
        ("I moved it half an hour earlier.", True),
        ("I pushed it back by two hours.", True),
        ("I moved it from 19:30 to 18:00.", True),
        ("I can remind you again later today.", False),
    ],
)
def test_a_moved_time_is_told_as_it_was_moved(text: str, wrong: bool) -> None:
    assert moved_otherwise(text, [(SIX, HALF_PAST_SEVEN)]) is wrong
    assert not moved_otherwise(text, [])


@every_case(
    ("text", "wrong"),
    [
        ("I told Duarte that dinner is at 8 pm.", False),
        ("Duarte knows that supper is at eight.", False),
        ("I told you that it works.", False),
        ("I told Duarte that dinner is at your place at eight.", True),
        ("I told Duarte that lunch is at eight.", True),
        ("I texted Duarte that dinner is at nine pm.", True),
        ("I texted that to Duarte, and dinner is at nine pm.", False),
        ("Duarte knows that dinner is at eight, in Gina's own words.", False),
    ],
)
def test_a_sent_text_says_what_is_told_of_it(text: str, wrong: bool) -> None:
    assert quoted_otherwise(text, ["Dinner is at eight"]) is wrong


@every_case(
    ("text", "wrong"),
    [
        ("Rita Lousada is deleted.", True),
        ("Rita Moniz is deleted.", False),
        ("Rita M. is deleted.", False),
        ("Rita Blum is deleted.", True),
        ("Rita Friday is deleted.", False),
        ("Rita, Lousada and Moniz are deleted.", False),
    ],
)
def test_nobody_has_the_second_name_of_somebody_else(text: str, wrong: bool) -> None:
    names = {"rita": {"moniz"}, "hugo": {"lousada"}}
    known = {stem(word) for word in ("rita", "moniz", "hugo", "lousada", "friday")}
    assert misnames(text, names, known) is wrong


def test_somebody_is_what_the_chat_tells() -> None:
    assert is_another("I told your sister.", {"broth"}, {"brother": 1})
    assert not is_another("I told your brother.", {"broth"}, {"brother": 1})
    assert not is_another("I told your sister.", {"broth"}, {})
    assert not is_another("You have no number of your dentist.", {"broth"}, {"dentist": 1})
    assert is_another("Saved, as a friend.", {"store"}, {"friend": 1})
    assert is_another("She is saved as your colleague.", {"store"}, {"friend": 1})


def test_who_speaks_in_a_sent_text_may_be_named() -> None:
    sent = ["I can come Thursday between 8 and 10"]
    assert not quoted_otherwise("Dad knows that Gus is available Thursday from 8 to 10.", sent)
    assert quoted_otherwise("Dad knows that Gus will come Friday between 8 and 10.", sent)
    assert quoted_otherwise("Dad knows that Gus is asleep.", sent)


@every_case(
    ("text", "wrong"),
    [
        ("I set 'Train to Porto' for Thursday.", False),
        ("I set 'Train to Lisbon' for Thursday.", True),
        ("She wrote 'the bus to Lisbon is late'.", False),
        ("I set 'Lisbon'.", False),
    ],
)
def test_what_was_written_is_quoted_as_it_is(text: str, wrong: bool) -> None:
    told = [" the bus to lisbon is late "]
    assert retitled(text, ["Train to Porto"], told) is wrong
    assert not retitled(text, [], told)


@every_case(
    ("text", "wrong"),
    [
        ("640 pounds are 760 euros, so a pound is worth 1.19 euros.", False),
        ("640 pounds are 760 euros, so one euro = 0.84 pounds.", False),
        ("640 pounds are 760 euros, so a euro is worth 1.19 pounds.", True),
        ("One British pound buys you about 0.84 euros.", True),
        ("A euro is worth 1.5 pounds.", False),
        ("A euro is worth 160 yen.", False),
        ("640 dollars are 760 euros.", True),
        ("640 pounds are 750 dollars.", False),
    ],
)
def test_a_rate_of_two_currencies_has_its_direction(text: str, wrong: bool) -> None:
    assert misrated(text, Record(["640 GBP", "760 EUR"])) is wrong


def test_a_share_is_traded_where_results_have_it() -> None:
    known = {stem(word) for word in ("price", "nyse", "usd")}
    assert on_other_market("It trades at 112.8 on the Nasdaq.", known)
    assert not on_other_market("It trades at 112.8 on the NYSE.", known)
    assert not on_other_market("It trades at 112.8 on the Nasdaq.", {"pric", "usd"})


@every_case(
    ("text", "wrong"),
    [
        ("Both Anns know that you are late.", True),
        ("Both of them now know it.", True),
        ("I texted both of your sisters.", True),
        ("I told Ann that both of you are late.", False),
        ("I sent both texts.", False),
        ("I texted Ann, who is both a friend and a neighbour.", False),
    ],
)
def test_one_text_tells_no_two(text: str, wrong: bool) -> None:
    assert tells_several(text, ["You are late"]) is wrong
    assert not tells_several(text, ["You are late", "You are late"])


def test_a_table_with_rows_is_not_empty() -> None:
    full, empty = {"reminders": [{"text": "Pay"}]}, {"reminders": []}
    assert empties("All your reminders are deleted", full)
    assert empties("I deleted all of the reminders", full)
    assert not empties("All your reminders are deleted", empty)
    assert not empties("I deleted all overdue reminders", full)
    assert not empties("I deleted all reminders that were due", full)


@every_case(
    ("text", "wrong"),
    [
        ("there is no reminder about the landlord", True),
        ("i did not find any reminder about calling the landlord", True),
        ("there is no reminder about the dentist", False),
        ("there is no reminder for friday", False),
        ("there is a reminder about the landlord", False),
    ],
)
def test_a_row_that_was_found_is_not_missing(text: str, wrong: bool) -> None:
    rows = [{"call", "the", "landl", "about", "boil"}]
    assert lacks_row((*text.split(),), {"reminders": (), "contacts": ()}, rows) is wrong


def test_a_message_is_a_text() -> None:
    said, rows = ("there", "was", "no", "text", "from", "ann"), [{"it", "is", "ann"}]
    assert lacks_row(said, {"messages": ()}, rows)
    assert not lacks_row(said, {"reminders": ()}, rows)


@every_case(
    ("text", "wrong"),
    [
        ("there is no rent reminder on your phone", True),
        ("you do not have a rent reminder", True),
        ("there is no cake reminder", False),
        ("there is no rent reminder before friday", False),
    ],
)
def test_without_a_look_a_row_of_a_table_is_not_missing(text: str, wrong: bool) -> None:
    assert lacks_row((*text.split(),), {"reminders": [{"text": "Pay the rent"}]}, []) is wrong


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "piece",
    [
        *("'a b' ", "all reminders ", "a euro is worth 1 pound ", "no reminder about "),
        *("no a reminder ", "both a ", "both as ", "5 usd "),
        *("at 12 Canal Street in Oslo ", "A", "at Aa 1 ", "Da da 7, "),
    ],
)
def test_a_text_is_held_against_rows_in_linear_time(piece: str) -> None:
    def held(times: int) -> None:
        text = piece * times
        retitled(text, ["a b c"], [" a "])
        empties(text, {"reminders": [{}]})
        misrated(text, Record(["640 GBP", "760 EUR"]))
        lacks_row((*text.split(),), {"reminders": [{"text": "x"}]}, [])
        on_other_market(text, {"nyse"})
        tells_several(text, ["a"])
        elsewhere(text, {"12 canal street"}, {"oslo"})
        street_of(text)

    linear(held, 50_000 // len(piece))
