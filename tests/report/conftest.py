"""Fixtures of the report's tests."""

from report_runs import make_run, scored_run

__all__ = ["make_run", "scored_run"]
