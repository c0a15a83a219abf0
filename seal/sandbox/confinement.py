"""What shuts a child process in: the files that Python needs, and refused system calls.

System calls that make processes or lead out are refused, by the classic BPF program that `bwrap
--seccomp` reads. A limit on the number of processes would not be enough: it does not hold for root.
A refused call gets EPERM; a call of another architecture ends the process.

Source: Linux, seccomp(2), the struct seccomp_data; include/uapi/asm-generic/unistd.h and
arch/x86/entry/syscalls/syscall_64.tbl.
"""

from __future__ import annotations

import errno
import glob
import struct
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

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
