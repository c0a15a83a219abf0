"""The files that grow while a run goes on: locked, repaired, put in order."""

import os
import subprocess
import sys
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import orjson
import pytest

from seal.core import DataError, Stop, Trajectory, UsageError
from seal.core.files import Lock, is_held
from seal.core.records import encode, read_records
from seal.runs.costs import Spent
from seal.runs.journal import FileIndex, JobOutcome, Journal, Timings, spending_of, write_index


def played(task_id: str, trial: int = 0, reason: str = "done", answer: str = "yes") -> Trajectory:
    return Trajectory(task_id, trial, (), stops=(Stop(reason),), answers=(answer,))


def outcome(trajectory: Trajectory) -> JobOutcome:
    line = encode(trajectory)
    return JobOutcome(trajectory.task_id, trajectory.trial, line, trajectory.failed)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trajectories.jsonl"


def test_a_line_is_in_the_file_when_append_returns(path: Path):
    with closing(Journal(path)) as journal:
        journal.append(outcome(played("a")))

        assert path.read_bytes() == encode(played("a"))


def test_a_torn_last_line_is_cut_off_and_the_others_stay(path: Path):
    path.write_bytes(encode(played("a")) + encode(played("b"))[:-7])

    with closing(Journal(path)) as journal:
        assert journal.finished == {("a", 0)}
    assert path.read_bytes() == encode(played("a"))


def test_a_file_that_is_one_torn_line_becomes_empty(path: Path):
    path.write_bytes(b'{"schema":"traj')

    with closing(Journal(path)) as journal:
        assert journal.finished == set()
    assert path.read_bytes() == b""


def test_errors_are_not_finished_until_they_are_played_well(path: Path):
    with closing(Journal(path)) as journal:
        journal.append(outcome(played("a", reason="error")))
        assert journal.finished == set()
        journal.append(outcome(played("a")))
        assert journal.finished == {("a", 0)}


def test_order_is_that_of_tasks_and_trials_and_the_last_line_of_a_pair_wins(path: Path):
    with closing(Journal(path)) as journal:
        for trajectory in (
            played("b", 1),
            played("b", reason="error"),
            played("gone"),
            played("a"),
            played("b", answer="second"),
        ):
            journal.append(outcome(trajectory))
        journal.put_in_order({"a": 0, "b": 1})

    found = [(t.task_id, t.trial, t.answers[0]) for t in read_records(path, Trajectory)]
    assert found == [("a", 0, "yes"), ("b", 0, "second"), ("b", 1, "yes")]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"no json\n", "line 2: no trajectory"),
        (b"[1, 2]\n", "line 2: no trajectory"),
        (b'{"schema": "trajectory/1"}\n', "line 2: no trajectory"),
        (b'{"schema": "task/1"}\n', "line 2: schema 'task/1'"),
        (b'{"schema": ' + b"9" * 400 + b"}\n", r"line 2: schema 9+\.\.\."),
        *(
            (b'{"schema":"trajectory/1","stops":[],' + place + b"}\n", "line 2: no trajectory")
            for place in (b'"task_id":[],"trial":0', b'"task_id":"a","trial":{}')
        ),
        (b"\x00\x00\x00\n", "line 2: no trajectory"),
    ],
)
def test_a_damaged_line_names_its_place_and_the_repair(path: Path, line: bytes, says: str):
    path.write_bytes(encode(played("a")) + line + encode(played("b")))

    path.with_name("run.json").write_text("{}")
    with pytest.raises(DataError, match=f"{says}.*delete the line, and play its chat again by"):
        Journal(path)


def test_second_lock_names_the_process_that_holds_the_first(tmp_path: Path):
    with (
        Lock(tmp_path),
        pytest.raises(UsageError, match=rf"this process \(pid {os.getpid()}\) is writing"),
        Lock(tmp_path),
    ):
        pass
    with Lock(tmp_path):
        pass  # free again


