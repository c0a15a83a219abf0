"""Whether a text states a value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seal.evaluation.statements import numbers, read, same_words, statement

STATED = [
    ("It has 1,200 users.", "1200"),
    ("It has 1200.0 users", "1,200"),
    ("**1,234,567.50** in all", "1234567.5"),
    ("1\u202f200 km", "1200"),
    ("Now 21.0 °C", "21"),
    ("Now 21C", "21"),
    ("\u22125 degrees", "-5"),
    ("1e3 points", "1000"),
    ("(5)", "5"),
    ("It is 5.", "5"),
    ("5, then 6", "5"),
    ("temperature=21", "21"),
    ("You pay $5", "5"),
    ("You pay $5", "$5"),
    ("45% are done", "45%"),
    ("气温21度", "21"),
    ("天气北京晴", "北京"),
    ("in PARIS", "Paris"),
    ("Paris-based", "paris"),
    ("Paris,London", "London"),
    ("Caf\u0065\u0301 Noir", "Caf\u00e9 noir"),
    ("by O'Hare", "O\u2019Hare"),
    ("Romeo and Juliet, by him", "Romeo and Juliet"),
    ("on 2024-05-01", "2024-05-01"),
    ("at 10:30.", "10:30"),
    ("No, the count is 5", "5"),
    ("There is no rain and it is 21", "21"),
    ("I could not book it, but a seat costs 50", "50"),
    ("It is not 20. It is 21.", "21"),
    ("post code 02139", "02139"),
]

ABSENT = [
    ("25 is it", "5"),
    ("on 2024-05-01", "5"),
    ("on 2024-05-01", "2024"),
    ("at 10:30:00", "10:30"),
    ("Order AB-12", "12"),
    ("flight A320", "320"),
    ("1,200,300", "200"),
    ("zip 02139", "2139"),
    ("€5", "$5"),
    ("It is -5", "5"),
    ("about 5k", "5"),
    ("twenty-one", "21"),
    ("Parisian", "Paris"),
    ("New Jersey", "New York"),
    ("", "5"),
    ("anything", ""),
    ("anything", "..."),
]

DOUBTFUL = [
    ("I could not find 1200", "1200"),
    ("The 1200 was not found", "1200"),
    ("It isn't 21", "21"),
    ("It is not at 21", "21"),
    ("Is it 21?", "21"),
    ("Paris could not be found", "Paris"),
    ("There are no flights to Paris", "Paris"),
]


@pytest.mark.parametrize(("text", "value"), STATED)
def test_value_is_stated_however_it_is_written(text: str, value: str) -> None:
    assert statement(text, value) == "stated"


@pytest.mark.parametrize(("text", "value"), ABSENT)
def test_part_of_something_else_is_no_statement(text: str, value: str) -> None:
    assert statement(text, value) == "absent"


@pytest.mark.parametrize(("text", "value"), DOUBTFUL)
def test_denied_or_asked_value_is_doubtful(text: str, value: str) -> None:
    assert statement(text, value) == "doubtful"


def test_one_plain_statement_outweighs_a_denial() -> None:
    assert statement("I could not find 1200 at first. It is 1200.", "1200") == "stated"


def test_numbers_stand_on_their_own() -> None:
    assert numbers("7 of 1,200 on 2024-05-01 at 10:30, AB-12, -3") == [7, 1200, -3]


def test_same_words_ignore_case_and_punctuation() -> None:
    assert same_words("It is 21.0 degrees!", "it is 21 degrees")
    assert not same_words("It is 21 degrees", "It is 22 degrees")


@given(st.integers(-(10**12), 10**12), st.sampled_from(["{}", "{:,}", "{}.0", "({})", "is {}!"]))
def test_every_way_to_write_a_whole_number_states_it(number: int, form: str) -> None:
    assert statement(form.format(number), str(number)) == "stated"


@given(st.text(), st.text())
def test_any_text_has_tokens_in_order_and_a_verdict(text: str, value: str) -> None:
    spans = [(token.start, token.end) for token in read(text).tokens]
    assert spans == sorted(spans)
    assert statement(text, value) in {"stated", "doubtful", "absent"}


def test_long_texts_are_searched_at_once() -> None:
    assert statement("not 21 " * 5_000 + "'" * 50_000, "21") == "doubtful"
