"""The page of an experiment in retrieval, of damaged files too."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import seal
from seal.core import DataError
from seal.report.pages import linked
from seal.report.retrieval import experiment_page
from seal.viewer.shelf import Shelf


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("found") / "experiment"
    seal.retrieve("sample", ["tfidf"], k=1, limit=6, cache="off", out=folder)
    return folder


@pytest.fixture
def folder(found: Path, tmp_path: Path) -> Path:
    """A copy of the experiment."""
    return shutil.copytree(found, tmp_path / "experiment")


def page_of(folder: Path) -> str:
    return experiment_page(
        "one", Shelf([folder.parent]).experiment("experiment"), **linked("/"), home="/"
    )


def test_the_page_tells_which_queries_failed(folder: Path) -> None:
    assert "tfidf" in page_of(folder)


@pytest.mark.parametrize("part", ["protocol", "results", "pools"])
def test_damaged_results_are_told_with_their_file(folder: Path, part: str) -> None:
    file = folder / "results.json"
    told = json.loads(file.read_bytes())
    for damaged in ({**told, part: [{}]}, {name: told[name] for name in told if name != part}):
        file.write_text(json.dumps(damaged))
        with pytest.raises(DataError, match=r"results\.json"):
            page_of(folder)


def test_a_malformed_line_of_relevant_tools_is_told_with_its_place(folder: Path) -> None:
    file = next(folder.glob("*/qrels.trec"))
    file.write_text(file.read_text() + "oops\n")

    with pytest.raises(DataError, match=r"qrels\.trec, line \d+: expected query"):
        page_of(folder)
