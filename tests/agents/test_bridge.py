"""An agent in another process: what it is told, what it may ask, what its calls come to."""

import json
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import openai
import pytest
import urllib3
from servers import Answer, ModelServer, calls, text

import seal
from seal.agents.bridge import Bridge
from seal.cli.dispatch import main
from seal.core import UsageError
from seal.report.lanes import model_name

ORDERS = {"7": "Monday", "8": "Friday"}


def get_order(order_id: str) -> str:
    """Say when an order ships."""
    return ORDERS[order_id]


TASK = seal.ask(
    "When do 7 and 8 ship?",
    seal.called("get_order", order_id="7"),
    seal.called("get_order", order_id="8"),
    answer=["Monday", "Friday"],
)
SHOP = seal.Benchmark("shop", tools=[get_order], tasks=[TASK])

BEGIN = """
import json, os, sys, urllib.request
BASE, KEY = os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"]
def ask(path, body=None, key=KEY):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(BASE + path, data, {"Authorization": "Bearer " + key})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)
"""
BOTH = """
found = [ask("/tools/get_order", {"order_id": number})["value"] for number in "78"]
print(found, file=sys.stderr)
ask("/answer", {"answer": " and ".join(found)})
"""
BY_CHAT = """
import openai
client, task = openai.OpenAI(), ask("/task")
messages = [{"role": "user", "content": task["request"]}]
while True:
    said = client.chat.completions.create(model="any", messages=messages, tools=task["tools"])
    message = said.choices[0].message
    messages.append(message.model_dump(exclude_none=True))
    for call in message.tool_calls or []:
        result = ask("/tools/" + call.function.name, json.loads(call.function.arguments))
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result["content"]})
    if not message.tool_calls:
        break
ask("/answer", {"answer": message.content})
"""
BY_RESPONSES = """
import openai
client, task = openai.OpenAI(), ask("/task")
tools = [{"type": "function", **tool["function"]} for tool in task["tools"]]
items = [{"role": "user", "content": task["request"]}]
while True:
    said = client.responses.create(model="any", input=items, tools=tools)
    calls = [item for item in said.output if item.type == "function_call"]
    items += [item.model_dump(exclude_none=True) for item in said.output]
    for call in calls:
        result = ask("/tools/" + call.name, json.loads(call.arguments))
        output = {"type": "function_call_output", "call_id": call.call_id}
        items.append({**output, "output": result["content"]})
    if not calls:
        break
print(said.output_text)
"""
STREAMED = """
import openai
client, task = openai.OpenAI(), ask("/task")
messages = [{"role": "user", "content": task["request"]}]
made = {}
for chunk in client.chat.completions.create(
    model="any", messages=messages, tools=task["tools"], stream=True
):
    for call in (chunk.choices[0].delta.tool_calls or []) if chunk.choices else []:
        made[call.index] = (call.function.name, call.function.arguments)
tools = [{"type": "function", **tool["function"]} for tool in task["tools"]]
with client.responses.stream(model="any", input=task["request"], tools=tools) as stream:
    whole = stream.get_final_response()
same = [(item.name, item.arguments) for item in whole.output if item.type == "function_call"]
assert same == list(made.values()), (same, made)
found = [ask("/tools/" + name, json.loads(given))["value"] for name, given in made.values()]
print(found)
"""
BY_MCP = """
import asyncio, httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

async def main():
    http = httpx2.AsyncClient(headers={"Authorization": "Bearer " + KEY}, timeout=60)
    async with http, Client(streamable_http_client(BASE + "/mcp", http_client=http)) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        request = (await client.get_prompt("task")).messages[0].content.text
        print(tools, request, file=sys.stderr)
        made = [client.call_tool("get_order", {"order_id": number}) for number in "78"]
        days = [result.content[0].text for result in await asyncio.gather(*made)]
        lost = await client.call_tool("get_order", {"order_id": "9"}) if len(sys.argv) > 1 else None
        print(lost and (lost.is_error, lost.content[0].text), file=sys.stderr)
        if len(sys.argv) > 2:
            return print(" and ".join(days))
        done = await client.call_tool("submit", {"answer": " and ".join(days)})

asyncio.run(main())
"""


