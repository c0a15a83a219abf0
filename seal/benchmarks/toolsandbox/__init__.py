"""ToolSandbox: its scenarios as tasks of the phone, its trajectories as runs."""

from dataclasses import replace
from pathlib import Path

from seal.lazy import give_names
from seal.pools import Benchmark

give_names(__name__)

_HERE = "seal.benchmarks.toolsandbox"

SCENARIOS = Benchmark(
    "scenarios",
    importer=f"{_HERE}.scenarios.importer:import_scenarios",
    world_files=("web.json",),
    documents=f"{_HERE}.phone.descriptions:documents",
    ablations=(f"{_HERE}.ablation:DESCRIPTIONS",),
    metrics=("honesty",),
    published=f"{_HERE}.paper:TABLES",
)
TOOLSANDBOX = replace(
    SCENARIOS,
    name="toolsandbox",
    importer=f"{_HERE}.importer:import_toolsandbox",
    augmentations={"toolsandbox": f"{_HERE}.augmentations:VARIANTS"},
)
SAMPLE = replace(
    SCENARIOS, name="toolsandbox-sample", importer=None, folder=Path(__file__).parent / "sample"
)
