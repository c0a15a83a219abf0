"""A sweep for a person: the SEAL paper's Table 3, what each K was worth, and figures.

metrics_over_pool_size   a panel a K, a line a metric (the SEAL paper's Figure 4)
pass_rate_over_recall    recall@K against pass rate, call recall and tokens; a line a pool size

Whiskers: deviation over samples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from seal.core.text import counted
from seal.experiments.sweep.sweep_settings import RECALL_AT
from seal.report.columns import spread
from seal.report.figure_layout import styled
from seal.report.figures import DEVIATIONS, Mark, Panel, Series, log_sizes, series_figure
from seal.report.grids import Grid, interval, number, told

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
_AGAINST = (PASS_RATE, CALL_RECALL, "tokens")
_PANELS_IN_ROW = 4
_PANEL = (3.0, 2.4)
"""Width and height of its axes, in inches."""
_ALONE = (4.4, 2.6)
"""Those of a figure's only panel."""

Entries = Sequence[Mapping[str, Any]]
"""`results` of sweep.json."""


def sweep_tables(content: Mapping[str, Any]) -> Iterator[Any]:
    """Yield tables and lines for a person.

    Args:
        content: Of sweep.json.
    """
    return told(_parts(content))


def _parts(content: Mapping[str, Any]) -> Iterator[Grid | str]:
    entries, origin = content["results"], content["origin"]
    several = len(content["protocol"]["top_k"]) > 1
    yield f"pools drawn from {origin['benchmark']}, {counted(origin['tools'], 'tool')}"
    if entries:
        yield _table_3(entries, several)
        if several:
            yield _by_k(entries)
            yield (
                f"recall@{RECALL_AT}: of the first {RECALL_AT} ranked tools, at every K; recall@K: "
                "of the K that the chat was offered; in brackets 95 % over tasks"
            )
        yield "mean ± deviation over samples (n - 1), NA of one sample"
    yield from _lacking(entries)


def _table_3(entries: Entries, several: bool) -> Grid:
    rows = [
        (
            str(entry["size"]),
            *([str(entry["top_k"])] if several else []),
            _queries(entry),
            *(spread(_figure_of(entry, metric)) for metric in METRICS),
        )
        for entry in entries
    ]
    return _grid(rows, "pool size", *(["K"] if several else []), "queries", *METRICS)


def _by_k(entries: Entries) -> Grid:
    rows = []
    for entry in entries:
        names = (f"recall@{entry['top_k']}", "call_recall", PASS_RATE)
        tokens = _figure_of(entry, "tokens")["mean"]
        told = "n/a" if tokens is None else f"{tokens:,.0f}"
        cells = (_with_ends(_figure_of(entry, metric)) for metric in names)
        rows.append((str(entry["size"]), str(entry["top_k"]), *cells, told))
    return _grid(rows, "pool size", "K", "recall@K", "call_recall", PASS_RATE, "tokens a goal")


def _with_ends(found: Mapping[str, Any]) -> str:
    """Return a mean with its interval over tasks below it."""
    ends = f"\n{interval(found)}" if found.get("low") is not None else ""
    return f"{number(found['mean'])}{ends}"


def _grid(rows: Sequence[tuple[str, ...]], *columns: str) -> Grid:
    return Grid("", [_HEADINGS.get(column, column) for column in columns], rows, names=0)


def _queries(entry: Mapping[str, Any]) -> str:
    """Return the number of queries; with its deviation where samples differ."""
    deviation = entry["queries_deviation"]
    if not deviation:
        return f"{entry['queries']:g}"
    return f"{entry['queries']:.1f} ± {deviation:.1f}"


def _figure_of(entry: Mapping[str, Any], metric: str) -> Mapping[str, Any]:
    """Return {mean, deviation} of a metric; both are None if no run has it.

    `tokens` is the sum of the tokens in and out of a goal; it has no deviation.
    """
    if metric == "tokens":
        means = [_figure_of(entry, name)["mean"] for name in ("tokens_in", "tokens_out")]
        counted = [mean for mean in means if mean is not None]
        return {"mean": sum(counted) if counted else None, "deviation": None}
    found: Mapping[str, Any] = entry["metrics"].get(metric, {"mean": None, "deviation": None})
    return found


