"""Jobs at once in several processes, and the chats in which a process died."""

from __future__ import annotations

import ctypes
import logging
import multiprocessing
import os
import pickle
import queue
import signal
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from itertools import chain
from multiprocessing.sharedctypes import RawValue
from typing import TYPE_CHECKING, Any, ClassVar

from seal.core import BudgetError, DataError, InfrastructureError, SealError, Step, UsageError
from seal.core.servers import LONGEST_OUTAGE, Counts, Standing
from seal.runs.journal import JobOutcome, Pair, chats_told, in_flight
from seal.runs.run import RunFolder
from seal.runs.workers import lost, play_job

if TYPE_CHECKING:
    from seal.runs.engine import Engine
    from seal.runs.role_models import Cast
    from seal.runs.settings import RunSettings
    from seal.runs.workers import Job

# -- Chats at once, in threads of several processes.

_KINDS = (UsageError, DataError, InfrastructureError, BudgetError, SealError)
CAUSES = "the agent ended it (os._exit), a library crashed, or memory ran out"
"""Why a worker process may die."""
_LOG = logging.getLogger(__name__)


class _DiedError(Exception):
    """A worker process died.

    Args:
        code: Its exit code.
        chats: Those that it played, and their steps.
    """

    def __init__(self, code: int, chats: Mapping[Pair, tuple[Step, ...]]) -> None:
        super().__init__(f"a worker process died (exit code {code})")
        self.chats = chats

    def crashed(self, job: Job) -> JobOutcome:
        """Return what comes of one of the chats, which ended its process again."""
        pair = job.task.id, job.trial
        told = f"{self} in this chat, twice: {CAUSES}"
        _, line = lost(job, "crashed", told, self.chats[pair])
        return JobOutcome(*pair, line, note=told)


@dataclass(frozen=True, slots=True)
class ProcessWorkers:
    """Processes that build their engines from the same settings.

    They end with this process, however it ends; jobs are taken `ahead` as by `ThreadWorkers`. Where
    one dies in chats of a user's own agent, these are played again, each `alone`.
    """

    settings: RunSettings
    folder: RunFolder
    processes: int
    threads: int
    ahead: bool = True
    cast: Cast | None = None
    """Of this process; it knows of servers what the others learn, and they what it does."""
    own_agent: bool = False
    """Whether code of the user's own calls the tools, which may end the process that runs it."""

    def outcomes(self, jobs: Iterator[Job]) -> Generator[JobOutcome, None, None]:
        """Yield outcomes as they come.

        Raises:
            UsageError: The settings hold an object that cannot be sent to another process.
            InfrastructureError: A process died, and no agent of the user's own was at work.
            SealError: What a worker raised.
        """
        self._check_portable()
        yield from self._survived(jobs)

    def alone(self, jobs: Iterator[Job]) -> Generator[JobOutcome, None, None]:
        """Yield the outcomes of jobs, one after the other: who ends its process now has crashed."""
        yield from replace(self, processes=1, threads=1)._survived(jobs, is_alone=True)

    def _survived(self, jobs: Iterator[Job], is_alone: bool = False) -> Iterator[JobOutcome]:
        """Yield outcomes; chats in which a process died are played again alone, or have crashed."""
        given: dict[Pair, Job] = {}
        while True:
            try:
                yield from self._crew(jobs, given)
                return
            except _DiedError as error:
                died = error
            suspects = [job for pair, job in given.items() if pair in died.chats]
            if not (self.own_agent and suspects):
                raise InfrastructureError(_death(died))
            others = [job for pair, job in given.items() if pair not in died.chats]
            if is_alone:
                yield from (died.crashed(job) for job in suspects)
            else:
                told = "%s while it played %s: played again, in a process of its own"
                _LOG.warning(told, died, chats_told(died.chats))
                yield from self.alone(iter(suspects))
            jobs = chain(others, jobs)
            given.clear()

    def _crew(self, jobs: Iterator[Job], given: dict[Pair, Job]) -> Iterator[JobOutcome]:
        """Yield outcomes of processes that end with the block.

        Args:
            jobs: Are taken as places are free.
            given: Is filled with the jobs of which nothing has come yet.

        Raises:
            _DiedError: One of them died.
        """
        context = start_server()
        todo: Any = context.Queue()
        done: Any = context.Queue()
        standings = self.cast.share(lambda own: _shared(own, context)) if self.cast else []
        work = (self.settings, self.folder, self.threads, todo, done, standings)
        crew = [
            context.Process(target=_serve, args=(dict(os.environ), *work), daemon=True)
            for _ in range(self.processes)
        ]
        try:
            with _uninterrupted():
                for process in crew:
                    process.start()
            places = self.processes * self.threads
            for job in jobs:
                todo.put(job)
                given[job.task.id, job.trial] = job
                if len(given) >= places * (1 + self.ahead):
                    yield self._next(crew, done, given)
            while given:
                yield self._next(crew, done, given)
            for _ in range(places):
                todo.put(None)
            for process in crew:
                process.join()
        finally:
            todo.cancel_join_thread()  # nobody may be left to read what is queued
            for process in crew:
                if process.pid is not None:
                    process.terminate()
                    process.join()
            if self.cast:
                self.cast.share(Standing.alone)  # one that was killed may hold a lock for ever

    @property
    def is_portable(self) -> bool:
        """Whether the settings can be sent to another process."""
        try:
            self._check_portable()
        except UsageError:
            return False
        return True

    def _check_portable(self) -> None:
        try:
            pickle.dumps((self.settings, self.folder))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise UsageError(
                f"--processes {self.processes}: the settings cannot be sent to other processes "
                f"({error}); name the part by a dotted path (package.module:attribute) instead of "
                f"giving an object, or play in one process with more --workers"
            ) from error

    def _next(self, crew: Any, done: Any, given: dict[Pair, Job]) -> JobOutcome:
        """Return an outcome; once a worker is dead, only one that is there already."""
        while True:
            dead = [process for process in crew if process.exitcode is not None]
            try:
                outcome = done.get_nowait() if dead else done.get(timeout=1.0)
            except queue.Empty:
                if dead:
                    chats = in_flight(self.folder.path, dead[0].pid)
                    raise _DiedError(dead[0].exitcode, chats) from None
                continue
            if isinstance(outcome, SealError):
                raise outcome
            result: JobOutcome = outcome
            given.pop((result.task_id, result.trial), None)
            return result


