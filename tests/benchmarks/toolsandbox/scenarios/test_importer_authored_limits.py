"""Timers that interrupt, and confirmations: scenarios with sequences that pass and that fail."""

import json
import re
from pathlib import Path

import pytest

from seal.benchmarks.toolsandbox import SAMPLE
from seal.core import DataError, Step
from seal.pools.imports import import_benchmark
from seal.pools.pool import load_pool
from seal.runs.play import run
from seal.runs.settings import RunSettings

AUTHORED = SAMPLE.folder / "limits"

pytest.importorskip("phonenumbers", reason="phonenumbers comes with the extra worlds")


@pytest.fixture(scope="module", params=["timers", "confirmations"])
def pool(request, tmp_path_factory) -> Path:
    """A pool of three scenarios; the import proves each gold sequence, and each wrong one."""
    folder = tmp_path_factory.mktemp("pools") / request.param
    report = import_benchmark("scenarios", AUTHORED / f"{request.param}.json", folder)
    assert (report.tasks, report.recordings) == (3, {"right": 1, "wrong": 5})
    return folder


def verdicts(pool: Path, out: Path, **settings) -> list[float | None]:
    played = run(RunSettings(pool=pool, baselines=False, **settings), out)
    scores = played.folder.scores()
    return [score.value for score in scores if score.metric == "pass_rate"]


@pytest.mark.parametrize("team", ["direct", "full"])
def test_who_plays_the_gold_in_a_chat_passes(pool, tmp_path, team):
    assert verdicts(pool, tmp_path / "run", model="oracle", team=team) == [1.0] * 3


def test_who_plays_a_wrong_sequence_in_a_chat_fails(pool, tmp_path):
    wrong = {"model": "recorded:wrong", "trials": 2, "team": "direct"}
    assert verdicts(pool, tmp_path / "run", **wrong) == [0.0] * 6


def test_no_user_hears_of_an_event(pool):
    recorded = [t for name in ("right", "wrong") for t in load_pool(pool).recorded(name)]
    references = [goal.reference for task in load_pool(pool).tasks() for goal in task.goals]
    for steps in (*references, *(t.steps for t in recorded)):
        for step in filter(is_event, steps):
            assert (step.author, step.recipient) == ("executor", "execution_manager")


def is_event(step: Step) -> bool:
    return "rings" in step.content and step.author == "executor"


def test_timers_belong_to_the_world_that_has_them(pool):
    names = {tool.name for tool in load_pool(pool).tools()}
    assert ("set_timer" in names) is (pool.name == "timers")
    assert len(names) == (36 if pool.name == "timers" else 33)


@pytest.mark.parametrize(
    ("tools", "told"),
    [
        ([], "unconfirmed: expected a tool, or several, got none"),
        (["remove_contacts"], "Did you mean 'remove_contact'?"),
    ],
)
def test_a_policy_about_no_tool_is_refused(tmp_path, tools, told):
    authored = json.loads((AUTHORED / "confirmations.json").read_bytes())
    authored["scenarios"][0]["minefields"] = [{"unconfirmed": tools}]
    (tmp_path / "bad.json").write_text(json.dumps(authored))
    with pytest.raises(DataError, match=re.escape(told)):
        import_benchmark("scenarios", tmp_path / "bad.json", tmp_path / "pool")
