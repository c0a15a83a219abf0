"""A function in the place of the agent: what it is given, what it may do, what it is told."""

import asyncio
import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
import requests

import seal
from seal.agents.own import ToolError
from seal.cli.dispatch import main
from seal.core import UnknownNameError, UsageError

ORDERS = {"7": "Monday", "8": "Friday"}


def get_order(order_id: str, in_words: bool = True) -> str:
    """Say when an order ships.

    Args:
        order_id: As on the receipt.
        in_words: Whether to name the day.
    """
    return ORDERS[order_id]


SHOP = seal.Benchmark(
    "shop",
    tools=[get_order],
    tasks=[
        seal.ask(
            "When do 7 and 8 ship?",
            seal.called("get_order", order_id="7"),
            seal.called("get_order", order_id="8"),
            answer=["Monday", "Friday"],
        )
    ],
)


def played(agent, tmp_path: Path, bench=SHOP, **options) -> seal.Run:
    given = {"baselines": False, "out": tmp_path / "run", "cache_dir": tmp_path / "c", **options}
    return seal.run(bench, agent=agent, **given)


def both(request, tools):
    (look_up,) = tools
    return f"{look_up(order_id='7')} and {look_up('8')}"


async def at_once(request, tools):
    found = await asyncio.gather(*(tools[0](order_id=number) for number in ORDERS))
    return " and ".join(found)


@pytest.mark.slow
@pytest.mark.parametrize(("seconds", "handed_over"), [(0.0, [True, False]), (0.6, [True, True])])
def test_quick_tools_run_in_the_event_loop_that_asks_and_slow_ones_do_not(
    seconds, handed_over, tmp_path
):
    threads = []

    def look_up(order_id: str) -> str:
        threads.append(threading.get_ident())
        time.sleep(seconds)
        return asyncio.run(asyncio.sleep(0, ORDERS[order_id]))

    async def repeatedly(request, tools):
        threads.append(threading.get_ident())
        return " and ".join([await tools[0](order_id="7") for _ in range(4)])

    shop = seal.Benchmark("shop", tools=[look_up], tasks=[seal.ask("When does 7 ship?")])
    run = played(repeatedly, tmp_path, shop)

    loop, first, *_, last = threads
    assert [first != loop, last != loop] == handed_over
    assert run.summary["stop_reasons"] == {"done": 1}
    assert list(run.calls["error"].dropna()) == []


class Clerk:
    def __call__(self, request, tools):
        return both(request, tools)


@pytest.mark.parametrize(
    ("agent", "turns"), [(both, [1, 3]), (at_once, [1, 1]), (Clerk(), [1, 3])], ids=["f", "a", "o"]
)
def test_its_calls_are_calls_of_the_chat_and_its_answer_is_judged(agent, turns, tmp_path):
    run = played(agent, tmp_path)

    assert list(run.calls["turn"]) == turns
    assert list(run.calls["author"]) == ["execution_manager"] * 2
    assert (run["call_f1"].mean, run["pass_rate"].mean) == (1.0, 1.0)


def one_wrong(request, tools):
    return f"{tools[0](order_id='7')} and {tools[0](order_id='8', in_words=False)}"


async def one_wrong_at_once(request, tools):
    wanted = [{"order_id": "7"}, {"order_id": "8", "in_words": False}]
    return " and ".join(await asyncio.gather(*(tools[0](**one) for one in wanted)))


def one_wrong_in_steps(request, tools):
    yield one_wrong(request, tools)


@pytest.mark.parametrize("agent", [one_wrong, one_wrong_at_once, one_wrong_in_steps])
def test_a_wrong_call_is_scored_as_wrong_whatever_it_answers(agent, tmp_path):
    run = played(agent, tmp_path)
    assert (run["call_f1"].mean, run["pass_rate"].mean) == (1.0, 1.0)
    assert run["param_acc_gold"].mean == 0.5
    assert run["mission_accuracy"].mean == 0.0


def test_its_tools_have_the_names_signatures_and_texts_of_the_documents(tmp_path):
    told = []

    def look(request, tools):
        (tool,) = tools
        told.append((tool.__name__, str(tool.__signature__), tool.__doc__, tool.parameters))
        return "none"

    played(look, tmp_path)
    ((name, signature, text, parameters),) = told
    assert (name, signature) == ("get_order", "(*, order_id: str, in_words: bool = True)")
    assert text.startswith("Say when an order ships.\n\nArgs:\n    order_id: As on the receipt.")
    assert parameters["required"] == ["order_id"]


