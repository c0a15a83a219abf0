"""The settings of experiments: of drawings, sweeps, retrieval and comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, TypeAlias

from seal.core import CacheMode, UsageError
from seal.core.registry import check_modules
from seal.core.secrets import refuse_secret
from seal.core.settings import Count, check_fields, with_field_docs
from seal.pools.pool import told_of
from seal.retrievers import build
from seal.retrievers.base import spec_of
from seal.runs.settings import RunSettings, check_seed

# -- Settings by which experiments draw smaller pools and fewer queries from large pools.
#
# `seal.pools.samples` says how a pool is drawn.

Size: TypeAlias = Count | Literal["all"]
"""Number of tools of a pool; "all": the whole pool."""
Distractors = Literal["uniform", "same_tool", "nearest"]
QueriesIn = Literal["closure", "seeds", "fixed"]


@dataclass(frozen=True, kw_only=True)
class DrawnGroup:
    """Pools: which are drawn of larger ones, and what they are asked."""

    pool_sizes: Sequence[Size] = ("all",)
    """Draw pools of these numbers of tools, and take the whole pool: 50,100,200,500,1000,all."""
    samples: Count = 10
    """Number of pools to draw of each size."""
    distractors: Distractors = "uniform"
    """Which further tools fill a drawn pool.

    Any; first those of the same services; or first those that are most like the relevant ones by
    tf-idf.
    """
    queries_in: QueriesIn = "closure"
    """What a drawn pool is asked: all queries that it can answer (closure), those that it was drawn
    for (seeds), or the same at every size (fixed)."""
    nested: bool = True
    """Let the larger pools of a sample contain its smaller ones."""
    queries: Count | None = None
    """Number of queries to draw from each pool, so that all pools count alike."""


@dataclass(frozen=True, kw_only=True)
class Drawing(DrawnGroup):
    """Which pools are drawn from a large one, and which of their queries are asked."""

    def __post_init__(self) -> None:
        """Sort the sizes, each once, and reject values that no drawing can have.

        Raises:
            UsageError: Names the flag, what it got and what it takes.
        """
        check_fields(self, k="cutoffs")
        numbers = sorted({size for size in self.pool_sizes if size != "all"})
        whole = ["all"] if "all" in self.pool_sizes else []
        object.__setattr__(self, "pool_sizes", (*numbers, *whole))


# -- The settings of an experiment in retrieval.


@dataclass(frozen=True, kw_only=True)
class RetrieverGroup:
    """Retrieval: which retrievers rank, and to which ranks they are measured."""

    options: Mapping[str, Any] = field(default_factory=dict)
    """Option for every retriever that has it; repeatable."""
    k: tuple[Count, ...] = (1, 5, 10)
    """Values of K for recall@K and similar metrics.

    The largest is the length of a ranking.
    """
    allow_code: Sequence[str] = ()
    """Module that may run code: `sentence_transformers` that of a model with
    trust_remote_code=true; repeatable."""


@dataclass(frozen=True, kw_only=True)
class TaskGroup:
    """Tasks: which are asked."""

    seed: int = 0
    """Seed of everything that is drawn at random.

    Pools, queries, random retrieval and intervals depend on it.
    """
    select: Mapping[str, str] = field(default_factory=dict)
    """Take only tasks with this tag, or with id=ID; * matches any text. Repeatable."""
    limit: Count | None = None
    """Take N tasks of each pool whose tags represent all of its tasks.

    A larger limit includes a smaller one.
    """
    first: Count | None = None
    """Take the first N tasks of each pool."""
    held_out: str | Path | None = None
    """Folder of seal.split, or of a model with its training.json: of the pool that was split, ask
    only what was held out."""


@dataclass(frozen=True, kw_only=True)
class KeptGroup:
    """Output: what is written and kept, and what is printed."""

    cache: CacheMode = "record"
    """Cached embeddings: keep and reuse them (record), only reuse them (replay), or neither
    (off)."""
    cache_dir: str | Path | None = None
    """Folder for cached embeddings and indexes."""


@with_field_docs
@dataclass(frozen=True, kw_only=True)
class RetrievalSettings(KeptGroup, TaskGroup, RetrieverGroup, Drawing):
    """What `seal retrieve` measures over its pools and retrievers.

    A pool skips sizes that are larger than itself. The whole pool is measured once with all its
    queries; if queries are drawn, it is measured in every sample.
    """

    def __post_init__(self) -> None:
        """Sort the numbers, each once, and reject values that no experiment can have.

        Raises:
            UsageError: The text names the flag, what it got and what it takes. Or an option holds a
                key of a service, which would be written to results.json.
        """
        super().__post_init__()
        refuse_secret("", self.options, "options")
        check_seed(self.seed)
        check_modules(self.allow_code)
        object.__setattr__(self, "k", tuple(sorted(set(self.k))))

    def protocol(self) -> dict[str, Any]:
        """Return the settings that shape the figures, for results.json, without the options.

        Each retriever's entry has its options.
        """
        apart = ("options", "cache", "cache_dir", "first", "allow_code")
        names = ["k", *(field.name for field in fields(self) if field.name != "k")]
        shaping = {name: _plain(getattr(self, name)) for name in names if name not in apart}
        return shaping | told_of(self)


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    return list(value) if isinstance(value, tuple) else value


# -- What a sweep varies: the pool's size, the sample, and how many tools a chat is offered.

RECALL_AT = 10
"""K of the recall that every sweep measures, as in the paper's Table 3."""


