"""Errors: their tree, their texts, and that they cross to other processes."""

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from linear import linear
from looped import every_case
from pydantic import TypeAdapter, ValidationError

from seal.core import (
    DataError,
    InfrastructureError,
    MissingExtraError,
    SealError,
    UnknownNameError,
    UsageError,
    check_name,
    errors,
    first_fault,
    located,
    nearest,
    needing,
    shortened,
    told_names,
)

CLASSES = sorted(
    (c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, SealError)),
    key=lambda c: c.__name__,
)


def example(kind):
    """Return an error of a class."""
    if issubclass(kind, UnknownNameError):
        return kind("retriever", "tfdif", ["tfidf", "dense"])
    if kind is MissingExtraError:
        return MissingExtraError("anthropic", "anthropic")
    return kind("what, got, expected: 北京")


@every_case("kind", CLASSES)
@every_case("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_every_error_crosses_to_another_process_as_it_is(kind, protocol):
    error = example(kind)
    there = pickle.loads(pickle.dumps(error, protocol))
    assert type(there) is kind
    assert str(there) == str(error)
    assert vars(there) == vars(error)
    assert str(copy.copy(error)) == str(error)


@every_case("kind", CLASSES)
def test_every_error_stands_in_the_tree_of_the_docstring(kind):
    assert kind.__name__ in errors.__doc__
    assert kind.__doc__


def test_an_unknown_name_lists_the_known_ones_and_the_closest():
    error = example(UnknownNameError)
    assert str(error) == "no retriever 'tfdif'; known: dense, tfidf. Did you mean 'tfidf'?"
    assert (error.kind, error.name, error.known) == ("retriever", "tfdif", ["dense", "tfidf"])


def test_an_unknown_name_among_none_says_so():
    assert str(UnknownNameError("team", "x", [])) == "no team 'x'; known: none."


def test_an_unknown_name_among_many_says_how_many_are_left_out():
    error = UnknownNameError("task", "own/z", ["own/a", "own/b"], more=70)
    assert str(error).startswith("no task 'own/z'; known: own/a, own/b and 70 more. Did you")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_of_thousands_of_names_a_message_tells_a_few():
    told = str(UnknownNameError("tool", "x" * 200_000, [f"p{n}" for n in range(3000)], more=5))
    assert told.startswith("no tool 'xxxx") and told.endswith(" and 2955 more.")
    assert len(told) < 1000
    assert told_names(["a" * 1000]) == "a" * 197 + "..."
    assert told_names([]) == "none"


@pytest.mark.parametrize("letter", ["x", "\x85", "\ud800"])
def test_a_name_of_any_length_is_compared_with_thousands_at_once(letter):
    known = [f"argument_{n}" for n in range(3000)]
    assert nearest(letter * 200_000, known) is None
    linear(lambda length: nearest(letter * length, known), 200_000)


def test_a_missing_extra_names_its_install_command():
    told = str(example(MissingExtraError))
    assert told.endswith('pip install "seal-api-llms[anthropic]", or ".[anthropic]" in a checkout')


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("get_wether", ["get_weather", "get_water"], "get_weather"),
        ("TFIDF", ["tfidf", "dense"], "tfidf"),
        ("getWeather", ["get_weather"], "get_weather"),
        ("zzz", ["get_weather"], None),
        ("x", [], None),
        ("", ["a"], None),
        ("查天气", ["查询天气", "订机票"], "查询天气"),
        ("ab", ["abd", "abc"], "abc"),
    ],
)
def test_the_nearest_name_is_found_whatever_its_case(name, known, expected):
    assert nearest(name, known) == expected


@given(st.text(), st.lists(st.text(), max_size=5))
def test_the_nearest_name_is_one_of_the_known(name, known):
    close = nearest(name, known)
    assert close is None or close in known
    assert not name or nearest(name, [*known, name]) is not None


def test_half_a_surrogate_pair_has_a_nearest_name_too():
    assert nearest("wea\ud800ther", ["weather"]) == "weather"


@pytest.mark.parametrize(
    "value",
    [
        "x" * 100_000,
        list(range(10_000)),
        {"k" * 500: "v" * 500},
        10**200,
        [10**5000],
        [["x" * 90] * 9] * 9,
    ],
)
def test_what_a_message_shows_is_short(value):
    assert len(shortened(value)) <= 200


def test_short_values_are_shown_whole():
    assert shortened({"b": [1, "é"], "a": None}) == "{'a': None, 'b': [1, 'é']}"


def test_deep_values_are_shown_without_failing():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert shortened(deep) == "[[[[[[[...]]]]]]]"


def test_the_first_fault_names_place_and_value():
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(dict[str, list[int]]).validate_python({"a": [1, "x" * 9999]})
    fault = first_fault(caught.value)
    assert fault.startswith("a.1: expected a whole number, got")
    assert "got 'xxx" in fault
    assert len(fault) < 300


def test_an_exception_of_strange_code_is_told_whatever_its_text_is():
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    assert errors.fault(Mute()) == "Mute: its text cannot be had, for that raises RuntimeError"
    told = errors.fault(ValueError("x" * 5_000_000))
    assert len(told) < 11_000
    assert told.endswith("... (and 4990000 characters more)")


def test_a_fault_is_told_with_its_place_and_others_pass_as_they_are():
    with pytest.raises(DataError, match=r"^line 3: no number$"), located("line 3"):
        raise DataError("no number")
    with pytest.raises(DataError, match=r"^gold\.0: no key$"), located("gold", KeyError, mark="."):
        raise DataError("0: no key")
    with pytest.raises(DataError, match=r"^row 1: 'id'$"), located("row 1", KeyError):
        raise KeyError("id")
    with pytest.raises(ValueError, match=r"^other$"), located("line 3"):
        raise ValueError("other")


def test_a_name_is_checked_against_those_that_there_are():
    check_name("set", "a", ("a", "b"))
    with pytest.raises(UnknownNameError, match=r"no set 'c'; known: a, b"):
        check_name("set", "c", ("a", "b"))


def test_a_message_of_any_length_is_shown_short():
    told = str(DataError(f"line 1: {'[' * 200_000} is no {'word ' * 50_000}"))
    assert told.startswith(f"line 1: {'[' * 100}... is no word word")
    assert len(told) < 25_000
    assert str(UsageError("a/path/" * 100)) == "a/path/" * 100


def test_a_package_for_which_memory_is_short_is_no_missing_one() -> None:
    with pytest.raises(InfrastructureError, match="memory is short"), needing("blas", "dense"):
        raise ImportError("libblas.so: failed to map segment from shared object")
    with pytest.raises(MissingExtraError), needing("blas", "dense"):
        raise ImportError("missing")
