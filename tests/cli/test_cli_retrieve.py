"""`seal retrieve`: rankings and their scores without a chat."""

import json
from pathlib import Path

import pytest


def test_the_sample_is_ranked_and_scored(seal, tmp_path: Path) -> None:
    words = ("retrieve", "sample", "--retriever", "oracle", "--retriever", "tfidf", "-k", "1,5")
    done = seal(*words, "--out", "r", "--json")
    assert done.returncode == 0, done.stderr
    oracle, tfidf = json.loads(done.stdout)["results"]
    assert oracle["retriever"] == "oracle"
    assert oracle["metrics"]["recall@5"]["mean"] == 1.0
    assert 0 < tfidf["metrics"]["recall@1"]["mean"] < 1
    assert sorted(path.name for path in (tmp_path / "r").iterdir()) == [
        "sample-oracle",
        "sample-tfidf",
    ]


def test_the_table_names_pool_retriever_and_cutoffs(seal) -> None:
    shown = seal("retrieve", "sample", "--limit", "3").stdout
    for word in ("sample", "tfidf", "recall@1", "recall@10", "mrr@10"):
        assert word in shown


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nothing-here"], "nothing-here"),
        (["sample", "--retriever", "tfdif"], "Did you mean 'tfidf'?"),
        (["sample", "-k", "0"], "expected whole numbers above 0"),
    ],
)
def test_what_cannot_be_ranked_is_one_clear_line(seal, words: list[str], says: str) -> None:
    failed = seal("retrieve", *words)
    assert failed.returncode == 2
    assert says in failed.stderr
    assert failed.stderr.count("\n") == 1
