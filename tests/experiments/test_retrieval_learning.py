"""Retrievers that learn from the tasks of a pool, in experiments and in runs."""

from pathlib import Path

import pytest

import seal
from seal.core import Goal, Ranking, Task, UsageError, write_records
from seal.core.records import read_records
from seal.runs.run import RunFolder

WHAT = "co_use,of=bm25,share=1"


def test_what_a_task_is_given_depends_on_no_limit_and_is_that_of_a_run(tmp_path: Path) -> None:
    def hits(name: str, what: str = WHAT, first: int | None = None) -> object:
        seal.retrieve("sample", what, 10, out=tmp_path / name, first=first)
        (file,) = (tmp_path / name).glob("*/rankings.jsonl")
        return next(iter(read_records(file, Ranking))).hits

    seal.run("sample", retriever=WHAT, top_k=10, first=1, out=tmp_path / "run", baselines=False)

    (chat,) = RunFolder(tmp_path / "run").trajectories()
    whole = hits("whole")
    assert whole != hits("plain", "bm25")
    assert hits("first", first=1) == whole
    assert chat.rankings[0].hits == whole


def test_a_training_folder_that_changed_makes_another_experiment_and_run(tmp_path: Path) -> None:
    def write(goals: int) -> None:
        goal = Goal("x", relevant=("a", "b"))
        write_records(
            tmp_path / "tasks.jsonl", [Task(f"t{n}", "toy", (goal,)) for n in range(goals)]
        )

    what = f"co_use,of=bm25,train={tmp_path}"
    write(2)
    asked = {"pools": "sample", "retrievers": what, "k": 1, "first": 1, "out": tmp_path / "out"}
    before = seal.retrieve(**asked)
    played = {"retriever": what, "first": 1, "out": tmp_path / "run", "baselines": False}
    seal.run("sample", **played)
    assert seal.retrieve(**asked, resume=True).content == before.content

    write(3)

    with pytest.raises(UsageError, match="files_digest"):
        seal.retrieve(**asked, resume=True)
    with pytest.raises(UsageError, match="retriever_files"):
        seal.run("sample", **played, resume=True)
    other = seal.retrieve("sample", what, k=1, first=1)
    assert other.content["results"][0]["identity"] != before.content["results"][0]["identity"]
