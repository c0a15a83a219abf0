"""Tables of an experiment in retrieval, readable at 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

_SHORT = 24
"""Characters of the longest name that stands in every row; longer ones get a number and a key."""
_LEGENDS = {
    "*": "the retriever was trained on queries of this pool; "
    "its held-out figures stand in training.json",
    "+": "the retriever was trained on this pool, on none of the queries asked here",
}
"""Marks of figures of a retriever on the pool of its training."""
_PAIRS_SHOWN = 30
"""Comparisons in a table; a longer list is in the results alone."""


def retrieval_tables(found: Mapping[str, Any]) -> Iterator[Any]:
    """Yield tables and lines for a person.

    Args:
        found: Of results.json.
    """
    entries = found["results"]
    deepest = found["protocol"]["k"][-1]
    names = _names(entries)
    yield from (f"{name} = {label}" for label, name in names.items() if name != label)
    for pool in dict.fromkeys(entry["pool"] for entry in entries):
        mine = [entry for entry in entries if entry["pool"] == pool]
        yield from _figures(mine, names, found["protocol"]["k"])
    yield f"recall@K: share of the relevant tools among the first K; mrr@{deepest}, ndcg@{deepest}"
    if any(entry["samples"] > 1 for entry in entries):
        yield "mean ± deviation over samples (n - 1), below it the 95 % interval over tasks"
    if len(names) > 1 and len({entry["pool"] for entry in entries}) > 1:
        for metric in (f"recall@{deepest}", f"mrr@{deepest}"):
            yield _matrix(entries, names, metric)
    marks = {_mark(entry) for entry in entries}
    yield from (f"{mark}: {legend}" for mark, legend in _LEGENDS.items() if mark in marks)
    yield from _comparisons(found["comparisons"], names)
    yield from _unavailable(entries)


def _unavailable(entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each retriever and reason, with the pools that it could not be asked of."""
    pools: dict[tuple[str, str], dict[str, None]] = {}
    for entry in entries:
        if "unavailable" in entry:
            met = pools.setdefault((entry["retriever"], entry["unavailable"]), {})
            met[entry["pool"]] = None
    for (retriever, reason), met in pools.items():
        yield f"unavailable: {retriever} on {', '.join(met)}: {reason}"


def line_of(entry: Mapping[str, Any]) -> str:
    """Return what one retriever found in pools of one size, as a line."""
    place = f"{entry['pool']}, {_counted(entry['tools'], 'tool')}, {entry['retriever']}"
    if "unavailable" in entry:
        return f"{place}: unavailable"
    deepest = [name for name in entry["metrics"] if name.startswith("recall@")][-1]
    return f"{place}: {deepest} {_mean(entry, deepest)}"


def _names(entries: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return each retriever's label to what stands for it in tables."""
    labels = list(dict.fromkeys(entry["retriever"] for entry in entries))
    return {
        label: label if len(label) <= _SHORT else f"R{number}"
        for number, label in enumerate(labels, 1)
    }


def _figures(
    entries: Sequence[Mapping[str, Any]], names: Mapping[str, str], ks: Sequence[int]
) -> Iterator[Any]:
    """Yield the heading and the table of one pool."""
    first = entries[0]
    if all(entry["size"] == "all" and entry["samples"] == 1 for entry in entries):
        sizes = _counted(first["tools"], "tool"), _counted(first["queries"], "query", "queries")
        yield f"{first['pool']}: {', '.join(sizes)}"
        metrics = [*(f"recall@{k}" for k in ks), f"mrr@{ks[-1]}", f"ndcg@{ks[-1]}"]
        table = _table(("retriever",), metrics)
        for entry in entries:
            cells = (_mean(entry, metric) for metric in metrics)
            table.add_row(names[entry["retriever"]] + _mark(entry), *cells)
    else:
        samples = _counted(max(entry["samples"] for entry in entries), "sample")
        yield f"{first['pool']}, at most {samples}"
        metrics = [f"recall@{ks[-1]}", f"mrr@{ks[-1]}"]
        table = _table(("retriever",), ("tools", "queries", *metrics))
        for entry in entries:
            size = (str(entry["tools"]), _queries(entry))
            cells = (_spread(entry, metric) for metric in metrics)
            table.add_row(names[entry["retriever"]] + _mark(entry), *size, *cells)
    yield table


def _counted(count: float, noun: str, nouns: str = "") -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {nouns or noun + 's'}"


def _table(texts: Sequence[str], figures: Sequence[str]) -> Table:
    from rich.table import Table

    table = Table(padding=(0, 0, 0, 1), pad_edge=False)
    for column in texts:
        table.add_column(column, overflow="fold")
    for column in figures:
        table.add_column(column, justify="right", overflow="fold")
    return table


def _queries(entry: Mapping[str, Any]) -> str:
    deviation = entry["queries_deviation"]
    if not deviation:
        return f"{entry['queries']:g}"
    return f"{entry['queries']:.1f}\n±{deviation:.1f}"


def _mean(entry: Mapping[str, Any], metric: str) -> str:
    mean = entry["metrics"].get(metric, {}).get("mean")
    return "n/a" if mean is None else f"{mean:.3f}"


def _spread(entry: Mapping[str, Any], metric: str) -> str:
    """Return mean, deviation and interval on two lines; of one sample the deviation is NA."""
    if _mean(entry, metric) == "n/a":
        return "n/a"
    found = entry["metrics"][metric]
    deviation = "NA" if found["deviation"] is None else f"{found['deviation']:.3f}"
    ends = "" if found["low"] is None else f"\n[{found['low']:.3f}, {found['high']:.3f}]"
    return f"{found['mean']:.3f} ± {deviation}{ends}"


def _matrix(entries: Sequence[Mapping[str, Any]], names: Mapping[str, str], metric: str) -> Table:
    """Return pools x retrievers, each pool at its largest size."""
    largest: dict[str, int] = {}
    for entry in entries:
        largest[entry["pool"]] = max(entry["tools"], largest.get(entry["pool"], 0))
    cells = {
        (entry["pool"], entry["retriever"]): _starred(entry, metric)
        for entry in entries
        if entry["tools"] == largest[entry["pool"]]
    }
    table = _table((metric,), tuple(names.values()))
    for pool in largest:
        table.add_row(pool, *(cells[pool, label] for label in names))
    return table


def _starred(entry: Mapping[str, Any], metric: str) -> str:
    return _mean(entry, metric) + _mark(entry)


def _mark(entry: Mapping[str, Any]) -> str:
    if not entry.get("in_source") or "unavailable" in entry:
        return ""
    return "+" if entry["training_queries"] == 0 else "*"


def _comparisons(found: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> Iterator[Any]:
    if not found:
        return
    if len(found) > _PAIRS_SHOWN:
        yield f"{len(found)} paired comparisons: --json or results.json lists them"
        return
    table = _table(("pool", "retriever", "less"), ("tools", "metric", "difference", "p (Holm)"))
    for pair in found:
        ends = "" if pair["low"] is None else f"\n[{pair['low']:+.3f}, {pair['high']:+.3f}]"
        table.add_row(
            pair["pool"],
            names[pair["retriever"]],
            names[pair["other"]],
            str(pair["size"]),
            pair["metric"],
            f"{pair['difference']:+.3f}{ends}",
            "n/a" if pair["p_holm"] is None else f"{pair['p_holm']:.4f}",
        )
    yield table
