"""A run while it goes on: its chats are scored beside play, and a reader sees how far it is."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from report_runs import Writer, chat, failed_chat, task, verdict
from small_pools import contents, many, play, recording, write_pool

from seal.core import Scale, Score
from seal.core.files import Lock
from seal.core.records import encode, encode_scores
from seal.core.values import json_bytes
from seal.evaluation.rule_judge import RuleJudge
from seal.runs.journal import JobOutcome, Timings
from seal.runs.run import RunFolder
from seal.runs.running import SO_FAR, RunningRun, ScoredBeside, as_it_is
from seal.runs.scoring import Scorer

SCORES = ("scores.jsonl", "summary.json")


def scorer(**how) -> Scorer:
    return Scorer(lambda task, trial: RuleJudge(), **how)


def slow_first(score):
    """Score the first chat late, so that others wait when the run ends."""
    late = [0.5]

    def scored(*what):
        time.sleep(late.pop() if late else 0)
        return score(*what)

    return scored


@pytest.mark.parametrize("slow", [False, True])
def test_scores_are_the_same_bytes_whenever_chats_are_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slow: bool
) -> None:
    pool, known = write_pool(tmp_path / "pool", many(12)), []
    with monkeypatch.context() as patched:
        patched.setattr(ScoredBeside, "take", lambda self, task, line: None)
        play(pool, tmp_path / "after", trials=2)
    if slow:
        begin = ScoredBeside.__init__
        monkeypatch.setattr(
            ScoredBeside, "__init__", lambda self, run, score: begin(self, run, slow_first(score))
        )
    of = Scorer.score
    monkeypatch.setattr(
        Scorer,
        "score",
        lambda self, run, told, before: of(
            self, run, told, lambda pair: known.append(before(pair)) or known[-1]
        ),
    )

    play(pool, tmp_path / "beside", trials=2)

    assert any(known)
    for name in SCORES:
        after, beside = (tmp_path / run / name for run in ("after", "beside"))
        assert after.read_bytes() == beside.read_bytes()
    assert contents(tmp_path / "after").keys() == contents(tmp_path / "beside").keys()


def test_chats_of_a_killed_run_are_scored_when_it_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = write_pool(tmp_path / "pool", many(6))
    play(pool, tmp_path / "whole")
    with monkeypatch.context() as patched:
        patched.setattr("seal.runs.play._Chats.score", lambda self: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            play(pool, tmp_path / "killed")
    left = tmp_path / "killed" / SO_FAR
    with left.open("ab") as file:
        file.write(b'{"torn')

    play(pool, tmp_path / "killed", resume=True)

    assert not left.exists()
    for name in SCORES:
        whole, killed = (tmp_path / run / name for run in ("whole", "killed"))
        assert whole.read_bytes() == killed.read_bytes()


@dataclass
class Before:
    """Counts the chats that were scored before."""

    names: ClassVar = ("before",)
    scales: ClassVar = {"before": Scale(bounded=False)}
    seen: int = 0

    def score(self, task, trajectory, tools):
        self.seen += 1
        return [Score(task.id, trajectory.trial, 0, "before", self.seen)]


def test_a_metric_that_may_look_at_other_chats_waits_for_them(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    (one,) = many(1)
    found = scorer(extra=[Before()]).at_once(folder, {})(one, recording(one, "sunny"))
    known = scorer().at_once(folder, {})(one, recording(one, "sunny"))

    assert found is None
    assert known is not None and known[2] == encode_scores(known[0])


def test_a_chat_whose_scoring_takes_long_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seal.runs.scoring._AT_ONCE_S", 0.0)
    (one,) = many(1)
    at_once = scorer().at_once(folder_of(tmp_path), {})
    assert at_once(one, recording(one, "sunny")) is None


def folder_of(path: Path) -> RunFolder:
    folder = RunFolder(path)
    folder.write_json("run.json", {"measure": {}, "system": {}})
    return folder


def append(path: Path, lines: bytes) -> None:
    with path.open("ab") as file:
        file.write(lines)


@pytest.fixture
def going(tmp_path: Path) -> RunFolder:
    """A run of three tasks of which one ended, and one failed."""
    chats = [chat("own/a"), failed_chat("own/b")]
    run = Writer(tmp_path)("run", [task(f"own/{x}") for x in "abc"], chats, None)
    append(run.path / SO_FAR, encode_scores([verdict("own/a", "solved")]))
    timings = Timings(run.path / "timings.jsonl")
    timings.add(JobOutcome("own/a", 0, None, tokens=7, seconds=1, started=time.time()))
    timings.close()
    return run


def test_a_running_run_tells_how_far_it_is(going: RunFolder) -> None:
    with Lock(going.path):
        now = as_it_is(going)
        assert isinstance(now, RunningRun)
        state, before = now.state(), now.summary()
        append(going.trajectories_path, encode(chat("own/b")))
        append(going.path / SO_FAR, encode_scores([verdict("own/b", "unsolved")]))
        again, then = now.state(), now.summary()

    assert (state.done, state.total, state.errors, state.scored) == (2, 3, 1, 1)
    assert state.left_s is not None and state.left_s > 0
    assert [(pair, failed) for pair, failed, _ in state.last] == [
        (("own/b", 0), True),
        (("own/a", 0), False),
    ]
    assert before["metrics"]["pass_rate"]["mean"] == 1
    assert (again.done, again.errors, again.scored) == (2, 0, 2)  # it was played again
    assert then["metrics"]["pass_rate"]["mean"] == 0.5
    assert then["errors"] == 0


def test_a_run_is_running_until_its_summary_is_the_last(going: RunFolder) -> None:
    assert as_it_is(going) is going  # nobody plays it
    with Lock(going.path):
        now = as_it_is(going)
        going.write_json("summary.json", {"metrics": {}})
        os.utime(going.path / "summary.json", (time.time() + 5,) * 2)
        assert type(as_it_is(now)) is RunFolder
        append(going.trajectories_path, encode(chat("own/c")))
        os.utime(going.trajectories_path, (time.time() + 9,) * 2)
        assert isinstance(as_it_is(going), RunningRun)  # it is resumed


def test_means_of_a_running_run_are_those_of_its_scores(tmp_path: Path) -> None:
    done = RunFolder(play(write_pool(tmp_path / "pool", many(5)), tmp_path / "run").folder.path)
    (done.path / "scores.jsonl").rename(done.path / SO_FAR)

    told = RunningRun(done.path).summary()

    expected = {**done.summary()["metrics"]}
    assert {name: entry["mean"] for name, entry in told["metrics"].items()} == {
        name: entry["mean"] for name, entry in expected.items()
    }
    assert told["usage"]["tokens_in"] == done.summary()["usage"]["tokens_in"]
    assert json_bytes(told)
