"""What the terminal shows of a run: its summary, the breakdowns that apply to its tasks, notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seal.benchmarks.dialogtool.report.section import dialogue_breakdown
from seal.report.breakdown import breakdown_tables
from seal.report.error_patterns import environment_patterns
from seal.report.missions import mission_breakdown
from seal.report.notes import summary_notes
from seal.report.tables import summary_table

if TYPE_CHECKING:
    from rich.table import Table

    from seal.runs.run_folder import RunFolder


def result_tables(run: RunFolder) -> list[Table | str]:
    """Return the summary of a run, its breakdowns, and the lines below them.

    Raises:
        DataError: The run has not been scored.
    """
    patterns = environment_patterns(run)
    return [summary_table(run), *breakdowns(run), *patterns, *summary_notes(run)]


def breakdowns(run: RunFolder) -> list[Table]:
    """Return the figures of a run by tag, mission type or dialogue task; empty: it has none.

    Raises:
        DataError: The run has not been scored.
    """
    return [*breakdown_tables(run), *mission_breakdown(run), *dialogue_breakdown(run)]
