"""Bubblewrap, and what shuts a child in."""

from __future__ import annotations

import errno
import glob
import json
import math
import os
import platform
import re
import selectors
import shutil
import struct
import subprocess
import sys
import sysconfig
import tempfile
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from seal.core import JSON, InfrastructureError, UsageError
from seal.core.text import shipped_text
from seal.sandbox.function_cases import (
    MOST_OUTPUT,
    MOST_RESULT,
    NOW,
    Case,
    Limits,
    Module,
    Outcome,
    Row,
    failed,
    limits_named,
    play_cases,
    returned,
    too_large,
)

# -- The other sandbox: the whole of Python, in a child process that bubblewrap shuts in.
#
# The child has no network, no processes but itself and no variables. Its read-only file system
# holds the interpreter and its standard library alone. CPU, memory, open files and written bytes
# are limited, and system calls are filtered (`seccomp`). Its clock stands still. Each case has its
# time on the wall. After that the child is killed with everything in it, and another child goes on
# with the next case.
#
# What the child says is taken as the code's own words. It may lie about its result, but it does not
# know the expected one.

NAME = "bubblewrap"

_START = 30.0
"""Seconds that the child may take to begin."""
_LONGEST = 6 * MOST_RESULT + 65_536
"""Bytes of an answer: a character is at most six of JSON's."""
_WORKS = "import json; print(json.dumps(1))"


class BubblewrapSandbox:
    """Runs functions in child processes under bubblewrap, one for each `run`.

    Args:
        limits: Of a case.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()

    def identity(self) -> dict[str, JSON]:
        """Return name, versions and limits."""
        found = _usable()
        return {
            "name": NAME,
            "version": _version(found.bwrap),
            "python": platform.python_version(),
            "limits": limits_named(self._limits),
        }

    def run(
        self, source: str, function: str, table: Sequence[Row], cases: Sequence[Case]
    ) -> list[Outcome]:
        """Return one outcome for each case (`Sandbox.run`)."""
        found = _usable()
        begin = {
            "source": source,
            "function": function,
            "table": json.dumps(list(table)),
            "now": NOW.timestamp(),
            "recursion": self._limits.recursion,
            "output": MOST_OUTPUT,
            "limits": _resource_limits(self._limits, len(cases)),
        }

        def opened() -> closing[_Module]:
            return closing(_Module(found, self._limits, begin))

        return play_cases(source, cases, self._limits, NAME, opened)


def why_not() -> str:
    """Return why bubblewrap cannot be used here, with the repair; empty where it can."""
    if sys.platform != "linux" or platform.machine() not in MACHINES:
        known = ", ".join(MACHINES)
        return f"bubblewrap runs on Linux ({known}), not on {sys.platform} ({platform.machine()})"
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        return "bubblewrap is not installed: apt-get install bubblewrap (or your system's package)"
    return _tried(bwrap)


@cache
def _tried(bwrap: str) -> str:
    interpreter = this_interpreter()
    if interpreter is None:
        return f"the libraries of {sys.executable} cannot be told, so it cannot be shut in"
    try:
        with _command(bwrap, interpreter, _WORKS) as (command, passed):
            ran = subprocess.run(
                command, pass_fds=passed, capture_output=True, text=True, timeout=_START
            )
    except (OSError, subprocess.SubprocessError) as error:
        return f"{bwrap} cannot be run: {error}"
    if ran.returncode == 0 and ran.stdout.strip() == "1":
        return ""
    last = (ran.stderr.strip().splitlines() or [f"exit status {ran.returncode}"])[-1]
    return f"{bwrap} does not work here: {last}; it needs user namespaces to be allowed"


class _Found(NamedTuple):
    """A bubblewrap that works."""

    bwrap: str
    interpreter: Interpreter


@cache
def _version(bwrap: str) -> str:
    told = subprocess.run([bwrap, "--version"], capture_output=True, text=True, timeout=_START)
    number = re.search(r"[\d.]+", told.stdout)
    return number.group() if number else "unknown"


def _usable() -> _Found:
    why = why_not()
    bwrap, interpreter = shutil.which("bwrap"), this_interpreter()
    if why or bwrap is None or interpreter is None:
        raise UsageError(f"the sandbox bubblewrap cannot be used: {why}")
    return _Found(bwrap, interpreter)


def _resource_limits(limits: Limits, cases: int) -> dict[str, float]:
    """Return what the child bounds itself by, by the names of the module `resource`."""
    return {
        "RLIMIT_AS": limits.memory,
        "RLIMIT_CPU": math.ceil(limits.seconds * (cases + 1) + _START),
        "RLIMIT_NPROC": 1,
        "RLIMIT_FSIZE": 0,
        "RLIMIT_NOFILE": 32,
        "RLIMIT_CORE": 0,
    }


@contextmanager
def _command(
    bwrap: str, interpreter: Interpreter, text: str
) -> Iterator[tuple[list[str], tuple[int, ...]]]:
    """Yield the command that runs a program's text, and the descriptors that it is to inherit."""
    with tempfile.TemporaryFile() as rules:
        rules.write(program(platform.machine()))
        rules.seek(0)
        yield (
            [
                bwrap,
                *("--unshare-all", "--unshare-user", "--uid", "65534", "--gid", "65534"),
                *("--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"),
                *("--setenv", "PYTHONHOME", interpreter.home, "--setenv", "PYTHONHASHSEED", "0"),
                *("--setenv", "PYTHONUTF8", "1", "--seccomp", str(rules.fileno())),
                *_bound(interpreter),
                *("--remount-ro", "/", "--chdir", "/", "--"),
                *interpreter.command(text),
            ],
            (rules.fileno(),),
        )