def test_what_a_tool_refuses_or_raises_is_a_tool_error_that_it_may_catch(tmp_path):
    def careful(request, tools):
        told = []
        for arguments in ({"order_id": "9"}, {"order": "7"}):
            try:
                tools[0](**arguments)
            except ToolError as error:
                told.append(str(error))
        return "; ".join(told)

    run = played(careful, tmp_path)
    (answer,) = run.tasks["answer"]
    assert answer.startswith("KeyError: '9'; get_order takes no argument 'order'; it takes: order")


def test_a_third_argument_is_what_was_said_before(tmp_path):
    goals = tuple(seal.Goal(text, offered=("shop/get_order",)) for text in ("Hi", "And now?"))
    bench = seal.Benchmark("shop", tools=[get_order], tasks=[seal.Task("one", "shop", goals)])

    def echo(request, tools, messages):
        return f"{request} {[(m['role'], m['content']) for m in messages]}"

    answers = list(played(echo, tmp_path, bench).tasks["answer"])
    assert answers[0] == "Hi []"
    assert answers[1] == "And now? [('user', 'Hi'), ('assistant', 'Hi []')]"


def with_an_option(request, tools, retries=3):
    return f"{len(tools)} {retries}"


def with_an_option_by_name(request, tools, *, retries=3):
    return f"{len(tools)} {retries}"


def with_messages_or_none(request, tools, messages=None):
    return f"{len(tools)} {messages}"


def with_further_ones(request, tools, earlier, retries=3):
    return f"{len(tools)} {earlier} {retries}"


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        (with_an_option, "1 3"),
        (with_an_option_by_name, "1 3"),
        (with_messages_or_none, "1 []"),
        (with_further_ones, "1 [] 3"),
    ],
)
def test_a_third_argument_with_a_default_is_its_own_unless_it_is_named_messages(
    agent, said, tmp_path
):
    assert list(played(agent, tmp_path).tasks["answer"]) == [said]


async def awaits_nothing(request, tools):
    await asyncio.sleep(0)


def yields_nothing(request, tools):
    yield


def returns_nothing(request, tools):
    yield from ()


async def yields_a_number(request, tools):
    yield 5


async def yields_never(request, tools):
    for text in ():
        yield text


class OddError(BaseException):
    pass


def raising(error):
    def agent(request, tools):
        raise error

    return agent


def closes_its_output(request, tools):
    print("Mine.")
    sys.stdout.close()
    return both(request, tools)


def leaves_another_output(request, tools):
    print("Mine.")
    sys.stdout = io.StringIO()
    return both(request, tools)


@pytest.mark.parametrize("agent", [closes_its_output, leaves_another_output])
def test_what_it_does_to_its_output_is_undone(agent, tmp_path, capsys):
    output = sys.stdout
    run = played(agent, tmp_path, trials=2, workers=1)  # a stream of the process is that of all
    assert (run.summary["stop_reasons"], sys.stdout) == ({"done": 2}, output)
    assert not output.closed
    assert [chat.provenance["printed"][0]["text"] for chat in run.folder.trajectories()] == [
        "Mine.\n",
        "Mine.\n",
    ]


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        (raising(OddError("odd")), "OddError: odd (test_own_agent.py"),
        (raising(KeyboardInterrupt()), "KeyboardInterrupt:"),
        (raising(GeneratorExit()), "GeneratorExit:"),
        (lambda request, tools: "x" * 2_000_000, "2,000,000 characters; at most 1,048,576 are"),
        (lambda request, tools: None, "returned None; expected the answer as a text"),
        (lambda request, tools: 7, "returned 7 (int); expected the answer as a text"),
        (awaits_nothing, "returned None; expected the answer as a text"),
        (yields_nothing, "yielded None; expected a text for the user"),
        (returns_nothing, "returned None; expected the answer as a text"),
        (yields_a_number, "yielded 5 (int); expected a text for the user"),
        (yields_never, "ended before it yielded; expected that it yields its answer last"),
        (lambda request, tools: 1 / 0, "ZeroDivisionError: division by zero (test_own_agent.py"),
        (lambda request, tools: tools[0]("7", True, 3), "get_order takes 2 arguments, got 3"),
        (
            lambda request, tools: tools[0]("7", order_id="8"),
            "get_order got the argument 'order_id' twice, by place and by name",
        ),
        (
            lambda request, tools: tools[0](order_id={7}),
            "get_order got an argument that JSON cannot say",
        ),
    ],
)
def test_a_crash_of_the_agent_is_its_own_failure_with_its_traceback(agent, said, tmp_path):
    run = played(agent, tmp_path)
    assert (run.exit_code, run.summary["errors"]) == (1, 0)
    assert (run["call_f1"].mean, run["pass_rate"].mean) == (0.0, 0.0)
    assert "warning: the agent crashed in every chat; mend it and play again: role" in repr(run)
    assert said in str(run.summary["crashes"])
    (stop,) = next(run.folder.trajectories()).stops
    assert stop.reason == "crashed"
    assert stop.error.startswith("role 'execution_manager': ")


