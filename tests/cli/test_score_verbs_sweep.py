"""Pool sizes and K end to end, offline; what is interrupted is a real process."""

import json
from pathlib import Path

import pytest

SHORT = ("--limit", "4", "--pool-sizes", "8,16", "--samples", "2")


@pytest.mark.slow
def test_pool_sizes_end_with_a_table_and_are_resumed(called, tmp_path: Path) -> None:
    done = called("sweep", "sample", *SHORT, "--out", "s")
    assert done.returncode == 0, done.stderr
    for text in ("pools drawn from sample, 65 tools", "recall@10", "pass_rate", "±", "sweep: s"):
        assert text in done.stdout
    kept = (tmp_path / "s" / "sweep.json").read_bytes()
    rows = json.loads(kept)["rows"]
    assert [(row["size"], row["sample"]) for row in rows] == [(8, 0), (8, 1), (16, 0), (16, 1)]
    assert all((tmp_path / "s" / row["run"] / "scores.jsonl").is_file() for row in rows)
    assert (tmp_path / "s" / "figures" / "metrics_over_pool_size.svg").is_file()

    again = called("sweep", "sample", *SHORT, "--out", "s")
    assert again.returncode == 2
    assert "holds a sweep already; add --resume" in again.stderr
    resumed = called("sweep", "sample", *SHORT, "--out", "s", "--resume", "--json")
    assert resumed.returncode == 0, resumed.stderr
    assert json.loads(resumed.stdout) == {"sweep": "s", **json.loads(kept)}
    assert (tmp_path / "s" / "sweep.json").read_bytes() == kept


def test_several_k_are_played_one_by_one(called, tmp_path: Path) -> None:
    (tmp_path / "seal.toml").write_text('top-k = "5,1"\nlimit = 2\n')
    done = called("sweep", "--out", "s", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["protocol"]["top_k"] == [1, 5]
    assert [(row["top_k"], row["size"], row["tasks"]) for row in found["rows"]] == [
        (1, 65, 2),
        (5, 65, 2),
    ]
    assert {"recall@1", "recall@5", "recall@10"} <= found["results"][0]["metrics"].keys()
    assert not list((tmp_path / "s").glob("**/floor"))


@pytest.mark.slow
def test_where_no_server_is_nothing_is_played_and_the_sweep_ends_with_3(called) -> None:
    words = ("--model", "openai/x", "--base-url", "http://127.0.0.1:9/v1", "--json")
    sizes = ("--first", "1", "--pool-sizes", "8", "--samples", "1")
    done = called("sweep", "sample", *sizes, *words, "--out", "s", OPENAI_API_KEY="not-a-real-key")
    assert (done.returncode, done.stdout) == (3, "")
    assert "no chat was played: openai/x at http://127.0.0.1:9/v1" in done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--pool-sizes", "500"], "pool size 500 is beyond the pool, which has 65 tools"),
        (["--pool-sizes", "0"], "--pool-sizes '0': expected whole numbers above 0"),
        (
            ["--pool-sizes", "8", "--samples", "0"],
            "--samples 0: expected a whole number of",
        ),
        (["--pool-sizes", "8", "--retriever", "given"], "--retriever given offers every task"),
        (["--top-k", "0,5"], "--top-k 0: expected a whole number of at least 1"),
        (["--top-k", "5,0"], "--top-k 0: expected a whole number of at least 1"),
        (["--top-k", "5,x"], "'5,x': expected a whole number, or several such as 1,5,10"),
    ],
)
def test_what_cannot_be_swept_is_one_clear_line(called, words: list[str], says: str) -> None:
    failed = called("sweep", "sample", *words)
    assert failed.returncode == 2
    assert says in failed.stderr
    assert failed.stderr.count("\n") == 1


def test_settings_of_other_verbs_in_the_file_are_no_hindrance(called, tmp_path: Path) -> None:
    (tmp_path / "seal.toml").write_text("samples = 5\n")
    assert "--limit -1: expected" in called("run", "--limit", "-1").stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--pool-sizes", "8"], "--pool-sizes is an option of 'seal sweep'"),
        (["--no-nested"], "--no-nested is an option of 'seal sweep'"),
        (["--top-k", "1,5"], "'1,5': expected a whole number; 'seal sweep' takes several"),
    ],
)
def test_a_run_says_which_verb_plays_several(called, words: list[str], says: str) -> None:
    failed = called("run", "sample", *words)
    assert failed.returncode == 2
    assert says in failed.stderr
    assert failed.stderr.count("\n") == 1


@pytest.mark.slow
def test_an_interrupted_sweep_says_how_to_go_on(seal, interrupted, tmp_path: Path) -> None:
    words = ("sweep", "sample", *SHORT, "--workers", "1")
    resumed = seal(*interrupted(*words, chat="runs/*/size-*/sample-*/run/live/*"))
    assert resumed.returncode == 0, resumed.stderr
    (content,) = tmp_path.glob("runs/*/sweep.json")
    assert len(json.loads(content.read_bytes())["rows"]) == 4
