"""What a chat costs above its model calls.

Prints three ratios, each measured in one run, and the seconds that a worker takes to start:

- CPU of whole chats over that of a bare loop. A chat has the full team, 6 model calls and 3 tool
  calls; a local server answers at once. The loop sends the same requests by one `openai.OpenAI`.
- Memory after all chats over that after the first tenth.
- Chats a second of two processes over those of one. A script in the process stands for the model.

    python perf/chat.py [--chats 1000] [--short]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from raw_servers import delta, events
from servers import Answer, ModelServer, Received, calls, text

from seal.benchmarks.sample import SAMPLE
from seal.core import Completion, Request, Task, ToolCall
from seal.runs.engine import Engine
from seal.runs.processes import ProcessWorkers
from seal.runs.run import RunFolder
from seal.runs.settings import RunSettings
from seal.runs.workers import Job

TOOL_CALLS = 3


def answer(request: Received) -> Answer:
    """Answer as `said` does: whole, or as a stream where the request asks for one."""
    whole = said(request.body)
    return streamed(json.loads(whole.body)) if request.body.get("stream") else whole


def said(body: Mapping[str, Any]) -> Answer:
    """Call the first tool three times, then speak; a request without tools gets words."""
    told = sum(message["role"] == "tool" for message in body["messages"])
    if body.get("response_format"):
        return text(json.dumps({"verdict": "solved", "reason": "as asked"}))
    if body.get("tools") and told < TOOL_CALLS:
        return calls((body["tools"][0]["function"]["name"], {"number": told}))
    return text(f"Found after {told} calls.")


def streamed(completion: Mapping[str, Any]) -> Answer:
    """Return a completion as servers of models stream it: an event for every few letters."""
    choice = completion["choices"][0]
    message = choice["message"]
    chunks = [delta(content=piece) for piece in pieces(message["content"] or "")]
    for index, call in enumerate(message.get("tool_calls") or ()):
        named = {**call["function"], "arguments": ""}
        chunks.append(delta(tool_calls=[{**call, "index": index, "function": named}]))
        for piece in pieces(call["function"]["arguments"]):
            chunks.append(delta(tool_calls=[{"index": index, "function": {"arguments": piece}}]))
    usage = {"id": "c", "choices": [], "usage": completion["usage"]}
    first, last = delta(role="assistant"), delta(choice["finish_reason"])
    body = events(first, *chunks, last, usage)
    return Answer(body, headers={"Content-Type": "text/event-stream"})


def pieces(whole: str) -> Iterator[str]:
    """Yield a text in pieces of the length of a token."""
    for start in range(0, len(whole), 4):
        yield whole[start : start + 4]


def serve(port: Any, record: bool, bodies: Any) -> None:
    """Run the server in a process of its own, whose CPU nobody counts."""
    server = ModelServer(answer, record=record)
    with server:
        port.send(server.url)
        port.recv()
        bodies.send([received.body for received in server.received])


class Server:
    """The local server in its own process."""

    def __init__(self, record: bool = False) -> None:
        self._ours, theirs = multiprocessing.Pipe()
        self._bodies, bodies = multiprocessing.Pipe(duplex=False)
        self._process = multiprocessing.Process(
            target=serve, args=(theirs, record, bodies), daemon=True
        )
        self._process.start()
        self.url: str = self._ours.recv()

    def close(self) -> list[dict[str, Any]]:
        """Stop it and return the requests that it recorded."""
        self._ours.send("stop")
        bodies: list[dict[str, Any]] = self._bodies.recv()
        self._process.join()
        return bodies


def settings(folder: Path, **changes: Any) -> RunSettings:
    """Return the settings of the measured run."""
    return RunSettings(baselines=False, retriever="random", cache_dir=folder / "cache", **changes)


def prepare(folder: Path, run: RunSettings) -> tuple[Engine, list[Task]]:
    """Return an engine over the shipped sample."""
    pool = SAMPLE.pool()
    return Engine(run, RunFolder(folder), pool), list(pool.tasks())


def jobs(engine: Engine, tasks: list[Task], count: int, first: int = 0) -> Iterator[Job]:
    """Yield jobs over the tasks again and again, each with a trial of its own."""
    for number in range(first, first + count):
        task = tasks[number % len(tasks)]
        yield Job(task, number, engine.rank([task]).rankings[task.id])


def cpu_of_chats(engine: Engine, tasks: list[Task], count: int, first: int) -> float:
    """Return CPU seconds of a chat."""
    todo = list(jobs(engine, tasks, count, first))
    start = time.process_time()
    for job in todo:
        engine.play(job.task, job.trial, job.rankings)
    return (time.process_time() - start) / count


def cpu_of_client(url: str, bodies: list[dict[str, Any]], count: int) -> float:
    """Return CPU seconds of the same requests through one shared client, a chat's worth.

    They are asked for as a whole: to read a stream is the caller's work with that client.
    """
    import openai

    for body in bodies:
        body.pop("stream", None)
        body.pop("stream_options", None)

    client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
    start = time.process_time()
    for _ in range(count):
        for body in bodies:
            client.chat.completions.create(**body)
    return (time.process_time() - start) / count


def resident() -> float:
    """Return resident memory in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def overhead(folder: Path, chats: int) -> None:
    """Print CPU against the bare client, and memory."""
    recording = Server(record=True)
    run = settings(folder, model="openai/scripted", base_url=recording.url, cache="off")
    engine, tasks = prepare(folder, run)
    cpu_of_chats(engine, tasks, 1, 0)
    engine.close()
    bodies = recording.close()
    server = Server()
    rounds = 10
    memory = []
    for cache in ("record", "off"):
        run = settings(folder, model="openai/scripted", base_url=server.url, cache=cache)
        engine, tasks = prepare(folder, run)
        cpu_of_chats(engine, tasks, 5, 10**6)
        cpu_of_client(server.url, bodies, 5)
        ratios: list[float] = []
        ours: list[float] = []
        theirs: list[float] = []
        for number in range(rounds):
            each = max(1, chats // rounds)
            ours.append(cpu_of_chats(engine, tasks, each, number * each))
            theirs.append(cpu_of_client(server.url, bodies, each))
            ratios.append(ours[-1] / theirs[-1])
            memory.append(resident())
        engine.close()
        print(
            f"chat over bare client, model cache {cache}: {statistics.median(ratios):.2f} x CPU "
            f"({statistics.median(ours) * 1000:.1f} ms against "
            f"{statistics.median(theirs) * 1000:.1f} ms; {len(bodies)} requests a chat, "
            f"median of {rounds} rounds)"
        )
    server.close()
    print(
        f"memory after {chats * 2} chats over that after {chats // rounds}: "
        f"{memory[-1] / memory[0]:.2f} ({memory[0]:.0f} MB -> {memory[-1]:.0f} MB, "
        f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB)"
    )


