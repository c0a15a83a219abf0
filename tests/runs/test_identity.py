"""What makes two runs the same, and what a resume refuses."""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from small_pools import WEATHER, Weatherman, contents, many, play, weather_goal, write_pool

import seal
from seal.agents.roles import Checker, prompts_digest
from seal.core import Task, UsageError, write_records
from seal.core.registry import name_of
from seal.core.values import digest
from seal.runs.identity import check_resumable, warnings_of


class Planner:
    pass


@dataclass
class Own:
    identity: str = "mine/2"


@dataclass
class Client:
    key: str
    pool: object = None


def test_a_part_is_named_by_its_text_its_class_or_what_it_says_itself():
    assert name_of(None) is None
    assert name_of("lab:Planner") == "lab:Planner"
    assert name_of(Planner) == name_of(Planner()) == "test_identity:Planner"
    assert name_of(name_of) == "seal.core.registry:name_of"
    assert name_of(Own()) == "mine/2"


def test_plain_fields_of_a_part_count_and_are_not_written():
    assert name_of(Checker(returns=1)) != name_of(Checker(returns=2))
    assert name_of(Client("sk-1", object())) == name_of(Client("sk-1", object()))
    assert "sk-1" not in name_of(Client("sk-1"))


@pytest.mark.parametrize(
    ("judge", "solver", "warned"), [("a", "a", 1), ("a", "b", 0), (None, "a", 0)]
)
def test_judge_and_solver_of_one_model_are_warned_of(judge, solver, warned):
    measure = {"judge": {"judge": "llm/1", **({"model": judge} if judge else {})}}

    assert len(warnings_of(measure, {"model": {"model": solver}})) == warned


def test_every_difference_is_named_with_both_values():
    before = {"measure": {"seed": 0, "limit": 5}, "system": {"model": "a"}}
    now = {"measure": {"seed": 1, "limit": 4}, "system": {"model": "b"}}

    with pytest.raises(UsageError) as raised:
        check_resumable(before, now, "runs/x")
    text = str(raised.value)
    for part in (
        "measure.seed: was 0, is 1",
        "measure.limit: was 5, is 4",
        "system.model: was 'a'",
    ):
        assert part in text
    assert "Resume with the settings of then" in text


