"""What a failure of retrieval costs: the tasks that it concerns, and no run."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from servers import Answer, Received, failure, openai_embeddings
from small_pools import CITIES, contents, many, play, weather_task, write_pool

from seal.core import (
    CacheMissError,
    ModelError,
    OutageError,
    Query,
    Ranking,
    RequestError,
)
from seal.runs.engine import rank_tasks

QUICK = {"max_tries": 2, "first_wait_s": 0.001, "max_wait_s": 0.01}


def queries(*texts: str) -> dict[str, list[Query]]:
    return {text: [Query(text, text, 0), Query(f"{text}!", text, 1)] for text in texts}


class Ranker:
    """Ranks nothing, and raises where a query holds a word; keeps what it was asked."""

    def __init__(self, error: BaseException, word: str = "bad") -> None:
        self.error = error
        self.word = word
        self.asked: list[int] = []

    def __call__(self, asked):
        self.asked.append(len(asked))
        if any(self.word in query.text for query in asked):
            raise self.error
        return [Ranking(query.task_id, query.goal, query.text, ()) for query in asked]


@pytest.mark.parametrize("kind", [RequestError, CacheMissError])
def test_a_text_that_is_to_blame_costs_its_task_alone(kind):
    rank = Ranker(kind("not this text"))
    found = rank_tasks(rank, queries("a", "b", "bad", "c", "d"))

    assert sorted(found.rankings) == ["a", "b", "c", "d"]
    assert found.failures == {"bad": "not this text"}
    assert [ranking.goal for ranking in found.rankings["a"]] == [0, 1]


def test_a_server_that_is_down_is_asked_once_for_all():
    rank = Ranker(ModelError("it is down"))
    found = rank_tasks(rank, queries("a", "bad", "c"))

    assert found.failures == dict.fromkeys(("a", "bad", "c"), "it is down")
    assert (found.rankings, rank.asked) == ({}, [6])


def test_a_plug_in_that_crashes_costs_its_batch_and_is_named():
    found = rank_tasks(Ranker(KeyError("city")), queries("bad"))

    assert found.failures["bad"].startswith("KeyError: 'city' (test_engine_ranking.py, line ")


class EmbeddingServer:
    """Embeds, but refuses or fails to embed queries with a word until it is mended."""

    def __init__(self, trouble: Answer, word: str) -> None:
        self.trouble = trouble
        self.word = word
        self.mended = False

    def __call__(self, request: Received) -> Answer:
        if not self.mended and any(self.word in text for text in request.body["input"]):
            return self.trouble
        return openai_embeddings(request)


def dense(server, **options):
    given = {"model": "openai/small", "base_url": server.url, **QUICK, **options}
    return {"retriever": "dense", "retriever_options": given, "model": "oracle"}


def errors(result):
    return {t.task_id: t.stops[0].error for t in result.folder.trajectories() if t.failed}


def test_a_refused_query_is_an_error_that_can_be_played_again(pool, tmp_path, model_server):
    script = EmbeddingServer(failure(400, "text too long"), "weather in Oslo")
    settings = dense(model_server(script))
    first = play(pool, tmp_path / "run", **settings)

    assert first.exit_code == 1
    assert list(errors(first)) == ["oslo-1"]
    assert "HTTP 400: text too long" in errors(first)["oslo-1"]
    assert first.summary["errors"] == 1
    scored = first.summary["metrics"]["recall@5"]
    assert (scored["mean"], scored["n"]) == (1.0, 3)

    script.mended = True
    second = play(pool, tmp_path / "run", resume=True, **settings)
    whole = play(pool, tmp_path / "whole", cache="off", **settings)
    assert (second.exit_code, errors(second)) == (0, {})
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")
    assert whole.exit_code == 0


def test_a_batch_that_fails_costs_its_tasks_and_not_the_run(tmp_path, model_server, monkeypatch):
    monkeypatch.setattr("seal.runs.play._RANKED_AT_ONCE", 2)
    pool = write_pool(tmp_path / "pool", many(6))
    server = model_server(EmbeddingServer(failure(500, "down"), "weather in Lima"))
    result = play(pool, tmp_path / "run", **dense(server))

    assert list(errors(result)) == ["bern-2", "lima-3"]
    assert all("HTTP 500: down (tried 2 times)" in text for text in errors(result).values())
    assert result.exit_code == 1


def test_tools_that_cannot_be_embedded_start_no_run(pool, tmp_path, model_server):
    server = model_server(EmbeddingServer(failure(500, "down"), "Weather of a city"))
    with pytest.raises(OutageError, match=r"no chat was played: .*HTTP 500: down"):
        play(pool, tmp_path / "run", **dense(server))
    assert not (tmp_path / "run").exists()


def test_a_retrievers_server_that_goes_down_stops_the_run(tmp_path, model_server, monkeypatch):
    monkeypatch.setattr("seal.runs.play._RANKED_AT_ONCE", 2)
    tasks = [weather_task(f"City{n:02}", n) for n in range(20)]
    pool = write_pool(tmp_path / "pool", tasks)
    script = EmbeddingServer(failure(500, "down"), "weather in City0")
    settings = dense(model_server(script))
    with pytest.raises(OutageError, match=r"no chat was played: .*HTTP 500: down"):
        play(pool, tmp_path / "run", **settings)
    script.word = "weather in City1"
    run = play(pool, tmp_path / "run", **settings)
    assert (run.exit_code, run.summary["errors"], run.summary["unfinished"]) == (3, 4, 6)
    script.mended = True
    run = play(pool, tmp_path / "run", resume=True, **settings)
    assert (run.exit_code, run.summary["errors"], run.summary["unfinished"]) == (0, 0, 0)


def test_a_run_is_replayed_without_its_server(pool, tmp_path, model_server, own_cache):
    server = model_server(openai_embeddings)
    play(pool, tmp_path / "run", **dense(server))
    asked = len(server.received)
    shutil.rmtree(own_cache / "indexes")
    again = play(pool, tmp_path / "again", cache="replay", **dense(server))

    assert (again.exit_code, len(server.received)) == (0, asked)
    assert contents(tmp_path / "run") == contents(tmp_path / "again")


def test_a_query_that_was_never_embedded_is_an_error_under_replay(pool, tmp_path, model_server):
    server = model_server(openai_embeddings)
    play(pool, tmp_path / "run", **dense(server))
    asked = len(server.received)
    goal = weather_task("Rome").goals[0]
    new = weather_task("Rome", 9, goals=(replace(goal, text="What is the weather in Rome, sir?"),))
    other = write_pool(tmp_path / "other", [*many(len(CITIES)), new])
    again = play(other, tmp_path / "again", cache="replay", **dense(server))

    assert list(errors(again)) == ["rome-9"]
    assert "no kept vector" in errors(again)["rome-9"]
    assert "'What is the weather in Rome, sir?'" in errors(again)["rome-9"]
    assert len(server.received) == asked


@pytest.mark.slow
def test_worker_processes_are_told_of_failures_too(pool: Path, tmp_path, model_server):
    server = model_server(EmbeddingServer(failure(400, "too long"), "weather in Oslo"))
    result = play(pool, tmp_path / "run", **dense(server), processes=2)

    assert list(errors(result)) == ["oslo-1"]
