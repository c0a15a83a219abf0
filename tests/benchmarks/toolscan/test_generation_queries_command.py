"""`seal generate queries`, by a model that is a class of the tests."""

import json
from pathlib import Path

import pytest
from query_pools import write_pool

from seal.cli.dispatch import main


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    """Run the command in a folder with a pool; gives exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    write_pool(tmp_path / "boats", 2)

    def call(*words: object) -> tuple[int, str, str]:
        tools = () if "--tools" in words else ("--tools", "boats")
        model = () if "--model" in words else ("--model", "query_writer:QueryWriter")
        code = main(["generate", "queries", *tools, *model, "--out", "pool", *map(str, words)])
        told = capsys.readouterr()
        return code, told.out, told.err

    return call


def test_counts_are_told(run):
    code, out, _ = run("--kinds", "paraphrase,irrelevance", "--review", "review.csv")
    assert code == 0
    assert "kept: 4\nseed_tasks: 2\n" in out
    assert "written to pool; play it: seal run pool" in out
    assert Path("review.csv").is_file()


def test_json_holds_the_report_alone(run):
    code, out, _ = run("--json")
    report = json.loads(out)
    counts = report["generation"]
    assert (code, counts["kept"] + counts["seed_tasks"]) == (0, report["tasks"])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--kinds", "paraphase"), "Did you mean 'paraphrase'"),
        (("--kinds", ","), "expected at least one of constraint"),
        (("--per-seed", "0"), "--per-seed 0: expected a whole number of at least 1"),
        (("--tools", "nowhere"), "nowhere"),
        (("--model", "grammar"), "name the model that writes the queries: --model PROVIDER/MODEL"),
        (("--model", "oracle"), "writes no queries: name a server's model"),
        (("--out", "other"), "--out is given twice, with two values; keep one"),
    ],
)
def test_what_cannot_be_is_said(run, words, told):
    code, _, error = run(*words)
    assert code == 2
    assert told in error
    assert not Path("pool").exists()


def test_without_a_model_one_line_says_to_name_one(run, capsys):
    for kind in ("queries", "missions"):
        assert main(["generate", kind, "--tools", "boats", "--out", "pool"]) == 2
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err == (
            f"seal: name the model that writes the {kind}: --model PROVIDER/MODEL, such as "
            "openai/NAME or local/NAME\n"
        )
        assert not Path("pool").exists()
