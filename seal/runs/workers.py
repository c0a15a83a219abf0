"""Chats at once: in threads of this process, or in threads of several.

The parent alone ranks, writes and counts; a worker plays a job and hands back the encoded line.
Threads are daemons: a program that is interrupted ends without waiting for what they wait for.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import queue
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

from seal.agents.view import fault
from seal.core.errors import (
    BudgetError,
    DataError,
    InfrastructureError,
    NotRecordedError,
    SealError,
    UsageError,
)
from seal.core.records import encode
from seal.core.types import Ranking, Stop, Task, Trajectory
from seal.runs.run_folder import RunFolder
from seal.runs.spending.ledger import Ledger, tokens_of

if TYPE_CHECKING:
    from seal.runs.engine import Engine
    from seal.runs.settings import RunSettings


@dataclass(frozen=True, slots=True)
class Job:
    """One task to play once."""

    task: Task
    trial: int
    rankings: tuple[Ranking, ...] = ()
    """What was retrieved for its goals before the chat."""
    failure: str = ""
    """Why retrieval failed: then the task is an error and is not played."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a job."""

    task_id: str
    trial: int
    line: bytes | None
    """The trajectory as a line of its file; None where the task was skipped."""
    failed: bool = False
    tokens: int = 0
    """Spent by all models that were asked while it was played."""
    seconds: float = 0.0
    started: float = 0.0
    """Seconds since 1970."""
    note: str = ""
    """Why it was skipped or failed."""
    asked: Ledger = field(default_factory=dict)
    """What models were asked, and by whom."""


class Workers(Protocol):
    """Plays jobs, several at once."""

    def outcomes(self, jobs: Iterator[Job]) -> Generator[Outcome, None, None]:
        """Yield outcomes as they come; jobs are taken only as places are free.

        Closing the generator before its end drops what is in progress, without waiting for it.
        """
        ...


def play_job(engine: Engine, job: Job) -> Outcome:
    """Play one job; a failure of the infrastructure or of a plug-in becomes an error of its task.

    Raises:
        SealError: A fault that concerns every task, such as an unknown role.
    """
    started, clock = time.time(), time.monotonic()
    try:
        trajectory, line = _played(engine, job)
    except NotRecordedError as error:
        engine.meter.take()
        return Outcome(job.task.id, job.trial, None, note=str(error), started=started)
    except InfrastructureError as error:
        trajectory, line = _error(job, str(error))
    except SealError:
        raise
    except (Exception, SystemExit) as error:  # what a plug-in may do outside of its role's reply
        trajectory, line = _error(job, fault(error))
    asked = engine.meter.take()
    note = next((stop.error for stop in trajectory.stops if stop.error), "")
    seconds = time.monotonic() - clock
    spent = tokens_of(asked)
    return Outcome(
        job.task.id, job.trial, line, trajectory.failed, spent, seconds, started, note, asked
    )


def _played(engine: Engine, job: Job) -> tuple[Trajectory, bytes]:
    """Return what came of a job, and its line."""
    if job.failure:
        return _error(job, job.failure)
    trajectory = engine.play(job.task, job.trial, job.rankings)
    try:
        return trajectory, encode(trajectory)
    except DataError as error:  # a plug-in said what is no JSON
        return _error(job, str(error))


def _error(job: Job, text: str) -> tuple[Trajectory, bytes]:
    stops = tuple(Stop("error", text) for _ in job.task.goals)
    trajectory = Trajectory(
        job.task.id, job.trial, (), job.rankings, stops=stops, answers=(None,) * len(stops)
    )
    return trajectory, encode(trajectory)


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

    def outcomes(self, jobs: Iterator[Job]) -> Generator[Outcome, None, None]:
        """Yield outcomes as they come."""
        with Threads(self.threads, "chat") as pool:
            running: set[Future[Outcome]] = set()
            try:
                for job in jobs:
                    running.add(pool.submit(play_job, self.engine, job))
                    if len(running) >= self.threads * (1 + self.ahead):
                        done, running = wait(running, return_when=FIRST_COMPLETED)
                        yield from _results(done)
                while running:
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    yield from _results(done)
            except BaseException:
                self.engine.stop()
                raise


