"""How well a chat keeps to milestones and off minefields.

`view` shows a trajectory as milestones see it, `similarities` measures nodes at steps, `matching`
finds the best match, `plans` makes one number of it, `metrics` the scores of a run. `guardrails`
and `checks` are for whoever writes plans.
"""

from seal.evaluation.milestones.checks import check_plan
from seal.evaluation.milestones.guardrails import with_outer_guardrails
from seal.evaluation.milestones.metrics import Milestones
from seal.evaluation.milestones.plans import PlanResult, Reached, measure_plan
from seal.evaluation.milestones.view import turn_count, view

__all__ = [
    "Milestones",
    "PlanResult",
    "Reached",
    "check_plan",
    "measure_plan",
    "turn_count",
    "view",
    "with_outer_guardrails",
]
