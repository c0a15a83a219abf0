"""Answers of models, each read in its dialect."""

from typing import Any

import pytest
from bfcl_sources import function
from linear import linear

from seal.benchmarks.bfcl.answers import (
    LONGEST,
    PROBLEMS,
    READERS,
    Dialect,
    SaidCall,
    dialect_of,
    models,
)
from seal.benchmarks.bfcl.tools import Functions
from seal.core import Tool, UnknownNameError

TIDE = SaidCall("tide.height", {"port": "Oban", "day": 2})
MOON = SaidCall("moon", {"full": True})
FENCE = "```"


def read(dialect: str, answer: Any) -> list[SaidCall]:
    """The calls of an answer that is read without a problem."""
    reading = Dialect(dialect).read(answer)
    assert (reading.problem, reading.why) == ("", "")
    return list(reading.calls)


@pytest.mark.parametrize(
    ("dialect", "answer"),
    [
        ("native", [{"tide.height": '{"port": "Oban", "day": 2}'}, {"moon": '{"full": true}'}]),
        ("native_maps", [{"tide.height": {"port": "Oban", "day": 2}}, {"moon": {"full": True}}]),
        ("python", "[tide.height(port='Oban', day=2), moon(full=True)]"),
        ("python", "tide.height(port='Oban', day=2), moon(full=True)"),
        ("python_open", "tide.height(port='Oban', day=2), moon(full=True)]"),
        ("python_led", " [tide.height(port='Oban', day=2), moon(full=True)"),
        ("python_lines", "[tide.height(\nport='Oban',\nday=2),\nmoon(full=True)"),
        ("python_escaped", r"[tide.height(port='Oban', day=2), moon(full=True)]"),
        ("python_items", "tide.height(port='Oban', day=2), moon(full=True)"),
        ("python_statements", "tide.height(port='Oban', day=2); moon(full=True);"),
        ("python_texts", "['tide.height(port=\"Oban\", day=2)', 'moon(full=True)']"),
        ("python_texts", "tide.height(port='Oban',\n day=2), moon(full=True)"),
        ("python_quoted", "'tide.height(port=\"Oban\", day=2)', 'moon(full=True)'"),
        ("python_quoted", "[tide.height(port='Oban', day=2), moon(full=True)]".replace("'", '"')),
        (
            "python_fenced",
            f"So:\n{FENCE}python\n[tide.height(port='Oban', day=2), moon(full=True)]",
        ),
        ("python_within", "It is [tide.height(port='Oban', day=2), moon(full=True)], I think."),
        (
            "tool_call_lines",
            "Yes.\n<tool_call>\n{'name': 'tide.height', 'arguments': {'port': 'Oban', 'day': 2}}\n"
            "</tool_call>\n<tool_call>\n"
            '{"name": "moon", "arguments": {"full": true}}\n</tool_call>',
        ),
        (
            "tool_calls",
            '{"thought": "", "tool_calls": [{"name": "tide.height", "arguments": '
            '{"port": "Oban", "day": 2}}, {"name": "moon", "arguments": {"full": true}}]}',
        ),
        (
            "tool_calls",
            '[{"name": "tide.height", "arguments": {"port": "Oban", "day": 2}}, '
            '{"name": "moon", "arguments": {"full": true}}]',
        ),
        (
            "tagged_calls",
            '<function_call> {"name": "tide.height", "arguments": {"port": "Oban", "day": 2}} '
            '<function_call> {"name": " moon ", "arguments": {"full": true}}',
        ),
    ],
)
def test_two_calls_are_read_in_each_dialect(dialect: str, answer: Any) -> None:
    assert read(dialect, answer) == [TIDE, MOON]


def test_a_name_and_its_arguments_stand_in_two_lines() -> None:
    said = 'tide.height\n{"port": "Oban", "day": 2}\nmore words'
    assert read("name_and_json", said) == [TIDE]


