"""Work that the processes of a Ray cluster share; `processes` has those of this machine.

Each process builds once what does the work, such as an engine, and then works on several items at
once. Results come back in order of arrival. An item whose node dies is worked on again elsewhere.
"""

from __future__ import annotations

import logging
import os
import pickle
import platform
import signal
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from seal.core import InfrastructureError, SealError, UsageError, needing
from seal.core.files import cache_folder
from seal.core.store import URL_VARIABLE, url_elsewhere
from seal.runs.identity import differences, identity_of_run
from seal.runs.journal import JobOutcome
from seal.runs.processes import CAUSES, portable
from seal.runs.run import RunFolder
from seal.runs.workers import Job, lost, play_job

if TYPE_CHECKING:
    from seal.runs.engine import Engine
    from seal.runs.settings import RunSettings

_LOG = logging.getLogger(__name__)
_SILENCE = 60.0
"""Seconds without a result after which a user is told what the cluster does."""
_STARTS = 5
"""Processes in a row that may die before they have begun."""
_DEATHS = 3
"""Processes that die with an item until it is given up."""
_DIED = f"{_DEATHS} processes of the cluster died with the same chat or call"

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(slots=True, eq=False)
class _Charge(Generic[Item]):
    """An item that is worked on."""

    item: Item
    deaths: int = 0
    """How many processes died with it."""


@dataclass(frozen=True, slots=True, eq=False)
class _Member:
    """A process of the cluster."""

    actor: Any
    suspect: _Charge[Any] | None
    """All that it works on: an item with which a process has died before; None: it takes any."""


@dataclass(frozen=True, slots=True)
class Cluster(Generic[Item, Result]):
    """The processes of the Ray cluster that runs on this machine, or that RAY_ADDRESS names.

    Args:
        build: Called once in each process. What it returns works on items, in threads, and has an
            `identity`: `{part: {setting: value}}`.
        identity: What that of each process must be, so that no node works with other data.
        give_up: Returns what comes of an item with which several processes died; None: nothing.
        processes: How many; None: one for each CPU of the cluster.
        threads: Items at once in each.
        ahead: Whether as many more may wait there.
    """

    build: Callable[[], Callable[[Item], Result]]
    identity: Mapping[str, Any]
    give_up: Callable[[Item], Result] | None = None
    processes: int | None = None
    threads: int = 1
    ahead: bool = False

    def results(self, items: Iterator[Item]) -> Generator[Result, None, None]:
        """Yield results as they come; items are taken only as places are free.

        Raises:
            MissingExtraError: Ray is not installed.
            UsageError: No cluster runs, or a node has other data or versions.
            SealError: What the work raised.
        """
        for first in items:
            shift = _Shift(self, connected(), chain([first], items))
            try:
                yield from shift.results()
            finally:
                shift.end()


