"""CPU of whole processes that play the same chats: SEAL, a bare client, and inspect_ai.

    python perf/whole.py [--inspect PYTHON] [--short]

A chat is four requests to one local server: three that are answered by a call of a tool, and one
that is answered by a text. `seal run` plays, scores, gives intervals and writes the report. The
bare client is a loop over `openai.AsyncOpenAI` that calls the tool and scores nothing. SEAL has its
answers streamed, the bare client has them whole. inspect_ai plays and scores; it takes part where
an interpreter that has it is named, or this one has it.

Each process plays 24 to 240 chats, eight at once. A line through the medians gives the start and
the milliseconds of a chat. The goal is at most 1.4 times the bare client's milliseconds,
of which AutoGen's part is some .2 ms a message.
`agents.py` measures agents of one's own.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from chat import TOOL_CALLS, Server

CHATS = (24, 80, 240)
AT_ONCE = 8
BARE = "bare AsyncOpenAI"
GOAL = 1.4
BENCHMARK = """
import seal

def look(number: int) -> str:
    \"\"\"Look a number up.

    Args:
        number: Which.
    \"\"\"
    return f"entry {number}"

def request(chat):
    return f"What are the entries of chat {chat}?"

def entries(chats, calls):
    wanted = [seal.called("look", number=number) for number in range(calls)]
    tasks = [seal.ask(request(chat), *wanted) for chat in range(chats)]
    return seal.Benchmark("entries", tools=[look], tasks=tasks)

"""
_BARE = """
import asyncio, json, sys
import openai

SCHEMA = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
TOOL = {"name": "look", "description": "Look a number up.", "parameters": SCHEMA}

async def chat(client, number):
    messages = [{"role": "user", "content": f"What are the entries of chat {number}?"}]
    while True:
        answer = await client.chat.completions.create(
            model="scripted", messages=messages, tools=[{"type": "function", "function": TOOL}]
        )
        said = answer.choices[0].message
        if not said.tool_calls:
            return said.content
        messages.append(said.model_dump(exclude_none=True))
        for call in said.tool_calls:
            text = f"entry {json.loads(call.function.arguments)['number']}"
            messages.append({"role": "tool", "tool_call_id": call.id, "content": text})

async def main(url, chats, at_once):
    client = openai.AsyncOpenAI(base_url=url, api_key="none")
    free = asyncio.Semaphore(at_once)

    async def one(number):
        async with free:
            return await chat(client, number)

    await asyncio.gather(*map(one, range(chats)))

asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
"""
_INSPECT = """
import sys
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import tool

@tool
def look():
    async def execute(number: int) -> str:
        \"\"\"Look a number up.

        Args:
            number: Which.
        \"\"\"
        return f"entry {number}"

    return execute

url, chats, at_once, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
samples = [
    Sample(input=f"What are the entries of chat {n}?", target="Found") for n in range(chats)
]
eval(
    Task(dataset=samples, solver=[use_tools(look()), generate()], scorer=includes()),
    model=get_model("openai/scripted", base_url=url, api_key="none", responses_api=False),
    max_connections=at_once, max_samples=at_once, display="none", log_dir=folder,
)
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; missing the goal is no failure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--inspect", metavar="PYTHON", help="interpreter that has inspect_ai")
    parser.add_argument("--short", action="store_true", help="one process each")
    given = parser.parse_args(argv)
    own = sys.executable if importlib.util.find_spec("inspect_ai") else None
    seconds = measure(given.inspect or own, 1 if given.short else 5)
    print(f"{'CPU seconds of':22}" + "".join(f"{f'{n} chats':>11}" for n in CHATS), end="")
    print(f"{'start, s':>11}{'ms a chat':>11}{'ratio':>8}")
    slopes = {name: line(medians) for name, medians in seconds.items()}
    for name, medians in seconds.items():
        start, slope = slopes[name]
        print(f"{name:22}" + "".join(f"{medians[n]:11.2f}" for n in CHATS), end="")
        print(f"{start:11.2f}{slope * 1000:11.1f}{slope / slopes[BARE][1]:8.2f}")
    print(f"goal: seal at most {GOAL} times the bare client's milliseconds")
    return 0


