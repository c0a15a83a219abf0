"""What the terminal shows of a run: its summary, the breakdowns that apply to its tasks, notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seal.pools.benchmark import Benchmark, part_of
from seal.report.breakdown import breakdown_tables
from seal.report.error_patterns import environment_patterns
from seal.report.lanes import summary_table
from seal.report.missions import mission_breakdown
from seal.report.notes import summary_notes

if TYPE_CHECKING:
    from rich.table import Table

    from seal.runs.run_folder import RunFolder


def result_tables(run: RunFolder, bench: Benchmark | None = None) -> list[Table | str]:
    """Return the summary of a run, its breakdowns, and the lines below them.

    Args:
        run: A scored run.
        bench: What was played, where it is not installed.

    Raises:
        DataError: The run has not been scored.
    """
    patterns = environment_patterns(run)
    return [summary_table(run), *breakdowns(run, bench), *patterns, *summary_notes(run)]


def breakdowns(run: RunFolder, bench: Benchmark | None = None) -> list[Table]:
    """Return the figures of a run by tag or mission type, and its benchmark's; empty: it has none.

    Raises:
        DataError: The run has not been scored.
    """
    of_benchmark = part_of(bench or run.benchmark(), "tables")
    further = () if of_benchmark is None else of_benchmark(run)
    return [*breakdown_tables(run), *mission_breakdown(run), *further]
