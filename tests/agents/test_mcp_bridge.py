"""What an MCP client is told at the address of its chat; the SDK's own client asks."""

import json
import sys
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
from small_pools import weather_task, write_pool

pytest.importorskip("mcp")

import seal
from seal.agents.bridge import Bridge
from seal.core import Task, Tool

CLIENT = """
import asyncio, json, os, sys
import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

heard = []

def note(what):
    heard.append(what)
    with open(sys.argv[1] + ".new", "w") as file:  # the client is ended at the end of its chat
        json.dump(heard, file)
    os.replace(sys.argv[1] + ".new", sys.argv[1])

def said(result):
    note([bool(result.is_error), result.content[0].text])

async def main():
    token = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    http = httpx2.AsyncClient(headers=token, timeout=60)
    url = os.environ["OPENAI_BASE_URL"] + "/mcp"
    async with http, Client(streamable_http_client(url, http_client=http)) as client:
        async def submit(**given):
            said(await client.call_tool("submit", given))
        async def refused(asked):
            try:
                await asked
            except MCPError as error:
                note(str(error))
BODY

asyncio.run(main())
"""


def played(
    body: str, pool: Any, tmp_path: Path, folder: str = "run", **options: Any
) -> tuple[seal.Run, list[Any]]:
    """Let a client play a benchmark's only task; return the run, and what the client heard."""
    script, heard = tmp_path / f"{folder}.py", tmp_path / f"{folder}.json"
    script.write_text(CLIENT.replace("BODY", indent(body, " " * 8)))
    agent = Bridge(f"{sys.executable} {script} {heard}")
    run = seal.run(pool, agent=agent, baselines=False, out=tmp_path / folder, **options)
    return run, json.loads(heard.read_text()) if heard.is_file() else []


def test_the_prompt_holds_what_the_system_tells_before_the_request(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "pool", [weather_task("Rome", system="Today is Friday.")])
    body = """
note((await client.get_prompt("task")).messages[0].content.text)
await refused(client.get_prompt("another"))
await submit(answer="sunny in Rome")
"""
    _, heard = played(body, pool, tmp_path)
    assert heard[0] == "Today is Friday.\n\nWhat is the weather in Rome?"
    assert heard[1] == "no prompt 'another'; known: task"


def test_the_user_answers_a_question_and_what_is_no_answer_is_refused(tmp_path: Path) -> None:
    persona = {"replies": [["In Rome."]]}
    asked = Task("asked", "small", weather_task("Rome").goals, persona=persona)
    body = """
await submit()
await submit(answer=5)
await submit(answer="Where?")
await submit(answer="sunny in Rome")
"""
    run, heard = played(body, write_pool(tmp_path / "pool", [asked]), tmp_path)
    wrong = "the argument 'answer' must be a text, got {}; submit again"
    assert heard[:2] == [[True, wrong.format(got)] for got in ("nothing", "5")]
    assert heard[2] == [False, "In Rome."]
    (chat,) = run.folder.trajectories()
    said = [step.content for step in chat.steps if step.author == "execution_manager"]
    assert said == ["Where?", "sunny in Rome"]


def test_a_tool_that_is_called_submit_stays_a_tool(tmp_path: Path) -> None:
    tool = Tool("form/submit", "submit", "Submit the form.")
    bench = seal.Benchmark("form", tools=[tool], tasks=[seal.ask("Submit it.")])
    body = """
note([tool.name for tool in (await client.list_tools()).tools])
await client.call_tool("submit", {})
await client.call_tool("submit_answer", {"answer": "done"})
"""
    run, heard = played(body, bench, tmp_path)
    assert heard == [["submit", "submit_answer"]]
    assert list(run.calls["name"]) == ["submit"] and list(run.tasks["answer"]) == ["done"]


def test_calls_made_at_once_stand_on_the_record_and_unknown_ones_too(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "pool", [weather_task("Rome")])
    body = """
made = [client.call_tool(name, {"city": "Rome"}) for name in ("weather", "nothing")]
for result in await asyncio.gather(*made):
    note(bool(result.is_error))
await submit(answer="sunny in Rome")
"""
    run, heard = played(body, pool, tmp_path)
    assert heard[:2] == [False, True]
    assert sorted(run.calls["name"]) == ["nothing", "weather"]


def test_budgets_hold_and_what_comes_after_is_refused(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "pool", [weather_task("Rome")])
    body = """
for _ in range(3):
    await refused(client.call_tool("weather", {"city": "Rome"}))
"""
    run, _ = played(body, pool, tmp_path, max_calls=1)
    assert [chat.stops[0].reason for chat in run.folder.trajectories()] == ["max_calls"]
