"""From finished runs to a sweep's rows, and to means over samples with their intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from seal.core.canonical import derive_seed
from seal.evaluation.comparison import mean_and_deviation
from seal.evaluation.statistics import kind_of_reason
from seal.experiments.retrieval.summary import estimated, rounded
from seal.experiments.series import metrics_of
from seal.pools.samples import PoolSample
from seal.runs.run_folder import RunFolder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Played:
    """One finished run of a sweep."""

    size: int
    sample: int
    top_k: int
    queries: int
    """Goals that were asked."""
    name: str
    """Of the run's folder in the sweep's."""
    folder: RunFolder

    @classmethod
    def of(cls, drawn: PoolSample, top_k: int, name: str, folder: RunFolder) -> Played:
        """Return the run of a drawn pool."""
        queries = sum(len(task.goals) for task in drawn.tasks)
        return cls(drawn.size, drawn.sample, top_k, queries, name, folder)


def rows_of(played: Sequence[Played]) -> list[dict[str, Any]]:
    """Return a row for each run: what summary.json says, without its groups."""
    return [_row(run) for run in played]


def _row(run: Played) -> dict[str, Any]:
    summary = run.folder.summary()
    return {
        "size": run.size,
        "sample": run.sample,
        "top_k": run.top_k,
        "run": run.name,
        "pool_digest": run.folder.manifest()["measure"]["pool_digest"],
        "tasks": summary["tasks"],
        "queries": run.queries,
        "errors": summary["errors"],
        "skipped": summary["skipped"],
        "metrics": metrics_of(summary),
    }


def results_of(played: Sequence[Played], digest: str, seed: int) -> list[dict[str, Any]]:
    """Return the figures of all samples of a size and K together.

    Args:
        played: Of one size and K side by side.
        digest: Of the large pool; the intervals depend on it, the seed, and the size.
        seed: Of the run.

    Returns:
        For each size and K {size, top_k, samples, queries, queries_deviation, errors, metrics:
        {name: {mean, deviation, n, undefined, low, high, samples, reasons?}}}. `mean` is that of
        the samples' means and `deviation` theirs by n - 1 (None for one sample); `low` and `high`
        are the 95 % bootstrap interval over tasks, of which all scores in all samples are drawn
        together; `samples` are those that have a value, `reasons` count the kinds of
        reason why others have none.
    """
    return [
        _result(list(group), derive_seed(seed, "sweep", digest, size))
        for (size, _), group in groupby(played, key=lambda run: (run.size, run.top_k))
    ]


def _result(group: Sequence[Played], seed: int) -> dict[str, Any]:
    queries = mean_and_deviation([run.queries for run in group])
    return {
        "size": group[0].size,
        "top_k": group[0].top_k,
        "samples": len(group),
        "queries": rounded(queries.mean),
        "queries_deviation": rounded(queries.deviation),
        "errors": sum(run.folder.summary()["errors"] for run in group),
        "metrics": _Table(group).estimates(seed),
    }


class _Table:
    """The scores of several samples: a row a task, trial and goal of a sample, a column a metric.

    Args:
        group: Runs of one size and K.
    """

    def __init__(self, group: Sequence[Played]) -> None:
        import numpy as np

        self._reasons: dict[str, Counter[str]] = {}
        columns: dict[str, int] = {}
        rows: dict[tuple[int, str, int, int], int] = {}
        cells: list[tuple[int, int, float]] = []
        for sample, run in enumerate(group):
            for score in run.folder.scores():
                row = rows.setdefault((sample, score.task_id, score.trial, score.goal), len(rows))
                column = columns.setdefault(score.metric, len(columns))
                reasons = self._reasons.setdefault(score.metric, Counter())
                if score.value is None:
                    reasons[kind_of_reason(score.reason)] += 1
                else:
                    cells.append((row, column, score.value))
        self._samples = np.asarray([sample for sample, *_ in rows], dtype=np.int64)
        self._tasks = np.asarray([task for _, task, *_ in rows])
        self._values: Floats = np.full((len(rows), len(columns)), np.nan)
        for row, column, value in cells:
            self._values[row, column] = value

    def estimates(self, seed: int) -> dict[str, dict[str, Any]]:
        """Return {metric: {mean, deviation, n, undefined, low, high, samples, reasons?}}."""
        found: dict[str, dict[str, Any]] = {}
        for columns, defined in self._alike():
            found |= self._estimated(columns, defined, seed)
        return {name: found[name] for name in self._reasons}

    def _alike(self) -> Iterator[tuple[list[int], Any]]:
        """Yield metrics that are defined in the same rows, which one resampling serves."""
        import numpy as np

        defined = ~np.isnan(self._values)
        alike: dict[bytes, list[int]] = {}
        for column in range(defined.shape[1]):
            alike.setdefault(defined[:, column].tobytes(), []).append(column)
        for columns in alike.values():
            yield columns, defined[:, columns[0]]

    def _estimated(self, columns: list[int], defined: Any, seed: int) -> dict[str, dict[str, Any]]:
        import numpy as np

        samples = self._samples[defined]
        values = self._values[defined][:, columns]
        names = list(self._reasons)
        more = {"samples": len(np.unique(samples))}
        found = estimated(values, samples, self._tasks[defined], seed)
        return {
            name: {**each, **more, **self._undefined(name)}
            for name, each in zip((names[column] for column in columns), found, strict=True)
        }

    def _undefined(self, metric: str) -> dict[str, Any]:
        reasons = self._reasons[metric]
        counted = {"reasons": dict(sorted(reasons.items()))} if reasons else {}
        return {"undefined": reasons.total(), **counted}
