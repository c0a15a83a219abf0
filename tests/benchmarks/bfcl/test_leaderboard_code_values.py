"""Values that are written as code, by their declared type."""

from typing import Any

import pytest
from linear import linear

from seal.benchmarks.bfcl.leaderboard import JAVA, JAVASCRIPT, read_java, read_javascript


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("5", "integer", 5),
        ("-5", "byte", -5),
        ("5L", "long", 5),
        ("5l", "long", 5),
        ("1.5f", "float", 1.5),
        ("-1e3F", "float", -1000.0),
        ("1.5", "double", 1.5),
        ("true", "boolean", True),
        ("a", "String", "a"),
        ("7", "any", "7"),
        ("'a'", "char", "'a'"),
    ],
)
def test_a_plain_value_of_java_is_read_by_its_type(text: str, kind: str, value: Any) -> None:
    found = read_java(text, kind)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *(("5L", "integer"), ("5.0", "integer"), ("5", "long"), ("1.5", "float"), ("x", "double")),
        *(("True", "boolean"), ("9" * 5000, "integer"), ("{1, 2}", "Array"), ("[1]", "ArrayList")),
        *(("new int[]{1", "Array"), ("{}", "HashMap"), ("new Set<>()", "Set")),
    ],
)
def test_what_is_no_value_of_its_type_stays_a_text(text: str, kind: str) -> None:
    assert read_java(text, kind, "integer") == text


@pytest.mark.parametrize(
    ("text", "kind", "inner", "value"),
    [
        ("new int[]{1, 2}", "Array", "integer", [1, 2]),
        ("new long[] { 1L, x }", "Array", "long", [1, "x"]),
        ('new String[]{"a", "b"}', "Array", "String", ['"a"', '"b"']),
        ("new int[]{}", "Array", "integer", []),
        ("new ArrayList<>(Arrays.asList(1, 2))", "ArrayList", "integer", [1, 2]),
        ('new ArrayList<String>(Arrays.asList("a", "b"))', "ArrayList", "String", ["a", "b"]),
        ("new ArrayList<>() {{ add(1L); add( 2L ); }}", "ArrayList", "long", [1, 2]),
        ("new ArrayList<Long>()", "ArrayList", "long", []),
        ("new ArrayList<>(Arrays.asList(1, 2)", "ArrayList", "integer", "="),
    ],
)
def test_a_list_of_java_is_read_with_its_items(
    text: str, kind: str, inner: str, value: Any
) -> None:
    assert read_java(text, kind, inner) == (text if value == "=" else value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("new HashMap<String, Object>()", {}),
        ("new HashMap<>() {{ }}", {}),
        (
            'new HashMap<>() {{ put("a", "b"); put("c", 1L); put("d", 1.5f); put("e", x); }}',
            {"a": "b", "c": 1, "d": 1.5, "e": "x"},
        ),
        (
            'new HashMap<>() {{ put("a", 7); put("b", true); put("c", 0.5); }}',
            {"a": 7, "b": True, "c": 0.5},
        ),
    ],
)
def test_a_map_of_java_is_read_with_its_members(text: str, value: Any) -> None:
    assert read_java(text, "HashMap") == value


@pytest.mark.parametrize(
    ("text", "kind", "inner", "value"),
    [
        ("'a'", "String", "", "a"),
        ("a", "String", "", "a"),
        ("7", "integer", "", 7),
        ("7.5", "float", "", 7.5),
        ("7n", "Bigint", "", 7),
        ("7", "Bigint", "", "7"),
        ("true", "Boolean", "", True),
        ("[1, 2]", "array", "integer", [1, 2]),
        ("new Array('a', \"b\")", "array", "String", ["a", "b"]),
        ("[]", "array", "String", []),
        ("[a, 'b', 1, true]", "array", "", ["a", "b", 1, True]),
        ("[[1, 2], [3]]", "array", "integer", [[1, 2], [3]]),
        ("new Array([1], ['a'])", "array", "array", [[1], ["a"]]),
        ("[1, 2", "array", "integer", "[1, 2"),
        ("{}", "dict", "", {}),
        ("{'a': 1, b: \"x, y\"}", "dict", "", {"a": 1, "b": "x, y"}),
        ('{"a": [1, \'b\'], "c": true}', "dict", "", {"a": [1, "b"], "c": True}),
        ("{a", "dict", "", "{a"),
        ("any thing", "any", "", "any thing"),
    ],
)
def test_a_value_of_javascript_is_read_by_its_type(
    text: str, kind: str, inner: str, value: Any
) -> None:
    assert read_javascript(text, kind, inner) == value


def test_lists_are_divided_at_each_comma_and_maps_end_at_the_first_bracket() -> None:
    assert read_javascript("['a, b']", "array", "String") == ["'a", "b'"]
    assert read_javascript("{a: {b: 1}, c: 2}", "dict") == {"a": "{b: 1"}


@pytest.mark.parametrize(
    ("before", "piece", "after"),
    [
        ("", "new ArrayList<>(Arrays.asList(", ""),
        ("", "new ArrayList<>() {{", ""),
        ("", "new int[]{", ""),
        ("new", " ", ""),
        ("", "put(", ""),
        ("", "new HashMap<", ""),
        ("", 'new HashMap<>() {{ put("', ""),
        ("new HashMap<", "> ", ""),
        ("", "[", ""),
        ("[[", "1], [", ""),
        ("{", "a:", ""),
        ("{", "a,", "}"),
        ("{", "a:b,", "}"),
        ("", "[[", "]]"),
        ("", "9", ""),
    ],
)
def test_hostile_texts_are_read_in_linear_time(before: str, piece: str, after: str) -> None:
    def read(length: int) -> None:
        times = length // len(piece)
        text = before + piece * times + after * (times if after == "]]" else 1)
        for kind in JAVA:
            read_java(text, kind, "String")
        for kind in JAVASCRIPT:
            read_javascript(text, kind, "integer")

    linear(read, 200_000)