def start_server() -> Any:
    """Return the way in which processes are started: where it can be, forked from one server.

    It imports once what a chat needs, while its caller goes on; called before, it saves seconds.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    from multiprocessing import forkserver

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["seal.runs.engine", "seal.agents.group"])
    with _uninterrupted():
        forkserver.ensure_running()
    return context


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let processes that start here hear no Ctrl-C or SIGHUP, and this one hear them afterwards.

    The terminal sends these signals to them too. Until they run `_serve` they would print a
    traceback, and the process that keeps account of shared memory would end before they do.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _death(died: _DiedError) -> str:
    """Return what is told of a worker that died: the chats that it played, likely causes."""
    if died.chats:
        return (
            f"{died} while it played {chats_told(died.chats)}: {CAUSES}. What is finished is "
            "kept: resume"
        )
    return (
        f"{died}: for lack of memory, or because a script that calls seal.run lacks "
        "`if __name__ == '__main__':`. What is finished is kept: resume, with fewer --processes"
    )


class _SharedCounts(ctypes.Structure):
    """`Counts` that processes share."""

    _fields_: ClassVar = [
        ("most", ctypes.c_double),
        ("good", ctypes.c_double),
        ("taken", ctypes.c_int),
        ("held", ctypes.c_int),
        ("refused", ctypes.c_double),
        ("heard", ctypes.c_double),
        ("cut_at", ctypes.c_double),
        ("is_cut", ctypes.c_bool),
        ("is_lower", ctypes.c_bool),
        ("next_request_at", ctypes.c_double),
        ("next_tokens_at", ctypes.c_double),
        ("answer_tokens", ctypes.c_double),
        ("misses", ctypes.c_int),
        ("was_heard", ctypes.c_bool),
        ("outage", ctypes.c_wchar * (LONGEST_OUTAGE + 1)),
    ]


def _shared(own: Standing, context: Any) -> Standing:
    """Return what is known of a server, for this process and those that get it when they begin."""
    counts: Any = RawValue(_SharedCounts)
    known = own.alone()
    for part in fields(Counts):
        setattr(counts, part.name, getattr(known.counts, part.name))
    shared = Standing(counts, context.Condition(), context.Event())
    if known.down.is_set():
        shared.down.set()
    return shared


def _serve(
    variables: Mapping[str, str],
    settings: RunSettings,
    folder: RunFolder,
    threads: int,
    todo: Any,
    done: Any,
    standings: Sequence[Standing],
) -> None:
    """Play jobs until told to stop; runs in a worker process."""
    from seal.runs.engine import Engine

    os.environ.clear()
    os.environ.update(variables)  # the server may have been started under others
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the parent ends us
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        with Engine.of(settings, folder) as engine:
            known = iter(standings)
            engine.cast.share(lambda own: next(known, own))
            crew = [
                threading.Thread(target=_work, args=(engine, todo, done), daemon=True)
                for _ in range(threads)
            ]
            for thread in crew:
                thread.start()
            for thread in crew:
                thread.join()
    except SealError as error:
        done.put(portable(error))


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
            done.put(portable(error))


def portable(error: SealError, where: str = "") -> SealError:
    """Return an error of the same branch that can cross to another process, whoever wrote it."""
    kind = next(kind for kind in _KINDS if isinstance(error, kind))
    return kind(f"{where}{error}")