def test_a_call_that_it_cancels_keeps_no_refusal_from_the_others(tmp_path):
    ended = []

    async def hasty(request, tools):
        for _ in range(9):
            calls = [asyncio.ensure_future(tools[0](order_id="7")) for _ in range(2)]
            await asyncio.sleep(0)
            calls[0].cancel()
            done, _ = await asyncio.wait(calls, timeout=5)
            ended.append(len(done))
        return "none"

    played(hasty, tmp_path, max_calls=3)
    assert ended and set(ended) == {2}


def stubborn(request, tools):
    while True:
        try:
            tools[0](order_id="7")
        except Exception:
            continue


async def stubborn_at_once(request, tools):
    while True:
        try:
            await asyncio.gather(tools[0](order_id="7"))
        except Exception:
            continue


@pytest.mark.parametrize("agent", [stubborn, stubborn_at_once])
def test_an_agent_that_catches_every_error_ends_by_the_budget(tmp_path, agent):
    run = played(agent, tmp_path, max_calls=4)
    assert run.summary["stop_reasons"] == {"max_calls": 1}


def test_an_agent_that_is_cancelled_has_crashed(tmp_path):
    async def cancelled(request, tools):
        raise asyncio.CancelledError

    run = played(cancelled, tmp_path)
    assert run.summary["stop_reasons"] == {"crashed": 1}


def test_calls_before_a_crash_count(tmp_path):
    def half(request, tools):
        tools[0](order_id="7")
        return tools[0](order_id="8").no_such_attribute

    run = played(half, tmp_path)
    (stop,) = next(run.folder.trajectories()).stops
    assert run["call_f1"].mean == 1.0
    assert "no_such_attribute" in stop.error
    assert "test_own_agent.py, line" in stop.error
    assert str(Path(__file__).parent) not in stop.error


class Busy(Exception):
    status_code = 429


class Answering(BaseHTTPRequestHandler):
    """Answers each GET with the status that its path names."""

    def do_GET(self):
        self.send_response(int(self.path[1:]))
        self.end_headers()

    def log_message(self, *words):
        """Say nothing."""


@pytest.fixture(scope="module")
def busy_server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def by_httpx(address):
    httpx.get(address).raise_for_status()


def by_requests(address):
    requests.get(address, timeout=9).raise_for_status()


def by_urllib(address):
    urllib.request.urlopen(address, timeout=9)


@pytest.mark.parametrize("ask", [by_httpx, by_requests, by_urllib])
@pytest.mark.parametrize(
    ("status", "reason"), [(429, "error"), (503, "error"), (404, "crashed"), (401, "crashed")]
)
def test_a_status_that_its_own_client_raises_tells_an_outage_from_a_crash(
    ask, status, reason, busy_server, tmp_path
):
    def asking(request, tools):
        ask(f"{busy_server}/{status}")

    run = played(asking, tmp_path)
    assert run.summary["stop_reasons"] == {reason: 1}
    assert run["call_f1"].n == (reason == "crashed")


