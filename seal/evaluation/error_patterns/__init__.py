"""What an agent does wrong with tools, step by step and beside gold: ToolScan's seven patterns.

`diagnose` gives a finding for each step of a chat, `repairs` what followed on errors (`findings`),
`services` tells whose fault a failure is, `gold` compares calls with plans, `metrics` makes scores
of it all.
"""

from seal.evaluation.error_patterns.findings import (
    Finding,
    Kind,
    Pattern,
    Repair,
    diagnose,
    first_error,
    repairs,
)
from seal.evaluation.error_patterns.gold import (
    GoldComparison,
    GoldFinding,
    choose,
    compare_plan,
    events,
    transitions,
)
from seal.evaluation.error_patterns.metrics import ErrorPatterns, IndependentMinima, RepeatedAnyhow
from seal.evaluation.error_patterns.services import SERVICES, Service, service_failure

__all__ = [
    "SERVICES",
    "ErrorPatterns",
    "Finding",
    "GoldComparison",
    "GoldFinding",
    "IndependentMinima",
    "Kind",
    "Pattern",
    "Repair",
    "RepeatedAnyhow",
    "Service",
    "choose",
    "compare_plan",
    "diagnose",
    "events",
    "first_error",
    "repairs",
    "service_failure",
    "transitions",
]
