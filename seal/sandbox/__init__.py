"""Sandboxes: code that a model wrote runs here, in another process, or not at all.

A tool that a model creates is one Python function over the table of its API:

    def findrestaurants(table, cuisine, city, price_range=None):
        ...
        return rows

- Its name is the API's in lower case, with `_` for what a name cannot hold, those of arguments
  likewise: `from` is `from_` (`functions.function_name`, `functions.parameter`). The source may
  define anything else beside it.
- `table` is a list of rows, each a dict of JSON values; it is the function's own copy.
- Then come the arguments by keyword, the required ones first. An optional one that a call does not
  give keeps its default None and filters nothing. The text `dontcare` filters nothing either.
- It returns the list of the rows that fit, as plain JSON. Their order counts only where a caller
  asks for it.

A sandbox is asked by name: `monty`, the embedded default, whose `unsupported` code runs again under
bubblewrap where that works; `monty-only`; `bubblewrap`. No sandbox runs code in the harness. One
that cannot be used says how it is installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from seal.core import UnknownNameError
from seal.lazy import give_names

if TYPE_CHECKING:
    from seal.sandbox.function_cases import Case, Limits, Outcome, Sandbox, Status

give_names(__name__)

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
