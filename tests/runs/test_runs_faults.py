"""Whatever a server does wrong, its chat ends in time with an outcome that is told by its name.

The first request of each chat is answered by a call; the fault begins with the second.
"""

import gzip
import json
import socket
import threading
import time
from collections import Counter
from contextlib import suppress

import orjson
import pytest
from raw_servers import RawServer, chunked, delta, events, response, stream_head
from servers import answer, failure, garbage, nothing, played
from small_pools import by_server, contents, many, play, weather_task, write_pool

import seal
from seal.core import OutageError, UsageError
from seal.runs.rescore import ScoreSettings, rescore
from seal.runs.run import run as play_run
from seal.runs.settings import RunSettings

MOST_S = 2.0
"""What a chat may take; no fault may hold it 2 seconds longer."""
SAID = "It is sunny in Rome."
USAGE = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}
CALL = {"index": 0, "id": "a", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}}
CALLED = events(delta(tool_calls=[CALL]), delta("tool_calls"), USAGE)
WORDS = events(delta(role="assistant", content=""), delta(content="It is sunny"), done=False)
REST = events(delta(content=" in Rome."), delta("stop"), USAGE)


def plain(content=SAID, finish="stop", **message):
    """Return the JSON of a plain answer."""
    said = {"role": "assistant", "content": content, **message}
    return json.dumps({"choices": [{"message": said, "finish_reason": finish}]}).encode()


def refused(status, said="no", headers=None, **fields):
    """Return what sends an error of HTTP."""
    body = json.dumps({"error": {"message": said, **fields}}).encode()
    return lambda wire: wire.send(response(body, status, **headers or {}))


def sends(*data):
    """Return what sends bytes and closes."""
    return lambda wire: wire.send(b"".join(data))


def once(fault, then=sends(stream_head(), WORDS, REST)):  # noqa: B008 - it is a constant
    """Return what does something wrong once."""
    return lambda wire: (fault if wire.number == 1 else then)(wire)


def silent(*data):
    """Return what sends bytes and then nothing, while the connection stays."""
    return lambda wire: (wire.send(b"".join(data)), wire.wait(30))


def steady(wire):
    wire.send(stream_head())
    for number in range(200):
        wire.send(events(delta(content=f"{number} "), done=False))
        wire.wait(0.1)


def commenting(wire):
    wire.send(stream_head())
    for _ in range(200):
        wire.send(b": wait\n\n")
        wire.wait(0.1)


def reset(*data):
    return lambda wire: (wire.send(b"".join(data)), wire.reset())


def flood(wire):
    wire.send(stream_head())
    while True:
        wire.send(b": nothing\n" * 100_000)


