"""What `seal retrieve` does with what cannot be: models, vectors, stores, cut-offs, odd queries."""

import json
import re
from pathlib import Path

import pytest

from seal.core import Goal, Task, Tool, write_records

PLUGINS = """
import os
import numpy as np

class Letters:
    def __init__(self, options):
        pass
    def embed(self, texts):
        rows = [[text.lower().count(letter) + 1 for letter in "aeinorst"] for text in texts]
        return np.array(rows, dtype=np.float32)

class Kept(Letters):
    identity = "letters"

class NotANumber(Letters):
    def embed(self, texts):
        return super().embed(texts) * np.nan

class Shorter(Letters):
    def embed_queries(self, texts):
        return super().embed(texts)[:, :5]

class Ragged(Letters):
    def embed(self, texts):
        return [[1.0] * (3 + n % 2) for n, _ in enumerate(texts)]

class NoOptions:
    def embed(self, texts):
        return []

class Store:
    def add(self, vectors):
        self.vectors = vectors
    def search(self, query, k):
        if os.path.exists("down") and len(self.vectors) > 30:
            raise ConnectionError("the store is down")
        return np.argsort(-(self.vectors @ query))[:k]
"""

UNAVAILABLE = {
    "dense,model=openai/m": "no key and no server; set OPENAI_API_KEY, or name a server",
    "dense,model=bad:NotANumber": "row 0 of 65 holds NaN or an infinite number; its text is",
    "dense,model=bad:Shorter": "queries have 5 dimensions, the tools 8: one model must embed all",
    "dense,model=bad:Ragged": "expected 65 rows of numbers, all of one length",
    "trec,file=none.run": "the TREC run none.run cannot be read: No such file or directory",
}
"""Retriever to why it is told that it cannot be asked."""


@pytest.fixture
def plugins(tmp_path: Path) -> Path:
    """The folder in which commands run, with a module of embedders and stores."""
    (tmp_path / "bad.py").write_text(PLUGINS)
    return tmp_path


def test_retrievers_that_cannot_be_asked_say_why_and_cost_the_others_nothing(
    seal, plugins: Path
) -> None:
    asked = [word for name in ("tfidf", *UNAVAILABLE) for word in ("--retriever", name)]
    done = seal("retrieve", "sample", "--first", "3", *asked, "--json")
    assert done.returncode == 1, done.stderr
    found = {entry["retriever"]: entry for entry in json.loads(done.stdout)["results"]}
    assert found["tfidf"]["metrics"]["recall@10"]["mean"] > 0
    for name, reason in UNAVAILABLE.items():
        assert reason in found[name]["unavailable"]
        assert found[name]["metrics"] == {}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--retriever", "tfid"), "no retriever 'tfid'; known: .*Did you mean 'tfidf'"),
        (
            ("--retriever", "dense,model=bad:NoOptions"),
            "NoOptions is no embedder: expected",
        ),
        (("--cutoffs", "0"), "--cutoffs '0': expected whole numbers above 0"),
        (("--cutoffs", "5,-1"), "--cutoffs '5,-1': expected whole numbers above 0"),
    ],
)
def test_what_nothing_can_be_made_of_ends_the_command(seal, plugins: Path, words, told) -> None:
    done = seal("retrieve", "sample", *words)
    assert done.returncode == 2
    assert re.search(told, done.stderr)


def test_odd_queries_and_tools_of_one_text_are_ranked_and_cut_offs_may_exceed_the_pool(
    seal, tmp_path: Path
) -> None:
    ids = ("toy/a/one", "toy/b/one", "toy/c/rain")
    texts = ("Send money.", "Send money.", "Rain today.")
    tools = [Tool(name, name[-4:], text) for name, text in zip(ids, texts, strict=True)]
    asked = {"": ids[0], "rain " * 20_000: ids[2], "send money": ids[1]}
    goals = [Goal(text, relevant=(tool,)) for text, tool in asked.items()]
    write_records(tmp_path / "P" / "tools.jsonl", tools)
    tasks = [Task(f"t{n}", "toy", (goal,)) for n, goal in enumerate(goals)]
    write_records(tmp_path / "P" / "tasks.jsonl", tasks)
    done = seal("retrieve", "P", "--retriever", "bm25", "--cutoffs", "1,2,50", "--json")
    assert done.returncode == 0, done.stderr
    (entry,) = json.loads(done.stdout)["results"]
    assert [entry["metrics"][f"recall@{k}"]["mean"] for k in (1, 2, 50)] == [
        pytest.approx(1 / 3),  # of two tools with one text the first id stands first
        pytest.approx(2 / 3),  # a query without text finds none
        pytest.approx(2 / 3),
    ]


def test_an_index_of_another_version_is_built_again(seal, plugins: Path) -> None:
    words = ("retrieve", "sample", "--retriever", "dense,model=bad:Kept", "--first", "5")
    words = (*words, "--cache-dir", "kept", "--json")
    first = seal(*words)
    (index,) = (plugins / "kept" / "indexes").glob("*.index")
    index.write_bytes(index.read_bytes().replace(b"seal-arrays/", b"seal-arrays/0", 1))
    again = seal(*words)
    assert "do not have the digest at its end" in again.stderr
    assert "it is built again" in again.stderr
    assert json.loads(again.stdout) == json.loads(first.stdout)


@pytest.mark.slow
def test_an_experiment_goes_on_when_a_store_is_up_again(seal, plugins: Path) -> None:
    own = "dense,model=bad:Letters,index=bad:Store"
    words = ("retrieve", "sample", "--retriever", "bm25", "--retriever", own)
    words = (*words, "--pool-sizes", "20,all", "--samples", "1", "--json")
    whole = json.loads(seal(*words, "--out", "whole").stdout)
    (plugins / "down").touch()
    broken = seal(*words, "--out", "out")
    assert broken.returncode == 1
    reasons = [entry.get("unavailable", "") for entry in json.loads(broken.stdout)["results"]]
    assert [reason.partition(" (")[0] for reason in reasons] == [
        "",
        "",
        "",
        "ConnectionError: the store is down",
    ]
    (plugins / "down").unlink()
    resumed = seal(*words, "--out", "out", "--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert json.loads(resumed.stdout)["results"] == whole["results"]
