"""Calls that are written as code."""

from contextlib import suppress

import pytest
from linear import linear

from seal.benchmarks.bfcl.code_calls import CodeCall, CodeError, read_call


@pytest.mark.parametrize("language", ["java", "javascript"])
@pytest.mark.parametrize(
    ("code", "value"),
    [
        *(("'a b'", "a b"), ('"it\\"s"', 'it\\"s'), ("7", "7"), ("-7.5e3", "-7.5e3")),
        *(("port", "port"), ("true", "true"), ("System.out", "System.out")),
        *(("log.text( 1, 'a' )", "log.text( 1, 'a' )"), ("a[0].b()", "a[0].b()")),
        *(("a ? b : c", "a ? b : c"), ("(a + b) * c", "(a + b) * c"), ("x /* or y */", "x")),
    ],
)
def test_a_value_is_its_code_without_the_quotes_of_a_text(
    language: str, code: str, value: str
) -> None:
    found = read_call(f"Port.tide(name={code}, day=2);", language)
    assert found == CodeCall("Port.tide", {"name": value, "day": "2"})


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("new int[]{1, 2}", "new int[]{1, 2}"),
        ("new int[3]", "new int[3]"),
        ("new int[][]{{1}, {2}}", "new int[][]{{1}, {2}}"),
        ("new ArrayList<>(Arrays.asList(1))", "new ArrayList<>(Arrays.asList(1))"),
        ("new HashMap<String, List<Long>>()", "new HashMap<String, List<Long>>()"),
        ('new HashMap<>() {{ put("a", 1); }}', "new HashMap<>()"),
        ("() -> x.y()", "() -> x.y()"),
        ("Port::name", "Port::name"),
        ("Port.class", "Port.class"),
        ("'a' + \"b\"", "'a' + \"b\""),
    ],
)
def test_a_value_of_java(code: str, value: str) -> None:
    assert read_call(f"f(x={code})", "java") == CodeCall("f", {"x": value})


@pytest.mark.parametrize(
    ("code", "value"),
    [
        *(("[1, [2], ...a]", "[1, [2], ...a]"), ("{a: 1, 'b': [2], c}", "{a: 1, 'b': [2], c}")),
        *(("`a ${b}`", "`a ${b}`"), ("new Port(1)", "new Port(1)"), ("new Port", "new Port")),
        ("function (a) { return {a}; }", "function (a) { return {a}; }"),
        ("{ go(a) { b(); }, [c]: 1, ...d }", "{ go(a) { b(); }, [c]: 1, ...d }"),
        ("(a, b) => a + b", "(a, b) => a + b"),
        ("a => { b(a); }", "a => { b(a); }"),
        ("'a' + 'b'", "a' + 'b"),
    ],
)
def test_a_value_of_javascript(code: str, value: str) -> None:
    assert read_call(f"f(x={code})", "javascript") == CodeCall("f", {"x": value})


def test_what_has_no_name_is_left_out_but_for_a_variable() -> None:
    assert read_call("f('a', 7, x=1)", "java") == CodeCall("f", {"x": "1"})
    assert read_call("f(a, x=1)", "java") == CodeCall("f", {"": "a", "x": "1"})
    with pytest.raises(CodeError, match="'' is given twice"):
        read_call("f(a, b)", "java")
    with pytest.raises(CodeError, match="'x' is given twice"):
        read_call("f(x=1, x=2)", "javascript")


def test_code_that_calls_nothing_has_no_call() -> None:
    for code in ("", "port", "a.b;"):
        assert read_call(code, "java") is read_call(code, "javascript") is None


@pytest.mark.parametrize(
    ("language", "code"),
    [
        *(("java", "f(x=[1])"), ("java", "f(x={a: 1})"), ("java", "f(x='')"), ("java", "f(x=`a`)")),
        *(("java", "f(x=1), g(y=2)"), ("java", "f(x=1); g(y=2)"), ("java", "f(class=1)")),
        *(("java", "f(x=new Port)"), ("java", "f(x=new Map<1>())"), ("java", "f(x=a.1)")),
        *(("javascript", "f(x: 1)"), ("javascript", "f(x=1"), ("javascript", "f(x=1.2.3)")),
        *(("javascript", "No call fits."), ("javascript", "f(x='a"), ("javascript", "f(x=)")),
        *(("javascript", "f(x={'a'})"), ("javascript", "f(x={1: 2, +: 3})"), ("java", "f(x=a b)")),
        *(("javascript", "f(x=function () { ( ] })"), ("javascript", "f(x=(1]"), ("java", "#")),
        *(("javascript", "var x"), ("javascript", "f(x=return)"), ("java", "f(x=a.()")),
        *(("javascript", "f(x=function () {"), ("java", "f(x=new Map<A")),
    ],
)
def test_what_is_no_code_is_refused(language: str, code: str) -> None:
    with pytest.raises(CodeError):
        read_call(code, language)


def test_of_statements_javascript_has_the_first() -> None:
    assert read_call("f(x=1); g(y=2)", "javascript") == CodeCall("f", {"x": "1"})


@pytest.mark.parametrize("language", ["java", "javascript"])
@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("before", "piece"),
    [
        *(("", piece) for piece in ("(", "f(x=", "/*", "//", "`")),
        *(("f(x=", piece) for piece in ("[", "{a:", "new A<", "-", "a ? ", "a=>", "1 +")),
        ("'", "\\'"),
        ("f(", "a=1,"),
        ("f(x=function () ", "{"),
    ],
)
def test_hostile_code_is_read_or_refused_in_linear_time(
    language: str, before: str, piece: str
) -> None:
    def read(times: int) -> None:
        with suppress(CodeError, RecursionError):
            read_call(before + piece * times + ("1)" if piece == "-" else ""), language)

    linear(read, 50_000)
