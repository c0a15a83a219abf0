"""Gold in files asks for what stands there, or the row is left out with its reason."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from seal.core import DataError
from seal.pools.own_files import benchmark_of


def num(n: int) -> str:
    """Take a number.

    Args:
        n: A number.
    """
    return "ok"


FINE = '{"question": "fine", "calls": [{"name": "num", "arguments": {"n": 1}}]}'
ROWS = [
    (
        '{"question": "q", "calls": [{"name": "num", "arguments": {"n": NaN}}]}',
        "calls.0.arguments.n: NaN is no JSON",
    ),
    ('{"question": "q", "calls": [{"name": "num", "arguments": {"n": -Infinity}}]}', "-Infinity"),
    ('{"question": "q", "calls": [{"name": "num", "arguments": {"n": 1e999}}]}', "beyond every"),
    (
        '{"question": "q", "calls": [{"name": "num", "arguments": {"n": 1, "n": 2}}]}',
        "calls.0.arguments: the key 'n' stands",
    ),
    ('{"question": "q", "calls": "num(n=1)", "calls": "num(n=2)"}', "'calls' stands twice"),
    ('{"question": "q", "calls": [{"name": "num", "arguments": {"n": "\\ud800"}}]}', "surrogate"),
    (json.dumps({"question": "q", "calls": '[{"name": "num", "arguments": {"n": NaN}}]'}), "NaN"),
    (
        json.dumps({"question": "q", "calls": '{"name": "num", "arguments": {"n": 1, "n": 2}}'}),
        "'n' stands twice",
    ),
    (
        json.dumps({"question": "q", "calls": [{"name": "num", "arguments": '{"n": 1, "n": 2}'}]}),
        "arguments of num: the key 'n' stands twice",
    ),
]


@pytest.mark.parametrize(("row", "told"), ROWS)
def test_a_row_that_would_ask_for_something_else_is_left_out(
    row: str, told: str, tmp_path: Path
) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text(f"{FINE}\n{row}\n")
    bench, notes = benchmark_of("b", [num], path)
    assert len(list(bench.pool().tasks())) == 1
    assert told in "\n".join(map(str, notes.malformed))
    path.with_suffix(".json").write_text(f"[{FINE}, {row}\n,{FINE.replace('fine', 'last')} ]")
    bench, notes = benchmark_of("b", [num], path.with_suffix(".json"))
    assert [task.goals[0].text for task in bench.pool().tasks()] == ["fine", "last"]
    assert told in "\n".join(map(str, notes.malformed))


@pytest.mark.parametrize(("rows", "told"), [((ROWS[0][0], FINE), "NaN"), ((FINE,), "not JSON")])
def test_an_array_that_is_cut_is_refused_whole(
    rows: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    path = tmp_path / "tasks.json"
    path.write_text(f"[{', '.join(rows)}, ")
    with pytest.raises(DataError, match=told):
        benchmark_of("b", [num], path)


def test_a_number_of_too_many_digits_is_told_as_such(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text(f"{FINE}\n{FINE.replace('1', '9' * 5000)}\n")
    _, notes = benchmark_of("b", [num], path)
    assert "line 2: a whole number of more than 4,300 digits" in "\n".join(
        map(str, notes.malformed)
    )


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "tasks.csv"
    path.write_text("question,calls,calls\nq,num(n=1),num(n=2)\n")
    with pytest.raises(DataError, match=r"both named .calls., so one would be lost"):
        benchmark_of("b", [num], path)


def test_a_field_too_many_is_told_with_the_repair(tmp_path: Path) -> None:
    path = tmp_path / "tasks.csv"
    path.write_text("question,calls\nfine,num(n=1)\nq,one,two\n")
    _, notes = benchmark_of("b", [num], path)
    assert "expected 2 fields; a field that holds ',' needs quotes" in "\n".join(
        map(str, notes.malformed)
    )


def test_a_column_that_files_cannot_have_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "tasks.csv"
    path.write_text("question,calls,ends_as\nq,num(n=1),num\n")
    with caplog.at_level(logging.WARNING):
        benchmark_of("b", [num], path)
    assert "the column 'ends_as' becomes a tag" in caplog.text