def _bound(interpreter: Interpreter) -> list[str]:
    words: list[str] = []
    for path in (*interpreter.folders, interpreter.executable, *interpreter.libraries):
        words += ["--ro-bind", str(path), str(path)]
    for folder in interpreter.folders:
        if (folder / "site-packages").is_dir():
            words += ["--tmpfs", str(folder / "site-packages")]
            words += ["--remount-ro", str(folder / "site-packages")]
    return words


class _Module(Module):
    """The source in a child process that is started when it is needed."""

    def __init__(self, found: _Found, limits: Limits, begin: Mapping[str, JSON]) -> None:
        super().__init__()
        self._found, self._limits, self._begin = found, limits, begin
        self._process: LineProcess | None = None
        self._number = -1
        """Of the last request: 0 begins, 1 loads the source, further ones are cases."""

    def _is_open(self) -> bool:
        return self._process is not None

    def _outcome(self, case: Case) -> Outcome:
        request = {"arguments": case.arguments, "most": MOST_RESULT}
        said = self._ask(request, self._limits.seconds)
        if said.get("kind") == "value" and isinstance(said.get("text"), str):
            return returned(said["text"], case, NAME)
        return _fault(said)

    def close(self) -> None:
        """Kill the child, and everything in it."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def _load(self) -> None:
        """Start a child and load the source in it.

        Raises:
            InfrastructureError: The machine has no file, memory or process left for a child.
        """
        bwrap = self._found.bwrap
        text = shipped_text("seal.sandbox", "child.py")
        try:
            with _command(bwrap, self._found.interpreter, text) as (command, passed):
                self._process = LineProcess(command, {}, _LONGEST, passed)
        except OSError as error:
            raise InfrastructureError(
                f"{bwrap} cannot be started: {error}; it worked before. Run fewer tasks at once "
                "(--workers)"
            ) from error
        self._number = -1
        if self._ask(self._begin, _START).get("kind") != "begun":
            raise InfrastructureError(
                f"{bwrap} did not start Python within {_START:g} s; it did before. "
                "Is the machine out of memory?"
            )
        said = self._ask({}, self._limits.seconds)
        if said.get("kind") != "ready":
            self._broken = _fault(said)
            self.close()

    def _ask(self, request: Mapping[str, JSON], seconds: float) -> Mapping[str, JSON]:
        """Return what the child says; where it says nothing of the kind, it is ended."""
        assert self._process is not None
        self._number += 1
        line = json.dumps({"number": self._number, **request}).encode() + b"\n"
        said = self._answer(self._process, line, seconds)
        if said.get("number") != self._number:
            self.close()
        return said if said.get("number") in (self._number, None) else _NONSENSE

    def _answer(self, process: LineProcess, line: bytes, seconds: float) -> Mapping[str, JSON]:
        """Return the child's answer to a line; without a "number" where there is none."""
        try:
            answer = process.ask(line, seconds)
        except TimeoutError:
            return {"kind": "timeout", "message": f"no answer within {seconds:g} s"}
        if not answer.endswith(b"\n"):
            code = process.status()
            message = f"the child ended with status {code}"
            if code is None:
                message = "the child said too much, or closed its answers"
            else:
                self.deaths.append(self._case)
            return {"kind": "exception", "message": message}
        try:
            said = json.loads(answer)
        except (ValueError, RecursionError):
            return _NONSENSE
        return said if isinstance(said, dict) else _NONSENSE


