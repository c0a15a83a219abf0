"""Results as pandas frames."""

from pathlib import Path

import pandas
import pytest

import seal
from seal.api.experiment_results import Retrieval
from seal.core import DataError


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def out(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of an experiment."""
    folder = tmp_path_factory.mktemp("found") / "out"
    settings = {"pool_sizes": (20, "all"), "samples": 2, "limit": 20, "cache_dir": cache}
    seal.retrieve("sample", ["tfidf", "dense,model=openai/m"], (1, 5), out=folder, **settings)
    return folder


def test_an_experiment_is_one_figure_a_row(out: Path) -> None:
    frame = Retrieval.load(out).frame

    whole = frame[frame["sample"].isna() & (frame["retriever"] == "tfidf")]
    assert len(whole) == 2 * 16  # pool sizes, and eight metrics at two cut-offs
    assert len(frame[frame["sample"].notna()]) == 2 * 16
    assert set(whole["size"]) == {"20", "all"}
    recall = whole[whole["metric"] == "recall@5"].set_index("size")["value"]
    assert 0 < recall["all"] < recall["20"] <= 1
    failed = frame[frame["unavailable"].notna()]
    assert len(failed) == 2
    assert failed["value"].isna().all()


def test_the_files_hold_the_same_figures(out: Path) -> None:
    frame = Retrieval.load(out).frame
    written = pandas.read_csv(out / "results.csv", dtype={"size": str})

    assert list(written.columns) == list(frame.columns)
    assert written["value"].fillna(-1).tolist() == frame["value"].fillna(-1).tolist()


def test_the_result_and_its_file_give_the_same_frame(cache: Path, tmp_path: Path) -> None:
    found = seal.retrieve("sample", "tfidf", 5, limit=3, cache_dir=cache, out=tmp_path / "out")
    again = Retrieval.load(tmp_path / "out")
    pandas.testing.assert_frame_equal(found.frame, again.frame)
    assert again.results == found.results


def test_another_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"has no results\.json"):
        Retrieval.load(tmp_path)
    (tmp_path / "results.json").write_text("[]")
    with pytest.raises(DataError, match="no experiment in retrieval"):
        Retrieval.load(tmp_path)
    (tmp_path / "results.json").write_text("{")
    with pytest.raises(DataError, match="not JSON"):
        Retrieval.load(tmp_path)
