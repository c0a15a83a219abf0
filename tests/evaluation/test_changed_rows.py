"""What is said of rows that calls changed, held against these and the others of their table."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from linear import linear
from looped import every_case

from seal.core.facts import Record
from seal.evaluation.changed_rows import ChangedRows, Row

DENTIST = {"id": "E4", "title": "dentist", "day": "2026-03-17", "start": "10:00", "end": "11:00"}
EYES = {"id": "E5", "title": "eye test", "day": "2026-03-18", "start": "11:00", "state": "planned"}
STRANGE = {"id": "E6", "title": "eye test", "day": "2026-03-20", "start": "09:00"}
LETTER = {"id": "M7", "subject": "Dentist", "day": "2026-03-16"}
HOME = {"id": "W1", "address": "177 Mill Lane, Kelmore", "rings": 1763490600.0}
TABLES: dict[str, list[dict[str, Any]]] = {
    "events": [DENTIST, EYES, STRANGE],
    "mails": [LETTER],
    "orders": [HOME],
}
BEFORE: dict[str, list[dict[str, Any]]] = {
    "events": [{**DENTIST, "day": "2026-03-16"}],
    "mails": [],
    "orders": [{**HOME, "address": "174 Mill Lane, Kelmore"}],
}
CHANGED: dict[str, list[dict[str, Any]]] = {
    "events": [DENTIST],
    "mails": [LETTER],
    "orders": [HOME],
}
DONE = {("change", "event"), ("change", "events"), ("remove", "event"), ("add", "mails")}
KNOWN = Record([str([DENTIST, EYES, LETTER, HOME])], datetime(2026, 3, 16, tzinfo=UTC))


def is_wrong(text: str) -> bool:
    return ChangedRows(TABLES, CHANGED, BEFORE, DONE, KNOWN).belie(text)


@every_case(
    ("text", "wrong"),
    [
        ("The dentist begins at 10:00 on Tuesday, 17 March.", False),
        ("The dentist begins at ten o'clock.", False),
        ("The dentist begins at 11:00, as 10:00 was taken.", True),  # when it ends
        ("You had something at 10:00, so the dentist starts at 11.", False),  # no time for sure
        ("The dentist begins at 10:00 on Wednesday, 18 March.", True),
        ("The dentist begins on Wednesday.", True),
        ("The dentist begins an hour before 11:00.", False),
        ("The eye test begins at 11:00.", False),
        ("W1 rings at 6:30 pm on 18 November.", False),
        ("W1 now rings at 7 pm.", True),
        ("Choir begins at 12:00.", False),
    ],
)
def test_a_changed_row_is_when_it_is(text: str, wrong: bool) -> None:
    assert is_wrong(text) is wrong


@every_case(
    ("text", "wrong"),
    [
        ("The dentist is off your calendar.", False),
        ("The eye test is off your calendar.", True),
        ("I cancelled the eye test.", True),
        ("I moved E4.", False),
        ("I've moved E5.", True),
        ("It is changed, for you and for E5.", True),
        ("I moved the dentist, as the eye test is at eleven.", False),
        ("I have not moved the eye test.", False),
        ("The eye test is planned.", False),
        ("The eye test is added.", False),  # no event was added
        ("Whoever has the eye test is written to.", False),
        ("The letter is moved, and the eye test is as it was.", False),
        ("The order still goes to 174 Mill Lane.", True),
        ("The order still goes to 177 Mill Lane.", False),
        ("It was 174 Mill Lane.", False),
    ],
)
def test_a_deed_is_done_to_the_row_that_a_call_changed(text: str, wrong: bool) -> None:
    assert is_wrong(text) is wrong


@pytest.mark.no_cover
@pytest.mark.parametrize("piece", ["begins ", "still goes ", "dentist begins ", "is off your "])
def test_no_text_takes_long_to_hold_against_changed_rows(piece: str) -> None:
    linear(lambda times: is_wrong(piece * times), 50_000 // len(piece))


@pytest.mark.no_cover
def test_a_large_table_takes_linear_time() -> None:
    def hold(count: int) -> None:
        table: list[Row] = [
            {"id": f"E{n}", "title": f"walk {n:x}b", "day": n} for n in range(count)
        ]
        told = Record([str([row["id"] for row in table])])
        rows = ChangedRows({"events": table}, {"events": table[:1]}, {"events": []}, DONE, told)
        rows.belie("The walk 0b begins at 11:00, and walk 1b is off your calendar.")

    linear(hold, 2_000)
