"""A llama.cpp server of our own: one for a program and its worker processes, which ends with it.

This is the one module that imports xllamacpp (extra `local`), in the server's process alone. Who
holds the lock of a server's file is that server, or starts it: it inherits the lock. So nobody
starts a second one, and one that died is started anew by whoever asks next.
"""

from __future__ import annotations

import atexit
import fcntl
import json
import multiprocessing
import os
import secrets
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn

from seal.core import MissingExtraError, OverdueError, UsageError
from seal.core.concurrency import seconds_left
from seal.core.values import digest

_LOOK_S = 0.05
"""Seconds between two looks at a server that starts."""
_WATCH_S = 1.0
"""Seconds after which the watcher of a server that is gone ends too."""
_over = threading.Event()
"""Set when this program ends: its threads, which go on for a moment, start no server any more."""


class Address(NamedTuple):
    """Where a server is asked."""

    url: str
    key: str
    """Without it the server answers nobody: other users of the machine cannot ask it."""


def address_of(weights: Path, options: Mapping[str, int]) -> Address:
    """Return the address of this program's server for a file; it is started where there is none.

    Args:
        weights: The GGUF file.
        options: Fields of llama.cpp's parameters: `n_ctx`, `n_parallel`...

    Raises:
        MissingExtraError: xllamacpp is not installed.
        UsageError: llama.cpp cannot load the file.
        OverdueError: It is still loading the file when the time of who asks is up; it goes on. Or
            this program is ending.
    """
    if find_spec("xllamacpp") is None:
        raise MissingExtraError("xllamacpp", "local")
    parent = multiprocessing.parent_process()
    program = os.getpid() if parent is None or parent.pid is None else parent.pid
    place = _folder() / f"{program}-{digest([str(weights), dict(options)])[:16]}"
    while not _over.is_set():
        with place.open("a+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:  # it runs, or it starts
                found = _read(place)
                if found:
                    return found
            else:
                file.truncate(0)
                return _started(file, place, weights, options, program)
        _wait(weights)
    raise OverdueError("the program is ending, so no llama.cpp is started")


def _folder() -> Path:
    """Return the folder of the servers' files: on this machine, and this user's alone.

    Anybody may have made it, or a link of its name, for keys of servers to be read there.
    """
    folder = Path(tempfile.gettempdir()) / f"seal-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise UsageError(f"{folder} is not this user's; set TMPDIR to a folder of your own")
    folder.chmod(0o700)
    return folder


def _read(place: Path) -> Address | None:
    text = place.read_text(encoding="utf-8")
    return Address(*json.loads(text)) if text.endswith("]") else None


def _wait(weights: Path) -> None:
    """Wait for a server that starts."""
    if not seconds_left():
        raise OverdueError(f"llama.cpp was still loading {weights.name} when the time was up")
    time.sleep(min(_LOOK_S, seconds_left()))


def _started(
    file: IO[str], place: Path, weights: Path, options: Mapping[str, int], program: int
) -> Address:
    """Return the address of a server that is started with the lock on its file."""
    said = place.with_suffix(".log")
    told = json.dumps([str(weights), dict(options), file.fileno(), str(place), program])
    with said.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, told],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=[file.fileno()],
            start_new_session=True,  # Ctrl-C is for the program, which ends it
        )
    atexit.register(_end, process, place)
    atexit.register(_over.set)  # which comes first
    while process.poll() is None:
        if found := _read(place):
            return found
        _wait(weights)
    lines = said.read_text(encoding="utf-8", errors="replace").splitlines()
    reason = next((line for line in lines if " E " in line), lines[-1] if lines else "it ended")
    raise UsageError(
        f"llama.cpp cannot load {weights}: {reason.partition(' E ')[2] or reason}; is the file "
        "whole, and is there memory for it?"
    )


def _end(process: subprocess.Popen[bytes], place: Path) -> None:
    """End a server, which keeps nothing, at once: one that loads its file hears no other signal."""
    process.kill()
    process.wait()
    _remove(place)


def _serve(weights: str, options: Mapping[str, int], file: int, place: str, program: int) -> None:
    """Serve until the program is gone; runs in the server's process."""
    if not os.fork():
        os.close(file)  # else the lock would outlive the server
        _end_with(program, Path(place))
    import xllamacpp

    parameters: Any = xllamacpp.CommonParams()
    parameters.model.path = weights
    for name, value in options.items():
        setattr(parameters.cpuparams if name == "n_threads" else parameters, name, value)
    key = secrets.token_hex(16)
    parameters.api_keys = [key]
    parameters.ui = parameters.endpoint_slots = False
    server = xllamacpp.Server(parameters)
    os.write(file, json.dumps([f"{server.listening_address}/v1", key]).encode())
    threading.Event().wait()


def _end_with(program: int, place: Path) -> NoReturn:
    """Wait for the end of the program, whoever started the server, and end the server.

    Runs in a child of the server: no thread of the server's runs while llama.cpp loads a file.
    """
    server, ends = os.getppid(), []
    with suppress(AttributeError, OSError):  # neither macOS nor an old kernel has it
        ends = [os.pidfd_open(program)]
    with suppress(ProcessLookupError):
        while os.getppid() == server and not select.select(ends, [], [], _WATCH_S)[0]:
            os.kill(program, 0)
    if os.getppid() == server:
        os.kill(server, signal.SIGKILL)
        _remove(place)
    os._exit(0)


def _remove(place: Path) -> None:
    for file in (place, place.with_suffix(".log")):
        file.unlink(missing_ok=True)


if __name__ == "__main__":
    _serve(*json.loads(sys.argv[1]))
