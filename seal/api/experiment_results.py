"""`Retrieval`, `Sweep`, `Explanation`, `RunPlan`, `Generated`: what experiments return."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seal.api.result import Document, Entries, Estimates, only, record
from seal.api.run_result import Run
from seal.core import DataError, UnknownKeyError
from seal.core.files import within
from seal.core.settings import checked_names
from seal.core.text import counted, one_line
from seal.experiments import retrieval, sweep
from seal.experiments.explanation import LONG as GOALS
from seal.experiments.retrieval import RESULTS
from seal.experiments.series import read_json
from seal.experiments.sweep import SWEEP
from seal.pools.imports import ImportReport
from seal.pools.lookup import Bench
from seal.report.experiments import (
    METRICS,
    explanation_tables,
    plan_grid,
    plan_tables,
    sweep_figures,
    sweep_tables,
    waterfall_figures,
)
from seal.report.explanation import lost_notes, waterfall
from seal.report.frames import framed, long_frame
from seal.report.grids import Cell, Columns, Estimate, Grid, fields, figure, grid_of
from seal.report.retrieval import remarks, retrieval_figures, retrieval_tables
from seal.report.table_forms import Glance

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from seal.experiments.settings import Size


# -- Results that are files of JSON: retrieval, sweeps, explanations, and plans of a run.


class Grouped(Document):
    """Figures of several settings: `found.of(...)["recall@10"].mean`."""

    @abstractmethod
    def of(self) -> Estimates:
        """Return the figures of the only setting."""

    def __getitem__(self, metric: str) -> Estimate:
        """Return a metric of the one result there is; of several, `of` chooses one.

        Raises:
            UnknownKeyError: No such metric; names the closest.
            UsageError: There are several results.
        """
        return self.of()[metric]


@dataclass(frozen=True)
class ExplainedStage:
    """The failed goals that one stage explains."""

    stage: str
    meaning: str
    goals: int
    left: int
    """Goals that no stage so far explains."""
    of_failed: float | None
    """Share of what the model failed; None: of an infrastructure's failure."""
    of_failed_low: float | None
    """Of its 95 % interval."""
    of_failed_high: float | None
    partly: int
    causes: Mapping[str, int] = field(hash=False)


@dataclass(frozen=True)
class LostTool:
    """A tool that the retriever did not find for goals that need it."""

    tool: str
    """Its id."""
    name: str
    lost: int
    needed: int
    """Goals that need it and for which a retriever was asked, solved or not."""


@dataclass(frozen=True, repr=False)
class Explanation(Document):
    """The first stage that explains each failed goal; `content` is that of explanation.json."""

    @cached_property
    def stages(self) -> tuple[ExplainedStage, ...]:
        """The waterfall, a row a stage, also those that explain nothing."""
        return tuple(record(ExplainedStage, row) for row in self.content["stages"])

    @cached_property
    def tools_lost(self) -> tuple[LostTool, ...]:
        """The tools that the retriever lost, those that most goals lost first."""
        return tuple(record(LostTool, row) for row in self.content["tools_lost"])

    @cached_property
    def frame(self) -> DataFrame:
        """The goals that are not solved as a pandas frame, one a row, as goals.csv has them.

        Raises:
            MissingExtraError: The extra `experiments` is not installed.
        """
        return long_frame(GOALS, self.content)

    def _glance(self) -> Glance:
        failed, goals = self.content["failed"], self.content["goals"]
        told = f"{failed} of {counted(goals, 'goal')} failed", *lost_notes(self.content)
        return Glance(waterfall(self.content), told)

    def _tables(self) -> Iterable[Any]:
        return explanation_tables(self.content)

    def _figures(self) -> Iterable[Figure]:
        return waterfall_figures(self.content).values()


