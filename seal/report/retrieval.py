"""An experiment in retrieval: tables, curves, page with what was lost."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from seal.core import DataError, Longer, Ranking
from seal.core.files import content_of
from seal.core.records import query_id, trec_word
from seal.core.text import counted, printable
from seal.experiments.retrieval import RETRIEVAL, ranking_folders
from seal.report.figures import (
    DEVIATIONS,
    Axis,
    Mark,
    Panel,
    Series,
    curves,
    series_figure,
    sizes_axis,
    whisker,
)
from seal.report.grids import (
    Columns,
    Grid,
    figure,
    grid_of,
    grouped,
    interval,
    number,
    paired,
    spread,
)
from seal.report.pages import Fold, Part, parts_page
from seal.runs.scores import Tail

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# -- An experiment in retrieval for a person: tables readable at 80 columns, and figures.
#
# recall_over_pool_size    a panel a pool, a line a retriever; whiskers: deviation over samples
# recall_over_pools        a mark for each pool and retriever; whiskers: 95 % intervals
# recall_over_k            a panel a pool, a line a retriever; whiskers: 95 % intervals

_SHORT = 24
"""Characters of the longest name that stands in every row; longer ones get a number and a key."""
_LEGENDS = {
    "*": "the retriever was trained on queries of this pool; --held-out leaves them out",
    "+": "the retriever was trained on this pool, on none of the queries asked here",
}
"""Marks of figures of a retriever on the pool of its training."""
_PAIRS_SHOWN = 30
"""Comparisons in a table; a longer list is in the results alone."""
_SHORT_IN_PAIRS = 15
"""As `_SHORT`, of the table of pairs: two names, metric, difference and p are 80 columns."""
_PAIRS_OF = ("recall@", "mrr@", "ndcg@")
"""Metrics whose comparisons stand in the table; those of others are in the results alone."""

_PANELS_IN_ROW = 3
_PANEL = (3.0, 2.3)
"""Width and height of its axes, in inches."""
_ALONE = (4.6, 2.8)
"""Those of a figure's only panel."""
_CROWD = 8
"""Retrievers in a panel, beyond which it grows."""
_TALLER = 0.08
"""Inches for each retriever beyond."""
_MARK = 0.26
"""Inches of a mark of `recall_over_pools` with the space beside it."""
_MARKS_IN_ROW = 45
_NAME = 48
"""Characters of a retriever in a caption."""
_POOL = 26
"""Characters of a pool below its marks."""
_REASON = 160
"""Characters of a reason in a caption."""
_INTERVALS = "Error bars: 95 % interval over tasks."

Entries = Sequence[Mapping[str, Any]]
"""Of results.json."""


def retrieval_tables(found: Mapping[str, Any]) -> Iterator[Grid | str]:
    """Yield tables and lines for a person.

    Args:
        found: Of results.json.
    """
    entries = found["results"]
    deepest = found["protocol"]["k"][-1]
    labels = _values(entries, "retriever")
    names = {
        label: label if len(label) <= _SHORT else f"R{number}"
        for number, label in enumerate(labels, 1)
    }
    yield from (f"{name} = {label}" for label, name in names.items() if name != label)
    for pool in _values(entries, "pool"):
        mine = [entry for entry in entries if entry["pool"] == pool]
        yield from _pool_parts(mine, names, found["protocol"]["k"])
    yield f"recall@K: share of the relevant tools among the first K; mrr@{deepest}, ndcg@{deepest}"
    if any(entry["samples"] > 1 for entry in entries):
        yield "mean ± deviation over samples (n - 1), below it the 95 % interval over tasks"
    if len(names) > 1 and len(_values(entries, "pool")) > 1:
        for metric in (f"recall@{deepest}", f"mrr@{deepest}"):
            yield _matrix(_largest(entries), names, metric)
    marks = {_mark(entry) for entry in entries}
    yield from (f"{mark}: {legend}" for mark, legend in _LEGENDS.items() if mark in marks)
    yield from _pair_parts(found["comparisons"], names)
    unavailable = [entry for entry in entries if "unavailable" in entry]
    for retriever, reason, pools in _by_reason(unavailable):
        yield f"unavailable: {retriever} on {pools}: {reason}"


