"""What SmolLM2 answered, kept in `results/smollm2`, is played again without the model."""

import shutil
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
