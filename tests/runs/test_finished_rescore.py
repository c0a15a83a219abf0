"""Old runs scored again: the same bytes with the same judge, and what another judge changes."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from servers import ModelServer, failure, text
from small_pools import Weatherman, by_server, contents, many, play, write_pool

import seal
from seal.core import DataError, Task, Trajectory, UsageError
from seal.core.files import Lock
from seal.experiments.export import export
from seal.pools.pool import StoredPool
from seal.runs.finished import rescore
from seal.runs.identity import check_resumable
from seal.runs.play import run
from seal.runs.run import RunFolder
from seal.runs.settings import RunSettings, ScoreSettings


@pytest.fixture
def played(pool: Path, tmp_path: Path) -> Path:
    return play(pool, tmp_path / "run", model=Weatherman(), top_k=3).folder.path


def verdicts(folder: Path) -> list[str]:
    scores = RunFolder(folder).scores()
    return [s.details.get("label", s.reason) for s in scores if s.metric == "pass_rate"]


def test_the_same_judge_gives_the_same_bytes(played: Path):
    before, manifest = contents(played), (played / "run.json").read_bytes()
    (played / "scores.jsonl").unlink()
    summary = seal.score(played).summary

    assert contents(played) == before
    assert (played / "run.json").read_bytes() == manifest
    assert summary == RunFolder(played).summary()
    assert {"recall@3", "recall@5"} < summary["metrics"].keys()  # what was offered, and a cut-off


def test_scores_stay_where_the_trajectories_are_gone(played: Path):
    (played / "trajectories.jsonl").unlink()
    before = {path.name: path.read_bytes() for path in played.iterdir() if path.is_file()}
    with pytest.raises(DataError, match=r"has no trajectories\.jsonl"):
        rescore(played)
    after = {path.name: path.read_bytes() for path in played.iterdir() if path.is_file()}
    assert after == before


def test_a_moved_run_is_scored_without_its_pool(played: Path, pool: Path, tmp_path: Path):
    before = contents(played)
    moved = tmp_path / "elsewhere" / "run"
    moved.parent.mkdir()
    played.rename(moved)
    pool.rename(tmp_path / "gone")
    rescore(moved, ScoreSettings(cache_dir=tmp_path / "new cache"))

    assert contents(moved) == before


def test_rules_replace_a_judges_model_only_where_they_are_asked_for(played: Path, model_server):
    server = model_server(lambda request: text('{"verdict": "solved", "reason": "yes"}'))
    rescore(played, ScoreSettings(judge_model="openai/judge", base_url=server.url))
    before, again = contents(played), f"--judge-model openai/judge --base-url {server.url}"
    with pytest.raises(UsageError, match=f"judged by openai/judge, .*{again}.*--judge rule"):
        rescore(played, ScoreSettings(without_spoilt=True))
    assert contents(played) == before

    rescore(played, ScoreSettings(judge="rule"))
    rescore(played)
    assert contents(played) != before


def test_a_model_judges_anew_and_stands_in_the_record(played: Path, model_server):
    server = model_server(lambda request: text('{"verdict": "unsolved", "reason": "no"}'))
    summary = rescore(
        played, ScoreSettings(judge_model="openai/judge", base_url=server.url, workers=3)
    )

    assert summary["metrics"]["pass_rate"]["mean"] == 0.0
    assert summary["metrics"]["call_recall"]["mean"] == 1.0
    judge = RunFolder(played).manifest()["measure"]["judge"]
    assert judge["model"] == "openai/judge"
    assert judge["judge"].startswith("llm/")
    assert len(server.received) == 4


@pytest.mark.parametrize("seed", [0, 5])
def test_the_judge_of_the_run_is_found_in_the_cache_under_any_seed(pool, tmp_path, seed):
    with ModelServer(by_server) as server:
        judge = f"openai/judge,base_url={server.url}"
        play(pool, tmp_path / "run", model=Weatherman(), seed=seed, role_models={"judge": judge})
        before, asked = contents(tmp_path / "run"), len(server.received)
        rescore(tmp_path / "run", ScoreSettings(judge_model="openai/judge", base_url=server.url))

        assert contents(tmp_path / "run") == before
        assert len(server.received) == asked


def test_verdicts_that_are_none_are_counted_and_never_a_score(played: Path, model_server):
    server = model_server(lambda request: text("Well, I would say it is solved."))
    summary = rescore(played, ScoreSettings(judge_model="openai/judge", base_url=server.url))

    entry = summary["metrics"]["pass_rate"]
    assert (entry["mean"], entry["reasons"]) == (None, {"no usable verdict": 4})
    assert (summary["judging"]["pass_rate"]["lost"], summary["errors"]) == (4, 0)
    assert len(server.received) == 4 * 3  # three tries


def test_failures_of_the_judges_server_leave_no_value(played: Path, model_server):
    def script(request):
        bad = b"Oslo" in request.raw
        return failure(500) if bad else text('{"verdict": "solved", "reason": "ok"}')

    server = model_server(script)
    summary = rescore(
        played,
        ScoreSettings(
            judge_model="openai/judge",
            base_url=server.url,
            model_options={"max_tries": 2, "first_wait_s": 0.01},
        ),
    )

    assert [label[:23] for label in verdicts(played)] == [
        "solved",
        "infrastructure: judge: ",
        "solved",
        "solved",
    ]
    assert (summary["metrics"]["pass_rate"]["n"], summary["errors"]) == (3, 1)


def test_floor_and_ceiling_are_scored_by_the_same_judge(model_server, pool, tmp_path):
    run(RunSettings(pool=pool), tmp_path / "run")
    server = model_server(lambda request: text('{"verdict": "unsolved", "reason": "no"}'))
    rescore(tmp_path / "run", ScoreSettings(judge_model="openai/judge", base_url=server.url))

    ceiling = RunFolder(tmp_path / "run").baselines()["ceiling"]
    assert ceiling.summary()["metrics"]["pass_rate"]["mean"] == 0.0
    assert ceiling.manifest()["measure"]["judge"]["model"] == "openai/judge"


def test_judge_that_played_itself_is_warned_of(model_server, pool, tmp_path):
    server = model_server(by_server)
    play(pool, tmp_path / "run", model="openai/x", base_url=server.url)
    rescore(tmp_path / "run", ScoreSettings(judge_model="openai/x", base_url=server.url))

    assert "judges its own answers" in RunFolder(tmp_path / "run").manifest()["warnings"][0]


def test_an_interrupted_run_is_put_in_order_and_scored(tmp_path: Path):
    pool = write_pool(tmp_path / "pool", many(6))
    folder = play(pool, tmp_path / "run", model=Weatherman()).folder
    lines = folder.trajectories_path.read_bytes().splitlines(keepends=True)
    folder.scores_path.unlink()
    (folder.path / "summary.json").unlink()
    folder.trajectories_path.write_bytes(lines[4] + lines[1] + lines[0] + lines[2][:-20])
    summary = rescore(folder.path)

    assert [t.task_id for t in folder.trajectories()] == ["rome-0", "oslo-1", "rome-4"]
    assert summary["metrics"]["call_recall"]["n"] == 3


@pytest.mark.parametrize("name", ["tools.jsonl", "tasks.jsonl", "trajectories.jsonl"])
def test_a_file_that_was_cut_after_scoring_is_refused(tmp_path: Path, name: str):
    folder = play(write_pool(tmp_path / "pool", many(3)), tmp_path / "run", model=Weatherman())
    path = folder.folder.path
    first = (path / name).read_bytes().splitlines(keepends=True)[0]
    (path / name).write_bytes(first)
    before = contents(path)
    with pytest.raises(DataError, match=rf"{name} was cut: it has 1 of the 3 .*--resume --out"):
        seal.score(path)
    assert contents(path) == before


def test_a_chat_cut_in_its_line_is_no_score(played: Path):
    trajectories = played / "trajectories.jsonl"
    whole = trajectories.read_bytes()
    trajectories.write_bytes(whole[:-30])
    with pytest.raises(DataError, match=r"trajectories\.jsonl was cut"):
        seal.score(played)
    trajectories.write_bytes(whole)
    assert seal.score(played).exit_code == 0


def test_chats_that_are_not_finished_are_told(played: Path, caplog: pytest.LogCaptureFixture):
    trajectories = played / "trajectories.jsonl"
    first, *rest = trajectories.read_bytes().splitlines(keepends=True)
    rescore(played)
    assert not caplog.messages
    trajectories.write_bytes(first)
    (played / "scores.jsonl").unlink()
    summary = rescore(played)

    assert summary["unfinished"] == RunFolder(played).summary()["unfinished"] == len(rest) > 0
    (told,) = caplog.messages
    assert f"{len(rest)} of {len(rest) + 1} chats not finished" in told


def test_what_cannot_be_scored_says_why(tmp_path: Path, played: Path):
    with pytest.raises(DataError, match="is no run folder"):
        rescore(tmp_path / "nothing")
    with pytest.raises(UsageError, match="--judge nobody: it must be rule, llm or auto"):
        rescore(played, ScoreSettings(judge="nobody"))
    with Lock(played), pytest.raises(UsageError, match="this process"):
        rescore(played)
    (played / "run.json").write_text('{"measure": {}, "system": {}}')
    with pytest.raises(DataError, match=r"has no usable measure\.seed"):
        rescore(played)
    (played / "run.json").write_text("{")
    with pytest.raises(DataError, match="is no JSON"):
        rescore(played)


@pytest.mark.parametrize("cutoffs", [["x"], None, 5, [[1]], [], [-1]])
def test_cutoffs_that_are_none_are_named(played: Path, cutoffs: object):
    manifest = json.loads((played / "run.json").read_text())
    manifest["measure"]["cutoffs"] = cutoffs
    (played / "run.json").write_text(json.dumps(manifest))
    with pytest.raises(DataError, match=r"has no usable measure\.cutoffs; play the run again"):
        rescore(played)


def test_a_timing_whose_counts_are_none_is_named(played: Path):
    path = played / "timings.jsonl"
    timing = json.loads(path.read_text().splitlines()[0])
    timing["asked"][0]["tokens_in"] = []
    path.write_text(json.dumps(timing) + "\n")
    told = r"timings\.jsonl, line 1: no timing, an object with .* and tokens; delete the line"
    with pytest.raises(DataError, match=told):
        rescore(played)


def test_a_run_of_a_damaged_number_of_trials_does_not_go_on(played: Path):
    manifest = json.loads((played / "run.json").read_text())
    damaged = {**manifest, "measure": {**manifest["measure"], "trials": "one"}}
    with pytest.raises(UsageError, match=r"measure\.trials: was 'one', is 1"):
        check_resumable(damaged, manifest, played)


@pytest.mark.parametrize("system", [{}, {"model": "x"}, {"model": [{}]}])
def test_a_run_that_does_not_say_its_model_is_scored(played: Path, system: dict):
    manifest = json.loads((played / "run.json").read_text()) | {"system": system}
    (played / "run.json").write_text(json.dumps(manifest))
    assert rescore(played)["errors"] == 0


def test_an_export_of_a_run_whose_tools_were_lost_names_the_tool(played: Path, tmp_path: Path):
    path = played / "tools.jsonl"
    offered = next(RunFolder(played).trajectories()).offered[0][0]
    whole = path.read_text()
    kept = [line for line in whole.splitlines() if json.loads(line)["id"] != offered]
    path.write_text("\n".join(kept) + "\n")
    with pytest.raises(DataError, match=r"tools\.jsonl was cut: it has 2 of the 3 lines"):
        export(StoredPool(played), "openai", tmp_path / "out")
    path.write_text(whole.replace(f'"{offered}"', '"small/other"'))
    with pytest.raises(DataError, match=f"was offered '{offered}', which is not in tools.jsonl"):
        export(StoredPool(played), "openai", tmp_path / "out")


def test_an_export_of_a_run_whose_tasks_were_lost_names_the_task(played: Path, tmp_path: Path):
    path = played / "tasks.jsonl"
    (first, *kept) = path.read_text().splitlines(keepends=True)
    path.write_text("".join(kept))
    with pytest.raises(DataError, match=r"tasks\.jsonl was cut: it has 3 of the 4 lines"):
        export(StoredPool(played), "inspect", tmp_path / "out")
    other = first.replace(json.loads(first)["id"], "another")
    path.write_text("".join([other, *kept]))
    with pytest.raises(DataError, match=f"lacks the task '{json.loads(first)['id']}'.*--resume"):
        export(StoredPool(played), "inspect", tmp_path / "out")


def test_a_judge_that_fails_to_build_leaves_the_run_as_it_was(played: Path):
    before = (played / "run.json").read_bytes()
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        rescore(played, ScoreSettings(judge_model="openai/judge"))

    assert (played / "run.json").read_bytes() == before


@pytest.mark.parametrize("name", ["__main__:outer.<locals>.polite", "__main__:<lambda>"])
def test_scores_of_a_function_that_no_path_leads_to_stay(played: Path, name: str, caplog):
    """As of a function within a function, which only the process that made it can call."""

    def outer() -> Callable[..., float]:
        def polite(task: Task, trajectory: Trajectory) -> float:
            return 0.5

        polite.__qualname__ = name.partition(":")[2]
        return polite

    rescore(played, ScoreSettings(metrics=(outer(),)))
    manifest = json.loads((played / "run.json").read_bytes())
    manifest["measure"]["metrics"] = [name]
    (played / "run.json").write_text(json.dumps(manifest))
    before = RunFolder(played).summary()["metrics"]
    summary = rescore(played)

    assert summary["metrics"] == before
    assert summary["metrics"]["polite"]["mean"] == 0.5
    assert "the former scores stay" in caplog.text
    assert "--metric" in caplog.text
