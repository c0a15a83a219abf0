"""How runs are compared: the one description of each setting.

`seal.runs.settings` says how groups and the strings below settings are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from seal.core import UsageError
from seal.core.field_docs import with_field_docs
from seal.core.typed_values import Count, check_fields

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
    """Number of resamples for each interval and test."""


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
    preferences: str | Path | None = None
    """Recorded preferences, which replace the judge: preference_results of StableToolBench, as JSON
    or CSV.
    """
    model_options: Mapping[str, Any] | None = None
    """Option of --judge-model; repeatable. If several models judge, name it with each:
    MODEL,KEY=VALUE."""
    base_url: str | None = None
    """Address of the server of --judge-model. If several models judge, name it with each:
    MODEL,base_url=URL."""
    cache_dir: str | Path | None = None
    """Folder for cached answers and indexes.  [default: SEAL_CACHE_DIR, else the user's cache]"""

    @property
    def is_asked(self) -> bool:
        """True: a judge is asked, or preferences are recorded."""
        return self.win_rate or self.preferences is not None


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
        if not (self.judge_model or self.votes):
            return
        if self.preferences is not None:
            raise UsageError(
                "recorded preferences are taken instead of a judge's: leave out --preferences, or "
                "the judge's model and votes"
            )
        if not self.win_rate:
            raise UsageError(
                "a comparison asks a judge for the win rate alone: add --win-rate (from Python "
                "win_rate=True), or leave out the judge's model and votes"
            )
