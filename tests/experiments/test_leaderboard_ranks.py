"""Ranks of runs, their intervals, and groups that no test tells apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pandas
import pytest
from report_runs import Writer, metric, task

import seal
from seal.core import Score, UnknownNameError, UsageError
from seal.experiments.leaderboard import leaderboard, leaderboard_of_scores
from seal.runs.run import RunFolder
from seal.runs.score_table import read_scores

TASKS = 200


def made(
    folder: Path,
    rates: dict[str, float],
    tasks: int = TASKS,
    measure: dict[str, Any] | None = None,
    name: str = "m",
    seed: int = 0,
) -> dict[str, RunFolder]:
    """Return runs that each solve some of the tasks, as many as their rates say."""
    writer, found = Writer(folder), {}
    for place, (run, rate) in enumerate(rates.items()):
        order = numpy.random.default_rng([seed, place]).permutation(tasks)
        solved = {int(one) for one in order[: round(rate * tasks)]}
        scores = [Score(f"t{n}", 0, 0, name, float(n in solved)) for n in range(tasks)]
        every = [task(f"t{n}") for n in range(tasks)]
        found[run] = writer(run, every, (), scores, {name: metric(rate)}, measure=measure)
    return found


def test_clear_differences_are_ranks_of_their_own_and_close_runs_share_a_group(
    tmp_path: Path,
) -> None:
    board = leaderboard(made(tmp_path, {"low": 0.2, "high": 0.9, "near": 0.52, "mid": 0.5}), "m")
    rows = {row["run"]: row for row in board["rows"]}
    assert [row["run"] for row in board["rows"]] == ["high", "near", "mid", "low"]
    assert [rows[name]["rank"] for name in ("high", "near", "mid", "low")] == [1, 2, 3, 4]
    assert (rows["high"]["rank_low"], rows["high"]["rank_high"]) == (1, 1)
    assert (rows["mid"]["rank_low"], rows["mid"]["rank_high"]) == (2, 3)
    assert (rows["low"]["rank_low"], rows["low"]["rank_high"]) == (4, 4)
    assert board["groups"] == [["high"], ["near", "mid"], ["low"]]
    assert [rows[name]["groups"] for name in ("high", "near", "mid", "low")] == [
        [1, 1],
        [2, 2],
        [2, 2],
        [3, 3],
    ]
    assert [rows[name]["beaten"] for name in ("high", "near", "low")] == [3, 1, 0]
    assert board["pairs"] == {"total": 6, "differ": 5}


def test_a_frame_of_scores_ranks_as_runs_of_these_scores_do(tmp_path: Path) -> None:
    runs = made(tmp_path, {"low": 0.2, "high": 0.9, "near": 0.52, "mid": 0.5})
    tables = {name: read_scores(run.scores_path) for name, run in runs.items()}
    frame = pandas.DataFrame({name: table.values[:, 0] for name, table in tables.items()})

    of_runs, of_frame = leaderboard(runs, "m"), leaderboard_of_scores(frame, "m")

    assert of_frame == of_runs
    board = seal.leaderboard(frame, metric="m", out=tmp_path / "out")
    assert [row["mean"] for row in board.rows] == [0.9, 0.52, 0.5, 0.2]
    assert "high" in (tmp_path / "out" / "leaderboard.md").read_text()


@pytest.mark.parametrize(
    ("frame", "told"),
    [
        ({"a": [1, 0]}, "two systems and two tasks; the scores have 1 and 2"),
        ({"a": [1], "b": [0]}, "two systems and two tasks; the scores have 2 and 1"),
        ({"a": [1, 0], "b": ["x", 1]}, "what is no number"),
        ({"a": [1, 0], "b": [None, None]}, "no score at all"),
        ({"a": [1, 0], "b": [1, numpy.inf]}, "an infinite one"),
    ],
)
def test_a_frame_that_holds_no_scores_is_refused(frame: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        seal.leaderboard(pandas.DataFrame(frame))


def test_a_frame_with_a_name_twice_or_with_tags_is_refused() -> None:
    frame = pandas.DataFrame([[1, 0], [0, 1]], columns=["a", "a"])
    with pytest.raises(UsageError, match="two systems named 'a'"):
        seal.leaderboard(frame)
    with pytest.raises(UsageError, match="two tasks named 't'"):
        seal.leaderboard(frame.set_axis(["a", "b"], axis=1).set_axis(["t", "t"]))
    with pytest.raises(UsageError, match="no tags"):
        seal.leaderboard(frame.set_axis(["a", "b"], axis=1), by="group")


def test_equal_runs_share_a_rank_and_no_order_of_theirs_is_told(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    scores = [Score(f"t{n}", 0, 0, "m", float(n % 2)) for n in range(20)]
    tasks = [task(f"t{n}") for n in range(20)]
    runs = {name: writer(name, tasks, (), scores, {"m": metric(0.5)}) for name in "abc"}
    board = leaderboard(runs, "m", resamples=200)
    assert [(row["rank"], row["rank_low"], row["rank_high"]) for row in board["rows"]] == [
        (1, 1, 3)
    ] * 3
    assert board["groups"] == [["a", "b", "c"]]
    assert board["pairs"]["differ"] == 0


def test_the_interval_of_a_rank_holds_the_true_rank(tmp_path: Path) -> None:
    """Of eight systems of known rates, in 40 draws of 60 tasks, few true ranks are missed."""
    rates = {f"s{n}": 0.9 - 0.08 * n for n in range(8)}
    missed = 0
    for draw in range(40):
        rng = numpy.random.default_rng(draw)
        writer, runs = Writer(tmp_path / str(draw)), {}
        tasks = [task(f"t{n}") for n in range(60)]
        for name, rate in rates.items():
            hits = rng.random(60) < rate
            scores = [Score(f"t{n}", 0, 0, "m", float(hit)) for n, hit in enumerate(hits)]
            runs[name] = writer(name, tasks, (), scores, {"m": metric(float(hits.mean()))})
        rows = leaderboard(runs, "m", seed=draw, resamples=300)["rows"]
        true = {name: place for place, name in enumerate(rates, 1)}
        missed += sum(not r["rank_low"] <= true[r["run"]] <= r["rank_high"] for r in rows)
    assert missed <= 0.08 * 40 * 8


def test_lower_is_better_where_the_scale_says_so(tmp_path: Path) -> None:
    runs = made(tmp_path, {"few": 0.1, "many": 0.9}, name="extra_calls")
    board = leaderboard(runs, "extra_calls", resamples=200)
    assert [row["run"] for row in board["rows"]] == ["few", "many"]
    assert board["protocol"]["higher_is_better"] is False


def test_runs_of_other_tasks_or_measures_have_no_rank(tmp_path: Path) -> None:
    runs = made(tmp_path, {"a": 0.9, "b": 0.5, "c": 0.4})
    runs |= made(tmp_path, {"few": 0.7}, tasks=30)
    runs |= made(tmp_path, {"other": 0.7}, measure={"seed": 1})
    runs |= made(tmp_path, {"lacking": 0.7}, name="n")
    rows = {row["run"]: row for row in leaderboard(runs, "m", resamples=200)["rows"]}
    assert [*rows] == ["a", "b", "c", "few", "other", "lacking"]
    assert rows["few"]["rank"] is None
    assert rows["few"]["mark"] == "30 of the 200 tasks, without t100"
    assert rows["other"]["mark"] == "other seed"
    assert (rows["lacking"]["rank"], rows["lacking"]["mark"]) == (None, "no m")


def test_trials_of_a_task_are_one_and_more_of_them_are_no_other_measure(tmp_path: Path) -> None:
    writer, tasks = Writer(tmp_path), [task(f"t{n}") for n in range(40)]
    once = [Score(f"t{n}", 0, 0, "m", float(n < 20)) for n in range(40)]
    thrice = [Score(f"t{n}", k, 0, "m", float(n < 10 + k)) for n in range(40) for k in range(3)]
    runs = {
        "once": writer("once", tasks, (), once, {"m": metric(0.5)}, measure={"trials": 1}),
        "thrice": writer("thrice", tasks, (), thrice, {"m": metric(0.275)}, measure={"trials": 3}),
    }
    rows = leaderboard(runs, "m", resamples=500)["rows"]
    assert [(row["run"], row["rank"]) for row in rows] == [("once", 1), ("thrice", 2)]


def test_goals_without_a_value_count_in_no_mean(tmp_path: Path) -> None:
    writer, tasks = Writer(tmp_path), [task(f"t{n}") for n in range(40)]
    half = [
        Score(f"t{n}", 0, 0, "m", 1.0 if n < 10 else None, reason="undecided") for n in range(40)
    ]
    whole = [Score(f"t{n}", 0, 0, "m", float(n < 30)) for n in range(40)]
    none = [Score(f"t{n}", 0, 0, "m", None, reason="undecided") for n in range(40)]
    runs = {
        "whole": writer("whole", tasks, (), whole, {"m": metric(0.75)}),
        "half": writer("half", tasks, (), half, {"m": metric(1.0)}),
        "none": writer("none", tasks, (), none, {"m": metric(None)}),
    }
    board = leaderboard(runs, "m", resamples=200)
    assert [row["run"] for row in board["rows"]] == ["half", "whole", "none"]
    assert board["pairs"] == {"total": 3, "differ": 0}


@pytest.mark.parametrize(
    ("name", "asked", "error", "told"),
    [
        ("m", "n", UnknownNameError, "no metric of these runs 'n'; known: m"),
        ("turns", "turns", UsageError, "neither high nor low scores of turns are better"),
        ("call_precision", "call_precision", UsageError, "only of the calls that were made"),
    ],
)
def test_a_metric_that_ranks_nothing_is_refused(
    name: str, asked: str, error: type, told: str, tmp_path: Path
) -> None:
    runs = made(tmp_path, {"a": 0.9, "b": 0.1}, tasks=10, name=name)
    with pytest.raises(error, match=told):
        leaderboard(runs, asked, resamples=50)


def test_two_runs_of_which_one_lacks_tasks_are_no_leaderboard(tmp_path: Path) -> None:
    runs = made(tmp_path, {"a": 0.9}, tasks=10) | made(tmp_path, {"b": 0.9}, tasks=12)
    with pytest.raises(
        UsageError, match=r"give a run what it lacks, .*\(a: 10 of the 12 tasks, without t10\)"
    ):
        leaderboard(runs, "m")
