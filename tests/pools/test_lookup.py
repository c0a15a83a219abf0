"""Pools by name, by folder, and from upstream files."""

import json
import shutil
from pathlib import Path

import pytest
from run_fixtures import own_cache, pool
from sgd_sources import Sgd
from small_pools import write_pool

import seal
from seal.core import DataError, UnknownNameError, UsageError
from seal.core.files import cache_folder
from seal.pools.catalogue import pool_names, source_folder
from seal.pools.imports import import_benchmark
from seal.pools.lookup import known_benchmark, open_pool
from seal.pools.pool import load_pool

__all__ = ["own_cache", "pool"]


def upstream(folder: Path, queries: int = 1) -> Path:
    """Write ToolBench query files of a made-up API."""
    api = {
        "category_name": "Weather",
        "tool_name": "Sky",
        "api_name": "Now",
        "api_description": "Weather now.",
        "required_parameters": [],
        "optional_parameters": [],
        "method": "GET",
    }
    asked = [
        {
            "query_id": n,
            "query": f"What is the weather {n}?",
            "api_list": [api],
            "relevant APIs": [["Sky", "Now"]],
        }
        for n in range(queries)
    ]
    (folder / "instruction").mkdir(parents=True, exist_ok=True)
    (folder / "instruction" / "G1_query.json").write_text(json.dumps(asked))
    return folder


def test_a_shipped_name_and_a_folder_are_pools(pool: Path):
    assert open_pool("sample").name == "sample"
    assert open_pool(pool).name == open_pool(str(pool)).name == "pool"


def test_a_folder_that_happens_to_be_called_sample_hides_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sample").mkdir()
    assert len(list(open_pool("sample").tasks())) > 10

    shutil.rmtree(tmp_path / "sample")
    write_pool(tmp_path / "sample")
    assert len(list(open_pool("sample").tasks())) == 4  # a pool of the user's own


def test_upstream_files_are_imported_once_and_again_when_they_change(tmp_path, monkeypatch):
    monkeypatch.setenv("SEAL_DATA", str(tmp_path / "data"))
    source = upstream(tmp_path / "data" / "toolbench")
    first = open_pool("toolbench")
    stamp = (first.folder / "import.json").stat().st_mtime_ns
    again = open_pool("toolbench")

    assert first.folder.is_relative_to(cache_folder())
    assert (again.folder / "import.json").stat().st_mtime_ns == stamp
    upstream(source, queries=2)
    assert len(list(open_pool("toolbench").tasks())) == 2


@pytest.mark.parametrize("data", [None, "nowhere"])
def test_known_benchmark_without_files_names_the_command(tmp_path, monkeypatch, data):
    if data:
        monkeypatch.setenv("SEAL_DATA", str(tmp_path / data))

    with pytest.raises(UsageError, match="seal import toolbench SOURCE --out POOL"):
        open_pool("toolbench")


@pytest.mark.parametrize("name", ["sampel", "no/such/folder", ""])
def test_unknown_name_lists_the_known_ones(name: str):
    if not name:
        with pytest.raises(UsageError, match="is no path: it is empty"):
            open_pool(name)
        return
    with pytest.raises(UnknownNameError, match=r"known: .*bfcl, .*sample, .*sgd, .*toolbench"):
        open_pool(name)


def test_the_catalogue_says_in_which_folder_and_by_which_importer(tmp_path, monkeypatch):
    monkeypatch.setenv("SEAL_DATA", str(tmp_path / "data"))
    upstream(tmp_path / "data" / "stabletoolbench", queries=3)

    assert source_folder("stabletoolbench") == tmp_path / "data" / "stabletoolbench"
    assert len(list(open_pool("stabletoolbench").tasks())) == 3
    assert source_folder("toolbench") is None


@pytest.mark.parametrize("folder", ["sgd", "dialogtool"])
def test_the_catalogues_folder_and_one_of_the_benchmarks_own_name_are_found(
    tmp_path, monkeypatch, folder: str
):
    monkeypatch.setenv("SEAL_DATA", str(tmp_path))
    (tmp_path / folder).mkdir()

    assert source_folder("dialogtool") == tmp_path / folder


def test_an_alias_without_files_names_the_importer_and_the_folder():
    with pytest.raises(UsageError, match=r"holds sgd/, .*seal import dialogtool SOURCE"):
        open_pool("sgd")


def test_names_hold_what_ships_and_what_can_be_imported():
    assert {"sample", "stabletoolbench", "sgd", "beir", "toolsandbox"} <= set(pool_names())


def test_folder_that_is_no_pool_says_how_to_make_one(tmp_path: Path):
    with pytest.raises(DataError, match=r"is no pool: it has no tools\.jsonl; make one with"):
        open_pool(tmp_path)