@dataclass(slots=True)
class _Shift(Generic[Item, Result]):
    """The processes while they work."""

    cluster: Cluster[Item, Result]
    ray: Any
    items: Iterator[Item]
    lost: deque[_Charge[Item]] = field(default_factory=deque)
    """Those whose node died."""
    suspects: deque[_Charge[Item]] = field(default_factory=deque)
    """Those whose process died, and the node did not: each is worked on alone, in turn."""
    starting: dict[Any, _Member] = field(default_factory=dict)
    given: dict[Any, tuple[_Member, _Charge[Item]]] = field(default_factory=dict)
    """Reference of a result to what works on it."""
    places: dict[_Member, int] = field(default_factory=dict)
    """How many more items each process takes."""
    nodes: dict[_Member, str] = field(default_factory=dict)
    gone: set[_Member] = field(default_factory=set)
    """Processes that died with their nodes."""
    waiting: bool = True
    """Whether there may be items that nobody has taken."""
    failed_starts: int = 0

    def results(self) -> Iterator[Result]:
        """Yield results as they come."""
        count = self.cluster.processes or int(self.ray.cluster_resources().get("CPU", 1))
        for _ in range(count):
            self._start()
        while True:
            self._hand_out()
            if not (self.given or self.lost or self.waiting or self._alone):
                return
            ready, _ = self.ray.wait([*self.starting, *self.given], timeout=_SILENCE)
            if not ready:
                told = "the cluster has told nothing for %.0f s; %d processes wait for a free CPU"
                _LOG.warning(told, _SILENCE, len(self.starting))
            for reference in ready:
                if reference in self.starting:
                    self._begin(reference)
                else:
                    yield from self._ended(reference)

    def end(self) -> None:
        """End all processes, whatever they do."""
        for member in (*self.starting.values(), *self.places):
            self.ray.kill(member.actor)

    @property
    def _alone(self) -> bool:
        """Whether a process starts or works for a suspect alone."""
        return any(member.suspect for member in (*self.starting.values(), *self.places))

    def _start(self, suspect: _Charge[Item] | None = None) -> None:
        """Start a process; that of a suspect needs no CPU, for the others may hold all."""
        options = {
            "num_cpus": 0 if suspect else 1,
            "max_concurrency": self.cluster.threads,
            "scheduling_strategy": "SPREAD",
        }
        try:
            made = self.ray.remote(_Process).options(**options)
            actor = made.remote(self.cluster.build, str(Path.cwd()), url_elsewhere())
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise UsageError(
                f"--processes ray: the settings cannot be sent to other machines ({error}); name "
                "the part by a dotted path (package.module:attribute) instead of giving an object"
            ) from error
        self.starting[actor.begin.remote()] = _Member(actor, suspect)

    def _begin(self, reference: Any) -> None:
        """Let a process that has begun take items."""
        member = self.starting.pop(reference)
        try:
            node, host, begun = self.ray.get(reference)
        except self.ray.exceptions.RayTaskError as error:
            raise InfrastructureError(
                f"a process of the cluster cannot work: {error.cause}; each node needs the same "
                "versions of SEAL and of what the run names"
            ) from error
        except self.ray.exceptions.RayError as error:  # its node died
            self.failed_starts += 1
            if self.failed_starts == _STARTS:
                raise InfrastructureError(f"no process of the cluster begins: {error}") from error
            self._start(member.suspect)
            return
        self.failed_starts = 0
        if isinstance(begun, SealError):
            raise portable(begun, f"node {host}: ")
        if other := differences(self.cluster.identity, begun):
            raise UsageError(
                f"node {host} would play something else: {'; '.join(other)}; give each node the "
                "same data and versions"
            )
        self.nodes[member] = node
        if member.suspect:
            self.places[member] = 0
            self._give(member, member.suspect)
        else:
            self.places[member] = self.cluster.threads * (1 + self.cluster.ahead)

    def _hand_out(self) -> None:
        """Give work to all who have a place free."""
        if self.suspects and not self._alone:
            self._start(self.suspects.popleft())
        for member, free in self.places.items():
            for _ in range(free):
                charge = self.lost.popleft() if self.lost else self._next()
                if charge is None:
                    return
                self._give(member, charge)
                self.places[member] -= 1

    def _next(self) -> _Charge[Item] | None:
        for item in self.items:
            return _Charge(item)
        self.waiting = False
        return None

    def _give(self, member: _Member, charge: _Charge[Item]) -> None:
        self.given[member.actor.work.remote(charge.item)] = member, charge

    def _ended(self, reference: Any) -> Iterator[Result]:
        """Yield what came of an item, where its process still lives."""
        member, charge = self.given.pop(reference)
        try:
            result = self.ray.get(reference)
        except self.ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except self.ray.exceptions.RayError as error:
            yield from self._died(member, charge, error)
            return
        if isinstance(result, SealError):
            raise result
        yield result
        if member.suspect:
            self._leave(member)
        elif member in self.places:
            self.places[member] += 1

    def _died(self, member: _Member, charge: _Charge[Item], error: Exception) -> Iterator[Result]:
        """Have an item worked on again whose process has died, or give it up."""
        if member in self.places:  # the first of its items to tell
            self._leave(member)
            # Of a process that dies a node tells at once: a node that is silent has died too.
            unknown = isinstance(error, self.ray.exceptions.ActorUnavailableError)
            nodes = {node["NodeID"] for node in self.ray.nodes() if node["Alive"]}
            with_node = unknown or self.nodes[member] not in nodes
            told = "a node" if with_node else "a process of the cluster"
            _LOG.warning("%s died; what it worked on is begun anew", told)
            _LOG.debug("%s", error)
            if with_node:
                self.gone.add(member)
            if not member.suspect:
                self._start()
        charge.deaths += member not in self.gone
        if charge.deaths == _DEATHS:
            if self.cluster.give_up is None:
                raise InfrastructureError(f"{_DIED}: {CAUSES}. What is finished is kept: go on")
            yield self.cluster.give_up(charge.item)
        elif charge.deaths:
            self.suspects.append(charge)
        else:
            self.lost.append(charge)

    def _leave(self, member: _Member) -> None:
        self.ray.kill(member.actor)
        del self.places[member]


