"""Runs beside each other: scores paired by task, trial and goal, and what the pairs prove."""
