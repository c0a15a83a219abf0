"""How a command fails: in one line that names the repair, and when it is interrupted."""

from __future__ import annotations

import errno
import os
import re
import shlex
import signal
import sys
import threading
import time
import traceback
from _thread import start_new_thread
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import FrameType, ModuleType, TracebackType

from seal.core import (
    BudgetError,
    InfrastructureError,
    OutageError,
    SealError,
    is_short_of_memory,
    short_of_memory,
    text_of,
)
from seal.core.concurrency import STUCK, unending
from seal.core.files import naming, whole_name
from seal.core.secrets import without_password
from seal.core.text import printable

# -- What a user sees when a command fails: one message, no traceback, no key.

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)
_SHORTEST_SECRET = 8
"""Shorter values of such variables are words like "none", which also occur elsewhere."""
_LOGIN = re.compile(r"(?<=:/)(/?)[^/?#\s:]*+:[^/?#\s]*@")
"""User and password of an address, which may have become a path."""

Hook = Callable[[type[BaseException], BaseException, TracebackType | None], None]


def exit_code(error: SealError) -> int:
    """Return the exit code of an error by its place in the tree of `seal.core.errors`."""
    if isinstance(error, (BudgetError, OutageError)):
        return 3
    return 1 if isinstance(error, InfrastructureError) else 2


def scrub(text: str) -> str:
    """Return a text without logins in addresses, and with names in the place of secret variables.

    A variable of the environment is secret by its name.
    """
    for name, value in os.environ.items():
        if _SECRET_NAME.search(name) and len(value) >= _SHORTEST_SECRET:
            text = text.replace(value, f"[{name}]")
    return _LOGIN.sub(r"\1", text)


def reported(command: Callable[[], int], debug: bool, words: Sequence[str] = ()) -> int:
    """Run a command and report on stderr what it raises on purpose or the system refuses.

    A signal that ends the process is reported as well, with what its KeyboardInterrupt says.

    Args:
        command: Returns its exit code.
        debug: Show a traceback too; it never holds local variables.
        words: Those of the command line, for the flag that named a file.

    Returns:
        The exit code; after a signal 128 and its number.
    """
    with ending_signals() as came:
        try:
            return _reported(command, debug, words)
        except KeyboardInterrupt as error:
            return _ended(came, *error.args)
        except ImportError as error:
            if came:
                return _ended(came)  # so a library tells that its import was interrupted
            if not is_short_of_memory(error):
                raise
            tell(short_of_memory(error), error if debug else None)
            return exit_code(InfrastructureError())


def _ended(came: Sequence[signal.Signals], *told: object) -> int:
    """Tell which signal ended the command, with what is to be done; return the exit code."""
    by = came[-1] if came else signal.SIGINT
    how = "interrupted" if by == signal.SIGINT else f"ended by {by.name}"
    tell("; ".join([how, *map(str, told)]))
    return 128 + by


def _reported(command: Callable[[], int], debug: bool, words: Sequence[str]) -> int:
    try:
        with naming("standard output"):  # files that are written to name themselves
            code = command()
            sys.stdout.flush()
        return code
    except SealError as error:
        tell(str(error), error if debug else None)
        return exit_code(error)
    except OSError as error:
        _drop_unprinted()
        if isinstance(error, BrokenPipeError):
            return 0  # the reader is gone (`| head`)

        tell(refusal(error, words), error if debug else None)
        return 2


def _drop_unprinted() -> None:
    """Let a stdout that takes no more not fail again when Python flushes it."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _modules_of_folder() -> list[str]:
    """Return the imported modules whose file lies in the current folder, but for SEAL's own."""
    try:
        folder = f"{Path.cwd()}{os.sep}"
    except OSError:  # it was removed
        return []
    return [
        name
        for name, module in sys.modules.copy().items()
        if type(module) is ModuleType
        and name.partition(".")[0] not in ("seal", "__main__")
        and str(vars(module).get("__file__")).startswith(folder)
    ]


def unforeseen(debug: bool) -> Hook:
    """Return the hook for errors that nobody raised on purpose: one line, and how to see more."""

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        hint = "" if debug else "; --debug shows where"
        if names := _modules_of_folder():
            hint += f"; code of this folder was imported ({', '.join(names)}): does it change a "
            hint += "module that others use, such as sys?"
        tell(f"unexpected {kind.__name__}: {text_of(error)}{hint}", error if debug else None)

    return hook


def tell(message: str, error: BaseException | None = None) -> None:
    """Write a message to stderr, printable, after the error's traceback where one is given."""
    trace = "" if error is None else "".join(traceback.format_exception(error))
    sys.stderr.write(printable(scrub(f"{trace}seal: {quoted(message)}\n")))


def quoted(text: str) -> str:
    """Return a text whose words in backticks, which a terminal shows as they are, have quotes."""
    return re.sub(r"`([^`\n]+)`", r"'\1'", text)


# -- What the system refused, as a sentence for a person.

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
    errno.ENOMEM: "free some, or raise this process's limit (ulimit -v)",
    errno.ENOSPC: "make room and try again",
    errno.EMFILE: "give fewer --workers, or raise `ulimit -n`",
}