def line_of(entry: Mapping[str, Any]) -> str:
    """Return what one retriever found in pools of one size, as a line."""
    place = f"{entry['pool']}, {counted(entry['tools'], 'tool')}, {entry['retriever']}"
    if "unavailable" in entry:
        return f"{place}: unavailable"
    deepest = [name for name in entry["metrics"] if name.startswith("recall@")][-1]
    return f"{place}: {deepest} {mean_text(entry, deepest)}"


def _pool_parts(
    entries: Entries, names: Mapping[str, str], ks: Sequence[int]
) -> Iterator[Grid | str]:
    """Yield the heading and the table of one pool."""
    first = entries[0]
    whole = all(entry["size"] == "all" and entry["samples"] == 1 for entry in entries)
    metrics = [f"recall@{ks[-1]}", f"mrr@{ks[-1]}"]
    if whole:
        queries = counted(first["queries"], "query")
        yield f"{first['pool']}: {counted(first['tools'], 'tool')}, {queries}"
        metrics = [*(f"recall@{k}" for k in ks), f"mrr@{ks[-1]}", f"ndcg@{ks[-1]}"]
    else:
        samples = counted(max(entry["samples"] for entry in entries), "sample")
        yield f"{first['pool']}, at most {samples}"
    told = mean_text if whole else _spread
    columns: Columns = [
        ("retriever", lambda entry: names[entry["retriever"]] + _mark(entry)),
        *(() if whole else (("tools", "tools"), ("queries", query_count))),
        *((metric, partial(told, metric=metric)) for metric in metrics),
    ]
    yield grid_of("", columns, entries)
    yield from _calibrations(entries, names)


_CALIBRATION: Columns = (
    ("first score", "name"),
    ("AUROC", figure("auroc")),
    ("95 % interval", interval),
    ("threshold", lambda entry: _threshold(entry["threshold"])),
    ("turned away", figure("turned_away")),
)


def _threshold(score: float | None) -> str:
    return "none" if score is None else f"{score:.3f}"


def _calibrations(entries: Entries, names: Mapping[str, str]) -> Iterator[Grid | str]:
    """Yield how well the first score tells who needs a tool, where some queries need none."""
    told = [
        e["calibration"] | {"name": names[e["retriever"]]} for e in entries if "calibration" in e
    ]
    if told:
        first = told[0]
        yield grid_of("", _CALIBRATION, told)
        yield (
            f"AUROC: {counted(first['needing'], 'query')} that need a tool against "
            f"{first['without']} that "
            "need none; turned away: of the latter, below the threshold that keeps 95 % of the "
            "former"
        )
    for entry in entries:
        if "uncalibrated" in entry:
            yield f"{names[entry['retriever']]}: no AUROC, because {entry['uncalibrated']}"
        yield from remarks(entry, names[entry["retriever"]])


def remarks(entry: Mapping[str, Any], name: str) -> Iterator[str]:
    """Yield what the figures of an entry hide: texts cut, queries that nothing or all matches.

    Args:
        entry: Of the results.
        name: What the retriever is called here.
    """
    undecided = [_share(entry[kind], said) for kind, said in _UNDECIDED if kind in entry]
    if undecided:
        yield f"{name}, {counted(entry['tools'], 'tool')}: {'; '.join(undecided)}"
    told = [str(Longer(**one)) for one in entry.get("longer", ())]
    if told:
        yield f"{name}: {' and '.join(told)}"


_UNDECIDED = (
    ("unmatched", "it names no tool for"),
    ("tied", "tools of equal scores stand in the order of ids for"),
)


