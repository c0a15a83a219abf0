"""What a sandbox is given, how the cases of one function are played, and their outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Literal, Protocol

from seal.core import JSON, InfrastructureError
from seal.core.records import strict_json
from seal.core.text import counted
from seal.core.values import canonical_json

Status = Literal[
    "pass", "wrong", "exception", "timeout", "memory", "no_function", "syntax", "unsupported"
]
"""pass: what was expected came back, or anything that is JSON where nothing is expected. wrong:
other rows. exception: it raised, ended its process each time that it was played
(`play_cases`), or returned what is no JSON. timeout, memory: over a limit; too much output
and too large a result count as memory. no_function: the source defines no function of that name.
syntax: it is no Python, or too long. unsupported: the sandbox lacks a construct or a module of
Python that the code uses."""

Row = dict[str, JSON]

MOST_SOURCE = 100_000
"""Characters of source text; longer texts are refused as `syntax`."""
NOW = datetime(2019, 3, 1, tzinfo=UTC)
"""What the clock says in every sandbox: the day that Schema-Guided Dialogue's users speak on."""
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


SPENT = ("timeout", "memory")


def same_rows(received: JSON, expected: Sequence[JSON], ordered: bool = False) -> bool:
    """Tell whether a result is the expected rows.

    Rows are the same where their canonical JSON is: 1 is 1.0, True is not 1, keys have no order.

    Args:
        received: Whatever the function returned.
        expected: Rows.
        ordered: Their order counts; else each row must only occur as often as expected.
    """
    if not isinstance(received, list) or len(received) != len(expected):
        return False
    rows, due = [list(map(canonical_json, each)) for each in (received, expected)]
    return rows == due if ordered else Counter(rows) == Counter(due)


def returned(text: str, case: Case, sandbox: str) -> Outcome:
    """Return the outcome of a case whose result is a text of JSON, written by untrusted code."""
    if len(text) > MOST_RESULT:
        return too_large(len(text), sandbox)
    try:
        value = strict_json(text)
        right = case.expected is None or same_rows(value, case.expected, case.ordered)
    except (ValueError, TypeError, RecursionError) as error:
        return failed("exception", f"the result is no JSON: {error}", sandbox)
    return Outcome("pass" if right else "wrong", value, sandbox=sandbox)


def too_large(size: int, sandbox: str) -> Outcome:
    """Return the outcome of a case whose result is too large to be looked at."""
    return failed("memory", f"the result has {size} characters; at most {MOST_RESULT}", sandbox)


def failed(status: str, message: str, sandbox: str) -> Outcome:
    """Return the outcome of a case that gave no result."""
    if len(message) > MOST_MESSAGE:
        message = f"{message[: MOST_MESSAGE - 3]}..."
    return Outcome(status, message=message, sandbox=sandbox)  # type: ignore[arg-type]


def unreadable(source: str) -> str:
    """Return why a text is no source that any sandbox is shown; empty where it may be one."""
    if not isinstance(source, str):
        return f"the source is no text but {type(source).__name__}"
    if len(source) > MOST_SOURCE:
        return f"the source has {len(source)} characters; at most {MOST_SOURCE}"
    if "\0" in source:
        return "the source holds a null byte"
    try:
        source.encode()
    except UnicodeEncodeError:
        return "the source holds half of a surrogate pair"
    return ""


def until_spent(
    cases: Sequence[Case], limits: Limits, play: Callable[[Case], Outcome]
) -> list[Outcome]:
    """Return the outcomes of cases; the rest counts as the last once too many ran out in a row."""
    outcomes: list[Outcome] = []
    for case in cases:
        last = outcomes[-limits.spent :]
        if len(last) == limits.spent and all(each.status in SPENT for each in last):
            told = (
                f"not run: the {counted(limits.spent, 'case')} before it ran out of time or memory"
            )
            outcomes.append(failed(last[-1].status, told, last[-1].sandbox))
        else:
            outcomes.append(play(case))
    return outcomes


class Module:
    """A source where it runs: opened when a case needs it, and again after it was lost."""

    def __init__(self) -> None:
        self.deaths: list[int] = []
        """Numbers of the cases at which a process ended, unless it was ended for its time."""
        self._case = -1
        self._broken: Outcome | None = None
        """Of all cases, where the source cannot be loaded."""

    def play(self, case: Case) -> Outcome:
        """Return the outcome of one case; a source that cannot be loaded fails them all."""
        self._case += 1
        if self._broken is None and not self._is_open():
            self._load()
        return self._broken or self._outcome(case)

    def _is_open(self) -> bool:
        raise NotImplementedError

    def _load(self) -> None:
        """Open the module, or set `_broken`."""
        raise NotImplementedError

    def _outcome(self, case: Case) -> Outcome:
        """Return the outcome of a case in the open module."""
        raise NotImplementedError


def play_cases(
    source: str,
    cases: Sequence[Case],
    limits: Limits,
    sandbox: str,
    opened: Callable[[], AbstractContextManager[Module]],
) -> list[Outcome]:
    """Return the outcomes of cases; where a process died, they are played once more.

    The code or the machine may have ended a process; one death does not tell which. If the same
    code dies again at the same cases, it was the code, and each of these cases counts as its
    exception. If nothing dies the second time, the second outcomes count.

    Args:
        source: Of the function.
        cases: In their order.
        limits: Of a case.
        sandbox: Name of the sandbox.
        opened: Opens the source in new processes, which end with it.

    Raises:
        InfrastructureError: Processes died both times, but not at the same places.
    """
    why = unreadable(source)
    if why:
        return [failed("syntax", why, sandbox) for _ in cases]
    deaths: list[list[int]] = []
    for _ in range(2):
        with opened() as module:
            outcomes = until_spent(cases, limits, module.play)
        deaths.append(module.deaths)
        if not module.deaths:
            return outcomes
    if deaths[0] != deaths[1]:
        raise InfrastructureError(
            "processes of the sandbox were ended from outside, twice and at different places; is "
            "the machine out of memory? Run fewer tasks at once (--workers)"
        )
    return outcomes


def limits_named(limits: Limits) -> dict[str, JSON]:
    """Return every limit, for a sandbox's identity."""
    sizes = {"source": MOST_SOURCE, "result": MOST_RESULT, "output": MOST_OUTPUT}
    return {**asdict(limits), **sizes}


@dataclass(frozen=True, slots=True)
class Second:
    """Two sandboxes: what is `unsupported` in the first runs in the second, every case of it.

    Args:
        first: Runs everything.
        second: Runs the functions of which the first could not run some case.
    """

    first: Sandbox
    second: Sandbox

    def identity(self) -> dict[str, JSON]:
        """Return the first's identity, and under "second" the other's."""
        return {**self.first.identity(), "second": self.second.identity()}

    def run(
        self, source: str, function: str, table: Sequence[Row], cases: Sequence[Case]
    ) -> list[Outcome]:
        """Return one outcome for each case (`Sandbox.run`)."""
        outcomes = self.first.run(source, function, table, cases)
        if all(outcome.status != "unsupported" for outcome in outcomes):
            return outcomes
        return self.second.run(source, function, table, cases)
