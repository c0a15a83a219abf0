"""Figures of experiments in retrieval."""

from copy import deepcopy
from pathlib import Path

import pytest

import seal
from seal.api.experiment_results import Retrieval
from seal.core import MissingExtraError
from seal.report import frames
from seal.report.experiments import write_retrieval_figures
from seal.report.figures import save
from seal.report.retrieval import retrieval_figures


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """An experiment over the sample, two sizes and two retrievers, of which one has a long name."""
    settings = {"pool_sizes": (20, "all"), "samples": 2, "limit": 20}
    cache = tmp_path_factory.mktemp("cache")
    retrievers = ["tfidf", "tfidf,template=seal.retrievers.base:name_description"]
    return seal.retrieve("sample", retrievers, (1, 5), cache_dir=cache, **settings).content


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "figures").iterdir())}


@pytest.mark.slow
def test_equal_results_give_equal_bytes(found: dict, tmp_path: Path) -> None:
    save(retrieval_figures(found), tmp_path / "a")
    save(retrieval_figures(deepcopy(found)), tmp_path / "b")

    first = files(tmp_path / "a")
    assert first == files(tmp_path / "b")
    assert list(first) == [
        f"recall_over_{what}.{kind}"
        for what in ("k", "pool_size", "pools")
        for kind in ("png", "svg")
    ]
    assert all(b"<svg" in first[name] for name in first if name.endswith("svg"))
    assert not any(b"dc:date" in content for content in first.values())


def test_one_size_and_one_cutoff_leave_one_figure(found: dict, tmp_path: Path) -> None:
    alone = deepcopy(found)
    alone["protocol"]["k"] = [5]
    alone["results"] = [entry for entry in alone["results"] if entry["size"] == "all"]
    drawn = save(retrieval_figures(alone), tmp_path)
    assert {path.stem for path in drawn} == {"recall_over_pools"}


@pytest.mark.slow
def test_who_could_not_be_asked_is_marked(found: dict, tmp_path: Path) -> None:
    failed = deepcopy(found)
    for entry in failed["results"]:
        if entry["retriever"] != "tfidf":
            entry.update(unavailable="no key", metrics={}, by_sample=[])
    save(retrieval_figures(failed), tmp_path)
    bars = files(tmp_path)["recall_over_pools.svg"]
    assert b"n/a" in bars
    assert b"#d55e00" in bars  # in the legend alone
    assert b"Error bars: 95 % interval over tasks." in bars
    assert b"on sample: no key" in bars
    assert b"one standard deviation" in files(tmp_path)["recall_over_pool_size.svg"]
    assert b"n/a" not in drawn_anew(found, tmp_path / "whole")


def drawn_anew(found: dict, folder: Path) -> bytes:
    save(retrieval_figures(found), folder)
    return files(folder)["recall_over_pools.svg"]


def test_nothing_to_draw_is_drawn_as_nothing(found: dict, tmp_path: Path) -> None:
    empty = deepcopy(found)
    for entry in empty["results"]:
        entry.update(unavailable="no key", metrics={}, by_sample=[])
    assert len(save(retrieval_figures(empty), tmp_path)) == 6


def test_without_the_extra_the_rest_is_kept_and_told(
    found: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(package: str) -> None:
        return None

    monkeypatch.setattr(frames, "find_spec", find)
    notes = write_retrieval_figures(found, tmp_path)

    assert len(notes) == 1
    assert all('pip install "seal-api-llms[experiments]"' in note for note in notes)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(MissingExtraError, match="pandas"):
        _ = Retrieval(found).frame
