"""MCP clients as agents: the SDK's own client plays tasks that are served, and is scored."""

import json
import queue
import sys
import threading
import time
import urllib.request
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_servers import line
from small_pools import many, weather_task, write_pool

pytest.importorskip("mcp")

from mcp import Client, MCPError, StdioServerParameters

import seal
from seal.core import Task, Tool, Trajectory, UnknownNameError, UsageError
from seal.core.records import read_records
from seal.environments.chat_world import World
from seal.environments.world import Worlds, toolbox
from seal.runs.mcp_tasks import PATIENT, Patience, serve_http, serve_stdio
from seal.runs.play import RunResult
from seal.runs.run import RunFolder
from seal.runs.settings import RunSettings

Play = Callable[[list[dict[str, Any]]], Awaitable[None]]


def settings(pool: Any, **changes: Any) -> RunSettings:
    return RunSettings(pool=pool, **{"baselines": False, **changes})


def served(
    play: Play,
    pool: Any,
    out: Path,
    task: str | None = None,
    patience: Patience = PATIENT,
    **changes: Any,
) -> RunResult | BaseException:
    """Serve tasks in a thread, let clients play them, and return what came of it."""
    heard: queue.Queue[str | BaseException] = queue.Queue()
    done: queue.Queue[RunResult | BaseException] = queue.Queue()

    def serve() -> None:
        try:
            asked = settings(pool, **changes)
            done.put(serve_http(asked, out, task, "tried", 0, heard.put, patience))
        except BaseException as error:
            heard.put(error)
            done.put(error)

    threading.Thread(target=serve, daemon=True).start()
    line = heard.get(timeout=60)
    if isinstance(line, BaseException):
        raise line
    with urllib.request.urlopen(line.rpartition(" ")[2]) as index:
        tasks = json.load(index)["tasks"]
    anyio.run(play, tasks)
    return done.get(timeout=60)


def chats(result: RunResult | BaseException) -> list[Trajectory]:
    assert isinstance(result, RunResult), result
    return list(result.folder.trajectories())


def said(result: Any) -> str:
    return str(result.content[0].text)


async def solve(client: Client, wrong: bool = False) -> str:
    """Play a task of the weather, and return what the server says to the answer."""
    request = (await client.get_prompt("task")).messages[0].content.text
    city = request.rstrip("?").rpartition(" ")[2]
    if wrong:
        await client.call_tool("news", {"topic": city})
    else:
        await client.call_tool("weather", {"city": city})
    return said(await client.call_tool("submit", {"answer": f"sunny in {city}"}))


def test_the_golds_calls_score_as_right_and_a_planted_one_as_wrong(
    pool: Path, tmp_path: Path
) -> None:
    async def play(tasks: list[dict[str, Any]]) -> None:
        async def one(number: int, mode: str) -> None:
            async with Client(tasks[number]["url"], mode=mode) as client:
                assert await solve(client, wrong=number == 3) == (
                    "The task is finished. End the session."
                )

        async with anyio.create_task_group() as group:
            for number, mode in enumerate(["auto", "legacy", "auto", "auto"]):
                group.start_soon(one, number, mode)

    result = served(play, pool, tmp_path / "run")
    assert [chat.stops[0].reason for chat in chats(result)] == ["done"] * 4
    folder = RunFolder(tmp_path / "run")
    found = {score.task_id: score.value for score in folder.scores() if score.metric == "call_f1"}
    assert [found[task.id] for task in many(4)] == [1.0, 1.0, 1.0, 0.0]
    assert folder.manifest()["system"]["roles"]["execution_manager"] == "tried"


def test_calls_made_at_once_stand_in_the_record_and_unknown_ones_too(
    pool: Path, tmp_path: Path
) -> None:
    async def play(tasks: list[dict[str, Any]]) -> None:
        async with Client(tasks[0]["url"]) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            assert sorted(tools) == ["submit", "weather"]
            results: list[Any] = []

            async def call(name: str, **arguments: Any) -> None:
                results.append(await client.call_tool(name, arguments))

            async with anyio.create_task_group() as group:
                group.start_soon(lambda: call("weather", city="Rome"))
                group.start_soon(lambda: call("whether", city="Rome"))
            assert sorted(result.is_error for result in results) == [False, True]
            assert "There is no tool named 'whether'" in "".join(map(said, results))
            await client.call_tool("submit", {"answer": "sunny"})

    (chat,) = chats(served(play, pool, tmp_path / "run", "rome-0"))
    assert {call.call.name for call, _ in chat.calls()} == {"weather", "whether"}
    assert chat.answers == ("sunny",)


