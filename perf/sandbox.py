"""Seconds of 1,000 test cases of a created function in each sandbox, and of the oracle's search.

    python perf/sandbox.py [--short]

The function filters a table of 50 rows by two of three arguments; the reference is the same text,
which is our own and trusted, run in this process over the same copies of the table. What the
reference does not do is what a sandbox costs: another process, arguments and results as JSON,
limits. Budget: 3 s for 1,000 cases in the default sandbox, on one core.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from seal.benchmarks.dialogtool.api_code import ApiCase, fit, function_name, rule_written
from seal.core import Tool
from seal.sandbox.bubblewrap import BubblewrapSandbox, why_not
from seal.sandbox.function_cases import Case, same_rows
from seal.sandbox.monty import MontySandbox

ROWS, BUDGET = 50, 3.0
NAMES = ("city", "cuisine", "price_range")
TOOL = Tool(
    "perf/Restaurants/Find",
    "Find",
    parameters={
        "type": "object",
        "properties": {name: {"type": "string"} for name in NAMES},
        "required": ["city", "cuisine"],
    },
)
TABLE = [
    {
        "restaurant_name": f"Place {n}",
        "city": f"City {n % 5}",
        "cuisine": f"Cuisine {n % 3}",
        "price_range": f"Range {n % 4}",
        "phone_number": f"555-{n:04}",
        "has_live_music": n % 2 == 0,
    }
    for n in range(ROWS)
]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; beside the budget; exceeding it is no failure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="100 cases")
    count = 100 if parser.parse_args(argv).short else 1000
    recorded = [recorded_case(number) for number in range(count)]
    cases = [Case(dict(r.arguments), [TABLE[n] for n in r.rows]) for r in recorded]
    source = rule_written(TOOL)
    sandboxes: dict[str, MontySandbox | BubblewrapSandbox] = {
        "monty": MontySandbox(),
        **({} if why_not() else {"bubblewrap": BubblewrapSandbox()}),
    }
    reference = seconds_of(lambda: in_process(source, cases))
    print(f"{count} cases over {ROWS} rows{'':>8}{'seconds':>9}{'ms/case':>9}{'ratio':>8}")
    row("in this process", reference, count, reference)
    for name, sandbox in sandboxes.items():
        taken = seconds_of(partial(run, sandbox, source, cases))
        row(name, taken, count, reference)
    row("the oracle's search", seconds_of(lambda: fit(TOOL, TABLE, recorded)), count, reference)
    print(f"budget: {BUDGET:.0f} s for 1,000 cases in monty; seconds on the wall")
    return 0


def row(name: str, seconds: float, count: int, reference: float) -> None:
    """Print a line."""
    print(f"{name:32}{seconds:9.3f}{seconds / count * 1e3:9.3f}{seconds / reference:8.1f}")


def recorded_case(number: int) -> ApiCase:
    """Return a call and the rows that it brings."""
    arguments = {"city": f"City {number % 5}", "cuisine": f"Cuisine {number % 3}"}
    if number % 2:
        arguments["price_range"] = f"Range {number % 4}"
    rows = [n for n, each in enumerate(TABLE) if arguments.items() <= each.items()]
    return ApiCase(arguments, rows)


def run(sandbox: MontySandbox | BubblewrapSandbox, source: str, cases: Sequence[Case]) -> None:
    """Run all cases; each must pass."""
    outcomes = sandbox.run(source, function_name(TOOL), TABLE, cases)
    if any(outcome.status != "pass" for outcome in outcomes):
        raise SystemExit(f"a case did not pass: {outcomes}")


def in_process(source: str, cases: Sequence[Case]) -> None:
    """Run all cases here: only for text of our own."""
    space: dict[str, Any] = {}
    exec(source, space)  # the reference is the same text without a sandbox
    function = space[function_name(TOOL)]
    for case in cases:
        if not same_rows(
            function([dict(each) for each in TABLE], **case.arguments), case.expected or ()
        ):
            raise SystemExit(f"a case did not pass: {case}")


def seconds_of(work: Callable[[], object]) -> float:
    """Return the seconds that a function takes, the best of three."""
    taken = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


if __name__ == "__main__":
    sys.exit(main())
