"""Whole runs beside each other: what is matched, corrected, won and lost, and what is refused."""

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seal.core import DataError, Goal, Score, Task, UnknownNameError, UsageError, write_records
from seal.evaluation.significance import Difference, mcnemar, paired_differences
from seal.experiments.comparison import named_runs, study
from seal.experiments.settings import CompareSettings

DECISIVE = ("pass_rate", "similarity")
MEASURE = {"judge": {"judge": "rule/2"}, "seed": 0, "limit": None, "trials": 1}


def run(folder: Path, scores: Iterable[Score], **measure: Any) -> Path:
    """Write what a comparison reads of a run."""
    scores = list(scores)
    tasks = [Task(id, "b", (Goal("Do it"),)) for id in dict.fromkeys(s.task_id for s in scores)]
    write_records(folder / "scores.jsonl", scores)
    write_records(folder / "tasks.jsonl", tasks)
    manifest = {"measure": {**MEASURE, **measure}, "system": {"model": {"model": folder.name}}}
    (folder / "run.json").write_text(json.dumps(manifest))
    return folder


def passed(*rows: list[float | None], metric: str = "pass_rate", first: int = 0) -> list[Score]:
    """Return scores of one task a row, one trial a value; None: the judge had no server."""
    return [
        Score(f"t{number}", trial, 0, metric, value, reason="" if value is not None else "x: y")
        for number, row in enumerate(rows, first)
        for trial, value in enumerate(row)
    ]


def compared(*paths: Path, family: Iterable[str] = ("pass_rate",), **settings: Any):
    return study(named_runs(paths), CompareSettings(**settings), tuple(family), DECISIVE)


def test_the_base_is_the_first_and_every_pair_can_be_asked_for(tmp_path: Path) -> None:
    values = {"a": 0.0, "b": 1.0, "c": 1.0}
    paths = [run(tmp_path / name, passed([value], [1.0])) for name, value in values.items()]
    told = compared(*paths)
    assert [(p["run"], p["other"]) for p in told["pairs"]] == [("b", "a"), ("c", "a")]
    assert [e["difference"] for e in told["comparisons"]] == [0.5, 0.5]
    every = compared(*paths, pairs="all")
    assert [(p["run"], p["other"]) for p in every["pairs"]] == [("b", "a"), ("c", "a"), ("c", "b")]
    with pytest.raises(UnknownNameError, match="value of pairs 'some'"):
        compared(*paths, pairs="some")


def test_p_is_corrected_over_all_pairs_and_metrics_of_the_family(tmp_path: Path) -> None:
    rows = [[1.0]] * 8
    zeros = [[0.0]] * 8
    base = run(tmp_path / "a", [*passed(*zeros), *passed(*zeros, metric="own")])
    ups = [run(tmp_path / n, [*passed(*rows), *passed(*rows, metric="own")]) for n in "bc"]
    told = compared(base, *ups)["comparisons"]
    assert {e["p"] for e in told} == {1 / 256} or {e["p"] for e in told} == {0.003906}
    assert [e["p_holm"] for e in told if e["metric"] == "pass_rate"] == [0.007812] * 2
    assert [e["p_holm"] for e in told if e["metric"] == "own"] == [None] * 2
    both = compared(base, *ups, metrics=("own", "pass_rate"))["comparisons"]
    assert [e["p_holm"] for e in both] == [0.015624] * 4


def test_tasks_won_lost_and_undecided_are_told_by_trials(tmp_path: Path) -> None:
    base = run(tmp_path / "a", passed([0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 0, 0], [1, 1, None]))
    new = run(tmp_path / "b", passed([1, 1, 1], [1, 0, 1], [0, 0, 0], [0, 0, 1], [1, 1, 1]))
    (pair,) = compared(base, new)["pairs"]
    flips, played = pair["flips"], {"trials": 3, "other_trials": 3}
    assert flips["won"] == [
        {"task": "t0", "solved": 3, "other_solved": 1, "flipped": [0, 1]} | played
    ]
    assert flips["lost"] == [
        {"task": "t1", "solved": 2, "other_solved": 3, "flipped": [1]} | played
    ]
    told = (flips["both"], flips["neither"], flips["alike"], flips["undecided"])
    assert told == (1, 1, 1, 1)


