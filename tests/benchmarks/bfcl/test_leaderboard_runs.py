"""The verdicts of the leaderboard on answers of real models; the whole is in `perf/verify`."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from peers.bfcl_runs import PEER, Runs, recorded, refused_but_right, runs
from peers.comparison import compare

from seal.benchmarks.bfcl.answers import models
from seal.core import UsageError

SAMPLE = {dialect.name: model for model, dialect in models().items()}
"""A model of each dialect."""


@pytest.fixture(scope="module")
def found(seal_data: Path) -> Runs:
    folder = seal_data / "bfcl_runs"
    if not folder.is_dir():
        pytest.skip(f"no answers of real models: there is no {folder}")
    return Runs(folder)


@pytest.mark.slow
def test_a_model_of_each_dialect_is_judged_as_the_leaderboard_judged_it(found: Runs) -> None:
    answers = list(found.answers(*SAMPLE.values()))
    assert Counter(one.model for one in answers) == dict.fromkeys(SAMPLE.values(), 1390)
    python = [one for one in answers if one.category not in ("java", "javascript")]
    unread = {one.task.id for one in python if one.verdict is None}
    assert unread == {"parallel_multiple_function_179"} == found.left_out
    assert [one.of for one in python if one.verdict not in (one.right, None)] == []
    called = [one for one in python if one.category != "irrelevance"]
    assert [one.of for one in called if one.reading.problem != one.problem] == []


@pytest.mark.slow
def test_every_difference_has_its_rule(found: Runs) -> None:
    held = replace(PEER, held=lambda: recorded(found, *SAMPLE.values()))
    told = compare("bfcl_runs", held)
    assert told.explained and {one.why for one in told.differences} <= PEER.explained.keys()


@pytest.mark.slow
def test_answers_that_are_right_there_and_refused_here_are_counted(found: Runs) -> None:
    right, refused, kinds = refused_but_right(found, *SAMPLE.values())
    assert right > 9_000 and 0 < refused < right / 100 and kinds.total() == refused


def test_answers_that_are_not_here_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEAL_DATA", str(tmp_path))
    with pytest.raises(UsageError, match=r"expected .*_questions.jsonl.gz; set SEAL_DATA"):
        runs()