@pytest.fixture
def command(tmp_path: Path) -> Callable[[str], str]:
    def written(body: str) -> str:
        script = tmp_path / "agent.py"
        script.write_text(BEGIN + body)
        return f"{sys.executable} {script}"

    return written


def played(agent: Bridge, tmp_path: Path, bench=SHOP, out="run", **options) -> seal.Run:
    given = {"baselines": False, "out": tmp_path / out, "cache_dir": tmp_path / "c", **options}
    return seal.run(bench, agent=agent, **given)


@pytest.mark.parametrize(
    "body", [BOTH, BY_CHAT, BY_RESPONSES, BY_MCP], ids=["calls", "chat", "responses", "mcp"]
)
def test_its_calls_are_calls_of_the_chat_and_its_answer_is_judged(body, command, tmp_path):
    if body is BY_MCP:
        pytest.importorskip("mcp")
    run = played(Bridge(command(body)), tmp_path, model="oracle")

    assert list(run.calls["author"]) == ["execution_manager"] * 2
    assert (run["call_f1"].mean, run["pass_rate"].mean) == (1.0, 1.0)


def test_table_and_record_name_the_agent_beside_the_model_that_it_asked(command, tmp_path):
    agent = Bridge(command(BOTH))
    named = f"bridge:{agent.command}"

    asked = played(agent, tmp_path, model="lexical")
    alone = played(agent, tmp_path, out="alone")

    assert [model_name(run.folder) for run in (asked, alone)] == [f"{named} with lexical", named]


AT_ONCE = """
import openai, time
from concurrent.futures import ThreadPoolExecutor
client, task = openai.OpenAI(), ask("/task")
messages = [{"role": "user", "content": task["request"]}]
said = client.chat.completions.create(model="any", messages=messages, tools=task["tools"])

def make(call):
    time.sleep(0.05 if "7" in call.function.arguments else 0)
    return ask("/tools/" + call.function.name, json.loads(call.function.arguments))["value"]

with ThreadPoolExecutor() as pool:
    ask("/answer", {"answer": str(list(pool.map(make, said.choices[0].message.tool_calls)))})
"""


def test_calls_that_it_makes_at_once_are_one_reply_in_the_order_of_the_models_answer(
    command, tmp_path
):
    run = played(Bridge(command(AT_ONCE)), tmp_path, model="oracle")
    assert list(run.calls["turn"]) == [1, 1]
    assert [json.loads(given)["order_id"] for given in run.calls["arguments"]] == ["7", "8"]


def test_an_agent_has_request_and_tools_by_mcp_and_may_answer_by_its_output(command, tmp_path):
    pytest.importorskip("mcp")
    run = played(Bridge(command(BY_MCP) + " lost printed"), tmp_path, trials=2, workers=2)

    said = run.folder.trajectories_path.read_text()
    assert "['get_order', 'submit'] When do 7 and 8 ship?" in said
    assert "(True, " in said
    assert (len(run.calls), run["pass_rate"].mean, run["pass_rate"].n) == (6, 1.0, 2)


def test_a_request_by_mcp_needs_the_token_of_the_chat_and_streams_are_not_offered(
    command, tmp_path
):
    pytest.importorskip("mcp")
    body = """
import urllib.error
def status(key, body):
    try:
        return bool(ask("/mcp", body, key))
    except urllib.error.HTTPError as error:
        return error.code
ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
print(status("another", ping), status(KEY, None), status(KEY, {}))
"""
    run = played(Bridge(command(body)), tmp_path)
    assert list(run.tasks["answer"]) == ["401 405 400"]


