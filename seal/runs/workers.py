"""Chats at once: in threads of this process, or in threads of several.

The parent alone ranks, writes and counts; a worker plays a job and hands back the encoded line.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from seal.agents.view import fault
from seal.core.errors import DataError, InfrastructureError, NotRecordedError, SealError
from seal.core.records import encode
from seal.core.types import Ranking, Stop, Task, Trajectory
from seal.runs.spending.ledger import Ledger, tokens_of
from seal.runs.threads import Threads

if TYPE_CHECKING:
    from seal.runs.engine import Engine


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
        if job.failure:
            trajectory = _error(job, job.failure)
        else:
            trajectory = engine.play(job.task, job.trial, job.rankings)
        try:
            line = encode(trajectory)
        except DataError as error:  # a plug-in said what is no JSON
            trajectory = _error(job, str(error))
            line = encode(trajectory)
    except NotRecordedError as error:
        engine.meter.take()
        return Outcome(job.task.id, job.trial, None, note=str(error), started=started)
    except InfrastructureError as error:
        trajectory = _error(job, str(error))
        line = encode(trajectory)
    except SealError:
        raise
    except (Exception, SystemExit) as error:  # what a plug-in may do outside of its role's reply
        trajectory = _error(job, fault(error))
        line = encode(trajectory)
    asked = engine.meter.take()
    note = next((stop.error for stop in trajectory.stops if stop.error), "")
    seconds = time.monotonic() - clock
    return Outcome(
        job.task.id,
        job.trial,
        line,
        trajectory.failed,
        tokens_of(asked),
        seconds,
        started,
        note,
        asked,
    )


def _error(job: Job, text: str) -> Trajectory:
    stops = tuple(Stop("error", text) for _ in job.task.goals)
    return Trajectory(
        job.task.id, job.trial, (), job.rankings, stops=stops, answers=(None,) * len(stops)
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
