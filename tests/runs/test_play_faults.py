"""Whatever a server does wrong, its chat ends in time with an outcome that is told by its name.

The first request of each chat is answered by a call; the fault begins with the second.
"""

import socket
import threading
import time
from collections import Counter
from contextlib import suppress

import orjson
import pytest
from raw_servers import RawServer, stream_head
from server_faults import CALLED, FAULTS, GOOD, MOST_S, REST, WORDS, by_fault, one_chat, sends
from servers import answer, failure, garbage, nothing, played
from small_pools import by_server, contents, many, play, weather_task, write_pool

import seal
from seal.core import OutageError, UsageError
from seal.runs.finished import rescore
from seal.runs.play import run as play_run
from seal.runs.settings import RunSettings, ScoreSettings


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-Zq81-of-tests")


@pytest.fixture(scope="module", autouse=True)
def warm(tmp_path_factory):
    """Play a chat before time is taken: the first of a process imports for seconds."""
    place = tmp_path_factory.mktemp("warm")
    pool = write_pool(place / "pool", [weather_task("Rome")])
    with RawServer(by_fault(GOOD)) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "sk-Zq81-of-tests")
        one_chat(pool, place / "run", server.url)


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_ends_its_chat_in_time_with_its_outcome(tmp_path, name):
    fault, expected = FAULTS[name]
    pool = write_pool(tmp_path / "pool", [weather_task("Rome")])
    with RawServer(by_fault(fault)) as server:
        run = one_chat(pool, tmp_path / "run", server.url)
    (trajectory,) = run.folder.trajectories()
    (stop,) = trajectory.stops
    assert stop.reason == expected, stop.error
    timing = orjson.loads((run.folder.path / "timings.jsonl").read_bytes().splitlines()[0])
    assert timing["seconds"] < MOST_S + 15
    score = run.summary["metrics"]["call_f1"]["mean"]
    if expected == "error":
        assert (run.exit_code, run.summary["errors"]) == (1, 1)
        assert score is None and stop.error.startswith("openai/small at http://127.0.0.1")
    else:
        assert run.exit_code == 0 and score > 0.5  # one of them calls once more


def test_there_are_eighty_kinds_of_faults_and_more():
    assert len(FAULTS) >= 80
    assert Counter(expected for _, expected in FAULTS.values()).keys() == {
        "done",
        "error",
        "context_overflow",
        "filtered",
        "max_seconds",
    }


