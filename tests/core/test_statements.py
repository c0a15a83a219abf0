"""Whether a text states a value."""

from datetime import date
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from linear import linear
from looped import every_case

from seal.benchmarks.mmtb.generation_scene import Said
from seal.core import Goal, Step, ToolCall
from seal.core.quantities import MONTHS, NUMBER_WORDS, numbers, read
from seal.core.state_conditions import Unconfirmed
from seal.core.statements import Sense, said, statement, states
from seal.evaluation.rule_judge import judge_answer

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
    ("Bo Ek won't get through to you any more", "Bo Ek"),
    ("Paris,London", "London"),
    ("Caf\u0065\u0301 Noir", "Caf\u00e9 noir"),
    ("by O'Hare", "O\u2019Hare"),
    ("Romeo and Juliet, by him", "Romeo and Juliet"),
    ("on 2024-05-01", "2024-05-01"),
    ("at 10:30.", "10:30"),
    ("at 10:30:00", "10:30"),
    ("No, the count is 5", "5"),
    ("There is no rain and it is 21", "21"),
    ("I could not book it, but a seat costs 50", "50"),
    ("It is not 20. It is 21.", "21"),
    ("post code 02139", "02139"),
    ("about twenty-one", "21"),
    ("five dollars", "$5"),
    ("5 percent", "5%"),
    ("[22,33,42]", "33"),
    ("at 46.6,1.88", "1.88"),
    ("a 2-bedroom flat", "2"),
    ("from the 1880s", "1880"),
    ("minus 3 degrees", "-3"),
    ("page 'nine'", "9"),
    ("May 1, 2024", "2024-05-01"),
    ("Jun.20,2023", "2023-06-20"),
    ("2023.10.2", "2023-10-02"),
    ("from April 1-April 30 2023", "2023-04-30"),
    ("the 1st of May, 2024", "2024-05-01"),
    ("22.3.2024", "March 22nd, 2024"),
    ("at half past five in the evening", "17:30"),
    ("on May 1, 2024 at 10:30 am", "2024-05-01T10:30:00Z"),
    ("AB 12", "AB-12"),
    ("full-time", "fullTime"),
    ("ผมชอบข้าว", "ข้าว"),
    ("\u202b1,200\u202c", "1200"),
]

ABSENT = [
    ("25 is it", "5"),
    ("on 2024-05-01", "5"),
    ("on 2024-05-01", "2024"),
    ("at 10:30:45", "10:30"),
    ("Order AB-12", "12"),
    ("flight A320", "320"),
    ("1,200,300", "200"),
    ("zip 02139", "2139"),
    ("€5", "$5"),
    ("It is -5", "5"),
    ("about 5k", "5"),
    ("Parisian", "Paris"),
    ("New Jersey", "New York"),
    ("", "5"),
    ("anything", ""),
    ("anything", "..."),
    ("3/4/2024", "2024-04-03"),
    ("May 1", "2024-05-01"),
    ("this one", "1"),
    ("one of them", "1"),
    ("Gate 8.5", "Gate 8"),
]

DOUBTFUL = [
    ("I could not find 1200", "1200"),
    ("The 1200 was not found", "1200"),
    ("It isn't 21", "21"),
    ("It is not at 21", "21"),
    ("Is it 21?", "21"),
    ("Paris could not be found", "Paris"),
    ("21 won't do any more", "21"),
    ("There are no flights to Paris", "Paris"),
]


@every_case(("text", "value"), STATED)
def test_value_is_stated_however_it_is_written(text: str, value: str) -> None:
    assert statement(text, value) == "stated"


@every_case(("text", "value"), ABSENT)
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
    assert read("It is 21.0 degrees!").values == read("it is 21 degrees").values
    assert read("It is 21 degrees").values != read("It is 22 degrees").values


@given(st.integers(-(10**12), 10**12), st.sampled_from(["{}", "{:,}", "{}.0", "({})", "is {}!"]))
def test_every_way_to_write_a_whole_number_states_it(number: int, form: str) -> None:
    assert statement(form.format(number), str(number)) == "stated"


def in_words(number: int) -> str:
    """The number as it is spelled in English."""
    units = {value: word for word, value in NUMBER_WORDS.items()}
    scales = {10**9: "billion", 10**6: "million", 1000: "thousand", 100: "hundred"}
    for scale, name in scales.items():
        if number >= scale:
            rest = f" {in_words(number % scale)}" if number % scale else ""
            return f"{in_words(number // scale)} {name}{rest}"
    if number in units:
        return units[number]
    return f"{units[number // 10 * 10]}-{units[number % 10]}"