def test_a_wrong_call_of_it_counts_as_wrong(command, tmp_path):
    wrong = BOTH.replace('in "78"', 'in "77"')
    run = played(Bridge(command(wrong)), tmp_path)
    assert (run["mission_accuracy"].mean, run["param_acc_gold"].mean) == (0.0, 0.5)


def test_answers_may_be_streamed_in_both_forms(command, tmp_path):
    run = played(Bridge(command(STREAMED)), tmp_path, model="oracle")
    assert run["call_f1"].n == 1
    assert list(run.messages["content"])[-1].startswith("['Monday'")


def test_what_it_asks_the_model_is_counted_and_kept(command, tmp_path):
    script = [calls(("get_order", {"order_id": "7"})), text("On Monday.")]
    with ModelServer(script) as server:
        settings = {"model": f"openai/m,base_url={server.url}"}
        run = played(Bridge(command(BY_CHAT)), tmp_path, **settings)
    assert len(server.received) == 2
    assert (run.summary["usage"]["tokens_in"], run.summary["usage"]["tokens_out"]) == (22, 14)

    again = played(Bridge(command(BY_CHAT)), tmp_path, out="again", cache="replay", **settings)
    assert len(server.received) == 2
    assert _chats(again) == _chats(run)


def test_the_request_stands_at_its_input_and_its_output_is_the_answer(command, tmp_path):
    run = played(Bridge(command("print('I was asked:', sys.stdin.read())")), tmp_path)
    assert list(run.messages["content"])[-1] == f"I was asked: {TASK.goals[0].text}"


def test_a_command_that_ended_is_started_anew_when_the_user_goes_on(command, tmp_path):
    talk = replace(TASK, persona={"goal": "Know.", "replies": [["Both?"], ["And then?"]]})
    body = "print(len(ask('/task')['messages']), sys.stdin.read())"
    run = played(Bridge(command(body)), tmp_path, bench=[talk], tools=[get_order])
    said = [row.content for row in run.messages.itertuples() if row.author != "user_simulator"]
    assert said[:2] == [f"0 {TASK.goals[0].text}", "2 Both?"]


def test_one_process_may_play_a_whole_conversation(command, tmp_path):
    talk = replace(TASK, persona={"goal": "Know.", "replies": [["Both?"]]})
    body = (
        "heard = []\nsaid = {'request': ''}\n"
        "while said['request'] is not None:\n"
        "    said = ask('/answer', {'answer': 'Heard %d' % len(heard)})\n"
        "    heard.append(said['request'])\n"
    )
    run = played(Bridge(command(body)), tmp_path, bench=[talk], tools=[get_order])
    said = [row.content for row in run.messages.itertuples() if row.author != "user_simulator"]
    assert said[:2] == ["Heard 0", "Heard 1"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("sys.exit('no luck')", "exit code 1: no luck"),
        ("os.kill(os.getpid(), 9)", "signal 9: it said nothing"),
        ("raise KeyError('x')", "exit code 1: KeyError: 'x'"),
        ("sys.exit('Error: no module\\n  at a.js:1\\nNode')", "exit code 1: Error: no module"),
    ],
)
def test_a_process_that_fails_is_the_agents_own_failure(body, told, command, tmp_path):
    run = played(Bridge(command(body)), tmp_path)
    assert run.summary["stop_reasons"] == {"crashed": 1}
    assert told in next(run.folder.trajectories()).stops[0].error
    assert run["call_f1"].mean == 0.0


def test_a_process_that_never_asks_anything_ends_the_run(command, tmp_path):
    with pytest.raises(UsageError, match=r"failed before its first request in 3 chats.*: no luck"):
        played(Bridge(command("sys.exit('no luck')")), tmp_path, trials=9, workers=1)
    assert len((tmp_path / "run" / "trajectories.jsonl").read_text().splitlines()) == 2

    asks = played(Bridge(command("ask('/task'), sys.exit('no')")), tmp_path, out="other", trials=4)
    assert asks.summary["stop_reasons"] == {"crashed": 4}


