"""The figures as a Markdown page, and as JSON."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from typing import Any

import seal
from offline_recall.figures import Figure, Grid
from offline_recall.pools import GRID, SOURCES, Pools
from offline_recall.retrievers import RETRIEVERS, K, Wanted


def markdown(wanted: Sequence[tuple[Wanted, Figure]], grid: Grid, pools: Pools) -> str:
    """Return all figures as a Markdown page."""
    lines = [
        "# Recall of the offline retrievers",
        "",
        f"Written by `perf/recall.py`. Recall@{K} is the mean over all queries with its 95 % "
        "interval; of drawn pools it is the mean of the samples. Nothing is trained on these "
        "benchmarks, but kind, weight and template were chosen by their queries. MiniLM is "
        "all-MiniLM-L6-v2. Every retriever stands as `seal retrieve --retriever` takes it.",
        "",
        "| pool | pool size | tools | queries | wanted | ours | retriever | template | digest |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for goal, found in wanted:
        cells = (
            found.pool,
            found.size if found.samples == 1 else f"{found.size}, {found.samples} samples",
            found.tools,
            f"{found.queries:,.0f}",
            "" if goal.recall is None else f"{goal.recall:.2f}",
            as_text(found),
            f"`{found.retriever}`",
            templates(found),
            f"`{found.digest[:12]}`",
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += [
        "",
        "BFCL: the documents of one function name are one tool, the first stands for all. By "
        "content each different document is a tool, and only the request's own one counts: many "
        "differ by a few words alone.",
        "",
        "## All pools, four retrievers",
        "",
        *grid_lines(grid),
    ]
    lines += [f"- {name} is absent: {reason}" for name, reason in pools.absent.items()]
    return "\n".join(lines) + "\n"


def grid_lines(grid: Grid) -> Iterator[str]:
    """Yield the table of the grid, and what it took."""
    yield (
        "recall@10 / mrr@10; in brackets what an earlier program of another author measured on the "
        "same files. There MetaTool single is a sample of 3,000 queries, here it is all of them."
    )
    yield ""
    yield f"| pool | tools | queries | {' | '.join(RETRIEVERS)} |"
    yield "|---|---|---|---|---|---|---|"
    for name in GRID:
        row = [figure for figure in grid.figures if figure.pool == name]
        if not row:
            continue
        cells = [
            beside(figure, earlier)
            for figure, earlier in zip(row, SOURCES[name].earlier, strict=True)
        ]
        yield f"| {name} | {row[0].tools:,} | {row[0].queries:,.0f} | {' | '.join(cells)} |"
    yield ""
    yield f"- {' '.join(f'{name}: `{text}`;' for name, text in RETRIEVERS.items())}"
    yield (
        f"- Measured in {grid.seconds:.0f} s with the embeddings kept, beside whatever else the "
        f"machine did; {grid.cpu_seconds:.0f} s of them are processor time. Wanted: 180 s on two "
        "cores."
    )
    if grid.pytrec_difference is not None:
        yield (
            "- pytrec_eval over the TREC files of the same rankings: the largest difference of a "
            f"mean is {grid.pytrec_difference:.1e}; wanted: at most 1e-9."
        )


def beside(figure: Figure, earlier: tuple[float, float]) -> str:
    """Return our recall and mrr with the earlier ones in brackets."""
    if figure.recall is None or figure.mrr is None:
        return f"unavailable: {figure.unavailable}"
    ours = f"{figure.recall['mean']:.3f} / {figure.mrr['mean']:.3f}"
    return f"{ours} ({earlier[0]:.3f} / {earlier[1]:.3f})"


def templates(figure: Figure) -> str:
    """Return the document template; of a hybrid whose parts differ, that of each."""
    of_each = [figure.options.get(f"{part}.template") for part in (1, 2)]
    shared = figure.template or ""
    return ", ".join(one or shared for one in of_each) if any(of_each) else shared


def as_text(figure: Figure) -> str:
    """Return recall and its interval, else why there is none."""
    if figure.recall is None:
        return f"unavailable: {figure.unavailable}"
    return "{mean:.3f} [{low:.3f}, {high:.3f}]".format(**figure.recall)


def content(wanted: Sequence[tuple[Wanted, Figure]], grid: Grid, pools: Pools) -> dict[str, Any]:
    """Return everything that was measured, for the JSON file."""
    return {
        "k": K,
        "versions": {"seal": seal.__version__, "python": platform.python_version()},
        "cores": os.cpu_count(),
        "wanted": [{"wanted": goal.recall, **found._asdict()} for goal, found in wanted],
        "grid": {
            "seconds": round(grid.seconds, 1),
            "cpu_seconds": round(grid.cpu_seconds, 1),
            "pytrec_difference": grid.pytrec_difference,
            "results": [
                {**figure._asdict(), "earlier": dict(zip(("recall", "mrr"), earlier, strict=True))}
                for figure, earlier in zip(grid.figures, earlier_of(grid), strict=True)
            ],
        },
        "absent": pools.absent,
    }


def earlier_of(grid: Grid) -> Iterator[tuple[float, float]]:
    """Yield the earlier figures of each figure of the grid."""
    texts = list(RETRIEVERS.values())
    for figure in grid.figures:
        yield SOURCES[figure.pool].earlier[texts.index(figure.retriever)]
