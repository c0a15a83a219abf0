"""How right the judge of messages is, on 600 replies that two readers labelled.

The rules were made with the half "made" in view; "held" was only counted. The bounds are what was
reached: fewer right ones or more wrong ones are a change for the worse.
"""

from collections import Counter
from pathlib import Path

import pytest
from labelled_replies import Label, counts, files, read

from seal.core.acts import acts
from seal.evaluation.words import may_claim

Reached = dict[Label, tuple[int, int, int, int]]
"""For each act: right and wrong of what was said to be done, right and wrong of what was not."""

OWN_MADE: Reached = {
    "asks": (21, 0, 68, 0),
    "asks_leave": (5, 0, 79, 0),
    "refuses": (8, 0, 26, 2),
    "claims_deed": (12, 0, 34, 2),
    "denies_deed": (5, 0, 60, 0),
    "promises": (6, 0, 77, 0),
    "states": (65, 2, 9, 0),
    "agrees": (7, 0, 21, 0),
}
OWN_HELD: Reached = {
    "asks": (15, 2, 66, 0),
    "asks_leave": (2, 0, 75, 1),
    "refuses": (3, 1, 15, 0),
    "claims_deed": (7, 2, 26, 1),
    "denies_deed": (1, 0, 50, 3),
    "promises": (1, 0, 81, 0),
    "states": (67, 1, 1, 1),
    "agrees": (2, 0, 26, 1),
}
REAL_MADE: Reached = {
    "asks": (52, 0, 76, 0),
    "asks_leave": (16, 0, 102, 0),
    "refuses": (31, 0, 68, 0),
    "claims_deed": (19, 0, 80, 0),
    "denies_deed": (1, 0, 105, 0),
    "promises": (16, 0, 106, 0),
    "states": (74, 0, 18, 0),
    "agrees": (4, 0, 12, 0),
}
REAL_HELD: Reached = {
    "asks": (48, 0, 71, 0),
    "asks_leave": (19, 0, 91, 0),
    "refuses": (24, 0, 63, 2),
    "claims_deed": (16, 1, 78, 3),
    "denies_deed": (0, 0, 103, 0),
    "promises": (15, 0, 100, 0),
    "states": (69, 3, 12, 0),
    "agrees": (5, 0, 8, 0),
}


def check(
    found: dict[tuple[str, Label], Counter[tuple[bool, bool | None]]], half: str, reached: Reached
) -> None:
    for act, (right, wrong, rightly_not, wrongly_not) in reached.items():
        tally = found[half, act]
        assert tally[True, True] >= right, act
        assert tally[False, True] <= wrong, act
        assert tally[False, False] >= rightly_not, act
        assert tally[True, False] <= wrongly_not, act


def test_replies_of_our_own_are_judged_as_readers_judge_them() -> None:
    found = counts(list(read(None)))
    check(found, "made", OWN_MADE)
    check(found, "held", OWN_HELD)


def test_real_replies_are_judged_as_readers_judge_them(seal_data: Path) -> None:
    if missing := [file for file in sorted(files(seal_data)) if not file.is_file()]:
        pytest.skip(
            f"SEAL_DATA lacks {missing[0].relative_to(seal_data)} and {len(missing) - 1} more"
        )
    found = counts(list(read(seal_data)))
    check(found, "made", REAL_MADE)
    check(found, "held", REAL_HELD)


def test_every_span_is_of_its_text() -> None:
    replies = list(read(None))
    assert len(replies) == 300
    assert all(
        span in reply.text for reply in replies for spans in reply.acts.values() for span in spans
    )


def test_no_reply_claims_a_deed_without_a_word_for_which_it_is_read() -> None:
    for reply in read(None):
        shown = acts(reply.text, reply.before, reply.speaker).deeds
        assert may_claim(reply.text) or not shown, reply.text
