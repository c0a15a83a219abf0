"""The page that lists runs: of a server, and the leaderboard of a site."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from seal.report.pages import Bar, BarGroup, forest, render
from seal.report.run_facts import RunFacts, cost_chart, labels_of


def list_page(
    title: str,
    runs: Sequence[RunFacts],
    address: Callable[[RunFacts], str],
    experiments: Mapping[str, str],
    **how: Any,
) -> str:
    """Return a page with a table of runs and charts of each benchmark.

    Args:
        title: Of the page.
        runs: In the order of the table.
        address: Of a run's page.
        experiments: Name of an experiment in retrieval to the address of its page.
        **how: Style and script (`pages.inline`, `pages.linked`); `choose` says whether runs can be
            chosen to stand side by side.
    """
    scored = [run for run in runs if run.headline.mean is not None]
    benchmarks = dict.fromkeys(run.benchmark for run in scored)
    charts = [
        chart
        for benchmark in benchmarks
        for chart in _charts(benchmark, [run for run in scored if run.benchmark == benchmark])
    ]
    return render(
        "runs.html",
        title=title,
        runs=[(run, address(run)) for run in runs],
        chosen={name: sorted({getattr(run, name) for run in runs}) for name in _FILTERS},
        columns=_COLUMNS,
        charts=charts,
        experiments=experiments,
        **how,
    )


_FILTERS = ("benchmark", "model", "state")
_COLUMNS = (
    ("run", False),
    ("benchmark", False),
    ("model", False),
    ("headline", True),
    ("floor to ceiling", True),
    ("tasks", True),
    ("errors", True),
    ("cost", True),
    ("played", False),
)
"""Heading, and whether the largest stands first when a reader sorts by it."""
_MOST = 20
"""Runs of one chart."""


def _charts(benchmark: str, runs: Sequence[RunFacts]) -> list[Any]:
    """Return the runs of a benchmark by score, and what they cost; nothing of one run alone."""
    if len(runs) < 2 or len({run.metric for run in runs}) > 1:
        return []
    scale = runs[0].scale
    if not scale.bounded:
        return []
    way = 1 if scale.higher_is_better is False else -1
    ranked = sorted(runs, key=lambda run: way * float(run.headline))[:_MOST]
    labels = labels_of(ranked)
    groups = [BarGroup(name, (_bar(run),)) for name, run in zip(labels, ranked, strict=True)]
    title = (
        f"{benchmark}: {ranked[0].metric}, mean with 95 % interval; behind it from floor to ceiling"
    )
    costs = cost_chart(ranked)
    return [forest(title, groups), *([] if costs is None else [costs])]


def _bar(run: RunFacts) -> Bar:
    ends = (run.floor, run.ceiling)
    band = None if ends[0] is None or ends[1] is None else (ends[0], ends[1])
    return Bar(run.name, "run-0", run.headline.mean, run.headline.low, run.headline.high, band)
