"""How much of the time that a slow server of models leaves is used by many chats at once.

    python perf/rate.py [--short]

The server answers each request after a second, however many wait. A chat is four requests, and 200
chats are played at once, so that 1,000 chats take 20 seconds at best. The time is the server's own,
from the first request to the last answer: neither start nor report is in it. A bare loop over
`openai.AsyncOpenAI` plays the same chats in the same run. Goal: 0.8 of the rate that the server
allows. The processor time of a whole process stands beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chat import TOOL_CALLS, said, streamed
from servers import Answer
from whole import BARE, BENCHMARK, commands, run

LATENCY_S = 1.0
AT_ONCE = 200
GOAL = 0.8


class SlowServer:
    """Answers every request after `LATENCY_S`, and notes when it was first asked and last done."""

    def __init__(self) -> None:
        self.first: float | None = None
        self.last = 0.0
        self.answered = 0

    async def serve(self, port: Any) -> None:
        """Serve on a free port, which is told first; then tell and forget at each message."""
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, backlog=1024)
        port.send(server.sockets[0].getsockname()[1])
        loop = asyncio.get_running_loop()
        while await loop.run_in_executor(None, port.recv):
            port.send((self.answered, self.last - (self.first or 0.0)))
            self.first, self.answered = None, 0

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await _head(reader):
            if self.first is None:
                self.first = time.monotonic()
            body = json.loads(await reader.readexactly(int(head["content-length"])))
            await asyncio.sleep(LATENCY_S)
            writer.write(_response(said(body), bool(body.get("stream"))))
            self.answered += 1
            self.last = time.monotonic()
        writer.close()


def _response(whole: Answer, stream: bool) -> bytes:
    answer = streamed(json.loads(whole.body)) if stream else whole
    kind = "text/event-stream" if stream else "application/json"
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(answer.body)}"
    return head.encode() + b"\r\n\r\n" + answer.body


async def _head(reader: asyncio.StreamReader) -> dict[str, str]:
    """Return the headers of the next request; none where the connection was closed."""
    try:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")[1:]
    except (asyncio.IncompleteReadError, ConnectionError):
        return {}
    parted = (line.partition(":") for line in lines if line)
    return {name.lower(): value.strip() for name, _, value in parted}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; missing the goal is no failure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="200 chats instead of 1,000")
    chats = AT_ONCE if parser.parse_args(argv).short else 5 * AT_ONCE
    ideal = chats / AT_ONCE * (TOOL_CALLS + 1) * LATENCY_S
    print(f"{chats} chats, {AT_ONCE} at once: {ideal:.0f} s at best; goal: {GOAL} of the rate")
    with tempfile.TemporaryDirectory() as name, served() as (url, port):
        folder = Path(name)
        (folder / "bench.py").write_text(BENCHMARK)
        run(
            ["-c", f"import bench; bench.entries({chats}, {TOOL_CALLS}).save('{chats}')"],
            folder,
            url,
        )
        for contender, words in contenders(url, chats).items():
            seconds = run(words, folder, url)
            port.send("next")
            answered, taken = port.recv()
            if answered != chats * (TOOL_CALLS + 1):
                raise RuntimeError(f"{contender} asked {answered} times in {chats} chats")
            print(f"{contender:26}{taken:7.1f} s{ideal / taken:7.2f}{seconds:9.1f} CPU s")
    return 0


def contenders(url: str, chats: int) -> dict[str, list[str]]:
    """Return each contender's command."""
    found = commands(None, url, chats, 0)
    bare, seal = found[BARE], found["seal run"]
    bare[-1] = str(AT_ONCE)
    seal[seal.index("--workers") + 1] = str(AT_ONCE)
    halves = ["--workers", str(AT_ONCE // 2), "--processes", "2", "--out", "halves"]
    return {BARE: bare, "seal run": seal, "seal run, 2 processes": [*seal[:-4], *halves]}


@contextmanager
def served() -> Iterator[tuple[str, Any]]:
    """Serve from a process of its own; yield its URL, and where it tells what it saw."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(
        target=lambda: asyncio.run(SlowServer().serve(theirs)), daemon=True
    )
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}/v1", ours
    finally:
        process.kill()


if __name__ == "__main__":
    sys.exit(main())
