"""The settings of the training of a retriever."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from seal.core import CacheMode, UsageError
from seal.core.field_docs import with_field_docs
from seal.core.typed_values import Count, Within, check_fields
from seal.retrievers.documents import DEFAULT
from seal.runs.settings import check_seed

Trains = Literal["encoder", "map"]
SplitKind = Literal["query", "tool", "given", "benchmark"]
BY_BENCHMARK: SplitKind = "benchmark"
Device = Literal["cpu", "cuda"]
_TENTHS = 10
_EPOCHS = {"encoder": 1.0, "map": 10.0}
_RATES = {"encoder": 5e-5, "map": 1e-4}
_OF_ENCODERS = ("max_length", "checkpoint_every", "device")


@dataclass(frozen=True, kw_only=True)
class TrainingGroup:
    """Training: what is trained, how long and where."""

    base: str = "all-MiniLM-L6-v2"
    """Model to train: a sentence-transformers model, as a name or folder; a map takes any
    embedder."""
    trains: Trains = "encoder"
    """What to train: the whole model, or a linear map of its vectors (seconds, without torch)."""
    template: str = DEFAULT
    """Template of a tool's document."""
    steps: Count | None = None
    """Number of batches.  [default: as many as the epochs need]"""
    epochs: Annotated[float, Within(above=0)] | None = None
    """Number of times that each pair is used.  [default: 1; map: 10]"""
    batch_size: Annotated[int, Within(least=2)] = 64
    """Number of pairs in a batch.

    Each document is a negative for the queries that do not need it.
    """
    learning_rate: Annotated[float, Within(above=0)] | None = None
    """Highest learning rate.  [default: 5e-5; map: 1e-4]

    It rises for a tenth of the steps, then falls to 0. A map trained with 5e-4 finds more of the
    tools of its training, and fewer other tools (`results/training.md`).
    """
    negatives: Annotated[int, Within(least=0)] = 0
    """Number of hard negatives for each pair, besides its batch."""
    negatives_by: str = "tfidf"
    """Retriever that finds hard negatives."""
    max_length: Count | None = None
    """Most tokens of a text in training.  [default: the model's]"""
    checkpoint_every: Count | None = None
    """Number of steps between checkpoints.  [default: a tenth of all]"""
    device: Device | None = None
    """Where to train.  [default: a GPU if there is one]"""
    seed: int = 0
    """Seed of everything that is drawn at random.

    Split, batches, dropout, drawn test queries and intervals depend on it.
    """


@dataclass(frozen=True, kw_only=True)
class SplitGroup:
    """Split: which tasks are trained on, and which are held out."""

    split: SplitKind = "query"
    """What to hold out: tasks, tools with all tasks that need them, what the benchmark says
    (given), or nothing but the pools of --test-on (benchmark).

    `given` holds out all tasks that the benchmark does not call `train`.
    """
    held_out: Annotated[float, Within(above=0, below=1)] = 0.2
    """Share that is held out.

    Of tasks or tools; `given` and `benchmark` ignore it.
    """
    drop_near_duplicates: bool = False
    """Do not train on queries that are similar to a test query."""
    threshold: Annotated[float, Within(above=0, most=100)] = 90.0
    """Least similarity of near-duplicate queries, at most 100."""
    select: Mapping[str, str] = field(default_factory=dict)
    """Take only tasks with this tag, or with id=ID; * matches any text. Repeatable.

    The pools of training are meant.
    """
    limit: Count | None = None
    """Take N tasks of each pool whose tags represent all of its tasks."""


@dataclass(frozen=True, kw_only=True)
class MeasureGroup:
    """Tests: what the model is measured on."""

    test_queries: Count | None = None
    """Number of tasks to draw from each other pool."""
    k: Sequence[Count] = (1, 5, 10)
    """Values of K for recall@K and similar metrics."""


@dataclass(frozen=True, kw_only=True)
class CachingGroup:
    """Output: where the model and embeddings are kept, and what is printed."""

    cache: CacheMode = "record"
    """Cached embeddings of the base model: keep and reuse them (record), only reuse them (replay),
    or neither (off)."""
    cache_dir: str | Path | None = None
    """Folder for cached embeddings."""


@with_field_docs
@dataclass(frozen=True, kw_only=True)
class TrainSettings(CachingGroup, MeasureGroup, SplitGroup, TrainingGroup):
    """What `seal train-retriever` trains, on what, and what it is measured by."""

    def __post_init__(self) -> None:
        """Reject values that no training can have.

        Raises:
            UsageError: Names the flag, what it got and what it takes.
        """
        check_fields(self, k="cutoffs")
        if self.steps is not None and self.epochs is not None:
            raise UsageError(f"--epochs {self.epochs}: expected steps or epochs")
        check_seed(self.seed)
        for name in _OF_ENCODERS if self.trains == "map" else ():
            value = getattr(self, name)
            if value is not None:
                flag = name.replace("_", "-")
                raise UsageError(f"--{flag} {value}: nothing to --trains map; leave it out")
        object.__setattr__(self, "k", tuple(sorted(set(self.k))))

    @property
    def rate(self) -> float:
        """The highest learning rate."""
        return _RATES[self.trains] if self.learning_rate is None else self.learning_rate

    def steps_for(self, pairs: int) -> int:
        """Return the number of steps over so many pairs, at least 1."""
        if self.steps is not None:
            return self.steps
        epochs = _EPOCHS[self.trains] if self.epochs is None else self.epochs
        return max(1, math.ceil(epochs * pairs / self.batch_size))

    def checkpoints_for(self, steps: int) -> int:
        """Return after how many steps a checkpoint is written."""
        return self.checkpoint_every or max(1, steps // _TENTHS)
