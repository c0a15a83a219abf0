"""The ablation that ToolSandbox offers: what it is worth that tools tell of the phone's state."""

from seal.benchmarks.toolsandbox.phone.descriptions import OPTION
from seal.experiments.ablation.variants import Variation

DESCRIPTIONS = Variation(
    OPTION,
    "world_options",
    ("plain", "telling"),
    ("similarity", "pass_rate", "turn_count", "calls"),
    option=OPTION,
)
