"""The tables of DialogTool, of a run or of a pool.

Source: DialogTool, Tables 1, 2 and 6 (counts), 3 (the six tasks), 4 (errors of awareness), 5 (of
selection), 7 (actions), 8 (of arguments), and the figures by turns and by API. Only the best
figures of its models and those of GPT-4o by turns are at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from seal.benchmarks.dialogtool.paper import beside_paper
from seal.benchmarks.dialogtool.report.dialogue import (
    BUCKETS,
    SHARES,
    TASKS,
    Counted,
    api_rows,
    counted_lanes,
    weighted,
)
from seal.pools import StoredPool
from seal.pools.paper_data import PublishedTable, shipped_rows
from seal.report.lanes import Lane
from seal.report.paper import Figures
from seal.runs.run_folder import read_human

_IMPORT = "seal import dialogtool SOURCE --out POOL"
_ROWS = shipped_rows("seal.benchmarks.dialogtool")


def _counts(number: str) -> Callable[[StoredPool], Figures]:
    """Return what gives the counts of one table of an import."""
    return lambda pool: {
        each.figure: {"number": each.here}
        for each in (beside_paper(pool.report) if "counts" in pool.report else ())
        if each.table == number
    }


def _published(number: str) -> dict[str, dict[str, float]]:
    found = (each for each in beside_paper({}) if each.table == number)
    return {each.figure: {"number": each.paper} for each in found}


def _actions(pool: StoredPool) -> Figures:
    splits: Mapping[str, Any] = pool.report.get("counts") or {}
    return {name: dict(counts["first_acts"]) for name, counts in splits.items()}


def _counted(lane: Lane) -> Counted:
    return counted_lanes([lane])[lane.label]


def _life(lane: Lane) -> Figures:
    """Return what Table 3 has beside means: weighted ones, and those that are no shares."""
    known, rated = _counted(lane), read_human(lane.run)
    own: dict[str, float | None] = {
        "creation": weighted(known.creation),
        "selection": weighted(known.selection),
    }
    return {
        "": {
            **own,
            "role": lane.estimate("role").mean,
            "human": None if rated is None else rated.mean,
        }
    }


def _shares(title: str) -> Callable[[Lane], Figures]:
    """Return what gives the shares of a table of errors, in per cent."""

    def figures(lane: Lane) -> Figures:
        known = _counted(lane)
        return {"": {name: known.share(of).per_cent for name, of in SHARES[title].items()}}

    return figures


def _by_api(lane: Lane) -> Figures:
    return {
        api.api: {
            "turns due": api.due,
            "selected": api.selected.per_cent,
            "executed": api.executed.per_cent,
            "unnecessary calls": api.unnecessary,
            "creation": api.created.per_cent,
        }
        for _, api in api_rows({lane.label: _counted(lane)})
    }


def _error_table(number: int) -> PublishedTable:
    title = next(title for title in SHARES if f"Table {number}" in title)
    return PublishedTable(
        title[0].upper() + title[1:].partition(" (Table")[0],
        f"DialogTool, Table {number}",
        scale=100.0,
        figures=_shares(title),
    )


def _turn_table(task: str) -> PublishedTable:
    headings = [f"to {n} turns" for n in BUCKETS[:-1]] + ["more"]
    return PublishedTable(
        f"{task.capitalize()} by turns of the dialogue, %",
        "DialogTool, figure by turns",
        _ROWS[f"figure-turns-{task}"],
        {h: f"{task}|turns_bucket={n}" for h, n in zip(headings, BUCKETS, strict=True)},
        scale=100.0,
        lacks="models other than GPT-4o",
        name=f"figure-turns-{task}",
        needs={"": "dialogues that are as long: seal run dialogtool, without --limit"},
        drawn="bars",
    )


def _count_table(number: str, title: str) -> PublishedTable:
    return PublishedTable(
        title,
        f"DialogTool, Table {number}",
        _published(number),
        figures=_counts(number),
        of="pool",
        needs={"": f"{_IMPORT}; beside_paper in its import.json says why counts differ"},
    )


TABLES = (
    _count_table("1", "Arguments of APIs"),
    _count_table("2", "Dialogues, turns and calls"),
    PublishedTable(
        "The tasks of a tool's life, % but for role (0-10) and human (1-5)",
        "DialogTool, Table 3",
        _ROWS["table-3"],
        {
            "creation": "",
            "awareness": "awareness",
            "selection": "",
            "execution": "execution",
            "BLEU": "bleu",
            "R-L": "rouge_l",
            "role": "",
            "human": "",
        },
        scale=100.0,
        lacks="models that are the best of no task",
        figures=_life,
        needs={
            "creation": "functions to write: seal run dialogtool, without -T tasks",
            "human": "ratings: seal annotate export RUN --out FILE, then seal annotate import FILE",
        },
    ),
    _error_table(4),
    _error_table(5),
    _count_table("6", "Pairs of app and API"),
    PublishedTable(
        "First acts of the system's turns",
        "DialogTool, Table 7",
        figures=_actions,
        of="pool",
        needs={"": _IMPORT},
    ),
    _error_table(8),
    *map(_turn_table, TASKS),
    PublishedTable(
        "Each API: turns on which it is due, % selected, executed and created, unnecessary calls",
        "DialogTool, figures by API",
        scale=100.0,
        name="figure-apis",
        figures=_by_api,
    ),
)