@dataclass(frozen=True, repr=False)
class RunPlan(Document):
    """Chats, model calls, tokens and dollars of a run that was not played.

    `content` is as `seal.runs.cost_plan.plan` says.
    """

    @property
    def chats(self) -> int:
        """Tasks times trials, those of the baselines with them."""
        return int(self.content["chats"])

    @property
    def requests(self) -> int:
        """Model calls."""
        return int(self.content["requests"])

    @property
    def tokens_in(self) -> int:
        """Tokens that models would read."""
        return int(self.content["tokens_in"])

    @property
    def tokens_out(self) -> int:
        """Tokens that models would write."""
        return int(self.content["tokens_out"])

    @property
    def dollars(self) -> float:
        """What the models that have a price would cost; `unpriced` names the others."""
        return float(self.content["dollars"])

    @property
    def unpriced(self) -> list[str]:
        """Models without a price, which `dollars` leaves out."""
        return list(self.content["unpriced"])

    def _glance(self) -> Glance:
        chats = counted(self.chats, "chat")
        return Glance(plan_grid(self.content), (f"{chats}; nothing was asked",))

    def _tables(self) -> Iterable[Any]:
        return plan_tables(self.content)


def _file_of(path: str | PathLike[str], name: str, writer: str) -> Path:
    """Return the file of an experiment's folder that holds its results."""
    file = Path(path) / name
    if not file.is_file():
        raise DataError(f"{path} has no {name}: give a folder that `{writer}` wrote")
    return file


_REASON = 60
"""Characters of a reason in a row."""
_REMARKS = 6
"""Remarks below the short table; `content` has all."""


@dataclass(frozen=True, repr=False)
class RetrieverResult(Estimates):
    """What one retriever found in one pool, or in those drawn from it: `result["recall@10"]`."""

    pool: str
    size: Size
    """As asked for."""
    tools: int
    samples: int
    queries: float
    """Mean over the samples."""
    retriever: str
    metrics: Mapping[str, Mapping[str, Any]] = field(hash=False)
    """As results.json has them; empty where the retriever could not be asked."""
    identity: str = ""
    """What it was, as caches know it; empty where it could not be asked."""
    unavailable: str = ""
    """Why it could not be asked."""

    def __getitem__(self, metric: str) -> Estimate:
        """Return a metric.

        Raises:
            UnknownKeyError: No such metric, or none at all, with the reason.
        """
        if self.unavailable:
            cure = f"{self.retriever} could not be asked: {self.unavailable}"
            raise UnknownKeyError("metric", metric, (), cure=cure)
        return super().__getitem__(metric)

    def __repr__(self) -> str:
        """Return pool, size, retriever and metrics on one line."""
        told = ", ".join(f"{name} {self[name].value_text}" for name in self)
        return f"{self.pool} ({self.size}), {self.retriever}: {self.unavailable or told}"


