"""Where a user's code runs: its output, its time and its event loop."""

from __future__ import annotations

import asyncio
import io
import math
import os
import queue
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import Any, TextIO, cast
from weakref import WeakSet

from seal.agents.replies import CallsSpentError, PluginError
from seal.core import OverdueError
from seal.core.concurrency import given_up

# -- Where a user's functions run: what they print, how long they take, what they leave behind.
#
# Async functions share one event loop, in a thread of its own, so that clients which they hold
# serve every chat of every run. A function with a time limit gets a thread, which is given up when
# time is over. What a function prints is kept apart from all others by its context. Tasks and
# `asyncio.to_thread` take the context along; threads that it starts itself do not.


class Printed(io.StringIO):
    """What is printed within one reply."""

    _taken = 0

    def rest(self) -> str:
        """Return what was printed since this was asked last."""
        text = self.getvalue()[self._taken :]
        self._taken += len(text)
        return text


PRINTED = 20_000
"""Characters of what is printed within one reply that are kept."""
_INTO: ContextVar[Printed | None] = ContextVar("printed", default=None)
_TASKS: ContextVar[WeakSet[asyncio.Task[Any]] | None] = ContextVar("tasks", default=None)
"""Those of the run whose function begins a task."""
_SLOW = 0.05
"""Seconds of calls in the mean that no event loop should wait for."""
_WEIGHT = 0.1
"""Of a call in that mean: a single slow one counts where it takes half a second."""
_UNRESPONSIVE = 1.0
"""Seconds after which an event loop that does nothing counts as blocked, and a task that was
cancelled as one that heeds no end."""


class OwnCode:
    """Runs the functions of one run. Safe in threads; `close` ends what still runs of them."""

    def __init__(self) -> None:
        self._folder = os.getcwd()  # noqa: PTH109 - compared as a text, once a reply
        self._process = os.getpid()
        self._tasks: WeakSet[asyncio.Task[Any]] = WeakSet()
        self._loops: set[asyncio.AbstractEventLoop] = set()
        self.pace = Pace()
        self.hands_on: bool | None = None
        """Whether a reply of an orchestrator has handed work on; None: it has not replied."""

    @contextmanager
    def watched(self) -> Iterator[Printed]:
        """Yield what is printed within the block; afterwards the working folder is as before.

        A process that the block forked ends with it.
        """
        printed = Printed()
        token = _INTO.set(printed)
        with _DIVIDED:
            try:
                yield printed
            finally:
                _INTO.reset(token)
                self._end_fork()
                self._set_back()

    def call(self, function: Callable[[], Any], seconds: float | None) -> Any:
        """Return what a function returns.

        Args:
            function: Is called without arguments.
            seconds: It may take; None: for ever.

        Raises:
            OverdueError: It takes longer. Its thread goes on, if it can.
        """
        if seconds is None:
            return function()

        def run() -> Any:
            try:
                return function()
            finally:
                self._end_fork()

        return given_up(run, max(0.0, seconds))

    def wait(self, value: Awaitable[Any], seconds: float | None, work: Inbox) -> Any:
        """Return what an awaitable comes to; meanwhile this thread does the work that it is handed.

        Args:
            value: Is awaited in the event loop.
            seconds: It may take; None: for ever.
            work: Is filled from the event loop.

        Raises:
            OverdueError: It takes longer.
            CallsSpentError: The work was a call beyond the budget.
        """

        async def outcome() -> tuple[Any, BaseException | None]:
            try:
                return await value, None
            except BaseException as error:  # SystemExit would end the loop
                return None, error
            finally:
                self._end_fork()

        token = _TASKS.set(self._tasks)
        loop, task = _LOOP.begin(outcome())
        _TASKS.reset(token)
        self._loops.add(loop)
        task.add_done_callback(lambda done: work.close())
        try:
            work.serve(seconds)
        except (OverdueError, CallsSpentError):
            task.cancel()
            _LOOP.leave_blocked(loop)
            raise
        result, failure = task.result()
        if failure is not None:
            raise failure
        return result

    def close(self) -> None:
        """Cancel what still runs in the event loop."""
        for loop in self._loops:
            _LOOP.end(loop, self._tasks)

    def _set_back(self) -> None:
        """Make the working folder what it was; one that was removed is made anew."""
        try:
            is_there = os.getcwd() == self._folder  # noqa: PTH109
        except FileNotFoundError:
            is_there = False
        if not is_there:
            Path(self._folder).mkdir(parents=True, exist_ok=True)
            os.chdir(self._folder)

    def _end_fork(self) -> None:
        """End a process that a function forked and that came back here."""
        if os.getpid() != self._process:
            os._exit(1)


