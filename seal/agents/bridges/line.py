"""Between the thread that plays a chat and an agent that reaches the chat from elsewhere."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from seal.agents.own import asked_of
from seal.core import Chat, OverdueError, Reply, ToolCall

FINISHED = "The task is finished. End the session."


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
    """Between the thread of one chat and the agent that plays it.

    Args:
        holds: True: the answer to the last text waits for `finish`, so that all files of the run
            are written when the agent gets it.
    """

    def __init__(self, holds: bool = False) -> None:
        self._holds = holds
        self._inbox: queue.Queue[_Asked | None] = queue.Queue()
        self._next: deque[_Asked | None] = deque()
        self._submitted: Future[Any] | None = None
        self._over = False
        self._lock = threading.Lock()

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
                self._run(chat, asked, asked.what)
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
        if not self._holds:
            self.finish()

    def finish(self) -> None:
        """Answer the last text."""
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

    def _run(self, chat: Chat, first: _Asked, call: ToolCall) -> None:
        """Run a call, and at once with it the calls that came meanwhile."""
        calls, answered = [call], [first.answered]
        while not self._inbox.empty():
            self._next.append(self._inbox.get())
        while self._next and (asked := self._next[0]) and isinstance(asked.what, ToolCall):
            self._next.popleft()
            if asked.answered.set_running_or_notify_cancel():
                calls.append(asked.what)
                answered.append(asked.answered)
        try:
            results = chat.execute(calls)
        except BaseException as error:  # also that the budget of calls is spent
            for each in answered:
                each.set_exception(OverError(str(error)))
            raise
        for each, result in zip(answered, results, strict=True):
            each.set_result(result)
