"""Functions written by rule, and by the oracle, do in the sandbox what they are chosen for."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seal.benchmarks.dialogtool.api_code import (
    ApiCase,
    Filter,
    Rule,
    fit,
    function_name,
    keywords,
    oracle_written,
    rule_written,
    source_of,
)
from seal.core import Tool
from seal.sandbox.function_cases import Case, Outcome
from seal.sandbox.monty import MontySandbox

NAMES = ("from", "city", "style", "seats")
TOOL = Tool(
    "dialogtool/Food_1/Find",
    "Food_1_Find",
    "Find food",
    {
        "type": "object",
        "properties": {name: {"type": "string"} for name in NAMES},
        "required": ["from"],
    },
    returns={
        "type": "array",
        "items": {"type": "object", "properties": {"from": {}, "town": {}, "style": {}}},
    },
    source={"api": "Find"},
)
TABLE = [
    {"from": "A", "town": "Oakland", "style": "thai", "seats": 2},
    {"from": "A", "town": "Oakland, CA", "style": "Thai", "seats": 4},
    {"from": "A", "town": "Fresno", "style": "taco", "seats": 2},
    {"from": "B", "town": "Fresno", "style": "thai"},
]


def run(source: str, *cases: ApiCase) -> list[Outcome]:
    pytest.importorskip("pydantic_monty", reason="pydantic-monty comes with the extra dialogue")
    played = [Case(keywords(c.arguments), [TABLE[place] for place in c.rows]) for c in cases]
    return MontySandbox().run(source, function_name(TOOL), TABLE, played)


def statuses(source: str, *cases: ApiCase) -> list[str]:
    return [outcome.status for outcome in run(source, *cases)]


def test_the_rule_written_function_filters_by_what_the_document_says_rows_have() -> None:
    cases = [
        ApiCase({"from": "a"}, [0, 1, 2]),
        ApiCase({"from": "A", "style": "THAI"}, [0, 1]),
        ApiCase({"from": "A", "style": "dontcare", "seats": 9}, [0, 1, 2]),
        ApiCase({"from": "A", "city": "Fresno"}, [2]),
    ]

    assert statuses(rule_written(TOOL), *cases) == ["pass", "pass", "pass", "wrong"]


def test_the_oracle_finds_columns_of_other_names_containment_and_how_many_rows() -> None:
    cases = [
        ApiCase({"from": "A", "city": "Oakland"}, [0, 1]),
        ApiCase({"from": "A", "city": "Fresno"}, [2]),
        ApiCase({"from": "B", "city": "Fresno"}, [3]),
        ApiCase({"from": "A"}, [0, 1]),
    ]
    found = fit(TOOL, TABLE, cases)

    assert (found.passed, found.cases) == (4, 4)
    assert Rule("city", "town", "part") in found.filter.rules
    assert found.filter.most == 2
    assert statuses(oracle_written(TOOL, TABLE, cases), *cases) == ["pass"] * 4


def test_the_oracle_cannot_derive_what_is_in_no_row() -> None:
    cases = [ApiCase({"from": "A", "seats": n}, rows) for n, rows in ((7, [0]), (8, [1]), (9, []))]

    assert fit(TOOL, TABLE, cases).passed < 3


def test_no_case_and_no_row_have_a_function_too() -> None:
    assert fit(TOOL, [], []) == (Filter(()), 0, 0)
    assert statuses(oracle_written(TOOL, [], []), ApiCase({"from": "C"}, range(4))) == ["pass"]


VALUES = st.sampled_from(
    ["A", "b", " thai ", "Oakland", "oakland, CA", "dontcare", 2, 2.0, "2", None]
)
RULES = st.builds(
    Rule,
    st.sampled_from(NAMES),
    st.sampled_from(["from", "town", "style", "seats", "none"]),
    st.sampled_from(["same", "part"]),
)


@settings(max_examples=40)
@given(
    st.builds(Filter, st.lists(RULES, max_size=3).map(tuple), st.sampled_from([None, 1, 2])),
    st.fixed_dictionaries({"from": VALUES}, optional=dict.fromkeys(NAMES[1:], VALUES)),
)
def test_a_filter_passes_in_the_search_what_its_source_returns(
    chosen: Filter, arguments: dict[str, object]
) -> None:
    from seal.benchmarks.dialogtool.api_code import _Search

    (outcome,) = run(source_of(TOOL, chosen), ApiCase(arguments, []))
    returned = [TABLE.index(row) for row in outcome.received]
    search = _Search(TABLE, [ApiCase(arguments, returned)])

    assert search.passed(chosen) == 1
