"""Retrieval alone, over one or more pools."""

from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from small_pools import TOOLS, many, weather_goal, write_pool

import seal
from seal.core.errors import UnknownNameError, UsageError
from seal.core.records import read_records
from seal.core.types import Ranking, Task
from seal.pipeline.retrieve import retrieve


class First:
    """Ranks tools by id alone."""

    def __init__(self, pool):
        self._ids = sorted(tool.id for tool in pool.tools)

    def retrieve(self, queries, k):
        return [[(tool, 1.0 - n / 10) for n, tool in enumerate(self._ids[:k])] for _ in queries]


def test_every_retriever_meets_every_pool(pool: Path):
    found = seal.retrieve([pool, "sample"], ["oracle", First], k=(1, 3), limit=3)["results"]

    assert [(r["pool"], r["retriever"]) for r in found] == [
        ("pool", "oracle"),
        ("pool", "test_pipeline_retrieve:First"),
        ("sample", "oracle"),
        ("sample", "test_pipeline_retrieve:First"),
    ]
    assert found[0]["metrics"]["recall@1"]["mean"] == 1.0
    assert found[1]["metrics"]["recall@1"]["mean"] == 0.0  # convert, news, weather
    assert found[1]["metrics"]["recall@3"]["mean"] == 1.0
    assert found[1]["metrics"]["mrr@3"]["mean"] == pytest.approx(1 / 3, abs=1e-6)
    assert (found[0]["tools"], found[0]["queries"]) == (3, 3)


def test_more_than_the_pool_holds_ranks_all_of_it(pool: Path, tmp_path: Path):
    retrieve([pool], ["tfidf"], k=(1, 500), out=tmp_path / "out")

    rankings = list(read_records(tmp_path / "out" / "pool-tfidf" / "rankings.jsonl", Ranking))
    assert len(rankings) == 4
    assert all(len(ranking.hits) == len(TOOLS) for ranking in rankings)


def test_files_can_be_read_by_other_tools(pool: Path, tmp_path: Path):
    retrieve([pool], ["oracle"], out=tmp_path)

    folder = tmp_path / "pool-oracle"
    assert {path.name for path in folder.iterdir()} == {
        "rankings.jsonl",
        "run.trec",
        "qrels.trec",
        "summary.json",
    }
    assert len((folder / "run.trec").read_text().splitlines()) == 4 * len(TOOLS)
    assert orjson.loads((folder / "summary.json").read_bytes())["retriever"] == "oracle"


def test_pools_of_one_name_keep_their_files_apart(tmp_path: Path):
    pools = [write_pool(tmp_path / side / "same", many(n)) for n, side in ((1, "a"), (2, "b"))]
    retrieve(pools, ["tfidf"], out=tmp_path / "out")

    found = {path.name: len((path / "rankings.jsonl").read_bytes().splitlines()) for path in
             (tmp_path / "out").iterdir()}  # fmt: skip
    assert found == {"same-tfidf": 1, "same-tfidf-2": 2}


def test_goals_without_relevant_tools_count_as_undefined(tmp_path: Path):
    goals = (weather_goal("Rome"), replace(weather_goal("Oslo"), relevant=()))
    pool = write_pool(tmp_path / "pool", [Task("t", "b", goals)])
    (found,) = retrieve([pool], ["oracle"], k=(1,))["results"]

    assert found["queries"] == 2
    assert (found["metrics"]["recall@1"]["n"], found["metrics"]["recall@1"]["mean"]) == (1, 1.0)


def test_random_retrieval_depends_on_the_seed_alone(pool: Path, tmp_path: Path):
    def hits(seed: int, out: str) -> bytes:
        retrieve(["sample"], ["random"], seed=seed, out=tmp_path / out, limit=5)
        return (tmp_path / out / "sample-random" / "rankings.jsonl").read_bytes()

    assert hits(1, "a") == hits(1, "b") != hits(2, "c")


def test_what_cannot_be_ranked_says_why(pool: Path):
    for words in (
        [[], ["tfidf"]],
        [[pool], []],
        [[pool], ["tfidf"], ()],
        [[pool], ["tfidf"], (0,)],
    ):
        with pytest.raises(UsageError, match="needs a pool, a retriever and cut-offs"):
            retrieve(*words)
    with pytest.raises(UnknownNameError, match="Did you mean 'tfidf'"):
        retrieve([pool], ["tfdif"])
    with pytest.raises(UsageError, match="group: one"):
        retrieve([pool], ["tfidf"], select={"group": "two"})


def test_an_option_may_be_meant_for_one_of_several_retrievers(pool: Path):
    options = {"template": "name"}
    assert seal.retrieve([pool], ["oracle", "tfidf"], k=(1,), options=options)["results"]
    with pytest.raises(UnknownNameError, match="no option -R of oracle 'foo'"):
        seal.retrieve([pool], ["oracle", "tfidf"], k=(1,), options={"foo": 1})
