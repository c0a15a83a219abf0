"""Settings are completed once, and each value says who gave it."""

import json
from pathlib import Path

import orjson
import pytest
from small_pools import write_pool

import seal
from seal.api.benchmarks import load_pool
from seal.core import UsageError
from seal.pools.pool import StoredPool
from seal.report.run_results import summary_notes
from seal.runs.resolve import baselines_of, completed, settings_of
from seal.runs.run import RunFolder
from seal.runs.settings import GivenElse, RunSettings, changed


@pytest.fixture
def asking(tmp_path: Path) -> StoredPool:
    """A pool that says how it is played."""
    folder = write_pool(tmp_path / "pool")
    report = folder / "import.json"
    known = json.loads(report.read_bytes()) if report.is_file() else {}
    report.write_bytes(orjson.dumps(known | {"play": {"team": "direct", "format": "json"}}))
    return load_pool(folder)


def test_the_user_goes_before_the_benchmark_and_that_before_the_default(
    asking: StoredPool,
) -> None:
    asked = RunSettings(pool=asking.folder, format="action", origins={"format": "flag"})
    whole = completed(asked, asking)
    assert (whole.team, whole.format, whole.history) == ("direct", "action", "own")
    assert whole.origins == {"format": "flag", "team": "benchmark"}


@pytest.mark.parametrize(
    ("asked", "judge"),
    [
        ({}, "rule"),
        ({"role_models": {"judge": "oracle"}}, "llm"),
        ({"judge": "fac,sopr", "role_models": {"judge": "oracle"}}, "sopr,fac,llm"),
        ({"judge": "tooleval,auto"}, "tooleval,rule"),
        ({"judge": "rule", "role_models": {"judge": "oracle"}}, "rule"),
    ],
)
def test_completed_settings_say_who_judges(asking: StoredPool, asked: dict, judge: str) -> None:
    assert completed(RunSettings(pool=asking.folder, **asked), asking).judge == judge


def test_completed_settings_say_who_offers_tools(asking: StoredPool, tmp_path: Path) -> None:
    whole = completed(RunSettings(pool=asking.folder), asking)
    assert whole.retriever == GivenElse("tfidf")
    begun = RunFolder(tmp_path / "run")
    begun.path.mkdir()
    begun.write_json("run.json", {"measure": {}, "system": {"retriever": "given, else bm25"}})
    assert completed(whole, asking, begun).retriever == GivenElse("bm25")
    named = RunSettings(pool=asking.folder, retriever="random")
    assert completed(named, asking, begun).retriever == "random"


def test_completing_twice_changes_nothing(asking: StoredPool) -> None:
    once = completed(RunSettings(pool=asking.folder), asking)
    again = completed(once, asking)
    assert again == once
    assert again.origins == once.origins


def test_what_an_experiment_changes_is_its_own() -> None:
    asked = RunSettings(limit=3, trials=2, origins={"limit": "call", "trials": "call"})
    assert changed(asked, limit=None).origins == {"limit": "experiment", "trials": "call"}
    floor = baselines_of(asked, all_given=True)["floor"]
    assert (floor.origins["limit"], floor.origins["trials"]) == ("call", "experiment")


def test_a_call_from_python_is_told_in_the_run(tmp_path: Path) -> None:
    played = seal.run("sample", limit=1, baselines=False, top_k=10, out=tmp_path / "run")
    assert played.folder.manifest()["origins"] == dict.fromkeys(
        ("baselines", "limit", "top_k"), "call"
    )


def test_a_plan_says_who_gave_what(tmp_path: Path) -> None:
    planned = seal.plan_run("sample", limit=1, baselines=False, prices=None)
    assert planned.content["origins"]["limit"] == {"value": 1, "origin": "call"}


def test_the_password_of_an_address_is_in_no_plan() -> None:
    asked = {"limit": 1, "baselines": False, "base_url": "http://me:hunter2@127.0.0.1:9/v1"}
    with pytest.raises(UsageError, match=r"http://127.0.0.1:9/v1' holds a user") as told:
        seal.plan_run("sample", model="openai/none", **asked)
    unasked = seal.plan_run("sample", model="lexical", **asked)
    assert "hunter2" not in str(told.value) + json.dumps(unasked.content)


def test_a_run_of_before_tells_what_its_pool_gave(tmp_path: Path) -> None:
    played = seal.run("sample", limit=1, baselines=False, out=tmp_path / "run")
    manifest = played.folder.manifest()
    del manifest["origins"]
    played.folder.write_json("run.json", manifest | {"pool_defaults": {"team": "full"}})
    again = RunFolder.open(tmp_path / "run")
    assert any(line.endswith("a flag replaces it: --team full") for line in summary_notes(again))
    resumed = seal.run("sample", limit=1, baselines=False, out=tmp_path / "run", resume=True)
    assert resumed.exit_code == 0


@pytest.mark.slow  # the encoder may have to be fetched
def test_run_and_retrieve_have_one_retriever_where_none_is_named(
    general_retriever: str, tmp_path: Path
) -> None:
    run = seal.run("sample", first=2, baselines=False, out=tmp_path / "run")
    found = seal.retrieve("sample", k=10, first=2)

    (entry,) = found.content["results"]
    assert run.folder.manifest()["system"]["retriever"] == f"given, else {general_retriever}"
    assert entry["retriever"] == general_retriever == "hybrid"
    assert entry["metrics"]["recall@10"]["mean"] == run["recall@10"].mean


def test_a_run_that_has_begun_keeps_its_retriever(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    seal.run("sample", first=2, baselines=False, out=out)
    before = (out / "run.json").read_bytes()
    chats = (out / "trajectories.jsonl").read_bytes().splitlines(keepends=True)
    (out / "trajectories.jsonl").write_bytes(chats[0])
    monkeypatch.setattr("seal.retrievers.build.DEFAULT", "random")

    seal.run("sample", first=2, baselines=False, out=out, resume=True)

    assert (out / "run.json").read_bytes() == before
    assert (out / "trajectories.jsonl").read_bytes().splitlines(keepends=True) == chats


class _Unreadable:
    def __getattr__(self, name: str) -> object:
        raise OSError(name)


unreadable = _Unreadable()


def test_a_named_agent_whose_attributes_raise_is_told_by_its_name() -> None:
    with pytest.raises(UsageError, match=r"unreadable': cannot be used: OSError: .*mend it"):
        settings_of(f"{__name__}:unreadable")
