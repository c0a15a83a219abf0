"""Python literals in texts."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seal.core.values import literal_value, parse_expression

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(VALUES)
def test_what_python_writes_is_read_back(value):
    assert literal_value(f" {value!r}\n") == value


@given(st.text())
def test_no_text_raises_anything_but_a_value_error(text):
    with suppress(ValueError):
        literal_value(text)


@pytest.mark.parametrize(
    "text",
    ["open('x')", "__import__('os')", "1 if True else 2", "[", "", "a", "{[]: 1}", "(" * 500 + ")"],
)
def test_what_is_no_literal_is_refused(text):
    with pytest.raises(ValueError, match="no Python"):
        literal_value(text)


def test_odd_escapes_are_the_texts_own():
    assert literal_value(r"'\d+'") == r"\d+"


def test_a_part_of_a_tree_is_read():
    call = parse_expression("f(x=[1, 2])")
    assert literal_value(call.keywords[0].value) == [1, 2]


def test_threads_read_at_once():
    texts = [repr([{"a": [number, ("x", None)]}] * 50) for number in range(200)]
    with ThreadPoolExecutor(8) as threads:
        assert [v[0]["a"][0] for v in threads.map(literal_value, texts)] == list(range(200))
