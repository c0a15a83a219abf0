"""ToolBench and StableToolBench: queries, answer trees, converted answers, response examples."""

from pathlib import Path

from seal.pools.benchmark import Benchmark

_HERE = "seal.benchmarks.toolbench"

TOOLBENCH = Benchmark(
    "toolbench",
    published=f"{_HERE}.paper:TABLES",
    importer=f"{_HERE}.importer:import_toolbench",
    errata=Path(__file__).parent / "errata.json",
    verdicts=f"{_HERE}.trajectories:read_verdicts",
    preferences=f"{_HERE}.trajectories:read_preferences",
    answers={
        "stabletoolbench": f"{_HERE}.cached_answers:import_stabletoolbench",
        "toolbench": f"{_HERE}.cached_answers:import_response_examples",
    },
)
ANYTOOL = Benchmark("anytool", importer=f"{_HERE}.anytool:import_anytool")