def _share(found: Mapping[str, int], said: str) -> str:
    """Return a sentence on some of the queries."""
    share = found["queries"] / found["of"]
    return f"{said} {found['queries']:,} of {counted(found['of'], 'query')} ({share:.1%})"


def query_count(entry: Mapping[str, Any], between: str = "\n±") -> str:
    """Return the number of queries; with its deviation where samples differ."""
    deviation = entry["queries_deviation"]
    if not deviation:
        return f"{entry['queries']:g}"
    return f"{entry['queries']:.1f}{between}{deviation:.1f}"


def mean_text(entry: Mapping[str, Any], metric: str) -> str:
    """Return the mean of a metric of an entry; `n/a` where there is none."""
    return number(entry["metrics"].get(metric, {}).get("mean"))


def _spread(entry: Mapping[str, Any], metric: str) -> str:
    """Return mean and deviation, and the interval on a second line."""
    found = entry["metrics"].get(metric, {})
    return spread(found) + ("" if found.get("low") is None else f"\n{interval(found)}")


def _matrix(entries: Entries, names: Mapping[str, str], metric: str) -> Grid:
    """Return pools x retrievers."""
    cells = {(e["pool"], e["retriever"]): mean_text(e, metric) + _mark(e) for e in entries}
    rows = [(pool, *(cells[pool, label] for label in names)) for pool in _values(entries, "pool")]
    return Grid("", (metric, *names.values()), rows)


def _mark(entry: Mapping[str, Any]) -> str:
    if not entry.get("in_source") or "unavailable" in entry:
        return ""
    return "+" if entry["training_queries"] == 0 else "*"


def _pair_parts(pairs: Entries, names: Mapping[str, str]) -> Iterator[Grid | str]:
    """Yield the table of paired comparisons, and what is in the results alone."""
    shown = [pair for pair in pairs if pair["metric"].startswith(_PAIRS_OF)]
    if len(shown) > _PAIRS_SHOWN:
        yield f"{counted(len(pairs), 'paired comparison')}: --json or results.json lists them"
    elif shown:
        keys = {
            label: name if len(name) <= _SHORT_IN_PAIRS else f"R{number}"
            for number, (label, name) in enumerate(names.items(), 1)
        }
        yield from (f"{key} = {label}" for label, key in keys.items() if key != names[label])
        columns: Columns = [
            *((("pool", "pool"),) if len(_values(pairs, "pool")) > 1 else ()),
            ("retriever", lambda pair: keys[pair["retriever"]]),
            ("minus", lambda pair: keys[pair["other"]]),
            *((("tools", "size"),) if len(_values(pairs, "size")) > 1 else ()),
            ("metric", "metric"),
            ("difference", lambda pair: paired(pair)[0]),
            ("p (Holm)", lambda pair: paired(pair)[1]),
        ]
        yield grid_of("", columns, shown)._replace(names=len(columns) - 2)
        if others := " and ".join(_values((p for p in pairs if p not in shown), "metric")):
            yield f"paired comparisons in {others}: --json or results.json lists them"


def retrieval_figures(result: Mapping[str, Any]) -> dict[str, Figure]:
    """Return the figures of what the results hold, by name.

    Pool sizes are drawn where there are several, cut-offs where there are several.

    Args:
        result: Of results.json.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    entries = result["results"]
    ks = result["protocol"]["k"]
    deepest = f"recall@{ks[-1]}"
    figures: dict[str, Figure] = {}
    if len({entry["size"] for entry in entries}) > 1:
        figures["recall_over_pool_size"] = _over_sizes(entries, deepest)
    figures["recall_over_pools"] = _over_pools(_largest(entries), deepest)
    if len(ks) > 1:
        figures["recall_over_k"] = _over_ks(_largest(entries), ks)
    return figures


def _largest(entries: Entries) -> Entries:
    """Return the entries of each pool's largest size."""
    most: dict[str, int] = {}
    for entry in entries:
        most[entry["pool"]] = max(entry["tools"], most.get(entry["pool"], 0))
    last = {(e["pool"], e["retriever"]): e for e in entries if e["tools"] == most[e["pool"]]}
    return list(last.values())


