"""What a run would cost, for a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from seal.core.plain import json_text
from seal.core.text import counted
from seal.report.grids import Grid, counts_of
from seal.report.printable import printable

_PLACES = {
    "flag": "from the command line",
    "call": "from the call",
    "environment": "from the environment",
    "file": "from seal.toml",
    "benchmark": "from the benchmark, where nothing else says otherwise",
    "default": "by default",
}


def plan_tables(plan: Mapping[str, Any]) -> Iterator[Any]:
    """Yield a table and lines.

    Args:
        plan: As of `seal.runs.spending.plan.plan`.
    """
    yield plan_grid(plan)
    alone = plan["chats"] <= plan["tasks"] * plan["trials"]
    yield (
        f"{counts_of(chat=plan['chats'])} ({counts_of(task=plan['tasks'], trial=plan['trials'])}"
        f"{'' if alone else ', baselines with them'}), "
        f"estimated from {counted(plan['rehearsed'], 'task')} that were rehearsed"
        + (f"; {plan['failed']} could not be" if plan["failed"] else "")
    )
    for model in plan["unpriced"]:
        yield printable(f"no price of {model}: give it by --prices FILE")
    for table in plan["prices"]:
        yield printable(f"prices of {table['date']}: {table['source']}")
    for name in plan["over"]:
        yield f"that is more than --{name.replace('_', '-')} allows: the run would stop before"
    yield from _origin_lines(plan["origins"])
    for line in plan["assumptions"]:
        yield f"assumed: {line}"
    yield "nothing was asked and nothing is written"


def plan_grid(plan: Mapping[str, Any]) -> Grid:
    """Return what each role would ask, and the sum, as a table."""
    rows: list[tuple[str, ...]] = [
        (
            row["part"],
            row["role"],
            row["model"],
            f"{row['requests']:,}",
            f"{row['tokens_in']:,}",
            f"{row['tokens_out']:,}",
            _dollars(row["dollars"]),
        )
        for row in plan["rows"]
    ]
    total = tuple(f"{plan[name]:,}" for name in ("requests", "tokens_in", "tokens_out"))
    rows.append(("all", "", "", *total, _total(plan)))
    columns = ("part", "role", "model", "model calls", "tokens in", "tokens out", "dollars")
    return Grid("what the run would ask", columns, rows)


def _origin_lines(origins: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield for each origin the settings that are from there."""
    for origin, place in _PLACES.items():
        values = [
            f"{name}={json_text(found['value'])}"
            for name, found in origins.items()
            if found["origin"] == origin
        ]
        if values:
            yield printable(f"{place}: {', '.join(values)}")
    yield "every other setting has its default"


def _total(plan: Mapping[str, Any]) -> str:
    """Return the sum; where models have no price, what the others cost at least."""
    if not plan["unpriced"]:
        return _dollars(plan["dollars"])
    return f"≥{_dollars(plan['dollars'])}" if plan["dollars"] else _dollars(None)


def _dollars(value: float | None) -> str:
    return "no price" if value is None else f"{value:,.4f}"
