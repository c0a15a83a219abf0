"""Queries made of pools: what is kept, what is not and why, and going on after a kill."""

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
from query_pools import radio, write_pool
from query_writer import QueryWriter

import seal
from seal.api.benchmarks import load_pool
from seal.benchmarks.toolscan.generation_seeds import KINDS
from seal.core import (
    CodeRefusedError,
    Completion,
    DataError,
    UnknownNameError,
    UsageError,
    write_records,
)
from seal.core.statements import Sense, states

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


@pytest.fixture
def wordless(tmp_path: Path) -> Path:
    """A pool of two tools, and no task."""
    return write_pool(tmp_path / "boats", 0)


def worded(out: Path) -> list[dict]:
    lines = (out / "generation/requests.jsonl").read_bytes().splitlines()
    return [orjson.loads(line) for line in lines]


def test_tools_without_gold_are_seeds_whose_calls_a_model_words(wordless, tmp_path):
    made = queries(wordless, tmp_path / "pool")
    assert made.statistics["made_seeds"] == 2
    kinds = {task.tags["query_kind"] for task in tasks(tmp_path / "pool")}
    assert kinds == {"constraint", "paraphrase", "irrelevance", "seed"}
    said = {one["id"]: one["text"] for one in worded(tmp_path / "pool")}
    seeds = [task for task in tasks(tmp_path / "pool") if task.tags["query_kind"] == "seed"]
    for seed in seeds:
        assert seed.goals[0].text == said[seed.id]
        (call,) = seed.goals[0].plans[0].calls()
        values = call.canonical_arguments().items()
        assert all(states(said[seed.id], value, Sense(name)) for name, value in values)


class Lazy(QueryWriter):
    """Words a call of one tool alone, of some only at the second request."""

    def __init__(self, *answers: str, of: str = "boats/find_sailings") -> None:
        self.answers = [*answers]
        self.of = of

    def complete(self, request):
        system, asked = (message.content for message in request.messages)
        if "the arguments of one call" in system and f'"{self.of}"' in asked and self.answers:
            return Completion(self.answers.pop(0))
        return super().complete(request)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("Sure!", "not_json"),
        ("[" * 5000, "not_json"),
        ('["a"]', "no_text"),
        ('{"text": 7}', "no_text"),
        ('{"text": " . "}', "no_text"),
        ('{"text": "Which boats sail?"}', "value_not_stated"),
        (orjson.dumps({"text": "boats " * 900}).decode(), "too_long"),
    ],
)
def test_words_that_state_too_little_are_asked_for_again_once(wordless, tmp_path, answer, reason):
    out = tmp_path / "pool"
    made = queries(wordless, out, model=Lazy(answer), kinds=("paraphrase",))
    assert made.statistics["skipped_tasks"] == {}
    assert [[one["reason"] for one in each["unusable"]] for each in worded(out)] == [[reason], []]
    out = tmp_path / "other"
    made = queries(wordless, out, model=Lazy(answer, answer), kinds=("paraphrase",))
    counts = made.statistics
    assert (counts["seeds"], counts["skipped_tasks"]) == (1, {"call_without_words": 1})
    assert {task.metadata["seed"] for task in tasks(out)} == {"made/radio/episodes"}
    assert [bool(each["text"]) for each in worded(out)] == [False, True]


def test_words_are_kept_as_they_came(wordless, tmp_path, monkeypatch):
    wanted = []

    def complete(self, request):
        wanted.append("the arguments of one call" in request.messages[0].content)
        return answer(self, request)

    answer = QueryWriter.complete
    monkeypatch.setattr(QueryWriter, "complete", complete)
    out = tmp_path / "pool"
    queries(wordless, out, limit=1)
    first = worded(out)
    queries(wordless, out)
    assert worded(out)[:1] == first
    assert (len(worded(out)), sum(wanted)) == (2, 2)
    queries(wordless, tmp_path / "other" / "pool")
    assert contents(out) == contents(tmp_path / "other" / "pool")


def test_tools_that_nobody_words_are_told(wordless, tmp_path):
    class Mute:
        def complete(self, request):
            return Completion("")

    with pytest.raises(DataError, match=r"no words that state .*requests.jsonl has its answers"):
        queries(wordless, tmp_path / "pool", model=Mute())
    assert not (tmp_path / "pool/tasks.jsonl").exists()


def test_what_nobody_keeps_is_told(wordless, tmp_path):
    write_records(wordless / "tools.jsonl", [radio()])
    with pytest.raises(DataError, match=r"no query of 3 was kept: .*rejected.jsonl says why"):
        queries(wordless, tmp_path / "pool", kinds=("constraint",))
    lines = (tmp_path / "pool/rejected.jsonl").read_bytes().splitlines()
    assert {orjson.loads(line)["reason"] for line in lines} == {"number_of_constraints"}
