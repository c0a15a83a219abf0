"""`seal lint`, `seal fetch` and `seal benchmarks` as processes."""

import json
import shutil
import signal
import subprocess
import time
from pathlib import Path
from urllib.parse import unquote

import pytest
from servers import Answer, ModelServer, Received

from seal.benchmarks.sample import SAMPLE
from seal.pools.catalogue import find_entry, pinned_files


def test_lint_shows_a_table_and_ends_well(seal) -> None:
    done = seal("lint", "sample")

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("sample: 65 tools, 80 tasks, ")
    assert "ungrounded_value" in done.stdout
    assert done.stderr == ""


def test_lint_gives_every_finding_as_json(seal) -> None:
    report = json.loads(seal("lint", "sample", "--json").stdout)

    assert report["pool"] == "sample"
    assert sum(report["counts"].values()) == len(report["findings"])
    assert report["findings"][0].keys() == {
        "kind", "severity", "message", "tasks", "tools", "evidence",
    }  # fmt: skip


def test_mutants_are_a_table_and_shares(seal) -> None:
    asked = ("lint", "toolsandbox-sample", "--mutants", "--sample", 1, "--seed", 4)
    done, told = seal(*map(str, asked)), json.loads(seal(*map(str, asked), "--json").stdout)

    assert done.returncode == 0, done.stderr
    assert "gold of 1 task: 100.0% of the decided wrong ones are killed" in done.stdout
    assert told["mutants"]["tasks"] == 1
    assert told["mutants"]["shares"]["wrong_killed"] == 1.0
    assert all(f" {kind} " in done.stdout for kind in told["mutants"]["kinds"])


def test_mutants_of_a_pool_without_a_world_are_refused_in_one_line(seal) -> None:
    failed = seal("lint", "sample", "--mutants")

    assert failed.returncode == 2
    assert "give the task a world" in failed.stderr


@pytest.mark.parametrize(
    ("kind", "code"),
    [("ungrounded_value", 1), ("warning", 1), ("error", 0), ("invalid_call", 0)],
)
def test_fail_on_decides_the_exit_code(seal, kind: str, code: int) -> None:
    assert seal("lint", "sample", "--fail-on", kind, "--json").returncode == code


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["sample", "--fail-on", "eror"], "Did you mean 'error'?"),
        (["sample", "--threshold", "0"], "above 0 and up to 100"),
        (["."], "is no pool: it has no tools.jsonl"),
        ([__file__], "is a file, and a pool is a folder; make one of your own files: seal new"),
        ([__file__], ", or name a benchmark that it makes: test_benchmark_verbs_lint:NAME"),
    ],
)
def test_what_cannot_be_linted_is_one_clear_line(seal, words: list[str], says: str) -> None:
    failed = seal("lint", *words)

    assert failed.returncode == 2
    assert says in failed.stderr
    assert failed.stderr.count("\n") == 1


def test_lint_goes_on_where_a_run_would_stop(seal, tmp_path: Path) -> None:
    shutil.copytree(SAMPLE.folder, tmp_path / "pool")
    with (tmp_path / "pool" / "tools.jsonl").open("r+") as tools:
        rest = tools.read().split("\n", 1)[1]
        tools.seek(0)
        tools.truncate()
        tools.write("no JSON\n" + rest)

    counts = json.loads(seal("lint", "pool", "--json").stdout)["counts"]

    assert counts["malformed_line"] == 1
    assert counts["missing_tool"] >= 1


@pytest.fixture
def upstream(seal_data: Path):
    """Serve AnyToolBench's files as GitHub does."""

    def script(request: Received) -> Answer:
        path = seal_data / "anytool" / unquote(request.path).lstrip("/")
        return Answer(path.read_bytes(), headers={}) if path.is_file() else Answer(b"", 404)

    with ModelServer(script) as server:
        yield server.root