_NONSENSE: Mapping[str, JSON] = {
    "kind": "exception",
    "message": "the code broke the child's answers",
}


def _fault(said: Mapping[str, JSON]) -> Outcome:
    """Return the outcome of a case of which the child gives no result."""
    kind, message = said.get("kind"), said.get("message")
    if kind == "large" and isinstance(said.get("size"), int):
        return too_large(said["size"], NAME)
    if kind not in ("exception", "memory", "timeout", "no_function", "syntax"):
        return failed("exception", str(_NONSENSE["message"]), NAME)
    return failed(str(kind), message if isinstance(message, str) else "", NAME)


# -- What shuts a child process in: the files that Python needs, and refused system calls.
#
# System calls that make processes or lead out are refused, by the classic BPF program that `bwrap
# --seccomp` reads. A limit on the number of processes would not be enough: it does not hold for
# root. A refused call gets EPERM; a call of another architecture ends the process.
#
# Source: Linux, seccomp(2), the struct seccomp_data; include/uapi/asm-generic/unistd.h and
# arch/x86/entry/syscalls/syscall_64.tbl.

_MODULES = (
    "array bisect calendar collections contextlib copy csv dataclasses datetime decimal difflib"
    " enum fractions functools hashlib heapq itertools json math operator random re resource"
    " statistics string struct textwrap time typing unicodedata zlib"
)
"""Those whose libraries are given; of the rest of the standard library what is pure Python."""
_PROBE = f"import {', '.join(_MODULES.split())}; print(open('/proc/self/maps').read())"


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The interpreter that runs SEAL, by its files; of a virtual environment, the one beneath."""

    executable: Path
    loader: Path
    """The dynamic loader, which starts the executable."""
    libraries: tuple[Path, ...]
    """Shared libraries outside of the standard library, under each of their names, and the
    loader."""
    folders: tuple[Path, ...]
    """The standard library."""
    home: str
    """What PYTHONHOME says."""

    def command(self, program: str) -> list[str]:
        """Return how a program's text is started, given these files alone."""
        searched = ":".join(sorted({str(path.parent) for path in self.libraries}))
        started = [str(self.loader), "--library-path", searched, str(self.executable)]
        return [*started, "-S", "-s", "-B", "-c", program]


