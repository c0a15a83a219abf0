"""ToolBench and StableToolBench: queries, answer trees, converted answers, response examples."""

from seal.pools import Benchmark

_HERE = "seal.benchmarks.toolbench"

TOOLBENCH = Benchmark(
    "toolbench",
    importer=f"{_HERE}.importer:import_toolbench",
    verdicts=f"{_HERE}.verdicts:read_verdicts",
    preferences=f"{_HERE}.verdicts:read_preferences",
)
ANYTOOL = Benchmark("anytool", importer=f"{_HERE}.anytool:import_anytool")