@pytest.mark.parametrize(("wraps", "reason"), [(False, "crashed"), (True, "error")])
def test_a_time_limit_is_an_outage_only_where_it_led_to_another_error(wraps, reason, tmp_path):
    def late(request, tools):
        try:
            raise TimeoutError("too late")
        except TimeoutError as error:
            if wraps:
                raise RuntimeError("my provider is slow") from error
            raise

    assert played(late, tmp_path).summary["stop_reasons"] == {reason: 1}


@pytest.mark.parametrize("error", [ConnectionResetError("gone"), Busy("too many requests")])
def test_a_server_that_fails_the_agent_is_no_failure_of_the_agent(error, tmp_path):
    def asking(request, tools):
        try:
            raise error
        except Exception as failed:
            raise RuntimeError("my provider is down") from failed

    run = played(asking, tmp_path)
    assert (run.exit_code, run.summary["stop_reasons"]) == (1, {"error": 1})
    assert run["call_f1"].n == 0


def endless(request, tools):
    while True:
        time.sleep(0.01)


async def endless_too(request, tools):
    await asyncio.Event().wait()


async def blocking(request, tools):
    time.sleep(4)


@pytest.mark.parametrize("agent", [endless, endless_too, blocking])
def test_an_agent_that_never_ends_ends_by_its_time(agent, tmp_path):
    run = played(agent, tmp_path, max_seconds=0.2)
    assert (run.exit_code, run.summary["stop_reasons"]) == (0, {"max_seconds": 1})


def test_what_it_prints_is_kept_and_shown_by_view(tmp_path, capsys):
    def talkative(request, tools):
        print("I think.")
        tools[0](order_id="7")
        print("Now I know.")
        return "Monday"

    run = played(talkative, tmp_path)
    assert capsys.readouterr().out == ""
    assert next(run.folder.trajectories()).provenance["printed"] == [
        {"step": 1, "role": "execution_manager", "text": "I think.\n"},
        {"step": 3, "role": "execution_manager", "text": "Now I know.\n"},
    ]
    main(["view", str(run.folder.path), next(run.folder.tasks()).id])
    shown = capsys.readouterr().out
    for text in ("I think.", "Now I know."):
        assert f"execution_manager printed:\n      {text}" in shown


def test_each_chat_keeps_its_own_prints(tmp_path):
    tasks = [seal.ask(f"Number {n}") for n in range(8)]
    bench = seal.Benchmark("shop", tools=[get_order], tasks=tasks)

    async def talkative(request, tools):
        for _ in range(3):
            print(request)
            await asyncio.sleep(0.001)
        return "fine"

    run = played(talkative, tmp_path, bench, workers=4)
    for chat in run.folder.trajectories():
        (told,) = chat.provenance["printed"]
        assert set(told["text"].splitlines()) == {chat.steps[0].content}


def test_a_tool_that_is_called_after_the_answer_refuses(tmp_path):
    kept, refused = [], []

    def sly(request, tools):
        kept.extend(tools)
        return "Monday"

    run = played(sly, tmp_path)
    try:
        kept[0](order_id="7")
    except Exception as error:
        refused.append(str(error))
    assert "used its chat after its reply had ended" in refused[0]
    assert len(run.calls) == 0


def test_an_async_tool_that_is_called_after_the_answer_refuses(tmp_path):
    refused = threading.Event()

    async def later(tool):
        try:
            await asyncio.sleep(0.05)
            await tool(order_id="7")
        except Exception as error:
            if "after its reply had ended" in str(error):
                refused.set()

    tasks = []

    async def sly(request, tools):
        tasks.append(asyncio.ensure_future(later(tools[0])))
        return "Monday"

    async def patient(request, tools):
        if not tasks:
            return await sly(request, tools)
        await tasks[0]
        return "Friday"

    goals = tuple(seal.Goal(text, offered=("shop/get_order",)) for text in ("Hi", "And now?"))
    bench = seal.Benchmark("shop", tools=[get_order], tasks=[seal.Task("one", "shop", goals)])
    run = played(patient, tmp_path, bench)
    assert refused.is_set()
    assert len(run.calls) == 0


