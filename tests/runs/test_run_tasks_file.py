"""The tasks of a run are written once, where they are many."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from small_pools import weather_task

from seal.core import Task
from seal.core.records import read_records
from seal.runs.run import write_tasks

TASKS = 4_000
"""So many that their file is worth an index."""


class Chosen:
    """Tasks that are counted as they are read."""

    def __init__(self) -> None:
        self.read = 0

    def __iter__(self) -> Iterator[Task]:
        for number in range(TASKS):
            self.read += 1
            yield weather_task("Rome", number)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    written = tmp_path / "tasks.jsonl"
    write_tasks(written, Chosen(), "all")
    return written


def test_tasks_that_were_chosen_by_the_same_are_not_read_again(path: Path):
    chosen, before = Chosen(), path.stat().st_ino

    told = write_tasks(path, chosen, "all")

    assert (chosen.read, path.stat().st_ino) == (0, before)
    assert told == write_tasks(path, Chosen(), "others")


@pytest.mark.parametrize("change", ["chosen by others", "spoilt", "cut"])
def test_tasks_are_written_anew_where_the_file_is_not_what_it_was(path: Path, change: str):
    content = path.read_bytes()
    if change == "spoilt":
        path.write_bytes(content.replace(b"Rome", b"Lima", 1))
    elif change == "cut":
        path.write_bytes(content[: len(content) // 2])

    chosen = Chosen()
    write_tasks(path, chosen, "others" if change == "chosen by others" else "all")

    assert chosen.read == TASKS
    assert sum(1 for _ in read_records(path, Task)) == TASKS
    assert path.read_bytes() == content
