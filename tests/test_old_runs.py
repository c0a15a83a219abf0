"""Runs and pools that version 0.1 wrote are read, scored, compared and continued."""

import json
import shutil
from pathlib import Path

import pytest

import seal
from seal.benchmarks.toolscan.metrics import AsPublished
from seal.cli.dispatch import main
from seal.evaluation.calls import EXTRA

OLD = Path(__file__).parent / "fixtures" / "old_runs"
NAMES = ("sample", "toolscan-sample")


NOW_WITHOUT_VALUE = {
    "pass_rate",  # of what a judge is unsure of
    "call_precision", "call_f1",  # where no call is needed
    "rac", "iav", "ife", "iat", "ian", "ifn",  # where no call was made
}  # fmt: skip


RENAMED = {"iac": "iac_upstream"}
"""Metric to the name that its figure has now; `iac` is over the step budget, as in the paper."""


def values(run: Path) -> dict[tuple[str, str], float | None]:
    """The value of each task and metric, as the run's file of scores has them."""
    scores = map(json.loads, (run / "scores.jsonl").read_text("utf-8").splitlines())
    return {(score["task_id"], score["metric"]): score["value"] for score in scores}


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder with the runs, which may be written to."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SEAL_CACHE_DIR", str(tmp_path / "cache"))
    return Path(shutil.copytree(OLD, tmp_path / "old"))


@pytest.mark.parametrize("name", NAMES)
def test_scoring_an_old_run_again_gives_its_scores(old: Path, name: str) -> None:
    before = {
        (task, RENAMED.get(metric, metric)): value
        for (task, metric), value in values(old / name).items()
    }
    run = seal.score(old / name)
    now = values(old / name)
    new = {metric for _, metric in now.keys() - before.keys()}
    assert new <= {"calls_right", "abstention", *EXTRA, *AsPublished.names, *RENAMED}
    without = {metric for (task, metric), value in before.items() if now[task, metric] != value}
    assert without <= NOW_WITHOUT_VALUE
    assert all(now[key] in (value, None) for key, value in before.items())
    assert run["calls_right"].n == 2


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("verb", ["report", "view", "explain"])
def test_an_old_run_is_shown(old: Path, name: str, verb: str) -> None:
    assert main([verb, str(old / name)]) == 0


def test_results_that_an_old_run_left_out_of_a_prompt_are_told(
    old: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = old / "sample" / "trajectories.jsonl"
    first, *others = file.read_text("utf-8").splitlines()
    chat = json.loads(first)
    chat["steps"][1]["left_out"] = 2
    file.write_text("\n".join([json.dumps(chat), *others, ""]), "utf-8")
    assert main(["view", str(old / "sample"), chat["task_id"]]) == 0
    assert "the window was full: 2 results left out of the prompt" in capsys.readouterr().out


def test_an_old_run_stands_beside_a_new_one_once_the_same_judge_scored_it(old: Path) -> None:
    new = seal.run("sample", model="oracle", first=2, baselines=False, out="new")
    with pytest.raises(seal.SealError, match=r"score both alike \(seal score RUN"):
        seal.compare(seal.Run.load(old / "sample"), new)
    compared = seal.compare(seal.score(old / "sample"), new)
    assert compared["call_f1"].difference >= 0


def test_an_old_run_is_continued_once_the_judge_of_now_scored_it(old: Path) -> None:
    with pytest.raises(seal.SealError, match="judge of now score it"):
        seal.run("sample", first=3, baselines=False, out=old / "sample", resume=True)
    seal.score(old / "sample")
    run = seal.run("sample", first=3, baselines=False, out=old / "sample", resume=True)
    assert (run.summary["tasks"], run.exit_code) == (3, 0)


def test_a_run_that_told_of_its_style_is_continued_by_the_role(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    how = {"model": "oracle", "baselines": False, "roles": {"execution_manager": "react"}}
    seal.run("sample", first=2, out="run", **how)
    told = json.loads(Path("run/run.json").read_text("utf-8"))
    assert told["system"]["roles"]["execution_manager"] == "react"
    told["system"]["style"] = "react"
    Path("run/run.json").write_text(json.dumps(told), "utf-8")
    run = seal.run("sample", first=3, out="run", resume=True, **how)
    assert run.summary["tasks"] == 3


def test_the_tasks_of_an_old_run_name_their_world_as_then_and_are_played(old: Path) -> None:
    pool = old / "toolscan-sample"
    assert (
        '"world":"seal.benchmarks.toolscan_sample.world:lookups"'
        in (pool / "tasks.jsonl").read_text()
    )
    run = seal.run(pool, model="oracle", baselines=False, out="again")
    assert (run["call_f1"].mean, run.exit_code) == (1.0, 0)
