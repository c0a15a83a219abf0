"""The system calls that a child process is refused: those that make processes, and ways out.

Written as the classic BPF program that `bwrap --seccomp` reads, for a limit on the number of
processes does not hold where the harness runs as root. Whoever asks for one gets EPERM; a call of
another architecture ends the process.

Source: Linux, seccomp(2), the struct seccomp_data; include/uapi/asm-generic/unistd.h and
arch/x86/entry/syscalls/syscall_64.tbl.
"""

from __future__ import annotations

import errno
import struct
from typing import NamedTuple

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
