"""Scoring that a signal ends, while a metric of the user's own never would."""

import signal
import time
from pathlib import Path

import pytest
from forked import Forked

METRICS = """
import re
from pathlib import Path

def endless(task, trajectory, tools):
    Path("begun").touch()
    while True:
        pass

def pattern(task, trajectory, tools):
    Path("begun").touch()
    return bool(re.fullmatch("(a+)+", "a" * 60 + "!"))

def deaf(task, trajectory, tools):
    while True:
        try:
            while True:  # a signal is taken at a loop's end, which is inside `try` thus
                Path("begun").touch()
                sum(range(10_000))
        except:
            pass
"""


@pytest.mark.slow
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("metric", ["endless", "pattern"])
def test_a_signal_ends_scoring_at_once_and_the_scores_stay(
    seal, environment: dict[str, str], tmp_path: Path, sign: signal.Signals, metric: str
) -> None:
    (tmp_path / "mine.py").write_text(METRICS)
    played = seal("run", "--limit", "2", "--no-baselines", "--out", "run")
    assert played.returncode == 0, played.stderr
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").glob("s*.json*")}
    words = ["score", "run", "--metric", f"mine:{metric}", "--allow-code", "mine"]
    process = Forked(["seal", *words], cwd=tmp_path, env=environment)
    while not (tmp_path / "begun").exists():
        assert process.returncode is None
        time.sleep(0.05)

    process.send_signal(sign)
    _, told = process.communicate(timeout=60)

    assert process.returncode == 128 + sign
    assert "; the scores of run are left as they were" in told
    assert {name: (tmp_path / "run" / name).read_bytes() for name in before} == before
    left = {path.name for path in (tmp_path / "run").glob(".*.part")}
    assert not left


@pytest.mark.slow
def test_a_signal_ends_a_run_while_it_scores(
    seal, environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(METRICS)
    words = ["run", "--limit", "2", "--no-baselines", "--out", "run", "--metric", "mine:pattern"]
    process = Forked(["seal", *words, "--allow-code", "mine"], cwd=tmp_path, env=environment)
    while not (tmp_path / "begun").exists():
        assert process.returncode is None
        time.sleep(0.05)

    process.send_signal(signal.SIGTERM)
    _, told = process.communicate(timeout=60)

    assert process.returncode == 128 + signal.SIGTERM
    assert "what is finished is kept. Go on with: seal run" in told
    assert (tmp_path / "run" / "trajectories.jsonl").read_bytes()


@pytest.mark.slow
def test_a_second_signal_ends_a_metric_that_catches_every_exception(
    environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(METRICS)
    words = ["run", "--limit", "2", "--no-baselines", "--out", "run", "--metric", "mine:deaf"]
    process = Forked(["seal", *words, "--allow-code", "mine"], cwd=tmp_path, env=environment)
    for _ in range(2):
        while not (tmp_path / "begun").exists():
            assert process.returncode is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)

    _, told = process.communicate(timeout=60)

    assert process.returncode == 128 + signal.SIGINT
    assert "mine.py, line" in told
    assert "what is finished is kept. Go on with: seal run" in told


@pytest.mark.slow
def test_a_limit_ends_a_metric_that_catches_every_exception(
    environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(METRICS)
    words = ["run", "--limit", "2", "--no-baselines", "--out", "run", "--metric", "mine:deaf"]
    limited = ["seal", *words, "--allow-code", "mine", "--max-seconds", "1"]

    process = Forked(limited, cwd=tmp_path, env=environment)
    _, told = process.communicate(timeout=120)

    assert process.returncode == 1
    assert "does not end" in told
    assert "Go on with: seal run" in told
