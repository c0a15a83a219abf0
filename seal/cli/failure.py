"""What a user sees when a command fails: one message, no traceback, no key."""

from __future__ import annotations

import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from types import TracebackType

from seal.cli.interruption import ending_signals
from seal.core import BudgetError, InfrastructureError, OutageError, SealError
from seal.report.printable import printable

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)
_SHORTEST_SECRET = 8
"""Shorter values of such variables are words like "none", which also occur elsewhere."""
_LOGIN = re.compile(r"(?<=:/)(/?)[^/?#\s]*:[^/?#\s]*@")
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
        except ImportError:
            if not came:
                raise
            return _ended(came)  # so a library tells that its import was interrupted


def _ended(came: Sequence[signal.Signals], *told: object) -> int:
    """Tell which signal ended the command, with what is to be done; return the exit code."""
    by = came[-1] if came else signal.SIGINT
    how = "interrupted" if by == signal.SIGINT else f"ended by {by.name}"
    tell("; ".join([how, *map(str, told)]))
    return 128 + by


def _reported(command: Callable[[], int], debug: bool, words: Sequence[str]) -> int:
    try:
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
        from seal.cli.refusals import refusal

        tell(refusal(error, words), error if debug else None)
        return 2


def _drop_unprinted() -> None:
    """Let a stdout that takes no more not fail again when Python flushes it."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
