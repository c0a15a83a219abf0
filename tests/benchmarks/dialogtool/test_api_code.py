"""The function that an API is made of, and the code in a model's text."""

from __future__ import annotations

import keyword
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from linear import linear
from looped import every_case

from seal.benchmarks.dialogtool.api_code import (
    code_of,
    columns_of,
    example_of,
    example_text,
    function_name,
    keywords,
    parameter,
    signature,
)
from seal.core import Tool

TRAINS = Tool(
    "dialogtool/Trains_1/FindTrains",
    "Trains_1_FindTrains",
    "Find trains",
    {
        "type": "object",
        "properties": {name: {"type": "string"} for name in ("class", "from", "to")},
        "required": ["from", "to"],
    },
    returns={"type": "array", "items": {"type": "object", "properties": {"from": {}, "fare": {}}}},
    source={"api": "FindTrains"},
)


def test_the_signature_has_required_arguments_first_and_no_word_of_python() -> None:
    assert signature(TRAINS) == "def findtrains(table, from_, to, class_=None):"


def test_an_api_without_a_name_of_its_own_is_named_by_its_tool() -> None:
    assert function_name(Tool("a/b/c", "2nd-Try")) == "_2nd_try"


def test_arguments_are_given_as_the_signature_names_them() -> None:
    assert keywords({"from": "A", "to": "B"}) == {"from_": "A", "to": "B"}
    assert parameter("table") == "table_"


@given(st.text())
def test_every_name_becomes_one_of_python(name: str) -> None:
    named = parameter(name)

    assert not keyword.iskeyword(named)
    assert named != "table"
    space: dict[str, Any] = {}
    exec(f"def f(table, {named}): return {named}", space)
    assert space["f"]([], **{named: 1}) == 1


def test_columns_are_those_of_the_document() -> None:
    assert columns_of(TRAINS) == ["from", "fare"]
    assert columns_of(Tool("a/b/c", "c", returns="some prose")) == []


def test_the_worked_example_is_read_from_the_task() -> None:
    table = [{"from": "A", "fare": n} for n in range(5)]
    metadata = {"table": table, "cases": [[{"from": "B"}, []], [{"from": "A"}, [0, 2]]]}

    assert example_of({**metadata, "example": 1}) == {
        "arguments": {"from": "A"},
        "rows": [table[0], table[2]],
    }
    assert example_of(metadata) is None
    assert example_of({**metadata, "example": 2}) is None


def test_the_example_is_a_call_and_the_first_of_its_rows() -> None:
    text = example_text(TRAINS, {"from": "A", "to": "B"}, [{"fare": n} for n in range(5)])

    assert text.splitlines()[0] == "findtrains(table, from_='A', to='B') returns these rows:"
    assert text.splitlines()[-2:] == ['{"fare":2}', "(2 more)"]


@every_case(
    ("text", "source", "fences"),
    [
        ("def f(): pass", "def f(): pass", 0),
        ("Sure:\n```python\ndef f(): pass\n```\nDone.", "def f(): pass\n", 1),
        ("~~~\ndef f(): pass\n~~~", "def f(): pass\n", 1),
        ("```py\ndef f(): pass", "def f(): pass", 1),
        ("```\nf(1)\n```\n```python\ndef f(): pass\n```", "def f(): pass\n", 2),
        ("```\ndef g(): 1\n```\nand\n```\ndef f(): 2\n```", "def g(): 1\n\ndef f(): 2\n", 2),
        ("```json\n[]\n```", "[]\n", 1),
        (
            "````python\ndef f():\n    '''\n```\n    '''\n````",
            "def f():\n    '''\n```\n    '''\n",
            1,
        ),
        ("", "", 0),
        ("```", "```", 0),
    ],
)
def test_code_is_cut_out_of_fences(text: str, source: str, fences: int) -> None:
    assert code_of(text) == (source, fences)


@given(st.text(alphabet="`~\n def f():py1"))
def test_any_text_has_code_and_nothing_but_its_own(text: str) -> None:
    found = code_of(text)

    assert found.fences >= 0
    assert all(line in text for line in found.source.splitlines())


def test_a_last_block_that_is_never_closed_ends_with_the_text() -> None:
    text = "```\nx = 1\n```\nThen:\n```python\ndef f(table):\n    return table"

    assert code_of(text) == ("def f(table):\n    return table", 2)


@pytest.mark.parametrize("line", ["```python\n", "~~~python\n", "   ```\n x\n", "~~~ `\n"])
def test_a_text_that_opens_a_block_in_every_line_is_read_in_one_pass(line: str) -> None:
    linear(lambda lines: code_of(line * lines), 20_000)