@pytest.mark.parametrize(("won", "lost"), [(0, 0), (1, 0), (5, 5), (9, 2), (2, 9), (30, 14)])
def test_mcnemar_is_exact_and_mid_p_side_by_side(won: int, lost: int) -> None:
    from scipy.stats import binom, binomtest

    found = mcnemar(won, lost)
    turned = won + lost
    exact = binomtest(won, turned).pvalue if turned else 1.0
    observed = binom.pmf(min(won, lost), turned, 0.5)
    mid_p = 1.0 if won == lost else exact - observed
    assert found["exact"] == pytest.approx(exact, abs=1e-6)
    assert found["mid_p"] == pytest.approx(mid_p, abs=1e-6)


def test_a_chat_is_solved_where_all_its_goals_are(tmp_path: Path) -> None:
    def scores(second: float) -> list[Score]:
        return [Score("t", 0, 0, "pass_rate", 1.0), Score("t", 0, 1, "pass_rate", second)]

    (pair,) = compared(run(tmp_path / "a", scores(0.0)), run(tmp_path / "b", scores(1.0)))["pairs"]
    assert [flip["task"] for flip in pair["flips"]["won"]] == ["t"]


def test_a_chat_that_lacks_the_verdict_of_a_goal_is_undecided_and_not_solved(
    tmp_path: Path,
) -> None:
    def scores(second: float | None) -> list[Score]:
        reason = "" if second is not None else "infrastructure: judge: down"
        first = Score("t", 0, 0, "pass_rate", 1.0)
        return [first, Score("t", 0, 1, "pass_rate", second, reason=reason)]

    (pair,) = compared(run(tmp_path / "a", scores(0.0)), run(tmp_path / "b", scores(None)))["pairs"]
    assert (pair["flips"]["won"], pair["flips"]["undecided"]) == ([], 1)


def test_pass_k_over_trials_has_intervals_and_counts_tasks_with_fewer(tmp_path: Path) -> None:
    base = run(tmp_path / "a", passed(*[[0, 0, 1]] * 4, [1]))
    new = run(tmp_path / "b", passed(*[[1, 0, 1]] * 4, [1]))
    (pair,) = compared(base, new)["pairs"]
    found = {(e["measure"], e["k"]): e for e in pair["passes"]}
    hats, ats = [("pass^k", k) for k in (1, 2, 3)], [("pass@k", k) for k in (2, 3)]
    assert list(found) == hats + ats
    assert found["pass^k", 2]["mean"] == pytest.approx(1 / 3, abs=1e-6)
    assert found["pass^k", 2]["other_mean"] == 0.0
    assert found["pass@k", 2]["other_mean"] == pytest.approx(2 / 3, abs=1e-6)
    assert (found["pass^k", 2]["tasks"], found["pass^k", 2]["excluded"]) == (4, 1)
    low, high = found["pass^k", 1]["interval"]
    assert low <= found["pass^k", 1]["mean"] <= high


def test_runs_that_differ_in_trials_are_compared_by_means_over_all_of_them(tmp_path: Path) -> None:
    base = run(tmp_path / "a", passed(*[[1.0, 0.0, 0.0, None]] * 5), limit=5, trials=4)
    new = run(tmp_path / "b", passed(*[[1.0]] * 3, first=3), limit=3)
    told = compared(base, new)
    (pair,), (entry,) = told["pairs"], told["comparisons"]
    assert (pair["averaged"], pair["matched"]) == (
        True,
        {"tasks": 2, "chats": 2, "other_chats": 8},
    )
    assert pair["alone"] == {"tasks": 1, "chats": 1, "named": ["t5"]}
    theirs = pair["other_alone"]
    assert (theirs["tasks"], theirs["chats"], theirs["named"]) == (3, 12, ["t0", "t1", "t2"])
    assert (entry["n"], entry["excluded"]) == (2, {"a: not scored": 1, "b: not scored": 3})
    assert (entry["other_mean"], entry["mean"]) == (pytest.approx(1 / 3, abs=1e-6), 1.0)
    won = [(f["task"], f["solved"], f["trials"], f["other_solved"], f["other_trials"], f["flipped"])
           for f in pair["flips"]["won"]]  # fmt: skip
    assert won == [("t3", 1, 1, 1, 3, []), ("t4", 1, 1, 1, 3, [])]
    assert (pair["flips"]["undecided"], pair["flips"]["mcnemar"], pair["passes"]) == (
        2,
        None,
        [],
    )


