"""The settings of the training of a retriever."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from seal.core import CacheMode, UsageError
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


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainSettings:
    """What `seal train-retriever` trains, on what, and what it is measured by."""

    base: str = "all-MiniLM-L6-v2"
    """The sentence-transformers model to begin with, by name or folder; for a map, any embedder."""
    trains: Trains = "encoder"
    """The whole model, or a linear map of the vectors that it gives: two matrices, trained in
    seconds without torch."""
    template: str = DEFAULT
    """Of a tool's document."""
    split: SplitKind = "query"
    """What is held out of each pool for testing. `query`: tasks. `tool`: tools, with every task
    that needs one of them. `given`: all tasks that the benchmark does not call `train`.
    `benchmark`: nothing; the foreign pools test."""
    held_out: Annotated[float, Within(above=0, below=1)] = 0.2
    """Share of the tasks or tools that is held out; `given` and `benchmark` ignore it."""
    drop_near_duplicates: bool = False
    """Leave out training queries that are nearly the same as a test query."""
    threshold: Annotated[float, Within(above=0, most=100)] = 90.0
    """Least likeness of near-duplicate queries, in (0, 100]."""
    negatives: Annotated[int, Within(least=0)] = 0
    """Hard negatives of a pair, beside the documents of its batch."""
    negatives_by: str = "tfidf"
    """The retriever that finds them, with its options."""
    steps: Count | None = None
    """Number of batches; None: as many as `epochs` need."""
    epochs: Annotated[float, Within(above=0)] | None = None
    """How often each pair is trained on; None: as `steps` says, else 1 for an encoder and 10 for a
    map."""
    batch_size: Annotated[int, Within(least=2)] = 64
    """Pairs; each document is a negative for the queries that do not need it."""
    learning_rate: Annotated[float, Within(above=0)] | None = None
    """Highest learning rate: it rises for a tenth of the steps, then falls to 0. None: 5e-5 for an
    encoder, 1e-4 for a map. A map trained with 5e-4 finds more of the tools of its training, and
    fewer other tools (`results/training.md`)."""
    max_length: Count | None = None
    """Tokens of a text in training; None: what the model reads."""
    checkpoint_every: Count | None = None
    """Steps; None: a tenth of all."""
    device: Device | None = None
    """None: a GPU where there is one."""
    seed: int = 0
    """Seed of split, batches, dropout, drawn test queries and intervals."""
    k: Sequence[Count] = (1, 5, 10)
    """Cut-offs of recall@K and its like."""
    test_queries: Count | None = None
    """How many tasks are drawn from each foreign pool; None: all."""
    select: Mapping[str, str] = field(default_factory=dict)
    """Tag to the value that a task of a training pool must have."""
    limit: Count | None = None
    """Most tasks of each training pool, a representative sample."""
    cache: CacheMode = "record"
    """How kept embeddings of the base model are used."""
    cache_dir: str | Path | None = None
    """Folder of kept embeddings; None: SEAL_CACHE_DIR, else the user's cache folder."""
    cache_url: str | None = field(default=None, repr=False)
    """Database of the embeddings, instead of a file there; None: SEAL_CACHE_URL."""

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
