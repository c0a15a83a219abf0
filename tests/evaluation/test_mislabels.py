"""What is told otherwise than results, tables and calls have it."""

from __future__ import annotations

from datetime import datetime

from looped import every_case

from seal.evaluation.mislabels import is_another, moved_otherwise, quoted_otherwise

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
    ],
)
def test_a_sent_text_says_what_is_told_of_it(text: str, wrong: bool) -> None:
    assert quoted_otherwise(text, ["Dinner is at eight"]) is wrong


def test_somebody_is_what_the_chat_tells() -> None:
    assert is_another("I told your sister.", {"broth"}, {"brother": 1})
    assert not is_another("I told your brother.", {"broth"}, {"brother": 1})
    assert not is_another("I told your sister.", {"broth"}, {})
    assert not is_another("You have no number of your dentist.", {"broth"}, {"dentist": 1})
    assert is_another("Saved, as a friend.", {"store"}, {"friend": 1})
