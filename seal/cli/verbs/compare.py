"""Compare runs of one benchmark: paired differences, tests, power, tasks won and lost."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from seal.cli import options as shared
from seal.cli.failure import tell
from seal.cli.groups import argument, flag, option, repeated, setting, settings_of, verb
from seal.cli.output import output
from seal.cli.words import judges
from seal.runs.score_settings import JudgeGroup
from seal.runs.settings import RunSettings

app = shared.new_app()


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Comparison: which pairs, by which metrics, and how surely."""

    pairs: Literal["first", "all"] = option(
        "first",
        "Compare each run with the first, or every two runs; a difference is the later run "
        "less the earlier.",
    )
    metric: tuple[str, ...] = repeated(
        "Metric to compare, and to correct p over; repeatable.",
        metavar="NAME",
        setting="metrics",
    )
    success: str | None = option(
        None,
        "Metric of which 1 means a solved task.  [default: the first of pass_rate, success, "
        "mission_accuracy, similarity that both runs have]",
        metavar="METRIC",
    )
    force: bool = flag("Compare runs even if they do not measure the same.")
    seed: int = option(0, "Seed of intervals and tests.")
    resamples: int = option(10_000, "Number of resamples for each interval and test.", least=1)


@dataclass(frozen=True, kw_only=True)
class Preferred:
    """Win rate: who says which of two runs served a goal better."""

    win_rate: bool = flag(
        "Ask a judge, in both orders, which of two runs served each goal better. Without "
        "--judge-model the labels of their pass rates decide."
    )
    judge_model: tuple[str, ...] | None = repeated(
        "With --win-rate: model of that judge, as PROVIDER/MODEL; several vote together.",
        metavar="MODEL",
        read=judges,
    )
    votes: int | None = setting(RunSettings, "votes")
    preferences: Path | None = option(
        None,
        "Recorded preferences, which replace the judge: preference_results as JSON or CSV, "
        "or a CSV of task_id,first,second,better (first, second or tie).",
        metavar="FILE",
    )
    model_option: dict[str, Any] = setting(JudgeGroup, "model_options")
    base_url: str | None = setting(JudgeGroup, "base_url")
    cache_dir: Path | None = shared.CACHE_DIR
    cache_url: str | None = shared.CACHE_URL


@dataclass(frozen=True, kw_only=True)
class Written:
    """Output: what is written, and what is printed."""

    out: Path | None = option(
        None, "Folder for comparison.json, .md, .tex and .html.", metavar="DIR"
    )
    json: bool = shared.JSON


@verb(app)
def command(
    *,
    runs: list[Path] = argument("Run folders; the first is the base.", metavar="RUN RUN..."),
    compared: Compared,
    preferred: Preferred,
    into: Written,
) -> int:
    """Compare runs of one benchmark, paired by task, trial and goal.

    For every metric the table has the mean difference, its 95 % bootstrap interval over tasks, and
    a randomisation test. It tells which difference could have been found, and how many tasks or
    trials would find this one. Then come the tasks won and lost, pass^k and pass@k. Runs that do
    not measure the same are refused. The exit code is 1 if the server of a judge failed.
    """
    # Of small matrices: several threads would wait longer for each other than they compute.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with output(into.json) as result:
        from seal.api.results import compare
        from seal.report.comparison_results import comparison_tables

        told = settings_of(compared, preferred)
        content = compare(runs, out=into.out, **told).content
        result.result(content)
        result.show(*(() if into.json else comparison_tables(content)))
        if into.out is not None:
            result.show(f"comparison: {into.out / 'comparison.html'}")
        for text in content["differs"]:
            tell(f"compared all the same: {text}")
    judged = [pair["win_rate"] for pair in content["pairs"] if pair["win_rate"] is not None]
    return int(any("error" in found["by"] for found in judged))