def test_cache_folder_is_the_given_one_else_the_environments_else_the_users(monkeypatch, tmp_path):
    assert cache_folder(tmp_path / "x") == tmp_path / "x"
    assert cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("SEAL_CACHE_DIR")
    assert cache_folder().name == "seal"


def test_a_run_folder_of_a_benchmarks_name_is_not_taken_for_the_benchmark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    seal.run("sample", limit=1, out="sample")

    again = seal.run("sample", limit=2, out="sample", resume=True)

    assert len(again.tasks) == 2


def test_a_module_of_the_working_folder_is_named_with_the_repair(tmp_path, monkeypatch) -> None:
    (tmp_path / "benchmod.py").write_text("")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnknownNameError, match="as benchmod:NAME") as error:
        open_pool("benchmod")
    assert "apibench" not in str(error.value)


def test_files_under_a_second_name_have_the_parts_of_their_benchmark(tmp_path, monkeypatch):
    monkeypatch.setenv("SEAL_DATA", str(tmp_path))
    upstream(tmp_path / "stabletoolbench")

    found = open_pool("stabletoolbench")
    assert found.name == "toolbench"
    assert found.benchmark is open_pool(found.folder).benchmark is known_benchmark("toolbench")


@pytest.mark.parametrize("name", ["sgd", "dialogtool", "seal.benchmarks.dialogtool:DIALOGTOOL"])
def test_an_import_says_what_it_is_of_by_whatever_name_it_was_asked(tmp_path, name: str):
    seal.import_benchmark(name, Sgd(tmp_path).folder, tmp_path / "out")

    assert load_pool(tmp_path / "out").report["benchmark"] == "dialogtool"


def test_a_second_name_a_copy_and_a_run_are_played_and_measured_as_the_benchmark(
    tmp_path, monkeypatch
):
    source = Sgd(tmp_path)
    source.imported()
    monkeypatch.setenv("SEAL_DATA", str(tmp_path))  # it holds sgd/
    copy = Path(shutil.copytree(source.out, tmp_path / "mmtb"))  # the name of another benchmark
    (copy / "import.json").unlink()

    def measured(what: str | Path, out: str) -> set[str]:
        run = seal.run(what, model="oracle", team="tool_life", baselines=False, out=tmp_path / out)
        again = seal.score(run.folder.path)
        assert run.folder.benchmark() is known_benchmark("dialogtool")
        assert set(again.summary["metrics"]) == set(run.summary["metrics"])
        return set(run.summary["metrics"])

    first = measured("dialogtool", "first")
    assert {"awareness", "selection", "execution"} <= first
    assert measured("sgd", "second") == measured(copy, "copied") == first
    assert measured(tmp_path / "first", "replayed") == first


def test_what_is_made_of_a_pool_without_a_report_is_of_its_benchmark_too(tmp_path):
    source = Sgd(tmp_path)
    source.imported()
    copy = Path(shutil.copytree(source.out, tmp_path / "copy"))
    (copy / "import.json").unlink()

    seal.augment(copy, "names", tmp_path / "harder")
    assert open_pool(tmp_path / "harder").benchmark is known_benchmark("dialogtool")


def test_a_module_of_this_folder_stands_for_the_one_benchmark_that_it_makes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    one = (
        "import seal\n\ndef price(flight: str) -> int:\n    return 90\n\n"
        "AIR = seal.Benchmark('air', tools=[price], tasks=[seal.ask('What is LH2?', "
        "seal.called('price', flight='LH2'), answer='90')])\n"
    )
    Path("lone_air.py").write_text(one)
    run = seal.run("lone_air.py", model="oracle", baselines=False)
    assert run.summary["metrics"]["pass_rate"]["mean"] == 1.0
    assert open_pool("lone_air.py").digest == open_pool("lone_air:AIR").digest
    Path("two_airs.py").write_text(f"{one}SEA = seal.Benchmark('sea', tools=[price], tasks=[])\n")
    with pytest.raises(DataError, match="that it makes: two_airs:AIR or two_airs:SEA"):
        open_pool("two_airs.py")
    Path("torn_air.py").write_text("AIR = (")
    with pytest.raises(DataError, match="that it makes: torn_air:NAME"):
        open_pool("torn_air.py")


def test_a_benchmark_that_is_gone_tells_what_replaces_it(tmp_path):
    said = "the benchmark multiwoz is gone: `seal import dialogtool`"
    with pytest.raises(UsageError, match=said):
        open_pool("multiwoz")
    with pytest.raises(UsageError, match=said):
        import_benchmark("multiwoz", tmp_path, tmp_path / "pool")
