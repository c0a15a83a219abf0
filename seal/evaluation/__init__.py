"""Scores: what retrieval, calls and answers were worth, with intervals."""

from seal.core.registry import Registry
from seal.evaluation.scoring import score_trajectory, usual_metrics

REGISTRY = Registry(
    "metric",
    "seal.metrics",
    {
        "abstention": "seal.evaluation.conversation_audit:Abstention",
        "calls": "seal.evaluation.calls:Calls",
        "error_patterns": "seal.evaluation.pattern_scores:ErrorPatterns",
        "extra": "seal.evaluation.calls:ExtraCalls",
        "honesty": "seal.evaluation.conversation_audit:Honesty",
        "independent_minima": "seal.evaluation.pattern_scores:IndependentMinima",
        "milestones": "seal.evaluation.scoring:Milestones",
        "missions": "seal.evaluation.missions:Missions",
        "pass_rate": "seal.evaluation.pass_rates:PassRate",
        "recorded_scores": "seal.evaluation.scoring:RecordedScores",
        "relevant_calls": "seal.evaluation.calls:RelevantCalls",
        "repeated_anyhow": "seal.evaluation.pattern_scores:RepeatedAnyhow",
        "retrieval": "seal.evaluation.ranking_metrics:Retrieval",
        "tokens_per_call": "seal.evaluation.calls:TokensPerCall",
        "usage": "seal.evaluation.calls:UsageMetrics",
        "user_audit": "seal.evaluation.scoring:UserAudit",
    },
)
"""Metrics by name: each a class that is made without arguments and scores a trajectory."""

__all__ = ["REGISTRY", "score_trajectory", "usual_metrics"]
