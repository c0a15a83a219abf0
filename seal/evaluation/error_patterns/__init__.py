"""What an agent does wrong with tools, step by step and beside gold: ToolScan's seven patterns.

`diagnose` gives a finding for each step of a chat, `repairs` what followed on errors (`findings`),
`services` tells whose fault a failure is, `gold` compares calls with plans, `metrics` makes scores
of it all.
"""

from seal.evaluation.error_patterns.findings import Finding, diagnose, first_error, repairs
from seal.evaluation.error_patterns.gold import choose, compare_plan, events, transitions
from seal.evaluation.error_patterns.metrics import (
    AsPublished,
    ErrorPatterns,
    IndependentMinima,
    RepeatedAnyhow,
)

__all__ = [
    "AsPublished",
    "ErrorPatterns",
    "Finding",
    "IndependentMinima",
    "RepeatedAnyhow",
    "choose",
    "compare_plan",
    "diagnose",
    "events",
    "first_error",
    "repairs",
    "transitions",
]
