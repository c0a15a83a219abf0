"""Sandboxes: code that a model wrote runs here, in another process, or not at all.

What runs is one Python function; the source may define anything else beside it. Its first argument
is a table, a list of rows, each a dict of JSON values; it is the function's own copy. Then come the
arguments by keyword. It returns plain JSON. The order of rows that it returns counts only where a
caller asks for it.

A sandbox is asked by name: `monty`, the embedded default, whose `unsupported` code runs again under
bubblewrap where that works; `monty-only`; `bubblewrap`. No sandbox runs code in the harness. One
that cannot be used says how it is installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from seal.core import UnknownNameError

if TYPE_CHECKING:
    from seal.sandbox.function_cases import Case, Limits, Outcome, Sandbox, Status


NAMES = ("monty", "monty-only", "bubblewrap")


def build_sandbox(name: str = "monty", limits: Limits | None = None) -> Sandbox:
    """Return a sandbox by name.

    Args:
        name: One of `NAMES`.
        limits: Of a case; None: 2 s, 256 MiB.

    Raises:
        UnknownNameError: No such sandbox.
        MissingExtraError: The embedded interpreter is not installed.
        UsageError: Bubblewrap cannot be used here.
    """
    from seal.sandbox.bubblewrap import BubblewrapSandbox, why_not
    from seal.sandbox.function_cases import Second
    from seal.sandbox.monty import MontySandbox

    if name not in NAMES:
        raise UnknownNameError("sandbox", name, NAMES)
    built: Sandbox = BubblewrapSandbox(limits) if name == "bubblewrap" else MontySandbox(limits)
    if name == "monty" and not why_not():
        built = Second(built, BubblewrapSandbox(limits))
    built.identity()
    return built


__all__ = ["NAMES", "Case", "Limits", "Outcome", "Sandbox", "Status", "build_sandbox"]