def test_a_changed_working_folder_is_as_before_for_the_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()

    def wanderer(request, tools):
        os.chdir("elsewhere")
        return str(tools[0](order_id="7"))

    run = seal.run(SHOP, agent=wanderer, baselines=False, out="run", cache_dir="c")
    assert Path.cwd() == tmp_path
    assert run.exit_code == 0
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
@pytest.mark.parametrize("limit", [None, 20])
def test_a_fork_ends_with_the_function_and_calls_nothing(tmp_path, limit):
    told = tmp_path / "told"

    def forking(request, tools):
        child = os.fork()
        if child == 0:
            try:
                tools[0](order_id="8")
            except Exception as error:
                told.write_text(str(error))
            return "from the child"
        _, status = os.waitpid(child, 0)
        return f"{tools[0](order_id='7')} {os.waitstatus_to_exitcode(status)}"

    run = played(forking, tmp_path, max_seconds=limit)
    assert list(run.tasks["answer"]) == ["Monday 1"]
    (call,) = next(run.folder.trajectories()).calls()
    assert call[0].call.arguments == {"order_id": "7"}
    assert "in another process, where nothing is recorded" in told.read_text()


def test_a_framework_that_is_not_installed_is_named_with_the_repair(tmp_path, monkeypatch):
    (tmp_path / "graphs.py").write_text("import no_such_framework\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match=r"needs 'no_such_framework', which is not installed"):
        played("graphs:solve", tmp_path)


TALK = seal.Benchmark(
    "shop",
    tools=[get_order],
    tasks=[
        replace(
            seal.ask("When does it ship?", seal.called("get_order", order_id="7"), answer="Monday"),
            persona={"goal": "Know it.", "replies": [["7", "Thanks."]]},
        )
    ],
)


def asking(request, tools):
    number = yield "Which order?"
    return f"It ships on {tools[0](order_id=number)}."


async def asking_too(request, tools):
    number = yield "Which order?"
    yield f"It ships on {await tools[0](order_id=number)}."


def asking_and_leaving(request, tools):
    if request == "Thanks.":
        yield "You are welcome."
    else:
        number = yield "Which order?"
        yield f"It ships on {tools[0](order_id=number)}."


@pytest.mark.parametrize("agent", [asking, asking_too, asking_and_leaving])
@pytest.mark.parametrize("limit", [None, 20])
def test_a_generator_asks_the_user_and_is_sent_the_answers(agent, limit, tmp_path):
    run = played(agent, tmp_path, TALK, max_seconds=limit)
    said = [step.content for step in next(run.folder.trajectories()).steps if not step.result]
    said = [text for text in said if text]
    assert run["call_f1"].mean == 1.0
    assert said[:4] == ["When does it ship?", "Which order?", "7", "It ships on Monday."]


def test_a_generator_that_begins_anew_calls_tools_at_once(tmp_path):
    async def looking(request, tools):
        yield f"It ships on {await tools[0](order_id='7')}."

    (chat,) = played(looking, tmp_path, TALK).folder.trajectories()
    assert chat.stops[0].reason == "user_ended"
    assert sum(step.author == "execution_manager" for step, _ in chat.calls()) == 3


def test_a_client_that_an_async_agent_holds_serves_all_runs_and_a_task_that_it_left_ends(tmp_path):
    loops, left = set(), []

    async def agent(request, tools):
        loops.add(asyncio.get_running_loop())
        left.append(asyncio.ensure_future(asyncio.sleep(60)))
        return await at_once(request, tools)

    for name in ("one", "two"):
        assert played(agent, tmp_path / name)["call_f1"].mean == 1.0
    (loop,) = loops
    assert loop.is_running()
    deadline = time.monotonic() + 5
    while not all(task.done() for task in left) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert [task.cancelled() for task in left] == [True, True]


def test_a_task_that_heeds_no_end_breaks_off_no_other_run_and_its_loop_ends_after_it(tmp_path):
    begun, may_end, loops = threading.Event(), threading.Event(), []

    async def patient(request, tools):
        begun.set()
        while not may_end.is_set():
            await asyncio.sleep(0.01)
        return await at_once(request, tools)

    async def for_ever():
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(60)

    async def stubborn(request, tools):
        loops.append(asyncio.get_running_loop())
        asyncio.get_running_loop().left = asyncio.ensure_future(for_ever())
        await asyncio.sleep(0)
        return "Monday"

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(played, patient, tmp_path / "one")
        assert begun.wait(30)
        played(stubborn, tmp_path / "two")
        time.sleep(1.5)  # as long as a task may take to heed its end, and more
        assert not loops[0].is_closed()
        may_end.set()
        assert other.result()["call_f1"].mean == 1.0
    deadline = time.monotonic() + 5
    while not loops[0].is_closed() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert loops[0].is_closed()


def test_a_function_that_stops_the_event_loop_holds_up_no_chat(tmp_path):
    async def stopping(request, tools):
        asyncio.get_running_loop().stop()
        await asyncio.sleep(0.01)
        return await at_once(request, tools)

    for name in ("one", "two"):
        assert played(stopping, tmp_path / name, max_seconds=60)["call_f1"].mean == 1.0


def test_an_agent_that_calls_for_ever_ends_by_the_budget(tmp_path):
    def loop(request, tools):
        while True:
            tools[0](order_id="7")

    run = played(loop, tmp_path, max_calls=3)
    assert (run.exit_code, list(run.tasks["stop"])) == (0, ["max_calls"])


async def keeps_together(request, tools):
    while True:
        await asyncio.gather(tools[0](order_id="7"), return_exceptions=True)


async def keeps_each(request, tools):
    while True:
        with contextlib.suppress(Exception):
            await tools[0](order_id="7")


@pytest.mark.parametrize("agent", [keeps_together, keeps_each])
def test_an_async_agent_that_keeps_every_error_is_ended_by_its_budget(tmp_path, agent):
    run = played(agent, tmp_path, max_calls=3)
    assert (run.exit_code, list(run.tasks["stop"])) == (0, ["max_calls"])


RUNAWAY = """
import asyncio, contextlib, time
import seal

def get_order(order_id: str) -> str:
    "Say when an order ships."
    return "Monday"

async def runaway(request, tools):
    if "8" in request:
        start = time.process_time()
        await asyncio.sleep(0.5)
        return str(time.process_time() - start)
    with contextlib.suppress(BaseException):
        await asyncio.sleep(10)
    while True:
        with contextlib.suppress(BaseException):
            await tools[0](order_id="7")

tasks = [seal.ask(f"Order {n}?", seal.called("get_order", order_id=str(n))) for n in (7, 8)]
run = seal.run(tasks, tools=[get_order], agent=runaway, max_seconds=1, baselines=False)
assert list(run.tasks["stop"]) == ["max_seconds", "done"]
assert float(run.tasks["answer"].iloc[1]) < 0.25
"""


@pytest.mark.slow
def test_an_async_agent_that_heeds_no_end_leaves_the_processor_and_the_process_alone(tmp_path):
    (tmp_path / "script.py").write_text(RUNAWAY)
    words = [sys.executable, "script.py"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        (lambda request: "x", r"\(request\) is no agent; expected a function of \(request, tools"),
        (3, "agent: expected a model .*a function of .request, tools. .*or None, got 3"),
        ({"a": 1}, "agent: expected a model .*, got a dict"),
        (dict, "<class 'dict'> is no agent; expected a model"),
        ("nowhere:solve", "no module 'nowhere' is installed, in this folder, or on PYTHONPATH"),
        ("os:nothing", "os has no 'nothing'"),
    ],
)
def test_what_is_no_agent_is_refused_with_what_one_is(agent, said, tmp_path):
    with pytest.raises(UsageError, match=said):
        played(agent, tmp_path)