@with_field_docs
@dataclass(frozen=True, kw_only=True)
class SweepSettings(Drawing):
    """What a sweep varies; everything else is `RunSettings`.

    A size is at most that of the pool. If only the whole pool is played, all its tasks are asked.
    Beside other sizes, it is asked the tasks that pools can be drawn for. If all samples of the
    whole pool are equal, it is played once.
    """

    samples: Count = 3
    """Number of pools to draw of each size."""
    top_k: tuple[Count, ...] = (RunSettings().top_k,)
    """How many tools a chat is offered; every pool is played with each K."""

    def __post_init__(self) -> None:
        """Sort the numbers, each once, and reject values that no sweep can have.

        Raises:
            UsageError: Names the flag, what it got and what it takes.
        """
        super().__post_init__()
        object.__setattr__(self, "top_k", tuple(sorted(set(self.top_k))))

    @property
    def whole(self) -> bool:
        """True: no pool is drawn, and the whole pool is played."""
        return self.pool_sizes == ("all",)

    def protocol(self) -> dict[str, Any]:
        """Return what was varied, for sweep.json."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}


def retriever_of(settings: RunSettings) -> Any:
    """Return the retriever of every run of a sweep: the one that was named, else the default.

    Raises:
        UsageError: The retriever is `given`, or the model is a recording: neither depends on the
            pool.
    """
    model, named = settings.model, settings.finder
    if isinstance(model, str) and model.startswith("recorded:"):
        raise UsageError(
            f"--model {model}: recorded chats were played over the whole pool; "
            "sweep with a model that plays anew"
        )
    if spec_of(named).what == "given":
        raise UsageError(
            "--retriever given offers every task its own tools, whatever the pool holds and K is; "
            "sweep with a retriever that searches, such as tfidf"
        )
    return build.DEFAULT if named is None else named


# -- How runs are compared: the one description of each setting.
#
# `seal.runs.settings` says how groups and the strings below settings are read.

Against = Literal["first", "all"]
RESAMPLES = 10_000
"""Of every interval and test."""


@dataclass(frozen=True, kw_only=True)
class CompareGroup:
    """Comparison: which pairs, by which metrics, and how surely."""

    pairs: Against = "first"
    """Compare each run with the first, or every two runs; a difference is the later run less the
    earlier."""
    metrics: Sequence[str] = ()
    """Metric to compare, and to correct p over; repeatable.

    None given: all that the runs have.
    """
    success: str | None = None
    """Metric of which 1 means a solved task.  [default: the one that the benchmark declares, else
    the first of pass_rate, success, mission_accuracy, similarity that both runs have]"""
    force: bool = False
    """Compare runs even if they do not measure the same."""
    seed: int = 0
    """Seed of intervals and tests."""
    resamples: Count = RESAMPLES
    """Number of resamples for each test."""


@dataclass(frozen=True, kw_only=True)
class PreferenceSettings:
    """Win rate: who says which of two runs served a goal better."""

    win_rate: bool = False
    """Ask a judge, in both orders, which of two runs served each goal better. Without --judge-model
    the labels of their pass rates decide.

    Without labels a goal has no outcome.
    """
    judge_model: Any = None
    """With --win-rate: model of that judge, as PROVIDER/MODEL; several vote together."""
    votes: int | None = None
    """Number of votes of each judge's model on a goal.  [default: 1]"""
    model_options: Mapping[str, Any] | None = None
    """Option of --judge-model; repeatable. If several models judge, name it with each:
    MODEL,KEY=VALUE."""
    base_url: str | None = None
    """Address of the server of --judge-model. If several models judge, name it with each:
    MODEL,base_url=URL."""
    cache_dir: str | Path | None = None
    """Folder for cached answers and indexes.  [default: SEAL_CACHE_DIR, else the user's cache]"""


@with_field_docs
@dataclass(frozen=True, kw_only=True)
class CompareSettings(PreferenceSettings, CompareGroup):
    """How runs are compared."""

    def __post_init__(self) -> None:
        """Reject values that no comparison can have.

        Raises:
            UsageError: A value is of another type, or there is nothing to ask the judge that is
                named.
        """
        check_fields(self)
        if (self.judge_model or self.votes) and not self.win_rate:
            raise UsageError(
                "a comparison asks a judge for the win rate alone: add --win-rate (from Python "
                "win_rate=True), or leave out the judge's model and votes"
            )
