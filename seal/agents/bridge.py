"""An agent in another process, in any language, in the place of the role that calls tools.

It is a command, which is started for each chat, or a service at an address, which is told of each
chat. Both reach the chat by `seal.agents.bridge_server`.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
from abc import ABC, abstractmethod
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from seal.agents import PlayedAnew
from seal.agents.bridge_line import LeftError, Line
from seal.agents.bridge_server import ChatServer
from seal.agents.replies import NeverBegunError
from seal.core import Chat, InfrastructureError, Reply, UsageError, shortened
from seal.core.secrets import check_url, public_url
from seal.core.values import digest, well_formed

_MOST_SAID = 1 << 20
"""Bytes of what a command writes that are read."""
_ENDED = 5.0
"""Seconds that a command gets to end when it is told to."""
_HOPELESS = 3
"""Chats after which an agent that never asked anything is given up."""
_ERROR = re.compile(r"^\s*[\w.]*(Error|Exception)\b")
"""Line that names an error: `ValueError: no`, `Error: no module`, and not `at f (a.js:1)`."""


class AgentError(RuntimeError):
    """The agent failed: its process ended in an error, or its service answered with one."""


class Bridge(PlayedAnew):
    """An agent that runs elsewhere, in the place of the role that calls tools.

    Args:
        command: Is started for each chat, with the request at its standard input. The variables
            OPENAI_BASE_URL and OPENAI_API_KEY hold the chat's address and token. Where the command
            gave no answer by HTTP, what it writes to its standard output is the answer.
        url: Of a service that is told of each chat by a POST of {request, messages, tools,
            base_url, api_key}. It answers with {answer}, unless it gave the answer before.

    Raises:
        UsageError: Neither or both are given, or there is no such command.
    """

    def __init__(self, command: str | None = None, url: str | None = None) -> None:
        if (command is None) == (url is None):
            raise UsageError(
                "the agent 'bridge' is a command or a service: give bridge:COMMAND or bridge:URL"
            )
        for given in (command, url):
            if not isinstance(given, str | None):
                raise UsageError(
                    f"the agent 'bridge' takes a text, got {shortened(given)}; of a list of words "
                    "shlex.join makes one"
                )
        self.command = command
        self.url = url
        self.identity = f"bridge:{_checked_command(command)}" if command else f"bridge:{_told(url)}"
        self._lock = threading.Lock()
        self._server: ChatServer | None = None
        self._begun = False
        """Whether the agent of any chat has sent a request or given an answer."""
        self._failed = 0
        """Chats whose agent failed before that."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the server: each process has its own."""
        return type(self), (self.command, self.url)

    def for_chat(self) -> BridgedAgent:
        """Return what plays the role in one chat."""
        with self._lock:
            if self._server is None:
                self._server = ChatServer()
            return BridgedAgent(self, self._server)

    def count(self, begun: bool, failure: AgentError | None) -> None:
        """Take note of a chat.

        Raises:
            NeverBegunError: In the first chats the agent failed, and never asked anything.
        """
        with self._lock:
            self._begun |= begun or failure is None
            self._failed += failure is not None
            if failure is not None and not self._begun and self._failed >= _HOPELESS:
                raise NeverBegunError(
                    f"the agent failed before its first request in {self._failed} chats, so the "
                    f"run stops: {failure}; mend the agent"
                ) from failure

    def close(self) -> None:
        """End the server."""
        with self._lock:
            server, self._server = self._server, None
        if server is not None:
            server.end()


class BridgedAgent:
    """An agent that runs elsewhere, in one chat.

    Args:
        bridge: How it is reached.
        server: What it asks.
    """

    plays_own_code = True

    def __init__(self, bridge: Bridge, server: ChatServer) -> None:
        self._bridge = bridge
        self._server = server
        self._place = server.open()
        self._run: _Elsewhere | None = None

    def reply(self, chat: Chat) -> Reply:
        """Return what the agent answers.

        Raises:
            AgentError: It failed.
            OverdueError: It takes longer than the chat may last.
            InfrastructureError: Its service cannot be reached.
            NeverBegunError: It fails in every chat before it asks anything.
        """
        failure: AgentError | None = None
        if self._run is None or self._run.ended.done():
            self._begin(chat)
        run = self._run
        assert run is not None
        try:
            return self._place.line.reply(chat)
        except LeftError:
            try:
                return Reply(run.ended.result())
            except AgentError as error:
                failure = error
                raise
        finally:
            chat.note(run.noted())
            self._bridge.count(self._place.is_asked, failure)

    def close(self) -> None:
        """End the chat for the agent, and its process."""
        self._server.shut(self._place)
        if self._run is not None:
            self._run.stop()

    def _begin(self, chat: Chat) -> None:
        if self._run is not None:
            self._run.stop()
            self._place.line.close()
            self._place.line = Line()
        line = self._place.line
        told = {**self._place.task(chat), **self._place.told()}
        command, url = self._bridge.command, self._bridge.url
        self._run = _Command(command, told) if command else _Service(str(url), told)
        self._run.ended.add_done_callback(lambda ended: line.leave())
        self._run.waiting.start()