def switch(lamp: World, on: bool) -> str:
    """Switch the lamp."""
    lamp.put("lamps", [{"on": on}])
    return "done"


def dawdle(lamp: World) -> str:
    """Take a while."""
    time.sleep(1.5)
    return "done"


def test_a_world_is_played_and_its_state_is_on_the_record(tmp_path: Path) -> None:
    lamps = Worlds(
        name="lamps", tools=toolbox("lamps", [switch]), tables={"lamps": [{"on": False}]}
    )
    gold = seal.called("lamps/switch", on=True)
    bench = seal.Benchmark("lamps", tasks=[seal.ask("Light!", gold)], environment=lamps)

    async def play(tasks: list[dict[str, Any]]) -> None:
        async with Client(tasks[0]["url"]) as client:
            assert said(await client.call_tool("switch", {"on": True})) == "'done'"
            await client.call_tool("submit", {"answer": "It is light."})

    (chat,) = chats(served(play, bench, tmp_path / "run"))
    states = [step.state for step in chat.steps if step.state]
    assert states[-1] == {"lamps": [{"on": True}]}


def test_the_prompt_holds_what_the_system_tells_before_the_request(tmp_path: Path) -> None:
    task = weather_task("Rome", system="Today is Friday.")
    pool = write_pool(tmp_path / "pool", [task])
    heard = []

    async def play(tasks: list[dict[str, Any]]) -> None:
        async with Client(tasks[0]["url"]) as client:
            heard.append((await client.get_prompt("task")).messages[0].content.text)
            await client.call_tool("submit", {"answer": "sunny in Rome"})

    served(play, pool, tmp_path / "run")
    assert heard == ["Today is Friday.\n\nWhat is the weather in Rome?"]


def test_the_user_answers_a_question(tmp_path: Path) -> None:
    goal = weather_task("Rome").goals[0]
    persona = {"replies": [["In Rome."]]}
    asked = Task("asked", "small", (goal,), persona=persona)
    pool = write_pool(tmp_path / "pool", [asked])

    async def play(tasks: list[dict[str, Any]]) -> None:
        async with Client(tasks[0]["url"]) as client:
            heard = said(await client.call_tool("submit", {"answer": "Where?"}))
            assert heard == "In Rome."
            await client.call_tool("submit", {"answer": "sunny in Rome"})

    (chat,) = chats(served(play, pool, tmp_path / "run"))
    assert [step.content for step in chat.steps if step.author == "execution_manager"] == [
        "Where?",
        "sunny in Rome",
    ]


def test_a_tool_that_is_called_submit_stays_a_tool(tmp_path: Path) -> None:
    tool = Tool("form/submit", "submit", "Submit the form.")
    bench = seal.Benchmark("form", tools=[tool], tasks=[seal.ask("Submit it.")])

    async def play(tasks: list[dict[str, Any]]) -> None:
        async with Client(tasks[0]["url"]) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names == ["submit", "submit_answer"]
            await client.call_tool("submit", {})
            await client.call_tool("submit_answer", {"answer": "done"})

    (chat,) = chats(served(play, bench, tmp_path / "run"))
    assert [call.call.name for call, _ in chat.calls()] == ["submit"]


@pytest.mark.parametrize(
    ("given", "got"), [({}, "nothing"), ({"answer": 5}, "5"), ({"answer": None}, "None")]
)
def test_what_is_no_answer_is_refused_and_the_chat_goes_on(given, got, pool, tmp_path) -> None:
    async def play(tasks: list[dict[str, Any]]) -> None:
        async with Client(tasks[0]["url"]) as client:
            refused = await client.call_tool("submit", given)
            assert refused.is_error
            assert said(refused) == f"the argument 'answer' must be a text, got {got}; submit again"
            await client.call_tool("submit", {"answer": "sunny"})

    (chat,) = chats(served(play, pool, tmp_path / "run", limit=1))
    assert chat.answers == ("sunny",)


def test_a_client_is_answered_after_the_last_chat_until_it_leaves(pool, tmp_path) -> None:
    async def play(tasks: list[dict[str, Any]]) -> None:
        async with Client(tasks[0]["url"]) as client:
            await client.call_tool("submit", {"answer": "sunny"})
            await anyio.sleep(0.5)
            assert "submit" in [tool.name for tool in (await client.list_tools()).tools]

    assert len(chats(served(play, pool, tmp_path / "run", limit=1))) == 1


