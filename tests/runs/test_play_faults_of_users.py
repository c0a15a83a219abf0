"""What users bring and what fails: it is named as theirs, before the run where that can be."""

import errno
import socket
import threading
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
import requests

import seal
from seal.core import ModelError, UnknownNameError, UsageError
from seal.environments.chat_world import World
from seal.environments.world import Worlds, toolbox

WEATHER = {
    "name": "weather",
    "description": "The weather in a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}
TASK = seal.ask("What is the weather in Paris?", seal.called("weather", city="Paris"))


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SEAL_CACHE_DIR", str(tmp_path / "cache"))


def played(**settings: Any) -> seal.Run:
    return seal.run([TASK], tools=[WEATHER], baselines=False, **settings)


class Unbuildable:
    def __init__(self) -> None:
        raise RuntimeError("no licence")

    def reply(self, chat: seal.Chat) -> seal.Reply:
        return seal.Reply("Sunny.")


class NeedsMore(Unbuildable):
    def __init__(self, licence: str) -> None:
        self.licence = licence


@pytest.mark.parametrize(
    ("agent", "told"), [(Unbuildable, "RuntimeError: no licence"), (NeedsMore, "'licence'")]
)
def test_a_role_that_cannot_be_built_is_refused_before_the_run(agent: type, told: str) -> None:
    with pytest.raises(UsageError, match=rf"role 'execution_manager': .*cannot be built: .*{told}"):
        played(agent=agent)
    assert not Path("runs").exists()


@pytest.mark.parametrize("error", [seal.SealError("mine"), UsageError("mine")])
def test_an_error_of_ours_that_an_agent_raises_is_its_failure_of_that_chat(
    error: seal.SealError,
) -> None:
    def agent(request: str, tools: object) -> str:
        raise error

    run = played(agent=agent)

    (chat,) = run.folder.trajectories()
    assert [stop.reason for stop in chat.stops] == ["crashed"]
    assert f"{type(error).__name__}: mine" in str(chat.stops[0].error)


def test_what_a_verb_of_ours_tells_an_agent_is_its_failure_too() -> None:
    def agent(request: str, tools: object) -> str:
        return str(seal.ask(""))

    (chat,) = played(agent=agent).folder.trajectories()
    assert [stop.reason for stop in chat.stops] == ["crashed"]


def test_a_server_that_fails_an_agent_is_no_failure_of_the_agent() -> None:
    def agent(request: str, tools: object) -> str:
        raise ModelError("the server is down")

    run = played(agent=agent)

    assert run.exit_code == 1
    assert run.summary["error_reasons"] == {"the server is down": 1}


def unused_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def ask_silent(ask: Callable[[str], object]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        ask(f"http://127.0.0.1:{silent.getsockname()[1]}")


def raising(error: Exception, cause: Exception | None = None) -> None:
    raise error from cause


def answered(ask: Callable[[str], object], answer: bytes) -> None:
    """Ask a server that sends these bytes, and then closes the connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(answer)

        serving = threading.Thread(target=serve, daemon=True)
        serving.start()
        try:
            ask(f"http://127.0.0.1:{server.getsockname()[1]}")
        finally:
            serving.join(9)


def by_urllib(url: str) -> bytes:
    return bytes(urllib.request.urlopen(url, timeout=9).read())


def by_httpx(url: str) -> object:
    return httpx.get(url).raise_for_status()


def by_requests(url: str) -> None:
    requests.get(url, timeout=9).raise_for_status()


CLIENTS = (by_urllib, by_httpx, by_requests)
CUT = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"
GARBAGE = b"garbage\r\n\r\n"


def stating(status: int) -> bytes:
    return b"HTTP/1.1 %d Said\r\nContent-Length: 2\r\n\r\nno" % status


class OwnError(Exception):
    """An exception of a tool, with a number of its own."""

    status = 503


TRANSPORTS: list[tuple[Callable[[str], object], bool]] = [
    (lambda url: urllib.request.urlopen(url), True),
    (lambda url: httpx.get(url), True),
    (lambda url: requests.get(url, timeout=9), True),
    (lambda url: ask_silent(lambda slow: httpx.get(slow, timeout=0.05)), True),
    (lambda url: ask_silent(lambda slow: requests.get(slow, timeout=0.05)), True),
    (lambda url: raising(TimeoutError()), True),
    (lambda url: raising(OSError(errno.ENETUNREACH, "unreachable")), True),
    (lambda url: raising(RuntimeError("the shop is down"), ConnectionResetError("reset")), True),
    (lambda url: raising(FileNotFoundError("orders.csv")), False),
    (lambda url: raising(ValueError("no such order")), False),
    (lambda url: httpx.get("order 7"), False),
    (lambda url: raising(OwnError("no such order")), False),
    *((partial(lambda ask, url: answered(ask, CUT), ask), True) for ask in CLIENTS),
    *((partial(lambda ask, url: answered(ask, GARBAGE), ask), True) for ask in CLIENTS),
    *((partial(lambda ask, url: answered(ask, stating(503)), ask), True) for ask in CLIENTS),
    *((partial(lambda ask, url: answered(ask, stating(429)), ask), True) for ask in CLIENTS),
    *((partial(lambda ask, url: answered(ask, stating(404)), ask), False) for ask in CLIENTS),
]


@pytest.mark.parametrize("answer", [CUT, GARBAGE])
@pytest.mark.parametrize("ask", CLIENTS)
def test_an_agent_whose_connection_is_cut_is_an_error(ask: Any, answer: bytes) -> None:
    run = played(agent=lambda request, tools: str(answered(ask, answer)))
    assert run.summary["stop_reasons"] == {"error": 1}


class Mute(Exception):
    """An exception that cannot say what it is about."""

    def __str__(self) -> str:
        raise RuntimeError("no str")


@pytest.mark.parametrize(
    "error",
    [
        ValueError("quota exceeded"),
        ValueError("Service Unavailable: seat 4 is taken"),
        ValueError("401 Unauthorized"),
        ValueError("taken"),
        type("PanicException", (BaseException,), {})("panicked"),
        GeneratorExit(),
        Mute(),
    ],
)
def test_what_a_tool_raises_in_a_run_is_a_refusal_whatever_it_is(error: BaseException) -> None:
    def book(seat: int) -> str:
        """Book a seat."""
        raise error

    def agent(request: str, tools: Any) -> str:
        with suppress(Exception):
            tools[0](seat=4)
        return "Done."

    gold = seal.called("book", seat=4)
    tasks = [seal.ask("Book seat 4.", gold), seal.ask("Try seat 4.", seal.refused(gold))]
    bench = seal.Benchmark("b", tools=[book], tasks=tasks)
    run = seal.run(bench, agent=agent, baselines=False)
    found = [one.value for one in run.folder.scores() if one.metric == "pass_rate"]
    assert found == [0.0, 1.0]
    assert "unserved" not in run.summary


def test_a_tool_that_returns_nothing_has_served_the_call() -> None:
    def note(text: str) -> None:
        """Write a note."""

    bench = seal.Benchmark(
        "b", tools=[note], tasks=[seal.ask("Note hi.", seal.called("note", text="hi"))]
    )
    run = seal.run(bench, agent=lambda request, tools: str(tools[0](text="hi")), baselines=False)
    assert run["pass_rate"].mean == 1.0
    assert "count as made" not in str(run)


@pytest.mark.parametrize(("failing", "ends"), TRANSPORTS)
def test_a_tool_that_does_not_reach_its_server_ends_the_chat(
    failing: Callable[[str], object], ends: bool
) -> None:
    url = f"http://127.0.0.1:{unused_port()}"

    def get_order(order_id: str) -> str:
        """Look an order up."""
        return str(failing(url))

    def order_of(shop: World, order_id: str) -> str:
        """Look an order up."""
        return get_order(order_id)

    def agent(request: str, tools: Any) -> str:
        try:
            tools[0](order_id="7")
        except Exception as error:
            return f"It failed: {error}"
        return "It ships on Monday."

    shop = Worlds(name="shop", tools=toolbox("shop", [order_of]), tables={"orders": []})
    for where in ({"tools": [get_order]}, {"environment": shop}):
        name = "get_order" if "tools" in where else "order_of"
        task = seal.ask("When does order 7 ship?", seal.called(name, order_id="7"), answer="Monday")
        bench = seal.Benchmark("shop", tasks=[task], **where)
        run = seal.run(bench, agent=agent, baselines=False)
        (score,) = [one for one in run.folder.scores() if one.metric == "pass_rate"]
        assert run.summary["errors"] == int(ends)
        assert score.value == (None if ends else 0.0)
        if ends:
            assert f"the tool {name} did not reach its server" in score.reason


class Offline(World):
    """A world in which a connection that fails is part of the game."""

    offline = True


def test_a_world_without_servers_may_say_that_a_connection_failed() -> None:
    def order_of(shop: World, order_id: str) -> str:
        """Look an order up."""
        raise ConnectionError("the wifi is off")

    shop = Worlds(
        name="shop", tools=toolbox("shop", [order_of]), tables={"orders": []}, make=Offline
    )
    task = seal.ask("When does order 7 ship?", seal.called("order_of", order_id="7"))
    bench = seal.Benchmark("shop", environment=shop, tasks=[task])
    run = seal.run(bench, model="oracle", baselines=False)
    assert run["pass_rate"].mean == 0.0


@pytest.mark.parametrize("answer", [{"sky": "clear"}, None, "clear"])
def test_a_simulator_that_gives_no_response_is_named(answer: object) -> None:
    class Sky:
        identity = "sky/1"

        def respond(self, tool: seal.Tool, arguments: dict[str, object]) -> object:
            return answer

    run = played(model="oracle", simulator=Sky())

    ((reason, count),) = run.summary["error_reasons"].items()
    assert reason.startswith(f"the simulator sky/1 answered weather with {answer!r}; expected a ")
    assert count == 1


@pytest.mark.parametrize("body", ["raise ValueError('boom')", "import sys; sys.exit(3)"])
@pytest.mark.parametrize(
    "setting", [{"agent": "broken:x"}, {"metrics": ["broken:x"]}, {"simulator": "broken:x"}]
)
def test_a_module_that_fails_at_import_is_named_as_the_users(
    body: str, setting: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    Path("broken.py").write_text(body)
    with pytest.raises(UsageError, match=r"'broken:x': broken fails to import: .*broken\.py.*mend"):
        played(**setting)


def test_what_is_no_retriever_is_refused_and_named() -> None:
    def nearest(queries: object, k: int) -> list[object]:
        return []

    for given in (nearest, lambda pool: []):
        with pytest.raises(UsageError, match="retriever"):
            seal.retrieve([TASK], [given, "tfidf"], k=1, tools=[WEATHER])


class OfNothing:
    """Has what plug-ins have, of other arguments than they are called with."""

    def reply(self) -> seal.Reply:
        return seal.Reply("Sunny.")

    def complete(self) -> seal.Completion:
        return seal.Completion("Sunny.")

    def retrieve(self, queries: object) -> list[object]:
        return []

    def respond(self, tool: seal.Tool) -> str:
        return "Sunny."

    def score(self, task: seal.Task) -> list[seal.Score]:
        return []

    def start(self) -> None: ...

    end = start


class Answers:
    """Has nothing but `complete`, so that it is a model."""

    complete = OfNothing.complete


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ({"agent": OfNothing}, r"expected a method reply\(chat\)"),
        ({"model": Answers()}, r"expected an object with complete\(request\)"),
        ({"retriever": OfNothing()}, r"no method retrieve\(queries, k\)"),
        ({"simulator": OfNothing()}, r"a method respond\(tool, arguments\)"),
        ({"metrics": [OfNothing]}, r"score\(task, trajectory, tools\)"),
        ({"progress": lambda done, total: None}, "progress: .* function that takes 1 argument"),
        ({"agent": lambda: "Sunny."}, r"or else a function of \(request, tools\)"),
    ],
)
def test_what_is_called_with_other_arguments_is_refused_before_the_first_chat(
    setting: dict[str, Any], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        played(**setting)
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ({"model": "os:system"}, r"function of \(name, settings\) that makes one"),
        ({"retriever": Path("file")}, "is no retriever"),
    ],
)
def test_what_is_no_plug_in_is_refused_by_what_was_expected(
    setting: dict[str, Any], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        played(**setting)


def test_what_is_no_importer_or_has_no_source_is_refused() -> None:
    with pytest.raises(UsageError, match="'os:system' is no importer: expected a function of"):
        seal.import_benchmark("os:system", "file", "pool")
    with pytest.raises(UsageError, match="apigen: no source; give its upstream files"):
        seal.import_benchmark("apigen", None, "pool")


def test_a_world_that_is_made_of_other_arguments_is_refused() -> None:
    shop = seal.Benchmark("shop", tools=[WEATHER], tasks=[TASK], environment=lambda: None)
    with pytest.raises(UsageError, match="opens no worlds; expected a `Worlds`, or a function of"):
        seal.run(shop, baselines=False)


def test_a_callback_is_refused_that_takes_other_arguments() -> None:
    with pytest.raises(
        UsageError, match="progress: expected a class or function that takes 3 arguments"
    ):
        seal.sweep([TASK], tools=[WEATHER], progress=lambda state: None)  # type: ignore[arg-type,misc]
    with pytest.raises(
        UsageError, match="on_result: expected a class or function that takes 1 argument"
    ):
        seal.retrieve([TASK], ["tfidf"], tools=[WEATHER], on_result=list[int]().insert)  # type: ignore[arg-type]


class Nameless:
    """A metric whose names cannot be read."""

    @property
    def names(self) -> list[str]:
        raise RuntimeError("no names yet")

    def score(self, task: seal.Task, trajectory: object, tools: object) -> list[seal.Score]:
        return []


class Numbered(Nameless):
    names = 3  # type: ignore[assignment]


@pytest.mark.parametrize(("metric", "got"), [(Nameless, "RuntimeError: no names"), (Numbered, "3")])
def test_a_metric_whose_names_are_no_texts_is_refused_before_the_first_chat(
    metric: type, got: str
) -> None:
    with pytest.raises(UsageError, match=rf"metric N.*: expected its names as a list.*got .*{got}"):
        played(metrics=[metric])
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ({"retriever": "bm52"}, "no retriever 'bm52'.*mean 'bm25'"),
        ({"retriever": "bm25,k2=1"}, "no option -R of bm25 'k2'"),
        ({"retriever": "rerank,of=bm52"}, "no retriever 'bm52'"),
        ({"simulator": "templat"}, "no simulator 'templat'.*mean 'template'"),
        ({"metrics": ["polite"]}, "no metric 'polite'"),
    ],
)
def test_a_plan_refuses_a_name_that_its_run_would(setting: dict[str, Any], told: str) -> None:
    with pytest.raises(UnknownNameError, match=told):
        seal.plan_run([TASK], tools=[WEATHER], **setting)