def test_every_dialect_is_of_a_model_and_every_model_has_a_reader() -> None:
    assert {dialect.name for dialect in models().values()} == READERS.keys()
    assert len(models()) == 71
    assert dialect_of("gpt-4o-2024-08-06-FC") == Dialect("native", underscores=True)
    assert dialect_of("gpt-4o-2024-08-06") == Dialect("python")
    with pytest.raises(UnknownNameError, match="no model of BFCL 'gpt-4o-2024-08-06-fc'"):
        dialect_of("gpt-4o-2024-08-06-fc")
    with pytest.raises(UnknownNameError, match="no dialect of BFCL's answers 'pyton'"):
        Dialect("pyton")


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("[1, (2.5, 'a'), None, -3]", [1, [2.5, "a"], None, -3]),
        ("{'a': True, 7: 'b'}", {"a": True, "7": "b"}),
        ("+5", -5),
        ("not True", -1),
        ("...", "..."),
        ("port", "port"),
        ("true", "true"),
        ("now()", "now()"),
        ("now( 1 )", "now(1)"),
        ("at.time(hour=3)", {"at.time": {"hour": 3}}),
        ("ports[ 0 ]", "ports[0]"),
        ("2*3 - 10**-1", 5.9),
        ("'a' + 'b'", "ab"),
        ("8 ^ 3", 11),
        ("1e999", "inf"),
        ("b'a'", "b'a'"),
        ("2j", "2j"),
        ("'\\ud800'", "\ufffd"),
    ],
)
def test_a_python_value_is_read_as_the_leaderboard_reads_it(written: str, value: Any) -> None:
    assert read("python", f"[f(x={written})]") == [SaidCall("f", {"x": value})]


@pytest.mark.parametrize(
    "written",
    [
        *(
            "a.b",
            "lambda: 1",
            "f'{a}'",
            "{1, 2}",
            "[*a]",
            "{**a}",
            "-port",
            "-'a'",
            "--5",
            "a if b else c",
        ),
        *(
            "9**9**9",
            "2**1000",
            "10**12 * 10",
            "'a' * 9",
            "1 / 0",
            "1.5 ^ 2",
            "2 * len('a')",
            "1 << 9",
        ),
        "{[1]: 2}",
    ],
)
def test_what_is_no_value_makes_an_answer_unreadable(written: str) -> None:
    reading = Dialect("python").read(f"[f(x={written})]")
    assert (reading.calls, reading.problem) == ((), "unreadable") and reading.why


def test_arguments_by_position_are_dropped_and_the_last_of_a_name_counts() -> None:
    assert read("python", "[f(1, a=2, a=3, **b)]") == [SaidCall("f", {"a": 3, "**": "b"})]
    assert read("python", "[f(a=1)(b=2)]") == [SaidCall("", {"b": 2})]


@pytest.mark.parametrize(
    ("dialect", "answer", "problem"),
    [
        ("native", "I cannot do that.", "unreadable"),
        ("native", [], ""),
        ("native", "", ""),
        ("native", [{}], "unreadable"),
        ("native", None, "unreadable"),
        ("native", {"f": "{}"}, "unreadable"),
        ("native", [{"f": "{"}], "unreadable"),
        ("native", [{"f": {"a": 1}}], "unreadable"),
        ("native_maps", ["f"], "unreadable"),
        ("python", "[]", ""),
        ("python", " [f(a=1)]", "unreadable"),
        ("python", "[f(a=1)", "unreadable"),
        ("python", "f(a=1)", "unreadable"),
        ("python", "[f]", "unreadable"),
        ("python", "[f()]", "no_calls"),
        ("python", "[f('a')]", "no_calls"),
        ("python", ["f(a=1)"], "unreadable"),
        ("python_led", "", "unreadable"),
        ("python_statements", "out_of_domain(a='b');", "no_calls"),
        ("python_statements", "It is out_of_domain.", "unreadable"),
        ("python_quoted", "No 'function' fits.", "unreadable"),
        ("python_fenced", "[f(a=1)]", "unreadable"),
        ("python_fenced", f"{FENCE}[f(a=1)", "unreadable"),
        ("python_within", "]no list[", "unreadable"),
        ("tool_call_lines", "No tool fits.", ""),
        ("tool_call_lines", "<tool_call>\nwords", "unreadable"),
        ("tool_call_lines", '<tool_call>\n{"name": "f"}', "unreadable"),
        ("tool_call_lines", '<tool_call>\n{"name": [], "arguments": {}}', "unreadable"),
        ("tool_calls", "words", "no_calls"),
        ("tool_calls", '"words"', "unreadable"),
        ("tool_calls", '{"tool_calls": ["f"]}', ""),
        ("tool_calls", '{"tool_calls": null}', "unreadable"),
        ("name_and_json", "f", "no_calls"),
        ("name_and_json", "f\nwords", "unreadable"),
        ("tagged_calls", "words", "no_calls"),
        ("tagged_calls", '{"name": "no_function", "arguments": {}}', "no_calls"),
        ("tagged_calls", "5", "unreadable"),
        ("tagged_calls", "", ""),
    ],
)
def test_an_answer_without_calls_is_told_by_its_kind(
    dialect: str, answer: Any, problem: str
) -> None:
    reading = Dialect(dialect).read(answer)
    assert (reading.calls, reading.problem) == ((), problem)
    assert bool(reading.why) == bool(problem) and {reading.problem} <= {"", *PROBLEMS}