def _over_sizes(entries: Entries, metric: str) -> Figure:
    def marks(mine: Entries) -> list[Mark]:
        points = sorted(mine, key=lambda entry: int(entry["tools"]))
        found = [(entry["tools"], entry["metrics"][metric]) for entry in points]
        return [Mark(x, it["mean"], (it["deviation"] or 0.0,) * 2) for x, it in found]

    def across(mine: Entries) -> Axis:
        return sizes_axis(sorted({entry["tools"] for entry in mine}))

    return _panels_figure(entries, metric, marks, (across, metric), DEVIATIONS)


def _over_ks(entries: Entries, ks: Sequence[int]) -> Figure:
    across = Axis("K", 0.0, ks[-1] + 1, {k: str(k) for k in ks})
    axes = (lambda mine: across), "recall@K"
    return _panels_figure(
        entries, f"recall@{ks[0]}", lambda own: _over_k(own, ks), axes, _INTERVALS
    )


def _over_k(entries: Entries, ks: Sequence[int]) -> list[Mark]:
    """Return the recall of a retriever's last entry at each K."""
    found = ((k, entry, f"recall@{k}") for entry in entries[-1:] for k in ks)
    return [_interval(k, it["metrics"][name]) for k, it, name in found if _measured(it, name)]


def _over_size(entries: Entries, metric: str) -> list[Mark]:
    """Return a metric of a retriever's entries over the sizes of their pools."""
    found = sorted((e for e in entries if _measured(e, metric)), key=lambda e: int(e["tools"]))
    return [_interval(entry["tools"], entry["metrics"][metric]) for entry in found]


def _lines(
    entries: Entries, marks: Callable[[Entries], list[Mark]], labels: Sequence[str] = ()
) -> list[Series]:
    """Return a line for each retriever that has marks; `labels` are all that have a look."""
    lines = (
        Series(label, number, marks([e for e in entries if e["retriever"] == label]))
        for number, label in enumerate(labels or _values(entries, "retriever"))
    )
    return [line for line in lines if line.marks]


def _panels_figure(
    entries: Entries,
    metric: str,
    marks: Callable[[Entries], list[Mark]],
    axes: tuple[Callable[[Entries], Axis], str],
    bars: str,
) -> Figure:
    """Return a figure with a panel for each pool, a line for each retriever with the metric.

    `axes` are what gives the horizontal one of a pool's entries, and the label of the other.
    """
    across, label = axes
    pools, labels = _values(entries, "pool"), _values(entries, "retriever")

    def panel(pool: str) -> Panel:
        mine = [entry for entry in entries if entry["pool"] == pool]
        measured = [entry for entry in mine if _measured(entry, metric)]

        lines = _lines(measured, marks, labels)
        return Panel(pool, lines, across(mine), Axis(label, 0.0, 1.05))

    sentences = (bars, *_lacking(entries, metric))
    size = _size(len(pools), labels)
    return series_figure(list(map(panel, pools)), size, _PANELS_IN_ROW, sentences)