@pytest.mark.slow
def test_budgets_hold_and_what_comes_after_is_refused(pool: Path, tmp_path: Path) -> None:
    async def play(tasks: list[dict[str, Any]]) -> None:
        async with Client(tasks[0]["url"]) as client:
            for _ in range(2):
                result = await client.call_tool("weather", {"city": "Rome"})
            assert result.is_error
            with pytest.raises(MCPError):
                await client.call_tool("weather", {"city": "Rome"})
            with pytest.raises(MCPError, match="The task is finished"):
                await client.call_tool("weather", {"city": "Rome"})
        async with Client(tasks[1]["url"]) as client:  # never submits: its time runs out
            await client.call_tool("weather", {"city": "Oslo"})

    result = served(play, pool, tmp_path / "run", max_calls=1, max_seconds=3, limit=2)
    assert [chat.stops[0].reason for chat in chats(result)] == ["max_calls", "max_seconds"]


def test_what_was_offered_is_told_after_the_end_too(pool: Path, tmp_path: Path) -> None:
    async def play(tasks: list[dict[str, Any]]) -> None:
        async with Client(tasks[0]["url"]) as client:  # lists no tools before it answers
            done = await client.call_tool("submit", {"answer": "sunny"})
            assert said(done) == "The task is finished. End the session."
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert sorted(names) == ["submit", "weather"]
            (message,) = (await client.get_prompt("task")).messages
            assert message.content.text == "The task is finished. End the session."
        async with Client(tasks[1]["url"]) as client:
            await solve(client)

    result = served(play, pool, tmp_path / "run", limit=2)
    assert [chat.stops[0].reason for chat in chats(result)] == ["done"] * 2


@pytest.mark.slow
def test_a_client_that_leaves_http_without_an_answer_costs_its_chat_alone(
    pool: Path, tmp_path: Path
) -> None:
    async def play(tasks: list[dict[str, Any]]) -> None:
        async with Client(tasks[0]["url"], mode="legacy") as client:  # closes its session
            await client.call_tool("weather", {"city": "Rome"})
        async with Client(tasks[1]["url"], mode="auto") as client:  # has none
            await client.call_tool("weather", {"city": "Oslo"})
        for left in (True, False):  # comes back in time
            async with Client(tasks[2]["url"], mode="legacy") as client:
                await (client.list_tools() if left else solve(client))

    result = served(play, pool, tmp_path / "run", patience=Patience(1, 2), limit=3)
    played = chats(result)
    assert [chat.stops[0].reason for chat in played] == ["crashed", "crashed", "done"]
    assert "ended its session without an answer" in str(played[0].stops[0].error)


def test_a_session_whose_process_dies_has_left(pool: Path, tmp_path: Path) -> None:
    async def play(tasks: list[dict[str, Any]]) -> None:
        code = (
            "import anyio, os, sys\n"
            "from mcp import Client\n"
            "async def main():\n"
            "    async with Client(sys.argv[1], mode='legacy') as client:\n"
            "        await client.call_tool('weather', {'city': 'Rome'})\n"
            "        await anyio.sleep(0.2)\n"
            "        os._exit(9)\n"
            "anyio.run(main)\n"
        )
        died = await anyio.run_process([sys.executable, "-c", code, tasks[0]["url"]], check=False)
        assert died.returncode == 9, died.stderr

    (chat,) = chats(served(play, pool, tmp_path / "run", patience=Patience(closed=0.5), limit=1))
    assert chat.stops[0].reason == "crashed"
    assert len(list(chat.calls())) == 1


def test_a_client_that_thinks_with_its_stream_open_is_there(pool: Path, tmp_path: Path) -> None:
    async def play(tasks: list[dict[str, Any]]) -> None:
        async with Client(tasks[0]["url"], mode="legacy") as client:
            await client.list_tools()
            await anyio.sleep(1.5)
            await solve(client)

    (chat,) = chats(served(play, pool, tmp_path / "run", patience=Patience(0.5, 0.5), limit=1))
    assert chat.stops[0].reason == "done"


def test_a_call_that_lasts_is_no_absence(tmp_path: Path) -> None:
    lamps = Worlds(name="lamps", tools=toolbox("lamps", [dawdle]), tables={"lamps": []})
    bench = seal.Benchmark("lamps", tasks=[seal.ask("Light!")], environment=lamps)

    async def play(tasks: list[dict[str, Any]]) -> None:
        async with Client(tasks[0]["url"], mode="legacy") as client:
            await client.call_tool("dawdle", {})
            await client.call_tool("submit", {"answer": "It is light."})

    (chat,) = chats(served(play, bench, tmp_path / "run", patience=Patience(0.5, 0.5)))
    assert chat.stops[0].reason == "done"