class _Process:
    """Runs in a process of the cluster.

    Args:
        build: As of `Cluster`.
        folder: Where relative paths lead from, where it exists.
        url: Of the database of answers, where the node's own variable names none.
    """

    def __init__(self, build: Callable[[], Any], folder: str, url: str) -> None:
        if url:
            os.environ.setdefault(URL_VARIABLE, url)
        with suppress(OSError):
            os.chdir(folder)
        self._build = build

    def begin(self) -> tuple[str, str, Any]:
        """Return the node's id, its name, and the identity of what was built, or an error."""
        ray: Any = import_module("ray")
        node, host = ray.get_runtime_context().get_node_id(), platform.node()
        try:
            self._work = self._build()
        except SealError as error:
            return node, host, portable(error)
        return node, host, self._work.identity

    def work(self, item: Any) -> Any:
        """Return what comes of an item, or the SealError that it raised."""
        try:
            return self._work(item)
        except SealError as error:
            return portable(error)


def connected() -> Any:
    """Return the module `ray`, connected to the cluster.

    Raises:
        MissingExtraError: It is not installed.
        UsageError: No cluster runs.
    """
    with needing("ray", "ray"):
        ray: Any = import_module("ray")
    if ray.is_initialized():
        return ray
    of_main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGTERM)  # which Ray replaces
    try:
        ray.init(address="auto", logging_level=logging.WARNING, log_to_driver=False)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise UsageError(
            "--processes ray: no Ray cluster runs here; start one by `ray start --head`, or name "
            f"one by RAY_ADDRESS=HOST:PORT ({error})"
        ) from error
    finally:
        if of_main:
            signal.signal(signal.SIGTERM, before)
    return ray


def settings_there(settings: RunSettings) -> RunSettings:
    """Return settings for other machines, whose environment may name another cache folder."""
    return replace(settings, cache_dir=cache_folder(settings.cache_dir).absolute())


def _identity_of(engine: Engine) -> dict[str, Any]:
    """Return what must be the same where chats are played; each node knows its own store."""
    identity = identity_of_run(engine)
    return identity | {"system": {**identity["system"], "cache": engine.store.location}}


class _Player:
    """Plays chats."""

    def __init__(self, settings: RunSettings, folder: RunFolder) -> None:
        from seal.runs.engine import Engine

        self._apart = tempfile.TemporaryDirectory()
        """For the steps of chats in progress, on a machine that does not see the run's folder."""
        here = folder.is_begun
        place = folder if here else RunFolder(Path(self._apart.name))
        self._engine = Engine.of(settings, place)
        self.identity = _identity_of(self._engine)

    def __call__(self, job: Job) -> JobOutcome:
        return play_job(self._engine, job)


@dataclass(frozen=True, slots=True)
class ClusterWorkers:
    """Players on a cluster, of the same settings as an engine here.

    What is known of a server is each process's own, and so is the store of answers of each machine
    that does not share one.
    """

    settings: RunSettings
    engine: Engine
    ahead: bool = True

    def outcomes(self, jobs: Iterator[Job]) -> Generator[JobOutcome, None, None]:
        """Yield outcomes as they come; raises as `Cluster.results` does."""
        s = self.settings
        build = partial(_Player, settings_there(s), self.engine.folder)
        return Cluster(
            build,
            _identity_of(self.engine),
            self._crashed if self.engine.tries_own_agent else None,
            s.process_count or None,
            s.workers,
            self.ahead,
        ).results(jobs)

    def _crashed(self, job: Job) -> JobOutcome:
        told = f"{_DIED}: {CAUSES}"
        _, line = lost(job, "crashed", told)
        return JobOutcome(job.task.id, job.trial, line, note=told)
