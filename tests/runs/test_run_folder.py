"""Files of a run folder that hold something else than they should."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from small_pools import play, write_pool

from seal.core import DataError, UsageError
from seal.runs.finished import rescore
from seal.runs.identity import check_folder
from seal.runs.journal import LineTail
from seal.runs.run import RunFolder


@pytest.mark.parametrize("name", ["run.json", "summary.json"])
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[1]", "expected an object, got list"),
        ("3", "expected an object, got int"),
        ("null", "expected an object, got NoneType"),
        ("{oops", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
    ],
)
def test_what_is_no_object_is_refused_with_its_repair(
    tmp_path: Path, name: str, text: str, says: str
) -> None:
    (tmp_path / name).write_text(text)
    run = RunFolder(tmp_path)
    repair = "`seal score" if name == "summary.json" else "play the run again"
    with pytest.raises(DataError, match=says) as caught:
        run.manifest() if name == "run.json" else run.summary()
    assert str(tmp_path / name) in str(caught.value) and repair in str(caught.value)


@pytest.mark.parametrize("content", ["{}", '{"measured": {}}'])
def test_an_object_that_tells_of_no_run_is_refused_with_its_repair(
    tmp_path: Path, content: str
) -> None:
    for name in ("run.json", "summary.json"):
        (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=r"run\.json tells of no run: it lacks `measure`; bring"):
        RunFolder(tmp_path).manifest()
    with pytest.raises(DataError, match=r"summary\.json tells of no run: it lacks `metrics`"):
        RunFolder(tmp_path).summary()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"metrics": [1]}, "expected an object `metrics`, got list"),
        ({"metrics": {"calls": 3}}, "expected an object `metrics.calls`, got int"),
        (
            {"metrics": {"calls": {"mean": "high"}}},
            "expected a number `metrics.calls.mean`, got str; write it anew: `seal score",
        ),
        (
            {"metrics": {"calls": {"by": {"group=a": {"mean": 1, "n": []}}}}},
            "expected a number `metrics.calls.by.group=a.n`, got list",
        ),
        ({"metrics": {"calls": {"by": {"a": 3}}}}, "expected an object `metrics.calls.by.a`"),
        (
            {"metrics": {"calls": {"reasons": "none"}}},
            "expected an object `metrics.calls.reasons`, got str",
        ),
        ({"metrics": {"calls": {"reasons": ""}}}, "expected an object `metrics.calls.reasons`"),
        ({"metrics": {"calls": {"by": []}}}, "expected an object `metrics.calls.by`, got list"),
        (
            {"metrics": {"calls": {"reasons": {"none": [3]}}}},
            "expected a number `metrics.calls.reasons`, got list",
        ),
        ({"usage": None}, "expected an object `usage`, got NoneType"),
        ({"lines": {"scores.jsonl": None}}, r"expected a whole number `lines\.\*`, got NoneType"),
        ({"stop_reasons": "done"}, "expected an object `stop_reasons`, got str"),
        ({"metrics": {"calls": {"mean": float("inf")}}}, "is no JSON"),
        ({"usage": {"tokens_in": "x"}}, "expected a number `usage.tokens_in`, got str"),
        (
            {"metrics": {"calls": {"mean": 10**400}}},
            "expected a number `metrics.calls.mean`, got one that is too large; write it anew",
        ),
        ({"metrics": {"calls": {"by": {"a": {"n": -(10**400)}}}}}, "got one that is too large"),
        (
            {"lines": {"scores.jsonl": 2**63}},
            r"number `lines\.\*`, got one that is too large",
        ),
        ({"usage": {"roles": {}}}, "expected a list `usage.roles`, got dict"),
    ],
)
def test_a_part_that_is_no_object_is_named(tmp_path: Path, content: object, says: str) -> None:
    (tmp_path / "summary.json").write_text(json.dumps(content))
    with pytest.raises(DataError, match=says):
        RunFolder(tmp_path).summary()
    (tmp_path / "run.json").write_text('{"measure": {}, "system": []}')
    with pytest.raises(DataError, match="expected an object `system`, got list"):
        RunFolder(tmp_path).manifest()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"measure": {}}, "tells of no run: it lacks `system`; bring back the file"),
        ({"measure": {"judge": 3}, "system": {}}, "expected an object `measure.judge`, got int"),
        ({"measure": {"sandbox": []}, "system": {}}, "expected an object `measure.sandbox`"),
        ({"measure": {"metrics": ""}, "system": {}}, "expected a list `measure.metrics`"),
        ({"measure": {"trials": {}}, "system": {}}, "expected a number `measure.trials`"),
    ],
)
def test_a_part_of_a_manifest_of_another_type_is_named(
    tmp_path: Path, content: object, says: str
) -> None:
    (tmp_path / "run.json").write_text(json.dumps(content))
    with pytest.raises(DataError, match=says):
        RunFolder(tmp_path).manifest()


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "tasks.jsonl")
    with pytest.raises(DataError, match=r"tasks\.jsonl is a pipe, and no file"):
        next(RunFolder(tmp_path).task_ids())
    os.mkfifo(tmp_path / "trajectories.jsonl")
    with pytest.raises(DataError, match=r"trajectories\.jsonl: it is a pipe, and no file"):
        list(LineTail(tmp_path / "trajectories.jsonl").read())
    with pytest.raises(UsageError, match=r"trajectories\.jsonl is a pipe, .*; remove it"):
        check_folder(tmp_path, resume=True)


COUNTED = """
import os, sys
opened = []
def heard(event, given):
    # Whoever opens by os.open has no mode.
    if event == "open" and given[1] and str(given[0]).endswith("run.json"):
        opened.append(os.path.realpath(given[0]))
sys.addaudithook(heard)
from seal.cli.dispatch import main
code = main(["run", "sample", "--limit", "2", "--out", sys.argv[1]])
print(code, *(opened.count(one) for one in sorted({*opened})), file=sys.stderr)
"""


def test_a_run_with_report_opens_each_manifest_at_most_three_times(tmp_path: Path) -> None:
    words = [sys.executable, "-c", COUNTED, str(tmp_path / "run")]
    told = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    code, *times = map(int, told.stderr.split()[-4:])
    assert (code, len(times)) == (0, 3)
    assert all(0 < each <= 3 for each in times)


def test_what_others_write_is_read_anew(tmp_path: Path) -> None:
    run, other = RunFolder(tmp_path), RunFolder(tmp_path)
    run.write_json("run.json", {"measure": {"pool": "a"}, "system": {}})
    assert run.manifest() is run.manifest()
    other.write_json("run.json", {"measure": {"pool": "b"}, "system": {}})
    assert (run.pool_name, other.pool_name) == ("b", "b")


def test_a_part_of_a_run_of_an_earlier_version_is_read_and_not_resumed(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "pool")
    run = play(pool, tmp_path / "run", model="lexical").folder
    whole = rescore(run.path)
    run.write_json("run.json", {**run.manifest(), "shard": "1/3"})
    assert rescore(run.path) == whole
    with pytest.raises(UsageError, match=r"run is part 1/3 of a run, .* give another --out"):
        play(pool, run.path, model="lexical", resume=True)