def test_a_name_that_is_nearly_a_models_names_the_model(tmp_path):
    with pytest.raises(UnknownNameError, match=r"no agent or model 'lexcal'.*'lexical'"):
        played("lexcal", tmp_path)


def test_a_coroutine_is_told_from_its_function(tmp_path):
    with pytest.raises(UsageError, match="a coroutine is no agent; give the function itself"):
        played(at_once("", []), tmp_path)


def test_roles_beside_it_need_a_model_of_their_own(tmp_path):
    with pytest.raises(
        UsageError, match=r"'orchestrator' needs a model.*--role-model orchestrator"
    ):
        played(both, tmp_path / "a", team="full")
    with pytest.raises(UsageError, match=r"test_own_agent:both plays tasks and cannot be the judg"):
        played(both, tmp_path / "b", judge="llm")


def removes_the_working_folder(request, tools):
    shutil.rmtree(Path.cwd(), ignore_errors=True)  # the run writes and renames there meanwhile
    return both(request, tools)


def removes_a_folder_of_its_own(request, tools):
    os.chdir(tempfile.mkdtemp())
    return removes_the_working_folder(request, tools)


@pytest.mark.parametrize("agent", [removes_the_working_folder, removes_a_folder_of_its_own])
@pytest.mark.parametrize("out", ["runs/one", "../outside"])
def test_a_working_folder_that_an_agent_removes_costs_no_result(agent, out, tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)

    two = seal.Benchmark("two", tools=[get_order], tasks=[*SHOP.tasks, *SHOP.tasks])
    run = played(agent, tmp_path, two, out=Path(out), workers=1)

    assert Path.cwd() == home
    assert (run["pass_rate"].mean, run["pass_rate"].n) == (1.0, 2)
    assert run.summary["stop_reasons"] == {"done": 2}
    assert seal.Run.load(home / out).summary == run.summary


