"""Run folders compared: every two of them, in every metric."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from seal.core.errors import DataError, UsageError
from seal.experiments.clusters import clusters_of
from seal.experiments.comparison.pairs import RESAMPLES, Side, compare
from seal.experiments.comparison.scores import read_scores
from seal.runs.identity import GROWING
from seal.runs.run_folder import RunFolder


def side_of(name: str, run: RunFolder) -> Side:
    """Return a run as one side of a comparison.

    Raises:
        DataError: The run is not scored, or a file is damaged.
    """
    return Side(name, read_scores(run.scores_path), clusters_of(run.path / "tasks.jsonl"))


def compare_runs(
    runs: Mapping[str, RunFolder],
    seed: int = 0,
    resamples: int = RESAMPLES,
    metrics: Sequence[str] | None = None,
    family: Collection[str] | None = None,
) -> list[dict[str, Any]]:
    """Return the paired differences of every two runs, of the one named first less the other.

    Args:
        runs: Name to run; two or more.
        seed: Of the intervals and tests.
        resamples: Of each of them.
        metrics: Those to compare; None: all that the runs have.
        family: Metrics over which p is corrected (`pairs.compare`); None: all.

    Returns:
        Entries as of `pairs.compare`.

    Raises:
        UsageError: Fewer than two runs, or two of them have no task in common.
        DataError: A run is not scored, or a file is damaged.
    """
    if len(runs) < 2:
        named = ", ".join(runs) or "none"
        raise UsageError(f"a comparison needs at least two runs, got {named}: name another one")
    sides = [side_of(name, run) for name, run in runs.items()]
    found = []
    for one, other in combinations(sides, 2):
        if not one.scores.rows.keys() & other.scores.rows.keys():
            raise UsageError(
                f"{one.name} and {other.name} have no task and trial in common: "
                "compare runs of one benchmark"
            )
        found += compare(one, other, seed, resamples, metrics, family=family)
    return found


def differing(runs: Mapping[str, RunFolder], expected: Sequence[str] = ()) -> Iterator[str]:
    """Yield a sentence for each part of what is measured in which a run differs from the first.

    Args:
        runs: Name to run.
        expected: Parts that are meant to differ.

    Raises:
        DataError: A run.json says nothing of what was measured.
    """
    measures = {name: _measure(run) for name, run in runs.items()}
    first = next(iter(measures))
    for name, measure in measures.items():
        for part in sorted({*measures[first], *measure} - {*GROWING, *expected}):
            was, now = measures[first].get(part), measure.get(part)
            if was != now:
                yield f"{first} and {name} measure otherwise: {part} is {was!r} and {now!r}"


def _measure(run: RunFolder) -> Mapping[str, Any]:
    measure = run.manifest().get("measure")
    if not isinstance(measure, Mapping):
        raise DataError(
            f"{run.path / 'run.json'}: expected an object `measure`, got {type(measure).__name__}: "
            "give the path that `seal run` printed"
        )
    return measure


def named_runs(paths: Sequence[Path]) -> dict[str, RunFolder]:
    """Return the runs of folders by the shortest names that tell them apart.

    A name is the folder's own, with as many of the folders above it as all need.

    Raises:
        UsageError: A folder stands there twice.
        DataError: A folder holds no run.
    """
    parts = [path.resolve().parts for path in paths]
    for place, path in enumerate(paths):
        if parts[place] in parts[:place]:
            raise UsageError(f"{path} stands there twice: a run differs from itself in nothing")
    runs = [RunFolder.open(path) for path in paths]
    most = max(map(len, parts), default=1)
    for depth in range(1, most + 1):
        names = ["/".join(part[-depth:]) for part in parts]
        if len(set(names)) == len(names):
            break
    return dict(zip(names, runs, strict=True)) if runs else {}
