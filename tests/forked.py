"""Real processes that need not import all anew: forked from one that has imported AutoGen.

Such a process is a program like any other, with its own id, folder, variables and streams; it can
be interrupted and killed. What a program imports is tested elsewhere, in processes of their own.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from multiprocessing import forkserver, resource_tracker
from pathlib import Path
from typing import Any

import pytest

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["preloaded"])


class Forked:
    """A program that runs in a process of its own.

    Args:
        words: `seal` or a path of a Python program, then its arguments.
        cwd: Its folder.
        env: All its variables.
        stdin: File or terminal that it reads; by default nothing.
        stdout: File or terminal that it writes; by default it is kept for `communicate`.
        stderr: The same of its messages.
    """

    def __init__(
        self,
        words: Sequence[object],
        *,
        cwd: Path,
        env: Mapping[str, str],
        stdin: str = os.devnull,
        stdout: str = "",
        stderr: str = "",
    ) -> None:
        self.args = [str(word) for word in words]
        self._kept = tempfile.TemporaryDirectory()
        self._streams = [Path(self._kept.name, name) for name in ("out", "err")]
        streams = (stdin, stdout or str(self._streams[0]), stderr or str(self._streams[1]))
        self._process = _CONTEXT.Process(
            target=_become, args=(self.args, str(cwd), dict(env), streams)
        )
        ensure_server()
        self._process.start()

    @property
    def pid(self) -> int:
        """Its number."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """What it ended with, -N for a signal; None: it runs."""
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)

    def communicate(self, timeout: float = 600) -> tuple[str, str]:
        """Wait for its end and return what it wrote."""
        self._process.join(timeout)
        assert self.returncode is not None, f"{self.args} still runs after {timeout} s"
        said = [path.read_text() if path.is_file() else "" for path in self._streams]
        self._kept.cleanup()
        return said[0], said[1]


def run(words: Sequence[object], **settings: object) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; keywords are those of `Forked`."""
    process = Forked(words, **settings)  # type: ignore[arg-type]
    out, err = process.communicate()
    assert process.returncode is not None
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def ensure_server() -> None:
    """Start the server where it does not run yet.

    It leaves out without a word what it cannot import, and does not look where this process does.
    What it forks ends without telling which lines ran, so it is not measured.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)
        patch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
        forkserver.ensure_running()


def _become(
    words: list[str], folder: str, variables: dict[str, str], streams: tuple[str, str, str]
) -> None:
    """Be the program."""
    assert "preloaded" in sys.modules
    os.setsid()
    keeper: Any = resource_tracker._resource_tracker  # what a killed one leaves is not the tests'
    os.close(keeper._fd)
    keeper._fd = keeper._pid = None
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    if "GENERAL_RETRIEVER" not in variables:  # words are quicker than an encoder
        sys.modules["seal.retrievers.build"].DEFAULT = "tfidf"  # type: ignore[attr-defined]
    for number, path in enumerate(streams):
        opened = os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, mode, closefd=False) for number, mode in enumerate(("r", "w", "w"))
    )
    sys.path[:0] = [p for p in variables.get("PYTHONPATH", "").split(os.pathsep) if p]
    sys.argv = words
    if words[0] == "seal":
        sys.path.insert(0, folder)  # as `python -m` does; the program takes it out again
        runpy.run_module("seal", run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, str(Path(words[0]).parent))
        runpy.run_path(words[0], run_name="__main__")
