"""Runs made by hand, for the tables of a report."""

from report_runs import make_run, scored_run

__all__ = ["make_run", "scored_run"]
