"""What SEAL adds to somebody's own agents, beside the same work without SEAL.

    python perf/agents.py [--short]

- A function: the same coroutine function, and so the same requests by `openai.AsyncOpenAI`, eight
  chats at once: called in a bare loop, and by `seal.run`, which plays, records and scores.
- Agents of AutoGen: the same `GroupChat` of two stock agents: asked by `initiate_chat`, and by
  `seal.run`. Without SEAL their own clients ask the server.
- Live MCP servers: the same calls by the SDK's own client, and in a chat (`mcp_calls.py`).

A chat is four requests to one local server: three that are answered by a call of a tool, and one
that is answered by a text. Each contender is a process of its own; they take turns. A process first
plays some chats, and then 16 and 96: the difference is what a chat costs, without what a run costs.
SEAL then scores both runs once more, which tells what of it was scoring. The first ratio is that of
playing and recording, and has the goal: nobody scores in the bare loop. The last one has scoring in
it.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import mcp_calls
from whole import BENCHMARK, environment, served

_TIMED = """
import sys, time

def milliseconds(play, score=lambda chats: None):
    play(8)
    score(8)
    print(taken(play), taken(score))

def taken(work):
    spent = {}
    for chats in (16, 96):
        start = time.process_time()
        work(chats)
        spent[chats] = time.process_time() - start
    return 1000 * (spent[96] - spent[16]) / 80
"""
_SOLVE = """
import asyncio, json
import openai

client = openai.AsyncOpenAI()

async def solve(request, tools):
    messages = [{"role": "user", "content": request}]
    functions = [
        {"name": tool.__name__, "description": tool.__doc__, "parameters": tool.parameters}
        for tool in tools
    ]
    told = [{"type": "function", "function": function} for function in functions]
    while True:
        answer = await client.chat.completions.create(
            model="scripted", messages=messages, tools=told
        )
        said = answer.choices[0].message
        if not said.tool_calls:
            return said.content
        messages.append(said.model_dump(exclude_none=True))
        made = [tools[0](**json.loads(call.function.arguments)) for call in said.tool_calls]
        for call, text in zip(said.tool_calls, await asyncio.gather(*made)):
            messages.append({"role": "tool", "tool_call_id": call.id, "content": str(text)})
"""
_BARE_LOOP = """
import asyncio
from bench import look, request
from own import solve
from timed import milliseconds

async def called(number):
    return look(number)

called.__name__, called.__doc__ = look.__name__, look.__doc__
NUMBER = {"type": "integer", "description": "Which."}
called.parameters = {"type": "object", "properties": {"number": NUMBER}, "required": ["number"]}
runner = asyncio.Runner()

def play(chats):
    async def all_of_them():
        free = asyncio.Semaphore(8)

        async def one(number):
            async with free:
                return await solve(request(number), [called])

        await asyncio.gather(*map(one, range(chats)))

    runner.run(all_of_them())

milliseconds(play)
"""
_GROUP = """
from autogen import AssistantAgent, GroupChat, UserProxyAgent

CONFIG = {"config_list": [{"model": "scripted", "api_key": "none"}], "cache_seed": None}
clerk = AssistantAgent("clerk", llm_config=CONFIG)
desk = UserProxyAgent("desk", human_input_mode="NEVER", code_execution_config=False)
group = GroupChat([clerk, desk], max_round=8, speaker_selection_method="round_robin")
"""
_BARE_GROUP = """
from autogen import ConversableAgent, GroupChatManager
from bench import look, request
from team import clerk, desk, group
from timed import milliseconds

clerk.register_for_llm(description="Look a number up.")(look)
desk.register_for_execution()(look)
said = lambda message: bool(message.get("content")) and message["content"].startswith("Found")
manager = GroupChatManager(group, llm_config=False, silent=True, is_termination_msg=said)
user = ConversableAgent("user", llm_config=False, human_input_mode="NEVER")

def play(chats):
    for number in range(chats):
        user.initiate_chat(manager, message=request(number), silent=True)

milliseconds(play)
"""
_SEAL = """
import atexit, tempfile
import seal
from bench import entries
from timed import milliseconds
{agent}
benches = {{chats: entries(chats, 3) for chats in (8, 16, 96)}}

folder = tempfile.TemporaryDirectory()
atexit.register(folder.cleanup)
runs = {{}}

def play(chats):
    runs[chats] = seal.run(
        benches[chats], agent=agent, model="openai/scripted", baselines=False, cache="off",
        judge="rule", workers={workers}, out=f"{{folder.name}}/{{chats}}",
    )
    assert runs[chats]["call_f1"].mean == 1.0, runs[chats]

def score(chats):
    seal.score(runs[chats])

milliseconds(play, score)
"""
_FUNCTION = _SEAL.format(agent="from own import solve as agent", workers=8)
_GUESTS = _SEAL.format(agent="from team import group as agent", workers=1)
PAIRS = {
    "a function, over a bare loop": (_BARE_LOOP, _FUNCTION, 1.3),
    "agents of AutoGen, over AutoGen": (_BARE_GROUP, _GUESTS, 1.2),
}
"""Name to: without SEAL, with SEAL, the most that SEAL may take as a multiple."""


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; missing a goal is no failure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="one turn instead of seven")
    turns = 1 if parser.parse_args(argv).short else 7
    columns = f"{'without':>9}{'played':>9}{'ratio':>8}{'goal':>8}{'scored':>9}{'ratio':>8}"
    print(f"{'CPU milliseconds of a chat':34}{columns}")
    with tempfile.TemporaryDirectory() as folder, served() as url:
        files = {"bench": BENCHMARK, "own": _SOLVE, "team": _GROUP, "timed": _TIMED}
        for name, content in files.items():
            (Path(folder) / f"{name}.py").write_text(content)
        for name, (bare, ours, goal) in PAIRS.items():
            taken = [(child(bare, folder, url), child(ours, folder, url)) for _ in range(turns)]
            without = statistics.median(alone for (alone, _), _ in taken)
            played, ratio = _medians(
                [(seal - scoring, alone) for (alone, _), (seal, scoring) in taken]
            )
            whole, whole_ratio = _medians([(seal, alone) for (alone, _), (seal, _) in taken])
            ours_told = f"{played:9.1f}{ratio:8.2f}{goal:8.1f}{whole:9.1f}{whole_ratio:8.2f}"
            print(f"{name:34}{without:9.1f}{ours_told}")
    times = mcp_calls.measured(3 * turns + 5)
    sdk, through_us = min(times["sdk"]), min(times["ours"])
    print(f"{'milliseconds of a call':34}{'SDK':>9}{'SEAL':>9}{'more':>8}{'goal':>8}")
    name, more = "of a live MCP server's tool", through_us - sdk
    print(f"{name:34}{sdk:9.2f}{through_us:9.2f}{more:8.2f}{mcp_calls.BUDGET_MS:8.1f}")
    return 0


def _medians(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the median of what SEAL took, and of its ratio to what was taken without it."""
    return statistics.median(seal for seal, _ in pairs), statistics.median(s / a for s, a in pairs)


def child(code: str, folder: str, url: str) -> tuple[float, float]:
    """Return the CPU milliseconds of a chat that a process prints, and those of its scoring.

    Raises:
        RuntimeError: It failed.
    """
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=environment(folder, url),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    whole, scoring = map(float, done.stdout.split()[-2:])
    return whole, scoring


if __name__ == "__main__":
    sys.exit(main())
