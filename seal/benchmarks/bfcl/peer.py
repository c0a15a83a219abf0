"""The peer: bfcl-eval, in an interpreter of its own that the user names.

It is foreign code, and its pins would break ours. So it is no extra: it runs in a child process,
only where `SEAL_BFCL_PYTHON` names the interpreter, and is asked in JSON lines (`peer_child`). Of
our environment the child gets what a program needs to start, and no keys.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any, NoReturn

from seal.core import JSON, InfrastructureError, UsageError
from seal.core.line_process import LineProcess
from seal.core.plain import json_bytes

VARIABLE = "SEAL_BFCL_PYTHON"
RELEASE = "bfcl-eval==2026.3.23"
HOW = (
    f"{VARIABLE} names no Python that has {RELEASE}; make one: python3.11 -m venv BFCL, "
    f"BFCL/bin/pip install torch {RELEASE} soundfile, export {VARIABLE}=BFCL/bin/python"
)
_KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "SYSTEMROOT")
_LONGEST = 1 << 28


def is_named() -> bool:
    """Tell whether the user names an interpreter for the peer."""
    return bool(os.environ.get(VARIABLE))


class Peer:
    """A child process, begun when it is first asked, and again after it failed. Safe in threads.

    Args:
        seconds: What an answer may take.
    """

    def __init__(self, seconds: float = 300.0) -> None:
        self._seconds = seconds
        self._lock = Lock()
        self._process: LineProcess | None = None

    def ask(self, what: str, **of: Any) -> Any:
        """Return the peer's answer.

        Args:
            what: A method of `peer_child.Peer`.
            of: Its arguments, as JSON.

        Raises:
            UsageError: No interpreter is named, it cannot be started, or has no bfcl-eval.
            InfrastructureError: The peer failed, ended, or took too long.
        """
        line = json_bytes({"ask": what, "of": of}) + b"\n"
        with self._lock:
            self._process = self._process or _started()
            try:
                answer = self._process.ask(line, self._seconds)
            except TimeoutError:
                self._fail(what, f"no answer within {self._seconds:g} s")
            if not answer.endswith(b"\n"):
                self._fail(what, f"its process ended with status {self._process.status()}")
        said: Mapping[str, JSON] = json.loads(answer)
        if "error" not in said:
            return said["value"]
        error = str(said["error"])
        if error.startswith(("PackageNotFoundError", "ModuleNotFoundError")):
            raise UsageError(f"{HOW}. It says: {error}")
        raise InfrastructureError(f"bfcl-eval, asked for {what!r}: {error}")

    def _fail(self, what: str, problem: str) -> NoReturn:
        self.close()
        raise InfrastructureError(f"bfcl-eval, asked for {what!r}: {problem}")

    def close(self) -> None:
        """End the process. Closing twice is fine."""
        if self._process is not None:
            self._process.close()
            self._process = None


def _started() -> LineProcess:
    if not is_named():
        raise UsageError(HOW)
    program = str(Path(__file__).with_name("peer_child.py"))
    command = [str(Path(os.environ[VARIABLE]).expanduser()), "-I", program]
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    try:
        return LineProcess(command, {**kept, "PYTHONHASHSEED": "0"}, _LONGEST)
    except OSError as error:
        raise UsageError(f"{VARIABLE}={command[0]!r} cannot be started: {error}") from error
