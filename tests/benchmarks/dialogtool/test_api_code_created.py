"""Created tools at work: rows from a model's function, or why there are none."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from seal.benchmarks.dialogtool.api_code import CodeFault, CreatedTools
from seal.core import Tool
from seal.sandbox.function_cases import Case, Limits, Outcome, Row
from seal.sandbox.monty import MontySandbox

pytest.importorskip("pydantic_monty", reason="pydantic-monty comes with the extra dialogue")

TOOL = Tool("a/App/Find", "App_Find", "", source={"api": "Find"})
TABLE = [{"from": "A"}, {"from": "B"}]


def created(text: str) -> tuple[CreatedTools, list[str]]:
    asked: list[str] = []

    def source_of(tool: Tool) -> str:
        asked.append(tool.id)
        return text

    return CreatedTools(MontySandbox(Limits(seconds=0.2)), source_of), asked


def test_a_call_brings_the_rows_of_the_function_in_the_text() -> None:
    tools, asked = created(
        "Here:\n```python\ndef find(table, from_):\n"
        "    return [r for r in table if r['from'] == from_]\n```"
    )

    assert tools.call(TOOL, {"from": "B"}, TABLE) == [{"from": "B"}]
    assert tools.call(TOOL, {"from": "C"}, TABLE) == []
    assert asked == [TOOL.id]


def test_equal_calls_bring_equal_rows_whatever_the_function_remembers() -> None:
    tools, _ = created(
        "seen = []\ndef find(table, n):\n    seen.append(n)\n    return [{'n': len(seen)}]"
    )

    assert [tools.call(TOOL, {"n": n}, TABLE) for n in (1, 2, 1)] == [[{"n": 1}]] * 3


def test_rows_that_a_caller_changes_stay_as_they_were() -> None:
    tools, _ = created("def find(table): return table")
    tools.call(TOOL, {}, TABLE)[0]["from"] = "X"  # type: ignore[index]

    assert tools.call(TOOL, {}, TABLE) == TABLE


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("I cannot.", "syntax"),
        ("def other(table): return []", "no_function"),
        ("def find(table): return 1 / 0", "exception"),
        ("def find(table):\n    while True: pass", "timeout"),
        ("def find(table): return {'a': 1}", "wrong"),
        ("def find(table): return [1]", "wrong"),
    ],
)
def test_a_function_that_fails_says_how(text: str, status: str) -> None:
    fault = created(text)[0].call(TOOL, {}, TABLE)

    assert isinstance(fault, CodeFault)
    assert fault.status == status
    assert fault.message


class Busy(MontySandbox):
    """A sandbox on a machine that is too busy for the first runs.

    Args:
        late: How many of them run out of time.
    """

    def __init__(self, late: int) -> None:
        super().__init__()
        self.late = late
        self.runs = 0

    def run(
        self, source: str, function: str, table: Sequence[Row], cases: Sequence[Case]
    ) -> list[Outcome]:
        self.runs += 1
        if self.runs <= self.late:
            return [Outcome("timeout", message="late") for _ in cases]
        return super().run(source, function, table, cases)


@pytest.mark.parametrize(
    ("late", "found", "runs"),
    [(0, [{"n": 1}], 1), (1, [{"n": 1}], 2), (2, CodeFault("timeout", "late"), 2)],
)
def test_one_moment_of_a_busy_machine_decides_no_call(late: int, found: object, runs: int) -> None:
    busy = Busy(late)
    tools = CreatedTools(busy, lambda tool: "def find(table, n):\n    return [{'n': n}]")

    assert [tools.call(TOOL, {"n": 1}, TABLE) for _ in range(2)] == [found] * 2
    assert busy.runs == runs
