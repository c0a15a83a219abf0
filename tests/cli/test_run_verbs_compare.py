"""`seal compare`: its words, its output, and what it refuses."""

import json
from pathlib import Path

import pytest
from servers import ModelServer, failure

import seal
from seal.core import write_records

RUN = ("run", "sample", "--limit", "2", "--no-baselines", "--workers", "1")


@pytest.fixture
def small(tmp_path: Path) -> tuple[str, ...]:
    """Write what a comparison reads of two runs, of one task each."""
    for name in ("one", "other"):
        folder = tmp_path / name
        folder.mkdir()
        measure = {"max_turns": len(name)}
        (folder / "run.json").write_text(json.dumps({"measure": measure, "system": {}}))
        (folder / "summary.json").write_text('{"metrics": {}}')
        write_records(folder / "scores.jsonl", [seal.Score("t", 0, 0, "pass_rate", 1.0)])
        write_records(folder / "tasks.jsonl", [seal.Task("t", "b", (seal.Goal("Do it"),))])
    return ("one", "other")


def test_two_runs_end_with_tables_and_files(called, tmp_path: Path) -> None:
    runs = ("one", "other")
    assert called(*RUN, "--trials", "2", "--out", "other").returncode == 0
    assert called(*RUN, "--out", "one").returncode == 0
    done = called("compare", *runs, "--out", "d")
    assert done.returncode == 0, done.stderr
    for text in ("other minus one", "p (Holm)", "detectable", "pass_rate: ", "comparison: d"):
        assert text in done.stdout
    matched = "matched: 2 tasks, 4 chats of other and 2 of one; their trials differ"
    assert matched in done.stdout
    told = called("compare", *runs, "--json")
    content = json.loads(told.stdout)
    assert content == json.loads((tmp_path / "d" / "comparison.json").read_bytes())
    kept = [entry["metric"] for entry in content["comparisons"]]
    assert len(kept) > 20
    places = [tmp_path / name for name in runs]
    again = seal.compare(places, out=tmp_path / "e").content
    assert again["comparisons"] == content["comparisons"]
    assert (tmp_path / "e" / "comparison.html").is_file()
    opened = seal.compare(*map(seal.Run.load, places), metrics=["calls"])
    assert [entry.metric for entry in opened.comparisons] == ["calls"]


def test_a_judge_whose_server_fails_exits_with_1(called, seal) -> None:
    for name, model in (("one", "lexical"), ("other", "random")):
        assert called(*RUN, "--model", model, "--out", name).returncode == 0
    with ModelServer(lambda request: failure(500)) as down:
        words = ("--judge-model", "openai/j", "--base-url", down.url, "-M", "max_tries=1")
        done = seal("compare", "one", "other", "--win-rate", *words, "--json")
    (pair,) = json.loads(done.stdout)["pairs"]
    assert pair["win_rate"]["by"]["error"] > 0
    assert done.returncode == 1


def test_other_measures_need_force_which_says_what_differs(small, called) -> None:
    refused = called("compare", *small)
    assert refused.returncode == 2
    assert "max_turns is 3 and 5" in refused.stderr and "--force" in refused.stderr
    done = called("compare", *small, "--force")
    assert done.returncode == 0, done.stderr
    assert "compared all the same: one and other measure otherwise: max_turns" in done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nowhere", "one"], "nowhere is no run folder"),
        (["one"], "at least two runs, got one"),
        (["one", "one"], "one stands there twice"),
        (["one", "other", "--metric", "pas_rate"], "Did you mean 'pass_rate'?"),
        (["one", "other", "--success", "nothing"], "no metric of these runs 'nothing'"),
        (["one", "other", "--pairs", "some"], "'some' is not one of 'first', 'all'"),
        (["one", "other", "--judge-model", "lexical"], "a comparison asks a judge"),
        (["one", "other", "--votes", "2"], "add --win-rate"),
        (["one", "other", "--resamples", "0"], "greater than or equal to 1"),
        (["one", "other", "--out", "one"], "holds something else than a comparison"),
    ],
)
def test_what_cannot_be_compared_is_one_clear_line(
    called, small, words: list[str], says: str
) -> None:
    failed = called("compare", *words, "--force")
    assert failed.returncode == 2
    assert says in failed.stderr
    assert failed.stderr.count("\n") == 1


def test_former_options_say_what_replaces_them(called, small) -> None:
    refused = called("compare", *small, "--preferences", "p.json")
    assert refused.returncode == 2 and "--preferences is gone: --win-rate asks" in refused.stderr


def test_runs_without_chats_are_compared_and_it_is_said(called, small, tmp_path: Path) -> None:
    write_records(tmp_path / "one" / "trajectories.jsonl", [])
    done = called("compare", *small, "--force", "--out", "d")
    assert done.returncode == 0, done.stderr
    note = "no trajectories.jsonl in other: the steps in which chats part are not told"
    told = json.loads((tmp_path / "d" / "comparison.json").read_bytes())["notes"]
    assert [text for text in told if text.startswith(note)] == told[-1:]
    assert done.stdout.count("no trajectories.jsonl") == 1


def test_a_report_of_several_runs_replaces_none_of_theirs(called, small, tmp_path: Path) -> None:
    assert "report: report.html" in called("report", "one", "other").stdout
    assert "other" in (tmp_path / "report.html").read_text()
    assert not (tmp_path / "one" / "report.html").exists()


@pytest.mark.parametrize("name", ["scores.jsonl", "trajectories.jsonl"])
def test_a_report_says_which_file_of_its_run_is_gone(
    called, small, tmp_path: Path, name: str
) -> None:
    write_records(tmp_path / "one" / "trajectories.jsonl", [])
    assert "has no" not in called("report", "one").stderr
    (tmp_path / "one" / name).unlink()
    done = called("report", "one")
    assert done.returncode == 0, done.stderr
    assert f"one has no {name}: " in done.stderr and done.stderr.count("\n") == 1
    assert f"one has no {name}: " in (tmp_path / "one" / "report.html").read_text()


@pytest.mark.parametrize(
    ("file", "verbs"),
    [
        ("summary.json", ("report",)),
        ("run.json", ("report", "explain", "score")),
    ],
)
def test_a_file_of_another_kind_is_named_by_every_verb(
    called, small, tmp_path: Path, file: str, verbs: tuple[str, ...]
) -> None:
    write_records(tmp_path / "other" / "trajectories.jsonl", [])
    write_records(tmp_path / "other" / "tools.jsonl", [])
    (tmp_path / "other" / file).write_text("[1]")
    for words in (("compare", *small, "--force"), *((verb, "other") for verb in verbs)):
        failed = called(*words)
        assert failed.returncode == 2, words
        assert f"other/{file}: expected an object, got list" in failed.stderr
        assert failed.stderr.count("\n") == 1
