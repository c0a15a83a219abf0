"""Retrievers that ask language models: their answers are kept and counted."""

import re
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from servers import failure, text
from small_pools import TOOLS, many, write_pool

import seal
from seal.core import UsageError


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    found = [replace(tool, description=f"{tool.description} Of the weather.") for tool in TOOLS]
    return write_pool(tmp_path / "pool", many(6), found)


def turned_round(request):
    """Answer as a model that turns the list round."""
    asked = request.body["messages"][-1]["content"]
    numbers = re.findall(r"^\[(\d+)\]", asked, re.MULTILINE)
    return text(" > ".join(f"[{number}]" for number in reversed(numbers)))


def spec(server, kind="listwise,of=bm25"):
    return f'{kind},model="openai/m,base_url={server.url}"'


def test_answers_are_kept_and_play_without_the_server(pool, tmp_path, model_server):
    server = model_server(turned_round)
    asked = {"k": 1, "cache_dir": tmp_path / "cache"}
    retrievers = ["bm25", spec(server)]

    first = seal.retrieve(pool, retrievers, **asked).content["results"]
    requests = len(server.received)
    again = seal.retrieve(pool, retrievers, cache="replay", **asked).content["results"]

    assert 0 < requests <= 6  # equal texts are asked once
    assert len(server.received) == requests
    assert again == first
    assert [entry["metrics"]["recall@1"]["mean"] for entry in first] == [1, 0]


def test_an_experiment_goes_on_when_the_server_is_up_again(pool, tmp_path, model_server):
    down = [True]
    server = model_server(lambda request: failure(400) if down[0] else turned_round(request))
    asked = {"k": 1, "out": tmp_path / "out", "cache_dir": tmp_path / "cache"}
    retrievers = ["bm25", spec(server)]

    broken = seal.retrieve(pool, retrievers, **asked).content["results"]
    down[0] = False
    whole = seal.retrieve(pool, retrievers, resume=True, **asked).content["results"]

    assert "unavailable" in broken[1]
    assert whole[0] == broken[0]
    assert whole[1]["metrics"]["recall@1"]["mean"] == 0
    assert seal.retrieve(pool, retrievers, resume=True, **asked).content["results"] == whole
    assert not (tmp_path / "out" / "measured.jsonl").exists()


def test_a_run_counts_what_its_retriever_asks(pool, tmp_path, model_server):
    server = model_server(turned_round)
    run = seal.run(
        pool, retriever=spec(server), out=tmp_path / "run", top_k=1, limit=2, baselines=False
    )

    lines = (tmp_path / "run" / "timings.jsonl").read_bytes().splitlines()
    booked = [row for line in lines for row in orjson.loads(line).get("asked", ())]
    assert not any(chat.failed for chat in run.folder.trajectories())
    mine = [row["requests"] for row in booked if row["role"] == "retriever"]
    assert sum(mine) == len(server.received) > 0


def test_dollars_of_a_retrievers_model_need_a_price(pool, tmp_path, model_server):
    server = model_server(turned_round)
    with pytest.raises(UsageError, match="no price of 'openai/m"):
        seal.run(pool, retriever=spec(server), out=tmp_path / "run", max_dollars=1.0)


@pytest.mark.parametrize("model", ["oracle", "lexical"])
def test_a_model_that_plays_tasks_ranks_nothing(pool, model):
    found = seal.retrieve(pool, f"rewrite,of=bm25,model={model}", k=1).content["results"]

    assert "plays tasks and cannot be the retriever's model" in found[0]["unavailable"]


def test_a_run_knows_no_such_model(pool, tmp_path):
    with pytest.raises(UsageError, match="no model 'nonsense'"):
        seal.run(pool, retriever="expand,of=bm25,model=nonsense", out=tmp_path / "run")


def test_what_a_query_costs_stands_in_the_table_whether_answers_are_kept_or_not(
    pool, tmp_path, model_server
):
    server = model_server(turned_round)  # 11 tokens in and 7 out an answer
    prices = {"date": "2026-03-01", "models": {"openai/m": {"in": 1e6, "out": 2e6}}}
    (tmp_path / "prices.json").write_bytes(orjson.dumps(prices))
    asked = {"k": 1, "cache_dir": tmp_path / "cache", "prices": tmp_path / "prices.json"}
    retrievers = ["bm25", spec(server), spec(server, "expand,of=bm25")]

    def costs(found):
        return [entry.dollars_a_query for entry in found.results]

    first = seal.retrieve(pool, retrievers, **asked, out=tmp_path / "out")
    again = seal.retrieve(pool, retrievers, **asked)
    unpriced = seal.retrieve(pool, retrievers, **{**asked, "prices": None})

    assert costs(first) == [None, 11 * 1 + 7 * 2, None]  # expand asks for each tool, once
    assert costs(again) == costs(first)
    assert costs(unpriced) == [None] * 3
    cells = [re.split(r"[│┃]", line) for line in first.table().splitlines() if "│" in line]
    assert [row[-2].strip() for row in cells[:3]] == ["-", "25", "-"]
    assert "$ a query" in first.table()
    assert "$ a query" not in unpriced.table()
