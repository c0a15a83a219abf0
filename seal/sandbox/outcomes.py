"""From what a function returned to the outcome of its case."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import NamedTuple, NoReturn

from seal.core.canonical import canonical_json
from seal.core.errors import InfrastructureError
from seal.core.types import JSON
from seal.sandbox.types import (
    MOST_MESSAGE,
    MOST_OUTPUT,
    MOST_RESULT,
    MOST_SOURCE,
    Case,
    Limits,
    Outcome,
)

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
        value = json.loads(text, parse_constant=_no_number, parse_float=_finite)
        right = case.expected is None or same_rows(value, case.expected, case.ordered)
    except (ValueError, TypeError, RecursionError) as error:
        return failed("exception", f"the result is no JSON: {error}", sandbox)
    return Outcome("pass" if right else "wrong", value, sandbox=sandbox)


def too_large(size: int, sandbox: str) -> Outcome:
    """Return the outcome of a case whose result is too large to be looked at."""
    return failed("memory", f"the result has {size} characters; at most {MOST_RESULT}", sandbox)


def failed(status: str, message: str, sandbox: str) -> Outcome:
    """Return the outcome of a case that gave no result."""
    return Outcome(status, message=_short(message), sandbox=sandbox)  # type: ignore[arg-type]


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
            told = f"not run: the {limits.spent} cases before it ran out of time or memory"
            outcomes.append(failed(last[-1].status, told, last[-1].sandbox))
        else:
            outcomes.append(play(case))
    return outcomes


class Played(NamedTuple):
    """The cases of one function, played once."""

    outcomes: list[Outcome]
    deaths: tuple[int, ...]
    """Numbers of the cases at which a process ended, unless it was ended for its time."""


def confirmed(play: Callable[[], Played]) -> list[Outcome]:
    """Return the outcomes of cases; where a process died, they are played once more.

    A process that ends may have been ended by the code, or by the machine: nobody can tell from
    one death. The same code over the same cases dies again at the same places: then it was the
    code, and such a case counts as its exception. Where nothing dies, what was played then counts.

    Args:
        play: Plays all cases in new processes.

    Raises:
        InfrastructureError: Processes died both times, but not at the same places.
    """
    first = play()
    if not first.deaths:
        return first.outcomes
    second = play()
    if second.deaths and second.deaths != first.deaths:
        raise InfrastructureError(
            "processes of the sandbox were ended from outside, twice and at different places; is "
            "the machine out of memory? Run fewer tasks at once (--workers)"
        )
    return second.outcomes


def limits_named(limits: Limits) -> dict[str, JSON]:
    """Return every limit, for a sandbox's identity."""
    sizes = {"source": MOST_SOURCE, "result": MOST_RESULT, "output": MOST_OUTPUT}
    return {**asdict(limits), **sizes}


def _short(text: str) -> str:
    return text if len(text) <= MOST_MESSAGE else f"{text[: MOST_MESSAGE - 3]}..."


def _finite(digits: str) -> float:
    # 1e999 is a number of JSON, but no constant: the parser makes it infinite.
    number = float(digits)
    return number if math.isfinite(number) else _no_number(digits)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number that JSON can hold")