@given(st.integers(0, 10**12 - 1).map(lambda number: (in_words(number), number)))
@example(("one", 1))
@example(("minus a hundred and five", -105))
@example(("2.5 million", 2_500_000))
@example(("33rd", 33))
@example(("twenty-first", 21))
def test_a_number_in_words_is_read_back(written: tuple[str, int]) -> None:
    text, number = written
    assert numbers(f"There is {text}, then") == [number]
    assert states(f"It is {text}.", number)
    assert not states(f"It is not {text}.", number)


ORDERS = (
    "{d} {m} {y}", "{d} {s} {y}", "{o} of {m}, {y}", "the {o} of {m} {y}", "{m} {d}, {y}",
    "{s}. {d}, {y}", "{m} {o} {y}", "{d}-{s}-{y}", "{y}-{n:02d}-{d:02d}", "{y}/{n}/{d}",
)  # fmt: skip
DAYS = st.dates(date(1000, 1, 1), date(9999, 12, 31))


@given(DAYS, st.sampled_from(ORDERS))
def test_a_day_is_stated_in_any_order(day: date, order: str) -> None:
    month = MONTHS[day.month - 1]
    ending = "th" if 10 < day.day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    written = order.format(
        d=day.day, o=f"{day.day}{ending}", m=month, s=month[:3], n=day.month, y=day.year
    )
    for text in (written, f"Come on {written}, please!", written.upper()):
        assert statement(text, day.isoformat()) == "stated"
        assert statement(text, written) == "stated"
        assert not states(text, day.replace(day=day.day % 28 + 1).isoformat())
    assert not states(f"It is not {written}", day.isoformat())
    assert states(written, f"{day.day} {month}")


@given(DAYS)
def test_a_day_with_slashes_is_read_where_one_order_alone_gives_a_day(day: date) -> None:
    clear = day.day > 12 or day.day == day.month
    for text in (f"{day.month}/{day.day}/{day.year}", f"{day.day}.{day.month}.{day.year}"):
        assert states(text, day.isoformat()) is clear


@given(st.integers(0, 23), st.integers(0, 59))
def test_a_time_of_day_is_stated_on_either_clock(hour: int, minute: int) -> None:
    half = "am" if hour < 12 else "pm"
    value = f"{hour:02d}:{minute:02d}"
    for text in (
        value,
        f"{hour % 12 or 12}:{minute:02d} {half}",
        f"{hour % 12 or 12}:{value[3:]}{half}",
    ):
        assert statement(f"At {text}, then.", value) == "stated"
        assert not states(f"Not at {text}.", value)
    assert not states(f"At {value}.", f"{(hour + 12) % 24:02d}:{minute:02d}")


TODAY = date(2019, 3, 1)
"""A Friday."""


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("tomorrow", "2019-03-02"),
        ("the day after tomorrow", "2019-03-03"),
        ("on Monday", "2019-03-04"),
        ("on Friday", "2019-03-08"),
        ("March 8th", "2019-03-08"),
        ("the 8th", "2019-03-08"),
        ("Oct 5", "2019-10-05"),
    ],
)
def test_a_day_is_told_without_its_year_where_the_clock_is_known(text: str, day: str) -> None:
    assert states(f"Is it {text}?", day, Sense(today=TODAY))
    assert not states(f"Is it {text}?", day)
    assert not states(f"Is it {text}?", "2019-03-19", Sense(today=TODAY))
    assert not states(f"Is it {text}?", "2021-03-08", Sense(today=TODAY))


def test_only_what_is_said_to_be_so_states_a_truth_of_that_name() -> None:
    sense = Sense("refundable")
    text = "Two bags, non-refundable"
    assert states(text, False, sense) and not states(text, True, sense)
    assert states("A refundable ticket", True, sense)
    assert not states("A ticket", True, sense) and not states("A ticket", False, sense)
    assert not states("It hasn't been turned on", True)


def test_a_part_of_a_day_or_time_is_stated_under_its_name() -> None:
    text = "July 14th, 2026 at 5:30 pm"
    found = {part: states(text, value, Sense(part)) for part, value in PARTS.items()}
    assert all(found.values()), found
    assert states(text, 0.05, Sense("rate")) is False
    assert states("at 5 percent", 0.05, Sense("rate"))
    assert states("in July", 7, Sense("month")) and not states("in July", 7)


PARTS = {"year": 2026, "month": 7, "day": 14, "start_hour": 17, "minute": 30}


@pytest.mark.parametrize(
    ("text", "value", "found"),
    [
        ("['08:15', '17:40']", "08:15 and 17:40", "stated"),
        ("At 17:40, and one at quarter past eight.", "08:15 and 17:40", "stated"),
        ("[30, 20, 10]", "10, 20 and 30", "stated"),
        ("Oslo first, then Bergen.", "Bergen & Oslo", "stated"),
        ("Only at 08:15.", "08:15 and 17:40", "absent"),
        ("Not at 08:15, but at 17:40.", "08:15 and 17:40", "doubtful"),
        ("A salt cellar and a pepper mill.", "salt and pepper", "absent"),
        ("The 5th of March, in room 2026.", "March 5, 2026", "absent"),
        ("415, then 555 and 0199", "415 555 0199", "absent"),
    ],
)
def test_a_text_that_lists_values_is_stated_where_each_is(
    text: str, value: str, found: str
) -> None:
    assert statement(text, value) == found
    assert states(text, value) == (found != "absent" and "Not" not in text)


