"""What a user sees when a command fails: one message, no traceback, no key."""

from __future__ import annotations

import errno
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType

from seal.core import BudgetError, InfrastructureError, OutageError, SealError
from seal.report.printable import printable

INTERRUPTED = 130
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)
_SHORTEST_SECRET = 8
"""Shorter values of such variables are words like "none", which also occur elsewhere."""

Hook = Callable[[type[BaseException], BaseException, TracebackType | None], None]


def exit_code(error: SealError) -> int:
    """Return the exit code of an error by its place in the tree of `seal.core.errors`."""
    if isinstance(error, (BudgetError, OutageError)):
        return 3
    return 1 if isinstance(error, InfrastructureError) else 2


def scrub(text: str) -> str:
    """Return the text with the values of secret environment variables replaced by their names."""
    for name, value in os.environ.items():
        if _SECRET_NAME.search(name) and len(value) >= _SHORTEST_SECRET:
            text = text.replace(value, f"[{name}]")
    return text


def reported(command: Callable[[], int], debug: bool, words: Sequence[str] = ()) -> int:
    """Run a command and report on stderr what it raises on purpose or the system refuses.

    Args:
        command: Returns its exit code.
        debug: Show a traceback too; it never holds local variables.
        words: Those of the command line, for the flag that named a file.

    Returns:
        The exit code.
    """
    try:
        return command()
    except SealError as error:
        tell(str(error), error if debug else None)
        return exit_code(error)
    except BrokenPipeError:
        # The reader is gone (`| head`): stdout must not fail once more when Python flushes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        tell(refusal(error, words), error if debug else None)
        return 2
    except KeyboardInterrupt:
        tell("interrupted")
        return INTERRUPTED


def unforeseen(debug: bool) -> Hook:
    """Return the hook for errors that nobody raised on purpose: one line, and how to see more."""

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        hint = "" if debug else "; --debug shows where"
        tell(f"unexpected {kind.__name__}: {error}{hint}", error if debug else None)

    return hook


def tell(message: str, error: BaseException | None = None) -> None:
    """Write a message to stderr, printable, after the error's traceback where one is given."""
    trace = "" if error is None else "".join(traceback.format_exception(error))
    sys.stderr.write(printable(scrub(f"{trace}seal: {message}\n")))


_PART = re.compile(r"\.(.+?)\.\d+(?:-\d+)?\.(?:part|old)")
"""Name of a file or folder that is being written, which takes its own name in the end."""

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
    path = _lasting(Path(error.filename))
    return f"{_meant(path, words)}{path}: {reason}"


def _lasting(path: Path) -> Path:
    """Return the path with each part's name while it is written replaced by its own."""
    names = (_PART.fullmatch(name) for name in path.parts)
    return Path(*(m[1] if m else name for m, name in zip(names, path.parts, strict=True)))


def _meant(path: Path, words: Sequence[str]) -> str:
    """Return the flag and value that the path belongs to; empty where no flag does."""
    for flag, value in _flags(words):
        if value == str(path):
            return f"{flag} "
        given, refused = Path(value).absolute(), path.absolute()
        if given in refused.parents or refused in given.parents:
            return f"{flag} {value}: "
    return ""


def _flags(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    for word, following in zip(words, (*words[1:], ""), strict=False):
        flag, equals, value = word.partition("=")
        if flag in _OF_PATHS:
            yield flag, value if equals else following