def test_runs_that_differ_in_trials_are_told_how_many_would_find_the_difference(
    tmp_path: Path,
) -> None:
    rows = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    base = run(tmp_path / "a", passed(*rows), trials=3)
    new = run(tmp_path / "b", passed(*[[1.0, 1.0]] * 3, [1.0, 0.0], [0.0, 1.0]), trials=2)
    (entry,) = compared(base, new)["comparisons"]
    # The differences of means are 2/3 three times and 1/6 twice: SE^2 is 0.3 / 4 / 5.
    reach, squared, mean = 2.8016, 0.015, 7 / 15
    assert entry["detectable"] == pytest.approx(reach * squared**0.5, abs=1e-4)
    # One trial varies by 1/3 in each task of a, and by 1/2 in two of b.
    one, now = (5 / 3 + 2 / 2) / 25, (5 / 3 / 3 + 2 / 2 / 2) / 25
    assert now > squared
    assert entry["trials_needed"] == math.ceil(one / now * squared / (mean / reach) ** 2) == 2


def test_means_over_trials_say_the_same_as_pairs_where_all_have_as_many(tmp_path: Path) -> None:
    rows = [[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
    base = run(tmp_path / "a", passed(*rows))
    new = run(tmp_path / "b", passed(*[[1.0, 1.0]] * 3))
    uneven = run(tmp_path / "c", passed(*[[1.0, 1.0, 1.0]] * 3))
    paired, averaged = (compared(base, other)["comparisons"][0] for other in (new, uneven))
    told = ("mean", "other_mean", "difference", "low", "high", "p", "tasks")
    assert [paired[name] for name in told] == [averaged[name] for name in told]
    assert (paired["n"], averaged["n"]) == (6, 3)


def test_pass_k_of_runs_that_differ_in_trials_takes_all_trials_of_each(tmp_path: Path) -> None:
    base = run(tmp_path / "a", passed(*[[0, 0, 1]] * 4, [1, 1, 1]))
    new = run(tmp_path / "b", passed(*[[1, 1]] * 4, [1]))
    (pair,) = compared(base, new)["pairs"]
    found = {(e["measure"], e["k"]): e for e in pair["passes"]}
    assert list(found) == [("pass^k", 1), ("pass^k", 2), ("pass@k", 2)]
    assert (found["pass@k", 2]["mean"], found["pass@k", 2]["tasks"]) == (1.0, 4)
    assert found["pass@k", 2]["other_mean"] == pytest.approx(2 / 3, abs=1e-6)


def test_a_metric_of_one_run_is_an_exclusion_and_no_zero(tmp_path: Path) -> None:
    base = run(tmp_path / "a", [*passed([1.0], [1.0]), *passed([1.0], [1.0], metric="own")])
    new = run(tmp_path / "b", [*passed([1.0], [0.0]), *passed([None], [None], metric="own")])
    own = {e["metric"]: e for e in compared(base, new)["comparisons"]}["own"]
    assert (own["n"], own["difference"], own["p"], own["excluded"]) == (0, None, None, {"b: x": 2})


def test_without_a_verdict_in_common_there_are_no_flips(tmp_path: Path) -> None:
    paths = [run(tmp_path / n, passed([1.0], metric="calls")) for n in "ab"]
    (pair,) = compared(*paths)["pairs"]
    assert (pair["success"], pair["flips"], pair["passes"]) == (None, None, [])
    (pair,) = compared(*paths, success="calls")["pairs"]
    assert pair["flips"]["both"] == 1


def test_one_task_and_equal_runs_say_so(tmp_path: Path) -> None:
    one, other = (run(tmp_path / n, passed([v])) for n, v in (("a", 0.0), ("b", 1.0)))
    told = compared(one, other)
    (entry,) = told["comparisons"]
    assert (entry["low"], entry["p"], entry["detectable"]) == (None, None, None)
    assert told["notes"] == [
        "b and a: one task, or family of them, has neither an interval nor a test"
    ]
    alike = [run(tmp_path / n, passed(*[[1.0], [0.0]] * 25)) for n in ("c", "d")]
    assert compared(*alike)["notes"] == [
        "d and c have the same value in every pair that has values"
    ]


def test_what_has_pairs_of_one_task_alone_is_no_test_of_the_family(tmp_path: Path) -> None:
    rows = [[1.0]] * 6
    base = run(tmp_path / "a", [*passed(*[[0.0]] * 6), *passed([0.0], metric="own")])
    new = run(tmp_path / "b", [*passed(*rows), *passed([1.0], metric="own")])
    told = compared(base, new, metrics=("pass_rate", "own"))
    whole, single = told["comparisons"]
    assert whole["p"] == whole["p_holm"] == 1 / 64
    assert (single["n"], single["p"], single["p_holm"]) == (1, None, None)
    note = "b and a: own: one task, or family of them, has neither an interval nor a test"
    assert told["notes"][0] == note
    assert told["notes"][1] == "b and a: 6 tasks, or families of them, make rough intervals"


def test_many_tasks_against_one_are_one_pair_without_a_test(tmp_path: Path) -> None:
    many, one = run(tmp_path / "a", passed(*[[1.0]] * 80)), run(tmp_path / "b", passed([1.0]))
    told = compared(many, one)
    assert told["comparisons"][0]["p"] is None
    assert any(note.endswith("neither an interval nor a test") for note in told["notes"])
    assert not any("rough intervals" in note for note in told["notes"])


def test_other_measures_are_refused_but_for_limit_and_trials(tmp_path: Path) -> None:
    base = run(tmp_path / "a", passed([1.0]))
    other = run(tmp_path / "b", passed([1.0]), judge={"judge": "llm"}, trials=3)
    with pytest.raises(UsageError, match=r"judge is \{'judge': 'rule/2'\} and \{.*llm.*--force"):
        compared(base, other)
    (differs,) = compared(base, other, force=True)["differs"]
    assert differs.startswith("a and b measure otherwise: judge is")


def test_what_is_no_comparison_is_refused(tmp_path: Path) -> None:
    base = run(tmp_path / "a", passed([1.0]))
    with pytest.raises(UsageError, match="at least two runs, got a"):
        compared(base)
    with pytest.raises(UsageError, match="stands there twice"):
        compared(base, tmp_path / "x" / ".." / "a")
    with pytest.raises(UsageError, match="a and z have no task in common"):
        compared(base, run(tmp_path / "z", passed([1.0], first=7)))
    with pytest.raises(DataError, match="is no run folder"):
        compared(base, tmp_path)
    unscored = run(tmp_path / "u", passed([1.0]))
    (unscored / "scores.jsonl").unlink()
    with pytest.raises(DataError, match="score the run with `seal score"):
        compared(base, unscored)
    with pytest.raises(UnknownNameError, match=r"'pas_rate'.*mean 'pass_rate'"):
        compared(base, run(tmp_path / "b", passed([1.0])), metrics=("pas_rate",))
    (base / "run.json").write_text('{"measure": 3}')
    with pytest.raises(DataError, match="expected an object `measure`, got int"):
        compared(base, tmp_path / "b")


def test_names_are_the_shortest_that_differ(tmp_path: Path) -> None:
    paths = [run(tmp_path / n, passed([1.0])) for n in ("x/run", "y/run", "y/other")]
    assert list(named_runs(paths)) == ["x/run", "y/run", "y/other"]
    assert list(named_runs(paths[1:])) == ["run", "other"]


def test_the_same_seed_gives_the_same_figures_and_the_order_of_lines_none(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (2, 150, 2)).astype(float).tolist()
    base, new = (run(tmp_path / n, passed(*r)) for n, r in zip("ab", rows, strict=True))
    first = compared(base, new)
    assert compared(base, new) == first
    assert compared(base, new, seed=1)["comparisons"] != first["comparisons"]


@pytest.mark.slow
def test_intervals_cover_and_tests_reject_as_often_as_they_say() -> None:
    """1,000 pairs of runs of 100 tasks x 3 trials, solved or not, each task with its own chance."""
    rng = np.random.default_rng(3)
    clusters = np.tile(np.arange(101), 3)

    def drawn(effect: float) -> list[Difference]:
        ease = rng.uniform(0.25, 0.7, (101, 1_000))
        chances = [ease + rng.uniform(-0.2, 0.2, (101, 1_000)) + shift for shift in (effect, 0.0)]
        one, other = (rng.random((3, 101, 1_000)) < chance for chance in chances)
        return paired_differences((one * 1.0 - other).reshape(-1, 1_000), clusters, 0, 2_000)

    held = sum((each.low or 0) <= 0.05 <= (each.high or 0) for each in drawn(0.05))
    rejected = sum((each.p or 0) <= 0.05 for each in drawn(0.0))
    assert 930 <= held <= 970
    assert 40 <= rejected <= 60
