"""Between the thread that plays a chat and an agent that reaches the chat from elsewhere."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from seal.agents.own import asked_of
from seal.core import Chat, OverdueError, Reply, ToolCall

FINISHED = "The task is finished. End the session."
_TOGETHER = 0.2
"""Seconds in which calls of one answer arrive from an agent that makes them at once."""


class LeftError(Exception):
    """The agent ended without an answer."""


class OverError(Exception):
    """Nothing can be asked of a chat: it has ended, or there is none."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What an agent wants of the chat: a call, to say a text to the user, or anything else."""

    what: ToolCall | str | Callable[[Chat], Any]
    answered: Future[Any] = field(default_factory=Future)


class Line:
    """Between the thread of one chat and the agent that plays it."""

    def __init__(self) -> None:
        self._inbox: queue.Queue[_Asked | None] = queue.Queue()
        self._next: deque[_Asked | None] = deque()
        self._submitted: Future[Any] | None = None
        self._over = False
        self._lock = threading.Lock()
        self._answer: list[Any] = []
        """Name and arguments of each call of the model's last answer that is not made yet."""
        self._one_by_one = False
        """Whether the agent was seen to wait for each result before it makes the next call."""

    @property
    def is_over(self) -> bool:
        """Whether the chat has ended."""
        return self._over

    def ask(self, what: ToolCall | str | Callable[[Chat], Any]) -> Future[Any]:
        """Return what the chat will answer.

        Args:
            what: A call, which is made at once with others that wait, and brings its result. A
                text is the reply to the user, and brings what the user says to it, or None where
                the task is finished. A function is called with the chat.

        Returns:
            A future. It fails with `OverError` where the chat has ended.
        """
        asked = _Asked(what)
        with self._lock:
            if self._over:
                asked.answered.set_exception(OverError(FINISHED))
            else:
                self._inbox.put(asked)
        return asked.answered

    def expect(self, calls: Sequence[ToolCall]) -> None:
        """Take note of the calls of the model's answer: made at once they are made in its order."""
        self._answer = [(call.name, call.arguments) for call in calls]

    def leave(self) -> None:
        """Take note that the agent has ended."""
        self._inbox.put(None)

    def reply(self, chat: Chat) -> Reply:
        """Serve the agent until it says something to the user, in the thread of the chat.

        Raises:
            LeftError: It ended before.
            OverdueError: It takes longer than the chat may last.
        """
        if self._submitted is not None:
            self._submitted.set_result(asked_of(chat))
            self._submitted = None
        while True:
            asked = self._taken(chat)
            if asked is None:
                raise LeftError("the agent ended its session without an answer")
            if isinstance(asked.what, str):
                self._submitted = asked.answered
                return Reply(asked.what)
            if isinstance(asked.what, ToolCall):
                self._run(chat, asked)
            else:
                self._do(chat, asked.answered, asked.what)

    def close(self) -> None:
        """End the line with its chat: what is still asked fails."""
        with self._lock:
            self._over = True
        while not self._inbox.empty():
            self._next.append(self._inbox.get())
        for asked in self._next:
            if asked is not None and asked.answered.set_running_or_notify_cancel():
                asked.answered.set_exception(OverError(FINISHED))
        self._next.clear()
        submitted, self._submitted = self._submitted, None
        if submitted is not None:
            submitted.set_result(None)

    def _taken(self, chat: Chat) -> _Asked | None:
        """Return what is asked next; of what its agent has given up nothing is left."""
        while True:
            asked = self._next.popleft() if self._next else self._waited(chat)
            if asked is None or asked.answered.set_running_or_notify_cancel():
                return asked

    def _waited(self, chat: Chat) -> _Asked | None:
        try:
            return self._inbox.get(timeout=chat.seconds_left)
        except queue.Empty as error:
            raise OverdueError("the agent takes longer than the chat may last") from error

    def _do(self, chat: Chat, answered: Future[Any], function: Callable[[Chat], Any]) -> None:
        try:
            answered.set_result(function(chat))
        except BaseException as error:  # ends the chat; the agent hears why
            answered.set_exception(OverError(str(error)))
            raise

    def _run(self, chat: Chat, first: _Asked) -> None:
        """Run a call, and at once with it those that come meanwhile, in the order of the answer."""
        made, order = [first, *self._beside(first)], self._answer
        made.sort(key=lambda one: [*order, _called(one)].index(_called(one)))
        self._answer = [called for called in order if called not in map(_called, made)]
        try:
            results = chat.execute([each.what for each in made])  # type: ignore[misc]
        except BaseException as error:  # also that the budget of calls is spent
            for each in made:
                each.answered.set_exception(OverError(str(error)))
            raise
        for each, result in zip(made, results, strict=True):
            each.answered.set_result(result)

    def _beside(self, first: _Asked) -> list[_Asked]:
        """Return the calls that came beside the first; others of its answer are waited for."""
        waits = _called(first) in self._answer and not self._one_by_one
        others = len(self._answer) - 1 if waits else 0
        until = time.monotonic() + _TOGETHER
        made: list[_Asked] = []
        while True:
            while not self._inbox.empty():
                self._next.append(self._inbox.get())
            while self._next and (each := self._next[0]) and isinstance(each.what, ToolCall):
                self._next.popleft()
                if each.answered.set_running_or_notify_cancel():
                    made.append(each)
            if self._next or len(made) >= others:
                return made
            try:
                self._next.append(self._inbox.get(timeout=max(0.0, until - time.monotonic())))
            except queue.Empty:
                self._one_by_one = True
                return made


def _called(asked: _Asked) -> Any:
    call = asked.what
    return (call.name, call.arguments) if isinstance(call, ToolCall) else None