def _lacking(entries: Entries, metrics: Sequence[str] = METRICS) -> Iterator[str]:
    """Yield a line for each metric that some size has no value of, with the reasons."""
    for metric in metrics:
        reasons: Counter[str] = Counter()
        for entry in entries:
            found = _figure_of(entry, metric)
            if found["mean"] is None:
                reasons.update(found.get("reasons", {}))
        if reasons:
            told = "; ".join(
                f"{reason} ({count})" for reason, count in reasons.most_common(_REASONS)
            )
            yield f"{metric} n/a: {told}"


def sweep_figures(content: Mapping[str, Any]) -> dict[str, Figure]:
    """Return the figures of what the results hold, by name.

    Pool sizes are drawn where there are several, K where there are several.

    Args:
        content: Of sweep.json.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    entries = content["results"]
    figures: dict[str, Figure] = {}
    with styled():
        if len({entry["size"] for entry in entries}) > 1:
            figures["metrics_over_pool_size"] = _over_sizes(entries)
        if len({entry["top_k"] for entry in entries}) > 1:
            figures["pass_rate_over_recall"] = _over_recall(entries)
    return figures


def _over_sizes(entries: Entries) -> Figure:
    sizes = sorted({entry["size"] for entry in entries})

    def line(number: int, metric: str, mine: Entries) -> Series:
        measured = any(_figure_of(entry, metric)["mean"] is not None for entry in entries)
        found = [(entry["size"], _figure_of(entry, metric)) for entry in mine]
        marks = [_mark(x, y) for x, y in found if y["mean"] is not None]
        return Series(metric if measured else f"{metric}: n/a", number, marks)

    def finish(axes: Any) -> None:
        log_sizes(axes, sizes)
        axes.set_ylim(0, 1.05)

    shown = []
    for k in sorted({entry["top_k"] for entry in entries}):
        mine = sorted((e for e in entries if e["top_k"] == k), key=lambda entry: int(entry["size"]))
        lines = [line(number, metric, mine) for number, metric in enumerate(METRICS)]
        shown.append(Panel(f"K = {k}", lines, finish))
    return _figure(shown, _lacking(entries), "mean over samples")


def _over_recall(entries: Entries) -> Figure:
    counted = any(_figure_of(entry, "tokens")["mean"] is not None for entry in entries)

    def line(number: int, size: int, what: str) -> Series:
        mine = sorted((e for e in entries if e["size"] == size), key=lambda e: int(e["top_k"]))
        found = [
            (_figure_of(e, f"recall@{e['top_k']}"), _figure_of(e, what), str(e["top_k"]))
            for e in mine
        ]
        marks = [
            _mark(x["mean"], y, x["deviation"] or 0.0, k)
            for x, y, k in found
            if x["mean"] is not None and y["mean"] is not None
        ]
        return Series(f"{size:,} tools", number, marks)

    def panel(what: str) -> Panel:
        def finish(axes: Any) -> None:
            axes.set_xlim(0, 1.05)
            axes.set_ylim(0, None if what == "tokens" else 1.05)
            axes.set_xlabel("recall@K; at each point its K")

        sizes = sorted({entry["size"] for entry in entries})
        lines = [line(number, size, what) for number, size in enumerate(sizes)]
        return Panel("tokens of a goal" if what == "tokens" else what, lines, finish)

    shown = [panel(what) for what in _AGAINST if counted or what != "tokens"]
    uncounted = "" if counted else "No panel of tokens: no model counted any."
    return _figure(shown, (uncounted, *_lacking(entries, (PASS_RATE, CALL_RECALL))))


def _mark(x: float, y: Mapping[str, Any], spread: float = 0.0, text: str = "") -> Mark:
    return Mark(x, y["mean"], (y["deviation"] or 0.0,) * 2, (spread, spread), text)


def _figure(shown: Sequence[Panel], lacking: Iterable[str], beside: str = "") -> Figure:
    size = _PANEL if len(shown) > 1 else _ALONE
    return series_figure(shown, size, _PANELS_IN_ROW, (DEVIATIONS, *lacking), beside)
