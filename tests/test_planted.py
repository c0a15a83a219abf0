"""Planted faults: lines hold, and one that does not hold, or could not be held, is a failure."""

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import seal.evaluation.calls

ROOT = Path(__file__).resolve().parents[1]
QUICK = ("refused-by-tool", "refused-by-seal", "small-talk", "end-of-world", "intervals")


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The script; its folder is no place for the imports of other tests."""
    monkeypatch.syspath_prepend(str(ROOT / "perf"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    return import_module("planted")


def asked(*names: str) -> list[str]:
    return [word for name in names for word in ("--only", name)]


def test_lines_hold(script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert script.main(asked(*QUICK)) == 0, capsys.readouterr().err
    told = capsys.readouterr().out
    assert "5 of 5 lines hold" in told and "| intervals | How often" in told
    assert script.main([*asked("small-talk"), "--out", str(tmp_path / "page.md")]) == 0
    assert "2 of 2 as required | yes |" in (tmp_path / "page.md").read_text("utf-8")


def test_a_rule_that_lets_a_fault_pass_again_is_a_failure(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(seal.evaluation.calls, "was_refused", lambda result: False)
    assert script.main(asked("refused-by-tool")) == 1
    told = capsys.readouterr()
    assert "refused-by-tool: DOES NOT HOLD: pass_rate 1.0, calls_right 1.0" in told.err
    assert "0 of 1 lines hold" in told.out and "| **no** |" in told.out


def test_what_could_not_be_held_or_broke_is_a_failure(
    script: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    def gone(lab: object) -> object:
        raise KeyError("stages")

    monkeypatch.setenv("SEAL_DATA", str(tmp_path))
    lines = {"broken": script.Line(gone, "A door is gone", "-", "-")}
    lines |= {"absent": script.LINES["irrelevance"]}
    assert script.main([], lines) == 1
    told = capsys.readouterr().out
    assert "| broken: KeyError: 'stages' | **no** |" in told
    assert "| not held: no bfcl/BFCL_v4_irrelevance.json; SEAL_DATA names" in told
    assert script.main(["--short", "--list"], lines) == 0
    assert capsys.readouterr().out == "broken: A door is gone\n"


def test_the_page_has_every_line(script: ModuleType) -> None:
    kept = (ROOT / "results" / "planted.md").read_text("utf-8").splitlines()
    names = [row.split(" | ")[0].removeprefix("| ") for row in kept if row.startswith("| ")]
    assert names[2:] == list(script.LINES)


def test_each_value_is_told_in_twenty_right_ways_and_ten_wrong_ones() -> None:
    values = json.loads((ROOT / "perf" / "samples" / "told_values.json").read_text("utf-8"))
    for one in values:
        told = [*one["right"], *(text for texts in one["wrong"].values() for text in texts)]
        assert (len(one["right"]), len(told), len({*told})) == (20, 30, 30), one["id"]


def test_a_solved_lie_or_too_many_missed_answers_do_not_hold(script: ModuleType) -> None:
    words = import_module("planted_words")

    def told(kind: str, value: float | None, times: int) -> list[object]:
        return [words.Verdict("number days", kind, "17 days.", value, "")] * times

    assert words.holds([*told("right", 1.0, 97), *told("right", 0.0, 3), *told("near", None, 9)])
    assert not words.holds([*told("right", 1.0, 96), *told("right", 0.0, 4)])
    assert not words.holds([*told("right", 1.0, 96), *told("right", None, 4)])
    assert not words.holds([*told("right", 1.0, 9), *told("near", 1.0, 1)])
