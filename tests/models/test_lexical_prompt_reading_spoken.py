"""Results in words."""

from hypothesis import given
from hypothesis import strategies as st
from looped import every_case

from seal.core.earlier_results import value_of
from seal.models.lexical import in_words

NUMBERS = st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False)
PLAIN = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@every_case(
    ("content", "said"),
    [
        ("{'hour': 2, 'minute': 43, 'second': 0}", "hour: 2, minute: 43, second: 0"),
        ("[{'person_id': 'p-1', 'name': 'Ann', 'is_self': False}]",
         "person id: p-1, name: Ann, is self: false"),
        ("'p-1'", "p-1"),
        ("True", "true"),
        ("None", "Done."),
        ("null", "Done."),
        ("[]", ""),
        ("4555.59", "4555.59"),
        ("('a', 1)", "a, 1"),
        ("{1, 2}", "{1, 2}"),
        ("b'raw'", "b'raw'"),
        ("ValueError: nothing to change", "ValueError: nothing to change"),
        ("'\\d+'", "'\\d+'"),
        ("{'a': 1", "{'a': 1"),
        ('{"error": "", "response": {"sky": "blue"}}', "sky: blue"),
        ('{"error": "no such city", "response": ""}', "no such city"),
    ],
)  # fmt: skip
def test_values_are_said_without_the_signs_of_a_language(content, said):
    assert in_words(content) == said


@given(PLAIN)
def test_what_a_world_answers_is_read_back(value):
    assert value_of(repr(value)) == value


@given(st.text())
def test_any_text_can_be_said(text):
    assert isinstance(in_words(text), str)
