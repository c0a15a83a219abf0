"""`seal retrieve`: rankings and their scores without a chat."""

import json
from pathlib import Path

import pytest


def test_the_sample_is_ranked_and_scored(seal, tmp_path: Path) -> None:
    words = ("retrieve", "sample", "--retriever", "oracle", "--retriever", "tfidf", "-k", "1,5")
    done = seal(*words, "--out", "r", "--json")
    assert done.returncode == 0, done.stderr
    oracle, tfidf = json.loads(done.stdout)["results"]
    assert oracle["retriever"] == "oracle"
    assert oracle["metrics"]["recall@5"]["mean"] == 1.0
    assert 0 < tfidf["metrics"]["recall@1"]["mean"] < 1
    assert sorted(path.name for path in (tmp_path / "r").iterdir()) == [
        "draws.jsonl",
        "figures",
        "results.csv",
        "results.json",
        "sample-oracle",
        "sample-tfidf",
        "timings.jsonl",
    ]


def test_the_table_names_pool_retriever_and_cutoffs(called) -> None:
    shown = called("retrieve", "sample", "--limit", "3", COLUMNS="80").stdout
    for word in ("sample: 65 tools", "tfidf", "recall@1", "recall@10", "mrr@10"):
        assert word in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_drawn_pools_and_long_names_fit_80_columns(called) -> None:
    long = "tfidf,template=seal.retrievers.base:name_description"
    words = ("sample", "--retriever", "tfidf", "--retriever", long, "--pool-sizes", "20,40,all")
    done = called("retrieve", *words, "--samples", "2", COLUMNS="80")
    assert done.returncode == 0, done.stderr
    assert f"R2 = {long}" in done.stdout
    tables = [line for line in done.stdout.splitlines() if line[0] in "┃│"]
    assert max(map(len, tables)) <= 80
    assert " ± " in done.stdout
    assert " ± NA" in done.stdout  # the whole pool is measured once


def test_one_word_names_several_retrievers_and_their_options(called) -> None:
    words = ("--retriever", "bm25,k1=1.5,tfidf", "--retriever", "oracle")
    done = called("retrieve", "sample", *words, "--first", "3", "--json")
    assert done.returncode == 0, done.stderr
    named = [entry["retriever"] for entry in json.loads(done.stdout)["results"]]
    assert named == ["bm25,k1=1.5", "tfidf", "oracle"]


def test_a_pipe_is_told_of_each_retriever_that_is_done(called) -> None:
    words = ("retrieve", "sample", "--retriever", "tfidf", "--retriever", "oracle")
    done = called(*words, "--pool-sizes", "20,all", "--samples", "2", "--json")
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout)
    *told, note = done.stderr.splitlines()
    assert note.startswith("seal: no drawn pool holds a distractor, so --distractors uniform has")
    places = [line.partition(": recall@10 ")[0] for line in told]
    assert places == [
        f"seal: sample, {tools} tools, {name}" for tools in (20, 65) for name in ("tfidf", "oracle")
    ]


def test_who_cannot_be_asked_costs_exit_code_1_and_nothing_else(called) -> None:
    words = ("sample", "--retriever", "tfidf", "--retriever", "dense,model=openai/m")
    done = called("retrieve", *words, "--limit", "5")
    assert done.returncode == 1
    assert "unavailable: dense,model=openai/m on sample: openai/m: no key" in done.stdout


def test_a_reason_stands_once_for_all_pools_and_sizes(called) -> None:
    words = ("sample", "sample", "--retriever", "dense,model=openai/m", "--retriever", "tfidf")
    done = called("retrieve", *words, "--limit", "5", "--pool-sizes", "6,all", "--samples", "1")
    assert done.stdout.count("no key") == 1
    assert "unavailable: dense,model=openai/m on sample, sample-2: " in done.stdout


def test_a_retriever_that_raises_keeps_the_others_results(seal, tmp_path: Path) -> None:
    (tmp_path / "raising.py").write_text("def make(pool):\n    raise RuntimeError('no memory')\n")
    words = ("sample", "--retriever", "raising:make", "--retriever", "tfidf", "--out", "r")
    done = seal("retrieve", *words, "--limit", "5")
    assert done.returncode == 1
    said = "unavailable: raising:make on sample: 'raising:make': cannot be used: RuntimeError: "
    assert f"{said}no memory" in done.stdout
    assert (tmp_path / "r" / "sample-tfidf" / "run.trec").is_file()


def test_a_size_that_one_pool_lacks_is_told(called, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    tools = {"schema": "tool/1", "id": "a/b/c", "name": "c"}
    task = {"schema": "task/1", "id": "t", "benchmark": "b", "goals": [{"text": "c"}]}
    (small / "tools.jsonl").write_text(json.dumps(tools) + "\n")
    (small / "tasks.jsonl").write_text(json.dumps(task) + "\n")
    done = called(
        "retrieve", "sample", "small", "--pool-sizes", "20,all", "--samples", "2", "--json"
    )
    assert done.returncode == 0, done.stderr
    assert "small has 1 tool: no pools of 20 were drawn" in done.stderr
    sizes = [(entry["pool"], entry["size"]) for entry in json.loads(done.stdout)["results"]]
    assert sizes == [("sample", 20), ("sample", "all"), ("small", "all")]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nothing-here"], "nothing-here"),
        (["sample", "--retriever", "tfdif"], "Did you mean 'tfidf'?"),
        (["sample", "--retriever", "tfidf,=1"], "is no KEY=VALUE"),
        (["sample", "-k", "0"], "expected whole numbers above 0"),
        (["sample", "--pool-sizes", "many"], "expected whole numbers above 0"),
        (["sample", "--pool-sizes", "66"], "the largest pool has 65 tools"),
        (["sample", "--queries", "1000"], "give at most"),
        (["sample", "--distractors", "near"], "near"),
        (["sample", "--out", "/proc/none/here"], "/proc/none"),
        (["sample", "--out", "."], "give --out a new folder"),
    ],
)
def test_what_cannot_be_ranked_is_one_clear_line(
    called, tmp_path: Path, words: list[str], says: str
) -> None:
    (tmp_path / "mine").touch()
    failed = called("retrieve", *words)
    assert failed.returncode == 2
    assert says in failed.stderr
    assert failed.stderr.count("\n") == 1


def test_the_terminal_says_which_tools_are_lost_and_where_the_others_stand(called) -> None:
    words = ("retrieve", "sample", "--retriever", "bm25,tfidf", "--first", "20")
    assert "--out DIR keeps the rankings" in called(*words).stdout
    done = called(*words, "--out", "lost")
    assert done.returncode == 0, done.stderr
    assert "needed" in done.stdout and "bm25 loses" in done.stdout
    assert "seal serve lost" in done.stdout
