"""The leaderboard's table and files: names, columns, folders of runs, bad input."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from report_runs import Writer, metric, task

import seal
from seal.core import DataError, Score, UsageError
from seal.report.leaderboard import leaderboard_parts, ranked_runs
from seal.report.table_forms import terminal_text

TASKS = [task(f"t{n}") for n in range(40)]


def written(folder: Path, name: str, solved: int, trials: int = 1, **how: Any) -> Path:
    scores = [
        Score(f"t{n}", trial, 0, "pass_rate", float(n < solved + trial))
        for n in range(40)
        for trial in range(trials)
    ]
    groups = {"easy": metric(1.0), "hard": metric(0.25), "language=de": metric(0.5)}
    metrics = {
        "pass_rate": metric(solved / 40, by=groups),
        "tokens_in": metric(1234.0),
        "tokens_out": metric(56.0),
    }
    return Writer(folder)(name, TASKS, (), scores, metrics, **how).path


def test_the_table_has_ranks_categories_and_tokens_under_the_models_names(tmp_path: Path) -> None:
    good = written(tmp_path, "one", 30, model={"model": "recorded:good"})
    bad = written(tmp_path, "two", 5, model={"model": "bad"})
    content = ranked_runs([bad, good], resamples=200)
    assert [row["run"] for row in content["rows"]] == ["good", "bad"]
    shown = terminal_text(leaderboard_parts(content))
    assert "[1, 1]" in shown and "easy" in shown and "1,234" in shown
    assert "1 of 1 pair of runs differ over 40 tasks" in shown
    assert "40 tasks make rough intervals, of ranks above all" in shown
    assert content["rows"][0]["by"] == {"easy": 1.0, "hard": 0.25}
    language = ranked_runs([bad, good], by="language", resamples=200)
    assert language["protocol"]["by"] == {"tag": "language", "values": ["de"]}
    assert ranked_runs([bad, good], by="", resamples=200)["protocol"]["by"] is None


def test_a_folder_stands_for_the_runs_in_it_and_equal_models_go_by_their_folders(
    tmp_path: Path,
) -> None:
    for name, solved in (("a", 10), ("b", 30)):
        written(tmp_path / "runs", name, solved)
    content = ranked_runs([tmp_path / "runs"], resamples=200)
    assert [row["run"] for row in content["rows"]] == ["b", "a"]


def test_several_trials_give_pass_hat_k(tmp_path: Path) -> None:
    one, two = (written(tmp_path, name, n, trials=2) for name, n in (("a", 10), ("b", 30)))
    rows = ranked_runs([one, two], resamples=200)["rows"]
    # of b, 30 tasks are solved in both trials and one in one of them
    assert rows[0]["passes"] == {"1": pytest.approx(30.5 / 40), "2": pytest.approx(30 / 40)}


def test_seconds_are_those_of_the_last_time_that_a_chat_was_played(tmp_path: Path) -> None:
    one, two = (
        written(tmp_path, name, n, model={"model": name}) for name, n in (("a", 10), ("b", 30))
    )
    lines = [("t0", 9.0), ("t0", 1.0), ("t1", 2.0)]
    (two / "timings.jsonl").write_text(
        "".join(
            json.dumps({"task_id": name, "trial": 0, "seconds": took, "tokens": 0}) + "\n"
            for name, took in lines
        )
    )
    content = ranked_runs([one, two], resamples=200, out=tmp_path / "out")
    assert [row["mean_seconds"] for row in content["rows"]] == [1.5, None]
    assert "seconds" in terminal_text(leaderboard_parts(content))
    rows = [*csv.DictReader((tmp_path / "out" / "leaderboard.csv").read_text().splitlines())]
    assert [row["mean_seconds"] for row in rows] == ["1.5", ""]
    for end in ("md", "tex", "html"):
        assert "seconds" in (tmp_path / "out" / f"leaderboard.{end}").read_text()


def test_rules_a_part_of_the_benchmark_and_other_settings_are_told(tmp_path: Path) -> None:
    measure = {"seed": 0, "limit": 40, "select": {"group": "easy"}, "match": "bfcl"}
    one, two = (
        written(tmp_path, name, n, measure=measure, model={"model": name})
        for name, n in (("a", 10), ("b", 30))
    )
    for path, system in ((one, {"top_k": 3, "team": "x"}), (two, {"top_k": 10, "team": "x"})):
        manifest = json.loads((path / "run.json").read_text())
        manifest["system"] |= system
        (path / "run.json").write_text(json.dumps(manifest))
    notes = ranked_runs([one, two], resamples=200)["notes"]
    assert "calls are judged by other rules than SEAL's: --match bfcl" in notes
    assert "all runs are of a part of the benchmark: limit 40, select group=easy" in notes
    assert "the runs differ in more than the model: top_k" in notes
    plain = [written(tmp_path, name, n) for name, n in (("c", 10), ("d", 30))]
    told = "\n".join(ranked_runs(plain, resamples=200)["notes"])
    assert (
        "--match" not in told
        and "part of the benchmark" not in told
        and "more than the model" not in told
    )


def test_every_form_is_written_and_hostile_names_are_escaped(tmp_path: Path) -> None:
    one = written(tmp_path, "one", 30, model={"model": "<script>&_x|y"})
    two = written(tmp_path, "two", 5, model={"model": "plain"})
    out = tmp_path / "out"
    content = ranked_runs([one, two], resamples=200, out=out)
    assert json.loads((out / "leaderboard.json").read_text())["rows"] == content["rows"]
    rows = [*csv.DictReader((out / "leaderboard.csv").read_text().splitlines())]
    assert [row["run"] for row in rows] == ["<script>&_x|y", "plain"]
    assert [row["rank"] for row in rows] == ["1", "2"]
    assert "<script>&_x" not in (out / "leaderboard.html").read_text()
    assert r"&lt;script>&amp;_x\|y" in (out / "leaderboard.md").read_text()
    assert r"\textless{}script\textgreater{}\&\_x" in (out / "leaderboard.tex").read_text()
    ranked_runs([one, two], resamples=200, out=out)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "run.json").write_text("{}")
    with pytest.raises(UsageError, match="other"):
        ranked_runs([one, two], resamples=200, out=tmp_path / "other")


def test_python_gives_rows_groups_and_a_frame(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    one, two = (written(tmp_path, name, n) for name, n in (("a", 10), ("b", 30)))
    board = seal.leaderboard(one, two, metric="pass_rate", resamples=200)
    assert board.groups == [["b"], ["a"]]
    assert list(board.frame["rank"]) == [1, 2]
    assert "pass_rate" in repr(board)


def test_python_gives_the_table_and_the_picture_for_a_paper(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    one, two = (written(tmp_path, name, n) for name, n in (("a", 10), ("b", 30)))
    board = seal.leaderboard(one, two, metric="pass_rate", resamples=200)
    assert board.latex().startswith(r"% \usepackage{booktabs,graphicx}")
    assert r"pass\_rate}" in board.latex()
    assert [row[1] for row in csv.reader(board.csv().splitlines())] == ["run", "b", "a"]
    names = [label.get_text() for label in board.plot().axes[0].get_yticklabels()]
    assert names == ["b", "a"]


def test_what_is_no_scored_run_is_named(tmp_path: Path) -> None:
    one = written(tmp_path, "a", 10)
    with pytest.raises(DataError, match="no run folder"):
        ranked_runs([one, tmp_path / "none"])
    bare = Writer(tmp_path)("bare", TASKS, (), None).path
    with pytest.raises(DataError, match="bare"):
        ranked_runs([one, bare])


def test_a_link_to_a_run_beside_it_is_no_second_run(tmp_path: Path) -> None:
    for name, solved in (("b", 10), ("z", 30)):
        written(tmp_path / "runs", name, solved)
    (tmp_path / "runs" / "latest").symlink_to("z")
    content = ranked_runs([tmp_path / "runs"], resamples=200)
    assert [row["run"] for row in content["rows"]] == ["z", "b"]
