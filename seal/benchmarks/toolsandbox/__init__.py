"""ToolSandbox: its benchmarks, eight augmentations, and the ablation of descriptions."""

from dataclasses import replace
from pathlib import Path

from seal.benchmarks.toolsandbox.phone.world import OPTION
from seal.experiments.ablation_conditions import Variation
from seal.pools.augmentation import SCRAMBLINGS, Augmentation
from seal.pools.benchmark import Benchmark

# -- ToolSandbox: its scenarios as tasks of the phone, its trajectories as runs.

_HERE = "seal.benchmarks.toolsandbox"

SCENARIOS = Benchmark(
    "scenarios",
    importer=f"{_HERE}.scenarios.importer:import_scenarios",
    world_files=("web.json",),
    documents=f"{_HERE}.phone.world:documents",
    ablations=(f"{_HERE}:DESCRIPTIONS",),
    metrics=("honesty",),
    published=f"{_HERE}.tables:TABLES",
)
TOOLSANDBOX = replace(
    SCENARIOS,
    name="toolsandbox",
    importer=f"{_HERE}.importer:import_toolsandbox",
    augmentations={"toolsandbox": f"{_HERE}:VARIANTS"},
)
SAMPLE = replace(
    SCENARIOS, name="toolsandbox-sample", importer=None, folder=Path(__file__).parent / "sample"
)


# -- The ablation that ToolSandbox offers: what it is worth that tools tell of the phone's state.

DESCRIPTIONS = Variation(
    OPTION,
    "world_options",
    ("plain", "telling"),
    ("similarity", "pass_rate", "turn_count", "calls"),
    option=OPTION,
)


# -- The tool augmentations of ToolSandbox, as `seal augment` takes them.

VARIANTS = (
    *(Augmentation(number) for number in (0, 3, 10)),
    Augmentation("all"),
    *(Augmentation(3, (what,)) for what in SCRAMBLINGS),
)
"""The eight variants of each base scenario (ToolSandbox, section 3.3)."""
