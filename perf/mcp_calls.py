"""What a live call of an MCP server's tool costs through us, beside the SDK's own client.

    python perf/mcp_calls.py [--short]

Both ask a server of their own over stdio for the same echo, in turns of 20 calls. Ours also checks
each call and keeps its answer; replayed are the same calls from the store alone. Wall-clock
milliseconds a call: the least of all turns, which other work disturbs least, and the median.
Budget: at most 2 ms over the SDK's client.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal
from mcp import Client, StdioServerParameters

from seal.core import Task, Tool, ToolCall
from seal.core.environment import Environment, Held
from seal.core.store import Store
from seal.environments.mcp import McpWorld, Origin
from seal.environments.mcp_servers import McpServer

SERVER = Path(__file__).parents[1] / "tests" / "fixtures" / "mcp_server.py"
WORDS = (sys.executable, str(SERVER))
IN_TURN = 20
BUDGET_MS = 2.0
ECHO = Tool(
    "shop/echo",
    "echo",
    parameters={
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    },
    source=Origin("shop", "echo", "", True, {"readOnlyHint": True}).told(),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; the exit code is never about speed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="10 turns instead of 50")
    times = measured(10 if parser.parse_args(argv).short else 50)
    for name, found in times.items():
        print(f"{name:10}{min(found):8.3f} ms a call, median {statistics.median(found):.3f}")
    over = [ours - sdk for ours, sdk in zip(times["ours"], times["sdk"], strict=True)]
    least = min(times["ours"]) - min(times["sdk"])
    print(f"{'over':10}{least:8.3f} ms, median {statistics.median(over):.3f}; budget {BUDGET_MS:g}")
    return 0


def measured(turns: int) -> dict[str, list[float]]:
    """Return the milliseconds of a call in each turn: of the SDK's client, ours, replayed."""
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "answers.sqlite")) as store:
        with bare_client() as bare, environment(store, asks=True) as ours:
            ways = {"sdk": bare, "ours": ours}
            bare("warm"), ours("warm")
            times: dict[str, list[float]] = {name: [] for name in ways}
            for turn in range(turns):
                for name, call in ways.items():
                    times[name].append(milliseconds(call, turn))
        with environment(store, asks=False) as replayed:
            times["replayed"] = [milliseconds(replayed, turn) for turn in range(turns)]
    return times


def milliseconds(call: Callable[[str], object], turn: int) -> float:
    """Return the wall-clock milliseconds of a call, over a turn of calls that differ."""
    start = time.perf_counter()
    for number in range(IN_TURN):
        call(f"{turn}-{number}")
    return 1000 * (time.perf_counter() - start) / IN_TURN


@contextmanager
def bare_client() -> Iterator[Callable[[str], Any]]:
    """Yield a call through the SDK's client, in an event loop's thread as ours is."""
    started = StdioServerParameters(command=WORDS[0], args=list(WORDS[1:]))
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(started)) as client,
    ):
        portal.call(client.list_tools)
        yield lambda text: portal.call(partial(client.call_tool, "echo", {"text": text}))


@contextmanager
def environment(store: Store, asks: bool) -> Iterator[Callable[[str], Any]]:
    """Yield a call through the world of a chat."""
    world = McpWorld({ECHO.id: ECHO}, {"shop": McpServer(WORDS)}, store, asks)
    chat: Environment = world.open(Task("perf", "perf", ()), 0)

    def call(text: str) -> str:
        (result,) = chat.call([ToolCall("call_0", "echo", {"text": text}, tool=ECHO.id)])
        if result.error is not None:
            raise RuntimeError(result.content)
        return result.content

    try:
        yield call
    finally:
        if isinstance(chat, Held):
            chat.close()


if __name__ == "__main__":
    raise SystemExit(main())