def test_arguments_that_are_no_map_are_none() -> None:
    assert read("native", [{"f": "5"}]) == [SaidCall("f", None)]
    assert read("tool_calls", '[{"name": 5, "arguments": "a"}]') == [SaidCall("5", None)]


def test_values_that_json_lacks_become_texts() -> None:
    said = [{"f": '{"a": NaN, "b": [-Infinity, 1e999]}'}]
    assert read("native", said) == [SaidCall("f", {"a": "NaN", "b": ["-Infinity", "inf"]})]


def test_in_code_one_dialect_makes_texts_of_values() -> None:
    said = '<tool_call>\n{"name": "f", "arguments": {"a": true, "b": [1]}}'
    assert read("tool_call_lines", said) == [SaidCall("f", {"a": True, "b": [1]})]
    made = Dialect("tool_call_lines").read(said, "java").calls
    assert made == (SaidCall("f", {"a": "True", "b": "[1]"}),)


def test_calls_are_of_the_tool_whose_name_the_model_got() -> None:
    functions = Functions("content")
    offered: list[Tool] = [
        functions.add(function(name), "python", "file") for name in ("tide.height", "moon")
    ]
    for dialect, known in ((Dialect("native"), 1), (Dialect("native", underscores=True), 0)):
        said = [{"tide_height": "{}"}, {"tide.height": "{}"}, {"moon": "{}"}]
        made = dialect.made(dialect.read(said), offered)
        ids = [None, None, "bfcl/python/moon"]
        ids[known] = "bfcl/python/tide.height"
        assert [call.tool for call in made] == ids
        assert [call.id for call in made] == ["call_0", "call_1", "call_2"]


HOSTILE = {
    "brackets": lambda size: "[" * (10 * size),
    "brackets and quotes": lambda size: "['" * (5 * size),
    "braces": lambda size: "{" * (10 * size),
    "fences": lambda size: FENCE + "[" * (10 * size),
    "signs": lambda size: f"[f(x={'-' * size}1)]",
    "sums": lambda size: f"[f(x={'+'.join(['1'] * (size // 2))})]",
    "powers": lambda size: f"[f(x={'**'.join(['9'] * (size // 2))})]",
    "attributes": lambda size: f"[{'.'.join(['a'] * size)}(x=1)]",
    "lists": lambda size: f"[f(x={'[' * min(150, size)}{']' * min(150, size)})]",
    "json lists": lambda size: f"[{'[' * (5 * size)}{']' * (5 * size)}]",
    "tags": lambda size: "<function_call>" * size,
    "lines": lambda size: "<tool_call>\n" * size,
    "digits": lambda size: f"[f(x={'9' * (5 * size)})]",
    "too long": lambda size: "a" * (LONGEST // 20_000 * size + 1),
    "control signs": lambda size: "[f(x='\x00\x1b')]",
}


@pytest.mark.parametrize("dialect", READERS)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_answers_are_read_or_refused_in_linear_time(dialect: str, name: str) -> None:
    native = dialect.startswith("native")

    def read(size: int) -> None:
        text = HOSTILE[name](size)
        for language in ("python", "java", "javascript"):
            reading = Dialect(dialect).read([{"f": text}] if native else text, language)
            assert bool(reading.problem) == bool(reading.why)

    linear(read, 20_000)


@pytest.mark.parametrize(
    ("dialect", "answer"),
    [
        ("python", "[Port.tide(name='Oban', days=new int[]{1, 2})]"),
        ("python_open", "Port.tide(name='Oban', days=new int[]{1, 2})"),
        ("python_statements", 'Port.tide(name="Oban", days=new int[]{1, 2});'),
        ("python_within", "So: [Port.tide(name='Oban', days=new int[]{1, 2})]."),
    ],
)
def test_in_code_a_text_of_python_is_a_call_of_its_language(dialect: str, answer: str) -> None:
    given = {"name": "Oban", "days": "new int[]{1, 2}"}
    assert Dialect(dialect).read(answer, "java").calls == (SaidCall("Port.tide", given),)


@pytest.mark.parametrize(
    ("language", "answer", "problem"),
    [
        ("java", "[f(a=[1])]", "unreadable"),
        ("javascript", "[f(a=[1])]", ""),
        ("java", "[f(a=1), g(b=2)]", "unreadable"),
        ("javascript", "[f(a=1); g(b=2)]", ""),
        ("java", "[]", "no_calls"),
        ("javascript", "[f]", "no_calls"),
        ("java", "No function fits.", "unreadable"),
    ],
)
def test_code_is_read_by_its_own_grammar(language: str, answer: str, problem: str) -> None:
    assert Dialect("python").read(answer, language).problem == problem
