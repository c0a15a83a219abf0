"""Lint: faults of a pool, as findings."""
