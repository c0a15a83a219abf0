"""How much of the time that a slow server of models leaves is used by many chats at once.

    python perf/rate.py [--short] [--refused PERCENT]... [--limit N]

The server answers each request after a second, however many wait. A chat is four requests, and 200
chats are played at once, so that 1,000 chats take 20 seconds at best. The time is the server's own,
from the first request to the last answer: neither start nor report is in it. A bare loop over
`openai.AsyncOpenAI` plays the same chats in the same run. Goal: 0.8 of the rate that the server
allows. The processor time of a whole process stands beside it.

`--refused` has that share of requests, drawn by their bytes, answered by 429 and `Retry-After: 1`
at their first try; goal: at most 1.2 times the seconds of the bare client, which tries again by
itself. `--limit` has every request answered so while N others are under way; the bare client gives
up there.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import math
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
    """Answers every request after `LATENCY_S`, and notes when it was first asked and last done.

    Args:
        refused: Percent of requests whose first try is refused.
        limit: Requests at once; those beyond are refused.
    """

    def __init__(self, refused: float, limit: float) -> None:
        self.refused, self.limit = refused, limit
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self.first: float | None = None
        self.last = 0.0
        self.answered = self.busy = self.under_way = self.most = 0
        self.tried: set[bytes] = set()

    async def serve(self, port: Any) -> None:
        """Serve on a free port, which is told first; then tell and forget at each message."""
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, backlog=1024)
        port.send(server.sockets[0].getsockname()[1])
        loop = asyncio.get_running_loop()
        while await loop.run_in_executor(None, port.recv):
            taken = self.last - (self.first or 0.0)
            port.send((self.answered, taken, self.busy, self.most))
            self.forget()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await _head(reader):
            if self.first is None:
                self.first = time.monotonic()
            raw = await reader.readexactly(int(head["content-length"]))
            body = json.loads(raw)
            if self._is_refused(raw):
                self.busy += 1
                writer.write(_REFUSAL)
                continue
            self.under_way += 1
            self.most = max(self.most, self.under_way)
            await asyncio.sleep(LATENCY_S)
            self.under_way -= 1
            writer.write(_response(said(body), bool(body.get("stream"))))
            self.answered += 1
            self.last = time.monotonic()
        writer.close()

    def _is_refused(self, raw: bytes) -> bool:
        chat = hashlib.sha256(json.dumps(json.loads(raw)["messages"]).encode()).digest()
        is_first = chat not in self.tried
        self.tried.add(chat)
        drawn = int.from_bytes(chat[:8]) / 2**64 * 100 < self.refused
        return self.under_way >= self.limit or (is_first and drawn)


_REFUSAL = (
    b"HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/json\r\nRetry-After: 1\r\n"
    b'Content-Length: 32\r\n\r\n{"error":{"message":"too many"}}'
)


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
    parser.add_argument("--refused", type=float, metavar="PERCENT", action="append")
    parser.add_argument("--limit", type=float, metavar="N", default=math.inf)
    given = parser.parse_args(argv)
    chats = AT_ONCE if given.short else 5 * AT_ONCE
    ideal = chats / min(AT_ONCE, given.limit) * (TOOL_CALLS + 1) * LATENCY_S
    print(f"{chats} chats, {AT_ONCE} at once: {ideal:.0f} s at best; goal: {GOAL} of the rate")
    for refused in given.refused or [0.0]:
        print(f"{refused:g} % of requests refused at first")
        measure(chats, ideal, refused, given.limit)
    return 0


def measure(chats: int, ideal: float, refused: float, limit: float) -> None:
    """Print what each contender takes."""
    with tempfile.TemporaryDirectory() as name, served(refused, limit) as (url, port):
        folder = Path(name)
        (folder / "bench.py").write_text(BENCHMARK)
        run(
            ["-c", f"import bench; bench.entries({chats}, {TOOL_CALLS}).save('{chats}')"],
            folder,
            url,
        )
        for contender, words in contenders(url, chats).items():
            if contender == BARE and limit < AT_ONCE:
                continue
            seconds = run(words, folder, url)
            port.send("next")
            answered, taken, busy, most = port.recv()
            if answered != chats * (TOOL_CALLS + 1):
                raise RuntimeError(f"{contender} asked {answered} times in {chats} chats")
            told = f"{busy} refused, {most} at once" if busy else ""
            print(f"{contender:26}{taken:7.1f} s{ideal / taken:7.2f}{seconds:9.1f} CPU s  {told}")


def contenders(url: str, chats: int) -> dict[str, list[str]]:
    """Return each contender's command."""
    found = commands(None, url, chats, 0)
    bare, seal = found[BARE], found["seal run"]
    bare[-1] = str(AT_ONCE)
    seal[seal.index("--workers") + 1] = str(AT_ONCE)
    halves = ["--workers", str(AT_ONCE // 2), "--processes", "2", "--out", "halves"]
    return {BARE: bare, "seal run": seal, "seal run, 2 processes": [*seal[:-4], *halves]}


@contextmanager
def served(refused: float, limit: float) -> Iterator[tuple[str, Any]]:
    """Serve from a process of its own; yield its URL, and where it tells what it saw."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(
        target=lambda: asyncio.run(SlowServer(refused, limit).serve(theirs)), daemon=True
    )
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}/v1", ours
    finally:
        process.kill()


if __name__ == "__main__":
    sys.exit(main())
