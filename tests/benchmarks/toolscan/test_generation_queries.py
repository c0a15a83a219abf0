"""Queries made of pools: what is kept, what is not and why, and going on after a kill."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import orjson
import pytest
from query_pools import write_pool
from query_writer import QueryWriter

import seal
from seal.api.benchmarks import load_pool
from seal.benchmarks.toolscan.generation_filters import KINDS
from seal.core import (
    CodeRefusedError,
    Completion,
    DataError,
    UnknownNameError,
    UsageError,
    write_records,
)

queries = partial(seal.generate, "queries", model=QueryWriter())
OUTPUT = ("tools.jsonl", "tasks.jsonl", "import.json", "statistics.json", "rejected.jsonl")


def contents(out: Path) -> dict[str, bytes]:
    """Return every file of a pool, those of the work too."""
    return {str(p.relative_to(out)): p.read_bytes() for p in sorted(out.rglob("*.json*"))}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Queries of the first five seeds of the sample of similar tools."""
    out = tmp_path_factory.mktemp("queries") / "pool"
    queries("toolscan-sample", out, per_seed=2, limit=5)
    return out


def test_a_world_that_is_code_is_opened_only_where_it_is_allowed(tmp_path, monkeypatch):
    pool = write_pool(tmp_path / "pool")
    named = [replace(task, world="harbour_of_a_stranger:boats") for task in tasks(pool)]
    write_records(pool / "tasks.jsonl", named)
    (tmp_path / "harbour_of_a_stranger.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(CodeRefusedError, match="task 't0' names the world 'harbour_of_a_stranger"):
        queries(pool, tmp_path / "out")
    with pytest.raises(seal.SealError, match="fails to import: RuntimeError: imported"):
        queries(pool, tmp_path / "out", allow_code=("harbour_of_a_stranger",))


def tasks(out: Path) -> list[seal.Task]:
    return list(load_pool(out).tasks())


def texts(out: Path) -> list[str]:
    return [task.goals[0].text for task in tasks(out)]


def test_every_kind_is_made_and_every_candidate_accounted_for(whole):
    counts = orjson.loads((whole / "statistics.json").read_bytes())
    assert {kind: of["kept"] > 2 for kind, of in counts["of_kind"].items()} == {
        "constraint": True,
        "paraphrase": True,
        "irrelevance": True,
    }
    made = [task for task in tasks(whole) if task.tags["query_kind"] != "seed"]
    rejected = (whole / "rejected.jsonl").read_bytes().splitlines()
    assert len(made) == counts["kept"]
    assert len(tasks(whole)) == counts["kept"] + counts["seed_tasks"]
    assert len(made) + len(rejected) == counts["proposed"]
    drafts = map(orjson.loads, (whole / "generation/drafts.jsonl").read_bytes().splitlines())
    proposed = sum(len(draft["candidates"]) + len(draft["unusable"]) for draft in drafts)
    assert proposed == counts["proposed"]


def test_constraints_hold_their_results_and_paraphrases_their_seed_s_gold(whole):
    seeds = {task.id: task for task in load_pool("toolscan-sample").tasks()}
    for task in tasks(whole):
        (goal,) = task.goals
        if task.tags["query_kind"] == "constraint":
            (plan,) = goal.plans
            assert all(milestone.result for milestone in plan.milestones)
            assert 3 <= sum(len(call.arguments) for call in plan.calls()) <= 4
        elif task.tags["query_kind"] == "paraphrase":
            assert goal.plans == seeds[task.metadata["seed"]].goals[0].plans
        elif task.tags["query_kind"] == "seed":
            assert task.goals == seeds[task.id].goals
        else:
            assert [len(plan.milestones) for plan in goal.plans] == [0]
            assert goal.labels == {"action": "abstain", "irrelevance": task.tags["irrelevance"]}


def test_all_reasons_for_abstention_are_made(whole):
    reasons = {task.tags["irrelevance"] for task in tasks(whole)}
    assert reasons == {
        "none",
        "unsupported_constraint",
        "foreign_parameter",
        "unrelated_request",
    }


def test_the_oracle_solves_all_of_it(tmp_path):
    whole = tmp_path / "pool"
    queries("toolscan-sample", whole, limit=2)
    assert {task.tags["query_kind"] for task in tasks(whole)} == {*KINDS, "seed"}
    result = seal.run(whole, model="oracle", out=tmp_path / "run", baselines=False)
    metrics = result.summary["metrics"]
    for name in ("pass_rate", "mission_accuracy", "call_recall", "param_acc_gold"):
        assert metrics[name]["mean"] == 1.0
    assert not [f for f in seal.lint(whole).findings if f.severity == "error"]


def test_a_seed_and_no_other_gives_the_same_bytes(whole, tmp_path):
    for seed in (0, 1):
        out = tmp_path / str(seed) / "pool"
        queries("toolscan-sample", out, per_seed=2, limit=5, seed=seed)
        assert (contents(out) == contents(whole)) is (seed == 0)
        assert (texts(out) == texts(whole)) is (seed == 0)


def test_a_killed_generation_goes_on_and_ends_with_the_same_bytes(whole, tmp_path):
    out = tmp_path / "pool"
    code = (
        "import sys, time, query_writer, seal\n"
        "seal.generate('queries', 'toolscan-sample', sys.argv[1], per_seed=2, limit=5,\n"
        "              model=query_writer.QueryWriter(),\n"
        "              progress=lambda done, total: time.sleep(0.03))\n"
    )
    places = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    process = subprocess.Popen([sys.executable, "-c", code, str(out)], env=places)
    journal = out / "generation" / "drafts.jsonl"
    while process.poll() is None:
        if journal.is_file() and journal.read_bytes().count(b"\n") >= 6:
            process.send_signal(signal.SIGKILL)
            break
        time.sleep(0.01)
    assert process.wait() == -signal.SIGKILL
    assert not (out / "tasks.jsonl").exists()
    with journal.open("ab") as file:
        file.write(b'{"schema":"query_draft/1","id":"par')  # as a kill amid a line leaves it
    queries("toolscan-sample", out, per_seed=2, limit=5)
    assert contents(out) == contents(whole)


def test_irrelevant_queries_can_be_set_beside_their_seeds(tmp_path):
    out = tmp_path / "pool"
    made = queries("toolscan-sample", out, kinds=("irrelevance",), limit=2)
    assert (made.statistics["kept"], made.statistics["seed_tasks"], made.report.tasks) == (2, 2, 4)
    done = seal.ablate(
        "irrelevance", out, out=tmp_path / "d", model="oracle", baselines=False, cache="off"
    )
    assert [row["tasks"] for row in done.content["runs"]] == [2, 2]
    (abstained,) = (e for e in done.content["comparisons"] if e["metric"] == "abstained")
    assert (abstained["mean"], abstained["other_mean"], abstained["n"]) == (1.0, 0.0, 2)


def test_without_irrelevance_no_seed_is_in_the_pool(tmp_path):
    out = tmp_path / "pool"
    made = queries("toolscan-sample", out, kinds=("paraphrase",), limit=2)
    assert made.statistics["seed_tasks"] == 0
    assert {task.tags["query_kind"] for task in tasks(out)} == {"paraphrase"}


def test_the_limit_may_grow(whole, tmp_path):
    out = tmp_path / "pool"
    queries("toolscan-sample", out, per_seed=2, limit=2, kinds=("paraphrase",))
    few = len(tasks(out))
    queries("toolscan-sample", out, per_seed=2, limit=4, kinds=("paraphrase",))
    assert len(tasks(out)) > few


def test_a_limit_that_has_grown_ends_with_the_bytes_of_the_larger_one(whole, tmp_path):
    out = tmp_path / "pool"
    for limit in (2, 5):
        queries("toolscan-sample", out, per_seed=2, limit=limit)
    assert contents(out) == contents(whole)


@pytest.mark.parametrize(
    ("settings", "error", "told"),
    [
        ({"kinds": ("paraphrases",)}, UnknownNameError, "Did you mean 'paraphrase'"),
        ({"kinds": ()}, UsageError, "expected at least one of constraint"),
        ({"per_seed": 0}, UsageError, "--per-seed 0: expected a whole number of at least 1"),
        (
            {"per_seed": 101},
            UsageError,
            "--per-seed 101: .* of at most 100",
        ),
        ({"limit": 0}, UsageError, "limit 0"),
        ({"per_sed": 1}, UnknownNameError, "Did you mean 'per_seed'"),
        ({"model": "oracle"}, UsageError, "writes no queries"),
        ({"model": None}, UsageError, "name the model that writes the queries: --model PROVIDER"),
        ({"model": "grammar"}, UsageError, "name the model that writes the queries: --model"),
    ],
)
def test_settings_that_cannot_be_are_refused_before_anything_is_written(
    tmp_path, settings, error, told
):
    with pytest.raises(error, match=told):
        queries("sample", tmp_path / "pool", **settings)
    assert not (tmp_path / "pool").exists()


def test_an_occupied_folder_and_other_settings_are_refused(whole, tmp_path):
    (tmp_path / "note.txt").touch()
    with pytest.raises(UsageError, match="holds something else"):
        queries("sample", tmp_path)
    before = contents(whole)
    with pytest.raises(UsageError, match="was made with another per_seed: 2, now 3"):
        queries("toolscan-sample", whole, per_seed=3)
    assert contents(whole) == before


def test_a_stateful_pool_is_refused_with_the_reason(tmp_path):
    with pytest.raises(UsageError, match=r"toolsandbox-sample has no seed \(53 part_of_a_talk\)"):
        queries("toolsandbox-sample", tmp_path / "pool")


def test_a_pool_without_tools_is_refused(tmp_path):
    folder = tmp_path / "empty"
    folder.mkdir()
    for name in ("tools.jsonl", "tasks.jsonl"):
        (folder / name).touch()
    with pytest.raises(DataError, match="a pool needs tools"):
        queries(folder, tmp_path / "pool")


def test_a_pool_without_tasks_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"boats has no seed \(no task\): a seed is a task of one"):
        queries(write_pool(tmp_path / "boats", 0), tmp_path / "pool")
    assert not (tmp_path / "pool").exists()


def test_what_nobody_keeps_is_told(tmp_path):
    class Brief:
        def complete(self, request):
            call = {"tool": "boats/find_sailings", "arguments": {"port": "Velin"}}
            return Completion(json.dumps({"queries": [{"text": "From Velin?", "calls": [call]}]}))

    boats = write_pool(tmp_path / "boats", 1)
    with pytest.raises(DataError, match=r"no query of 1 was kept: .*rejected.jsonl says why"):
        queries(boats, tmp_path / "pool", kinds=("constraint",), model=Brief())
    lines = (tmp_path / "pool/rejected.jsonl").read_bytes().splitlines()
    assert {orjson.loads(line)["reason"] for line in lines} == {"missing_argument"}
