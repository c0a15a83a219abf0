"""What is read of a text: numbers, units, days and times."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from linear import linear
from looped import every_case

from seal.core.quantities import Day, Time, Unit, is_foreign, normalise, numbers, read

QUANTITIES = [
    ("about 5k", [("5000", None)]),
    ("$3m", [("3000000", "usd")]),
    ("$5m in all", [("5000000", "usd")]),
    ("5m long", [("5", "m")]),
    ("5 million dollars", [("5000000", "usd")]),
    ("1 h 20 min", [("1.3333", "h")]),
    ("6 ft 2 in", [("6.1667", "ft")]),
    ("an hour and a half", [("1.5", "h")]),
    ("half an hour", [("0.5", "h")]),
    ("two and a half hours", [("2.5", "h")]),
    ("three point five", [("3.5", None)]),
    ("5 dollars and 60 cents", [("5.6", "usd")]),
    ("four hundred ten euros and sixty cents", [("410.6", "eur")]),
    ("60 cents", [("0.6", "usd")]),
    ("**2** hours and **43** minutes", [("2.7167", "h")]),
    ("- **Hours:** 2\n- **Minutes:** 43", [("2.7167", "h")]),
    ("| Miles | 12 |", [("12", "mi")]),
    ("€**36.50**, `17.4` °C", [("36.5", "eur"), ("17.4", "c")]),
    ("Min: 12, day: 5, 2 * 3", [("12", None), ("5", None), ("2", None), ("3", None)]),
    ("EUR 5 or 12.50$", [("5", "eur"), ("12.5", "usd")]),
    ("410,60 Euro", [("410.6", "eur")]),
    ("1.200,50 Euro", [("1200.5", "eur")]),
    ("Der Preis ist 1.200 Euro", [("1200", "eur")]),
    ("It has 1,200 users", [("1200", None)]),
    ("1'200 francs", [("1200", "chf")]),
    ("１２３", [("123", None)]),
    ("92.3 °F, 33,5 degrees Celsius", [("92.3", "f"), ("33.5", "c")]),
    ("30-40%", [("30", None), ("40", "%")]),
    ("5 per cent", [("5", "%")]),
    ("0.7 miles", [("0.7", "mi")]),
    ("AB-12 and 10.0.0.1, v1.2.3 or 415-555-0199", []),
]


@every_case(("text", "wanted"), QUANTITIES)
def test_a_quantity_is_read_however_it_is_written(text, wanted) -> None:
    found = read(text).quantities
    assert [unit for _, unit, *_ in found] == [unit for _, unit in wanted]
    for (number, *_), (told, _) in zip(found, wanted, strict=True):
        assert abs(number - Decimal(told)) < Decimal("0.0001")


TIMES = [
    ("19h30", Time(19, 30)),
    ("7.30pm", Time(19, 30)),
    ("7:30 p.m.", Time(19, 30)),
    ("11:20:00", Time(11, 20)),
    ("11:20:35", Time(11, 20, True, 35)),
    ("half past seven", Time(7, 30, False)),
    ("half past 7 in the evening", Time(19, 30)),
    ("quarter to nine", Time(8, 45, False)),
    ("twenty-five to eight", Time(7, 35, False)),
    ("ten to six.", Time(5, 50, False)),
    ("seven thirty pm", Time(19, 30)),
    ("12:30 p.m.", Time(12, 30)),
    ("12 am", Time(0, 0)),
    ("8 tonight", Time(20, 0)),
    ("noon", Time(12, 0)),
]


@every_case(("text", "wanted"), TIMES)
def test_a_time_of_day_is_read_however_it_is_written(text: str, wanted: Time) -> None:
    assert [value for value in read(text).values if isinstance(value, Time)] == [wanted]


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Dinner is at 8", Time(8, 0, False)),
        ("by eight", Time(8, 0, False)),
        ("19h", Time(19, 0)),
        ("at 19.30", Time(19, 30)),
        ("room 8", None),
        ("ten to six people", None),
    ],
)
def test_a_number_may_be_a_time_where_it_stands_as_one(text: str, other: Time | None) -> None:
    found = [other for token in read(text).tokens for other in token.others]
    assert found == ([] if other is None else [other])


def test_both_days_are_told_where_the_order_is_not_clear() -> None:
    (token,) = read("3/4/2024").tokens
    assert set(token.others) == {Day(2024, 3, 4), Day(2024, 4, 3)}
    assert read("3/22/24").values == read("Mar. 22nd, 2024").values == [Day(2024, 3, 22)]
    assert read("May 20th: a flight").values[0] == Day(None, 5, 20)


def test_ten_to_six_people_is_no_time_and_a_range_has_two_ends() -> None:
    assert numbers("ten to six people") == [10, 6]
    assert read("10:30–11:45").values == [Time(10, 30), Time(11, 45)]
    assert read("9:05am–10pm").values == [Time(9, 5), Time(22, 0)]


def test_a_unit_stands_after_its_number_as_a_unit() -> None:
    assert read("You pay $5").values[-2:] == [5, "usd"]
    assert isinstance(read("You pay $5").values[-1], Unit)


@pytest.mark.parametrize(
    ("text", "foreign"),
    [
        ("Der Flug ist gebucht und kostet 410,60 Euro.", True),
        ("Le vol est réservé, il coûte 410,60 euros.", True),
        ("航班已预订，价格为410.60元。", True),
        ("The flight is booked and costs 410.60 euros.", False),
        ("Booked: Lisbon, 410.60", False),
        ("Die Hard, 1988", False),
        ("Ihr Flug ist gebucht", True),
        ("", False),
    ],
)
def test_another_language_is_told_by_its_small_words(text: str, foreign: bool) -> None:
    assert is_foreign(text.casefold()) is foreign


@given(st.text())
def test_each_token_stands_in_the_text_in_order(text: str) -> None:
    whole = read(text)
    spans = [(token.start, token.end) for token in whole.tokens]
    assert spans == sorted(spans)
    assert all(0 <= start <= end <= len(whole.plain) for start, end in spans)
    # What nobody sees is of no token; at the end of a text it is not told either.
    assert normalise(whole.said(0, len(whole.plain))) == whole.plain


def test_the_words_of_the_source_are_told_by_their_place_in_the_plain_text() -> None:
    whole = read("Ca\u0301fe \ufb01ne: 5 \u2103, \u200bÜber")
    assert [whole.said(token.start, token.end) for token in whole.tokens] == [
        *("Cáfe", "ﬁne", "5", "℃", "Über")
    ]


HOSTILE = (
    *("7", "7,", "7 ", "a-1-", "1,000", "twenty ", "a thousand and ", "May 1, ", "5:30 "),
    *("half past ", "an hour ", "$", "$5 ", "5 ft ", "and a half ", "point one ", "minus "),
    *("\u202e\u0301", "é", "天"),
)


@pytest.mark.no_cover
@pytest.mark.parametrize("part", HOSTILE)
def test_reading_takes_time_with_the_length(part: str) -> None:
    linear(lambda times: read(part * times).quantities, 200_000 // len(part))