def test_fetched_files_are_whole_and_come_once(seal, upstream: str, tmp_path: Path) -> None:
    first = json.loads(seal("fetch", "anytool", "--mirror", upstream, "--json").stdout)
    again = seal("fetch", "anytool", "--mirror", upstream)

    assert (first["fetched"], first["present"]) == (2, 0)
    assert (tmp_path / "data/anytool/atb_data/anytoolbench.json").is_file()
    assert again.returncode == 0, again.stderr
    assert "fetched: 0" in again.stdout
    assert "seal import anytool data/anytool --out POOL" in again.stdout
    assert again.stderr == ""


def test_files_go_where_names_are_looked_for(seal, upstream: str, tmp_path: Path) -> None:
    seal("fetch", "anytool", "--mirror", upstream, SEAL_DATA=str(tmp_path / "mine"))

    assert (tmp_path / "mine/anytool/misc/unsolvable.json").is_file()


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["apigen"], 2, "log in and accept the terms; hf download Salesforce/xlam"),
        (["anytol"], 2, "Did you mean 'anytool'?"),
        (["anytool", "--mirror", "http://127.0.0.1:9"], 1, "no answer"),
        (["anytool", "--mirror", "nowhere"], 2, "begins with http"),
    ],
)
def test_what_cannot_be_fetched_is_one_clear_line(seal, words, code: int, says: str) -> None:
    failed = seal("fetch", *words)

    assert (failed.returncode, failed.stdout) == (code, "")
    assert says in failed.stderr
    assert failed.stderr.count("\n") == 1


def test_an_interrupted_download_leaves_nothing_half_written(
    script: str, environment: dict[str, str], tmp_path: Path
) -> None:
    asked = []

    def slow(request: Received) -> Answer:
        asked.append(request.path)
        return Answer(b"never whole", delay_s=600.0)

    with ModelServer(slow) as server:
        words = [script, "fetch", "anytool", "--mirror", server.root]
        process = subprocess.Popen(
            words, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True
        )
        while not asked and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=300)[1]

    assert process.returncode == 130
    assert told.endswith("seal: interrupted\n")
    assert "Traceback" not in told
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_the_benchmarks_are_a_table_with_the_papers_figures(seal) -> None:
    shown = seal("benchmarks")

    assert shown.returncode == 0, shown.stderr
    assert "34,052" in shown.stdout
    assert "The paper's figures alone" in shown.stdout
    assert "tools alone" in shown.stdout


def test_without_files_only_what_ships_is_counted(seal) -> None:
    listed = json.loads(seal("benchmarks", "--count", "--json").stdout)["benchmarks"]

    counted = {entry["name"] for entry in listed if entry["counts"]}
    samples = {f"{name}-sample" for name in ("dialogtool", "mmtb", "toolsandbox", "toolscan")}
    assert counted == {"sample", "apps", "phone", *samples}
    assert all(entry["not_counted"] for entry in listed if entry["name"] not in counted)


def test_one_benchmark_is_told_in_full(seal) -> None:
    shown = seal("benchmarks", "sgd").stdout
    plain = json.loads(seal("benchmarks", "sgd", "--json").stdout)

    assert "google-research-datasets/dstc8-schema-guided-dialogue" in shown
    assert plain["name"] == "dialogtool"
    assert plain["pinned_files"] == len(pinned_files(find_entry("sgd")))
    assert plain["command"] == "seal import dialogtool SOURCE --out POOL"
    assert seal("benchmarks", "sdg").returncode == 2


def test_real_files_are_counted_beside_the_paper(seal, seal_data: Path) -> None:
    counted = seal("benchmarks", "stabletoolbench", "--count", "--json", SEAL_DATA=str(seal_data))

    assert json.loads(counted.stdout)["counts"] == {
        "tasks": 762,
        "queries": 762,
        "multi_step": 735,
        "tools_per_query": pytest.approx(1787 / 762),
        "tools_with_queries": 1218,
        "tools": 2474,
        "gold": {
            "relevant": 762, "calls": 0, "arguments": 0, "state": 0, "turns": 0, "answers": 0,
        },
    }  # fmt: skip