def test_a_value_is_stated_where_all_that_it_holds_is() -> None:
    value = {"what": ["two tickets", {"on": "2024-05-01"}], "none": None, "empty": ""}
    assert states("Two tickets for May 1, 2024", value)
    assert not states("Two tickets for May 2, 2024", value)
    nested: Any = 7
    for _ in range(100_000):
        nested = [nested]
    assert states("7", nested) and not states("8", nested)


def test_the_words_that_state_a_value_are_given() -> None:
    assert said("Book it for May 1, 2024.", "2024-05-01") == "may 1, 2024"
    assert said("Book it.", "2024-05-01") is None
    assert said("It is on.", True) == ""


PROBES = [
    ("It costs five dollars", 5, True),
    ("It is on May 1, 2024", "2024-05-01", True),
    ("I turned it on", True, True),
    ("It is not 7", 7, False),
    ("It was on 22/3/2024", "2024-03-22", True),
    ("It begins at 5:30 pm", "17:30", True),
    ("It is a hundred and five", 105, True),
    ("It is for Bo EK", "Bo Ek", True),
    ("It isn't Bo Ek", "Bo Ek", False),
    ("It is 1,200.0", 1200, True),
    ("Order AB-12", 12, False),
    ("It has been turned off", True, False),
]


def in_a_confirmation(text: str, value: Any) -> bool:
    call = ToolCall("call_0", "do", {"x": value}, tool="p/do")
    steps = [
        Step(0, "execution_manager", "user_simulator", f"{text}. Shall I go ahead?"),
        Step(1, "user_simulator", "execution_manager", "Yes."),
        Step(2, "execution_manager", "executor", call=call),
    ]
    return not Unconfirmed(("p/do",)).among(steps).similarity(steps[2], {})


def to_a_judge(text: str, value: Any) -> bool:
    return judge_answer(Goal("?", answers=(str(value),)), text).label == "solved"


def in_an_earlier_mission(text: str, value: Any) -> bool:
    return Said("", (), (), "", date(2024, 3, 1)).states(value, [text])


@every_case(("text", "value", "expected"), PROBES)
def test_all_who_ask_agree(text: str, value: Any, expected: bool) -> None:
    answers = {
        "states": states(text, value),
        "confirmation": in_a_confirmation(text, value),
        "mission": in_an_earlier_mission(text, value),
    }
    if not isinstance(value, bool):  # answers are texts
        answers["judge"] = to_a_judge(text, value)
    assert set(answers.values()) == {expected}, answers


@given(st.text(), st.text())
def test_any_text_has_tokens_in_order_and_a_verdict(text: str, value: str) -> None:
    spans = [(token.start, token.end) for token in read(text).tokens]
    assert spans == sorted(spans)
    assert statement(text, value) in {"stated", "doubtful", "absent"}
    assert states(text, value) or statement(text, value) != "stated"


NAMES = st.text(st.characters(categories=("L",)), min_size=1, max_size=12)
AROUND = ("{}", "to {}.", "({})", "\u200f{}\u200e", "«{}», she said", "a\n{}\nb")


@given(NAMES, st.sampled_from(AROUND))
def test_a_name_is_stated_whatever_stands_around_it(name: str, around: str) -> None:
    assert states(around.format(name), name)
    assert states(around.format(name.casefold()), name)


HOSTILE = {
    "digits": "7",
    "codes": "a-1-",
    "commas": "1,000",
    "words": "twenty ",
    "scales": "a thousand and ",
    "days": "May 1, ",
    "times": "5:30 ",
    "switches": "turn ",
    "denials": "not 7? ",
    "brackets": "[",
    "marks": "\u202e\u0301",
    "blanks": "on    ",
    "lines": "yes!\n",
}
VALUES = (7, "2024-05-02", "17:31", "Bo Ek", "+46700233", True, "\u05d0", 10**5000)


@pytest.mark.parametrize("part", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_take_time_with_their_length(part: str) -> None:
    def read(times: int) -> None:
        for value in VALUES:
            states(part * times, value, Sense("wifi", today=TODAY))

    linear(read, 2**17 // len(part))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She wrote: the slides are on the shared drive Anything else?", "stated"),
        ("Is it on the shared drive or anything else?", "doubtful"),
        ("Do you mean the shared drive? Anything else?", "doubtful"),
    ],
)
def test_an_offer_of_further_help_asks_nothing_of_what_was_said_before(text, expected) -> None:
    assert statement(text, "shared drive") == expected
