"""Scores: what retrieval, calls and answers were worth, with intervals."""

from seal.core.registry import Registry
from seal.evaluation.scoring import score_trajectory, usual_metrics
from seal.lazy import give_names

give_names(__name__)

REGISTRY = Registry(
    "metric",
    "seal.metrics",
    {
        "abstention": "seal.evaluation.abstention:Abstention",
        "calls": "seal.evaluation.calls:Calls",
        "error_patterns": "seal.evaluation.error_patterns.pattern_scores:ErrorPatterns",
        "honesty": "seal.evaluation.honesty:Honesty",
        "independent_minima": "seal.evaluation.error_patterns.pattern_scores:IndependentMinima",
        "milestones": "seal.evaluation.milestones.milestone_scores:Milestones",
        "missions": "seal.evaluation.mission_metrics:Missions",
        "pass_rate": "seal.evaluation.judges.measures:PassRate",
        "recorded_scores": "seal.evaluation.recorded_scores:RecordedScores",
        "relevant_calls": "seal.evaluation.calls:RelevantCalls",
        "repeated_anyhow": "seal.evaluation.error_patterns.pattern_scores:RepeatedAnyhow",
        "retrieval": "seal.evaluation.ranking_metrics:Retrieval",
        "tokens_per_call": "seal.evaluation.usage:TokensPerCall",
        "usage": "seal.evaluation.usage:UsageMetrics",
        "user_audit": "seal.evaluation.user_audit:UserAudit",
    },
)
"""Metrics by name: each a class that is made without arguments and scores a trajectory."""

__all__ = ["REGISTRY", "score_trajectory", "usual_metrics"]
