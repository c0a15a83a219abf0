"""Runs that create tools: scored in a sandbox, which is part of what they measure."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import seal
from seal.core import Goal, MissingExtraError, Task, Tool, UnknownNameError, write_records

TOOL = Tool(
    "dialogtool/Food_1/Find",
    "Food_1_Find",
    "Find food",
    {
        "type": "object",
        "properties": {"city": {"type": "string"}, "seats": {"type": "integer"}},
        "required": ["city"],
    },
    "Food",
    {"type": "array", "items": {"type": "object", "properties": {"city": {"type": "string"}}}},
    {"tool": "Food_1", "api": "Find", "app": "Food"},
)
TABLE = [{"city": "Oakland", "name": "A"}, {"city": "Fresno", "name": "B"}]
CASES = [
    [{"city": "Oakland"}, [0]],
    [{"city": "Fresno"}, [1]],
    [{"city": "Oakland", "seats": 9}, []],
]


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    goal = Goal(
        "Write the function.", labels={"task": "creation", "tool": TOOL.id}, offered=(TOOL.id,)
    )
    metadata = {"table": TABLE, "cases": CASES, "example": 0}
    hello = Task("dialogtool/hello", "dialogtool", (Goal("Hello"),))
    created = Task("dialogtool/create/Food_1/Find", "dialogtool", (goal,), metadata=metadata)
    folder = tmp_path / "pool"
    folder.mkdir()
    write_records(folder / "tools.jsonl", [TOOL])
    write_records(folder / "tasks.jsonl", [hello, created])
    (folder / "import.json").write_text('{"benchmark": "dialogtool"}')
    return folder


def play(pool: Path, out: Path, **settings: Any) -> seal.Run:
    return seal.run(pool, out=out, team="tool_life", baselines=False, **settings)


def test_a_created_tool_is_scored_and_its_sandbox_measured(pool: Path, tmp_path: Path) -> None:
    pytest.importorskip("pydantic_monty", reason="pydantic-monty comes with the extra dialogue")
    played = play(pool, tmp_path / "run", sandbox="monty-only")
    measure = played.folder.manifest()["measure"]

    assert played.summary["metrics"]["creation"]["mean"] == 0.5
    assert played.summary["metrics"]["creation_relative"]["mean"] == 1.0
    assert (measure["sandbox"]["asked"], measure["sandbox"]["name"]) == ("monty-only", "monty")


def test_scoring_again_uses_the_sandbox_of_the_run(pool: Path, tmp_path: Path) -> None:
    pytest.importorskip("pydantic_monty", reason="pydantic-monty comes with the extra dialogue")
    played = play(pool, tmp_path / "run", sandbox="monty-only")
    before = played.folder.scores_path.read_bytes(), played.folder.manifest()

    seal.score(played.folder.path)

    assert (played.folder.scores_path.read_bytes(), played.folder.manifest()) == before


def test_without_its_sandbox_nothing_is_played(
    pool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_monty", None)

    with pytest.raises(MissingExtraError, match=r"seal-api-llms\[dialogue\]"):
        play(pool, tmp_path / "run")
    assert not (tmp_path / "run" / "trajectories.jsonl").exists()


def test_a_run_that_creates_nothing_yet_needs_no_sandbox(
    pool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_monty", None)
    played = play(pool, tmp_path / "run", first=1)

    assert played.exit_code == 0
    assert "dialogue" in played.folder.manifest()["measure"]["sandbox"]["missing"]


def test_a_pool_without_such_tasks_measures_no_sandbox(tmp_path: Path) -> None:
    played = seal.run("sample", out=tmp_path / "run", first=1, baselines=False)

    assert "sandbox" not in played.folder.manifest()["measure"]
    assert "creation" not in played.summary["metrics"]


def test_an_unknown_sandbox_is_refused(pool: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'monty'"):
        play(pool, tmp_path / "run", sandbox="mony")
