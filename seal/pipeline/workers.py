"""Chats at once: in threads of this process, or in threads of several.

The parent alone ranks, writes and counts; a worker plays a job and hands back the encoded line.
"""

from __future__ import annotations

import multiprocessing
import queue
import threading
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from seal.core.errors import InfrastructureError, NotRecordedError, SealError
from seal.core.records import encode
from seal.core.types import Ranking, Stop, Task, Trajectory

if TYPE_CHECKING:
    from seal.pipeline.engine import Engine
    from seal.pipeline.settings import RunSettings


@dataclass(frozen=True, slots=True)
class Job:
    """One task to play once."""

    task: Task
    trial: int
    rankings: tuple[Ranking, ...] = ()
    """What was retrieved for its goals before the chat."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a job."""

    task_id: str
    trial: int
    line: bytes | None
    """The trajectory as a line of its file; None where the task was skipped."""
    failed: bool = False
    tokens: int = 0
    seconds: float = 0.0
    started: float = 0.0
    """Seconds since 1970."""
    note: str = ""
    """Why it was skipped or failed."""


class Workers(Protocol):
    """Plays jobs, several at once."""

    def outcomes(self, jobs: Iterator[Job]) -> Iterator[Outcome]:
        """Yield outcomes as they come; jobs are taken only as places are free."""
        ...


def play_job(engine: Engine, job: Job) -> Outcome:
    """Play one job; a failure of the infrastructure or of a plug-in becomes an error of its task.

    Raises:
        SealError: A fault that concerns every task, such as an unknown role.
    """
    started, clock = time.time(), time.monotonic()
    try:
        trajectory = engine.play(job.task, job.trial, job.rankings)
    except NotRecordedError as error:
        return Outcome(job.task.id, job.trial, None, note=str(error), started=started)
    except InfrastructureError as error:
        trajectory = _error(job, str(error))
    except SealError:
        raise
    except Exception as error:  # the task's boundary: a plug-in's fault costs its task alone
        place = traceback.extract_tb(error.__traceback__)[-1]
        trajectory = _error(
            job, f"{type(error).__name__}: {error} (line {place.lineno} of {place.name})"
        )
    tokens = sum(s.usage.tokens_in + s.usage.tokens_out for s in trajectory.steps if s.usage)
    note = next((stop.error for stop in trajectory.stops if stop.error), "")
    return Outcome(
        job.task.id,
        job.trial,
        encode(trajectory),
        trajectory.failed,
        tokens,
        time.monotonic() - clock,
        started,
        note,
    )


def _error(job: Job, text: str) -> Trajectory:
    stops = tuple(Stop("error", text) for _ in job.task.goals)
    return Trajectory(
        job.task.id, job.trial, (), job.rankings, stops=stops, answers=(None,) * len(stops)
    )


@dataclass(frozen=True, slots=True)
class ThreadWorkers:
    """Threads of this process."""

    engine: Engine
    threads: int

    def outcomes(self, jobs: Iterator[Job]) -> Iterator[Outcome]:
        """Yield outcomes as they come."""
        with ThreadPoolExecutor(self.threads, thread_name_prefix="chat") as pool:
            running: set[Future[Outcome]] = set()
            try:
                for job in jobs:
                    running.add(pool.submit(play_job, self.engine, job))
                    if len(running) >= 2 * self.threads:
                        done, running = wait(running, return_when=FIRST_COMPLETED)
                        yield from (future.result() for future in done)
                while running:
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in done)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True, slots=True)
class ProcessWorkers:
    """Processes, each with threads and an engine of its own."""

    settings: RunSettings
    folder: Any
    processes: int
    threads: int

    def outcomes(self, jobs: Iterator[Job]) -> Iterator[Outcome]:
        """Yield outcomes as they come.

        Raises:
            InfrastructureError: A process died.
            SealError: What a worker raised.
        """
        context = multiprocessing.get_context("spawn")
        todo: Any = context.Queue()
        done: Any = context.Queue()
        crew = [
            context.Process(
                target=_serve,
                args=(self.settings, self.folder, self.threads, todo, done),
                daemon=True,
            )
            for _ in range(self.processes)
        ]
        for process in crew:
            process.start()
        try:
            yield from self._exchange(jobs, crew, todo, done)
            for _ in range(self.processes * self.threads):
                todo.put(None)
            for process in crew:
                process.join()
        finally:
            for process in crew:
                process.terminate()

    def _exchange(self, jobs: Iterator[Job], crew: Any, todo: Any, done: Any) -> Iterator[Outcome]:
        running = 0
        for job in jobs:
            todo.put(job)
            running += 1
            if running >= 2 * self.processes * self.threads:
                yield self._next(crew, done)
                running -= 1
        for _ in range(running):
            yield self._next(crew, done)

    def _next(self, crew: Any, done: Any) -> Outcome:
        while True:
            try:
                outcome = done.get(timeout=1.0)
            except queue.Empty:
                dead = [process for process in crew if process.exitcode not in (None, 0)]
                if dead:
                    raise InfrastructureError(
                        f"a worker process died (exit code {dead[0].exitcode}), perhaps for "
                        f"lack of memory; what is finished is kept: resume with fewer --processes"
                    ) from None
                continue
            if isinstance(outcome, BaseException):
                raise outcome
            result: Outcome = outcome
            return result


def _serve(settings: RunSettings, folder: Any, threads: int, todo: Any, done: Any) -> None:
    """Play jobs until told to stop; runs in a worker process."""
    from seal.pipeline.engine import Engine
    from seal.pipeline.pools import open_pool

    try:
        engine = Engine(settings, folder, open_pool(settings.pool))
    except SealError as error:
        done.put(error)
        return

    def work() -> None:
        while (job := todo.get()) is not None:
            try:
                done.put(play_job(engine, job))
            except SealError as error:
                done.put(error)

    crew = [threading.Thread(target=work) for _ in range(threads)]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()
