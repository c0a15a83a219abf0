"""What lists tell of each chat, and why goals failed: kept beside the scores of a large run."""

import json
from pathlib import Path
from typing import Any

import pytest
from report_runs import chat

import seal
from seal.core import Goal, Task
from seal.evaluation.attribution import Cause, Decision, State
from seal.experiments.explanation import explain_run
from seal.report.chat_list import chat_line, explained, kept_lines
from seal.report.run_pages import RunPages
from seal.report.transcript import outcome_table, view_record
from seal.runs import score_table
from seal.runs.run import RunFolder
from seal.runs.scores import COLUMNS, EXPLAINED


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("listed")
    seal.run(limit=12, baselines=False, out=folder / "run", cache_dir=folder / "cache")
    return folder / "run"


@pytest.fixture
def run(played: Path, tmp_path: Path) -> RunFolder:
    """A copy of the run, small yet."""
    (tmp_path / "copy").mkdir()
    for file in played.glob("*.json*"):
        (tmp_path / "copy" / file.name).write_bytes(file.read_bytes())
    return RunFolder.open(tmp_path / "copy")


@pytest.fixture
def large(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """The same, taken for a large one."""
    monkeypatch.setattr(score_table, "LARGE", 1)
    score_table.write_columns(run.scores_path)
    return run


@pytest.mark.parametrize(
    ("states", "goal", "failed"),
    [
        (["unsolved"], "first", ""),
        (["solved", "solved"], "goal 1 of 2: first", ""),
        (["undecided", "unsolved", "unsolved"], "goal 2 of 3: second", "2 of 3 goals failed"),
        (["solved", "undecided"], "goal 2 of 2: second", ""),
    ],
)
def test_a_line_shows_the_goal_that_it_explains(
    states: list[State], goal: str, failed: str
) -> None:
    cause = Cause("gave_up", "refused", "the answer only refuses")
    decided = [
        (Decision(state, "pass_rate", f"as {state}"), cause if state == "unsolved" else None)
        for state in states
    ]
    asked = tuple(map(Goal, ("first", "second", "third")[: len(states)]))
    line = chat_line(Task("own/a", "own", asked), chat("own/a"), (), decided, {}, {})
    assert (line.goal, line.failed) == (goal, failed)
    assert line.doubt == ("as undecided" if "undecided" in states else "")


def listed(run: RunFolder) -> Any:
    pages = RunPages([run])
    return json.loads(json.dumps([outcome_table(run), pages.portion(0), explained(run)]))


def test_a_large_run_is_told_of_as_a_small_one_is(run: RunFolder, large: RunFolder) -> None:
    (run.path / COLUMNS).rename(run.path / "aside.npz")
    small = listed(run)
    assert not (run.path / EXPLAINED).exists()
    (run.path / "aside.npz").rename(run.path / COLUMNS)
    assert [listed(large), listed(large)] == [small, small]
    assert (large.path / EXPLAINED).is_file() and explained(large, examples=1) == explain_run(
        large, examples=1
    )


def test_what_is_kept_is_read(large: RunFolder) -> None:
    kept_lines(large)
    path = large.path / EXPLAINED
    path.write_text(path.read_text("utf-8").replace('"cause":"', '"cause":"so_called_'), "utf-8")
    assert "(so called " in str(outcome_table(large).rows)
    assert "(so called " in str(RunPages([large]).portion(0))
    assert "so_called_" in str(explained(large)["attributions"])


@pytest.mark.parametrize("name", ["trajectories.jsonl", "tasks.jsonl", "scores.jsonl", "run.json"])
def test_of_files_that_changed_nothing_is_kept(large: RunFolder, name: str) -> None:
    before = kept_lines(large)
    path = large.path / EXPLAINED
    path.write_text(path.read_text("utf-8").replace('"cause":"', '"cause":"stale_'), "utf-8")
    (large.path / name).write_bytes((large.path / name).read_bytes() + b"\n")
    assert kept_lines(large) == before


@pytest.mark.parametrize("content", [b"", b"[]", b'{"version":1}', b"\xff", None])
def test_a_damaged_file_is_made_again(large: RunFolder, content: bytes | None) -> None:
    before = kept_lines(large)
    path = large.path / EXPLAINED
    path.unlink()
    if content is None:  # nothing can be written there
        path.mkdir()
    else:
        path.write_bytes(content)
    assert kept_lines(large) == before and len(before) == 12


@pytest.mark.parametrize("change", [{"task": "nowhere"}, {"trial": 7}, {"decided": 3}])
def test_of_chats_and_goals_that_a_run_has_not_nothing_kept_counts(
    large: RunFolder, change: dict[str, Any]
) -> None:
    kept_lines(large)
    path = large.path / EXPLAINED
    content = json.loads(path.read_text("utf-8"))
    chat = next(one for one in content["chats"] if any(cause for _, cause in one["decided"]))
    more = {"decided": chat["decided"] * change["decided"]} if "decided" in change else change
    path.write_text(json.dumps({**content, "chats": [{**chat, **more}]}), "utf-8")
    assert explained(large) == explain_run(large)


def test_scoring_again_explains_again(large: RunFolder) -> None:
    kept_lines(large)
    seal.score(large.path)
    assert not (large.path / EXPLAINED).exists()


def test_a_run_of_many_chats_is_listed_whole_as_json(
    large: RunFolder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from seal.report import transcript

    monkeypatch.setattr(transcript, "_LISTED", 10)
    transcript.view(large)
    assert "and 2 more chats: --full or --json shows all" in capsys.readouterr().out
    transcript.view(large, fold=None)
    assert "more chats" not in capsys.readouterr().out
    assert len(view_record(large)["tasks"]) == 12