SPLIT = [(WORDS + REST)[n : n + 3] for n in range(0, len(WORDS + REST), 3)]
UNKNOWN = "request (4390 tokens) exceeds the available context size (4096 tokens)"
LOOP = response(b"", 307, Location="/v1/chat/completions")
OVER = {"error": {"message": "CUDA out of memory", "code": 500}}
FAULTS = {
    # connections
    "closes before a byte": (sends(), "error"),
    "closes before a byte, once": (once(sends()), "done"),
    "reset before a byte": (reset(), "error"),
    "reset amid the headers": (reset(b"HTTP/1.1 200 OK\r\nContent-"), "error"),
    "closes amid the body": (sends(response(plain())[:-20]), "error"),
    "closes amid a stream": (sends(stream_head(), WORDS), "error"),
    "closes amid a stream, once": (once(sends(stream_head(), WORDS)), "done"),
    "reset amid a stream": (reset(stream_head(), WORDS), "error"),
    "a chunked stream without its end": (sends(chunked([WORDS], end=b"")), "error"),
    "a chunk of a wrong size": (sends(chunked([WORDS], end=b"xyz\r\n")), "error"),
    "no HTTP": (sends(b"SSH-2.0-OpenSSH_9.6\r\n"), "error"),
    # time
    "silence": (silent(), "error"),
    "silence after the headers": (silent(stream_head()), "error"),
    "silence amid a stream": (silent(stream_head(), WORDS), "error"),
    "silence after the last event": (silent(stream_head(), WORDS, REST), "done"),
    "headers that drip": (lambda wire: wire.drip(response(plain())), "error"),
    "a body that drips": (lambda wire: (wire.send(stream_head()), wire.drip(plain())), "error"),
    "a stream that drips": (lambda wire: (wire.send(stream_head()), wire.drip(WORDS)), "error"),
    "comments for ever": (commenting, "error"),
    "words for ever": (steady, "max_seconds"),
    "a slow answer": (lambda wire: (wire.wait(0.5), wire.send(response(plain()))), "done"),
    "bytes for ever": (flood, "error"),
    # what is in the body
    "nothing under 200": (sends(response(b"")), "error"),
    "a page under 200": (sends(response(b"<html>Sign in</html>", kind="text/html")), "error"),
    "JSON of another type": (sends(response(plain(), kind="text/html")), "done"),
    "a stream of another type": (sends(stream_head("application/json"), WORDS, REST), "done"),
    "JSON that breaks off": (sends(response(plain()[:40])), "error"),
    "letters that are no UTF-8": (sends(response(plain().replace(b"sunny", b"s\xff"))), "error"),
    "a stream of no UTF-8": (sends(stream_head(), WORDS.replace(b"sunny", b"\xff"), REST), "error"),
    "a truncated gzip": (
        sends(response(gzip.compress(plain())[:-12], Content_Encoding="gzip")),
        "error",
    ),
    "a gzip that is none": (sends(response(plain(), Content_Encoding="gzip")), "error"),
    "a list": (sends(response(b"[]")), "error"),
    "no choices": (sends(response(b'{"choices": []}')), "error"),
    "choices of null": (sends(response(b'{"choices": null}')), "error"),
    "a choice without a message": (sends(response(b'{"choices": [{}]}')), "error"),
    "content of null": (sends(response(plain(None))), "done"),
    "an error under 200": (sends(response(json.dumps(OVER).encode())), "error"),
    "an error amid a stream": (sends(stream_head(), WORDS, events(OVER)), "error"),
    "a full window under 200": (
        sends(response(json.dumps({"error": {"message": UNKNOWN}}).encode())),
        "context_overflow",
    ),
    "tool_calls that are no list": (sends(response(plain(tool_calls="f"))), "error"),
    "a call without a function": (sends(response(plain(tool_calls=[{"id": "x"}]))), "error"),
    # streams as they are written
    "events with CRLF": (
        sends(stream_head(), (WORDS + REST).replace(b"\n", b"\r\n")),
        "done",
    ),
    "events with comments": (sends(stream_head(), b": hi\n\n", WORDS, b": hi\n\n", REST), "done"),
    "events without [DONE]": (
        sends(stream_head(), WORDS, REST.replace(b"data: [DONE]\n\n", b"")),
        "done",
    ),
    "events split over chunks": (sends(chunked(SPLIT)), "done"),
    "calls of a bad index": (
        once(
            sends(stream_head(), CALLED.replace(b'"index": 0, "id"', b'"index": "x", "id"')),
        ),
        "done",
    ),
    "an event that is no JSON": (sends(stream_head(), WORDS, b"data: {oops\n\n", REST), "error"),
    "nothing but [DONE]": (sends(stream_head(), b"data: [DONE]\n\n"), "error"),
    # statuses
    "301 in a circle": (sends(LOOP), "error"),
    "400": (refused(400), "error"),
    "400 for a field": (refused(400, "Unsupported parameter: 'seed'", param="seed"), "error"),
    "400 for a full window": (refused(400, UNKNOWN), "context_overflow"),
    "400 of a filter": (refused(400, "filtered", code="content_filter"), "filtered"),
    "401": (refused(401), "error"),
    "402": (refused(402, "Insufficient credits"), "error"),
    "403": (refused(403), "error"),
    "404": (refused(404), "error"),
    "405": (refused(405), "error"),
    "408": (refused(408), "error"),
    "409": (refused(409), "error"),
    "413": (refused(413), "error"),
    "422": (refused(422), "error"),
    "429": (refused(429), "error"),
    "429, once": (once(refused(429)), "done"),
    "429 with a wait": (once(refused(429, headers={"Retry_After": "0.2"})), "done"),
    "429 with a long wait": (refused(429, headers={"Retry_After": "3600"}), "error"),
    "429 of a spent quota": (refused(429, code="insufficient_quota"), "error"),
    "500": (refused(500), "error"),
    "500, once": (once(refused(500)), "done"),
    "501": (refused(501), "error"),
    "502 with a page": (sends(response(b"<html>", 502, "text/html")), "error"),
    "503": (refused(503), "error"),
    "504": (refused(504), "error"),
    "529": (refused(529), "error"),
    # ends of answers
    "a filter amid the answer": (sends(response(plain("It", "content_filter"))), "filtered"),
    "an answer that was cut": (sends(response(plain(finish="length"))), "done"),
    "an answer broken by an error": (sends(response(plain(finish="error"))), "error"),
}  # fmt: skip


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-Zq81-of-tests")


def by_fault(fault):
    return lambda wire: (sends(stream_head(), CALLED) if wire.number == 0 else fault)(wire)


def one_chat(pool, out, url, **options):
    told = {"max_tries": 2, "first_wait_s": 0.01, "max_wait_s": 60, "timeout_s": 0.8, **options}
    return play(
        pool,
        out,
        model="openai/small",
        base_url=url,
        team="direct",
        model_options=told,
        max_seconds=MOST_S,
        workers=1,
    )


@pytest.fixture(scope="module", autouse=True)
def warm(tmp_path_factory):
    """Play a chat before time is taken: the first of a process imports for seconds."""
    place = tmp_path_factory.mktemp("warm")
    play(write_pool(place / "pool", [weather_task("Rome")]), place / "run", model="lexical")


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
    assert timing["seconds"] < MOST_S + 2
    score = run.summary["metrics"]["call_f1"]["mean"]
    if expected == "error":
        assert (run.exit_code, run.summary["errors"]) == (1, 1)
        assert score is None and stop.error.startswith("openai/small at http://127.0.0.1")
    else:
        assert run.exit_code == 0 and score > 0.5  # one of them calls once more


def test_there_are_forty_kinds_of_faults_and_more():
    assert len(FAULTS) >= 40
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
    assert time.monotonic() - began < MOST_S + 4  # what stands before the first chat is in it
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
    assert run.exit_code == 3 and state["asked"] <= 9 + 5 * (2 + processes)  # it is down for all
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
    script = played([by_server, nothing(), nothing()], by_server)
    pool = write_pool(tmp_path / "pool", many(6))
    run = one_chat(pool, tmp_path / "run", model_server(script).url, max_tries=1)
    assert (run.exit_code, run.summary["errors"]) == (1, 2)


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
        assert time.monotonic() - began < 8 + 4  # scoring is in it
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