def measure(inspect: str | None, repetitions: int) -> dict[str, dict[int, float]]:
    """Return the median CPU seconds of each contender by number of chats.

    The contenders take turns, so that other load hits all alike.
    """
    taken: dict[str, dict[int, list[float]]] = {}
    with tempfile.TemporaryDirectory() as name, served() as url:
        folder = Path(name)
        (folder / "bench.py").write_text(BENCHMARK)
        for chats in CHATS:
            saved = f"bench.entries({chats}, {TOOL_CALLS}).save('{chats}')"
            run(["-c", f"import bench; {saved}"], folder, url)
        check_requests(inspect, folder)
        for turn in range(repetitions):
            for chats in CHATS:
                for contender, words in commands(inspect, url, chats, turn).items():
                    found = taken.setdefault(contender, {}).setdefault(chats, [])
                    found.append(run(words, folder, url))
    return {
        contender: {chats: statistics.median(seconds) for chats, seconds in by_chats.items()}
        for contender, by_chats in taken.items()
    }


def check_requests(inspect: str | None, folder: Path) -> None:
    """Check that every contender asks the server four times a chat.

    Raises:
        RuntimeError: One does not, so that the figures could not be compared.
    """
    for contender in commands(inspect, "", CHATS[0], -1):
        server = Server(record=True)
        run(commands(inspect, server.url, CHATS[0], -1)[contender], folder, server.url)
        asked = len(server.close())
        if asked != (TOOL_CALLS + 1) * CHATS[0]:
            raise RuntimeError(f"{contender} asked {asked} times in {CHATS[0]} chats")


def commands(inspect: str | None, url: str, chats: int, turn: int) -> dict[str, list[str]]:
    """Return each contender's command; its first word is left out where it is this interpreter."""
    count, at_once = str(chats), str(AT_ONCE)
    model = f"openai/scripted,base_url={url}"
    options = ["--team", "direct", "--no-baselines", "--cache", "off", "--judge", "rule"]
    place = ["--workers", at_once, "--out", f"run-{chats}-{turn}"]
    found = {
        BARE: ["-c", _BARE, url, count, at_once],
        "seal run": ["-m", "seal", "run", count, "--model", model, *options, *place],
    }
    if inspect is not None:
        found["inspect_ai"] = [inspect, "-c", _INSPECT, url, count, at_once, f"logs-{chats}-{turn}"]
    return found


def run(words: Sequence[str], folder: Path, url: str) -> float:
    """Return the CPU seconds of a process and of those that it started.

    Raises:
        RuntimeError: It failed.
    """
    command = [sys.executable, *words] if words[0].startswith("-") else list(words)
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environment(folder, url), stdout=output, stderr=output
        )
        _, status, used = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError((folder / "output").read_text(errors="replace")[-2000:])
    return used.ru_utime + used.ru_stime


def environment(folder: str | Path, url: str) -> dict[str, str]:
    """Return the variables of a contender that asks a server and keeps its cache in a folder."""
    told = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": url}
    return {**os.environ, **told, "SEAL_CACHE_DIR": str(Path(folder) / "cache")}


@contextmanager
def served() -> Iterator[str]:
    """Serve the script from a process of its own, whose CPU nobody counts; yield its URL."""
    server = Server()
    try:
        yield server.url
    finally:
        server.close()


def line(seconds: Mapping[int, float]) -> tuple[float, float]:
    """Return the seconds at no chats and those that each chat adds (least squares)."""
    slope, start = statistics.linear_regression(list(seconds), list(seconds.values()))[:2]
    return start, slope


if __name__ == "__main__":
    sys.exit(main())
