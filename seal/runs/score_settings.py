"""How finished trajectories are scored again: the one description of each setting.

`seal.runs.settings` says how groups and the strings below settings are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seal.core.field_docs import with_field_docs
from seal.pools.benchmark import Benchmark


@dataclass(frozen=True, kw_only=True)
class ScoreGroup:
    """Judging: who says what is solved, and by which rules and metrics."""

    judge: str = "auto"
    """Who decides what is solved: rule, llm, auto (llm if a judge's model is named, else rule), or
    published judges, by commas: pass_paper, tooleval, sopr, fac. Where a task has
    a world's milestones, they decide, and not pass_paper."""
    judge_model: Any = None
    """Model of the judge, as PROVIDER/MODEL; several vote together."""
    votes: int | None = None
    """Number of votes of each judge's model on a goal.  [default: as published]"""
    verdicts: str | Path | None = None
    """Recorded verdicts on this run, as the benchmark's authors published them: a file, or a folder
    with a file for each judge.

    The baselines keep their own verdicts.
    """
    match: str | None = None
    """Rules of scoring: clean, toolsandbox, mmtb, lenient, exact, or those of the run's benchmark,
    such as bfcl.  [default: each task's own]"""
    errata: str | Path | None = None
    """Score by corrected gold too: a file of `seal errata`, or the name of a benchmark that ships
    one.

    The scores by corrected gold are in the folder `corrected`; the published scores stay.
    """
    metrics: Sequence[Any] = ()
    """Metric beside the usual ones: a family (calls), a score (recall@20) or module:attribute;
    repeatable.

    None given: those that run.json names. One of them that is not known or not allowed keeps its
    former scores; without any, it has no value and a reason."""
    without_spoilt: bool = False
    """Leave out of the scores every chat whose simulated user made an error."""
    allow_code: Sequence[str] = ()
    """Module whose code a pool, run or scenario may name; repeatable."""


@dataclass(frozen=True, kw_only=True)
class JudgeGroup:
    """Model: how judges are asked."""

    model_options: Mapping[str, Any] | None = None
    """Option of --judge-model; repeatable. If several models judge, name it with each:
    MODEL,KEY=VALUE."""
    base_url: str | None = None
    """Address of the server of --judge-model. If several models judge, name it with each:
    MODEL,base_url=URL."""
    workers: int = 4
    """Number of answers that are judged at once."""
    cache_dir: str | Path | None = None
    """Folder for cached answers and indexes.  [default: SEAL_CACHE_DIR, else the user's cache]"""


@with_field_docs
@dataclass(frozen=True, kw_only=True)
class ScoreSettings(JudgeGroup, ScoreGroup):
    """How finished trajectories are scored again."""

    planted: bool = False
    """Hold the judge against planted replies too, where the benchmark can make some."""
    bench: Benchmark | None = None
    """What was played, where it is not installed; its metrics are measured again."""
