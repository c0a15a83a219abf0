"""Run folders compared: every two of them, in every metric."""

from __future__ import annotations

import filecmp
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from seal.core import DataError, UsageError
from seal.experiments.comparison.clusters import clusters_of
from seal.experiments.comparison.pairs import Side
from seal.pools.importer import TASKS
from seal.runs.run_folder import RunFolder
from seal.runs.score_table import read_scores
from seal.runs.settings import GROWING
from seal.runs.wholeness import check_whole


def side_of(name: str, run: RunFolder, clusters: Mapping[str, str] | None = None) -> Side:
    """Return a run as one side of a comparison.

    Args:
        name: Of the run.
        run: Its folder.
        clusters: Of its tasks, where they are known; None: they are read.

    Raises:
        DataError: The run is not scored, or a file is damaged.
    """
    return Side(name, read_scores(run.scores_path), clusters or clusters_of(run))


def sides_of(runs: Mapping[str, RunFolder]) -> dict[str, Side]:
    """Return runs, each by its name, as sides of comparisons; runs of the same tasks share theirs.

    Raises:
        DataError: As for `side_of`.
    """
    clusters = shared_clusters(runs)
    return {name: side_of(name, run, clusters[name]) for name, run in runs.items()}


def shared_clusters(runs: Mapping[str, RunFolder]) -> dict[str, Mapping[str, str]]:
    """Return the clusters of each run's tasks (`clusters_of`); runs of the same tasks share theirs.

    Raises:
        DataError: A tasks.jsonl is damaged.
    """
    found: dict[str, Mapping[str, str]] = {}
    for name, run in runs.items():
        twins = (known for other, known in found.items() if _same_file(runs[other], run, TASKS))
        found[name] = next(twins, {}) or clusters_of(run)
    return found


def _same_file(one: RunFolder, other: RunFolder, file: str) -> bool:
    try:
        return filecmp.cmp(one.path / file, other.path / file, shallow=False)
    except OSError:
        return False  # who reads them names the fault


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
                said = f"{part} is {was!r} and {now!r}"
                if part == "pool_digest":
                    same = _same_file(runs[first], runs[name], "tools.jsonl")
                    said = f"the {'tasks' if same else 'tools'} of their pools differ"
                yield f"{first} and {name} measure otherwise: {said}"


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
        DataError: A folder holds no run, or files of it were cut.
    """
    parts = [path.resolve().parts for path in paths]
    for place, path in enumerate(paths):
        if parts[place] in parts[:place]:
            raise UsageError(f"{path} stands there twice; give another run to compare it with")
    runs = [RunFolder.open(path) for path in paths]
    for run in runs:
        check_whole(run)
    most = max(map(len, parts), default=1)
    for depth in range(1, most + 1):
        names = ["/".join(part[-depth:]) for part in parts]
        if len(set(names)) == len(names):
            break
    return dict(zip(names, runs, strict=True)) if runs else {}
