"""Published judges: who votes and what votes come to (`panel`), how far votes agree."""

PASS_PAPER = "pass_paper"
PUBLISHED = (PASS_PAPER, "tooleval", "sopr", "fac")
"""Judges that papers describe; the metric of the first is `pass_rate`."""
VOTES = {PASS_PAPER: 1, "tooleval": 4, "sopr": 4, "fac": 1}
"""Judgements of each goal, as published."""
METRICS = {PASS_PAPER: "pass_rate", "tooleval": "tooleval", "sopr": "sopr", "fac": "fac"}
"""Judge to its metric."""

__all__ = ["METRICS", "PASS_PAPER", "PUBLISHED", "VOTES"]
