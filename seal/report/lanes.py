"""The runs that a report sets side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from seal.core.errors import UsageError
from seal.runs.run_folder import RunFolder

RUN_COLOURS = 6


@dataclass(frozen=True, slots=True)
class Lane:
    """One column of a report: a run, or a baseline of it."""

    kind: Literal["floor", "run", "ceiling"]
    label: str
    """Unique in a report."""
    colour: str
    """Class of the style sheet: floor, ceiling, run-0 ... run-5."""
    run: RunFolder
    summary: dict[str, Any]
    """summary.json."""

    @property
    def metrics(self) -> dict[str, dict[str, Any]]:
        """Metric name to its mean, interval and groups."""
        found: dict[str, dict[str, Any]] = self.summary.get("metrics", {})
        return found


def lanes_of(runs: Sequence[RunFolder]) -> list[Lane]:
    """Return floor, the runs in their order, and ceiling.

    The baselines are those of the first run that has them: runs worth comparing share them.

    Raises:
        UsageError: No run at all.
        DataError: A run has not been scored.
    """
    if not runs:
        raise UsageError("no run to report on; give at least one run folder")
    labels = _labels(runs)
    lanes = [
        Lane("run", label, f"run-{position % RUN_COLOURS}", run, run.summary())
        for position, (label, run) in enumerate(zip(labels, runs, strict=True))
    ]
    baselines = next((found for run in runs if (found := run.baselines())), {})
    if "floor" in baselines:
        lanes.insert(0, _baseline("floor", baselines["floor"]))
    if "ceiling" in baselines:
        lanes.append(_baseline("ceiling", baselines["ceiling"]))
    return lanes


def measure_differences(runs: Sequence[RunFolder]) -> list[str]:
    """Return the names of what the runs measured differently; empty where they can be compared."""
    measures = [run.manifest().get("measure") or {} for run in runs]
    names = sorted({name for measure in measures for name in measure})
    return [name for name in names if any(m.get(name) != measures[0].get(name) for m in measures)]


def model_name(run: RunFolder) -> str:
    """Return the model that a run was played with, as its run.json names it."""
    model = (run.manifest().get("system") or {}).get("model")
    named = model.get("model") if isinstance(model, dict) else model
    return str(named or run.path.name)


def _baseline(kind: Literal["floor", "ceiling"], run: RunFolder) -> Lane:
    return Lane(kind, kind, kind, run, run.summary())


def _labels(runs: Sequence[RunFolder]) -> list[str]:
    models = [model_name(run) for run in runs]
    if len(set(models)) == len(models):
        return models
    named = [
        f"{model} ({run.path.resolve().name})" for model, run in zip(models, runs, strict=True)
    ]
    if len(set(named)) == len(named):
        return named
    return [f"{label} #{position}" for position, label in enumerate(named, 1)]