def _results(done: Iterable[Future[Outcome]]) -> Iterator[Outcome]:
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


_KINDS = (UsageError, DataError, InfrastructureError, BudgetError, SealError)


@dataclass(frozen=True, slots=True)
class ProcessWorkers:
    """Processes that build their engines from the same settings.

    They end with this process, however it ends; jobs are taken `ahead` as by `ThreadWorkers`.
    """

    settings: RunSettings
    folder: RunFolder
    processes: int
    threads: int
    ahead: bool = True

    def outcomes(self, jobs: Iterator[Job]) -> Generator[Outcome, None, None]:
        """Yield outcomes as they come.

        Raises:
            UsageError: The settings hold an object that cannot be sent to another process.
            InfrastructureError: A process died.
            SealError: What a worker raised.
        """
        self._check_portable()
        context = multiprocessing.get_context("spawn")
        todo: Any = context.Queue()
        done: Any = context.Queue()
        arguments = (self.settings, self.folder, self.threads, todo, done)
        crew = [
            context.Process(target=_serve, args=arguments, daemon=True)
            for _ in range(self.processes)
        ]
        try:
            with _uninterrupted():
                for process in crew:
                    process.start()
            yield from self._exchange(jobs, crew, todo, done)
            for _ in range(self.processes * self.threads):
                todo.put(None)
            for process in crew:
                process.join()
        finally:
            todo.cancel_join_thread()  # nobody may be left to read what is queued
            for process in crew:
                if process.pid is not None:
                    process.terminate()
                    process.join()

    def _check_portable(self) -> None:
        try:
            pickle.dumps((self.settings, self.folder))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise UsageError(
                f"--processes {self.processes}: the settings cannot be sent to other processes "
                f"({error}); name the part by a dotted path (package.module:attribute) instead of "
                f"giving an object, or play in one process with more --workers"
            ) from error

    def _exchange(self, jobs: Iterator[Job], crew: Any, todo: Any, done: Any) -> Iterator[Outcome]:
        running = 0
        for job in jobs:
            todo.put(job)
            running += 1
            if running >= self.processes * self.threads * (1 + self.ahead):
                yield self._next(crew, done)
                running -= 1
        for _ in range(running):
            yield self._next(crew, done)

    def _next(self, crew: Any, done: Any) -> Outcome:
        """Return an outcome; once a worker is dead, only one that is there already."""
        while True:
            dead = [process for process in crew if process.exitcode is not None]
            try:
                outcome = done.get_nowait() if dead else done.get(timeout=1.0)
            except queue.Empty:
                if dead:
                    raise InfrastructureError(_death(dead[0].exitcode)) from None
                continue
            if isinstance(outcome, SealError):
                raise outcome
            result: Outcome = outcome
            return result


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let processes that start here hear no Ctrl-C, and this one hear it afterwards.

    It reaches them too, and until they run `_serve` they would print where it met them.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _death(code: int) -> str:
    return (
        f"a worker process died (exit code {code}): for lack of memory, or because a script that "
        f"calls seal.run lacks `if __name__ == '__main__':`. What is finished is kept: resume, "
        f"with fewer --processes"
    )


def _serve(settings: RunSettings, folder: RunFolder, threads: int, todo: Any, done: Any) -> None:
    """Play jobs until told to stop; runs in a worker process."""
    from seal.runs.engine import Engine
    from seal.runs.play import played

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the parent ends us
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        opened = played(settings)
        with Engine(opened.settings, folder, opened.pool) as engine:
            crew = [
                threading.Thread(target=_work, args=(engine, todo, done), daemon=True)
                for _ in range(threads)
            ]
            for thread in crew:
                thread.start()
            for thread in crew:
                thread.join()
    except SealError as error:
        done.put(_portable(error))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(engine: Engine, todo: Any, done: Any) -> None:
    while (job := todo.get()) is not None:
        try:
            done.put(play_job(engine, job))
        except SealError as error:
            done.put(_portable(error))


def _portable(error: SealError) -> SealError:
    """Return an error of the same branch that can cross to another process, whoever wrote it."""
    kind = next(kind for kind in _KINDS if isinstance(error, kind))
    return kind(str(error))
