"""Canonical JSON, digests, seeds and equality of JSON values."""

import json
import subprocess
import sys
import unicodedata

import pytest
from core_strategies import halves, json_values, numbers, texts
from hypothesis import given
from hypothesis import strategies as st
from looped import every_case

from seal.core.values import canonical_json, derive_seed, digest, equal, normalise

whole = [0, 1, 2**53 + 1, 2.0**53, -0.0, 1.0, 1e300, int(1e300), 10**30, 1e30]
close = st.sampled_from(
    [*whole, True, False, None, 0.1, "", "1", "é", "e\u0301", "\ud800", "\ufffd"]
)
values = json_values(st.one_of(close, numbers, texts, halves))


@every_case(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None, "x"]}, '{"a":[true,null,"x"],"b":1}'),
        ({"n": 1.0}, '{"n":1}'),
        (-0.0, "0"),
        (0.1, "0.1"),
        (1e16, "10000000000000000"),
        (2.5e-7, "2.5e-7"),
        ("e\u0301", '"é"'),
        ({"e\u0301": 1}, '{"é":1}'),
        ((1, (2,)), "[1,[2]]"),
        ({1: "a"}, '{"1":"a"}'),
        ("北京 😀", '"北京 😀"'),
        (10**30, "1" + "0" * 30),
        ([-(2**63), 2**64 - 1, 2**64], f"[{-(2**63)},{2**64 - 1},{2**64}]"),
        ({"z": {"y": [], "x": {}}, "n": 10**20}, f'{{"n":{10**20},"z":{{"x":{{}},"y":[]}}}}'),
    ],
)
def test_a_value_has_one_text(value, text):
    assert canonical_json(value).decode() == text


def test_true_and_1_are_two_values():
    assert canonical_json(True) != canonical_json(1)
    assert digest({"x": True}) != digest({"x": 1})
    assert not equal(True, 1)
    assert not equal(0.0, False)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("place", [lambda n: n, lambda n: {"a": [n]}, lambda n: [10**30, n]])
def test_a_number_that_is_none_is_refused(number, place):
    with pytest.raises(ValueError, match="is no JSON number"):
        canonical_json(place(number))


@pytest.mark.parametrize("value", [{1, 2}, b"x", object(), {"a": [10**30, {1}]}])
def test_what_json_cannot_hold_is_named(value):
    with pytest.raises(TypeError, match=r"JSON cannot hold (set|bytes|object)"):
        canonical_json(value)


def test_half_a_surrogate_pair_has_a_text_of_its_own():
    different = ["\ud800", "\ud801", "?", "\ufffd", ""]
    assert len({canonical_json({"a": text}) for text in different}) == len(different)


def test_keys_that_become_one_count_alike_in_any_order():
    one, other = {"é": 1, "e\u0301": 2}, {"e\u0301": 2, "é": 1}
    assert canonical_json(one) == canonical_json(other)
    assert equal(one, other)


def test_nesting_has_no_limit():
    deep, deeper = "end", "end"
    for _ in range(5000):
        deep, deeper = [deep], {"a": deeper}
    assert canonical_json(deep) == b"[" * 5000 + b'"end"' + b"]" * 5000
    assert canonical_json(deeper) == b'{"a":' * 5000 + b'"end"' + b"}" * 5000
    assert equal(deep, deep[:])
    assert not equal(deep, [deep])


def test_what_lies_deep_is_written_as_what_lies_shallow():
    inner = {"b": [1.0, 1e-7, 1.5e300, "e\u0301\x01", True, None], "a": {}}
    deep = inner
    for _ in range(300):
        deep = [deep]
    assert canonical_json(deep) == b"[" * 300 + canonical_json(inner) + b"]" * 300


def test_an_integer_beyond_pythons_limit_is_refused():
    with pytest.raises(ValueError, match="4300"):
        canonical_json([10**5000])


def test_large_texts_have_digests():
    assert len(digest({"text": "天" * 100_000, "list": list(range(10_000))})) == 64


@given(values)
def test_the_text_is_json_of_the_same_value(value):
    text = canonical_json(value).decode("utf-8", "surrogatepass")
    assert equal(json.loads(text), value)


@given(values, values)
def test_values_are_equal_where_their_texts_are(left, right):
    assert equal(left, right) == (canonical_json(left) == canonical_json(right))
    assert equal(left, right) == equal(right, left)


@given(values, st.randoms(use_true_random=False))
def test_order_of_keys_and_unicode_form_never_matter(value, random):
    other = _disguised(value, random)
    assert canonical_json(other) == canonical_json(value)
    assert equal(other, value)


@given(values)
def test_normalising_twice_is_normalising_once(value):
    once = normalise(value)
    assert normalise(once) == once
    assert canonical_json(once) == canonical_json(value)


@given(st.lists(values, max_size=3))
def test_a_seed_is_small_and_derived(parts):
    seed = derive_seed(*parts)
    assert 0 <= seed < 2**31
    assert seed == derive_seed(*parts)


def test_digests_and_seeds_are_the_same_in_every_process():
    code = (
        "from seal.core.values import derive_seed, digest\n"
        "print(digest({'b': 3, 'a': 'é'}), derive_seed(7, 'task', 0))"
    )
    out = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert out == {f"{digest({'a': 'é', 'b': 3})} {derive_seed(7, 'task', 0)}\n"}


def test_known_digests_never_change():
    assert digest({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    assert digest({"a": 1.0}) == digest({"a": 1})
    assert derive_seed() == int(digest([])[:8], 16) & 0x7FFFFFFF


def _disguised(value, random):
    """Return the same value with keys shuffled, strings decomposed, lists as tuples."""
    if isinstance(value, dict):
        # Keys stay as they are: decomposed ones could fall together.
        items = [(key, _disguised(item, random)) for key, item in value.items()]
        random.shuffle(items)
        return dict(items)
    if isinstance(value, list):
        return tuple(_disguised(item, random) for item in value)
    if isinstance(value, str):
        return unicodedata.normalize("NFD", value)
    if isinstance(value, int) and not isinstance(value, bool) and float(value) == value:
        return float(value)
    return value