def test_a_run_in_which_one_chat_did_not_crash_is_fine(tmp_path):
    def agent(request, tools):
        return both(request, tools) if asked.append(request) or len(asked) > 1 else 1 / 0

    asked = []
    run = played(agent, tmp_path, trials=2)
    assert (run.exit_code, run.summary["stop_reasons"]) == (0, {"crashed": 1, "done": 1})
    assert "warning" not in repr(run)


@pytest.mark.parametrize(("limit", "told"), [({}, 1), ({"max_seconds": 60.0}, 0)])
def test_an_agent_that_takes_long_without_a_limit_is_told_of_once(
    limit, told, tmp_path, monkeypatch, caplog
):
    def slow(request, tools):
        time.sleep(0.5)
        return both(request, tools)

    monkeypatch.setattr("seal.runs.play._SILENCE", 0.1)
    played(slow, tmp_path, **limit)
    said = [message for message in caplog.messages if "no chat has ended" in message]
    assert len(said) == told
    assert all("task shop-001, trial 0. --max-seconds N ends" in message for message in said)


ENDS_ITS_PROCESS = """
import os, seal

def get_order(order_id: str) -> str:
    "Say when an order ships."
    return "Monday"

def solve(request, tools):
    order = request.split()[1].strip("?")
    answer = tools[0](order)
    if order == "8":
        os._exit(3)
    return answer

def task(number):
    called = seal.called("get_order", order_id=str(number))
    return seal.ask(f"Order {number}?", called, answer="Monday")

bench = seal.Benchmark("shop", tools=[get_order], tasks=[task(n) for n in (6, 7, 8, 9)])
"""


def seal_run(folder, *words):
    """Play the agent that ends its process, in a process; return its exit code and errors."""
    (folder / "mine.py").write_text(ENDS_ITS_PROCESS)
    told = ["run", "mine:bench", "--agent", "mine:solve", "--no-baselines", "--out", "run", *words]
    command = [sys.executable, "-m", "seal", *told]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stderr


def crashed_alone(folder):
    """Check that one chat has crashed, with the calls before, and all others are as ever."""
    run = seal.Run.load(folder / "run")
    assert run.summary["stop_reasons"] == {"crashed": 1, "done": 3}
    assert (run["call_f1"].mean, run["pass_rate"].mean) == (1.0, 0.75)
    (told,) = run.summary["crashes"]
    assert told.startswith("a worker process died (exit code 3) in this chat, twice: the agent")


@pytest.mark.slow
def test_an_agent_that_ends_its_process_loses_its_own_chat_alone(tmp_path):
    code, told = seal_run(tmp_path, "--processes", "2", "--workers", "2")
    assert code == 0, told
    assert "task shop-003, trial 0" in told and "played again, in a process of its own" in told
    crashed_alone(tmp_path)


@pytest.mark.slow
def test_an_agent_that_ended_the_runs_process_ends_it_no_second_time(tmp_path):
    code, _ = seal_run(tmp_path, "--workers", "1")
    assert code == 3  # the agent's
    code, told = seal_run(tmp_path, "--workers", "1", "--resume")
    assert code == 0, told
    assert "died in task shop-003, trial 0: played now in a process of its own" in told
    crashed_alone(tmp_path)
