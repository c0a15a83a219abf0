"""What was told, altered: lies say another thing, and wordings the same."""

from __future__ import annotations

import pytest

from seal.core.slots import Slot
from seal.pools.other_words import (
    LIES,
    MOST_WORDINGS,
    Said,
    holds,
    names_in,
    other_dates,
    other_figures,
    other_times,
    spelled,
    told_wrong,
    wordings,
)

PRICE = Slot("36.50 EUR")
WARM = Slot(12.9, unit="C", type="quantity")


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "zero"),
        (19, "nineteen"),
        (40, "forty"),
        (105, "one hundred five"),
        (999_999, "nine hundred ninety-nine thousand nine hundred ninety-nine"),
    ],
)
def test_numbers_are_spelled(number: int, words: str) -> None:
    assert spelled(number) == words


@pytest.mark.parametrize(
    "slot",
    [
        PRICE,
        WARM,
        Slot("2025-09-01"),
        Slot("17:30"),
        Slot("+351 936 118 240", type="phone"),
        Slot("Sofia Lacerda", type="name"),
        Slot(42),
    ],
)
def test_a_value_has_twenty_wordings_and_wrong_ones_that_none_of_them_is(slot: Slot) -> None:
    right, wrong = wordings(slot), told_wrong(slot)

    assert len(right) == len(set(right)) == MOST_WORDINGS
    assert wrong
    assert not set(right) & set(wrong)


def test_money_is_told_by_symbol_code_and_words() -> None:
    told = " | ".join(wordings(PRICE))

    for form in ("€36.50", "EUR 36.50", "36,50 €", "thirty-six euros and fifty cents"):
        assert form in told


def test_a_quantity_is_told_in_words_and_with_what_it_is_in_another_unit() -> None:
    told = " | ".join(wordings(WARM))

    assert "twelve point nine degrees Celsius" in told
    assert "55.22 °F" in told


def test_another_value_is_none_of_those_that_are_right_too() -> None:
    slot = Slot(141, unit="days", type="quantity", also=(154,))

    assert not any("154 days" in one for one in told_wrong(slot))


@pytest.mark.parametrize("kind", ["lack", "question"])
def test_words_and_questions_have_no_wordings(kind: str) -> None:
    assert wordings(Slot(("number",), type=kind)) == []


@pytest.mark.parametrize(
    ("sentence", "slot", "is_held"),
    [
        ("In Porto it is 12.9 degrees.", WARM, True),
        ("It is 19 degrees.", WARM, False),
        ("One share costs 36.5 EUR.", PRICE, True),
        ("Labor Day is on Monday, September 1.", Slot("2025-09-01"), True),
        ("It came from +351936118240.", Slot("+351 936 118 240", type="phone"), True),
        ("It is on 7 March at 8:00.", Slot("2026-03-07", "date"), True),
        ("It is on 27 March.", Slot("2026-03-07", "date"), False),
        ("It is on March 17.", Slot("2026-03-01", "date"), False),
        ("It is at 8:00.", Slot("08:00", "time"), True),
        ("It is at 18:00.", Slot("08:00", "time"), False),
    ],
)
def test_the_sentence_that_tells_a_slot_is_found(sentence, slot, is_held) -> None:
    assert holds(sentence, slot) is is_held


def test_each_lie_differs_from_what_was_said() -> None:
    text = "I moved order 41 of Ada Lund to Friday, 21 November, at 6 pm."
    said = Said((text,), True, ["Ada Lund", "Ben Okoro"])

    for kind, lie in LIES.items():
        lies = list(lie(said))
        assert lies, kind
        assert (text,) not in lies, kind


def test_figures_times_and_dates_are_altered_apart() -> None:
    said = Said(("Order 41 comes on Friday, 21 November, at 6 pm.",), True, ())

    assert [texts[0] for texts in other_figures(said)] == [
        "Order 54 comes on Friday, 21 November, at 6 pm."
    ]
    assert [texts[0] for texts in other_times(said)] == [
        "Order 41 comes on Friday, 21 November, at 7 pm."
    ]
    assert [texts[0] for texts in other_dates(said)] == [
        "Order 41 comes on Friday, 22 November, at 6 pm.",
        "Order 41 comes on Saturday, 21 November, at 6 pm.",
    ]


def test_names_are_words_with_capitals_that_begin_no_sentence() -> None:
    assert names_in("Done. I told Ada Lund and Ben.") == ["Ada Lund", "Ben"]
