"""ToolSandbox: its scenarios as tasks of the phone, its trajectories as runs."""

from pathlib import Path

from seal.pools import Benchmark

_HERE = "seal.benchmarks.toolsandbox"

TOOLSANDBOX = Benchmark(
    "toolsandbox",
    importer=f"{_HERE}.importer:import_toolsandbox",
    generators={"milestones": f"{_HERE}.generator:generate_milestones"},
)
SCENARIOS = Benchmark("scenarios", importer=f"{_HERE}.scenarios.importer:import_scenarios")
SAMPLE = Benchmark("toolsandbox-sample", folder=Path(__file__).parent / "sample")
