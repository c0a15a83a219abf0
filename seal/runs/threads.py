"""Daemon threads: a program that is interrupted ends without waiting for what they wait for."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

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
        if kind is not None:
            self._drop()
        for _ in self._threads:
            self._todo.put(None)
        if kind is None:
            for thread in self._threads:
                thread.join()

    def _drop(self) -> None:
        while True:
            try:
                self._todo.get_nowait()
            except queue.Empty:
                return

    def _work(self) -> None:
        run: Any
        while (run := self._todo.get()) is not None:
            run()
