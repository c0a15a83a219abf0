"""One job, played and told, and jobs at once in threads of this process."""

from __future__ import annotations

import queue
import resource
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

from seal.core import (
    DataError,
    InfrastructureError,
    NotRecordedError,
    Ranking,
    SealError,
    Step,
    Stop,
    StopReason,
    Task,
    Trajectory,
    UsageError,
    fault,
    is_short_of_memory,
    short_of_memory,
)
from seal.core.concurrency import within
from seal.core.records import encode
from seal.runs.costs import tokens_of
from seal.runs.journal import JobOutcome

if TYPE_CHECKING:
    from seal.runs.engine import Engine

# -- Chats at once, in threads of this process; `processes` has those of several.
#
# The parent alone ranks, writes and counts; a worker plays a job and hands back the encoded line.
# Threads are daemons: a program that is interrupted ends without waiting for what they wait for.


@dataclass(frozen=True, slots=True)
class Job:
    """One task to play once."""

    task: Task
    trial: int
    rankings: tuple[Ranking, ...] = ()
    """What was retrieved for its goals before the chat."""
    failure: str = ""
    """Why retrieval failed: then the task is an error and is not played."""


class Workers(Protocol):
    """Plays jobs, several at once."""

    def outcomes(self, jobs: Iterator[Job]) -> Generator[JobOutcome, None, None]:
        """Yield outcomes as they come; jobs are taken only as places are free.

        Closing the generator before its end drops what is in progress, without waiting for it.
        """
        ...


def play_job(engine: Engine, job: Job) -> JobOutcome:
    """Play one job; a failure of the infrastructure or of a plug-in becomes an error of its task.

    Raises:
        SealError: A fault that concerns every task, such as an unknown role.
    """
    started, clock = max(0.0, time.time()), time.monotonic()
    engine.meter.begin()
    try:
        with within(engine.seconds_left):
            trajectory, line = _played(engine, job)
    except NotRecordedError as error:
        engine.meter.take()
        return JobOutcome(job.task.id, job.trial, None, note=str(error), started=started)
    except InfrastructureError as error:
        trajectory, line = lost(job, "error", str(error))
    except (SealError, KeyboardInterrupt):
        raise
    except BaseException as error:  # what a plug-in may do outside of its role's reply
        short = is_short_of_memory(error)
        trajectory, line = lost(job, "error", (short_of_memory if short else fault)(error))
    asked = engine.meter.take()
    note = next((stop.error for stop in trajectory.stops if stop.error), "")
    seconds = max(0.0, time.monotonic() - clock)  # an agent may set the clock back, as tests do
    spent = tokens_of(asked)
    failed = trajectory.failed
    outage = engine.cast.outage if failed else ""
    left = engine.seconds_left
    cut = failed and left is not None and left <= 0
    kept = None if cut else line
    told = (note, asked, outage, engine.cast.refused, cut, engine.cast.named)
    return JobOutcome(job.task.id, job.trial, kept, failed, spent, seconds, started, *told)


def _played(engine: Engine, job: Job) -> tuple[Trajectory, bytes]:
    """Return what came of a job, and its line."""
    if failure := job.failure or engine.cast.outage:  # the run ends
        return lost(job, "error", failure)
    trajectory = engine.play(job.task, job.trial, job.rankings)
    try:
        return trajectory, encode(trajectory, in_open=engine.in_open, beside=engine.beside)
    except DataError as error:  # a plug-in said what is no JSON
        return lost(job, "error", str(error))


def lost(
    job: Job, reason: StopReason, text: str, steps: tuple[Step, ...] = ()
) -> tuple[Trajectory, bytes]:
    """Return the trajectory, and its line, of a chat of which no more is known.

    Args:
        job: What was played.
        reason: Why each of its goals stopped.
        text: What is told of it.
        steps: As far as they are known.
    """
    stops = tuple(Stop(reason, text) for _ in job.task.goals)
    trajectory = Trajectory(
        job.task.id, job.trial, steps, job.rankings, stops=stops, answers=(None,) * len(stops)
    )
    return trajectory, encode(trajectory)


_FILES = 32
"""Open files of a process beside those of its workers, of which each has a connection."""


def check_open_files(workers: int) -> None:
    """Make sure that this process may open as many files as its workers need.

    Raises:
        UsageError: It may not.
    """
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and workers + _FILES > most:
        raise UsageError(
            f"--workers {workers}: they need about {workers + _FILES} open files, and this process "
            f"may open {most}; give fewer --workers, or raise `ulimit -n`"
        )


@dataclass(frozen=True, slots=True)
class ThreadWorkers:
    """Threads of this process.

    Args:
        engine: Plays.
        threads: How many.
        ahead: Whether jobs are taken that wait for a thread; else each begins at once.
    """

    engine: Engine
    threads: int
    ahead: bool = True

    def outcomes(self, jobs: Iterator[Job]) -> Generator[JobOutcome, None, None]:
        """Yield outcomes as they come."""
        ended: queue.SimpleQueue[Future[JobOutcome]] = queue.SimpleQueue()
        with Threads(self.threads, "chat") as pool:
            running = 0
            try:
                for job in jobs:
                    pool.submit(play_job, self.engine, job).add_done_callback(ended.put)
                    running += 1
                    if running >= self.threads * (1 + self.ahead):
                        done = _taken(ended)
                        running -= len(done)
                        yield from _results(done)
                while running:
                    done = _taken(ended)
                    running -= len(done)
                    yield from _results(done)
            except BaseException:
                self.engine.stop()
                raise


def _taken(ended: queue.SimpleQueue[Future[JobOutcome]]) -> list[Future[JobOutcome]]:
    """Return what has ended, at least one."""
    return [ended.get(), *(ended.get() for _ in range(ended.qsize()))]


def _results(done: Iterable[Future[JobOutcome]]) -> Iterator[JobOutcome]:
    """Yield what was played, then raise what was raised: nothing that is finished gets lost."""
    for future in sorted(done, key=lambda future: future.exception() is not None):
        yield future.result()


Given = ParamSpec("Given")
Result = TypeVar("Result")


class Threads:
    """Runs functions, several at once, in the order in which they are submitted.

    The block waits for all of them when it ends well. Where it ends with an exception it waits for
    none: what is queued is dropped, what runs ends in the background or with the program. (The
    pools of `concurrent.futures` wait even when the program ends.)

    Args:
        count: Threads.
        name: Of the threads, for debuggers.
    """

    def __init__(self, count: int, name: str) -> None:
        self._todo: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._work, name=f"{name}-{number}", daemon=True)
            for number in range(count)
        ]

    def submit(
        self, function: Callable[Given, Result], *args: Given.args, **options: Given.kwargs
    ) -> Future[Result]:
        """Return what will hold the function's result or exception."""
        future: Future[Result] = Future()

        def run() -> None:
            try:
                future.set_result(function(*args, **options))
            except BaseException as error:  # handed to whoever asks for the result
                future.set_exception(error)

        self._todo.put(run)
        return future

    def __enter__(self) -> Threads:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(queue.Empty):
            while kind is not None:
                self._todo.get_nowait()
        for _ in self._threads:
            self._todo.put(None)
        if kind is None:
            for thread in self._threads:
                thread.join()

    def _work(self) -> None:
        run: Any
        while (run := self._todo.get()) is not None:
            run()