def refusal(error: OSError, words: Sequence[str] = ()) -> str:
    """Return a sentence for a person; no name that a file has only while it is written.

    Args:
        error: What the system refused.
        words: Those of the command line: the flag that named the file is told.

    Returns:
        The sentence, and the notes that were added to the error.
    """
    reason = error.strerror or str(error)
    is_here = not Path(str(error.filename)).is_absolute()
    if error.errno == errno.ENOENT and is_here and not _has_working_folder():
        reason = "the working folder was removed; change to one that is there"
    elif error.errno in _REPAIRS:
        reason = f"{reason}; {_REPAIRS[error.errno]}"
    reason = ". ".join([reason, *getattr(error, "__notes__", [])])
    if not isinstance(error.filename, str):
        return reason
    path = Path(*map(whole_name, Path(error.filename).parts))
    return f"{_meant(path, words)}{path}: {reason}"


def _has_working_folder() -> bool:
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


def _meant(path: Path, words: Sequence[str]) -> str:
    """Return the flag and value that the path belongs to; empty where no flag does."""
    for flag, value in valued(words):
        if flag not in _OF_PATHS:
            continue
        if value == str(path):
            return f"{flag} "
        try:
            given, refused = Path(value).absolute(), path.absolute()
        except FileNotFoundError:  # the working folder is gone
            continue
        if given in refused.parents or refused in given.parents:
            return f"{flag} {value}: "
    return ""


def valued(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each word that may be an option, with the value that is its own if it has one."""
    ends = words.index("--") if "--" in words else len(words)
    for word, following in zip(words[:ends], (*words[1:], ""), strict=False):
        name, equals, value = word.partition("=")
        if re.match("-[^-].", word):  # a letter and its value: -k5
            yield word[:2], word[2:]
        else:
            yield name, value if equals else following


# -- The signals by which a user, a scheduler or a closed terminal ends a command.

_ENDING = ("SIGINT", "SIGTERM", "SIGHUP")
_DEFAULTS = (signal.SIG_DFL, signal.default_int_handler)
_GRACE_S = 5.0
"""Seconds that a command has to end after a second signal."""
_TOLD: ContextVar[str] = ContextVar("told", default="")
"""What an interruption tells."""


class Ended(KeyboardInterrupt):
    """A signal came.

    It is no KeyboardInterrupt itself. If one leaves a text that was executed, as while a dataclass
    is made, Python later ends by SIGINT. It does so instead of its exit code, though all was
    caught.
    """


@contextmanager
def ending_signals() -> Iterator[list[signal.Signals]]:
    """Let each signal that ends a process raise a KeyboardInterrupt, as Ctrl-C does.

    So what is finished is kept, and worker processes are ended. A signal that is ignored, as
    SIGHUP is under nohup, stays ignored.

    Yields:
        The signals that came.
    """
    came: list[signal.Signals] = []
    over = False
    process = os.getpid()

    def end(number: int, frame: FrameType | None) -> None:
        if os.getpid() != process:  # forked by a function of the user's
            os._exit(128 + number)
        came.append(signal.Signals(number))
        if not over and len(came) > 1:
            start_new_thread(give_up, (128 + number, unending(frame), _TOLD.get()))
        if not over:
            raise Ended

    def give_up(code: int, why: str, told: str) -> None:
        time.sleep(_GRACE_S)
        if not over:
            die(code, why, told)

    def die(code: int, *told: str) -> None:
        try:
            tell("; ".join(filter(None, told)))
            sys.stderr.flush()
        finally:
            os._exit(code)

    def unraised(what: sys.UnraisableHookArgs) -> None:
        # Raised in a callback of the interpreter, such as a weak reference's, which drops it: the
        # signal comes again once the callback has ended.
        if isinstance(what.exc_value, Ended):
            start_new_thread(again, ())
        else:
            told(what)

    def again() -> None:
        time.sleep(0.05)
        if not over:
            os.kill(process, came[-1])

    if threading.current_thread() is not threading.main_thread():
        yield came  # only the main thread is given signals
        return
    known = [getattr(signal, name) for name in _ENDING if hasattr(signal, name)]
    before = {one: signal.getsignal(one) for one in known}
    ours = [one for one in known if before[one] in _DEFAULTS]
    told, sys.unraisablehook = sys.unraisablehook, unraised
    late = STUCK.set(lambda why: die(1, why, _TOLD.get()))
    for one in ours:
        signal.signal(one, end)
    try:
        yield came
    finally:
        over = True  # nothing is left to be ended
        for one in ours:
            signal.signal(one, before[one])
        sys.unraisablehook = told
        STUCK.reset(late)


@contextmanager
def resumable(out: Path | None) -> Iterator[None]:
    """Let an interruption tell what is kept, and the command that goes on in the folder `out`.

    Args:
        out: The folder; None: nothing is written, and nothing is told.
    """
    with telling("" if out is None else f"what is finished is kept. Go on with: {resuming(out)}"):
        yield


@contextmanager
def telling(what: str) -> Iterator[None]:
    """Let an interruption tell something, where it is not empty."""
    token = _TOLD.set(what)
    try:
        yield
    except KeyboardInterrupt:
        if not what:
            raise
        raise Ended(what) from None
    finally:
        _TOLD.reset(token)


def resuming(out: Path) -> str:
    """Return the command that goes on with what this one began in a folder."""
    words = sys.argv[1:]
    named = any(word == "--out" or word.startswith("--out=") for word in words)
    further = [*([] if named else ["--out", str(out)]), "--resume"]
    again = (without_password(word) for word in words if word != "--resume")
    return f"seal {shlex.join([*again, *further])}"
