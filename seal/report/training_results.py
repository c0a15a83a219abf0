"""Tables of a training, readable at 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from seal.core.text import counted
from seal.report.columns import paired
from seal.report.grids import Grid, told
from seal.report.retrieval_results import mean_text

_OVERLAPS = {
    "queries": "queries",
    "text in training": "same_text",
    "near it": "near",
    "left out": "left_out",
    "tools": "tools",
    "trained on": "tools_trained",
}
"""Column to what it shows of a tested pool."""


def training_tables(found: Mapping[str, Any]) -> Iterator[Any]:
    """Yield lines and tables for a person.

    Args:
        found: Content of training.json.
    """
    yield from told(_parts(found))


def _parts(found: Mapping[str, Any]) -> Iterator[Grid | str]:
    counts, near = found["counts"], found["near_duplicates"]
    yield (
        f"{found['pool']}, split by {found['split']['kind']}: "
        f"{counted(counts['train_tasks'], 'task')} to "
        f"train on, {_tests(found)} to test on, {_left_out(found)}"
    )
    yield (
        f"{counted(counts['pairs'], 'pair')} of a query and one of "
        f"{counted(counts['tools_trained'], 'tool')}, "
        + counted(found["hyper_parameters"]["steps"], "step")
    )
    yield from _negatives(found)
    if counts["held_out_tools"]:
        yield f"{counted(counts['held_out_tools'], 'tool')} held out: no training pair has one"
    yield (
        f"near-duplicates (likeness of {near['threshold']:g} or more): "
        f"{counted(near['train_queries'], 'training query')} near "
        f"{counted(near['test_queries'], 'test query')}; "
        f"{near['dropped']} dropped"
    )
    yield _overlaps(near["pools"])
    for entry in near["pools"]:
        if entry["in_source"]:
            yield from _tool_overlap(entry)
    yield measures_grid(found)
    for entry in found["results"][::2]:
        if "unavailable" in entry:
            yield f"{entry['pool']}: n/a, {entry['unavailable']}; it enters no gap"
    if any(pair["low"] is not None for pair in found["comparisons"]):
        yield "after less before, its 95 % interval over tasks, and the paired test's p (Holm)"
    for metric, gap in (found["gap"] or {}).items():
        yield (
            f"{metric} in its source less foreign sources: "
            f"before {_figure(gap['before']['gap'])}, after {_figure(gap['after']['gap'])}"
        )


def _tests(found: Mapping[str, Any]) -> str:
    """Return how many tasks test, else the benchmarks that do."""
    if found["split"]["kind"] == "benchmark":
        return ", ".join(entry["pool"] for entry in found["near_duplicates"]["pools"])
    return str(found["counts"]["test_tasks"])


def _negatives(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield what stands beside the pairs, and what was left out as a false negative."""
    mined = found["negatives"]
    if mined is not None:
        wanted = found["hyper_parameters"]
        yield (
            f"{counted(wanted['negatives'], 'hard negative')} a pair: {mined['found']} found by "
            f"{wanted['negatives_by']}, {mined['drawn']} drawn by chance; not taken: "
            f"{mined['too_near_in_score']} whose score is too near that of the wanted tool, "
            f"{mined['too_near_in_text']} whose document is"
        )


def _left_out(found: Mapping[str, Any]) -> str:
    """Return how many tasks are neither, and why."""
    count = found["counts"]["left_out_tasks"]
    if not count:
        return "none left out"
    unsplit = ", or that the benchmark puts in no split" * (found["split"]["kind"] == "given")
    return f"{count} left out (without a text that needs a tool{unsplit})"


def _overlaps(pools: Sequence[Mapping[str, Any]]) -> Grid:
    """Return how many tested queries, and tools that these need, stand in training, by pool."""
    rows = [(_named(entry), *(f"{entry[key]}" for key in _OVERLAPS.values())) for entry in pools]
    return Grid("", ("pool", *_OVERLAPS), rows)


def _tool_overlap(own: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a test within the source says of tools that training never saw."""
    yield (
        f"trained on {own['tools_trained']} of {counted(own['tools'], 'tool')} "
        "that the test in the source needs; "
        f"{own['unseen']} of {counted(own['queries'], 'query')} need one that was not"
    )
    if not own["unseen"]:
        yield "so it says nothing of new tools: --split tool holds tools out"


def _named(entry: Mapping[str, Any]) -> str:
    """Return the name of a pool, with a star where the retriever was trained on it."""
    return f"{entry['pool']}{'*' if entry['in_source'] else ''}"


def measures_grid(found: Mapping[str, Any]) -> Grid:
    """Return recall, and what was compared, before and after, a row a pool and metric."""
    rows: list[tuple[str, ...]] = []
    entries = found["results"]
    compared = {pair["metric"] for pair in found["comparisons"]}
    # Of every pool the entry before training stands in front of the one after it.
    for before, after in zip(entries[::2], entries[1::2], strict=True):
        name, queries = _named(before), f"{before['queries']:g}"
        if "unavailable" in before:
            rows.append((name, "", queries, "n/a", "n/a", "", ""))
        for metric in before["metrics"]:
            if metric.startswith("recall@") or metric in compared:
                figures = [mean_text(entry, metric) for entry in (before, after)]
                pair = _pair(found, before["pool"], metric)
                rows.append((name, metric, queries, *figures, *pair))
                name = ""
    columns = ("pool", "metric", "queries", "before", "after", "difference", "p")
    return Grid("", columns, rows, names=2)


def _pair(found: Mapping[str, Any], pool: str, metric: str) -> tuple[str, str]:
    """Return the difference with its interval, and p; empty where none was tested."""
    for pair in found["comparisons"]:
        if (pair["pool"], pair["metric"]) == (pool, metric):
            return paired(pair)
    return "", ""


def _figure(gap: float | None) -> str:
    return "n/a" if gap is None else f"{gap:+.3f}"