@checked_names
@dataclass(frozen=True, repr=False)
class Retrieval(Grouped):
    """Retrievers over pools: `found.of(retriever="tfidf")["recall@10"].mean`.

    `content` is that of results.json:

    - results: for each pool, size and retriever {pool, pool_digest, size, tools, samples, queries,
      queries_deviation, retriever, identity, metrics: {name: {mean, deviation, n, low, high}},
      by_sample}. `mean` is the mean of the samples' means, and `deviation` is their standard
      deviation. `low` and `high` are the 95 % interval over tasks. Where a retriever
      could not be asked, `metrics` is empty and `unavailable` says why.
    - A metric of a whole pool also has `undefined`, the number of queries without relevant tools,
      and `by`, the same figures by group.
    - An entry of a trained model also has `in_source`: whether this is the pool of its training.
      There `training_queries` counts the queries that it was trained on.
    - comparisons: the paired difference between two retrievers, for each pool and size, in recall,
      mrr, ndcg, map and rprec at the largest K. Each has an interval and the probability of a
      randomisation test, alone and corrected by Holm over all comparisons of that metric.
    - protocol, versions, pools, retrievers, and notes on what was left out.
    """

    folder: Path | None = None
    """Where it is written; None: nowhere."""
    _queries: Sequence[Mapping[str, Any]] = field(default=(), hash=False, compare=False)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Retrieval:
        """Return the experiment of a folder that `seal.retrieve` wrote.

        Raises:
            DataError: The folder holds none, or its results.json is damaged.
        """
        file = _file_of(path, RESULTS, "seal retrieve")
        content = read_json(file, ("protocol", "results"), "experiment in retrieval")
        return cls(content, Path(path))

    @cached_property
    def results(self) -> tuple[RetrieverResult, ...]:
        """One for each pool, size and retriever."""
        return tuple(record(RetrieverResult, entry) for entry in self.content["results"])

    @cached_property
    def frame(self) -> DataFrame:
        """The figures as a pandas frame, one a row, as results.csv has them.

        pool, pool_digest, size, tools, sample (missing in the row of all samples together),
        retriever, identity, metric, value, deviation, low, high, n, queries, samples, unavailable.
        """
        return long_frame(retrieval.LONG, self.content)

    def per_query(self) -> DataFrame:
        """Return the metrics of each query of the whole pools as a pandas frame, one query a row.

        pool, retriever, task_id, goal, and each metric by its name, in [0, 1] but for tokens@K.

        Example:
            >>> import seal
            >>> found = seal.retrieve("sample", ["tfidf", "bm25"], k=10)
            >>> rows = found.per_query().pivot(
            ...     index=["task_id", "goal"], columns="retriever", values="recall@10"
            ... )
            >>> int((rows["tfidf"] > rows["bm25"]).sum()), len(rows)
            (10, 72)

        Raises:
            MissingExtraError: pandas is not installed.
        """
        written = () if self.folder is None else retrieval.queries_in(self.folder, self.content)
        rows = [*self._queries, *written]
        return framed(rows, list(rows[0]) if rows else ("pool", "retriever", "task_id", "goal"))

    def of(
        self, retriever: str | None = None, pool: str | None = None, size: Size | None = None
    ) -> RetrieverResult:
        """Return the one result of a retriever, pool and size; what is the only one may be None.

        Raises:
            UnknownKeyError: There is no such retriever, pool or size; names the closest.
            UsageError: Several results are of these.
        """
        return only(self.results, "results", retriever=retriever, pool=pool, size=size)

    def _glance(self) -> Glance:
        deepest = self.content["protocol"]["k"][-1]
        recall, mrr = f"recall@{deepest}", f"mrr@{deepest}"

        def first(found: RetrieverResult) -> str:
            return one_line(found.unavailable, _REASON) or _text(found.get(recall))

        columns: Columns = [
            *fields("retriever", "pool", "tools"),
            (recall, first),
            (mrr, lambda found: "" if found.unavailable else _text(found.get(mrr))),
        ]
        grid = grid_of("retrieval", columns, self.results)
        told = [
            one for entry in self.content["results"] for one in remarks(entry, entry["retriever"])
        ]
        return Glance(grid, [*self.content.get("notes", [])[:1], *told[:_REMARKS]])

    def _tables(self) -> Iterable[Any]:
        return retrieval_tables(self.content)

    def _figures(self) -> Iterable[Figure]:
        figures = retrieval_figures(self.content)
        order = ("recall_over_pool_size", "recall_over_k", "recall_over_pools")
        return [figures[name] for name in order if name in figures]


def _text(found: Estimate | None) -> str:
    return "" if found is None else f"{found.value_text} {found.interval_text}".rstrip()


@dataclass(frozen=True, repr=False)
class SweepPoint(Estimates):
    """The runs of one pool size and K together: `point["pass_rate"].mean`, `.deviation`."""

    size: int
    """Tools in the pool."""
    top_k: int
    """Tools that a chat was offered."""
    samples: int
    queries: float
    """Mean over the samples."""
    errors: int
    metrics: Mapping[str, Mapping[str, Any]] = field(hash=False)
    """As sweep.json has them."""

    def __repr__(self) -> str:
        """Return size, K and the metrics of the table on one line."""
        told = ", ".join(f"{name} {self[name].value_text}" for name in METRICS if name in self)
        return f"{counted(self.size, 'tool')}, K = {self.top_k}: {told}"


