"""What a sandbox is given and what it gives back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from seal.core import JSON

Status = Literal[
    "pass",
    "wrong",
    "exception",
    "timeout",
    "memory",
    "no_function",
    "syntax",
    "unsupported",
]
"""pass: what was expected came back, or anything that is JSON where nothing is expected. wrong:
other rows. exception: it raised, ended its process each time that it was played
(`outcomes.play_cases`), or returned what is no JSON. timeout, memory: over a limit; too much output
and too large a result count as memory. no_function: the source defines no function of that name.
syntax: it is no Python, or too long. unsupported: the sandbox lacks a construct or a module of
Python that the code uses."""

Row = dict[str, JSON]

MOST_SOURCE = 100_000
"""Characters of source text; longer texts are refused as `syntax`."""
MOST_RESULT = 1_000_000
"""Characters of a result as JSON."""
MOST_OUTPUT = 65_536
"""Bytes that loading the source, or one case, may print; nobody reads them."""
MOST_MESSAGE = 300
"""Characters of an outcome's message."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one case may use; loading the source counts as a case."""

    seconds: float = 2.0
    """Of running, on the wall."""
    memory: int = 256 << 20
    """Bytes: the heap of the embedded interpreter, the address space of a child process."""
    recursion: int = 400
    """Calls within calls."""
    spent: int = 3
    """After so many cases in a row that ran out of time or memory, the rest count as the last."""


@dataclass(frozen=True, slots=True)
class Case:
    """One call of the function."""

    arguments: dict[str, JSON]
    """By keyword; only those that the call gives."""
    expected: Sequence[JSON] | None = None
    """Rows; None: nothing is compared."""
    ordered: bool = False
    """True: the rows must come in the order of `expected`."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one case."""

    status: Status
    received: JSON = None
    """What the function returned, as plain JSON; None where it returned nothing of the kind."""
    message: str = ""
    """Why it failed; the code's own words, shortened."""
    sandbox: str = ""
    """Name of the sandbox that ran it."""


class Sandbox(Protocol):
    """Runs source text that nobody has read. Safe in threads."""

    def run(
        self, source: str, function: str, table: Sequence[Row], cases: Sequence[Case]
    ) -> list[Outcome]:
        """Return one outcome for each case, in their order.

        Args:
            source: Python that defines the function; loaded once for all cases.
            function: Its name.
            table: Rows of JSON; every case gets a fresh copy.
            cases: They are called in this order.

        Raises:
            UsageError: The sandbox cannot be used here; nothing was run.
            InfrastructureError: Its processes cannot be started, or are ended from outside.
        """
        ...

    def identity(self) -> dict[str, JSON]:
        """Return what shapes the outcomes: name, version, limits.

        Raises:
            UsageError: The sandbox cannot be used here.
        """
        ...