def test_lock_is_free_when_its_holder_was_killed(tmp_path: Path):
    code = (
        "import sys, time; from pathlib import Path; from seal.core.files import Lock\n"
        "with Lock(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(UsageError, match=f"pid {holder.pid}"), Lock(tmp_path):
            pass
        holder.kill()
    with Lock(tmp_path):
        pass


def test_torn_timings_are_cut_off_and_what_was_spent_is_summed(tmp_path: Path):
    path = tmp_path / "timings.jsonl"
    with closing(Timings(path)) as timings:
        timings.add(JobOutcome("a", 0, b"", tokens=5))
        timings.add(JobOutcome("b", 0, b"", tokens=7))
    with path.open("ab") as file:
        file.write(b'{"task_id":"c","tok')

    with closing(Timings(path)) as timings:
        assert timings.spent.tokens == 12
        timings.add(JobOutcome("c", 0, b"", tokens=1))
    assert [orjson.loads(line)["task_id"] for line in path.read_bytes().splitlines()] == [
        "a",
        "b",
        "c",
    ]


@pytest.mark.parametrize(
    "line",
    [
        b'{"tokens": "many"}',
        b'{"tokens": 1, "task_id": "a", "trial": 0}',
        b'{"tokens": 1, "task_id": [], "trial": 0, "seconds": 1}',
        b'{"tokens": 1, "task_id": "a", "trial": 0, "seconds": ' + b"9" * 400 + b"}",
        b'{"tokens": 1, "task_id": "a", "trial": 0, "seconds": -1}',
        b'{"tokens": 1, "task_id": "a", "trial": 0, "seconds": 1e300}',
        b'{"tokens": 1, "task_id": "a", "trial": 0, "seconds": "nan"}',
        b'{"tokens": 1, "task_id": "a", "trial": -1, "seconds": 1}',
        b'{"tokens": -1000000000}',
        b'{"tokens": 1e300}',
        b'{"tokens": "5"}',
        orjson.dumps({"tokens": 1, "asked": [{**asdict(Spent()), "role": "agent", "model": 0.5}]}),
        *(
            orjson.dumps(
                {"tokens": 1, "asked": [{**asdict(Spent()), **odd, "role": "", "model": ""}]}
            )
            for odd in (
                {"requests": True},
                {"tokens_in": -1},
                {"kept_out": 2**63},
                {"estimated": 1},
            )
        ),
        b"{oops",
    ],
)
def test_damaged_timings_name_the_line(tmp_path: Path, line: bytes):
    path = tmp_path / "timings.jsonl"
    path.write_bytes(b'{"tokens": 1}\n' + line + b"\n")

    with pytest.raises(DataError, match=r"timings\.jsonl, line 2: no timing"):
        Timings(path)


def test_whether_a_run_is_written_can_be_seen_without_hindering_it(tmp_path: Path) -> None:
    assert not is_held(tmp_path)
    with Lock(tmp_path):
        assert is_held(tmp_path)
    assert not is_held(tmp_path)
    with Lock(tmp_path):
        assert is_held(tmp_path)


LONG = "yes " * 2_000
"""An answer by which 600 chats make a file that is worth an index."""


@pytest.fixture
def indexed(path: Path) -> Path:
    with closing(Journal(path)) as journal:
        for number in range(600):
            journal.append(
                outcome(
                    played(f"t{number}", reason="done" if number != 7 else "error", answer=LONG)
                )
            )
    assert path.with_suffix(".index").is_file()
    return path


def known(path: Path) -> tuple[set[tuple[str, int]], int]:
    """Return the chats that need not be played again, and how many have a line."""
    with closing(Journal(path)) as journal:
        return journal.finished, len(journal.played)


def without_index(path: Path) -> tuple[set[tuple[str, int]], int]:
    path.with_suffix(".index").unlink()
    return known(path)


def test_what_an_index_covers_is_not_read_again_and_later_lines_are(indexed: Path):
    content = indexed.read_bytes()
    spoilt = content.replace(b'"t5"', b'"no"', 1)  # nobody sees it but who reads the line
    indexed.write_bytes(spoilt + encode(played("late")) + encode(played("t7")) + b'{"schema":"tr')

    finished, count = known(indexed)

    assert count == 601
    assert {("t5", 0), ("t7", 0), ("late", 0)} <= finished


@pytest.mark.parametrize("change", ["cut", "replaced", "damaged", "of other things", "empty"])
def test_an_index_that_is_stale_or_damaged_counts_as_none(indexed: Path, change: str):
    index, lines = indexed.with_suffix(".index"), indexed.read_bytes().splitlines(keepends=True)
    if change == "cut":
        indexed.write_bytes(b"".join(lines[:3] + lines[4:]))
    elif change == "replaced":
        indexed.write_bytes(b"".join([*lines[:-2], lines[-1], lines[-2]]))
    elif change == "damaged":
        index.write_bytes(index.read_bytes().replace(b'"t4"', b'"t9"', 1))
    elif change == "of other things":
        write_index(indexed, FileIndex(indexed.stat().st_size, 600, {"tasks": 7}))
    else:
        index.write_bytes(b"")

    assert known(indexed) == without_index(indexed)


def test_an_index_is_that_of_the_order_in_which_the_file_stands(indexed: Path):
    with closing(Journal(indexed)) as journal:
        journal.put_in_order({f"t{number}": -number for number in range(600)})

    assert known(indexed) == without_index(indexed)
    assert next(read_records(indexed, Trajectory)).task_id == "t599"


def test_what_a_large_file_of_timings_spent_is_kept(tmp_path: Path):
    path = tmp_path / "timings.jsonl"
    asked = {("judge", "m"): Spent(requests=2, tokens_in=5)}
    with closing(Timings(path)) as timings:
        for number in range(600):
            timings.add(JobOutcome(f"t{number}", 0, b"", tokens=5, note=LONG, asked=asked))
    path.write_bytes(path.read_bytes().replace(b'"tokens":5', b'"tokens":6', 1))
    with closing(Timings(path)) as timings:
        timings.add_judging(asked)

    spent = spending_of(path)

    assert (spent.tokens, spent.asked["judge", "m"].requests) == (3_005, 1_202)