class Scripted:
    """The server's script, in process."""

    identity = "scripted"

    def complete(self, request: Request) -> Completion:
        """Call the first tool three times, then speak."""
        told = sum(message.role == "tool" for message in request.messages)
        if request.tools and told < TOOL_CALLS:
            return Completion(calls=(ToolCall("", request.tools[0].name, {"number": told}),))
        return Completion(f"Found after {told} calls.")


def scaling(folder: Path, chats: int) -> None:
    """Print the rate of two processes against one, and how soon a worker has played a chat.

    The second pair of workers is forked from a server that stands by then.
    """
    run = settings(folder, model=Scripted(), cache="off")
    engine, tasks = prepare(folder, run)
    rates, waited = {}, 0.0
    for processes in (1, 2):
        workers = ProcessWorkers(run, RunFolder(folder), processes, 1)
        todo = list(jobs(engine, tasks, chats))
        outcomes = workers.outcomes(iter(todo))
        start = time.monotonic()
        next(outcomes)
        waited = time.monotonic() - start
        for _ in range(chats // 3):  # every process starts, imports and plays its first chats
            next(outcomes)
        start = time.monotonic()
        done = sum(1 for _ in outcomes)
        rates[processes] = done / (time.monotonic() - start)
    engine.close()
    print(
        f"two processes over one, scripted model in process: {rates[2] / rates[1]:.2f} x "
        f"({rates[1]:.0f} -> {rates[2]:.0f} chats/s)"
    )
    print(f"a worker's start with its first chat: {waited:.2f} s (goal 1)")


def main(argv: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chats", type=int, default=1000)
    parser.add_argument("--short", action="store_true", help="a few chats, to see that it runs")
    given = parser.parse_args(argv)
    chats = 20 if given.short else given.chats
    with tempfile.TemporaryDirectory() as name:
        overhead(Path(name), chats // 2)
        scaling(Path(name), 2 * chats)


if __name__ == "__main__":
    main()
