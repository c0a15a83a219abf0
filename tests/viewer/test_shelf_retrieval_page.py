"""The page of an experiment in retrieval, of damaged files too."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from markupsafe import Markup

import seal
from seal.core import DataError
from seal.report.pages import linked
from seal.report.retrieval import experiment_page
from seal.viewer.shelf import Shelf


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("found") / "experiment"
    seal.retrieve("sample", ["tfidf", "oracle"], k=1, limit=12, cache="off", out=folder)
    return folder


@pytest.fixture
def folder(found: Path, tmp_path: Path) -> Path:
    """A copy of the experiment."""
    return shutil.copytree(found, tmp_path / "experiment")


def page_of(folder: Path) -> str:
    return experiment_page(
        "one", Shelf([folder.parent]).experiment("experiment"), **linked("/"), home="/"
    )


def test_the_page_tells_which_queries_failed_and_which_tools_were_lost(folder: Path) -> None:
    place = folder / "sample-tfidf"
    needs: dict[str, set[str]] = {}
    for line in (place / "qrels.trec").read_text().splitlines():
        query, _, tool, _ = line.split()
        needs.setdefault(query, set()).add(tool)
    first = {}
    for line in (place / "rankings.jsonl").read_text().splitlines():
        ranking = json.loads(line)
        first[f"{ranking['task_id']}:{ranking['goal']}"] = ranking["hits"][0][0]
    failed = [query for query, tools in needs.items() if first[query] not in tools]
    lost = Counter(tool for query, tools in needs.items() for tool in tools - {first[query]})
    assert failed, "the test needs a query that fails"

    page = page_of(folder)

    words = " ".join(re.sub(r"<[^>]*>", " ", page).split())
    assert f"sample, tfidf: {len(failed)} of {len(needs)}" in words
    assert f"sample, oracle: 0 of {len(needs)}" in words
    assert page.count('<small>found by</small> <span dir="auto">oracle</span>') == len(failed)
    assert f"finds tfidf loses oracle loses tfidf 0 0 oracle {len(failed)} 0" in words
    by_oracle = Counter(tool for tools in needs.values() for tool in tools if tools != {tool})
    for tool in lost.keys() - by_oracle.keys():
        needing = sum(tool in tools for tools in needs.values())
        assert f"{tool} {needing} {lost[tool]} 0" in words


def test_failed_queries_that_another_retriever_finds_come_first(folder: Path) -> None:
    oracle = folder / "sample-oracle" / "rankings.jsonl"
    *others, last = oracle.read_text().splitlines()
    empty = [json.dumps({**json.loads(line), "hits": []}) for line in (*others, last)]
    tfidf = folder / "sample-tfidf" / "rankings.jsonl"
    tfidf.write_text("".join(f"{line}\n" for line in empty))
    oracle.write_text("".join(f"{line}\n" for line in (*empty[:-1], last)))

    fold = page_of(folder).partition("<summary")[2].partition("</details>")[0]

    found = [item for item in fold.split("<li>") if "found by" in item]
    assert found == fold.split("<li>")[1:2]
    assert json.loads(last)["query"] in Markup(found[0]).unescape()


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