@checked_names
@dataclass(frozen=True, repr=False)
class Sweep(Grouped):
    """Runs over drawn pools: `swept.of(size=50)["pass_rate"].mean`.

    `content` is that of sweep.json.
    """

    folder: Path
    exit_code: int = 0
    """0 fine, 1 finished with task errors, 3 a budget stopped it."""

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Sweep:
        """Return the sweep of a folder that `seal.sweep` wrote.

        Raises:
            DataError: The folder holds none, or its sweep.json is damaged.
        """
        content = SWEEP.read(_file_of(path, SWEEP.name, "seal.sweep"))
        return cls(content, Path(path), int(any(row.get("errors") for row in content["rows"])))

    @cached_property
    def results(self) -> tuple[SweepPoint, ...]:
        """One for each pool size and K, the samples together."""
        return tuple(record(SweepPoint, entry) for entry in self.content["results"])

    @property
    def runs(self) -> dict[str, Run]:
        """The runs by their folders' names in the sweep's."""
        names = [row["run"] for row in self.content["rows"]]
        return {name: Run.load(within(self.folder, name)) for name in names}

    @cached_property
    def frame(self) -> DataFrame:
        """The figures as a pandas frame, one a row, as sweep.csv has them.

        pool, pool_digest, size, sample (missing: all together), top_k, metric, value, deviation,
        low, high, n, undefined, queries, samples, reason.
        """
        return long_frame(sweep.LONG, self.content)

    def of(self, size: int | None = None, top_k: int | None = None) -> SweepPoint:
        """Return the figures of a pool size and K; what is the only one may be None.

        Raises:
            UnknownKeyError: There is no such size or K.
            UsageError: Several results are of these.
        """
        return only(self.results, "results", size=size, top_k=top_k)

    def _glance(self) -> Glance:
        def column(name: str) -> tuple[str, Cell]:
            return name, lambda found: found[name].value_text if name in found else ""

        sizes = ("tools", "size"), ("K", "top_k"), ("queries", figure("queries", "{:g}".format))
        title = f"sweep over {self.content['origin']['benchmark']}"
        grid = grid_of(title, [*sizes, *map(column, METRICS)], self.results)
        return Glance(grid, (f"folder: {self.folder}",))

    def _tables(self) -> Iterable[Any]:
        return sweep_tables(self.content)

    def _figures(self) -> Iterable[Figure]:
        return sweep_figures(self.content).values()


# -- What was made: benchmarks that were generated, and the parts of those that were split.


@checked_names
@dataclass(frozen=True, repr=False, eq=False)
class PoolSplit(Entries):
    """A pool in two: `parts.train` and `parts.test`, which `seal.retrieve` and others take.

    `content` is that of training.json (`seal.split`); `parts["counts"]` is one entry.
    """

    train: Bench
    """The tasks for training."""
    test: Bench
    """The tasks that are held out."""
    folder: Path
    """Holds train/, test/ and training.json; without `out` a temporary one, which goes with the
    process."""

    def _glance(self) -> Glance:
        counts = self.content["counts"]
        rows = [
            (part, f"{counts[f'{part}_tasks']:,}", f"{counts[f'{part}_tools']:,}")
            for part in ("train", "test")
        ]
        title = f"{self.content['pool']}, split by {self.content['split']['by']}"
        left = [f"left out, {why}: {count:,}" for why, count in counts["left_out"].items()]
        return Glance(Grid(title, ("part", "tasks", "tools needed"), rows), left)


@checked_names
@dataclass(frozen=True, repr=False, eq=False)
class Generated(Entries):
    """What was generated; `content` is what `seal.generate` says of its kind."""

    place: Path | None = None
    """The folder that was made, or the file; None: nothing was written."""
    report: ImportReport | None = None
    """What the pool holds; None: no pool was made."""
    errors: tuple[str, ...] = ()
    """Dialogues that the infrastructure failed at, with the failure."""

    @property
    def statistics(self) -> dict[str, Any]:
        """What was proposed, kept and left out, where the kind tells that; else empty."""
        found: dict[str, Any] = self.content.get("generation", {})
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the content."""
        return self.content

    def _glance(self) -> Glance:
        rows = [(name, _short(value)) for name, value in self.content.items() if value]
        grid = Grid(f"generated: {self.place or 'nothing written'}", ("entry", "value"), rows, 2)
        failed = counted(len(self.errors), "dialogue")
        return Glance(grid, [f"{failed} failed: {error}" for error in self.errors[:1]])


def _short(value: Any) -> str:
    """Return an entry in short: of a list how long it is, of an object its names."""
    if isinstance(value, Mapping):
        return ", ".join(map(str, value))
    return str(len(value)) if isinstance(value, list | tuple) else str(value)