@cache
def this_interpreter() -> Interpreter | None:
    """Return the interpreter, found by asking one that has loaded its libraries; None: not so."""
    executable = Path(sys.executable).resolve()
    paths = {"platbase": sys.base_exec_prefix, "base": sys.base_prefix}
    folders = {Path(sysconfig.get_path(name, vars=paths)) for name in ("stdlib", "platstdlib")}
    asked = [str(executable), "-I", "-S", "-c", _PROBE]
    try:
        maps = subprocess.run(asked, capture_output=True, text=True, timeout=30, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    mapped = {Path(line.split(maxsplit=5)[5]) for line in maps.splitlines() if ".so" in line}
    libraries = sorted(
        path for path in mapped if not any(folder in path.parents for folder in folders)
    )
    loader = next((path for path in libraries if path.name.startswith("ld-")), None)
    if loader is None:
        return None
    home = f"{sys.base_prefix}:{sys.base_exec_prefix}"
    kept = tuple(sorted(folder for folder in folders if folder.is_dir()))
    named = {name for path in libraries for name in _names(path)}
    return Interpreter(executable, loader, tuple(sorted(named)), kept, home)


def _names(library: Path) -> set[Path]:
    """Return a library's path, and those of the links to it beside it.

    Whoever needs it asks for its soname, `libz.so.1`; the file that is mapped is `libz.so.1.3`.
    """
    stem = library.name.partition(".so")[0]
    links = library.parent.glob(f"{glob.escape(stem)}.so*")
    return {library, *(link for link in links if link.resolve() == library)}


_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ARCHITECTURE, _NUMBER = 4, 0
"""Offsets in the struct seccomp_data."""
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
_X32 = 0x40000000
"""The first number of the calls of the x32 ABI."""


class _Machine(NamedTuple):
    audit: int
    """Its AUDIT_ARCH."""
    refused: tuple[int, ...]


_NEW = (425, 435)
"""io_uring_setup and clone3: the same everywhere."""
MACHINES = {
    # clone fork vfork, unshare setns, ptrace, socket socketpair, shmget msgget, memfd_create, bpf,
    # userfaultfd, perf_event_open, mount, keyctl add_key request_key
    "x86_64": _Machine(
        0xC000003E,
        (56, 57, 58, 272, 308, 101, 41, 53, 29, 68, 319, 321, 323, 298, 165, 250, 248, 249, *_NEW),
    ),
    "aarch64": _Machine(
        0xC00000B7,
        (220, 97, 268, 117, 198, 199, 194, 186, 279, 280, 282, 241, 40, 219, 217, 218, *_NEW),
    ),
}
"""By what `platform.machine` says."""


def program(machine: str) -> bytes:
    """Return the filter for a machine of `MACHINES`."""
    audit, refused = MACHINES[machine]
    lines = [
        _line(_LOAD, _ARCHITECTURE),
        _line(_EQUAL, audit, yes=1),
        _line(_RETURN, _KILL),
        _line(_LOAD, _NUMBER),
        _line(_AT_LEAST, _X32, no=1),
        _line(_RETURN, _KILL),
    ]
    for number in refused:
        lines += [_line(_EQUAL, number, no=1), _line(_RETURN, _REFUSE)]
    return b"".join([*lines, _line(_RETURN, _ALLOW)])


def _line(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)


# -- A child process that answers lines: each line that it is sent with one of its own.


class LineProcess:
    """One child process. What it writes to its standard error is dropped.

    Args:
        command: Program and arguments; no shell runs it.
        environment: Its variables, all of them.
        longest: Bytes of an answer, at most about.
        passed: File descriptors that it inherits.

    Raises:
        OSError: The program is not there, or the machine has no process left.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        longest: int,
        passed: Sequence[int] = (),
    ) -> None:
        self._longest = longest
        self._process = subprocess.Popen(
            command,
            pass_fds=passed,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(environment),
            bufsize=0,
        )
        assert self._process.stdin and self._process.stdout
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        for stream in (self._stdin, self._stdout):
            os.set_blocking(stream.fileno(), False)
        self._end = weakref.finalize(self, _end, self._process)

    def ask(self, line: bytes, seconds: float) -> bytes:
        """Return the child's answer to a line; one without a newline at its end is not whole.

        Raises:
            TimeoutError: There was none in time.
        """
        try:
            return self._exchange(line, time.monotonic() + seconds)
        except TimeoutError:
            raise
        except OSError:  # it closed its streams, or is gone
            return b""

    def status(self) -> int | None:
        """Return the status with which the child ended; None: it runs on."""
        try:
            return self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            return None

    def close(self) -> None:
        """Kill the child, as happens with this object too. Closing twice is fine."""
        self._end()

    def _exchange(self, line: bytes, deadline: float) -> bytes:
        """Write a line and read one; nothing blocks, for the child may do neither."""
        answer = bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdin, selectors.EVENT_WRITE)
            selector.register(self._stdout, selectors.EVENT_READ)
            while len(answer) <= self._longest:
                left = deadline - time.monotonic()
                ready = selector.select(left) if left > 0 else []
                if not ready:  # nor may a child that never stops talking have more time
                    raise TimeoutError
                for key, _ in ready:
                    if key.fileobj is self._stdin:
                        line = line[os.write(key.fd, line) :]
                        if not line:
                            selector.unregister(self._stdin)
                        continue
                    piece = os.read(key.fd, 65_536)
                    answer += piece
                    if not piece or b"\n" in piece:
                        return bytes(answer[: answer.find(b"\n") + 1])
        return b""


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
