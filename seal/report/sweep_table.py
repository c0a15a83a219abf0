"""Tables of a sweep for the terminal: the SEAL paper's Table 3, and what each K was worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from seal.experiments.sweep.settings import RECALL_AT
from seal.report.printable import printable

if TYPE_CHECKING:
    from rich.table import Table

CALL_RECALL = "call_recall_at_n"
PASS_RATE = "pass_rate"
METRICS = (f"recall@{RECALL_AT}", CALL_RECALL, "param_acc_gold", PASS_RATE)
"""Columns of Table 3, after the pool's size and the number of queries."""
_HEADINGS = {
    "pool size": "pool\nsize",
    CALL_RECALL: "call_recall\n_at_n",
    "param_acc_gold": "param_acc\n_gold",
    "tokens a goal": "tokens\na goal",
}
"""Names that would make their column wider than its figures."""
_REASONS = 3
"""Reasons for a metric without values that are told."""


def figure_of(entry: Mapping[str, Any], metric: str) -> Mapping[str, Any]:
    """Return a metric of an entry of `results`; without values where no run has it."""
    found: Mapping[str, Any] = entry["metrics"].get(metric, {"mean": None, "deviation": None})
    return found


def tokens_of(entry: Mapping[str, Any]) -> dict[str, float | None]:
    """Return {mean, deviation} of the tokens in and out of a goal; None where none were counted.

    The deviation is None: those of its two parts do not add up.
    """
    means = [figure_of(entry, name)["mean"] for name in ("tokens_in", "tokens_out")]
    counted = [mean for mean in means if mean is not None]
    return {"mean": sum(counted) if counted else None, "deviation": None}


def sweep_tables(content: Mapping[str, Any]) -> Iterator[Any]:
    """Yield tables and lines for a person.

    Args:
        content: Of sweep.json.
    """
    entries, origin = content["results"], content["origin"]
    several = len(content["protocol"]["top_k"]) > 1
    yield printable(f"pools drawn from {origin['benchmark']}, {origin['tools']} tools")
    if entries:
        yield _table_3(entries, several)
        if several:
            yield _by_k(entries)
            yield (
                f"recall@{RECALL_AT}: of the first {RECALL_AT} ranked tools, at every K; recall@K: "
                "of the K that the chat was offered"
            )
        yield "mean ± deviation over samples (n - 1), NA of one sample"
    yield from map(printable, lacking(entries))


def _table_3(entries: Sequence[Mapping[str, Any]], several: bool) -> Table:
    table = _table("pool size", *(["K"] if several else []), "queries", *METRICS)
    for entry in entries:
        place = [str(entry["size"]), *([str(entry["top_k"])] if several else [])]
        table.add_row(*place, _queries(entry), *(_cell(entry, metric) for metric in METRICS))
    return table


def _by_k(entries: Sequence[Mapping[str, Any]]) -> Table:
    table = _table("pool size", "K", "recall@K", "call_recall", PASS_RATE, "tokens a goal")
    for entry in entries:
        names = (f"recall@{entry['top_k']}", "call_recall", PASS_RATE)
        cells = [_cell(entry, metric) for metric in names]
        tokens = tokens_of(entry)["mean"]
        told = "n/a" if tokens is None else f"{tokens:,.0f}"
        table.add_row(str(entry["size"]), str(entry["top_k"]), *cells, told)
    return table


def _table(*columns: str) -> Table:
    from rich.table import Table

    table = Table(padding=(0, 0, 0, 1), pad_edge=False)
    for column in columns:
        table.add_column(_HEADINGS.get(column, column), justify="right", overflow="fold")
    return table


def _cell(entry: Mapping[str, Any], metric: str) -> str:
    found = figure_of(entry, metric)
    if found["mean"] is None:
        return "n/a"
    deviation = "NA" if found["deviation"] is None else f"{found['deviation']:.3f}"
    return f"{found['mean']:.3f} ± {deviation}"


def _queries(entry: Mapping[str, Any]) -> str:
    """Return the number of queries; with its deviation where samples differ."""
    deviation = entry["queries_deviation"]
    if not deviation:
        return f"{entry['queries']:g}"
    return f"{entry['queries']:.1f} ± {deviation:.1f}"


def lacking(
    entries: Sequence[Mapping[str, Any]], metrics: Sequence[str] = METRICS
) -> Iterator[str]:
    """Yield a line for each metric that some size has no value of, with the reasons."""
    for metric in metrics:
        reasons: Counter[str] = Counter()
        for entry in entries:
            found = figure_of(entry, metric)
            if found["mean"] is None:
                reasons.update(found.get("reasons", {}))
        if reasons:
            told = "; ".join(
                f"{reason} ({count})" for reason, count in reasons.most_common(_REASONS)
            )
            yield f"{metric} n/a: {told}"
