"""What lists tell of runs, damaged ones too."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from report_runs import Writer, chat, metric, task, verdict

from seal.report.lanes import facts_of
from seal.runs.run import RunFolder
from seal.viewer.shelf import runs_below

ROLE = {"role": "judge", "model": "openai/gpt-4o", "tokens_in": 1, "tokens_out": 1}


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    scores = [verdict("a", "solved")]
    return Writer(tmp_path)("run", [task("a")], [chat("a")], scores, {"pass_rate": metric(1.0)})


@pytest.mark.parametrize(
    ("file", "part", "value"),
    [
        ("summary.json", "usage", {"roles": [{}]}),
        ("summary.json", "usage", {"roles": [{**ROLE, "tokens_in": None}]}),
        ("summary.json", "usage", {"roles": ["x"]}),
        ("summary.json", "usage", {"tokens_in": "x"}),
        ("run.json", "system", {"versions": "x"}),
        ("run.json", "benchmark", {"headline": 5}),
        ("run.json", "benchmark", {"headline": [[]]}),
    ],
)
def test_an_odd_part_makes_a_run_damaged_and_ends_no_list(
    run: RunFolder, file: str, part: str, value: Any
) -> None:
    path = run.path / file
    path.write_text(json.dumps({**json.loads(path.read_bytes()), part: value}))

    facts = facts_of(run)

    assert facts.state == "damaged"
    assert part in facts.damage


def test_a_run_is_not_known_by_a_metric_of_a_condition(tmp_path: Path) -> None:
    metrics = {"call_precision": metric(0.9), "call_f1": metric(0.4)}
    found = Writer(tmp_path)("run", [task("a")], [chat("a")], [verdict("a", "solved")], metrics)
    assert facts_of(found).metric == "call_f1"


@pytest.mark.parametrize(
    "line", ['{"started": 1e300}', '{"started": "x"}', "[]", '{"started": []}']
)
def test_an_odd_date_is_that_of_the_file(run: RunFolder, line: str) -> None:
    (run.path / "timings.jsonl").write_text(line)
    os.utime(run.path / "run.json", (0, 0))

    facts = facts_of(run)

    assert (facts.state, facts.played) == ("scored", "1970-01-01 00:00")


def test_a_pipe_in_the_place_of_the_timings_is_not_waited_for(run: RunFolder) -> None:
    (run.path / "timings.jsonl").unlink(missing_ok=True)
    os.mkfifo(run.path / "timings.jsonl")
    assert facts_of(run).played.startswith("20")


def test_a_folder_that_one_may_not_read_ends_no_list(run: RunFolder) -> None:
    mine = os.geteuid()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        shutil.copytree(run.path, folder / "run")
        (folder / "private").mkdir(mode=0o000)
        os.seteuid(mine or 65534)  # root may read everything
        try:
            found = [run.path.name for run in runs_below(folder)]
        finally:
            os.seteuid(mine)
    assert found == ["run"]