def _over_pools(entries: Entries, metric: str) -> Figure:
    """Return a figure with a mark for each pool and retriever, those of a pool side by side."""
    pools, labels = _values(entries, "pool"), _values(entries, "retriever")
    found = {(entry["pool"], entry["retriever"]): entry for entry in entries}
    group = len(labels) + 1
    in_row = min(len(pools), max(1, _MARKS_IN_ROW // group))
    width, height = _size(1, labels)

    def line(number: int, label: str, mine: Sequence[str]) -> Series:
        measured = [(place, found.get((pool, label))) for place, pool in enumerate(mine)]
        marks = [
            _interval(place - 0.5 + (number + 1) / group, entry["metrics"][metric])
            for place, entry in measured
            if entry is not None and _measured(entry, metric)
        ]
        return Series(label, number, marks, joined=False)

    def panel(mine: Sequence[str]) -> Panel:
        ticks = {place: _short(pool, _POOL) for place, pool in enumerate(mine)}
        across = Axis("", -0.55, in_row - 0.45, ticks, slant=30 if len(mine) > 1 else 0)
        lines = [line(number, name, mine) for number, name in enumerate(labels)]
        return Panel("", lines, across, Axis(metric, 0.0, 1.05))

    shown = [panel(pools[start : start + in_row]) for start in range(0, len(pools), in_row)]
    size = max(width, _MARK * group * in_row), height
    return series_figure(shown, size, 1, (_INTERVALS, *_lacking(entries, metric)))


def _interval(x: float, found: Mapping[str, Any]) -> Mark:
    return Mark(x, found["mean"], whisker(found["mean"], found["low"], found["high"]))


def _size(pools: int, labels: Sequence[str]) -> tuple[float, float]:
    """Return width and height of each of so many axes, beside which the legend stands."""
    width, height = _PANEL if pools > 1 else _ALONE
    return width, height + _TALLER * max(0, len(labels) - _CROWD)


def _lacking(entries: Entries, metric: str) -> list[str]:
    """Return a sentence for each retriever and reason why it has no figure, with the pools."""
    lacking = [entry for entry in entries if not _measured(entry, metric)]
    return [
        f"n/a: {_short(retriever, _NAME)} on {pools}: {_short(reason, _REASON)}"
        for retriever, reason, pools in _by_reason(lacking)
    ]


def _by_reason(entries: Entries) -> Iterator[tuple[str, str, str]]:
    """Yield each retriever and reason why it has no figure, with the pools."""
    untold = "no query with relevant tools"
    pools = grouped(((e["retriever"], e.get("unavailable", untold)), e["pool"]) for e in entries)
    for (retriever, reason), met in pools.items():
        yield retriever, reason, ", ".join(dict.fromkeys(met))


def _measured(entry: Mapping[str, Any], metric: str) -> bool:
    found = entry["metrics"].get(metric)
    return found is not None and found["mean"] is not None


def _values(entries: Iterable[Mapping[str, Any]], name: str) -> list[str]:
    """Return the different values of a field, in their order."""
    return list(dict.fromkeys(entry[name] for entry in entries))


def _short(text: str, length: int) -> str:
    """Return a text, a long one with its middle left out."""
    half = (length - 3) // 2
    return text if len(text) <= length else f"{text[:half]}...{text[-half:]}"


# -- The page of an experiment in retrieval: tables, curves, and what was lost.

FAILED = 50
"""Failed queries of one retriever and pool that a page lists, and lost tools of a pool."""
_LOST = 5
"""Lost tools of a pool that a terminal shows."""
FOUND = 3
"""First tools of a ranking that stand beside a query that failed."""
_BEHIND = "Lines behind the points: 95 % interval over tasks."
_NOWHERE = "No rankings of whole pools lie beside the results."
_FAILED = Markup(
    '<span dir="auto">{}</span> <small dir="auto">{}</small><br><small>wanted</small> {}<br>'
    "<small>found first</small> {}"
)
"""A query that failed, its task, the tools that it needs, and those that were found first."""
_FINDERS = Markup('<br><small>found by</small> <span dir="auto">{}</span>')


def experiment_page(name: str, folder: Path, home: str, **how: Any) -> str:
    """Return the page of an experiment.

    Args:
        name: What it is called.
        folder: That `seal retrieve --out` wrote.
        home: Address of the list of runs.
        **how: Style and script (`pages.linked`).

    Raises:
        DataError: Its results or rankings are damaged.
    """
    file = folder / RETRIEVAL.name
    try:
        found = RETRIEVAL.read(file)
        parts: list[Part] = []
        if charts := list(_charts(found)):
            drawn = Markup('<div class="charts">\n{}\n</div>').format(Markup("\n").join(charts))
            parts += [_heading("Curves", "charts"), drawn, _BEHIND]
        parts += [_heading("Tables", "tables"), *retrieval_tables(found)]
        deepest = found["protocol"]["k"][-1]
        parts += [_heading("Tools lost, and queries that failed", "failed")]
        parts += [f"A query failed where no relevant tool is among the first {deepest}."]
        parts += list(_lost_parts(found, folder)) or [_NOWHERE]
        links = [("All runs", home), ("Tables", "#tables"), ("Tools lost", "#failed")]
        return parts_page("retrieval", name, parts, links, **how)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise DataError(
            f"{file} is no result of `seal retrieve`: {error!r:.100}; run the experiment again"
        ) from error


def _heading(text: str, anchor: str) -> Markup:
    return Markup('<h2 id="{}">{}</h2>').format(anchor, text)


def _charts(found: Mapping[str, Any]) -> Iterator[Markup]:
    """Yield for each pool the curves of recall over K, and over the sizes of drawn pools."""
    entries = [entry for entry in found["results"] if "unavailable" not in entry]
    ks = found["protocol"]["k"]
    deepest = f"recall@{ks[-1]}"
    for pool in _values(entries, "pool"):
        mine = [entry for entry in entries if entry["pool"] == pool]
        if len(ks) > 1:
            lines = _lines(_largest(mine), lambda own: _over_k(own, ks))
            yield curves(f"{pool}: recall over K", lines, ("K", "recall@K"))
        if len({entry["tools"] for entry in mine}) > 1:
            title = f"{pool}: {deepest} over the size of the pool"
            yield curves(
                title, _lines(mine, lambda own: _over_size(own, deepest)), ("tools", deepest)
            )


@dataclass(frozen=True)
class _Losses:
    """What a retriever ranks among the first K of a whole pool, and what it does not."""

    found: set[str]
    """Queries with a relevant tool among the first."""
    failed: dict[str, tuple[str, str, list[str]]]
    """Query without one to its text, its task and the tools that were found first."""
    lost: Counter[str]
    """Relevant tool to the queries for which it is not among the first."""
    relevant: Mapping[str, set[str]]
    """Query to the tools that it needs."""


def _losses(place: Path, deepest: int) -> _Losses | None:
    """Return what the rankings in a folder lose; None where they are not all there."""
    relevant = _relevant(place / "qrels.trec")
    if not relevant or not (place / "rankings.jsonl").is_file():
        return None
    losses = _Losses(set(), {}, Counter(), relevant)
    for ranking in Tail(place / "rankings.jsonl", Ranking).read():
        query = query_id((ranking.task_id, ranking.goal))
        wanted = relevant.get(query, set())
        lost = wanted - {trec_word(tool) for tool, _ in islice(ranking.hits, deepest)}
        losses.lost.update(lost)
        if lost != wanted:
            losses.found.add(query)
        elif wanted:
            first = [tool for tool, _ in ranking.hits[: min(FOUND, deepest)]]
            losses.failed[query] = ranking.query, ranking.task_id, first
    return losses


def _lost_parts(found: Mapping[str, Any], folder: Path) -> Iterator[Part]:
    """Yield what is lost in each whole pool whose rankings are there."""
    for pool, by_retriever in _losses_by_pool(found, folder).items():
        yield from _lost_tables(pool, by_retriever, found["protocol"]["k"][-1], FAILED)
        for retriever, losses in by_retriever.items():
            yield _failed(f"{pool}, {retriever}", losses, by_retriever)


def lost_tables(found: Mapping[str, Any], folder: Path | None) -> Iterator[Grid | str]:
    """Yield for a terminal which tools are lost most, and where a reader finds the others.

    Args:
        found: Of results.json.
        folder: Where it lies, with the rankings; None: they were not written.
    """
    if folder is None:
        yield "--out DIR keeps the rankings, and tells which tools each retriever loses"
        return
    for pool, by_retriever in _losses_by_pool(found, folder).items():
        yield from _lost_tables(pool, by_retriever, found["protocol"]["k"][-1], _LOST)
    yield f"all tools lost, and the queries that failed: seal serve {shlex.quote(str(folder))}"


def _losses_by_pool(found: Mapping[str, Any], folder: Path) -> dict[str, dict[str, _Losses]]:
    pools: dict[str, dict[str, _Losses]] = {}
    for (pool, retriever), name in ranking_folders(found).items():
        if losses := _losses(folder / name, found["protocol"]["k"][-1]):
            pools.setdefault(pool, {})[retriever] = losses
    return pools


def _lost_tables(
    pool: str, found: Mapping[str, _Losses], deepest: int, most: int
) -> Iterator[Grid | str]:
    yield from _lost_tools(pool, found, deepest, most)
    if len(found) > 1:
        yield _parted(pool, found)


def _lost_tools(
    pool: str, found: Mapping[str, _Losses], deepest: int, most: int
) -> Iterator[Grid | str]:
    """Yield for each tool that a retriever loses how many queries need it and do not find it."""
    needing = {query: tools for it in found.values() for query, tools in it.relevant.items()}
    needed = Counter(tool for tools in needing.values() for tool in tools)
    worst = {tool: max(it.lost[tool] for it in found.values()) for tool in needed}
    order = sorted((tool for tool in worst if worst[tool]), key=lambda it: (-worst[it], it))
    rows = [
        (printable(tool), str(needed[tool]), *(str(it.lost[tool]) for it in found.values()))
        for tool in order[:most]
    ]
    title = f"{pool}: queries that need a tool, and those that lose it from the first {deepest}"
    if rows:
        yield Grid(title, ("tool", "needed", *found), rows)
    if len(order) > most:
        yield f"and {counted(len(order) - most, 'tool')} more, in rankings.jsonl and qrels.trec"


def _parted(pool: str, found: Mapping[str, _Losses]) -> Grid:
    """Return how many queries one retriever finds and another loses."""
    rows = [
        (name, *(str(len(mine.found & theirs.failed.keys())) for theirs in found.values()))
        for name, mine in found.items()
    ]
    title = f"{pool}: queries that the retriever of the row finds and that of the column loses"
    return Grid(title, ("finds", *(f"{name} loses" for name in found)), rows)


def _failed(name: str, losses: _Losses, others: Mapping[str, _Losses]) -> Fold:
    """Return the queries that a retriever loses; first come those that another one finds."""
    finders = {
        query: [other for other, theirs in others.items() if query in theirs.found]
        for query in losses.failed
    }
    shown = []
    for query in sorted(losses.failed, key=lambda query: not finders[query])[:FAILED]:
        text, task, first = losses.failed[query]
        tools = map(_codes, (sorted(losses.relevant[query]), first))
        shown.append(_FAILED.format(*map(printable, (text, task)), *tools))
        if finders[query]:
            shown[-1] += _FINDERS.format(printable(", ".join(finders[query])))
    failed = len(losses.failed)
    title = f"{name}: {failed} of {failed + len(losses.found)}"
    return Fold(title, shown, failed, "rankings.jsonl")


def _codes(tools: Iterable[str]) -> Markup:
    return Markup(" ").join(
        Markup('<code dir="auto">{}</code>').format(printable(it)) for it in tools
    )


def _relevant(path: Path) -> dict[str, set[str]]:
    """Return the relevant tools of each query of a qrels file; empty where there is none."""
    found: dict[str, set[str]] = {}
    if path.is_file():
        for number, line in enumerate(content_of(path).decode("utf-8", "replace").splitlines(), 1):
            try:
                query, _, tool, grade = line.split()
            except ValueError:
                raise DataError(
                    f"{path}, line {number}: expected query, 0, tool and grade, got {line!r:.100}; "
                    "run the experiment again"
                ) from None
            if grade != "0":
                found.setdefault(query, set()).add(tool)
    return found
