"""`seal ablate`: its words, its output, and how an interrupted one goes on."""

import json
from pathlib import Path

import pytest

FEW = ("toolscan-sample", "--first", "3", "--workers", "1")


def test_an_ablation_ends_with_a_table_and_is_resumed(called, tmp_path: Path) -> None:
    words = ("ablate", "feedback", *FEW, "-M", "slips=1", "--out", "d")
    done = called(*words)
    assert done.returncode == 0, done.stderr
    for text in ("on minus off", "p (Holm)", "all_gold_calls", "ablation: d"):
        assert text in done.stdout
    kept = (tmp_path / "d" / "comparison.json").read_bytes()
    assert "add --resume" in called(*words).stderr
    again = called(*words, "--resume", "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout) == {"ablation": "d", **json.loads(kept)}
    assert not list(tmp_path.glob("d/*/floor"))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["feedback", "--feedback", "on"], "seal run --feedback on"),
        (["format", "--format", "json"], "--format is what the ablation format varies"),
        (
            ["react", "--role", "execution_manager=react"],
            "the role execution_manager is what the ablation react varies",
        ),
        (["tools", "--tools", "created"], "--tools is now -T tools=created"),
        (
            ["tools", "-T", "tools=created", "dialogtool-sample"],
            "-T tools is what the ablation tools varies",
        ),
        (["retriever", "--retriever", "bm25"], "needs at least two, got bm25"),
        (
            ["react", "--retriever", "bm25", "--retriever", "tfidf"],
            "seal ablate retriever --retriever A",
        ),
        (["irrelevance"], "no selected task with the tag 'irrelevance'"),
        (["feedbak"], "no ablation 'feedbak'; known: feedback, format"),
        (["react", "-M", "slips=2"], "-M slips=2: expected a number from 0 to 1"),
        (["react", "--model", "oracle", "-M", "slips=0.5"], "no option -M of oracle 'slips'"),
        (["react", "--resume"], "--resume needs the folder of the ablation: give --out DIR"),
        (["react", "--samples", "2"], "No such option: --samples is an option of 'seal sweep'"),
    ],
)
def test_what_cannot_be_ablated_is_one_clear_line(called, words: list[str], says: str) -> None:
    failed = called("ablate", *words)
    assert failed.returncode == 2
    assert says in failed.stderr
    assert failed.stderr.count("\n") == 1


def test_a_setting_in_the_file_gives_way_to_the_conditions(called, tmp_path: Path) -> None:
    (tmp_path / "seal.toml").write_text('feedback = "on"\nlimit = 1\n')
    done = called("ablate", "feedback", "--out", "d", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["protocol"]["pool"] == "sample"
    assert [row["tasks"] for row in told["runs"]] == [1, 1]


@pytest.mark.slow
def test_an_interrupted_ablation_says_how_to_go_on(seal, interrupted, tmp_path: Path) -> None:
    resumed = seal(*interrupted("ablate", "react", *FEW, chat="runs/*/react/live/*"))
    assert resumed.returncode == 0, resumed.stderr
    (content,) = tmp_path.glob("runs/*/comparison.json")
    assert len(json.loads(content.read_bytes())["runs"]) == 2
