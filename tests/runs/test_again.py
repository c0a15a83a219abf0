"""Which settings a run keeps, and what plays its tasks again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import seal
from seal.core import DataError, UsageError
from seal.runs.again import kept, settings_again
from seal.runs.run import RunFolder
from seal.runs.settings import RunSettings


def by_flag(**given: object) -> RunSettings:
    return RunSettings(**given, origins=dict.fromkeys(given, "flag"))  # type: ignore[arg-type]


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    seal.run("sample", first=2, top_k=3, seed=7, baselines=False, out=tmp_path / "run")
    return RunFolder(tmp_path / "run")


def rewritten(run: RunFolder, **parts: object) -> RunFolder:
    told = json.loads((run.path / "run.json").read_bytes())
    (run.path / "run.json").write_text(json.dumps(told | parts))
    return RunFolder(run.path)


def test_settings_that_somebody_gave_are_kept_without_code_addresses_and_what_is_of_here() -> None:
    given = by_flag(
        model="openai/x",
        base_url="http://localhost:1/v1",
        team="json:Team",
        allow_code=("json",),
        servers={"own": "start-it"},
        metrics=("recall@20", "mine:metric"),
        cutoffs=(1, 2),
        prompts={"planner": "Plan: one step at a time."},
        select={"domain": "travel"},
        workers=2,
    )
    assert kept(given) == {
        "pool": "sample",
        "model": "openai/x",
        "cutoffs": [1, 2],
        "prompts": {"planner": "Plan: one step at a time."},
        "select": {"domain": "travel"},
    }
    assert kept(RunSettings(pool=seal.Benchmark("own", tools=[], tasks=[]), top_k=3)) == {}


def test_a_run_is_played_again_with_its_settings_save_those_that_are_given(run: RunFolder) -> None:
    again = settings_again(run, by_flag(top_k=4, workers=1))
    assert (again.pool, again.first, again.seed, again.baselines) == ("sample", 2, 7, False)
    assert (again.top_k, again.workers) == (4, 1)
    assert again.origins == {
        **dict.fromkeys(("first", "seed", "baselines"), "call"),
        **dict.fromkeys(("top_k", "workers"), "flag"),
    }
    assert kept(again) == {**run.manifest()["asked"], "top_k": 4}


def test_the_file_and_the_environment_of_now_do_not_go_before_the_run(run: RunFolder) -> None:
    now = RunSettings(top_k=9, trials=3, workers=2, origins={"top_k": "file", "trials": "file"})
    again = settings_again(run, now)
    assert (again.top_k, again.trials, again.workers) == (3, 1, 2)


def test_another_model_has_not_the_options_of_the_first(run: RunFolder) -> None:
    asked = {**run.manifest()["asked"], "model": "openai/x", "model_options": {"max_tokens": 5}}
    origins = {"model": "flag", "model_options": "flag", "base_url": "flag"}
    run = rewritten(run, asked=asked, origins=origins)
    again = settings_again(run, by_flag(model="oracle"))
    assert (again.model, again.model_options, again.base_url) == ("oracle", {}, None)


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ({"origins": {"base_url": "flag", "servers": "flag"}}, "--base-url, --servers"),
        ({"origins": {"allow_code": "flag"}}, "--allow-code"),
        ({"origins": {"roles": "call"}, "asked": {"pool": "sample"}}, "--role"),
        ({"asked": {"top_k": 3}, "origins": {}}, "its benchmark"),
        ({"origins": {"team": "flag"}, "asked": {"pool": "sample", "team": "os:getcwd"}}, "--team"),
    ],
)
def test_what_the_files_do_not_keep_is_to_be_given_again(
    run: RunFolder, parts: dict[str, object], told: str
) -> None:
    with pytest.raises(UsageError, match=f"does not keep {told}, for code.* give it again"):
        settings_again(rewritten(run, **parts), RunSettings())


def test_a_strangers_file_names_no_code(run: RunFolder) -> None:
    asked = {"pool": "sample", "allow_code": ["os"], "servers": "sh", "roles": {"planner": "os:x"}}
    again = settings_again(rewritten(run, asked=asked, origins={}), RunSettings())
    assert (again.allow_code, again.servers, again.roles) == ((), {}, {})


def test_bad_runs_are_refused(run: RunFolder) -> None:
    with pytest.raises(UsageError, match="is of sample, not of toolscan-sample"):
        settings_again(run, by_flag(pool="toolscan-sample"))
    measure = {**run.manifest()["measure"], "pool_digest": "0" * 64}
    with pytest.raises(UsageError, match="sample has changed since"):
        settings_again(rewritten(run, measure=measure), RunSettings())
    with pytest.raises(DataError, match="asked: expected an object"):
        settings_again(rewritten(run, asked=[]), RunSettings())
    with pytest.raises(UsageError, match="keeps no settings, for an older version"):
        settings_again(rewritten(run, asked=None), RunSettings())
