"""Everything that the training of a retriever can be told."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from seal.core import CacheMode, UsageError
from seal.experiments.pool_draws import check_known
from seal.retrievers.documents import DEFAULT
from seal.runs.settings import check_seed

SplitKind = Literal["query", "tool", "given"]
Device = Literal["cpu", "cuda"]
_TENTHS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainSettings:
    """What `seal train-retriever` trains, on what, and what it is measured by."""

    base: str = "all-MiniLM-L6-v2"
    """The sentence-transformers model to begin with: a name or a folder."""
    template: str = DEFAULT
    """Of a tool's document."""
    split: SplitKind = "query"
    """What is held out for testing: tasks, tools with every task that needs one of them, or all
    tasks that the benchmark itself does not call `train`."""
    held_out: float = 0.2
    """Share of the tasks or tools that is held out; nothing to the split `given`."""
    drop_near_duplicates: bool = False
    """Leave training queries out that are nearly the same as a test query."""
    threshold: float = 90.0
    """From what likeness on two queries are near-duplicates, in (0, 100]."""
    steps: int | None = None
    """Batches; None: as many as `epochs` need."""
    epochs: float | None = None
    """Times that each pair is trained on; None: `steps`, else 1."""
    batch_size: int = 64
    """Pairs; each document is a negative for the other queries."""
    learning_rate: float = 5e-5
    """At its highest: it rises for a tenth of the steps, then falls to 0."""
    max_length: int | None = None
    """Tokens of a text in training; None: what the model reads."""
    checkpoint_every: int | None = None
    """Steps; None: a tenth of all."""
    device: Device | None = None
    """None: a GPU where there is one."""
    seed: int = 0
    """Of split, batches, dropout, drawn test queries and intervals."""
    k: Sequence[int] = (1, 5, 10)
    """Cut-offs of recall@K and its like."""
    test_queries: int | None = None
    """Tasks that are drawn of each foreign pool; None: all."""
    select: Mapping[str, str] = field(default_factory=dict)
    """Tag to the value that a task of the training pool must have."""
    limit: int | None = None
    """At most so many tasks of the training pool."""
    cache: CacheMode = "record"
    """Of the base model's embeddings."""
    cache_dir: str | Path | None = None
    """Folder of kept embeddings; None: SEAL_CACHE_DIR, else the user's cache folder."""

    def __post_init__(self) -> None:
        """Reject values that no training can have.

        Raises:
            UsageError: Names the flag, what it got and what it takes.
        """
        check_known("split", self.split, get_args(SplitKind))
        if self.device is not None:
            check_known("device", self.device, get_args(Device))
        check_known("cache", self.cache, get_args(CacheMode))
        _check(0 < self.held_out < 1, "held-out", self.held_out, "a share between 0 and 1")
        _check(0 < self.threshold <= 100, "threshold", self.threshold, "above 0, at most 100")
        for flag in ("steps", "max_length", "checkpoint_every", "test_queries", "limit"):
            if getattr(self, flag) is not None:
                _check_whole(flag, getattr(self, flag), 1)
        _check_whole("batch_size", self.batch_size, 2)
        _check(self.steps is None or self.epochs is None, "epochs", self.epochs, "steps or epochs")
        if self.epochs is not None:
            positive = 0 < self.epochs < math.inf
            _check(positive, "epochs", self.epochs, "a number above 0")
        rate = self.learning_rate
        _check(0 < rate < math.inf, "learning-rate", rate, "a number above 0")
        check_seed(self.seed)
        _check(bool(self.k), "cutoffs", "", "whole numbers of at least 1, such as 1,5,10")
        for k in self.k:
            _check_whole("cutoffs", k, 1)
        object.__setattr__(self, "k", tuple(sorted(set(self.k))))

    def steps_for(self, pairs: int) -> int:
        """Return the number of steps over so many pairs, at least 1."""
        if self.steps is not None:
            return self.steps
        epochs = 1.0 if self.epochs is None else self.epochs
        return max(1, math.ceil(epochs * pairs / self.batch_size))

    def checkpoints_for(self, steps: int) -> int:
        """Return after how many steps a checkpoint is written."""
        return self.checkpoint_every or max(1, steps // _TENTHS)


def _check(right: bool, flag: str, got: Any, expected: str) -> None:
    if not right:
        raise UsageError(f"--{flag} {got}: expected {expected}")


def _check_whole(setting: str, value: Any, least: int) -> None:
    whole = isinstance(value, int) and not isinstance(value, bool) and value >= least
    _check(whole, setting.replace("_", "-"), value, f"a whole number of at least {least}")
