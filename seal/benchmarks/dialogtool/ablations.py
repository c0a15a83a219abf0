"""What ablations of a tool's life vary: who answers calls, and how apps are offered."""

from __future__ import annotations

from seal.experiments.ablation.conditions import Variation

_TOLD = (
    "creation",
    "awareness",
    "selection",
    "selection_recall",
    "execution",
    "goal_state",
    "goal_state_due",
    "bleu",
    "rouge_l",
    "role",
)

TOOLS = Variation(
    "tools", "mobile_tools", ("created", "recorded"), _TOLD, options=(("decisions", "own"),)
)
APPS = Variation("apps", "world_options", ("hierarchical", "flat"), _TOLD, option="apps")

__all__ = ["APPS", "TOOLS"]
