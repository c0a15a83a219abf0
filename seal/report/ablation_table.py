"""An ablation for a person: tables for the terminal, and comparison.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from seal.core.records import AtomicFile
from seal.report.grids import (
    DIFFERENCE_COLUMNS,
    Grid,
    difference_cells,
    drawn,
    escape_markdown,
    interval,
    markdown,
    signed,
)
from seal.report.printable import one_line, printable
from seal.report.tables import number

MARKDOWN = "comparison.md"
_REASONS = 4
"""Reasons for excluded pairs that are told."""
_LONGEST = 160
"""Characters of one."""


def ablation_tables(content: Mapping[str, Any]) -> Iterator[Any]:
    """Yield tables and lines for a person.

    Args:
        content: Of comparison.json.
    """
    for grid in ablation_grids(content, content["protocol"]["told"]):
        yield drawn(grid)
    for line in ablation_lines(content):
        yield printable(line)


def write_markdown(content: Mapping[str, Any], folder: Path) -> Path:
    """Write comparison.md, with every metric that has a pair, and return it.

    Args:
        content: Of comparison.json.
        folder: Of the ablation.
    """
    protocol = content["protocol"]
    parts = [f"# Ablation of {protocol['ablation']} on {escape_markdown(str(protocol['pool']))}"]
    parts += [markdown(grid) for grid in ablation_grids(content, None)]
    parts += [
        f"- {escape_markdown(line)}" for line in (*ablation_lines(content), *content["notes"])
    ]
    with AtomicFile(folder / MARKDOWN) as file:
        file.write(("\n\n".join(parts) + "\n").encode())
    return folder / MARKDOWN


def ablation_grids(content: Mapping[str, Any], metrics: Sequence[str] | None) -> Iterator[Grid]:
    """Yield the tables of an ablation.

    Args:
        content: Of comparison.json.
        metrics: Those that are told; None: all.
    """
    if "roles" in content:
        yield _roles_grid(content["roles"])
    if "costs" in content:
        yield _costs_grid(content, metrics)
        if metrics is not None:  # the pairs are told in the file
            return
    compared = [entry for entry in content["comparisons"] if metrics is None or entry["n"]]
    pairs = dict.fromkeys((entry["run"], entry["other"]) for entry in compared)
    for one, other in pairs:
        mine = [e for e in compared if (e["run"], e["other"]) == (one, other) and e["n"]]
        if metrics is not None:
            place = {name: number for number, name in enumerate(metrics)}
            mine = sorted(
                (e for e in mine if e["metric"] in place), key=lambda e: place[e["metric"]]
            )
        yield _pair_grid(one, other, mine)
    if "kinds" in content:
        yield _kinds_grid(content["kinds"])
    if "points" in content:
        yield _points_grid(content["points"], content["correlations"])
        correlations = _correlations_grid(content["correlations"])
        if correlations.rows:
            yield correlations


def _costs_grid(content: Mapping[str, Any], metrics: Sequence[str] | None) -> Grid:
    stages = [name for name in content["protocol"]["conditions"] if name != "plain"]
    rows = []
    for cost in content["costs"]:
        if metrics is None or cost["metric"] in metrics:
            found = (cost["stages"].get(stage) for stage in stages)
            told = ["" if each is None else _cost(each) for each in found]
            rows.append((cost["metric"], number(cost["plain"]), *told, signed(cost["together"])))
    return Grid(
        "what each stage costs: points that gold in its place adds",
        ("metric", "plain", *stages, "all less the sum"),
        rows,
    )


def _roles_grid(roles: Mapping[str, Sequence[Mapping[str, Any]]]) -> Grid:
    counts = ("replies", "goals", "tokens_in", "tokens_out", "caught", "caused", "missed", "passed")
    rows = [
        (name, str(row["role"]), *(f"{row[count]:,}" for count in counts))
        for name, found in roles.items()
        for row in found
    ]
    columns = ("run", "role", *(count.replace("_", " ") for count in counts))
    return Grid("who spoke, and the errors that each caught and caused", columns, rows)


def _cost(found: Mapping[str, Any]) -> str:
    return f"{signed(found['cost'])} {interval({**found, 'difference': found['cost']})}".rstrip()


def _pair_grid(one: str, other: str, entries: Iterable[Mapping[str, Any]]) -> Grid:
    rows = [(entry["metric"], *difference_cells(entry)) for entry in entries]
    columns = ("metric", one, other, *DIFFERENCE_COLUMNS)
    return Grid(f"{one} less {other}", columns, rows)


def _kinds_grid(kinds: Iterable[Mapping[str, Any]]) -> Grid:
    rows = [
        (
            found["kind"],
            str(found["tasks"]),
            *(
                f"{number(share['mean'])} {interval(share)}".rstrip()
                for share in found["metrics"].values()
            ),
        )
        for found in kinds
    ]
    return Grid(
        "irrelevant tasks by kind",
        ("kind", "tasks", "abstained", "no_call", "says_cannot"),
        rows,
    )


def _points_grid(
    points: Iterable[Mapping[str, Any]], correlations: Iterable[Mapping[str, Any]]
) -> Grid:
    names = list(dict.fromkeys(found["rate"] for found in correlations))
    rows = [
        (
            point["environment"],
            str(point["tools"]),
            str(point["goals"]),
            number(point["strict"]),
            number(point["stopwords"]),
            *(number(point["rates"][name]["rate"]) for name in names),
        )
        for point in points
    ]
    columns = ("environment", "tools", "goals", "strict", "stopwords", *names)
    return Grid("J_avg and error rates by environment", columns, rows)


def _correlations_grid(correlations: Iterable[Mapping[str, Any]]) -> Grid:
    rows = [
        (
            found["similarity"],
            found["rate"],
            number(found["rho"]),
            interval(found),
            str(found["n"]),
        )
        for found in correlations
        if found["rho"] is not None
    ]
    columns = ("J_avg", "error rate", "Spearman", "95 % interval", "environments")
    return Grid("rank correlation of J_avg with error rates", columns, rows)


def ablation_lines(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield what stands below the tables: tasks and errors, and why pairs were left out."""
    for row in content["runs"]:
        yield f"{row['condition']}: {row['tasks']} tasks, {row['errors']} errors" + (
            f", {row['skipped']} skipped" if row["skipped"] else ""
        )
        for reason, count in list(row["error_reasons"].items())[:_REASONS]:
            yield f"  {count}: {one_line(reason, _LONGEST)}"
    yield from _excluded_lines(content)
    if "correlations" in content:
        flat = [found["rate"] for found in content["correlations"] if found["rho"] is None]
        if flat:
            yield f"no correlation (alike in every environment): {', '.join(dict.fromkeys(flat))}"


def _excluded_lines(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield for the told metrics why pairs have no value, and of which two conditions they are."""
    told = content["protocol"]["told"]
    metrics: dict[tuple[str, str], list[str]] = {}
    for entry in content["comparisons"]:
        if entry["metric"] in told and entry["excluded"]:
            compared = f"{entry['run']} less {entry['other']}"
            metrics.setdefault((compared, _counted(entry["excluded"])), []).append(entry["metric"])
    pairs: dict[str, list[str]] = {}
    for (compared, reasons), named in metrics.items():
        text = f"{', '.join(named)}: pairs without values: {reasons}"
        pairs.setdefault(text, []).append(compared)
    every = {f"{entry['run']} less {entry['other']}" for entry in content["comparisons"]}
    for text, named in pairs.items():
        whole = len(every) > 1 and every == {*named}
        yield f"{'every comparison' if whole else ', '.join(named)}: {text}"


def _counted(excluded: Mapping[str, int]) -> str:
    most = Counter(excluded).most_common(_REASONS)
    return ", ".join(f"{count} ({one_line(reason, _LONGEST)})" for reason, count in most)
