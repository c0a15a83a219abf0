"""Further metrics in a run: by object and name, scored again, and failing alone."""

import os
from pathlib import Path
from typing import ClassVar

import orjson
import pytest

import seal
from seal.core import DataError, Scale, Score, UnknownNameError, UsageError
from seal.runs.run import RunFolder


class Words:
    """How many words the answer has."""

    scales: ClassVar = {"words": Scale(bounded=False, higher_is_better=None)}

    def score(self, task, trajectory, tools):
        count = len((trajectory.answers[0] or "").split())
        return [Score(task.id, trajectory.trial, 0, "words", float(count))]


class Broken:
    """Fails over every chat but the first that it scores."""

    error: BaseException = KeyError("nothing here")

    def __init__(self) -> None:
        self.scored: list[str] = []

    def score(self, task, trajectory, tools):
        self.scored.append(task.id)
        if task.id != self.scored[0]:
            raise self.error
        return [Score(task.id, trajectory.trial, 0, "broken", 1.0)]


def play(out: Path, *metrics: object) -> seal.Run:
    return seal.run("sample", out=out, limit=2, baselines=False, metrics=metrics)


def test_a_metric_of_ones_own_stands_beside_the_others(tmp_path: Path) -> None:
    played = play(tmp_path / "run", Words)

    assert played.summary["metrics"]["words"]["n"] == 2
    assert played.folder.manifest()["measure"]["metrics"] == [f"{__name__}:Words"]


def test_a_score_of_others_that_is_no_rate_counts(tmp_path: Path) -> None:
    folder = play(tmp_path / "run").folder
    path = folder.path / "trajectories.jsonl"
    given = {"recorded_scores": {"theirs/words": {"value": 7, "reason": ""}}}
    chats = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    path.write_bytes(b"".join(orjson.dumps({**c, "provenance": given}) + b"\n" for c in chats))

    seal.score(folder.path, metrics=["recorded_scores"])

    scored = RunFolder(folder.path)
    assert {s.value for s in scored.scores() if s.metric == "theirs/words"} == {7}
    assert not scored.scales()["theirs/words"].bounded


@pytest.mark.parametrize("error", [KeyError("nothing here"), GeneratorExit("odd")])
def test_a_metric_that_fails_is_an_error_of_its_task_and_no_score(
    error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Broken, "error", error)
    played = play(tmp_path / "run", Broken)

    assert played.exit_code == 1
    assert played.summary["errors"] == 1
    assert played.summary["metrics"]["Broken"]["n"] == 0
    assert played.summary["metrics"]["finished"]["n"] == 2


def test_scoring_again_measures_what_the_run_measured(tmp_path: Path) -> None:
    played = play(tmp_path / "run", Words)
    before = played.folder.scores_path.read_bytes()

    seal.score(played.folder.path, allow_code=(__name__,))

    assert played.folder.scores_path.read_bytes() == before


def test_a_metric_of_the_run_that_may_not_be_loaded_keeps_its_scores_and_stays_named(
    tmp_path: Path,
) -> None:
    played = play(tmp_path / "run", Words)
    before = played.folder.scores_path.read_bytes()

    assert seal.score(played.folder.path)["words"].n == played["words"].n > 0

    assert played.folder.scores_path.read_bytes() == before
    assert played.folder.manifest()["measure"]["metrics"] == [f"{__name__}:Words"]


def test_a_metric_of_the_run_that_may_not_be_loaded_has_no_value_without_former_scores(
    tmp_path: Path,
) -> None:
    played = play(tmp_path / "run", Words)
    played.folder.scores_path.unlink()

    summary = seal.score(played.folder.path)

    (name,) = played.folder.manifest()["measure"]["metrics"]
    assert (summary[name].n, summary.summary["errors"]) == (0, 0)
    left_out = [score for score in played.folder.scores() if score.metric == name]
    assert {score.value for score in left_out} == {None}
    assert all(f"allow it: --allow-code {__name__}" in score.reason for score in left_out)


@pytest.mark.parametrize(
    ("metrics", "told"),
    [("pass_rate", "expected a list `measure.metrics`"), ([1], "measure.metrics: expected")],
)
def test_metrics_of_a_run_that_are_no_names_are_refused(
    tmp_path: Path, metrics: object, told: str
) -> None:
    folder = play(tmp_path / "run").folder
    manifest = folder.manifest()
    manifest["measure"]["metrics"] = metrics
    folder.write_json("run.json", manifest)
    with pytest.raises(DataError, match=f"run.json: {told}"):
        seal.score(folder.path)


def test_what_is_no_metric_is_refused_before_anything_is_played(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'pass_rate'"):
        play(tmp_path / "run", "pas_rate")
    with pytest.raises(UsageError, match="is no metric: expected"):
        play(tmp_path / "run", object())
    assert not (tmp_path / "run").exists()


def test_a_metric_that_never_ends_has_no_value_for_its_chat_alone(tmp_path: Path) -> None:
    slow: list[str] = []

    def endless(task, trajectory, tools):
        slow.append(task.id)
        while task.id != slow[0]:
            pass
        return 1.0

    limits = {"max_seconds": 1, "limit": 2, "baselines": False}
    played = seal.run("sample", out=tmp_path / "run", metrics=[endless], **limits)

    values = [score for score in played.folder.scores() if score.metric == "endless"]
    late = next(score for score in values if score.value is None)
    assert [score.value for score in values if score is not late] == [1.0]
    assert late.reason.endswith("OverdueError: it takes longer than it may")
    assert played.summary["metrics"]["pass_rate"]["n"] == 2


def test_a_metric_that_never_ends_on_the_first_chat_is_told_at_once(tmp_path: Path) -> None:
    def endless(task, trajectory, tools):
        while True:
            pass

    with pytest.raises(UsageError, match=r"metric endless failed on the first chat.*longer than"):
        seal.run("sample", out=tmp_path / "run", limit=1, metrics=[endless], max_seconds=1)


def test_a_metric_may_change_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wandering(task, trajectory, tools):
        os.chdir("/")
        return 1.0

    monkeypatch.chdir(tmp_path)
    seal.run("sample", out="run", limit=2, metrics=[wandering], baselines=False)
    assert Path.cwd() == tmp_path
    scored = seal.score("run", metrics=[wandering])
    assert Path.cwd() == tmp_path
    assert scored.summary["metrics"]["wandering"]["mean"] == 1.0