def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def raw_port(talk):
    """Return a port whose connections are talked to, and what closes it."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve():
        with suppress(OSError):
            while True:
                connection, _ = server.accept()
                talk(connection)

    threading.Thread(target=serve, daemon=True).start()
    return server.getsockname()[1], server.close


AWAY = {
    "refused": lambda: (f"http://127.0.0.1:{closed_port()}/v1", lambda: None),
    "a name of nobody": lambda: ("http://seal.invalid/v1", lambda: None),
    "TLS where there is none": lambda: (
        lambda port, close: (f"https://127.0.0.1:{port}/v1", close)
    )(*raw_port(lambda c: (c.recv(99), c.sendall(b"HTTP/1.1 400 no\r\n\r\n"), c.close()))),
}


@pytest.mark.parametrize("name", AWAY)
def test_a_server_that_is_not_there_ends_the_run_at_once_and_leaves_no_folder(tmp_path, name):
    url, close = AWAY[name]()
    pool = write_pool(tmp_path / "pool", many(20))
    began = time.monotonic()
    with pytest.raises(OutageError, match=r"no chat was played: openai/small at http.*right\?"):
        one_chat(pool, tmp_path / "run", url, max_tries=5)
    assert time.monotonic() - began < MOST_S + 15  # what stands before the first chat is in it
    assert not (tmp_path / "run").exists()
    close()


@pytest.mark.parametrize(
    ("answer", "repair"),
    [
        (failure(401, "Incorrect API key"), "Set OPENAI_API_KEY"),
        (failure(404, "The model does not exist"), "Check the model's name"),
        (failure(400, "no-such is not a valid model ID: unknown model"), "Check the model's name"),
    ],
    ids=["key", "model", "model under 400"],
)
def test_a_wrong_key_or_model_ends_the_run_with_its_first_request(
    model_server, tmp_path, answer, repair
):
    pool = write_pool(tmp_path / "pool", many(20))
    server = model_server(lambda request: answer)
    with pytest.raises(OutageError, match=repair):
        one_chat(pool, tmp_path / "run", server.url)
    assert len(server.received) == 1


NO_MODELS = {
    "a page": (garbage(), "answered what is no JSON.*Is --base-url right"),
    "a list": (answer([1]), "no JSON object but .*Is --base-url right"),
    "words of LM Studio": (answer({"error": "Unexpected endpoint"}), "Is --base-url right"),
    "405": (answer({"detail": "Method Not Allowed"}, 405), "Check the model's name and --base-url"),
    "402": (failure(402, "Insufficient Balance"), "OPENAI_API_KEY has no credit left"),
    "500 for ever": (failure(500, "boom"), "HTTP 500: boom"),
}


@pytest.mark.parametrize("name", NO_MODELS)
def test_what_never_answers_as_a_model_ends_the_run_after_three_requests(
    model_server, tmp_path, name
):
    said, told = NO_MODELS[name]
    pool = write_pool(tmp_path / "pool", many(20))
    server = model_server(lambda request: said)
    with pytest.raises(OutageError, match=f"no chat was played: .*{told}"):
        one_chat(pool, tmp_path / "run", server.url)
    assert len(server.received) <= 3 * 2


@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_server_that_goes_down_stops_the_run_which_can_go_on(model_server, tmp_path, processes):
    pool = write_pool(tmp_path / "pool", many(20))
    state = {"down": False, "asked": 0}

    def script(request):
        state["asked"] += 1
        state["down"] |= state["asked"] == 9
        return nothing() if state["down"] else by_server(request)

    server = model_server(script)
    settings = {
        "model": "openai/small",
        "base_url": server.url,
        "team": "direct",
        "model_options": {"first_wait_s": 0.001},
        "processes": processes,
        "workers": 1,
    }
    run = play(pool, tmp_path / "run", **settings)
    # It is down for all. On each connection that had served, one request went out again at once.
    assert run.exit_code == 3 and state["asked"] <= 9 + 5 * (2 + processes) + 1 + processes
    assert 1 <= run.summary["errors"] <= 4 * processes
    state.update(down=False, asked=100)
    run = play(pool, tmp_path / "run", resume=True, **settings)
    assert (run.exit_code, run.summary["errors"]) == (0, 0)
    assert run.summary["metrics"]["call_f1"]["n"] == 20


def test_where_every_answer_is_kept_no_server_is_missed(model_server, tmp_path):
    pool = write_pool(tmp_path / "pool")
    with RawServer(by_fault(sends(stream_head(), WORDS, REST))) as server:
        url = server.url
        (tmp_path / "one").mkdir()
        first = one_chat(write_pool(tmp_path / "one", [weather_task("Rome")]), tmp_path / "a", url)
    again = one_chat(tmp_path / "one", tmp_path / "b", url)
    assert again.exit_code == 0 and pool.exists()
    paths = [run.folder.trajectories_path for run in (first, again)]
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_python_gets_the_outage_as_an_error_of_its_own(tmp_path):
    with pytest.raises(seal.SealError, match="no chat was played"):
        seal.run(
            write_pool(tmp_path / "pool"),
            model=f"openai/m,base_url=http://127.0.0.1:{closed_port()}/v1",
            out=tmp_path / "run",
        )


def test_a_server_that_comes_back_is_asked_on(model_server, tmp_path):
    # The first that gets nothing goes out again at once: its connection had served before.
    script = played([by_server, nothing(), nothing(), nothing()], by_server)
    pool = write_pool(tmp_path / "pool", many(6))
    run = one_chat(pool, tmp_path / "run", model_server(script).url, max_tries=1)
    assert (run.exit_code, run.summary["errors"]) == (1, 2)


@pytest.mark.slow
def test_a_run_ends_with_its_time_and_goes_on_when_it_gets_more(tmp_path):
    pool = write_pool(tmp_path / "pool", many(12))
    settings = {"model": "openai/small", "team": "direct", "workers": 2, "max_seconds": 60}
    quick, told = {"slow": True}, []

    def answer(wire):
        call = CALLED if wire.body["messages"][-1]["role"] != "tool" else WORDS + REST
        if quick["slow"] and wire.number > 8:
            wire.drip(stream_head() + call)
        wire.send(stream_head() + call)

    with RawServer(answer) as server:
        settings["base_url"] = server.url
        began = time.monotonic()
        timed = RunSettings(pool=str(pool), baselines=False, max_total_seconds=8, **settings)
        run = play_run(timed, tmp_path / "run", tell=told.append)
        assert time.monotonic() - began < 8 + 15  # scoring is in it
        assert (run.exit_code, run.summary["errors"]) == (3, 0)
        kept = list(run.folder.trajectories())
        assert 0 < len(kept) < 12 and run.summary["unfinished"] == 12 - len(kept)
        assert told[1:] == [
            f"stopped by --max-total-seconds 8; unfinished chats: {12 - len(kept)}; "
            f"go on with --resume --out {tmp_path / 'run'}"
        ]
        quick["slow"] = False
        run = play(pool, tmp_path / "run", resume=True, **settings)
    assert (run.exit_code, run.summary["errors"]) == (0, 0)


@pytest.mark.parametrize(
    ("processes", "cache"),
    [(1, "record"), (1, "off"), pytest.param(2, "off", marks=pytest.mark.slow)],
)
def test_a_judge_that_cannot_be_asked_is_found_out_by_the_first_chat(
    model_server, tmp_path, processes, cache
):
    pool = write_pool(tmp_path / "pool", many(40))
    judged = []

    def judge(request):
        judged.append(request.body["model"])
        return by_server(request) if len(judged) > 1 else failure(401, "Incorrect API key")

    model, judge = model_server(by_server), model_server(judge)
    settings = {
        "model": "openai/small",
        "base_url": model.url,
        "team": "direct",
        "role_models": {"judge": f"openai/wise,base_url={judge.url}"},
        "processes": processes,
        "workers": 2,
        "cache": cache,
    }
    run = play(pool, tmp_path / "run", **settings)
    assert (run.exit_code, judged) == (3, ["wise"])
    kept = len(list(run.folder.trajectories()))
    assert 1 <= kept <= 5 * processes
    run = play(pool, tmp_path / "run", resume=True, **settings)
    assert (run.exit_code, run.summary["metrics"]["pass_rate"]["n"]) == (0, 40)
    assert len(judged) == 41  # no answer was judged twice
    sessions = Counter(request.body["messages"][-1]["role"] for request in model.received)
    assert sessions["user"] <= 40 + 4 * processes  # nor a finished chat played twice


def test_a_judge_that_was_never_heard_may_be_another_when_the_run_goes_on(
    model_server, tmp_path, caplog
):
    pool, server = write_pool(tmp_path / "pool", many(3)), model_server(by_server)
    settings = {"model": f"openai/small,base_url={server.url}", "team": "direct", "workers": 1}
    away = {"judge": f"openai/wise,base_url=http://127.0.0.1:{closed_port()}/v1"}
    run = play(pool, tmp_path / "run", role_models=away, **settings)
    assert run.exit_code == 3
    assert caplog.text.count("the run stops; give its command again with --resume") == 1
    here = {"judge": f"openai/wise,base_url={server.url}"}
    run = play(pool, tmp_path / "run", resume=True, role_models=here, **settings)
    assert (run.exit_code, run.summary["metrics"]["pass_rate"]["n"]) == (0, 3)
    with pytest.raises(UsageError, match=r"measure\.judge: was"):
        play(pool, tmp_path / "run", resume=True, role_models=away, **settings)
    before = contents(tmp_path / "run")
    with pytest.raises(OutageError, match="run are left as they are: openai/w2"):
        rescore(tmp_path / "run", ScoreSettings(judge_model=away["judge"].replace("wise", "w2")))
    assert contents(tmp_path / "run") == before


def test_a_judge_that_goes_down_while_a_run_is_scored_is_not_asked_for_every_chat(
    model_server, tmp_path
):
    pool, model = write_pool(tmp_path / "pool", many(30)), model_server(by_server)
    judge = model_server(played([by_server], lambda request: nothing()))
    told = {"max_tries": 1, "base_url": judge.url}
    run = play(
        pool,
        tmp_path / "run",
        model=f"openai/small,base_url={model.url}",
        team="direct",
        role_models={"judge": seal.Model("openai/wise", **told)},
        workers=4,
    )
    assert run.exit_code == 3 and len(judge.received) <= 1 + 3 + 4
    assert len(list(run.folder.trajectories())) == 30
    assert run.summary["metrics"]["pass_rate"]["n"] == 1
