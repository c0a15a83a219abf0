"""Interrupted runs, as real processes: killed at any moment, told to stop, resumed."""

import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from forked import Forked
from servers import ModelServer, Received, late
from small_pools import by_server, contents, many, play, write_pool

from seal.runs.finished import rescore

TASKS = 30
REQUESTS = 4
"""Of one chat: call, report, response, verdict."""
PATIENCE_S = 120
"""A busy machine is no failure."""


class Slow:
    """Answers after `wait_s`: long enough that no run ends before the test sees how far it is."""

    wait_s = 0.15

    def __call__(self, request: Received):
        return late(self.wait_s, by_server(request))


@pytest.fixture
def slow() -> Slow:
    return Slow()


@pytest.fixture
def server(slow: Slow) -> Iterator[ModelServer]:
    with ModelServer(slow) as started:
        yield started


@pytest.fixture
def big_pool(tmp_path: Path) -> Path:
    return write_pool(tmp_path / "pool", many(TASKS))


def command(pool: Path, out: Path, server: ModelServer, *words: object) -> list[str]:
    fixed = ["run", pool, "--out", out, "--model", "openai/x", "--base-url", server.url]
    rest = ["--no-baselines", "--workers", "2", *words]
    return ["seal", *map(str, [*fixed, *rest])]


def lines(out: Path) -> int:
    path = out / "trajectories.jsonl"
    return path.read_bytes().count(b"\n") if path.is_file() else 0


@contextmanager
def playing(words: list[str], out: Path, until: int) -> Iterator[Forked]:
    """Start a run and wait until so many chats are finished."""
    before = lines(out)
    process = Forked(words, cwd=out.parent, env=os.environ)
    try:
        while lines(out) < before + until:
            assert process.returncode is None, process.communicate()
            time.sleep(0.005)
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGKILL)
        process.communicate()


def go_on(pool: Path, server: ModelServer, out: Path, **settings: str) -> None:
    """Finish a run in this process."""
    result = play(pool, out, resume=True, model="openai/x", base_url=server.url, **settings)
    assert result.exit_code == 0


def uninterrupted(pool: Path, server: ModelServer, out: Path) -> dict[str, bytes]:
    settings = {"model": "openai/x", "base_url": server.url, "cache": "off"}
    return contents(play(pool, out, **settings).folder.path)


def tear(path: Path) -> None:
    """Leave half a line at the end of a file."""
    content = path.read_bytes()
    path.write_bytes(content + content.splitlines()[0][:-9])


def test_no_chat_is_kept_before_its_costs_are(slow, server, tmp_path):
    pool, out = write_pool(tmp_path / "pool", many(2)), tmp_path / "run"
    slow.wait_s = 0.0
    whole = uninterrupted(pool, server, out)
    (out / "trajectories.jsonl").unlink()
    (out / "timings.jsonl").unlink()
    (out / "timings.jsonl").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        go_on(pool, server, out, cache="off")
    assert lines(out) == 0
    (out / "timings.jsonl").unlink()
    go_on(pool, server, out, cache="off")
    assert contents(out) == whole


@pytest.mark.slow
def test_killed_at_random_moments_a_run_loses_only_what_was_in_flight(
    slow, server, big_pool, tmp_path
):
    out, chance = tmp_path / "run", random.Random(7)
    words = command(big_pool, out, server, "--cache", "off")
    for until, more in ((1, []), (6, ["--resume"])):
        with playing([*words, *more], out, until) as process:
            time.sleep(chance.random() * 0.1)
            os.kill(process.pid, signal.SIGKILL)
    slow.wait_s = 0.0
    finished, before = lines(out), len(server.received)
    for name in ("trajectories.jsonl", "timings.jsonl"):
        tear(out / name)
    (out / "live").mkdir(exist_ok=True)
    (out / "live" / "stale.jsonl").write_text("{}")
    (out / ".scores.jsonl.1-2.part").write_text("{")

    in_flight = 2 * 2
    assert before <= REQUESTS * (finished + in_flight)
    assert rescore(shutil.copytree(out, tmp_path / "part"))["metrics"]["calls"]["n"] == finished
    go_on(big_pool, server, out, cache="off")
    assert len(server.received) - before == REQUESTS * (TASKS - finished)
    assert contents(out) == uninterrupted(big_pool, server, tmp_path / "whole")
    assert not [entry.name for entry in out.iterdir() if entry.suffix == ".part" or entry.is_dir()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sign", "code", "processes"),
    [(signal.SIGINT, 130, 1), (signal.SIGTERM, 143, 2), (signal.SIGHUP, 129, 1)],
)
def test_a_run_that_a_signal_ends_says_so_at_once_and_can_be_resumed(
    slow, server, big_pool, tmp_path, sign, code, processes
):
    out = tmp_path / "run"
    with playing(command(big_pool, out, server, "--processes", processes), out, 3) as process:
        slow.wait_s = 600.0  # the chats in flight now wait for the server
        time.sleep(0.5)
        os.killpg(process.pid, sign)
        _, told = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == code
    assert "leaked" not in told
    assert "--resume" in told
    assert "Traceback" not in told
    slow.wait_s = 0.0
    go_on(big_pool, server, out)
    assert lines(out) == TASKS


@pytest.mark.slow
def test_worker_processes_end_with_their_parent_however_it_ends(slow, server, big_pool, tmp_path):
    out = tmp_path / "run"
    words = command(big_pool, out, server, "--processes", "2", "--cache", "off")

    with playing(words, out, 1) as process:
        os.kill(min(crew_of(out, 1)), signal.SIGKILL)
        _, told = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1
    assert "a worker process died (exit code -9)" in told
    finished = lines(out)

    with playing([*words, "--resume"], out, 1) as process:
        crew = crew_of(out, 2)
        os.killpg(process.pid, signal.SIGINT)
        _, told = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert "Traceback" not in told
    wait_until(lambda: not any(map(alive, crew)))

    with playing([*words, "--resume"], out, 1) as process:
        crew = crew_of(out, 2)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        wait_until(lambda: not any(map(alive, crew)))

    assert lines(out) >= finished + 2
    slow.wait_s = 0.0
    go_on(big_pool, server, out, cache="off")
    assert contents(out) == uninterrupted(big_pool, server, tmp_path / "whole")


def crew_of(out: Path, count: int) -> set[int]:
    """Return the ids of at least so many processes that play a chat of a run now."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        crew = {int(path.name.split(".")[1]) for path in (out / "live").glob("*.jsonl")}
        if len(crew) >= count:
            return crew
        time.sleep(0.01)
    raise AssertionError(f"no {count} processes play")


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)
