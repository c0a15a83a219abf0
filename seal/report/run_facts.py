"""What a run is in one line: for lists of runs, and for the head of a run's page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

from markupsafe import Markup

from seal.core import DataError, Scale
from seal.core.text import counted
from seal.evaluation.goals import RATE
from seal.report.grids import Estimate
from seal.report.lanes import headline_of, main_metrics, model_name
from seal.runs.costs import Prices, dollars_of, read_ledger
from seal.runs.journal import timings_of
from seal.runs.run import MANIFEST, RunFolder

_NOTHING = Estimate(None)
_NONE_KEPT = {"kept": 0, "kept_in": 0, "kept_out": 0}
"""summary.json counts answers that were kept as if their model had given them."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """One run in short."""

    name: str
    """Its folder as seen from the one that was looked through; `/` stands between folders."""
    run: RunFolder
    benchmark: str = ""
    model: str = ""
    judge: str = ""
    simulator: str = ""
    version: str = ""
    """Of SEAL."""
    played: str = ""
    """When its first chat began, in UTC: `2026-11-27 00:56`."""
    state: str = "not scored"
    """scored, not scored, or damaged."""
    tasks: int = 0
    errors: int = 0
    tokens: int = 0
    dollars: float | None = None
    """None: a model has no price."""
    metric: str = ""
    """The first of its short table that has a value; empty: there is none."""
    scale: Scale = RATE
    """Of this metric."""
    headline: Estimate = _NOTHING
    floor: float | None = None
    ceiling: float | None = None
    damage: str = ""
    """Why it cannot be read; empty where it can."""

    @property
    def cost(self) -> str:
        """Dollars, else tokens."""
        if self.dollars:
            return f"${self.dollars:,.2f}" if self.dollars >= 0.01 else f"${self.dollars:,.4f}"
        return counted(self.tokens, "token") if self.tokens else "nothing"

    def told(self) -> list[tuple[str, str]]:
        """Return name and value of each fact that is known, for a page's head."""
        found = [
            ("benchmark", self.benchmark),
            ("model", self.model),
            ("judge", self.judge),
            ("simulator", self.simulator),
            ("played", self.played and f"{self.played} UTC"),
            ("SEAL", self.version),
            ("cost", self.cost if self.state == "scored" else ""),
            ("tasks", f"{self.tasks:,}" if self.state == "scored" else ""),
            ("errors", f"{self.errors:,}" if self.errors else ""),
        ]
        return [(name, value) for name, value in found if value]


def labels_of(runs: Sequence[RunFacts]) -> list[str]:
    """Return the models of runs, with the run's name where several have one model."""
    counts = Counter(run.model for run in runs)
    return [run.model if counts[run.model] == 1 else f"{run.model} ({run.name})" for run in runs]


def cost_chart(runs: Iterable[RunFacts]) -> Markup | None:
    """Draw what runs cost against their first metric; None where fewer than two can be drawn.

    The cost is in dollars where every run has a price, else in tokens.
    """
    shown = [run for run in runs if run.headline.mean is not None and run.tokens]
    alike = len({run.metric for run in shown}) == 1
    if len(shown) < 2 or not alike or not all(run.scale.bounded for run in shown):
        return None
    from seal.report.charts import Curve, Point, curves

    priced = all(run.dollars for run in shown)
    costs = [(run.dollars or 0.0) if priced else run.tokens for run in shown]
    drawn = [
        Curve(label, [Point(cost, float(run.headline), run.headline.low, run.headline.high)])
        for label, run, cost in zip(labels_of(shown), shown, costs, strict=True)
    ]
    what = "cost in dollars" if priced else "tokens"
    return curves(f"Cost against score, {shown[0].metric}", drawn, (what, shown[0].metric))


def facts_of(run: RunFolder, name: str = "") -> RunFacts:
    """Return a run in short; `state` tells if it is damaged.

    Args:
        run: Its folder.
        name: What it is called; empty: the folder's path.
    """
    name = name or str(run.path)
    try:
        return RunFacts(name, run, **_begun(run), **_scored(run))
    except DataError as error:
        return RunFacts(name, run, played=_played(run), state="damaged", damage=str(error))


def _begun(run: RunFolder) -> dict[str, Any]:
    manifest = run.manifest()
    measure, system = (manifest.get(part) or {} for part in ("measure", "system"))
    return {
        "benchmark": run.pool_name,
        "model": model_name(run),
        "judge": _identity(measure, "judge"),
        "simulator": _identity(measure, "simulator"),
        "version": str((system.get("versions") or {}).get("seal-api-llms") or ""),
        "played": _played(run),
    }


def _identity(measure: Mapping[str, Any], part: str) -> str:
    found = measure.get(part)
    return str(found.get(part) or "") if isinstance(found, dict) else str(found or "")


def _played(run: RunFolder) -> str:
    try:
        first = next(timings_of(run.path / "timings.jsonl"))
        began = datetime.fromtimestamp(first["started"], UTC)
    except (StopIteration, DataError, OSError, ValueError, LookupError, TypeError, OverflowError):
        began = datetime.fromtimestamp((run.path / MANIFEST).stat().st_mtime, UTC)
    return f"{began:%Y-%m-%d %H:%M}"


def _scored(run: RunFolder) -> dict[str, Any]:
    if not run.is_scored:
        return {}
    summary = run.summary()
    metrics, usage = summary["metrics"], summary.get("usage") or {}
    scales = run.scales()
    main = main_metrics([metrics], headline_of([run]), scales)
    valued = (name for name in main if metrics.get(name, {}).get("mean") is not None)
    metric = next(valued, next(iter(main), ""))
    baselines = {
        name: Estimate.of(other.summary()["metrics"].get(metric)).mean
        for name, other in run.baselines().items()
    }
    return {
        "state": "scored",
        "tasks": summary.get("tasks", 0),
        "errors": summary.get("errors", 0),
        "tokens": (usage.get("tokens_in") or 0) + (usage.get("tokens_out") or 0),
        "dollars": _dollars(usage),
        "metric": metric,
        "scale": scales.get(metric, RATE),
        "headline": Estimate.of(metrics.get(metric)),
        **baselines,
    }


def _dollars(usage: Mapping[str, Any]) -> float | None:
    """Return what the models' tokens cost; None where one has no price.

    Raises:
        DataError: The counts of the models are none.
    """
    try:
        told = [_NONE_KEPT | row for row in usage.get("roles") or ()]
        return dollars_of(read_ledger(told), _prices())
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(
            f"the counts of its models, `usage.roles` of summary.json, are damaged: {error!r:.100};"
            " write them anew with `seal score`"
        ) from error


@cache
def _prices() -> Prices:
    return Prices.load()
