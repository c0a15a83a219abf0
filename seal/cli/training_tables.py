"""Tables of a training, readable at 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table


def tables(found: Mapping[str, Any]) -> Iterator[Any]:
    """Yield lines and tables for a person.

    Args:
        found: What `seal.train_retriever` returned.
    """
    counts, near = found["counts"], found["near_duplicates"]
    yield (
        f"{found['pool']}, split by {found['split']['kind']}: {counts['train_tasks']} tasks to "
        f"train on, {counts['test_tasks']} to test on, {_left_out(found)}"
    )
    yield (
        f"{counts['pairs']} pairs of a query and one of {counts['tools_trained']} tools, "
        f"{found['hyper_parameters']['steps']} steps"
    )
    if counts["held_out_tools"]:
        yield f"{counts['held_out_tools']} tools are held out: no training pair has one"
    yield (
        f"near-duplicates (likeness of {near['threshold']:g} or more): {near['train_queries']} "
        f"training queries near {near['test_queries']} test queries; {near['dropped']} dropped"
    )
    yield _overlaps(near["pools"])
    yield _measures(found)
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


def _left_out(found: Mapping[str, Any]) -> str:
    """Return how many tasks are neither, and why."""
    count = found["counts"]["left_out_tasks"]
    if not count:
        return "none left out"
    unsplit = ", or that the benchmark puts in no split" * (found["split"]["kind"] == "given")
    return f"{count} left out (without a text that needs a tool{unsplit})"


def _overlaps(pools: Sequence[Mapping[str, Any]]) -> Table:
    """Return how many tested queries of each pool stand in training."""
    from rich.table import Table

    table = Table(padding=(0, 0, 0, 1), pad_edge=False)
    table.add_column("pool", overflow="fold")
    for column in ("queries", "text in training", "near it", "left out"):
        table.add_column(column, justify="right", overflow="fold")
    for entry in pools:
        name = entry["pool"] + ("*" if entry["in_source"] else "")
        table.add_row(
            name, *(f"{entry[key]}" for key in ("queries", "same_text", "near", "left_out"))
        )
    return table


def _measures(found: Mapping[str, Any]) -> Table:
    from rich.table import Table

    table = Table(padding=(0, 0, 0, 1), pad_edge=False)
    table.add_column("pool", overflow="fold")
    table.add_column("metric")
    for column in ("queries", "before", "after", "difference", "p"):
        table.add_column(column, justify="right", overflow="fold")
    entries = found["results"]
    compared = {pair["metric"] for pair in found["comparisons"]}
    # Of every pool the entry before training stands in front of the one after it.
    for before, after in zip(entries[::2], entries[1::2], strict=True):
        name = before["pool"] + ("*" if before["in_source"] else "")
        if "unavailable" in before:
            table.add_row(name, "", f"{before['queries']:g}", "n/a", "n/a", "", "")
        for metric in before["metrics"]:
            if metric.startswith("recall@") or metric in compared:
                figures = [_mean(entry, metric) for entry in (before, after)]
                pair = _pair(found, before["pool"], metric)
                table.add_row(name, metric, f"{before['queries']:g}", *figures, *pair)
                name = ""
    return table


def _mean(entry: Mapping[str, Any], metric: str) -> str:
    mean = entry["metrics"][metric]["mean"]
    return "n/a" if mean is None else f"{mean:.3f}"


def _pair(found: Mapping[str, Any], pool: str, metric: str) -> tuple[str, str]:
    """Return the difference with its interval, and p; empty where none was tested."""
    for pair in found["comparisons"]:
        if (pair["pool"], pair["metric"]) == (pool, metric):
            ends = "" if pair["low"] is None else f"\n[{pair['low']:+.3f}, {pair['high']:+.3f}]"
            p = "n/a" if pair["p_holm"] is None else f"{pair['p_holm']:.4f}"
            return f"{pair['difference']:+.3f}{ends}", p
    return "", ""


def _figure(gap: float | None) -> str:
    return "n/a" if gap is None else f"{gap:+.3f}"