@pytest.mark.parametrize(("old", "new"), [(5, 5), (5, 6), (5, None), (None, None)])
def test_limit_may_grow(old, new):
    then, now = ({"measure": {"limit": limit}, "system": {}} for limit in (old, new))
    check_resumable(then, now, "x")
    if old != new:
        with pytest.raises(UsageError, match=r"measure\.limit"):
            check_resumable(now, then, "x")


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"model": "oracle"}, "system.model"),
        ({"role_models": {"orchestrator": "oracle"}}, "system.role_models"),
        ({"retriever": "random"}, "system.retriever"),
        ({"retriever_options": {"a": 1}}, "system.retriever_options"),
        ({"retrieve": "per-step"}, "system.retrieve"),
        ({"top_k": 3}, "system.top_k"),
        ({"temperature": 0.5}, "system.temperature"),
        ({"team": "direct"}, "system.team"),
        ({"roles": {"planner": "decompose"}}, "system.roles"),
        ({"seed": 1}, "measure.seed"),
        ({"max_turns": 3}, "measure.max_turns"),
        ({"max_calls": 3}, "measure.max_calls"),
        ({"max_tokens": 3}, "measure.max_tokens"),
        ({"max_seconds": 3.0}, "measure.max_seconds"),
        ({"history": "gold"}, "measure.history"),
        ({"cutoffs": (1,)}, "measure.cutoffs"),
        ({"select": {"group": "one"}}, "measure.select"),
        ({"limit": 1}, "measure.limit"),
        ({"trials": 1}, "measure.trials"),
        ({"role_models": {"judge": "no_gold:Judge"}}, "measure.judge"),
        ({"simulator": "no_gold:Simulator"}, "measure.simulator"),
    ],
)
def test_resume_refuses_other_settings_and_names_them(
    pool: Path, tmp_path: Path, monkeypatch, changed, named
):
    (tmp_path / "no_gold.py").write_text(
        "from seal.core.protocols import Response\n"
        "class Simulator:\n"
        "    identity = 'none/1'\n"
        "    def __init__(self, setup): pass\n"
        "    def respond(self, tool, arguments): return Response('ok')\n"
        "class Judge:\n"
        "    def complete(self, request): return None\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    out = tmp_path / "run"
    play(pool, out, limit=2, trials=2)
    before = contents(out)

    with pytest.raises(UsageError, match=f"holds a run of other settings; .*{named}: was"):
        play(pool, out, True, **{"limit": 2, "trials": 2, **changed})
    assert contents(out) == before


def test_resume_refuses_a_pool_that_has_changed(tmp_path: Path):
    pool = write_pool(tmp_path / "pool", many(2))
    play(pool, tmp_path / "run")
    write_records(pool / "tasks.jsonl", [*many(2), Task("new", "small", many(1)[0].goals)])

    with pytest.raises(UsageError, match=r"measure\.pool_digest"):
        play(pool, tmp_path / "run", True)


def test_workers_processes_paths_and_budgets_of_the_run_do_not_count(tmp_path: Path):
    pool = write_pool(tmp_path / "a" / "pool", many(3))
    play(pool, tmp_path / "run", model=Weatherman(), workers=1)
    before = contents(tmp_path / "run")
    moved = tmp_path / "moved"
    (tmp_path / "run").rename(moved)
    pool.parent.rename(tmp_path / "b")
    changed = {"workers": 3, "cache_dir": tmp_path / "other", "max_total_tokens": 10**9}
    play(tmp_path / "b" / "pool", moved, True, model=Weatherman(), **changed)

    assert contents(moved) == before


def test_limit_and_trials_grow_without_playing_again_what_is_finished(tmp_path: Path):
    pool = write_pool(tmp_path / "pool", many(4))
    out, model = tmp_path / "run", Weatherman()
    play(pool, out, model=model, limit=2, trials=1)
    asked = len(model.seen)
    play(pool, out, True, model=model, limit=3, trials=2)

    assert len(model.seen) == asked * 3
    fresh = play(pool, tmp_path / "whole", model=model, limit=3, trials=2)
    assert contents(out) == contents(fresh.folder.path)


def test_a_prompt_counts_wherever_it_lies_and_no_two_have_one_name() -> None:
    root = Path(seal.__file__).parent
    files = [*root.glob("agents/prompts/*"), *root.glob("benchmarks/*/prompts/*")]
    texts = {file.name: file.read_text("utf-8") for file in files}
    assert len(texts) == len(files)
    assert {"orchestrator.txt", "awareness.txt"} <= texts.keys()
    assert prompts_digest() == digest(texts)


@pytest.mark.parametrize("name", ["tools.jsonl", "tasks.jsonl", "rankings.jsonl", "scores.jsonl"])
@pytest.mark.parametrize("damage", [lambda file: file.unlink(), lambda file: file.write_text("{")])
def test_resume_makes_every_file_again_that_can_be_made(pool: Path, tmp_path: Path, name, damage):
    out = tmp_path / "run"
    play(pool, out)
    before = (out / name).read_bytes()
    damage(out / name)
    play(pool, out, True)
    assert (out / name).read_bytes() == before


def test_a_pool_whose_tasks_give_their_tools_loads_no_retriever_that_searches(tmp_path: Path):
    given = Task("t", "small", (weather_goal("Oslo", offered=(WEATHER.id,)),))
    pool = write_pool(tmp_path / "pool", [given])
    code = (
        "import sys, seal\n"
        f"seal.run({str(pool)!r}, model='lexical', out={str(tmp_path / 'run')!r})\n"
        "print([m for m in sys.modules if m.startswith('seal.retrievers.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = {name.rpartition(".")[2] for name in re.findall(r"'([\w.]+)'", done.stdout)}
    assert "build" in loaded and loaded.isdisjoint({"hybrid", "dense", "lexical", "embedders"})
