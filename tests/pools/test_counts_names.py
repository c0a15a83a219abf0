"""API similarity: hand-worked names, bounds, and ToolScan's eighteen environments."""

from collections import defaultdict
from itertools import combinations
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seal.pools.counts import jaccard, name_similarity, words_of_name

STRICT = {
    "data": 0.181,
    "entertainment": 0.461,
    "food": 0.561,
    "location": 0.297,
    "media": 0.250,
    "movie": 0.250,
    "movies": 0.257,
    "newsmedia": 0.439,
    "patent": 0.318,
    "payments": 0.420,
    "social": 0.448,
    "spaceflight": 0.253,
    "sports": 0.251,
    "tools": 0.162,
    "transportation": 0.170,
    "travel": 0.419,
    "videoimages": 0.206,
    "weather": 0.138,
}

NAMES = st.lists(st.text("ab_-", max_size=6), min_size=2, max_size=8)


def test_words_are_parted_by_anything_but_letters_and_digits() -> None:
    assert words_of_name("Get_tide-heights2__by.Port") == {"get", "tide", "heights2", "by", "port"}


def test_words_that_all_names_share_are_left_out_of_the_strict_variant() -> None:
    found = name_similarity(["get_tide_now", "get_tide_later", "get_tide_by_port_now"])

    # {now} {later} {by port now}: 0, 1/3, 0
    assert found.strict == pytest.approx(1 / 9)


def test_the_other_variant_leaves_out_function_words_and_verbs_of_asking() -> None:
    found = name_similarity(["get_tide_now", "get_tide_later", "get_tide_by_port_now"])

    # {tide now} {tide later} {tide port now}: 1/3, 2/3, 1/4
    assert found.stopwords == pytest.approx((1 / 3 + 2 / 3 + 1 / 4) / 3)


def test_names_without_a_word_left_are_not_alike() -> None:
    assert name_similarity(["finish", "finish"]).strict == 0
    assert name_similarity(["get_by", "search_for"]).stopwords == 0
    assert jaccard(set(), set()) == 0


def test_names_that_stand_twice_count_twice() -> None:
    found = name_similarity(["tide_now", "finish", "finish"])

    assert found.strict == pytest.approx(1 / 3)


@pytest.mark.parametrize("names", [[], ["get_tide"]])
def test_fewer_than_two_names_have_no_similarity(names: list[str]) -> None:
    found = name_similarity(names)

    assert (found.strict, found.stopwords) == (None, None)


@given(NAMES)
def test_pairs_are_compared_one_by_one_in_whatever_order(names: list[str]) -> None:
    words = [words_of_name(name) for name in names]
    shared = frozenset.intersection(*words)
    pairs = list(combinations([own - shared for own in words], 2))
    found = name_similarity(names)

    assert found.strict == pytest.approx(sum(jaccard(a, b) for a, b in pairs) / len(pairs))
    assert 0 <= found.strict <= 1 and 0 <= found.stopwords <= 1
    again = name_similarity(names[::-1])
    assert (again.strict, again.stopwords) == pytest.approx((found.strict, found.stopwords))


def test_each_of_toolscans_environments_has_its_known_similarity(seal_data: Path) -> None:
    names = defaultdict(list)
    for tool in orjson.loads((seal_data / "toolscan" / "tools.json").read_bytes())["tools"]:
        names[tool["environment"]].append(tool["name"])

    found = {own: round(name_similarity(names[own]).strict, 3) for own in names}

    assert found == STRICT
