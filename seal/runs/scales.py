"""What the scores of a run mean, as its summary keeps it and as installed metrics declare it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from seal.core import Scale
from seal.core.records import from_plain
from seal.evaluation.goals import RATE
from seal.pools.benchmark import Benchmark, part_of

if TYPE_CHECKING:
    from seal.runs.run_folder import RunFolder

SCALES = "scales"
"""Part of summary.json and comparison.json: name of a score to how its `Scale` differs from that of
a rate; names of rates are left out."""


def scales_of(runs: Iterable[RunFolder]) -> dict[str, Scale]:
    """Return what the scores of runs mean, by name; those of other names are rates."""
    return {name: scale for run in runs for name, scale in run.scales().items()}


def plain_scales(scales: Mapping[str, Scale], names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the scales of some scores as JSON (`SCALES`)."""
    rate = asdict(RATE)
    return {
        name: {part: said for part, said in asdict(scales[name]).items() if said != rate[part]}
        for name in names
        if scales.get(name, RATE) != RATE
    }


def kept_scales(content: Mapping[str, Any]) -> dict[str, Scale] | None:
    """Return the scales that a file keeps (`SCALES`); None: it is of a version without them.

    Raises:
        DataError: One of them is no scale.
    """
    found = content.get(SCALES)
    if found is None:
        return None
    return {name: from_plain(told, Scale) for name, told in found.items()}


def installed_scales(benchmark: Benchmark | None) -> dict[str, Scale]:
    """Return the scales of the metrics of every run, and of those that a benchmark brings."""
    # Of runs of older versions alone: others do not load every metric.
    from seal.evaluation import REGISTRY as METRICS
    from seal.evaluation.rule_judge import RuleJudge
    from seal.evaluation.rules import Rules
    from seal.evaluation.scoring import USUAL_SCALES, Scoring, build_metrics, scales_of

    found = dict(USUAL_SCALES)
    if benchmark is not None:
        measures = part_of(benchmark, "measures")
        by_rule = Scoring(lambda task, trial: RuleJudge(), Rules())
        further = () if measures is None else measures(by_rule)
        found |= scales_of((*build_metrics(benchmark.metrics, METRICS), *further))
    return found