def test_a_process_that_never_ends_is_ended_by_the_time_limit(command, tmp_path):
    left = tmp_path / "left"
    body = f"import time, pathlib\ntime.sleep(60)\npathlib.Path({str(left)!r}).touch()"
    start = time.monotonic()
    run = played(Bridge(command(body)), tmp_path, max_seconds=1.0)
    assert run.summary["stop_reasons"] == {"max_seconds": 1}
    assert time.monotonic() - start < 20
    assert not left.exists()


def test_a_budget_of_calls_ends_it(command, tmp_path):
    body = "while True: ask('/tools/get_order', {'order_id': '7'})"
    run = played(Bridge(command(body)), tmp_path, max_calls=3)
    assert run.summary["stop_reasons"] == {"max_calls": 1}


def test_another_token_and_another_chats_address_are_refused(command, tmp_path):
    body = """
import urllib.error
mine = BASE
for base, path, key in (
    (mine, "/task", "guessed"), (mine.replace("/0/", "/1/"), "/task", KEY), (mine, "/nothing", KEY)
):
    BASE = base
    try:
        ask(path, key=key)
    except urllib.error.HTTPError as error:
        print(error.code, json.load(error)["error"]["message"][:30])
"""
    run = played(Bridge(command(body)), tmp_path)
    assert list(run.messages["content"])[-1].splitlines() == [
        "401 no chat has this address and t",
        "401 no chat has this address and t",
        "404 GET nothing: no such request",
    ]


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("chat/completions", {}, "the request has no messages"),
        ("chat/completions", {"messages": [{"role": "king"}]}, "expected a role of"),
        ("chat/completions", {"messages": "hi"}, "messages: expected a list"),
        ("responses", {"input": [{"type": "image"}]}, "items of type 'image'"),
        ("responses", {"input": "hi", "previous_response_id": "r"}, "send the whole input"),
        ("answer", {}, "expected {'answer': TEXT}"),
        ("tools/get_order", [1], "expected the arguments as a JSON object"),
    ],
)
def test_a_request_that_cannot_be_read_is_told_and_ends_nothing(
    path, body, told, command, tmp_path
):
    script = f"""
import urllib.error
try:
    ask("/{path}", {body!r})
except urllib.error.HTTPError as error:
    print(error.code, json.load(error)["error"]["message"])
"""
    run = played(Bridge(command(script)), tmp_path)
    answer = list(run.messages["content"])[-1]
    assert answer.startswith("400 ")
    assert told in answer


def test_a_call_of_no_offered_tool_is_a_wrong_call(command, tmp_path):
    run = played(Bridge(command("print(ask('/tools/get_odrer', {})['error'])")), tmp_path)
    assert "unknown" in list(run.messages["content"])[-1]
    assert list(run.calls["name"]) == ["get_odrer"]


def test_a_tool_that_was_found_in_the_reply_may_be_called_by_its_name_on_the_wire(
    command, tmp_path
):
    schema = {"type": "object", "properties": {"order_id": {"type": "string"}}}
    tool = {"name": "shop.order!", "description": "Say when an order ships.", "parameters": schema}
    task = seal.ask("When does 7 ship?", seal.called("shop.order!", order_id="7"))
    bench = seal.Benchmark("shop", tools=[tool], tasks=[task])
    body = """
print([tool["function"]["name"] for tool in ask("/task")["tools"]], file=sys.stderr)
ask("/tools/find_tools", {"query": "when an order ships"})
print(ask("/tools/shop_order_", {"order_id": "7"})["error"])
"""
    options = {"retriever": "bm25", "retrieve": "on-demand"}
    run = played(Bridge(command(body)), tmp_path, bench, **options)
    assert list(run.messages["content"])[-1] == "None"
    assert list(run.calls["name"]) == ["find_tools", "shop.order!"]


