"""What a query must be: values stated, calls that bring something, nothing said twice."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from query_pools import seed_of, tool_of

from seal.benchmarks.toolscan.generation_filters import (
    Likenesses,
    Vocabulary,
    is_empty,
    likeness,
    paraphrase_fault,
    shingles,
)
from seal.core.quantities import days, read
from seal.core.statements import Sense, states
from seal.pools.reading.tables import escaped, unescaped

WORDS = st.lists(st.sampled_from(["boat", "port", "ferry", "noon", "dog"]), min_size=1, max_size=9)
TEXTS = WORDS.map(" ".join)


@pytest.mark.parametrize(
    ("value", "text", "name", "stated"),
    [
        ("Ilse Brandt", "What did ilse brandt paint?", "artist", True),
        ("Ilse Brandt", "What did Brandt, Ilse paint?", "artist", False),
        ("2026-07-14", "on 14 July 2026", "date", True),
        ("2026-07-14", "July 14th, 2026, please", "date", True),
        ("2026-07-14", "on 14 July", "date", False),
        (24000, "I borrow 24,000 euros", "amount", True),
        (4.5, "at 4.5 percent", "rate", True),
        (4, "at 4.5 percent", "rate", False),
        (3, "three nights", "nights", True),
        (7, "in July", "month", True),
        (7, "in July", "nights", False),
        (-5, "down to -5 degrees", "low", True),
        (True, "with breakfast", "breakfast_included", True),
        (True, "with a pool", "breakfast_included", False),
        (["grass", "olive"], "grass and olive", "plants", True),
        (["grass", "olive"], "grass alone", "plants", False),
        ({"length": 30, "width": 20}, "30 by 20", "size", True),
        (None, "anything", "x", True),
        ("", "anything", "x", True),
        ("C++", "in C++", "language", True),
    ],
)
def test_a_value_is_stated_in_any_usual_form(value, text, name, stated):
    assert states(text, value, Sense(name)) is stated


@given(
    st.recursive(
        st.integers(-(2**53), 2**53) | TEXTS,
        lambda inner: st.lists(inner, min_size=1),
        max_leaves=5,
    )
)
def test_what_is_told_is_stated(value):
    def told(value) -> str:
        return " and ".join(map(told, value)) if isinstance(value, list) else str(value)

    assert states(f"Look: {told(value)}.", value)


@given(st.dates())
def test_every_day_is_read_as_it_is_written(day):
    if day.year >= 1000:
        assert [day.calendar for day, *_ in days(read(f"on {day.isoformat()}, please"))] == [day]


@pytest.mark.parametrize(
    ("result", "empty"),
    [
        ({"count": 0, "results": []}, True),
        ({"results": [], "query": "x"}, True),
        ({"rows": [[]]}, False),
        ({"balance": 0}, False),
        (0, False),
        (False, False),
        (None, True),
        ("", True),
        ({}, True),
        ([], True),
    ],
)
def test_a_result_is_empty_without_a_value_or_with_lists_that_are(result, empty):
    assert is_empty(result) is empty


@given(
    st.lists(TEXTS, max_size=12),
    TEXTS,
    st.sampled_from([Fraction(1, 2), Fraction(7, 10), Fraction(1)]),
)
def test_the_search_finds_what_comparing_all_finds(texts, asked, threshold):
    kept = Likenesses(threshold)
    for place, text in enumerate(texts):
        kept.add(str(place), text)
    alike = [likeness(shingles(text), shingles(asked)) for text in texts]
    best = max(alike, default=0.0)
    expected = str(alike.index(best)) if best >= threshold else None
    assert kept.nearest(asked) == expected


@settings(max_examples=50)
@given(TEXTS, TEXTS)
def test_likeness_is_a_similarity(left, right):
    one, other = shingles(left), shingles(right)
    assert likeness(one, other) == likeness(other, one)
    assert 0.0 <= likeness(one, other) <= 1.0
    assert likeness(one, one) == 1.0
    assert (likeness(one, other) == 1.0) is (one == other)


SEED = seed_of("When does a boat leave Velin on 14 July 2026 for 2 cars?", port="Velin", cars=2)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("On July 14, 2026, when does a boat with room for two cars leave Velin?", None),
        ("when does a boat leave velin on 14 july 2026 for 2 cars", "same_words"),
        ("When does a boat leave on 14 July 2026 for 2 cars?", "value_not_stated"),
        ("When does a boat leave Velin for 2 cars?", "value_not_stated"),
        ("When does a boat leave Velin for Torsk on 14 July 2026 with 2 cars?", "value_added"),
        ("When does a boat leave Velin on 14 July 2026 for 2 cars and 5 men?", "value_added"),
    ],
)
def test_a_paraphrase_says_the_seed_s_values_and_no_others(text, reason):
    fault = paraphrase_fault(text, SEED)
    assert (fault and fault.reason) == reason


def test_a_tool_speaks_of_its_names_descriptions_and_choices():
    tool = tool_of("search_sailings", "Boats between ports.", vehicle={"enum": ["motorhome"]})
    vocabulary = Vocabulary({tool.id: tool})
    assert vocabulary.serving(["motorhomes"], [tool.id], 1.0) == tool.id
    assert vocabulary.serving(["port"], [tool.id], 1.0) == tool.id
    assert vocabulary.serving(["whale"], [tool.id], 1.0) == ""
    assert vocabulary.serving(["boats", "with", "vehicles"], [tool.id], 0.5) == tool.id
    assert vocabulary.serving(["whales", "and", "boats", "dance"], [tool.id], 0.5) == ""


@given(st.text(alphabet="'=+-@\t\r\nab ", max_size=6))
def test_a_cell_survives_escaping_and_is_no_formula(cell):
    assert unescaped(escaped(cell)) == cell
    assert not escaped(cell).startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