class _Elsewhere(ABC):
    """An agent elsewhere that plays one chat.

    Args:
        told: Request, messages, tools, address and token.
    """

    def __init__(self, told: dict[str, Any]) -> None:
        self.ended: Future[str] = Future()
        self.told = told
        self.waiting = threading.Thread(target=self._wait, daemon=True)

    @abstractmethod
    def answer(self) -> str:
        """Hand the request over, and return what the agent has answered when it ends."""

    def noted(self) -> str:
        """Return what it has printed since this was asked last; of a service nothing is seen."""
        return ""

    def stop(self) -> None:  # noqa: B027 - a service goes on, and the chat's address answers no more
        """End it."""

    def _wait(self) -> None:
        try:
            self.ended.set_result(self.answer())
        except Exception as error:  # raised where the result is asked for
            self.ended.set_exception(error)


class _Command(_Elsewhere):
    """A command that plays one chat.

    Args:
        command: As a shell would split it; no shell runs it.
        told: As of `_Elsewhere`.
    """

    def __init__(self, command: str, told: dict[str, Any]) -> None:
        super().__init__(told)
        self._said: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `stop`
        self._errors: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115
        self._noted = 0
        environment = {
            **os.environ,
            "OPENAI_BASE_URL": told["base_url"],
            "OPENAI_API_KEY": told["api_key"],
        }
        self._process = subprocess.Popen(
            shlex.split(command),
            stdin=subprocess.PIPE,
            stdout=self._said,
            stderr=self._errors,
            env=environment,
            start_new_session=True,
        )

    def noted(self) -> str:
        """Return what the command has written to its standard error since this was asked last."""
        text = _text(self._errors, self._noted)
        self._noted += len(text.encode())
        return text

    def stop(self) -> None:
        """End the process and all that it started."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, sign)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_ENDED)
                break
        with suppress(ProcessLookupError):  # what it started may have outlived it
            os.killpg(self._process.pid, signal.SIGKILL)
        self.waiting.join()
        self._said.close()
        self._errors.close()

    def answer(self) -> str:
        """Return what the command has written to its standard output.

        Raises:
            AgentError: It ended in an error.
        """
        stdin = self._process.stdin
        assert stdin is not None
        with suppress(BrokenPipeError), stdin:
            stdin.write(self.told["request"].encode())
        code = self._process.wait()
        if code == 0:
            return _text(self._said, 0).strip()
        lines = _text(self._errors, 0).strip().splitlines() or ["it said nothing"]
        said = next(filter(_ERROR.search, reversed(lines)), lines[-1])
        how = f"exit code {code}" if code > 0 else f"signal {-code}"
        raise AgentError(f"the agent's process ended with {how}: {said}")


class _Service(_Elsewhere):
    """A service that plays one chat.

    Args:
        url: Where it is told of the chat.
        told: As of `_Elsewhere`.
    """

    def __init__(self, url: str, told: dict[str, Any]) -> None:
        super().__init__(told)
        self._url = url

    def answer(self) -> str:
        """Return what the service answers.

        Raises:
            AgentError: It answered with an error, or without a text.
            InfrastructureError: It cannot be reached.
        """
        import urllib3

        try:
            answer = urllib3.request(
                "POST", self._url, json=self.told, retries=False, timeout=urllib3.Timeout(None)
            )
        except urllib3.exceptions.HTTPError as error:
            raise InfrastructureError(
                f"the agent at {public_url(self._url)} could not be reached or broke off: "
                f"{error}. Is it running?"
            ) from error
        text = well_formed(answer.data.decode(errors="replace"))
        if answer.status >= 300:
            raise AgentError(f"the agent's service answered with {answer.status}: {text[:200]}")
        said = None
        with suppress(ValueError):
            said = json.loads(text)
        answered = said.get("answer") if isinstance(said, dict) else None
        if not isinstance(answered, str):
            raise AgentError(
                f"the agent's service answered without {{'answer': TEXT}}: {text[:200]}"
            )
        return answered


def _text(file: BinaryIO, start: int) -> str:
    """Return what a process has written from a place on; it goes on writing at the end."""
    data = os.pread(file.fileno(), _MOST_SAID, start)
    return well_formed(data.decode(errors="replace"))


def _checked_command(command: str) -> str:
    """Return a command with a digest of the files that it names."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"agent bridge:{command}: {error}") from error
    if not words or shutil.which(words[0]) is None:
        raise UsageError(f"agent bridge:{command}: there is no such program")
    files = [Path(word) for word in words[1:]]
    contents = [file.read_bytes().hex() for file in files if file.is_file()]
    return f"{command}#{digest(contents)[:8]}" if contents else command


def _told(url: str | None) -> str:
    check_url(str(url), "agent bridge:URL")
    return public_url(str(url))