def test_a_service_is_told_of_each_chat(tmp_path):
    pool = urllib3.PoolManager()

    class Service(BaseHTTPRequestHandler):
        def do_POST(self):
            told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with openai.OpenAI(base_url=told["base_url"], api_key=told["api_key"]) as client:
                first = client.chat.completions.create(
                    model="m",
                    messages=[{"role": "user", "content": told["request"]}],
                    tools=told["tools"],
                )
            found = []
            for call in first.choices[0].message.tool_calls:
                brought = pool.request(
                    "POST",
                    f"{told['base_url']}/tools/{call.function.name}",
                    json=json.loads(call.function.arguments),
                    headers={"Authorization": f"Bearer {told['api_key']}"},
                ).json()
                found.append(brought["value"])
            body = json.dumps({"answer": f"It ships on {found}"}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *values):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    run = played(Bridge(url=f"http://127.0.0.1:{server.server_port}/"), tmp_path, model="oracle")
    pool.clear()
    server.shutdown()
    server.server_close()
    assert list(run.messages["content"])[-1].startswith("It ships on ['Monday'")


@pytest.mark.parametrize("body", [b"{}", b"<html>", b'{"answer": 3}', b"[1]"])
def test_a_service_that_gives_no_answer_has_crashed(body, tmp_path):
    with ModelServer([Answer(body)]) as server:
        run = played(Bridge(url=server.url), tmp_path)
    assert run.summary["stop_reasons"] == {"crashed": 1}


def test_a_connection_that_the_agent_breaks_off_is_no_fault_of_ours(command, tmp_path, capfd):
    body = """
import socket, struct
host, port = BASE.split("/")[2].split(":")
broken = socket.create_connection((host, int(port)))
broken.sendall(b"POST /0/v1/answer HTTP/1.1\\r\\nContent-Length: 9\\r\\n\\r\\n{")
broken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
broken.close()
print("done")
"""
    run = played(Bridge(command(body)), tmp_path)
    assert run.summary["stop_reasons"] == {"done": 1}
    assert "Traceback" not in capfd.readouterr().err


def test_a_service_that_does_not_run_is_an_error_and_no_score(tmp_path):
    run = played(Bridge(url="http://127.0.0.1:9/"), tmp_path)
    assert run.summary["stop_reasons"] == {"error": 1}
    assert run["call_f1"].mean is None


def test_the_command_line_starts_it(command, tmp_path, capsys):
    SHOP.save(tmp_path / "P")
    words = ["run", str(tmp_path / "P"), "--out", str(tmp_path / "r")]
    assert main([*words, "--agent", "bridge"]) == 2
    assert "give bridge:COMMAND or bridge:URL" in capsys.readouterr().err
    assert main([*words, "--agent", "bridge", "--agent-command", "true"]) == 2
    assert "--agent-command is now --agent bridge:COMMAND" in capsys.readouterr().err
    both = BOTH.replace('["value"]', '["content"]')  # what is simulated is an object
    given = ["--agent", f"bridge:{command(both)}", "--no-baselines", "--simulator", "template"]
    assert main([*words, *given]) == 0
    assert seal.Run.load(tmp_path / "r")["call_f1"].mean == 1.0
    recorded = json.loads((tmp_path / "r" / "run.json").read_text())
    assert "bridge:" in json.dumps(recorded["system"])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "give bridge:COMMAND or bridge:URL"),
        ({"command": "no-such-program --x"}, "there is no such program"),
        ({"command": "'"}, "No closing quotation"),
        ({"url": "ftp://x"}, "bridge:URL"),
        ({"command": "true", "url": "http://x"}, "give bridge:COMMAND or bridge:URL"),
        ({"command": ["true"]}, "shlex.join makes one"),
    ],
)
def test_a_bridge_to_nothing_is_refused_before_the_run(given, told):
    with pytest.raises(UsageError, match=told):
        Bridge(**given)


def _chats(run: seal.Run) -> list[str]:
    return [row.content for row in run.messages.itertuples()]