class Pace:
    """Tells whether the tools of a run are so quick that an event loop can wait for them.

    To hand a call to the thread of its chat and back costs more than most simulators and worlds
    take. Once the calls are slow in the mean, all are handed over: in the loop's own thread each
    would hold up all other chats.
    """

    is_quick = False
    _mean = 0.0

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Take note of how long the block takes."""
        start = time.monotonic()
        try:
            yield
        finally:
            self._mean += _WEIGHT * (time.monotonic() - start - self._mean)
            if self._mean > _SLOW:
                self._mean = math.inf
            self.is_quick = self._mean <= _SLOW


class Inbox:
    """What an async function has its chat do, in the thread of the chat unless that is quick.

    Args:
        role: Who speaks, for messages.
        pace: Of the run.
    """

    def __init__(self, role: str, pace: Pace) -> None:
        self._role = role
        self._pace = pace
        self._todo: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self._closed = False

    def put(self, work: Callable[[], Any], then: Callable[[Any], None]) -> None:
        """Have something done, and then something in the event loop, where this is called.

        Args:
            work: Is done by the chat.
            then: Gets what that returns.

        Raises:
            PluginError: The reply has ended.
        """
        if self._closed:
            raise PluginError(f"role {self._role!r} called a tool after its reply had ended")
        loop = asyncio.get_running_loop()
        if not self._pace.is_quick:
            self._todo.put(lambda: loop.call_soon_threadsafe(then, self._done(work)))
            return
        try:
            with _out_of(loop):
                outcome = self._done(work)
        except CallsSpentError as error:  # ends the reply, which is the other thread's
            self._todo.put(partial(_raise, error))
            return
        then(outcome)

    def _done(self, work: Callable[[], Any]) -> Any:
        with self._pace.measured():
            return work()

    def close(self) -> None:
        """Take no more work."""
        self._closed = True
        self._todo.put(None)

    def serve(self, seconds: float | None) -> None:
        """Do the work as it comes, until no more is taken.

        Raises:
            OverdueError: It is not over after so many seconds of waiting.
        """
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            left = None if end is None else max(0.0, end - time.monotonic())
            try:
                work = self._todo.get(timeout=left)
            except queue.Empty:
                self._closed = True
                raise OverdueError from None
            if work is None:
                return
            work()


@contextmanager
def _out_of(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Let the block begin event loops of its own, as functions of tools do."""
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(loop)


def _raise(error: BaseException) -> None:
    raise error


class _Loop:
    """The event loop that async functions share, in a thread of its own.

    Another one replaces it where a function blocks it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process = 0
        self._given_up: WeakSet[asyncio.Task[Any]] = WeakSet()
        """Tasks for which no loop goes on."""
        self._over: WeakSet[asyncio.AbstractEventLoop] = WeakSet()
        """Loops that have ended; one that a function stops goes on."""

    def begin(
        self, work: Coroutine[Any, Any, Any]
    ) -> tuple[asyncio.AbstractEventLoop, Future[Any]]:
        """Begin work in the loop, in another one in a process that was forked; return both."""
        with self._lock:
            if self._loop is None or self._process != os.getpid():
                self._loop, self._process = asyncio.new_event_loop(), os.getpid()
                self._loop.set_task_factory(_noted)
                threading.Thread(target=self._run, args=(self._loop,), daemon=True).start()
            return self._loop, asyncio.run_coroutine_threadsafe(work, self._loop)

    def leave(self, loop: asyncio.AbstractEventLoop) -> None:
        """Let further functions have another loop than this one."""
        with self._lock:
            if self._loop is loop:
                self._loop = None

    def leave_blocked(self, loop: asyncio.AbstractEventLoop) -> None:
        """Leave a loop where a function blocks it."""
        alive = threading.Event()
        loop.call_soon_threadsafe(alive.set)
        if not alive.wait(_UNRESPONSIVE):
            self.leave(loop)

    def end(self, loop: asyncio.AbstractEventLoop, tasks: WeakSet[asyncio.Task[Any]]) -> None:
        """Cancel tasks in a loop. Where one heeds no end, the loop ends too, after all others."""
        if not loop.is_closed():
            asyncio.run_coroutine_threadsafe(self._ended(loop, tasks), loop)

    async def _ended(
        self, loop: asyncio.AbstractEventLoop, tasks: WeakSet[asyncio.Task[Any]]
    ) -> None:
        left = {task for task in tasks if task.get_loop() is loop and not task.done()}
        for task in left:
            task.cancel()
        stubborn = (await asyncio.wait(left, timeout=_UNRESPONSIVE))[1] if left else ()
        if not stubborn:
            return
        self.leave(loop)
        mine = asyncio.current_task()
        self._given_up.update(task for task in (*stubborn, mine) if task is not None)
        await asyncio.sleep(0)  # what was begun before the loop was left is a task from now on
        while others := asyncio.all_tasks() - set(self._given_up):
            await asyncio.wait(others)
        self._over.add(loop)
        loop.stop()

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            while loop not in self._over:
                loop.run_forever()
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            loop.close()


def _noted(loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> asyncio.Task[Any]:
    """Return a task, which is one of the run whose function begins it."""
    task: asyncio.Task[Any] = asyncio.Task(work, loop=loop, **options)
    tasks = _TASKS.get()
    if tasks is not None:
        tasks.add(task)
    return task


def printed_here() -> Printed | None:
    """Return where what is printed in this context is kept (`OwnCode.watched`); None: nowhere."""
    return _INTO.get()


class _Divided:
    """Stands for the standard output while functions run: each context's words go to its own text.

    Entered by several threads at once; the last one to leave puts back what it stood for.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entered = 0
        self._usual: TextIO = sys.stdout

    def __enter__(self) -> _Divided:
        with self._lock:
            if self._entered == 0 and cast(Any, sys.stdout) is not self:
                self._usual = sys.stdout
            sys.stdout = cast(TextIO, self)  # a function may have left another one there
            self._entered += 1
        return self

    def __exit__(self, *raised: object) -> None:
        with self._lock:
            self._entered -= 1
            if self._entered == 0:
                sys.stdout = self._usual

    def write(self, text: str) -> int:
        """Keep a text, as far as there is room, or write it where it would have gone."""
        into = _INTO.get()
        if into is None:
            return self._usual.write(text)
        into.write(text[: max(0, PRINTED - into.tell())])
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Do nothing to what is kept."""
        if _INTO.get() is None:
            self._usual.flush()

    def close(self) -> None:
        """Leave open what all write to."""

    def __getattr__(self, name: str) -> Any:
        """Return what else the standard output has, such as its `buffer`."""
        return getattr(self._usual, name)


_DIVIDED = _Divided()
_LOOP = _Loop()
