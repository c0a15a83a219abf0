"""ToolSandbox: its scenarios as tasks of the phone, its trajectories as runs."""

from pathlib import Path

from seal.pools import Benchmark

_HERE = "seal.benchmarks.toolsandbox"
_DOCUMENTS = f"{_HERE}.phone.descriptions:documents"
_PAPER = f"{_HERE}.paper:TABLES"
_ABLATIONS = (f"{_HERE}.ablation:DESCRIPTIONS",)

TOOLSANDBOX = Benchmark(
    "toolsandbox",
    importer=f"{_HERE}.importer:import_toolsandbox",
    peers={"toolsandbox": f"{_HERE}.recorded_scores:PEER"},
    documents=_DOCUMENTS,
    ablations=_ABLATIONS,
    metrics=("honesty",),
    published=_PAPER,
    generators={"milestones": f"{_HERE}.generator:generate_milestones"},
)
SCENARIOS = Benchmark(
    "scenarios",
    importer=f"{_HERE}.scenarios.importer:import_scenarios",
    documents=_DOCUMENTS,
    ablations=_ABLATIONS,
    metrics=("honesty",),
    published=_PAPER,
)
SAMPLE = Benchmark(
    "toolsandbox-sample",
    folder=Path(__file__).parent / "sample",
    documents=_DOCUMENTS,
    ablations=_ABLATIONS,
    metrics=("honesty",),
    published=_PAPER,
)
