"""Further metrics in a run: by object and name, scored again, and failing alone."""

from pathlib import Path

import pytest

import seal
from seal.core.errors import UnknownNameError, UsageError
from seal.core.types import Score


class Words:
    """How many words the answer has."""

    def score(self, task, trajectory, tools):
        count = len((trajectory.answers[0] or "").split())
        return [Score(task.id, trajectory.trial, 0, "words", float(count))]


class Broken:
    def score(self, task, trajectory, tools):
        return {}["nothing here"]


def play(out: Path, *metrics: object) -> seal.Run:
    return seal.run("sample", out=out, limit=2, baselines=False, metrics=metrics)


def test_a_metric_of_ones_own_stands_beside_the_others(tmp_path: Path) -> None:
    played = play(tmp_path / "run", Words)

    assert played.summary["metrics"]["words"]["n"] == 2
    assert played.folder.manifest()["measure"]["metrics"] == [f"{__name__}:Words"]


def test_a_metric_that_fails_is_an_error_of_its_task_and_no_score(tmp_path: Path) -> None:
    played = play(tmp_path / "run", Broken)

    assert played.exit_code == 1
    assert played.summary["errors"] == 2
    assert played.summary["metrics"]["Broken"]["n"] == 0
    assert played.summary["metrics"]["pass_rate"]["n"] == 2


def test_scoring_again_measures_what_the_run_measured(tmp_path: Path) -> None:
    played = play(tmp_path / "run", Words)
    before = played.folder.scores_path.read_bytes()

    seal.score(played.folder.path)

    assert played.folder.scores_path.read_bytes() == before


def test_what_is_no_metric_is_refused_before_anything_is_played(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'pass_rate'"):
        play(tmp_path / "run", "pas_rate")
    with pytest.raises(UsageError, match="is no metric: expected"):
        play(tmp_path / "run", object())
    assert not (tmp_path / "run").exists()
