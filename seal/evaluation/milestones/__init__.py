"""How well a chat keeps to milestones and off minefields.

`plans` shows a trajectory as milestones see it and makes one number of a plan, `matching` finds the
best match, `metrics` the scores of a run, `faults` what is missing. `checks` is for whoever writes
plans.
"""

from seal.evaluation.milestones.checks import check_plan
from seal.evaluation.milestones.metrics import Milestones
from seal.evaluation.milestones.plans import (
    PlanResult,
    Reached,
    measure_plan,
    turn_count,
    view,
    with_outer_guardrails,
)

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
