"""What the system refused, as a sentence for a person."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from pathlib import Path

from seal.core.folders import whole_name

_OF_PATHS = ("--out", "--cache-dir", "--calls")
"""Flags whose value is a path."""

_REPAIRS = {
    errno.ENOENT: "give a path that exists or can be made",
    errno.EEXIST: "a file stands where a folder is needed; give another path",
    errno.ENOTDIR: "a file stands where a folder is needed; give another path",
    errno.EISDIR: "it is a folder; give a file",
    errno.EACCES: "give a path that you may read and write",
    errno.EPERM: "give a path that you may read and write",
    errno.EROFS: "give a path that you may read and write",
    errno.ENAMETOOLONG: "give a shorter path",
    errno.ENOSPC: "make room and try again",
    errno.EMFILE: "give fewer --workers, or raise `ulimit -n`",
}


def refusal(error: OSError, words: Sequence[str] = ()) -> str:
    """Return a sentence for a person; no name that a file has only while it is written.

    Args:
        error: What the system refused.
        words: Those of the command line: the flag that named the file is told.
    """
    reason = error.strerror or str(error)
    if error.errno in _REPAIRS:
        reason = f"{reason}; {_REPAIRS[error.errno]}"
    if not isinstance(error.filename, str):
        return reason
    path = Path(*map(whole_name, Path(error.filename).parts))
    return f"{_meant(path, words)}{path}: {reason}"


def _meant(path: Path, words: Sequence[str]) -> str:
    """Return the flag and value that the path belongs to; empty where no flag does."""
    for flag, value in _flags(words):
        if value == str(path):
            return f"{flag} "
        try:
            given, refused = Path(value).absolute(), path.absolute()
        except FileNotFoundError:  # the working folder is gone
            continue
        if given in refused.parents or refused in given.parents:
            return f"{flag} {value}: "
    return ""


def _flags(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    for word, following in zip(words, (*words[1:], ""), strict=False):
        flag, equals, value = word.partition("=")
        if flag in _OF_PATHS:
            yield flag, value if equals else following
