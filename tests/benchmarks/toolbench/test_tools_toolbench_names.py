import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seal.benchmarks.toolbench.tools import (
    api_name,
    function_name,
    standardise,
    tool_name,
    unreserved,
)


@pytest.mark.parametrize(
    ("upstream", "name"),
    [
        ("Tide Tables", "tide_tables"),
        ("/v1/search (beta)", "v1_search_beta"),
        ("7Timer!", "get_7timer"),
        ("a.b..c", "a_b_c"),
        ("  __Padded__ ", "padded"),
        ("潮汐 表", "潮汐_表"),
        ("Größe", "gr_e"),
        ("x^2", "x^2"),
        ("???", ""),
    ],
)
def test_a_name_keeps_letters_digits_underscores_and_cjk(upstream: str, name: str) -> None:
    assert standardise(upstream) == name


@pytest.mark.parametrize("word", ["from", "class", "return", "false", "true", "id", "and"])
def test_a_reserved_word_gets_a_prefix(word: str) -> None:
    assert api_name(word.upper()) == f"is_{word}"
    assert tool_name(word) == word


def test_a_function_name_keeps_its_last_64_characters() -> None:
    name = function_name("t" * 30, "a" * 60)
    assert len(name) == 64
    assert name == "a" * 29 + "_for_" + "t" * 30


def test_names_without_any_letter_stay_distinct() -> None:
    assert tool_name("???") != tool_name("!!!")
    assert tool_name("???").startswith("unnamed_")


@given(st.text())
def test_the_rule_is_its_own_fixed_point(text: str) -> None:
    name = standardise(text)
    assert standardise(name) == name
    assert "__" not in name
    assert not re.match(r"[_0-9]", name)
    assert re.fullmatch(r"[\^a-z0-9_\u4e00-\u9fa5]*", name)
    assert unreserved(unreserved(name)) == unreserved(name)


@given(st.text(), st.text())
def test_a_function_name_always_fits(tool: str, api: str) -> None:
    name = function_name(tool_name(tool), api_name(api))
    assert 1 <= len(name) <= 64
    assert f"{api_name(api)}_for_{tool_name(tool)}".endswith(name)
