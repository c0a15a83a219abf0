"""What SmolLM2 answered, kept in `results/smollm2`, is played again without the model."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import seal
from seal.report.lanes import facts_of
from seal.runs.run import RunFolder

KEPT = Path(__file__).resolve().parents[1] / "results" / "smollm2"
OPTIONS = {"team": "direct", "format": "json", "top_k": 3, "retriever": "tfidf", "first": 10}


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Return a copy of the store, on a machine that has not fetched the model."""
    monkeypatch.setenv("SEAL_CACHE_DIR", str(tmp_path / "no model here"))
    return shutil.copytree(KEPT, tmp_path / "kept")


@pytest.mark.slow
def test_a_real_models_run_is_replayed_without_the_model_byte_for_byte(kept, tmp_path):
    model = seal.Model("local/smollm2", max_tokens=64, n_threads=1, cache_prompt=False)
    common = OPTIONS | {"model": model, "cache": "replay", "cache_dir": kept}
    runs = [seal.run("sample", out=tmp_path / name, **common) for name in ("first", "second")]

    first, second = ((run.folder.path / "trajectories.jsonl").read_bytes() for run in runs)
    assert first == second
    assert [run.summary["errors"] for run in runs] == [0, 0]
    for baseline in ("floor", "ceiling"):
        assert RunFolder(runs[0].folder.path / baseline).summary()["errors"] == 0
    (asked,) = runs[0].summary["usage"]["roles"]
    assert (asked["model"], asked["requests"] >= 10) == ("local/smollm2", True)
    listed = facts_of(runs[0].folder)
    assert (listed.state, listed.dollars, listed.tokens > 1000) == ("scored", 0.0, True)


def test_the_kept_answers_are_a_small_file():
    assert sum(file.stat().st_size for file in KEPT.iterdir()) < 5_000_000


@pytest.mark.slow
def test_the_answers_of_the_study_are_played_again_and_what_lacks_is_named(tmp_path):
    script = KEPT.parents[1] / "perf" / "small_models.py"
    answers = shutil.copytree(KEPT.parent / "small_models", tmp_path / "answers")

    def replayed(only, name, answers=answers):
        told = ["--only", only, "--runs", str(tmp_path / name), "--answers", str(answers)]
        return subprocess.run(
            [sys.executable, str(script), *told], capture_output=True, text=True, timeout=600
        )

    runs = [replayed("smollm2-sample-native", name) for name in ("first", "second")]
    assert [run.returncode for run in runs] == [0, 0], runs[0].stderr
    files = (tmp_path.glob(f"{name}/*/trajectories.jsonl") for name in ("first", "second"))
    first, second = (file.read_bytes() for (file,) in files)
    assert first == second
    lacking = replayed("qwen-0.5b-sample-json-top1", "third", tmp_path / "no-answers")
    assert (lacking.returncode, "add --play: qwen" in lacking.stderr) == (1, True)