def test_a_task_that_is_not_open_is_told_where_others_are(pool: Path, tmp_path: Path) -> None:
    async def play(tasks: list[dict[str, Any]]) -> None:
        other = tasks[0]["url"].replace("rome", "paris")
        async with Client(other) as client:
            with pytest.raises(
                MCPError, match="no task 'paris-0' is open; they are listed at http"
            ):
                await client.list_tools()
        async with Client(tasks[0]["url"]) as client:
            await solve(client)

    served(play, pool, tmp_path / "run", "rome-0")


def test_a_run_is_gone_on_with_by_its_folder(pool: Path, tmp_path: Path) -> None:
    async def play(tasks: list[dict[str, Any]]) -> None:
        for task in tasks:
            async with Client(task["url"]) as client:
                await solve(client)

    first = served(play, pool, tmp_path / "run", "oslo-1")
    assert [chat.task_id for chat in chats(first)] == ["oslo-1"]
    whole = served(play, pool, tmp_path / "run")
    assert [chat.task_id for chat in chats(whole)] == [task.id for task in many(4)]
    with pytest.raises(UsageError, match="0 tasks are to be played"):
        served(play, pool, tmp_path / "run")


@pytest.mark.parametrize(
    ("task", "changes", "kind", "says"),
    [
        ("pisa-0", {}, UnknownNameError, "no task 'pisa-0'"),
        (None, {"trials": 2}, UsageError, "leave --trials"),
        (None, {"history": "gold"}, UsageError, "leave --trials"),
    ],
)
def test_what_cannot_be_served_is_refused(
    pool: Path, tmp_path: Path, task: str | None, changes: dict[str, Any], kind: Any, says: str
) -> None:
    asked = settings(pool, **changes)
    with pytest.raises(kind, match=says):
        serve_http(asked, tmp_path / "run", task, "tried", 0, print)
    with pytest.raises(kind, match=says), serve_stdio(asked, tmp_path / "run", task, "tried"):
        pass


def test_a_port_that_is_taken_is_refused(pool: Path, tmp_path: Path) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match="give another --port"):
            serve_http(settings(pool), tmp_path / "run", None, "tried", port, print)


def over_stdio(pool: Path, out: Path, *words: str) -> StdioServerParameters:
    asked = ["-m", "seal", "mcp", str(pool), "--out", str(out), *words]
    return StdioServerParameters(
        command=sys.executable, args=asked, env={"SEAL_CACHE_DIR": str(out.parent / "cache")}
    )


def by_stdio(play: Callable[[Client], Awaitable[Any]], *where: Any) -> None:
    async def main() -> None:
        async with Client(over_stdio(*where)) as client:
            await play(client)

    anyio.run(main)


@pytest.mark.slow
def test_a_client_may_call_live_servers_through_us(tmp_path: Path) -> None:
    seal.import_benchmark("mcp", None, tmp_path / "tools", servers={"shop": line()})
    tools = list(read_records(tmp_path / "tools" / "tools.jsonl", Tool))
    bench = seal.Benchmark("shop", tools=tools, tasks=[seal.ask("Count.")], environment="mcp")

    async def play(tasks: list[dict[str, Any]]) -> None:
        async with Client(tasks[0]["url"]) as client:
            assert (await client.call_tool("count", {})).structured_content == {"total": 1}
            assert (await client.call_tool("fail", {})).is_error
            await client.call_tool("submit", {"answer": "1"})

    for number, more in enumerate([{"servers": {"shop": line()}}, {"cache": "replay"}]):
        (chat,) = chats(served(play, bench, tmp_path / f"run-{number}", **more))
        assert [call.call.name for call, _ in chat.calls()] == ["count", "fail"]


@pytest.mark.slow
def test_sessions_over_stdio_make_one_run(pool: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    by_stdio(solve, pool, out, "--stdio", "--name", "mine")
    by_stdio(solve, pool, out, "--task", "bern-2", "--name", "mine")
    folder = RunFolder(out)
    assert [chat.task_id for chat in folder.trajectories()] == ["rome-0", "bern-2"]
    assert folder.summary()["metrics"]["call_f1"]["mean"] == 1.0
    assert folder.manifest()["system"]["model"]["model"] == "mine"
    assert (out / "report.html").is_file()


@pytest.mark.slow
def test_a_client_that_leaves_without_an_answer_costs_its_chat_alone(
    pool: Path, tmp_path: Path
) -> None:
    async def leave(client: Client) -> None:
        await client.call_tool("weather", {"city": "Rome"})

    by_stdio(leave, pool, tmp_path / "run")
    (chat,) = RunFolder(tmp_path / "run").trajectories()
    assert chat.stops[0].reason == "crashed"
    assert "ended its session without an answer" in str(chat.stops[0].error)
    assert len(list(chat.calls())) == 1
